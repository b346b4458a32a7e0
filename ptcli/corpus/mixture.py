"""Several corpora as one, in given shares."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ptcli.corpus.document import Corpus, Document
from ptcli.corpus.stream import check_window
from ptcli.errors import ConfigError


class Mixture:
    """Documents of several corpora, interleaved so that each has its share of the text at any place of it.

    The next document is one of the member that is furthest behind its share of the characters: no draw is needed, and
    the shares hold to within a document. A pass ends with the first member that has no more documents: the others'
    rest is left out and counted. No document comes twice, so none is both trained on and held out.

    `members`: corpora by name. `weights`: numbers by the same names, of which only the proportions count; a member that
    is not named there has the weight 1.
    """

    has_gold_words = False  # those of members are not used: not every member has them

    def __init__(
        self,
        members: Mapping[str, Corpus] | None,
        *,
        weights: Mapping[str, float] | None = None,
        streaming: bool = False,
        window: int | None = None,
    ):
        self.members = dict(members or {})
        self.weights = {name: float((weights or {}).get(name, 1)) for name in self.members}
        self.unknown = sorted(set(weights or {}) - set(self.members))
        self.streaming, self.window = streaming, window
        self.language = next((member.language for member in self.members.values()), "en")
        self._given: dict[str, int] = {}
        self._ended = ""

    def check(self) -> None:
        """Raise ConfigError where there are fewer than two members, a weight is not above 0, or a member refuses."""
        if len(self.members) < 2:
            raise ConfigError(
                "corpus=mixture mixes two corpora or more. Name them: +corpus@corpus.members.books=text "
                "corpus.members.books.path=books/ +corpus@corpus.members.web=jsonl corpus.members.web.path=web.jsonl"
            )
        if self.unknown:
            raise ConfigError(
                f"corpus.weights.{self.unknown[0]} is the weight of no member. The members: {', '.join(self.members)}."
            )
        for name, weight in self.weights.items():
            if not 0 < weight < float("inf"):
                raise ConfigError(f"corpus.weights.{name}={weight:g} must be above 0. Leave out a member without text.")
        check_window(streaming=self.streaming, window=self.window)
        for name, member in self.members.items():
            if not getattr(member, "has_text", True):
                raise ConfigError(f"corpus.members.{name} holds ids without text, which do not mix. Leave it out.")
            if getattr(member, "streaming", False) and not self.streaming:
                raise ConfigError(
                    f"corpus.members.{name}.streaming=true does nothing inside a mixture that is not streamed. "
                    "Give corpus.streaming=true."
                )
            if getattr(member, "window", None) is not None:
                raise ConfigError(f"corpus.members.{name}.window does nothing here. Give corpus.window, the mixture's.")
            member.check()

    def documents(self) -> Iterator[Document]:
        """The documents in their shares, each with its member's language."""
        self._given = dict.fromkeys(self.members, 0)
        sources = {name: member.documents() for name, member in self.members.items()}
        # The first of equals is the first named: the order is the configuration's.
        while True:
            name = min(sources, key=lambda name: self._given[name] / self.weights[name])
            document = next(sources[name], None)
            if document is None:
                self._ended = name
                return
            self._given[name] += len(document.text)
            language = document.language or self.members[name].language
            yield replace(document, words=None, language=language)

    def identity(self) -> dict[str, Any]:
        """The members, in their order, their languages and their weights."""
        total = sum(self.weights.values())
        return {
            "corpus": "mixture",
            "members": [
                {"weight": self.weights[name] / total, "language": member.language, "of": member.identity()}
                for name, member in self.members.items()
            ],
        }

    def remarks(self) -> list[str]:
        """The members' own, and what each gave."""
        told = [f"{name}: {remark}" for name, member in self.members.items() for remark in member.remarks()]
        total = sum(self._given.values())
        if not total:
            return told
        shares = ", ".join(f"{name} {given:,} characters ({given / total:.1%})" for name, given in self._given.items())
        end = f"; {self._ended} is read to its end, what is left of the others is left out" if self._ended else ""
        return [*told, f"the mixture holds {shares}{end}"]
