"""transformers' BERT and ALBERT, and where each of their weights stands in ours."""

import torch
from torch import Tensor, nn
from transformers import AlbertConfig, AlbertForPreTraining, BertConfig, BertForPreTraining

SIZES = {
    "vocab_size": 61,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "initializer_range": 0.2,
}


def bert(num_layers: int = 2) -> BertForPreTraining:
    """A small random BERT."""
    torch.manual_seed(0)
    return _roughen(BertForPreTraining(BertConfig(**SIZES, num_hidden_layers=num_layers)))


def albert(num_layers: int = 4, groups: int = 1, inner: int = 1) -> AlbertForPreTraining:
    """A small random ALBERT."""
    torch.manual_seed(0)
    config = AlbertConfig(
        **SIZES,
        embedding_size=16,
        num_hidden_layers=num_layers,
        num_hidden_groups=groups,
        inner_group_num=inner,
        classifier_dropout_prob=0.0,
    )
    return _roughen(AlbertForPreTraining(config))


def _roughen(module: nn.Module) -> nn.Module:
    # Biases and norms start at constants, which would hide an exchanged pair of them.
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return module.eval()


def bert_names(num_layers: int) -> dict[str, list[str]]:
    """Our name -> theirs; several are stacked along the first axis."""
    names = {
        "model.embeddings.tokens.weight": ["bert.embeddings.word_embeddings.weight"],
        "model.embeddings.types.weight": ["bert.embeddings.token_type_embeddings.weight"],
        "model.positions.learned.table.weight": ["bert.embeddings.position_embeddings.weight"],
        "objective.masked_lm_head.bias": ["cls.predictions.bias"],
    }
    both = {
        "model.embeddings.norm": ["bert.embeddings.LayerNorm"],
        "objective.masked_lm_head.dense": ["cls.predictions.transform.dense"],
        "objective.masked_lm_head.norm": ["cls.predictions.transform.LayerNorm"],
        "objective.pair_head.pooler.dense": ["bert.pooler.dense"],
        "objective.pair_head.classifier": ["cls.seq_relationship"],
    }
    for layer in range(num_layers):
        ours, theirs = f"model.blocks.{layer}", f"bert.encoder.layer.{layer}"
        both |= {
            f"{ours}.attention.qkv": [f"{theirs}.attention.self.{part}" for part in ("query", "key", "value")],
            f"{ours}.attention.output": [f"{theirs}.attention.output.dense"],
            f"{ours}.attention_residual.norm": [f"{theirs}.attention.output.LayerNorm"],
            f"{ours}.ffn.up": [f"{theirs}.intermediate.dense"],
            f"{ours}.ffn.down": [f"{theirs}.output.dense"],
            f"{ours}.ffn_residual.norm": [f"{theirs}.output.LayerNorm"],
        }
    return names | _weights_and_biases(both)


def albert_names(groups: int, inner: int) -> dict[str, list[str]]:
    """Our name -> theirs; several are stacked along the first axis."""
    names = {
        "model.embeddings.tokens.weight": ["albert.embeddings.word_embeddings.weight"],
        "model.embeddings.types.weight": ["albert.embeddings.token_type_embeddings.weight"],
        "model.positions.learned.table.weight": ["albert.embeddings.position_embeddings.weight"],
        "objective.masked_lm_head.bias": ["predictions.bias"],
    }
    both = {
        "model.embeddings.norm": ["albert.embeddings.LayerNorm"],
        "model.embeddings.projection": ["albert.encoder.embedding_hidden_mapping_in"],
        "objective.masked_lm_head.dense": ["predictions.dense"],
        "objective.masked_lm_head.norm": ["predictions.LayerNorm"],
        "objective.pair_head.pooler.dense": ["albert.pooler"],
        "objective.pair_head.classifier": ["sop_classifier.classifier"],
    }
    for group in range(groups):
        for member in range(inner):
            ours = f"model.blocks.{group * inner + member}"
            theirs = f"albert.encoder.albert_layer_groups.{group}.albert_layers.{member}"
            both |= {
                f"{ours}.attention.qkv": [f"{theirs}.attention.{part}" for part in ("query", "key", "value")],
                f"{ours}.attention.output": [f"{theirs}.attention.dense"],
                f"{ours}.attention_residual.norm": [f"{theirs}.attention.LayerNorm"],
                f"{ours}.ffn.up": [f"{theirs}.ffn"],
                f"{ours}.ffn.down": [f"{theirs}.ffn_output"],
                f"{ours}.ffn_residual.norm": [f"{theirs}.full_layer_layer_norm"],
            }
    return names | _weights_and_biases(both)


def _weights_and_biases(names: dict[str, list[str]]) -> dict[str, list[str]]:
    return {
        f"{o}.{kind}": [f"{t}.{kind}" for t in theirs] for o, theirs in names.items() for kind in ("weight", "bias")
    }


def stacked(tensors: dict[str, Tensor], names: dict[str, list[str]]) -> dict[str, Tensor]:
    """Their tensors under our names."""
    return {ours: torch.cat([tensors[name] for name in theirs]) for ours, theirs in names.items()}
