"""Small random models of transformers, saved as their folders, and a vocabulary for them."""

from pathlib import Path

import torch
from torch import nn
from transformers import (
    AlbertConfig,
    AlbertForPreTraining,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    DebertaConfig,
    DebertaForMaskedLM,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    ElectraConfig,
    ElectraForMaskedLM,
    ErnieConfig,
    ErnieForPreTraining,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
    RoFormerConfig,
    RoFormerForMaskedLM,
)

from tests.command.toy import WORDS

SPECIAL = ["[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"]  # padding is not 0
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
ENTRIES = [*SPECIAL, *sorted(set(WORDS)), *_LETTERS, ".", *(f"##{letter}" for letter in _LETTERS)]
ENTRIES = list(dict.fromkeys(ENTRIES))
SIZES = {
    "vocab_size": len(ENTRIES),
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "initializer_range": 0.2,
    "pad_token_id": 1,
}
WAVES = SIZES | {"max_position_embeddings": 1536}  # rows of a table that nothing trains

MODELS = {
    "bert": lambda: BertForPreTraining(BertConfig(**SIZES)),
    "bert-untied": lambda: BertForMaskedLM(BertConfig(**SIZES, tie_word_embeddings=False, hidden_act="gelu_new")),
    "albert": lambda: AlbertForPreTraining(AlbertConfig(**SIZES, embedding_size=16)),
    "albert-groups": lambda: AlbertForPreTraining(
        AlbertConfig(**SIZES, embedding_size=16, num_hidden_groups=2, inner_group_num=3)
    ),
    "roberta": lambda: RobertaForMaskedLM(RobertaConfig(**SIZES, type_vocab_size=1, layer_norm_eps=1e-5)),
    "electra": lambda: ElectraForMaskedLM(ElectraConfig(**SIZES, embedding_size=16)),
    "modernbert": lambda: ModernBertForMaskedLM(
        ModernBertConfig(
            **SIZES,
            local_attention=8,
            cls_token_id=2,
            sep_token_id=3,
            bos_token_id=2,
            eos_token_id=3,
            rope_parameters={
                "full_attention": {"rope_type": "default", "rope_theta": 900.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 50.0},
            },
        )
    ),
    "deberta": lambda: DebertaForMaskedLM(
        DebertaConfig(
            **SIZES,
            type_vocab_size=2,
            position_biased_input=False,
            relative_attention=True,
            max_relative_positions=12,
            pos_att_type=["c2p", "p2c"],
        )
    ),
    "deberta-c2p": lambda: DebertaForMaskedLM(
        DebertaConfig(
            **SIZES,
            position_biased_input=False,
            relative_attention=True,
            max_relative_positions=12,
            pos_att_type=["c2p"],
            tie_word_embeddings=False,
        )
    ),
    "deberta-v2": lambda: DebertaV2ForMaskedLM(
        DebertaV2Config(
            **SIZES,
            type_vocab_size=0,
            position_biased_input=False,
            relative_attention=True,
            position_buckets=8,
            max_relative_positions=12,
            share_att_key=True,
            norm_rel_ebd="layer_norm",
            pos_att_type=["c2p", "p2c"],
        )
    ),
    "ernie": lambda: ErnieForPreTraining(
        ErnieConfig(**SIZES, hidden_act="relu", use_task_id=True, task_type_vocab_size=3)
    ),
    "ernie-no-tasks": lambda: ErnieForPreTraining(
        ErnieConfig(**SIZES, hidden_act="relu", use_task_id=False, task_type_vocab_size=0)
    ),
    "electra-wide": lambda: ElectraForMaskedLM(ElectraConfig(**SIZES, embedding_size=32)),
    "roformer": lambda: RoFormerForMaskedLM(RoFormerConfig(**WAVES)),
    "roformer-narrow": lambda: RoFormerForMaskedLM(RoFormerConfig(**WAVES, embedding_size=16, hidden_act="gelu_new")),
}


def make(kind: str) -> PreTrainedModel:
    """A random model in evaluation mode, the same each time; its biases and norms are no constants."""
    torch.manual_seed(0)
    model = MODELS[kind]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
        tables = [part for part in model.modules() if isinstance(part, nn.Embedding) and part.weight.requires_grad]
        for table in tables:
            table.weight[table.padding_idx or 0] += 0.1
    return model


def save(model: PreTrainedModel, folder: Path) -> Path:
    """The folder that transformers writes, with a vocab.txt."""
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(ENTRIES) + "\n")
    return folder
