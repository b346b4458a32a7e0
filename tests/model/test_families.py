"""The heirs of BERT equal transformers' with the same weights: hidden states, logits, losses and every gradient."""

import pytest
import torch

from .build import random_rows, scored
from .families import FAMILIES, body_of
from .test_parity import close


@pytest.mark.parametrize("padded", [False, True], ids=["unpadded", "padded"])
@pytest.mark.parametrize("name", FAMILIES)
def test_hidden_states_logits_losses_and_gradients(name, padded):
    family = FAMILIES[name]()
    ours, theirs = family.ours, family.theirs
    weights = family.convert({name: p.detach() for name, p in theirs.named_parameters()})
    assert sum(p.numel() for p in theirs.parameters()) == sum(p.numel() for p in weights.values()), "one is missed"
    ours.load_state_dict(weights, strict=True)

    lengths = [[23], [11], [17]] if padded else [[23], [23], [23]]
    batch = scored(random_rows(lengths, types=family.segments))
    pad = theirs.config.pad_token_id or 0
    ids = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, pad)
    if pad:
        ids[(ids == pad) & (batch["attention_mask"] == 1)] = pad + 1  # RoBERTa counts places by what is no padding
        batch["input_ids"] = ids
    arguments = {"input_ids": ids, "attention_mask": batch["attention_mask"]}
    if family.segments:
        arguments["token_type_ids"] = batch["token_type_ids"]
    real = batch["attention_mask"].bool()

    close(ours.model(batch)[real], body_of(theirs)(**arguments).last_hidden_state[real], "hidden states")
    out = theirs(**arguments, labels=batch["labels"])
    close(
        ours.objective.predict(ours.model, batch),
        out.logits.flatten(0, 1)[batch["label_positions"]],
        "masked-LM logits",
    )
    loss = ours(batch)
    mean = loss.sums["masked_lm"] / loss.counts["masked_lm"]
    close(mean, out.loss, "loss")

    mean.backward()
    out.loss.backward()
    gradients = family.convert(
        {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in theirs.named_parameters()}
    )
    largest = max(float(gradient.abs().max()) for gradient in gradients.values())
    for name, parameter in ours.named_parameters():
        wanted = gradients[name]
        if float(wanted.abs().max()) < 1e-6 * largest:  # what moves no score has noise for a gradient
            assert float(parameter.grad.abs().max()) < 1e-5 * largest, name
        else:
            close(parameter.grad, wanted, f"gradient of {name}")
