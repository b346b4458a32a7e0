"""WordPiece, trained on the corpus."""

from typing import Any

from ptcli.corpus.document import Corpus
from ptcli.tokenizer.counting import count_words
from ptcli.tokenizer.families import family
from ptcli.tokenizer.merges import PREFIX, learn_pieces
from ptcli.tokenizer.normalization import normalizer
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.trained import TrainedTokenizer, no_room, sampled, without_text

LONGEST_WORD = 100
"""Characters; a longer word is unknown, as in BERT."""


class WordPiece(TrainedTokenizer):
    """BERT's tokenizer (Devlin et al., arXiv 1810.04805), its vocabulary learnt from the corpus.

    Text is cleaned of control characters and cut at white space and punctuation; every ideograph is a word. `lowercase`
    also strips accents, unless `strip_accents` says otherwise. `sample_characters` bounds what training reads: an even
    sample of the whole corpus. The same corpus and settings give the same vocabulary on every machine.
    """

    name = "wordpiece"
    rule = 2

    def __init__(
        self,
        *,
        vocab_size: int = 8192,
        lowercase: bool = True,
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
        """Count words, then learn their pieces. Raises DataError where the corpus holds no text."""
        assert self.vocab_size is not None
        special = family(self.layout)
        blocks, total = self.sample(corpus)
        unknown = special.roles.unk_token
        assert unknown is not None
        inner = word_pieces(
            {unknown: 0}, unknown, lowercase=self.lowercase, strip_accents=self.strip_accents, nfkc=self.nfkc
        )
        words = count_words(blocks, inner, longest=LONGEST_WORD)
        if not words:
            raise without_text()
        pieces, without_room = learn_pieces(
            words, size=self.vocab_size - special.size, min_frequency=self.min_frequency
        )
        vocabulary = {token: number for number, token in enumerate([*special.first, *pieces])}
        inner.model = _model(vocabulary, unknown)
        return self.finished(inner), [*no_room(self.vocab_size, without_room, unknown), *sampled(blocks, total)]


def word_pieces(
    vocabulary: dict[str, int], unknown: str, *, lowercase: bool, strip_accents: bool | None = None, nfkc: bool = False
) -> Any:
    """A `tokenizers.Tokenizer` that cuts text as BERT does, with a vocabulary of pieces."""
    from tokenizers import Tokenizer as Inner
    from tokenizers import decoders, pre_tokenizers

    inner = Inner(_model(vocabulary, unknown))
    inner.normalizer = normalizer(
        lowercase=lowercase, strip_accents=strip_accents, nfkc=nfkc, clean=True, ideographs_apart=True
    )
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
    inner.decoder = decoders.WordPiece(prefix=PREFIX)  # type: ignore[assignment]
    return inner


def _model(vocabulary: dict[str, int], unknown: str) -> Any:
    from tokenizers import models

    return models.WordPiece(
        vocabulary, unk_token=unknown, max_input_chars_per_word=LONGEST_WORD, continuing_subword_prefix=PREFIX
    )
