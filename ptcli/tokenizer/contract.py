"""What every tokenizer choice, a recipe, is asked."""

from pathlib import Path
from typing import Any, Protocol

from ptcli.corpus.document import Corpus
from ptcli.tokenizer.tokenizer import Tokenizer


class Recipe(Protocol):
    """How to come by a tokenizer."""

    def check(self) -> None:
        """Raise ConfigError, in well under a second, where a value is out of range or a path cannot be used."""
        ...

    def build(self, corpus: Corpus, *, cache: Path) -> Tokenizer:
        """Load the tokenizer, or train it on the corpus and keep it below `cache` for the next time."""
        ...

    def identity(self) -> dict[str, Any]:
        """What the tokenizer changes with, beside the corpus."""
        ...

    def remarks(self) -> list[str]:
        """Where what was made is not what was asked for; one line each. Called after `build`."""
        ...
