"""A folder from somebody else runs no code: no callable of the package stands where conf/ does not name it."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ptcli
from ptcli.config.locate import conf_folder
from ptcli.config.targets import locate, refusals, shipped_targets
from ptcli.errors import ConfigError
from tests.config.foreign_folder import SLOTS, VALUES

PACKAGE = Path(ptcli.__file__).parent


def _callables() -> Iterator[str]:
    """Every function and class of the package, methods too, and every name that a module imports, by its source."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                yield f"{module}.{node.name}"
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from (f"{module}.{alias.asname or alias.name}" for alias in node.names)


def _choices_of(slot: str) -> set[str]:
    """The classes that the files of a slot's group name, found without the code that is tested."""
    group = {"eval.mask": "mask", "words.base": "words", "corpus.members.books": "corpus"}.get(slot, slot)
    group = group.replace("task.members.first", "task").replace(".", "/")
    for named in ("logger/", "model/position/"):
        if group.startswith(named):
            group = group if (conf_folder() / f"{group}.yaml").is_file() else "nothing"
    if group == "model/position":  # its choices lie below it by their names
        return set()
    one = conf_folder() / f"{group}.yaml"
    files = [one] if one.is_file() else (conf_folder() / group).glob("*.yaml")
    return {name for file in files for name in re.findall(r"^\s*_target_: (\S+)", file.read_text("utf-8"), re.M)}


def test_no_callable_of_the_package_stands_where_conf_does_not_name_it(monkeypatch):
    names = sorted(set(_callables()))
    assert len(names) > 2000
    monkeypatch.setattr(importlib, "import_module", lambda name: pytest.fail(f"{name} is imported"))
    for slot in (*SLOTS, *VALUES, "", "unknown", "phases[0]"):
        allowed = {name for name in names if not list(refusals({"_target_": name}, slot))}
        assert allowed == (_choices_of(slot) if slot in SLOTS else set()), slot
    for name in set(names) - shipped_targets():
        with pytest.raises(ConfigError, match="is not run"):
            locate(name)


def test_opening_a_strangers_folder_writes_starts_and_connects_nothing(tmp_path):
    """Real commands, and all that reads a run, in a process under an audit hook."""
    python_path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": python_path, "NUMBA_DISABLE_JIT": "1"}  # to compile takes longest
    done = subprocess.run(
        [sys.executable, "-m", "tests.config.foreign_folder", str(tmp_path)],
        cwd=PACKAGE.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    ended = told["ended"]
    assert told["events"] == []
    assert (ended.pop("victim"), ended.pop("marker"), ended.pop("evil")) == ("mine", "False", "False")
    for name, how in ended.items():
        if name.startswith(("honest", "data")):
            assert how.startswith("0"), (name, how)
        else:
            assert how.startswith(("2", "1", "ConfigError", "CheckpointError")), (name, how)
            assert "Traceback" not in how, (name, how)
