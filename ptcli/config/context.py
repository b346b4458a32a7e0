"""What a command is told beside its configuration."""

import shlex
from dataclasses import dataclass, field
from typing import Any

from ptcli.config.outside import Outside


@dataclass(frozen=True, slots=True)
class Context:
    """How the command was called. Plain data: it can be sent to another process."""

    command: str
    words: tuple[str, ...] = ()  # positional ones: the sentence of fill, the group of options
    overrides: tuple[str, ...] = ()  # as typed; in a sweep, those of this job
    choices: dict[str, str | list[str]] = field(default_factory=dict)  # group -> choice, as composed
    sweep: str | None = None  # name of the sweep that the job belongs to
    job: int | None = None  # its number in the sweep, from 0
    outside: Outside = field(default_factory=Outside)  # the user's own folders and packages

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Context":
        """What `dataclasses.asdict` gave, perhaps through JSON."""
        plain = {name: tuple(values[name]) for name in ("words", "overrides")}
        outside = Outside(**{name: tuple(listed) for name, listed in values["outside"].items()})
        return cls(**{**values, **plain, "outside": outside})

    @property
    def typed(self) -> tuple[str, ...]:
        """The overrides, before them what brings the user's own folders and packages."""
        own = self.outside.words
        brings = ("hydra.searchpath=", *(["plugins="] if self.outside.packages else []))
        return (*own, *(word for word in self.overrides if not word.lstrip("+").startswith(brings)))

    @property
    def command_line(self) -> str:
        """The line that starts this job again, ready for a shell."""
        return shlex.join(["ptcli", self.command, *self.typed, *self.words])
