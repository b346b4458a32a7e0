"""WordPiece, trained on the corpus."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from ptcli.cache import obtain
from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError, DataError
from ptcli.tokenizer.merges import PREFIX, learn_pieces
from ptcli.tokenizer.sample import sample
from ptcli.tokenizer.special_tokens import BERT
from ptcli.tokenizer.tokenizer import Tokenizer

_RULE = 1  # changes with what the same text and settings give
_LONGEST_WORD = 100  # characters; a longer word is unknown, as in BERT
_TRAINING = "training.json"
_CHUNK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|[^\s\u3400-\u4dbf\u4e00-\u9fff]+")


class WordPiece:
    """BERT's tokenizer (Devlin et al., arXiv 1810.04805), its vocabulary learnt from the corpus.

    Text is cleaned of control characters and cut at white space and punctuation; every ideograph is a word. `lowercase`
    also strips accents. `sample_characters` bounds what training reads: an even sample of the whole corpus. The same
    corpus and settings give the same vocabulary on every machine.
    """

    def __init__(
        self,
        *,
        vocab_size: int = 8192,
        lowercase: bool = True,
        min_frequency: int = 2,
        sample_characters: int = 20_000_000,
    ):
        self.vocab_size = vocab_size
        self.lowercase = lowercase
        self.min_frequency = min_frequency
        self.sample_characters = sample_characters
        self._remarks: list[str] = []

    def check(self) -> None:
        """Raise ConfigError where a number is out of range."""
        smallest = len(BERT.named()) + 1
        if self.vocab_size < smallest:
            raise ConfigError(
                f"tokenizer.vocab_size={self.vocab_size} leaves no room beside the special tokens. "
                f"Give at least {smallest}; usual are 1024 to 32768."
            )
        for key in ("min_frequency", "sample_characters"):
            if getattr(self, key) < 1:
                raise ConfigError(f"tokenizer.{key}={getattr(self, key)} must be at least 1.")

    def build(self, corpus: Corpus, *, cache: Path) -> Tokenizer:
        """Load what was trained before on this corpus with these settings, or train it."""
        self.check()
        defining = json.dumps([corpus.identity(), self.identity()], sort_keys=True)
        folder = Path(cache) / "tokenizers" / hashlib.blake2b(defining.encode(), digest_size=12).hexdigest()
        tokenizer, self._remarks = obtain(
            folder,
            load=_load,
            build=lambda folder: self._train(corpus, folder),
            what="the tokenizer",
        )
        return tokenizer

    def identity(self) -> dict[str, Any]:
        """The settings and the rule."""
        return {
            "tokenizer": "wordpiece",
            "rule": _RULE,
            "vocab_size": self.vocab_size,
            "lowercase": self.lowercase,
            "min_frequency": self.min_frequency,
            "sample_characters": self.sample_characters,
        }

    def remarks(self) -> list[str]:
        """Where the vocabulary is smaller than asked, characters had no room, or the corpus was sampled."""
        return self._remarks

    def _train(self, corpus: Corpus, folder: Path) -> None:
        blocks, total = sample(corpus.documents(), characters=self.sample_characters)
        inner = _untrained(lowercase=self.lowercase)
        words = _count_words(blocks, inner)
        if not words:
            raise DataError("the corpus holds no text to train a tokenizer on. Give another corpus.path.")
        special = BERT.named()
        pieces, without_room = learn_pieces(
            words, size=self.vocab_size - len(special), min_frequency=self.min_frequency
        )
        vocabulary = {token: number for number, token in enumerate([*special.values(), *pieces])}
        tokenizer = Tokenizer(_trained(inner, vocabulary), special_tokens=BERT)
        tokenizer.save(folder)
        read = sum(map(len, blocks))
        remarks = []
        if len(vocabulary) < self.vocab_size:
            remarks.append(f"tokenizer.vocab_size={self.vocab_size} asked, the corpus gives {len(vocabulary):,}")
        if without_room:
            remarks.append(
                f"tokenizer.vocab_size={self.vocab_size} has no room for {without_room:,} rare characters: "
                f"they become {BERT.unk_token}"
            )
        if read < total:
            remarks.append(f"the tokenizer was trained on {read:,} of {total:,} characters, spread evenly")
        content = json.dumps({"remarks": remarks, "characters": read}, ensure_ascii=False)
        (folder / _TRAINING).write_text(content, encoding="utf-8")


def _load(folder: Path) -> tuple[Tokenizer, list[str]]:
    try:
        return Tokenizer.load(folder), json.loads((folder / _TRAINING).read_text(encoding="utf-8"))["remarks"]
    except (ConfigError, OSError, ValueError, KeyError) as error:
        raise DataError(f"the tokenizer in {folder} is damaged: {error}") from error


def _untrained(*, lowercase: bool) -> Any:
    from tokenizers import Tokenizer as Inner
    from tokenizers import decoders, models, normalizers, pre_tokenizers

    inner = Inner(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=lowercase)  # type: ignore[assignment]
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
    inner.decoder = decoders.WordPiece(prefix=PREFIX)  # type: ignore[assignment]
    return inner


def _count_words(blocks: list[str], inner: Any) -> Counter[str]:
    """Words as the pre-tokenizer gives them; each distinct chunk between spaces is cut once."""
    chunks: Counter[str] = Counter()
    for block in blocks:
        chunks.update(_CHUNK.findall(block))
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():
        for word, _ in inner.pre_tokenizer.pre_tokenize_str(inner.normalizer.normalize_str(chunk)):
            if len(word) <= _LONGEST_WORD:
                words[word] += count
    return words


def _trained(inner: Any, vocabulary: dict[str, int]) -> Any:
    from tokenizers import AddedToken, models, processors

    inner.model = models.WordPiece(
        vocabulary, unk_token=BERT.unk_token, max_input_chars_per_word=_LONGEST_WORD, continuing_subword_prefix=PREFIX
    )
    inner.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in BERT.named().values()])
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    return inner
