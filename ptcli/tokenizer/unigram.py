"""A unigram language model of pieces, as SentencePiece makes it, trained on the corpus."""

import io
from collections import Counter
from importlib import metadata, util
from typing import Any

from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError, DataError
from ptcli.tokenizer.families import family
from ptcli.tokenizer.normalization import normalizers_of
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.trained import TrainedTokenizer, no_room, sampled, without_text

_SPACE = "▁"
_NEVER = -1000.0  # score of a special token: text that happens to spell one is cut in pieces instead


class Unigram(TrainedTokenizer):
    """SentencePiece's unigram model (Kudo, arXiv 1804.10959), as ALBERT, XLNet and T5 use it.

    Text is cleaned of control characters and cut at white space; a piece holds the space before it as "▁". Pieces are
    of one script, and hold no sign beside letters. The library sentencepiece learns them, in one thread, so that the
    same corpus and settings give the same pieces.
    """

    name = "unigram"
    rule = 2

    def __init__(
        self,
        *,
        vocab_size: int = 8192,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        nfkc: bool = True,
        layout: str = "bert",
        longest_piece: int = 16,
        sample_characters: int = 20_000_000,
    ):
        super().__init__(layout=layout, vocab_size=vocab_size, sample_characters=sample_characters)
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.nfkc = nfkc
        self.longest_piece = longest_piece

    def fewest_entries(self) -> int:
        """The space and one more piece."""
        return family(self.layout).size + 2

    def check(self) -> None:
        """Raise ConfigError where sentencepiece is not installed or a value is out of range."""
        if util.find_spec("sentencepiece") is None:
            raise ConfigError('tokenizer=unigram needs the package sentencepiece. Type: pip install "ptcli[unigram]"')
        if not 1 <= self.longest_piece <= 512:
            raise ConfigError(f"tokenizer.longest_piece={self.longest_piece} must be 1 to 512; usual is 16.")
        super().check()

    def identity(self) -> dict[str, Any]:
        """The settings, the rule and the version of the library."""
        return {**super().identity(), "sentencepiece": metadata.version("sentencepiece")}

    def learn(self, corpus: Corpus) -> tuple[Tokenizer, list[str]]:
        """Learn pieces and their scores. Raises DataError where the corpus holds no text."""
        from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers
        from tokenizers import Tokenizer as Inner

        assert self.vocab_size is not None
        special = family(self.layout)
        blocks, total = self.sample(corpus)
        characters = normalizers_of(
            lowercase=self.lowercase, strip_accents=self.strip_accents, nfkc=self.nfkc, clean=True
        )
        joined, stripped = normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip(left=False)
        cleaned = normalizers.Sequence([*characters, joined, stripped])
        texts = [text for block in blocks if (text := cleaned.normalize_str(block))]
        pieces, without_room = _learn(texts, size=self.vocab_size - special.size, longest_piece=self.longest_piece)
        entries = [*((token, _NEVER) for token in special.first), *pieces]
        unknown = special.roles.unk_token
        assert unknown is not None
        inner = Inner(models.Unigram(entries, unk_id=special.first.index(unknown)))
        inner.normalizer = cleaned  # type: ignore[assignment]
        inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")  # type: ignore[assignment]
        inner.decoder = decoders.Metaspace()  # type: ignore[assignment]
        return self.finished(inner), [*no_room(self.vocab_size, without_room, unknown), *sampled(blocks, total)]


def _learn(texts: list[str], *, size: int, longest_piece: int) -> tuple[list[tuple[str, float]], int]:
    """At most `size` pieces with their scores, best first, and how many kinds of characters had no room."""
    import sentencepiece

    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    del counts[" "], counts[_SPACE]
    if not counts:
        raise without_text()
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    rare = ranked[size - 1 :]  # one place is the space's
    if rare:
        gone = dict.fromkeys(map(ord, rare), " ")
        texts = [text.translate(gone) for text in texts]
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(  # type: ignore[attr-defined]
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=size + 1,  # its own unknown token is not taken over
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            max_sentencepiece_length=longest_piece,
            max_sentence_length=1 << 20,
            num_threads=1,
            unk_id=0,
            bos_id=-1,
            eos_id=-1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise DataError(f"sentencepiece cannot learn a vocabulary of {size} pieces from this text: {error}") from error
    learnt = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())  # type: ignore[call-arg]
    pieces = [(learnt.id_to_piece(number), learnt.get_score(number)) for number in range(1, learnt.get_piece_size())]
    return pieces, len(rare)
