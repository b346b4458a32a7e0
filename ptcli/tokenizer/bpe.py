"""Byte-level byte pair encoding, trained on the corpus."""

from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError
from ptcli.tokenizer.families import family
from ptcli.tokenizer.normalization import normalizer
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.trained import TrainedTokenizer, sampled

_BYTES = 256
# Symbols of distinct words that training holds, about 40 bytes of memory each. English stays far below; text without
# spaces has hardly a word twice.
_MOST_SYMBOLS = 16_000_000


class ByteLevelBPE(TrainedTokenizer):
    """GPT-2's and RoBERTa's tokenizer (Radford et al. 2019; Liu et al., arXiv 1907.11692): no character is unknown.

    Text is cut at white space, and between letters, digits and other signs; a word holds the space before it. Its bytes
    are then merged (Sennrich et al., arXiv 1508.07909). A run of ideographs is one word: pieces may reach over Chinese
    words, which then cannot be masked as a whole, and are counted.
    """

    name = "bpe"
    rule = 2

    def __init__(
        self,
        *,
        vocab_size: int = 8192,
        lowercase: bool = False,
        strip_accents: bool | None = None,
        nfkc: bool = False,
        layout: str = "roberta",
        min_frequency: int = 2,
        sample_characters: int = 20_000_000,
    ):
        super().__init__(layout=layout, vocab_size=vocab_size, sample_characters=sample_characters)
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.nfkc = nfkc
        self.min_frequency = min_frequency

    def fewest_entries(self) -> int:
        """All bytes have their place."""
        return family(self.layout).size + _BYTES

    def check(self) -> None:
        if self.vocab_size is not None and self.vocab_size < self.fewest_entries():
            raise ConfigError(
                f"tokenizer.vocab_size={self.vocab_size} is too small for the {_BYTES} bytes and the special tokens. "
                f"Give at least {self.fewest_entries()}; usual are 8192 to 65536."
            )
        super().check()

    def learn(self, corpus: Corpus) -> tuple[Tokenizer, list[str]]:
        """Learn merges. Raises DataError where the corpus holds no text."""
        from tokenizers import Tokenizer as Inner
        from tokenizers import decoders, models, pre_tokenizers, trainers

        assert self.vocab_size is not None
        special = family(self.layout)
        blocks, total = self.sample(corpus)
        blocks = _within_memory(blocks)
        inner = Inner(models.BPE())
        inner.normalizer = normalizer(lowercase=self.lowercase, strip_accents=self.strip_accents, nfkc=self.nfkc)
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
        inner.decoder = decoders.ByteLevel()  # type: ignore[assignment]
        trainer = trainers.BpeTrainer(
            vocab_size=self.vocab_size - len(special.last),
            min_frequency=self.min_frequency,
            special_tokens=list(special.first),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        inner.train_from_iterator(blocks, trainer)
        return self.finished(inner), sampled(blocks, total)


def _within_memory(blocks: list[str]) -> list[str]:
    """Every k-th block, k as small as can be for the distinct words to have at most `_MOST_SYMBOLS` bytes."""
    distinct = {word for block in blocks for word in block.split()}
    symbols = sum(len(word.encode(errors="replace")) for word in distinct)
    return blocks[:: -(-symbols // _MOST_SYMBOLS) or 1]
