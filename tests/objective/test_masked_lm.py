from functools import partial

import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from ptcli.batch.contract import IGNORE_INDEX
from ptcli.errors import ConfigError
from ptcli.model.position.disentangled import DisentangledPositions
from ptcli.model.residual.post import PostNorm
from ptcli.model.residual.pre import PreNorm
from ptcli.model.residual.sandwich import SandwichNorm
from ptcli.objective.masked_lm import MaskedLM

from ..model.build import NO_PAIR, PAIR, Together, encoder, random_rows, rows, scored


def together(pair=PAIR, **changes):
    model = encoder()
    return Together(model, MaskedLM(model=model, pair=pair, **changes))


def test_sums_counts_and_hits_equal_those_over_all_positions():
    whole, batch = together(), scored(random_rows([[9, 4], [12]]))
    loss = whole(batch)
    hidden = whole.model(batch).flatten(0, 1)
    for part, labels, logits in (
        (
            "masked_lm",
            batch["labels"].flatten(),
            whole.objective.masked_lm_head(hidden, whole.model.embeddings.tokens.weight),
        ),
        ("pair", batch["pair_labels"].flatten(), whole.objective.pair_head(hidden)),
    ):
        wanted = F.cross_entropy(logits, labels, ignore_index=IGNORE_INDEX, reduction="sum")
        torch.testing.assert_close(loss.sums[part], wanted)
        torch.testing.assert_close(loss.positions[part].sum(), wanted)
        assert loss.counts[part] == (labels != IGNORE_INDEX).sum()
        assert loss.correct[part] == (logits.argmax(-1) == labels).sum()
    assert loss.counts["masked_lm"] > 0
    assert loss.counts["pair"] == 3


def test_correct_counts_right_answers():
    whole, batch = together(), scored(random_rows([[12]]))
    batch["labels"].view(-1)[batch["label_positions"]] = whole.objective.predict(whole.model, batch).argmax(-1)
    loss = whole(batch)
    assert loss.correct["masked_lm"] == loss.counts["masked_lm"]


@pytest.mark.parametrize("pair", [NO_PAIR, PAIR], ids=["alone", "pair"])
@pytest.mark.parametrize("decoder_positions", [None, 40], ids=["plain", "mask-decoder"])
def test_flops_are_those_that_torch_counts(decoder_positions, pair):
    position = {"disentangled": partial(DisentangledPositions, max_distance=6)}
    model = encoder(position=position)
    objective = MaskedLM(model=model, pair=pair, decoder_positions=decoder_positions)
    batch = scored(random_rows([[12], [12]]))
    with FlopCounterMode(display=False) as counter, torch.autocast("cpu", torch.bfloat16):
        objective(model, batch)
    scored_places, pairs = len(batch["label_positions"]), len(batch["pair_positions"])
    heads = 2 * scored_places * (32 * 32 + 32 * 61)
    heads += 2 * pairs * (32 * 32 + 32 * 2) if pair.num_labels else 0
    runs = 2 if decoder_positions is None else 3 + bool(pair.num_labels)  # of layers, each projects the table
    wanted = 24 * objective.flops_per_token(model, 12) + runs * model.flops_per_batch(12) // 2 + heads
    assert counter.get_total_flops() == wanted


def test_predict_gives_logits_at_scored_positions_in_order():
    whole, batch = together(), scored(random_rows([[9, 4], [12]]))
    logits = whole.objective.predict(whole.model, batch)
    assert logits.shape == (len(batch["label_positions"]), 61)
    one = batch | {"label_positions": batch["label_positions"][1:2]}
    torch.testing.assert_close(whole.objective.predict(whole.model, one)[0], logits[1])


@pytest.mark.parametrize("bfloat16", [False, True])
def test_nothing_scored_gives_zero_with_a_live_graph(bfloat16):
    whole = together()
    batch = scored(random_rows([[9]]))
    nothing = torch.zeros(0, dtype=torch.int64)
    batch |= {"label_positions": nothing, "pair_positions": nothing}
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        loss = whole(batch)
    assert all(loss.sums[part] == 0 and loss.counts[part] == 0 and loss.correct[part] == 0 for part in loss.sums)
    sum(loss.sums.values()).backward()
    assert all(p.grad is not None and (p.grad == 0).all() for p in whole.parameters())


def test_positions_padded_to_a_fixed_number_change_nothing():
    whole, batch = together(), scored(random_rows([[9], [12]]))
    unscored = (batch["labels"].flatten() == IGNORE_INDEX).nonzero().flatten()[:5]
    padded = batch | {"label_positions": torch.cat((batch["label_positions"], unscored))}
    one, other = whole(batch), whole(padded)
    torch.testing.assert_close(one.sums["masked_lm"], other.sums["masked_lm"])
    assert one.counts["masked_lm"] == other.counts["masked_lm"]
    assert one.correct["masked_lm"] == other.correct["masked_lm"]


def test_parts_are_sums_over_micro_batches():
    whole = together()
    batch = scored(random_rows([[9], [12], [5], [11]]))
    split = []
    for at in (slice(0, 1), slice(1, 4)):
        rows = {key: batch[key][at] for key in batch if not key.endswith("positions")}
        for key in ("label", "pair"):
            labels = rows["labels" if key == "label" else "pair_labels"]
            rows[f"{key}_positions"] = (labels != IGNORE_INDEX).flatten().nonzero().flatten()
        split.append(whole(rows))
    joined = whole(batch)
    for part in joined.sums:
        torch.testing.assert_close(joined.sums[part], sum(loss.sums[part] for loss in split))
        assert joined.counts[part] == sum(loss.counts[part] for loss in split)


def test_losses_are_float32_under_autocast():
    whole, batch = together(), scored(random_rows([[30]]))
    exact = whole(batch)
    with torch.autocast("cpu", torch.bfloat16):
        loss = whole(batch)
    assert all(value.dtype is torch.float32 for value in loss.sums.values())
    torch.testing.assert_close(loss.sums["masked_lm"], exact.sums["masked_lm"], rtol=0.05, atol=0)


def test_no_pair_no_pooler():
    alone = together(NO_PAIR)
    assert alone.objective.pair_head is None
    assert alone.objective.denominators == {"masked_lm": "labels"}
    loss = alone(scored(random_rows([[9]])))
    assert set(loss.sums) == {"masked_lm"}
    sum(loss.sums.values()).backward()
    assert all(p.grad is not None for p in alone.parameters())


def test_tied_output_follows_the_embeddings():
    whole, batch = together(NO_PAIR), scored(random_rows([[9]]))
    batch["input_ids"][batch["input_ids"] == 60] = 1  # so that only the output moves
    before = whole.objective.predict(whole.model, batch)
    assert not any("decoder" in name for name, _ in whole.named_parameters())
    with torch.no_grad():
        whole.model.embeddings.tokens.weight[60] += torch.linspace(-1, 1, 32)
    after = whole.objective.predict(whole.model, batch)
    assert not torch.allclose(before[:, 60], after[:, 60])


def test_weights_and_denominators():
    whole = together(pair_weight=0.25)
    loss = whole(scored(random_rows([[9]])))
    assert loss.weights == {"masked_lm": 1.0, "pair": 0.25}
    assert whole.objective.denominators == {"masked_lm": "labels", "pair": "pair_labels"}


def test_a_pair_weight_that_switches_the_loss_off_is_refused():
    with pytest.raises(ConfigError, match="use pair=none"):
        together(pair_weight=0.0)


DEBERTA = {"position": {"disentangled": partial(DisentangledPositions, dropout=0.0)}, "type_vocab_size": 0}


def enhanced(pair=NO_PAIR, **changes):
    model = encoder(**(DEBERTA | changes))
    return Together(model, MaskedLM(model=model, pair=pair, decoder_positions=40))


@pytest.mark.parametrize("residual", [PostNorm, PreNorm, SandwichNorm])
def test_the_mask_decoder_is_the_last_layer_with_queries_of_its_own(residual):
    whole, batch = enhanced(residual=residual), scored(random_rows([[9, 4], [12]]))
    model, table = whole.model, whole.objective.mask_decoder.table.weight
    context = model.contexts(batch)[None]
    before = model.blocks[0](model.embed(batch), context)
    queries, last = before + table[batch["position_ids"]], model.blocks[1]
    for _ in range(2):
        queries = last(before, context, queries)
    states = model.finish(queries).flatten(0, 1)[batch["label_positions"]]
    wanted = whole.objective.masked_lm_head(states, model.embeddings.tokens.weight)
    torch.testing.assert_close(whole.objective.predict(model, batch), wanted)


@pytest.mark.parametrize("residual", [PostNorm, PreNorm, SandwichNorm])
def test_queries_that_are_the_hidden_states_change_nothing(residual):
    model, batch = encoder(residual=residual, **DEBERTA), random_rows([[9, 4], [12]])
    contexts = model.contexts(batch)
    once = model.run(model.embed(batch), contexts, layers=range(1))
    twice = model.run(once, contexts, layers=range(1, 2))
    torch.testing.assert_close(model.run(once, contexts, layers=range(1, 2), queries=once), twice)


def test_places_of_the_mask_decoder_reach_the_predictions_and_nothing_else():
    whole, batch = enhanced(PAIR), scored(random_rows([[9, 4], [12]]))
    hidden, logits, loss = whole.model(batch), whole.objective.predict(whole.model, batch), whole(batch)
    with torch.no_grad():
        whole.objective.mask_decoder.table.weight.zero_()
    assert not torch.allclose(whole.objective.predict(whole.model, batch), logits)
    assert torch.equal(whole.model(batch), hidden)
    torch.testing.assert_close(whole(batch).sums["pair"], loss.sums["pair"])
    assert whole(batch).sums["masked_lm"] != loss.sums["masked_lm"]


def test_the_mask_decoder_packs_and_trains():
    whole = enhanced()
    packed = scored(random_rows([[9, 4]]))
    logits = whole.objective.predict(whole.model, packed)
    at = 0
    for stretch in (slice(0, 9), slice(9, 13)):
        alone = rows([[packed["input_ids"][0, stretch].tolist()]], types=False)
        inside = [int(p) - stretch.start for p in packed["label_positions"] if stretch.start <= p < stretch.stop]
        alone["label_positions"] = torch.tensor(inside)
        found = whole.objective.predict(whole.model, alone)
        torch.testing.assert_close(found, logits[at : at + len(inside)], rtol=1e-5, atol=1e-5)
        at += len(inside)
    assert at == len(logits) > 2
    whole(packed).sums["masked_lm"].backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in whole.parameters())
