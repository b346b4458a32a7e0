"""Pretrain language models of the BERT family and their relatives, and fine-tune them, from one command line."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptcli.interop.module import PlainModel
    from ptcli.interop.text import TextTokenizer

__version__ = "0.1.0"


def load(checkpoint: str) -> "tuple[PlainModel, TextTokenizer]":
    """The model and the tokenizer of a run, of an exported folder, or of a folder or hub name of transformers'.

    `model(**tokenizer(texts))` gives logits, `model.hidden_states(**tokenizer(texts))` what the encoder gives; both in
    evaluation mode, on the CPU. Raises ptcli.errors.PtcliError where there is no such model.
    """
    from ptcli.interop.module import PlainModel
    from ptcli.interop.text import TextTokenizer
    from ptcli.run.load import load_any

    saved = load_any(str(checkpoint))
    model = PlainModel(saved.step.model, saved.step.objective).eval()
    return model, TextTokenizer(saved.tokenizer, max_length=saved.config.max_length)
