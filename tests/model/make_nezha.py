"""Writes nezha.safetensors, what transformers' NEZHA computes: a small random model, one batch, all gradients.

transformers 5 has no NEZHA, so version 4.57.1 goes where no other is imported:

    pip install --no-deps --target OLD transformers==4.57.1 'huggingface-hub<1.0' 'tokenizers<0.23'
    PYTHONPATH=OLD python tests/model/make_nezha.py

The file holds `weights.*` and `gradients.*` under their names, the batch under the names of its arguments, and
`hidden_states`, `logits`, `pair_logits` and `loss`. The gradients are those of the loss; the table of places is fixed.
"""

from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import NezhaConfig, NezhaForPreTraining

FILE = Path(__file__).with_name("nezha.safetensors")
VERSION = "4.57.1"
LENGTHS = (23, 11, 17)  # one row is full
PLACES = 6  # distances beyond count as this one: most of them


def make() -> dict[str, torch.Tensor]:
    """All tensors of the file."""
    torch.manual_seed(0)
    config = NezhaConfig(
        vocab_size=61,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_relative_position=PLACES,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )
    model = NezhaForPreTraining(config).eval()
    with torch.no_grad():  # biases and norms start at constants, which would hide an exchanged pair of them
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
        model.nezha.embeddings.word_embeddings.weight[0].normal_(std=0.2)

    places = torch.arange(max(LENGTHS))
    lengths = torch.tensor(LENGTHS)[:, None]
    real = places < lengths
    scored = real & (places % 4 == 1)
    batch = {
        "input_ids": torch.randint(1, 61, real.shape).masked_fill(~real, 0),
        "attention_mask": real.long(),
        "token_type_ids": (real & (places >= lengths // 2)).long(),
        "labels": torch.randint(1, 61, real.shape).masked_fill(~scored, -100),
        "next_sentence_label": torch.tensor([0, 1, 1]),
    }
    out = model(**batch, output_hidden_states=True)
    out.loss.backward()
    weights = {f"weights.{name}": parameter.detach() for name, parameter in model.named_parameters()}
    gradients = {f"gradients.{name}": parameter.grad for name, parameter in model.named_parameters()}
    results = {
        "hidden_states": out.hidden_states[-1].detach(),
        "logits": out.prediction_logits.detach(),
        "pair_logits": out.seq_relationship_logits.detach(),
        "loss": out.loss.detach(),
    }
    return {name: tensor.contiguous() for name, tensor in (batch | results | weights | gradients).items()}


if __name__ == "__main__":
    assert transformers.__version__ == VERSION, f"this is transformers {transformers.__version__}, not {VERSION}"
    save_file(make(), FILE)
    print(f"{FILE}: {FILE.stat().st_size} bytes")
