"""`python -m tests.config.foreign_folder FOLDER`: folders from somebody else are opened, and what that does is noted.

FOLDER is empty. Prints JSON: how each attempt ended, and every event of the interpreter that writes, removes, starts
or connects. A process of its own, since an audit hook stays until the process ends.
"""

import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

_FOUND = {"_target_": "ptcli.run.load.find_folder", "checkpoint": "VICTIM"}  # gives a Path of what is there
NASTY: dict[str, dict[str, Any]] = {
    "ptcli.files.write_whole": {"path": _FOUND, "text": "theirs"},
    "ptcli.files.remove_whole": {"path": _FOUND},
    "ptcli.config.targets.locate": {"target": "evil.Evil", "plugins": ["evil"]},
    "ptcli.config.targets.check_plugins": {"plugins": ["evil"], "typed": ["plugins=[evil]"]},
    "ptcli.cli.main": {"words": ["check", "plugins=[evil]", "mask._target_=evil.Evil"]},
    "ptcli.interop.hub.download": {"name": "theirs/model"},
    "ptcli.launch.launcher.subprocess.Popen": {"args": ["touch", "VICTIM"]},
    "ptcli.cache.shutil.rmtree": {"path": "VICTIM"},
    "evil.Evil": {},
    "os.system": {"command": "touch VICTIM"},
}
"""With arguments that do harm where the target is called."""
SLOTS = (
    "corpus",
    "corpus.members.books",
    "words",
    "words.base",
    "tokenizer",
    "pair",
    "packing",
    "mask",
    "eval.mask",
    "objective",
    "optimizer",
    "schedule",
    "trainer",
    "logger.wandb",
    "model",
    "model.attention",
    "model.position",
    "model.position.learned",
    "model.position.mine",
    "model.ffn",
    "model.sharing",
    "task",
    "task.head",
    "task.members.first",
    "task.members.first.pooling",
)
VALUES = ("model.embedding_size", "model.dropout", "mask.ratio", "max_length", "seed", "phases", "task.metrics", "run")
PLACES = SLOTS + VALUES

_WRITES = ("os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.link", "os.symlink", "os.truncate", "os.chmod")
_STARTS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "subprocess.Popen")


class Watch:
    """What happens while it is open. `allowed`: folders below which files may be written."""

    def __init__(self, *allowed: Path) -> None:
        self.events: list[str] = []
        self._allowed, self._open = tuple(str(folder) + os.sep for folder in allowed), False
        sys.addaudithook(self._see)

    def __enter__(self) -> None:
        self._open = True

    def __exit__(self, *error: Any) -> None:
        self._open = False

    def _see(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._open:
            return
        if event == "open":
            path, mode, flags = args
            writes = any(letter in (mode or "") for letter in "wax+") or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path) != os.devnull:
                self._note_path(event, path)
        elif event in _WRITES or event.startswith("shutil."):
            self._note_path(event, args[0])
        elif event in _STARTS or event.startswith("socket.") or (event == "import" and "evil" in str(args[0])):
            self.events.append(f"{event} {args[:2]}")

    def _note_path(self, event: str, path: Any) -> None:
        if event == "os.mkdir" and os.path.isdir(path):  # nothing happens
            return
        if isinstance(path, int) or not os.path.abspath(os.fsdecode(path)).startswith(self._allowed):
            self.events.append(f"{event} {path}")


def with_node(config: dict[str, Any], key: str, node: Any) -> dict[str, Any]:
    """A copy of a configuration with a node at a key."""
    copied = json.loads(json.dumps(config))
    *parents, last = key.split(".")
    inner = copied
    for parent in parents:
        if not isinstance(inner.get(parent), dict):
            inner[parent] = {}
        inner = inner[parent]
    inner[last] = [node] if key in ("phases", "task.metrics") else node
    return copied


def attempt(work: Callable[[], Any]) -> str:
    """How it ends: `0`, the exit code, or the error's name."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            result = work()
    except Exception as error:
        return type(error).__name__
    return f"{result if isinstance(result, int) else 0} {told.getvalue()}".strip()


def main(folder: Path) -> None:
    """Make a run of each kind, change copies of them as a stranger might, and open those."""
    os.environ["PTCLI_CACHE"] = str(folder / "cache")
    from ptcli.cli import main as ptcli
    from ptcli.config.locate import conf_folder
    from ptcli.finetuning.base import load_base
    from ptcli.finetuning.checks import shape_of
    from ptcli.finetuning.joint_model import is_joint, load_joint
    from ptcli.finetuning.model import load_fine_tuned
    from ptcli.launch.outcomes import outcomes
    from ptcli.run.load import load_any
    from tests.command.reviews import finetune, pretrained, reviews

    with contextlib.redirect_stdout(io.StringIO()):
        base = pretrained(folder)
        rows = reviews(folder)
        assert finetune(base, rows, folder / "tuned-runs", "budget.epochs=null", "budget.steps=1") == 0
    tuned = folder / "tuned-runs" / "tuned"
    (folder / "out").mkdir()
    watch = Watch(folder / "cache", folder / "out")
    ended: dict[str, str] = {}

    def commands(pretrained: Path, fine_tuned: Path) -> dict[str, list[str]]:
        output, answers = folder / "out" / f"export-{len(ended)}", folder / "out/answers.tsv"
        return {
            "fill": ["fill", f"checkpoint={pretrained}", "the [MASK] saw"],
            "evaluate": ["evaluate", f"checkpoint={pretrained}", "eval.tokens=200", "trainer.precision=fp32"],
            "export": ["export", f"checkpoint={pretrained}", f"output={output}"],
            "predict": ["predict", f"checkpoint={fine_tuned}", f"input={rows}/dev.tsv", f"output={answers}"],
        }

    for name in ("fill", "predict"):
        words = commands(base, tuned)[name]
        with watch:
            ended[f"honest {name}"] = attempt(lambda words=words: ptcli(words))

    theirs = folder / "theirs"
    shutil.copytree(base, theirs / "base")
    shutil.copytree(tuned, theirs / "tuned")
    (theirs / "evil.py").write_text(f"open({str(folder / 'marker')!r}, 'w')\nclass Evil: pass\n", encoding="utf-8")
    configs = {name: yaml.safe_load((theirs / name / "model/config.yaml").read_text()) for name in ("base", "tuned")}
    victim = folder / "victim.txt"
    victim.write_text("mine")
    loaders: dict[str, Callable[[], Any]] = {
        "load_any": lambda: load_any(str(theirs / "base")),
        "shape_of": lambda: shape_of(str(theirs / "base"), plugins=()),
        "load_base": lambda: load_base(str(theirs / "tuned"), plugins=(), random_weights=False, seed=1),
        "load_fine_tuned": lambda: load_fine_tuned(str(theirs / "tuned")),
        "is_joint": lambda: is_joint(str(theirs / "tuned")),
        "load_joint": lambda: load_joint(str(theirs / "tuned")),
    }
    loaders["load_base on base"] = lambda: load_base(str(theirs / "base"), plugins=(), random_weights=False, seed=1)

    def node(target: str) -> dict[str, Any]:
        return json.loads(json.dumps({"_target_": target, **NASTY[target]}).replace("VICTIM", str(victim)))

    def put(name: str, config: dict[str, Any]) -> None:
        for path in (theirs / name / "model/config.yaml", theirs / name / "config.yaml"):
            path.write_text(yaml.safe_dump({**config, "plugins": ["evil", "os"]}), encoding="utf-8")

    os.chdir(theirs)  # where a module of theirs would be found first
    for number, place in enumerate(PLACES):
        target = [*NASTY][number % len(NASTY)]
        for name, config in configs.items():
            put(name, with_node(config, place, node(target)))
        if number % 3 == 0:
            opened = commands(theirs / "base", theirs / "tuned")
            command = [*opened][number // 3 % len(opened)]
            with watch:
                ended[f"{command} {place} {target}"] = attempt(lambda words=opened[command]: ptcli(words))
        for step in range(2):
            loader = [*loaders][(2 * number + step) % len(loaders)]
            with watch:
                ended[f"{loader} {place} {target}"] = attempt(loaders[loader])
    put("tuned", configs["tuned"])
    (theirs / "outside.yaml").write_text(yaml.safe_dump(node("ptcli.files.write_whole")))
    outside = os.path.relpath(theirs / "outside", conf_folder() / "packing")  # a phase names a file of conf/packing
    put("base", {**configs["base"], "phases": [{"packing": outside}]})
    with watch:
        ended["phases"] = attempt(loaders["load_base on base"])
    job = {"job": 0, "overrides": [node("evil.Evil")], "status": "failed", "why": node("ptcli.cli.main")}
    (theirs / "job-0.json").write_text(json.dumps(job), encoding="utf-8")
    with watch:
        ended["data of job-0.json"] = attempt(lambda: outcomes(theirs) and 0)
    labels = theirs / "tuned/model/labels.json"
    labels.write_text(
        json.dumps({**json.loads(labels.read_text()), "settled": {"threshold": node("ptcli.files.write_whole")}})
    )
    with watch:
        ended["predict labels.json"] = attempt(lambda: ptcli(commands(theirs / "base", theirs / "tuned")["predict"]))
    (theirs / "conf/recipe").mkdir(parents=True)
    recipe = {"model": {"embedding_size": node("ptcli.files.write_whole")}}
    (theirs / "conf/recipe/theirs.yaml").write_text("# @package _global_\n" + yaml.safe_dump(recipe))
    with watch:
        ended["pretrain recipe"] = attempt(lambda: ptcli(["pretrain", "--config-dir=conf", "recipe=theirs"]))
    ended["victim"] = victim.read_text() if victim.is_file() else "gone"
    ended["marker"] = str((folder / "marker").exists())
    ended["evil"] = str("evil" in sys.modules)
    print(json.dumps({"ended": ended, "events": watch.events}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
