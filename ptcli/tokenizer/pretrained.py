"""A tokenizer that exists already."""

from pathlib import Path
from typing import Any

from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError
from ptcli.tokenizer.known import Known, find_known
from ptcli.tokenizer.tokenizer import Tokenizer


class Pretrained:
    """The tokenizer of a tokenizer.json, of a Hugging Face folder, of a run or of a vocab.txt of BERT's.

    Only data is read: none of the folder's code runs. Special tokens are found by name. A vocab.txt does not say
    whether text is lowercased first: `lowercase` does, else its folder's do_lower_case, else whether it has capitals.
    """

    reads_text = None  # a fact for the fit rules: text or ids, whatever it was made for

    def __init__(self, path: str | None, *, lowercase: bool | None = None):
        self.path = path
        self.lowercase = lowercase

    def check(self) -> None:
        """Raise ConfigError where there is no tokenizer, or it has no mask or padding token."""
        known = self._known()
        if self.lowercase is not None and not known.is_bare:
            raise ConfigError(
                f"tokenizer.lowercase does nothing, because {known.file} says itself what is done to text. "
                "Leave it out; it is for a vocab.txt."
            )

    def build(self, corpus: Corpus, *, cache: Path) -> Tokenizer:
        """Load it; the corpus and the cache are not needed."""
        return self._known().load()

    def identity(self) -> dict[str, Any]:
        """What the file holds; where it lies does not count."""
        return {"tokenizer": "pretrained", "content": self._known().content()}

    def remarks(self) -> list[str]:
        """Nothing is changed."""
        return []

    def _known(self) -> Known:
        if not self.path:
            raise ConfigError(
                "tokenizer=pretrained needs a path: tokenizer.path=FOLDER, a folder or run with a tokenizer.json."
            )
        return find_known(self.path, key="tokenizer.path", lowercase=self.lowercase)
