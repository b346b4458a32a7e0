"""`task=[mnli,qqp,stsb]`: what is typed of several tasks, as the overrides that Hydra reads.

Written as it stands, Hydra would merge the tasks into one node and say nothing. Each becomes a node of its own,
`task.members.<name>`; a task that is there twice is given names: `task=[reviews:classification,notes:classification]`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ptcli.command_line.suggest import did_you_mean, listing
from ptcli.config import choices
from ptcli.errors import ConfigError, DataError

JOINT = "multi"
"""The choice of task that holds several."""
_PREFIX = "task@task.members."  # of a member's choice, among the choices of a composition
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_TAKEN = ("model", "checkpoints", "wandb", "pretraining", "mean")  # of folders and metrics beside the members' own
_INNER = re.compile(r"task\.members\.(?P<name>\w+)(?P<sign>[./])(?P<part>\w+)", re.ASCII)


def spelled_out(words: Sequence[str], *, root: str, sweeps: bool, folder: Path | None = None) -> list[str]:
    """Overrides as Hydra is to read them: what names several tasks becomes several. Raises ConfigError."""
    if "task" not in _groups_of(root, folder):
        return list(words)
    members: dict[str, str] = {}
    found: list[str] = []
    for word in words:
        key, _, value = word.partition("=")
        if key == "task" and value.startswith("["):
            members = _members(word, value, sweeps, folder)
            found += [f"task={JOINT}", *(f"+{_PREFIX}{name}={choice}" for name, choice in members.items())]
        elif key == "task" and value == JOINT:
            raise ConfigError(f"{word}: which tasks? Write task=[mnli,stsb], or others (ptcli options task)")
        else:
            found.append(_of_one(word, folder))
    if members:
        _refuse_nobodys(words, members, folder)
    return found


def members_of(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The tasks among the choices of a composition, by name; none where there is but one task."""
    if chosen.get("task") != JOINT:
        return {}
    found = {key.removeprefix(_PREFIX): str(choice) for key, choice in chosen.items() if key.startswith(_PREFIX)}
    return dict(sorted(found.items()))


def name_of_task(chosen: Mapping[str, Any]) -> str:
    """What a run of the chosen task is called: its choice, or the names of several with hyphens between."""
    return "-".join(members_of(chosen)) or str(chosen.get("task"))


def typed_task(chosen: Mapping[str, Any]) -> str:
    """The chosen task as it is typed behind task=."""
    members = members_of(chosen)
    several = ",".join(name if name == choice else f"{name}:{choice}" for name, choice in members.items())
    return f"[{several}]" if members else str(chosen.get("task"))


def choices_of_member(chosen: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What is chosen in each group, were the member the only task."""
    found = {key: choice for key, choice in chosen.items() if not key.startswith("task")}
    inside = f"task.members.{name}"
    for key, choice in chosen.items():
        group, _, place = key.partition("@")
        if place == inside or place.startswith(f"{inside}."):
            found[group] = choice
    return found


def with_keys_of(name: str, text: str) -> str:
    """A message about a task, with the keys as they are typed where it is one of several."""
    text = re.sub(r"\btask\.(?!members\.)(?=[a-z_])", f"task.members.{name}.", text)
    return re.sub(r"\btask/(?=(head|pooling|adversarial)\b)", f"task.members.{name}/", text)


@contextmanager
def told_of(name: str) -> Iterator[None]:
    """What is refused of a task inside is told with its name and its own keys."""
    try:
        yield
    except (ConfigError, DataError) as error:
        raise type(error)(f"{name}: {with_keys_of(name, str(error))}") from error


def _members(word: str, value: str, sweeps: bool, folder: Path | None) -> dict[str, str]:
    """Choice of each task by its name, in the order in which they are typed."""
    if not value.endswith("]") or "[" in value[1:]:
        hint = " Several sets of tasks cannot be swept: type one command for each." if sweeps else ""
        raise ConfigError(f"{word}: several tasks are written task=[mnli,stsb].{hint}")
    entries = [entry.strip() for entry in value[1:-1].split(",")]
    members: dict[str, str] = {}
    for entry in entries:
        name, _, choice = entry.rpartition(":")
        name = name or choice
        if problem := next(_problems(name, choice, folder), None):
            raise ConfigError(f"{word}: {problem}")
        if name in members:
            raise ConfigError(
                f"{word}: {name} is there twice. Give each a name of its own: "
                f"task=[first:{members[name]},second:{choice}]"
            )
        members[name] = choice
    if len(members) == 1:
        raise ConfigError(f"{word}: one task is typed without brackets. Write task={entries[0].rpartition(':')[2]}")
    return members


def _of_one(word: str, folder: Path | None) -> str:
    """task.members.NAME/head=tanh, as it is typed of one of several tasks, in Hydra's form."""
    key, _, value = word.partition("=")
    inner = _INNER.fullmatch(key)
    if inner is None or f"task/{inner['part']}" not in choices.groups(folder):
        return word
    name, part = inner["name"], inner["part"]
    if inner["sign"] == "." and value != "null":
        raise ConfigError(f"{word}: a choice is typed with a slash. Write task.members.{name}/{part}={value}")
    return word if inner["sign"] == "." else f"task/{part}@task.members.{name}.{part}={value}"


def _refuse_nobodys(words: Sequence[str], members: Mapping[str, str], folder: Path | None) -> None:
    """Raise ConfigError for a key that one task has, where there are several: it must say which of them is meant."""
    of_member = {name: _keys_of(choice, folder) for name, choice in members.items()}
    shared = _keys_of(JOINT, folder) | {"mixing"}
    for word in words:
        match = re.match(r"task[./](?P<key>\w+)[^@=]*=", word)
        if match is None or match["key"] in shared:
            continue
        for name, keys in of_member.items():
            if match["key"] in keys:
                own = f"task.members.{name}{word.removeprefix('task')}"
                raise ConfigError(f"{word}: of which task? Write {own}, and so for any others")


def _keys_of(choice: str, folder: Path | None) -> set[str]:
    """The first segments of a task's keys, and what it has of the groups inside."""
    found = choices.find("task", choice, folder)
    inner = {group.removeprefix("task/") for group in choices.groups(folder) if group.startswith("task/")}
    own = {key.split(".")[0] for key in found.key_table()} if found else set()
    return own | (inner if choice != JOINT else set())


def _problems(name: str, choice: str, folder: Path | None) -> Iterator[str]:
    names = [each.name for each in choices.choices("task", folder) if each.name != JOINT]
    if not choice:
        yield "a task is missing. Write task=[mnli,stsb], or any others"
    elif choice == JOINT or choice not in names:
        yield f"there is no task {choice}.{did_you_mean(choice, names)} Choices: {listing(names, 60)}"
    if not _NAME.fullmatch(name):
        yield f"{name!r} is no name for a task: a letter, then letters, digits and _. Write task=[first:{choice},...]"
    elif name in _TAKEN:
        yield f"{name} is the name of something else in a run. Give another one: task=[my_{name}:{choice},...]"


def _groups_of(root: str, folder: Path | None) -> set[str]:
    """The groups in a root's defaults list, also those of which it chooses nothing."""
    choice = choices.root(root, folder)
    base = choice.base()
    found = _groups_of(base.name, folder) if base else set()
    return found | {
        str(group) for entry in choice.values.get("defaults") or [] if isinstance(entry, dict) for group in entry
    }
