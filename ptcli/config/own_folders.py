"""What can be wrong with the folders of YAML that the user brings, told before anything is composed from them."""

from collections.abc import Iterator
from pathlib import Path

from ptcli.config.choices import Choice, choices, find, groups
from ptcli.config.locate import conf_folder
from ptcli.config.outside import conf_folders
from ptcli.errors import ConfigError


def check_own_folders() -> None:
    """Raise ConfigError for a folder that holds no choice, and for a file that cannot be one."""
    for own in conf_folders()[1:]:
        if problem := _problem_of_folder(own):
            raise ConfigError(f"{own}: {problem}")
        for group in groups():
            for path in sorted((own / group).glob("*.yaml")):
                if problem := _problem_of_choice(Choice(group, path.stem, path)):
                    raise ConfigError(f"{path}: {problem}")


def refuse_unread() -> None:
    """Raise ConfigError for a file that would never be read."""
    if hidden := list(unread()):
        first, taken = hidden[0]
        typed = f"{first.group}={first.name}" if first.group else f"{first.name}.yaml"
        more = f" So are {len(hidden) - 1} more." if len(hidden) > 1 else ""
        raise ConfigError(
            f"{first.path} is never read, because there is a {typed} in {taken.folder}, which comes first.{more} Give "
            f"the file another name; to change a choice, begin yours with defaults: [{first.name}, _self_]"
        )


def unread(group: str | None = None) -> Iterator[tuple[Choice, Choice]]:
    """Files that are never read, each with the choice of that name that a folder before has."""
    for own in conf_folders()[1:]:
        for name in ("", *groups()) if group is None else (group,):
            for path in sorted((own / name).glob("*.yaml")):
                first = find(name, path.stem)
                if first and first.path != path and first.path.read_bytes() != path.read_bytes():
                    yield Choice(name, path.stem, path), first


def _problem_of_folder(own: Path) -> str:
    if not any(any((own / name).glob("*.yaml")) for name in ("", *groups())) and not (own / "hydra").is_dir():
        return f"there is no choice in this folder. One of mask is {own}/mask/NAME.yaml"
    if own.name in {group.rpartition("/")[2] for group in groups()} and not any(map(Path.is_dir, own.iterdir())):
        return f"this is the folder of a group. Type the one above it: {own.parent}"
    return ""


def _problem_of_choice(choice: Choice) -> str:
    if choice.values or any(not ours.values for ours in choices(choice.group, conf_folder())):
        ours = [one for one in choices(choice.group, conf_folder()) if one.values]
        if _is_whole(choice) or not all(map(_is_whole, ours)):
            return ""
    return "a choice names its class (_target_: PACKAGE.MODULE.CLASS) or begins with another (defaults: [NAME, _self_])"


def _is_whole(choice: Choice) -> bool:
    """Whether it is an object: itself, by the choice that it begins with, or of those that it names inside."""
    inner = [value for value in choice.values.values() if isinstance(value, dict)]
    begins = [entry for entry in choice.values.get("defaults") or [] if isinstance(entry, str) and entry != "_self_"]
    return not choice.values or any("_target_" in node for node in (choice.values, *inner)) or bool(begins)
