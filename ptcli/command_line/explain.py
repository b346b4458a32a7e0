"""What Hydra and OmegaConf raise while composing, said in the words of this command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException, ValidationError

from ptcli.command_line.suggest import did_you_mean, listing, nearest
from ptcli.config import choices
from ptcli.config.kinds import group_at, kinds
from ptcli.config.outside import conf_folders
from ptcli.errors import ConfigError

_KIND_WORDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text"}


def explain(error: Exception, *, root: str, overrides: Sequence[str] = (), folder: Path | None = None) -> ConfigError:
    """The error for the user. `overrides`: what was typed, so that the word at fault can be shown."""
    cause = error.__cause__
    if isinstance(error, MissingConfigException):
        return ConfigError(_unknown_choice(error, overrides, folder))
    if isinstance(error, OverrideParseException):
        return ConfigError(f"{error.override}: this cannot be read. Put the value in quotes twice: key=\"'value'\"")
    if isinstance(cause, ValidationError) or isinstance(error, ValidationError):
        validation = cause if isinstance(cause, ValidationError) else error
        return ConfigError(_wrong_type(validation, root, overrides, folder))
    if isinstance(cause, OmegaConfBaseException) and "Could not override" in str(error):
        key = str(getattr(cause, "full_key", "") or "")
        return ConfigError(_unknown_key(key, cause, root, overrides, folder))
    text = str(error).strip()
    if "Could not append to config" in text:
        word = _word_for(text.split("'")[1], overrides)
        return ConfigError(f"{word}: the key exists already. Write {word.lstrip('+')}")
    if "Could not override" in text:
        key = text.split("'")[1].split("@")[0]
        return ConfigError(_unknown_group(key, root, overrides, folder))
    return ConfigError(_plain(error))


def _unknown_choice(error: MissingConfigException, overrides: Sequence[str], folder: Path | None) -> str:
    group, _, name = (error.missing_cfg_file or "").rpartition("/")
    names = list(error.options or []) or [choice.name for choice in choices.choices(group, folder)]
    if not group or not names:
        return f"there is no configuration file {error.missing_cfg_file}.yaml in the search path"
    hint = _misplaced(group, name) or did_you_mean(name, names) or _as_value(group, name, folder)
    word = _word_for(group, overrides)
    shown = word if word.endswith(name) else f"{group}={name}"
    return f"{shown}: there is no such choice.{hint} Choices of {group}: {listing(names, 40)}"


def _misplaced(group: str, name: str) -> str:
    """A file of that name that is not where it is looked for, or in a folder that is not brought."""
    for own in conf_folders()[1:]:
        for path in (own / f"{name}.yaml", *own.glob(f"*/{name}.yaml"), *own.glob(f"*/*/{name}.yaml")):
            if path.is_file() and path.parent.relative_to(own).as_posix() not in choices.groups():
                return f" {path} is not in the folder of its group: move it to {own / group / path.name}."
    for path in Path().glob(f"*/{group}/{name}.yaml"):
        if Path(path.parts[0]) not in conf_folders():
            return f" {path} is found by --config-dir={path.parts[0]}."
    return ""


def _as_value(group: str, name: str, folder: Path | None) -> str:
    """A choice that another group has (mask=bert), so that the right line can be shown."""
    for other in choices.groups(folder):
        if other != group and choices.find(other, name, folder):
            return f" {other}={name} exists."
    return ""


def _wrong_type(error: Exception, root: str, overrides: Sequence[str], folder: Path | None) -> str:
    key = str(getattr(error, "full_key", "") or "")
    word = _word_for(key, overrides) or key
    takes = kinds(key, root, folder)
    if takes:
        wanted = " or ".join(_KIND_WORDS[kind] for kind in sorted(takes))
        return f"{word}: {key} takes {wanted}"
    node: Any = getattr(error, "parent_node", None)
    inner = [str(name) for name in node[key.split(".")[-1]]] if _is_mapping_at(node, key.split(".")[-1]) else []
    if inner:
        return f"{word}: {key} is not one value but several: {listing(f'{key}.{name}' for name in inner)}"
    return f"{word}: {str(error).splitlines()[0]}"


def _is_mapping_at(node: Any, key: str) -> bool:
    from omegaconf import OmegaConf

    try:
        return OmegaConf.is_dict(node) and OmegaConf.is_dict(node[key])
    except OmegaConfBaseException:
        return False


def _unknown_key(key: str, cause: Exception, root: str, overrides: Sequence[str], folder: Path | None) -> str:
    if "/" in key:
        return _unknown_group(key, root, overrides, folder)
    word = _word_for(key, overrides) or key
    parent, _, last = key.rpartition(".")
    siblings = [str(name) for name in (getattr(cause, "parent_node", None) or {})]
    siblings = [name for name in siblings if not name.startswith("_") and name != "hydra"]
    if not parent:
        return f"{word}: {root} has no key {key}.{_suggest_from_root(last, siblings, root, folder)}"
    near = nearest(last, siblings)
    if near:
        return f"{word}: there is no key {key}. Did you mean {parent}.{near}?"
    if hint := _in_another_choice(parent, last, word.partition("=")[2], root, folder):
        return f"{word}: {hint}"
    elsewhere = _elsewhere(last, root, folder)
    hint = f" Did you mean {elsewhere[0]}?" if elsewhere else ""
    keys = listing(f"{parent}.{name}" for name in siblings) if siblings else "none that can be set"
    return f"{word}: there is no key {key}.{hint} Keys there: {keys}"


def _in_another_choice(parent: str, last: str, value: str, root: str, folder: Path | None) -> str:
    """The line to type where another choice of the group has the key."""
    group = group_at(parent, root, folder)
    if not group:
        return ""
    if choices.find(group, last, folder):
        return f"the chosen {group} has no {last}. Write {group}={last} as well"
    found = [
        (choice.name, key)
        for choice in choices.choices(group, folder)
        for key in choice.key_table()
        if key == last or key.endswith(f".{last}")
    ]
    if not found:
        return ""
    has = listing(f"{group}={name}" for name, _ in found)
    verb = "has" if len(found) == 1 else "have"
    name, key = found[0]
    return f"the chosen {group} has no {last}; {has} {verb} one. Write {group}={name} {parent}.{key}={value or 'VALUE'}"


def _suggest_from_root(word: str, siblings: list[str], root: str, folder: Path | None) -> str:
    near = nearest(word, siblings)
    exact = _elsewhere(word, root, folder)
    if exact:
        return f" Did you mean {listing(exact, 3)}?"
    if near:
        form = f"{near}=CHOICE" if near in choices.groups(folder) else near
        return f" Did you mean {form}?"
    dotted = {key.split(".")[-1]: key for key in _all_keys(root, folder)}
    near = nearest(word, dotted)
    return f" Did you mean {dotted[near]}?" if near else f" Its keys: {listing(siblings, 40)}"


def _elsewhere(last: str, root: str, folder: Path | None) -> list[str]:
    """Full names of keys that end in this one."""
    return [key for key in _all_keys(root, folder) if key.split(".")[-1] == last]


def _all_keys(root: str, folder: Path | None) -> list[str]:
    """Dotted keys of a root and of the choices that its defaults list makes."""
    keys = [key for key in choices.root(root, folder).key_table() if not key.startswith("hydra.")]
    for group in choices.default_choices(root, folder):
        name, _, place = group.partition("@")
        for choice in choices.choices(name, folder) if not place else []:
            if name != "recipe":
                keys += [f"{name.replace('/', '.')}.{key}" for key in choice.key_table()]
    return list(dict.fromkeys(keys))


def _unknown_group(group: str, root: str, overrides: Sequence[str], folder: Path | None) -> str:
    word = _word_for(group, overrides) or group
    known = choices.groups(folder)
    if group in known:
        return f"{word}: {root} does not use the group {group} in this configuration"
    parent = group.rpartition("/")[0]
    near = nearest(group, [name for name in known if name.rpartition("/")[0] == parent]) or nearest(group, known)
    hint = f" Did you mean {near}?" if near and near != parent else ""
    return f"{word}: there is no group {group}.{hint} Groups: {listing(known, 40)}"


def _word_for(key: str, overrides: Sequence[str]) -> str:
    """The word that changes this key or something below it, as it was typed."""
    for word in reversed(overrides):
        typed = word.lstrip("+~").split("=")[0].split("@")[0]
        if typed == key or (key and typed.startswith(f"{key}.")):
            name, equals, value = word.partition("=")
            quoted = len(value) > 1 and value[0] == value[-1] == "'" and "'" not in value[1:-1]
            return f"{name}{equals}{value[1:-1] if quoted else value}"
    return ""


def _plain(error: Exception) -> str:
    """The message of an error that has no words of its own here, without Hydra's hints."""
    lines = [
        line.strip() for line in str(error).splitlines() if line.strip() and "To append to your config" not in line
    ]
    if error.__cause__ is not None and isinstance(error, ConfigCompositionException | HydraException):
        lines += [line.strip() for line in str(error.__cause__).splitlines()[:2]]
    return "; ".join(lines[:4]) or type(error).__name__
