"""Tab completion (bash): commands here, groups, choices and keys by Hydra, which knows nothing of sub-commands."""

import os
from collections.abc import Mapping, Sequence

from ptcli.config import choices


def complete(words: Sequence[str], *, commands: Mapping[str, str | None]) -> int:
    """Answer `ptcli -sc install=bash` and the question that the shell asks at every tab (`-sc query=bash`)."""
    if not any(word.startswith("query=") for word in words):
        _hydra_completion(words, root="pretrain")
        return 0
    line = os.environ.get("COMP_LINE", "")
    line = line[: int(os.environ.get("COMP_POINT", len(line)) or len(line))]
    typed = line.split()
    at_new_word = line.endswith((" ", "\t")) or not line
    if len(typed) < 2 or (len(typed) == 2 and not at_new_word):
        start = typed[1] if len(typed) == 2 else ""
        print("\n".join(name for name in [*commands, "help"] if name.startswith(start)))
        return 0
    command = typed[1]
    if command in ("help", "--help", "-h"):
        print("\n".join(commands))
        return 0
    root = commands.get(command)
    if root is None:
        start = "" if at_new_word else typed[-1]
        known = choices.groups() if command in commands else []
        print("\n".join(group for group in known if group.startswith(start)))
        return 0
    rest = line.split(command, 1)[1]
    os.environ["COMP_LINE"] = line = "ptcli" + rest
    os.environ["COMP_POINT"] = str(len(line))
    _hydra_completion(words, root=root)
    return 0


def _hydra_completion(words: Sequence[str], *, root: str) -> None:
    from ptcli.launch.hydra_main import hydra_main

    hydra_main(lambda config: None, root=root, command=root, words=["-sc", *words])
