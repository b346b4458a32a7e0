"""Replacement: what the model is shown at selected positions."""

import numpy as np

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.compiled import compiled
from ptcli.mask.examples import KEPT, MASKED, RANDOM
from ptcli.randomness import draw, uniform

_S32, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@compiled
def replace_tokens(
    input_ids,
    selected,
    units,
    offsets,
    keys,
    kind_key,
    id_key,
    mask_share,
    random_share,
    mask_token_id,
    ids,
    others,
    thresholds,
    by_unit,
):
    """Overwrite selected `input_ids` in place; return labels, int32 (N,), and kinds, uint8 (N,).

    One draw decides a position's kind, or, `by_unit`, that of all positions of a unit; each random id is a draw of its
    own from the law (`ids`, `others`, `thresholds`: ptcli/mask/random_ids.py). The label is the original id whatever
    the kind.
    """
    labels = np.full(input_ids.shape[0], IGNORE_INDEX, np.int32)
    kinds = np.zeros(input_ids.shape[0], np.uint8)
    longest = 0
    for e in range(keys.shape[0]):
        longest = max(longest, offsets[e + 1] - offsets[e])
    places = np.empty(longest + 1, np.int64)
    counters = np.empty(longest + 1, np.uint64)
    for e in range(keys.shape[0]):
        first = offsets[e]
        kind_stream, id_stream = draw(kind_key, keys[e]), draw(id_key, keys[e])
        num_selected, unit = 0, first
        for i in range(first, offsets[e + 1]):  # listed first, without a branch to mispredict
            unit = i if units[i] or not by_unit else unit
            places[num_selected] = i
            counters[num_selected] = np.uint64(unit - first)
            num_selected += selected[i]
        for s in range(num_selected):
            i = places[s]
            labels[i] = input_ids[i]
            chance = uniform(kind_stream, counters[s])
            if chance < mask_share:
                input_ids[i] = mask_token_id
                kinds[i] = MASKED
            elif chance < mask_share + random_share:
                bits = draw(id_stream, np.uint64(i - first))
                entry = ((bits >> _S32) * np.uint64(ids.shape[0])) >> _S32
                input_ids[i] = ids[entry] if (bits & _LOW) < thresholds[entry] else others[entry]
                kinds[i] = RANDOM
            else:
                kinds[i] = KEPT
    return labels, kinds
