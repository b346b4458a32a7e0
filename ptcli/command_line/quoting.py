"""What people type, made readable for Hydra: values are quoted where its lexer would refuse or misread them.

What cannot be guessed is refused in a line that says what to type instead.
"""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from ptcli.command_line.suggest import did_you_mean, listing, nearest
from ptcli.config import choices
from ptcli.config.kinds import kinds
from ptcli.config.several_tasks import spelled_out
from ptcli.errors import ConfigError

KEY = re.compile(r"^(?P<sign>\+\+?|~)?(?P<key>[A-Za-z_$][\w$-]*([./][\w$-]+)*(@[\w.$-]*(:[\w.$-]+)?)?)$", re.ASCII)
_INTERPOLATION = re.compile(r"^\$\{[^}]*\}$")
_NUMBER = r"[+-]?(\d[\d_]*\.?\d*|\.\d+)"
_SUFFIX = {"k": 1_000, "m": 1_000_000, "b": 1_000_000_000, "g": 1_000_000_000}
_OPEN_QUOTES, _CLOSE_QUOTES = "“„«‘‚", "”“»’‘"
_FLAG_WITH_VALUE = {
    "--cfg",
    "-c",
    "--package",
    "-p",
    "--config-path",
    "-cp",
    "--config-name",
    "-cn",
    "--config-dir",
    "-cd",
}
_FLAG = {"--help", "-h", "--hydra-help", "--resolve", "--run", "-r", "--multirun", "-m", "--shell-completion", "-sc"}
_MODES = {"--cfg", "-c", "--info", "-i", "--run", "-r", "--multirun", "-m"}
_INFO = {"--info", "-i"}


class Words:
    """The words behind a command, sorted: overrides ready for Hydra, and Hydra's own flags."""

    def __init__(self, words: Sequence[str], *, root: str, folder: Path | None = None) -> None:
        """`root`: conf/<root>.yaml is what they change. Raises ConfigError at the first word that cannot be read."""
        self.flags: list[str] = []
        self.typed: list[str] = []  # overrides as the user wrote them
        pending = iter(_joined_check(list(words)))
        for word in pending:
            name = word.split("=", 1)[0]
            if word in _FLAG:
                self.flags.append(word)
            elif name in _FLAG_WITH_VALUE:
                self.flags.append(word)
                if "=" not in word:
                    self.flags += [value for value in [next(pending, None)] if value is not None]
            elif word in _INFO or (self.flags and self.flags[-1] in _INFO and "=" not in word):
                self.flags.append(word)
            elif word.startswith("-"):
                raise ConfigError(_refused_flag(word))
            else:
                self.typed.append(word)
        _one_mode(self.flags)
        self.sweeps = "-m" in self.flags or "--multirun" in self.flags or "hydra.mode=MULTIRUN" in self.typed
        spelled = spelled_out(self.typed, root=root, sweeps=self.sweeps, folder=folder)
        self.overrides = [quoted(word, root=root, sweeps=self.sweeps, folder=folder) for word in spelled]

    @property
    def for_hydra(self) -> list[str]:
        """Everything, in the form in which Hydra's own parser reads it."""
        return [*self.flags, *self.overrides]


def _one_mode(flags: Sequence[str]) -> None:
    modes = [flag for flag in flags if flag.split("=")[0] in _MODES]
    if len(modes) > 1:
        raise ConfigError(f"{' '.join(modes)}: only one of these at a time")


def quoted(word: str, *, root: str, sweeps: bool, folder: Path | None = None) -> str:
    """One override in the form that Hydra reads as the user meant it; ConfigError where that cannot be guessed."""
    sign_and_key, equals, value = word.partition("=")
    if not equals:
        if re.match(r"^~[\w./@]+$", word):
            return word  # Hydra's deletion
        raise ConfigError(_no_equals(word, root, folder))
    match = KEY.match(sign_and_key)
    if match is None:
        raise ConfigError(_bad_key(sign_and_key, value))
    key = match["key"]
    _check_value(word, sign_and_key, value)
    if _is_group(key, folder):
        _check_choice(sign_and_key, value, sweeps, folder)
        return word
    takes = kinds(key, root, folder)
    takes_text = "str" in takes
    if value == "null" or _already_hydra(value):
        return word
    parts = _split(value) if sweeps else [value]
    if not sweeps and not takes_text:
        _refuse_commas(sign_and_key, value, takes)
    return f"{sign_and_key}={','.join(_one(sign_and_key, part, takes, takes_text) for part in parts)}"


def quote(value: str) -> str:
    """A value in Hydra's single quotes: it arrives exactly as it stands."""
    from hydra.core.override_parser.types import Quote, QuotedString

    return QuotedString(text=value, quote=Quote.single).with_quotes()


def _one(key: str, value: str, takes: frozenset[str], takes_text: bool) -> str:
    if _already_hydra(value):
        return value
    if takes_text:
        if takes - {"str"} and _reads_as_other_than_text(value):
            return value  # the key takes numbers too: what reads as one is one
        return quote(value)
    _refuse_numbers(key, value, takes)
    return value if _hydra_reads(value) else quote(value)


def _already_hydra(value: str) -> bool:
    """Lists, mappings, quoted values and interpolations that Hydra can read are left alone."""
    if _INTERPOLATION.match(value):
        return True
    enclosed = value[:1] + value[-1:] in ("''", '""', "[]", "{}") and len(value) > 1
    return enclosed and _hydra_reads(value)


def _hydra_reads(value: str) -> bool:
    parsed = _parsed(value)
    return parsed is not None and not (isinstance(parsed, str) and "\\" in value)


def _parsed(value: str) -> object | None:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        override = OverridesParser.create().parse_override(f"key={value}")
    except HydraException:
        return None
    return override.value() if not override.is_sweep_override() else override


def _reads_as_other_than_text(value: str) -> bool:
    parsed = _parsed(value)
    return parsed is not None and not isinstance(parsed, str)


def _split(value: str) -> list[str]:
    """The values of a sweep: at commas outside quotes and brackets."""
    parts, depth, open_quote, start = [], 0, "", 0
    for position, character in enumerate(value):
        if open_quote:
            open_quote = "" if character == open_quote and value[position - 1] != "\\" else open_quote
        elif character in "'\"" and position == start:
            open_quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(value[start:position])
            start = position + 1
    return [*parts, value[start:]]


def _is_group(key: str, folder: Path | None) -> bool:
    name = key.split("@")[0]
    return "/" in name or "@" in key or name in choices.groups(folder)


def _check_choice(key: str, value: str, sweeps: bool, folder: Path | None) -> None:
    group = key.lstrip("+~").split("@")[0]
    names = [choice.name for choice in choices.choices(group, folder)]
    if not names:
        return  # Hydra's own, or unknown: the composition knows more
    if value == "null" and "none" in names:
        raise ConfigError(f"{key}={value}: write {key}=none")
    if value.startswith("[") and not takes_several(group, folder):
        raise ConfigError(f"{key}={value}: {group} takes one choice, not a list")
    if not sweeps and "," in value and not value.startswith("["):
        _refuse_commas(key, value, frozenset())
    if not re.fullmatch(r"[\w./-]+", value) or re.fullmatch(_NUMBER, value) or value in ("null", "true", "false"):
        if value.startswith(("[", "${")) or sweeps:
            return
        raise ConfigError(f"{key}={value}: {value} is no choice of {group}. Choices: {listing(names, 40)}")


def takes_several(group: str, folder: Path | None = None) -> bool:
    """True for groups whose choices are nested by name, so that a list of them can be chosen."""
    return not any("_target_" in choice.values for choice in choices.choices(group, folder)) and group not in (
        "recipe",
        "model/size",
    )


def _joined_check(words: list[str]) -> list[str]:
    """Refuse `key =value`, `key= value` and `key = value`, which the shell cuts into two or three words."""
    for position, word in enumerate(words[:-1]):
        behind = words[position + 1]
        if KEY.match(word) and behind.startswith("=") and "=" not in word:
            value = behind[1:] or (words[position + 2] if position + 2 < len(words) else "")
            raise ConfigError(f"{word} {behind}: no space around the equals sign. Write {word}={value}")
        if word.endswith("=") and KEY.match(word[:-1]) and "=" not in behind and not behind.startswith("-"):
            raise ConfigError(f"{word} {behind}: no space around the equals sign. Write {word}{behind}")
    return words


def _refused_flag(word: str) -> str:
    if word.split("=")[0] == "--experimental-rerun":
        return "--experimental-rerun would run code from a pickle. Type the same command again instead."
    bare = word.lstrip("-")
    if "=" in bare:
        return f"{word}: keys are typed without dashes. Write {bare}"
    flags = sorted(flag for flag in _FLAG | _FLAG_WITH_VALUE | _INFO if flag.startswith("--"))
    return f"{word}: there is no such flag.{did_you_mean(word, flags)}"


def _no_equals(word: str, root: str, folder: Path | None) -> str:
    for odd in "＝≡":
        if odd in word:
            return f"{word}: this equals sign is a full-width one. Write {word.replace(odd, '=', 1)}"
    key, colon, value = word.partition(":")
    if colon and value and KEY.match(key):
        return f"{word}: a value stands behind an equals sign. Write {key}={value}"
    if _is_group(word, folder) and choices.choices(word, folder):
        names = [choice.name for choice in choices.choices(word, folder)]
        return f"{word}: which one? Write {word}=CHOICE, one of {listing(names)}"
    for group in choices.groups(folder):
        if choices.find(group, word, folder) and "/" not in group:
            return f"{word}: to choose it write {group}={word}"
    near = nearest(word, [*choices.groups(folder), *choices.default_choices(root, folder)])
    hint = f" Did you mean {near}=CHOICE?" if near else ""
    return f"{word}: what is changed is typed as key=value.{hint} `ptcli {root} --help` lists the keys."


def _bad_key(key: str, value: str) -> str:
    tidy = unicodedata.normalize("NFKC", key).strip().replace("\\", "/").strip("-'\"" + _OPEN_QUOTES + _CLOSE_QUOTES)
    tidy = re.sub(r"[\s:]+", "", tidy) if KEY.match(re.sub(r"[\s:]+", "", tidy)) else tidy
    if key.endswith(":") and KEY.match(key[:-1]):
        return f"{key}={value}: write {key[:-1]}={value}"
    if KEY.match(tidy):
        return f"{key}={value}: {key!r} is not how a key is written. Write {tidy}={value}"
    return f"{key}={value}: {key!r} is no key: letters, digits and _, parts joined by points (mask.ratio=0.15)"


def _check_value(word: str, key: str, value: str) -> None:
    if value == "":
        raise ConfigError(
            f"{word}: the value is missing. Write {key}=VALUE, {key}=null for none, or {key}=\"''\" for an empty text"
        )
    if value.startswith("="):
        rest = value.lstrip("=")
        raise ConfigError(f"{word}: one equals sign is enough. Write {key}={rest}")
    if value != value.strip():
        raise ConfigError(f"{word!r}: a space stands beside the value. Write {key}={value.strip()}")
    if len(value) > 1 and value[0] in _OPEN_QUOTES and value[-1] in _CLOSE_QUOTES:
        raise ConfigError(f"{word}: these quotes are typographic ones. Write {key}='{value[1:-1]}'")


def _refuse_commas(key: str, value: str, takes: frozenset[str]) -> None:
    if re.fullmatch(r"[+-]?\d+,\d+", value) and takes != {"int"}:
        point = value.replace(",", ".")
        raise ConfigError(f"{key}={value}: the decimal sign is a point. Write {key}={point} (several values need -m)")
    parts = _split(value)
    if len(parts) > 1 and all(_hydra_reads(part) or part.startswith("~") for part in parts):
        a_list = "" if "/" in key or "." not in key else f"; a list is written {key}=[{value}]"
        raise ConfigError(f"{key}={value}: several values are a sweep. Add -m for one{a_list}")


def _refuse_numbers(key: str, value: str, takes: frozenset[str]) -> None:
    if value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise ConfigError(f"{key}={value}: {value} is not a number that can be worked with")
    plain = unicodedata.normalize("NFKC", value)
    if plain != value and re.fullmatch(_NUMBER, plain):
        raise ConfigError(f"{key}={value}: these digits are full-width ones. Write {key}={plain}")
    if match := re.fullmatch(rf"({_NUMBER})\s*%", value):
        raise ConfigError(f"{key}={value}: shares are written as numbers. Write {key}={_shown(float(match[1]) / 100)}")
    if (match := re.fullmatch(rf"({_NUMBER})([kmbgKMBG])", value)) and takes != {"bool"}:
        number = float(match[1].replace("_", "")) * _SUFFIX[match[3].lower()]
        raise ConfigError(f"{key}={value}: numbers are written out. Write {key}={_shown(number)}")
    if re.fullmatch(rf"{_NUMBER}[eE]\+?\d+", value) and takes == {"int"}:
        raise ConfigError(f"{key}={value}: this key takes a whole number. Write {key}={_shown(float(value))}")


def _shown(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:.10g}"
