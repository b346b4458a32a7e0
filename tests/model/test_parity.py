"""BERT and ALBERT equal transformers' with the same weights: hidden states, logits, losses and every gradient."""

from functools import partial

import pytest
import torch

from ptcli.model.ffn.gelu import GeluFeedForward
from ptcli.model.sharing.groups import GroupSharing
from ptcli.objective.masked_lm import MaskedLM

from . import reference
from .build import PAIR, Together, encoder, random_rows, scored

TOLERANCE = 1e-5  # of the largest value of each tensor


def close(ours: torch.Tensor, theirs: torch.Tensor, what: str) -> None:
    assert ours.shape == theirs.shape, what
    error = (ours - theirs).abs().max() / theirs.abs().max().clamp_min(1e-30)
    assert error < TOLERANCE, f"{what}: relative error {error:.1e}"


def _bert():
    theirs = reference.bert()
    model = encoder()
    return Together(model, MaskedLM(model=model, pair=PAIR)), theirs, theirs.bert, reference.bert_names(2)


def _albert(groups: int, inner: int):
    theirs = reference.albert(groups=groups, inner=inner)
    model = encoder(
        num_layers=4,
        embedding_size=16,
        ffn=partial(GeluFeedForward, approximate="tanh"),
        sharing=GroupSharing(num_groups=groups, inner_group_num=inner),
    )
    names = reference.albert_names(groups, inner)
    return Together(model, MaskedLM(model=model, pair=PAIR)), theirs, theirs.albert, names


CASES = {
    "bert": _bert,
    "albert": lambda: _albert(1, 1),
    "albert-two-groups": lambda: _albert(2, 1),
    "albert-inner-groups": lambda: _albert(2, 3),
    "albert-no-sharing": lambda: _albert(4, 1),
}


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize("case", CASES)
def test_hidden_states_logits_losses_and_gradients(case, padded):
    ours, theirs, body, names = CASES[case]()
    their_weights = reference.stacked(dict(theirs.named_parameters()), names)
    used = {name for many in names.values() for name in many}
    assert used == {name for name, _ in theirs.named_parameters()}, "the mapping misses a weight"
    assert set(their_weights) == {name for name, _ in ours.named_parameters()}
    ours.load_state_dict({k: v.detach() for k, v in their_weights.items()}, strict=True)

    batch = scored(random_rows([[23], [11], [17]] if padded else [[23], [23], [23]]))
    arguments = {key: batch[key] for key in ("input_ids", "attention_mask", "token_type_ids")}
    real = batch["attention_mask"].bool()
    pair_labels = batch["pair_labels"][:, 0]

    hidden = ours.model(batch)
    their_hidden = body(**arguments).last_hidden_state
    close(hidden[real], their_hidden[real], "hidden states")

    out = theirs(**arguments)
    pair_logits = out["seq_relationship_logits" if "seq_relationship_logits" in out else "sop_logits"]
    close(
        ours.objective.predict(ours.model, batch),
        out.prediction_logits.flatten(0, 1)[batch["label_positions"]],
        "masked-LM logits",
    )
    close(ours.objective.pair_head(hidden[:, 0]), pair_logits, "pair logits")

    loss = ours(batch)
    total = sum(loss.sums[part] / loss.counts[part] for part in loss.sums)
    key = "next_sentence_label" if case == "bert" else "sentence_order_label"
    their_loss = theirs(**arguments, labels=batch["labels"], **{key: pair_labels}).loss
    close(total, their_loss, "loss")

    total.backward()
    their_loss.backward()
    their_gradients = reference.stacked({n: p.grad for n, p in theirs.named_parameters()}, names)
    # The key part of the attention bias moves no score, so its gradient is noise around 0: it is held against the rest.
    for name, parameter in ours.named_parameters():
        close(parameter.grad, their_gradients[name], f"gradient of {name}")


def test_a_wrong_weight_is_seen():
    ours, theirs, body, names = _bert()
    ours.load_state_dict({k: v.detach() for k, v in reference.stacked(dict(theirs.named_parameters()), names).items()})
    with torch.no_grad():
        ours.model.blocks[1].attention.qkv.bias[-1] += 1e-2
    batch = random_rows([[9]])
    with pytest.raises(AssertionError, match="hidden"):
        close(ours.model(batch), body(batch["input_ids"], token_type_ids=batch["token_type_ids"])[0], "hidden")
