"""Token ids that someone else has made and kept the meaning of: a vocabulary by count."""

from collections import Counter
from typing import Any

import numpy as np

from ptcli.corpus.document import Corpus
from ptcli.errors import ConfigError, DataError
from ptcli.tokenizer.counting import most_frequent
from ptcli.tokenizer.families import family
from ptcli.tokenizer.known import Known, find_known
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.tokenizer.trained import TrainedTokenizer, without_text


class AnonymisedIds(TrainedTokenizer):
    """The ids of an anonymised corpus as tokens. They are counted over the whole corpus; rare ones are unknown.

    Without `map_to` the vocabulary is the layout's special tokens, then the ids, the most frequent first.

    With `map_to`, a tokenizer, its vocabulary is taken over entry by entry: the most frequent id has the place of its
    most frequent ordinary token, the second that of the second, and so on. A checkpoint trained with that tokenizer can
    then be continued on the ids. Its tokens are ranked by their counts, where `map_to` is a run or a store of ptcli,
    which keeps them; else by their order, which goes by frequency in vocabularies such as BERT's; equal ranks go by
    order. Special tokens and layout stay the tokenizer's; entries that no id takes are never drawn.
    """

    name = "ids"
    rule = 1
    has_words = False
    reads_text = False  # a fact for the fit rules: it reads corpora of ids

    def __init__(
        self,
        *,
        min_frequency: int = 3,
        vocab_size: int | None = None,
        map_to: str | None = None,
        layout: str = "bert",
    ):
        super().__init__(layout=layout, vocab_size=vocab_size, sample_characters=None)
        self.min_frequency = min_frequency
        self.map_to = map_to

    def check(self) -> None:
        """Raise ConfigError where a number is out of range or there is no tokenizer to map to."""
        super().check()
        if self.map_to is None:
            return
        if self.vocab_size is not None:
            raise ConfigError("tokenizer.vocab_size is the other tokenizer's with map_to. Leave one of them out.")
        if self.layout != "bert":
            raise ConfigError("tokenizer.layout is the other tokenizer's with map_to. Leave it out.")
        find_known(self.map_to, key="tokenizer.map_to")

    def identity(self) -> dict[str, Any]:
        """The settings and the rule, and what the tokenizer to map to holds."""
        known = find_known(self.map_to, key="tokenizer.map_to").content() if self.map_to else None
        return {**super().identity(), "map_to": known}

    def learn(self, corpus: Corpus) -> tuple[Tokenizer, list[str]]:
        """Count ids. Raises DataError where the corpus holds anything else."""
        ids = most_frequent(_count(corpus), size=None, min_frequency=self.min_frequency)
        if self.map_to is not None:
            return _mapped(ids, find_known(self.map_to, key="tokenizer.map_to"))
        special = family(self.layout)
        room = len(ids) if self.vocab_size is None else self.vocab_size - special.size
        entries = {token: number for number, token in enumerate([*special.first, *ids[:room]])}
        return self.finished(_cut_at_spaces(entries, special.roles.unk_token)), _without_place(len(ids) - room)


def _count(corpus: Corpus) -> Counter[str]:
    counts: Counter[str] = Counter()
    for document in corpus.documents():
        counts.update(document.text.split())
    if not counts:
        raise without_text()
    for word in counts:
        if not (word.isascii() and word.isdigit()):
            raise DataError(
                f"tokenizer=ids reads token ids, whole numbers, but the corpus holds {word[:40]!r}. "
                "Choose corpus=anonymised for rows of ids, or tokenizer=wordpiece for text."
            )
    return counts


def _cut_at_spaces(entries: dict[str, int], unknown: str | None) -> Any:
    from tokenizers import Tokenizer as Inner
    from tokenizers import models, pre_tokenizers

    assert unknown is not None
    inner = Inner(models.WordLevel(entries, unk_token=unknown))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]
    return inner


def _mapped(ids: list[str], known: Known) -> tuple[Tokenizer, list[str]]:
    """The other tokenizer's vocabulary with ids for its ordinary tokens."""
    from tokenizers import AddedToken

    other = known.load()
    size, unknown = other.vocabulary.size, other.special_tokens.unk_token
    if unknown is None:
        raise ConfigError(f"tokenizer.map_to={known.file} has no unknown token, which rare ids need. Choose another.")
    places, counts = other.vocabulary.ordinary_ids, known.counts()
    if counts is not None:
        if counts.shape != (size,):
            raise DataError(f"the token counts beside {known.file} are of {counts.size:,} ids, not of {size:,}.")
        places = places[np.argsort(-counts[places], kind="stable")]
    entries = {token: int(place) for token, place in zip(ids, places, strict=False)}
    taken = set(entries.values())
    ordinary = set(places.tolist())
    for place in range(size):
        if place not in taken:
            name = other.token(place) if place not in ordinary else ""
            entries[name or f"[unused{size + place}]"] = place  # named so, it is never drawn
    inner = _cut_at_spaces(entries, unknown)
    special = [token for token in other.inner.get_added_tokens_decoder().values() if token.special]
    inner.add_special_tokens([AddedToken(token.content, special=True, normalized=False) for token in special])
    inner.post_processor = other.inner.post_processor
    by = "the order of its vocabulary" if counts is None else "the counts kept with it"
    remarks = [f"{len(taken):,} ids stand for the {len(taken):,} most frequent tokens of {known.file}, by {by}"]
    tokenizer = Tokenizer(inner, special_tokens=other.special_tokens, mapped_to=other.hash)
    return tokenizer, [*remarks, *_without_place(len(ids) - len(taken))]


def _without_place(number: int) -> list[str]:
    return [f"{number:,} rare ids have no place in the vocabulary: they become unknown"] if number > 0 else []
