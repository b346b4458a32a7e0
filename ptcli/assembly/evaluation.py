"""The held-out text under the fixed mask and under the training's own."""

from typing import Any

from omegaconf import DictConfig, OmegaConf

from ptcli.assembly.data import Data
from ptcli.assembly.masking import make_mask
from ptcli.tokenizer.token_texts import TokenTexts


def make_evaluation(config: DictConfig, data: Data, *, model: Any, counts: Any, micro_size: int) -> Any:
    """The held-out documents under the fixed mask and under the training's own; None where nothing is held out."""
    from ptcli.batch.loader import Loader
    from ptcli.evaluation.held_out import Evaluation
    from ptcli.packing.best_fit import BestFit
    from ptcli.pair.none import NoPair

    if not any(len(documents.ranges) for documents in data.held_out):
        return None
    shared = {
        "shards": data.store.shards,
        "documents": data.held_out,
        "vocabulary": data.vocabulary,
        "batch_size": micro_size,
        "micro_size": micro_size,
        "seed": 0,
        "isolates": model.isolates,
        "longest_row": model.longest_row,
        "needs": ("documents",),
    }
    # Rows, mask and seed of the fixed evaluation are no setting's: what it measures compares over runs.
    fixed = Loader(
        packing=BestFit(),
        pair=NoPair(),
        mask=make_mask(config, "eval.mask", store=data.store, vocabulary=data.vocabulary, learnt=data.learnt),
        max_length=min(config.eval.max_length, OmegaConf.select(config, "max_length") or config.eval.max_length),
        **shared,
    )
    own = Loader(
        packing=data.packing, pair=data.pair, mask=data.mask, max_length=config.max_length, noises=data.noises, **shared
    )
    return Evaluation(
        fixed=fixed,
        own=own,
        max_tokens=config.eval.tokens,
        counts=counts,
        replace=list(data.mask.shown),
        unrelated=data.mask.unrelated(counts),
        vocabulary=data.vocabulary,
        num_characters=TokenTexts(data.store.tokenizer()).num_characters,
    )
