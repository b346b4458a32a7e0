"""A vocabulary of whole words, by count."""

from ptcli.corpus.document import Corpus
from ptcli.tokenizer.counting import count_words, most_frequent
from ptcli.tokenizer.families import family
from ptcli.tokenizer.normalization import normalizer
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.trained import TrainedTokenizer, sampled, without_text

_LONGEST_WORD = 100  # characters


class WordVocabulary(TrainedTokenizer):
    """Words and signs, the frequent ones known, all others unknown; as ELMo's output layer has them (arXiv 1802.05365).

    Text is cut at white space and punctuation, every ideograph is a word. What ELMo reads of a word, its characters, is
    a function of this vocabulary: `ptcli.tokenizer.characters.character_ids`.
    """

    name = "words"
    rule = 1

    def __init__(
        self,
        *,
        vocab_size: int = 32768,
        lowercase: bool = False,
        strip_accents: bool | None = None,
        nfkc: bool = False,
        layout: str = "bert",
        min_frequency: int = 2,
        sample_characters: int = 20_000_000,
    ):
        super().__init__(layout=layout, vocab_size=vocab_size, sample_characters=sample_characters)
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.nfkc = nfkc
        self.min_frequency = min_frequency

    def learn(self, corpus: Corpus) -> tuple[Tokenizer, list[str]]:
        """Count words. Raises DataError where the corpus holds no text."""
        from tokenizers import Tokenizer as Inner
        from tokenizers import models, pre_tokenizers

        assert self.vocab_size is not None
        special = family(self.layout)
        unknown = special.roles.unk_token
        assert unknown is not None
        blocks, total = self.sample(corpus)
        inner = Inner(models.WordLevel({unknown: 0}, unk_token=unknown))
        inner.normalizer = normalizer(
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            nfkc=self.nfkc,
            clean=True,
            ideographs_apart=True,
        )
        inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
        counts = count_words(blocks, inner, longest=_LONGEST_WORD)
        if not counts:
            raise without_text()
        words = most_frequent(counts, size=self.vocab_size - special.size, min_frequency=self.min_frequency)
        entries = {token: number for number, token in enumerate([*special.first, *words])}
        inner.model = models.WordLevel(entries, unk_token=unknown)
        return self.finished(inner), sampled(blocks, total)
