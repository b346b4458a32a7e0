"""What all recipes share that learn their vocabulary from the corpus: the sample, the cache, what is said."""

import hashlib
import inspect
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from ptcli.cache import obtain
from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError, DataError
from ptcli.tokenizer.families import dress, family
from ptcli.tokenizer.sample import sample
from ptcli.tokenizer.tokenizer import Tokenizer

_TRAINING = "training.json"


class TrainedTokenizer(ABC):
    """A recipe whose settings are its constructor's parameters, each kept under its name.

    The same corpus and settings give the same vocabulary in every process. A subclass says its `name`, its `rule`,
    which changes with what the same text and settings give, and how it learns.
    """

    name: str
    rule: int

    def __init__(self, *, layout: str, vocab_size: int | None, sample_characters: int | None):
        self.layout = layout
        self.vocab_size = vocab_size
        self.sample_characters = sample_characters
        self._remarks: list[str] = []

    @abstractmethod
    def learn(self, corpus: Corpus) -> tuple[Tokenizer, list[str]]:
        """Read the corpus; the tokenizer and remarks."""

    def finished(self, inner: Any) -> Tokenizer:
        """A `tokenizers.Tokenizer` whose vocabulary begins with the layout's first tokens, with all that is special."""
        chosen = family(self.layout)
        dress(inner, chosen)
        return Tokenizer(inner, special_tokens=chosen.roles)

    def fewest_entries(self) -> int:
        """The smallest vocabulary that can be."""
        return family(self.layout).size + 1

    def check(self) -> None:
        """Raise ConfigError where a value is out of range."""
        smallest = self.fewest_entries()
        if self.vocab_size is not None and self.vocab_size < smallest:
            raise ConfigError(
                f"tokenizer.vocab_size={self.vocab_size} leaves no room beside the special tokens. "
                f"Give at least {smallest}; usual are 1024 to 32768."
            )
        for key in ("min_frequency", "sample_characters"):
            if getattr(self, key, None) is not None and getattr(self, key) < 1:
                raise ConfigError(f"tokenizer.{key}={getattr(self, key)} must be at least 1.")

    def build(self, corpus: Corpus, *, cache: Path) -> Tokenizer:
        """Load what was trained before on this corpus with these settings, or train it."""
        self.check()
        tokenizer, self._remarks = obtain(
            self.place(corpus, cache=cache),
            load=_load,
            build=lambda folder: self._train(corpus, folder),
            what="the tokenizer",
        )
        return tokenizer

    def place(self, corpus: Corpus, *, cache: Path) -> Path:
        """The folder in which it is kept once it is trained."""
        defining = json.dumps([corpus.identity(), self.identity()], sort_keys=True)
        return Path(cache) / "tokenizers" / hashlib.blake2b(defining.encode(), digest_size=12).hexdigest()

    def identity(self) -> dict[str, Any]:
        """The settings and the rule."""
        settings = {key: getattr(self, key) for key in inspect.signature(type(self)).parameters}
        return {"tokenizer": self.name, "rule": self.rule, **settings}

    def remarks(self) -> list[str]:
        """Where the vocabulary is smaller than asked, characters had no room, or the corpus was sampled."""
        return self._remarks

    def sample(self, corpus: Corpus) -> tuple[list[str], int]:
        """Blocks of text to learn from, and the length of the whole corpus. Raises DataError where there is none."""
        assert self.sample_characters is not None
        blocks, total = sample(corpus.documents(), characters=self.sample_characters)
        if not any(block.strip() for block in blocks):
            raise without_text()
        return blocks, total

    def _train(self, corpus: Corpus, folder: Path) -> None:
        tokenizer, remarks = self.learn(corpus)
        size = tokenizer.vocabulary.size
        if self.vocab_size is not None and size < self.vocab_size:
            remarks = [f"tokenizer.vocab_size={self.vocab_size} asked, the corpus gives {size:,}", *remarks]
        tokenizer.save(folder)
        (folder / _TRAINING).write_text(json.dumps({"remarks": remarks}, ensure_ascii=False), encoding="utf-8")


def without_text() -> DataError:
    """What to raise where a corpus has nothing to learn from."""
    return DataError("the corpus holds no text to train a tokenizer on. Give another corpus.path.")


def sampled(blocks: list[str], total: int) -> list[str]:
    """The remark on a sample that is not the whole corpus."""
    read = sum(map(len, blocks))
    return [f"the tokenizer was trained on {read:,} of {total:,} characters, spread evenly"] if read < total else []


def no_room(vocab_size: int | None, characters: int, unknown: str | None) -> list[str]:
    """The remark on rare characters that have no place in the vocabulary."""
    if not characters:
        return []
    return [f"tokenizer.vocab_size={vocab_size} has no room for {characters:,} rare characters: they become {unknown}"]


def _load(folder: Path) -> tuple[Tokenizer, list[str]]:
    try:
        return Tokenizer.load(folder), json.loads((folder / _TRAINING).read_text(encoding="utf-8"))["remarks"]
    except (ConfigError, OSError, ValueError, KeyError) as error:
        raise DataError(f"the tokenizer in {folder} is damaged: {error}") from error
