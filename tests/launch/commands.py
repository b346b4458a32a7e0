"""Starting ptcli on two ranks, as a user would, with a fault where one is asked for."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from ptcli.cli import main
from tests import waiting

ROOT = Path(__file__).parents[2]
PTCLI = [sys.executable, "-m", "ptcli"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]

# Python reads a module of this name when it starts: one rank raises, or kills itself, in its sixth step.
FAULT = """
import os
rank, attempt = os.environ.get("RANK", ""), os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
if attempt == "0" and rank == os.environ.get("FAULTY_RANK", "none"):
    from ptcli.trainer.step import TrainingStep
    forward, calls = TrainingStep.forward, []
    def faulty(self, *arguments):
        calls.append(1)
        if len(calls) == 6:
            if os.environ["FAULT"] == "raise":
                raise RuntimeError("a fault of this rank's own")
            os.kill(os.getpid(), 9)
        return forward(self, *arguments)
    TrainingStep.forward = faulty
"""


class Commands:
    """Commands in a folder of their own, with a text and a cache. `words` are those of a small run of `name`."""

    name = "pretrain"

    def __init__(self, folder: Path):
        self.folder, self.runs = folder, folder / "runs"
        chooser = random.Random(1)
        words = ["the", "cat", "dog", "house", "tree", "runs", "walks", "sees", "eats", "small", "large", "or", "when"]
        text = "\n\n".join(" ".join(chooser.choices(words, k=chooser.randint(5, 30))) + "." for _ in range(400))
        (folder / "text.txt").write_text(text, encoding="utf-8")
        site = folder / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(FAULT, encoding="utf-8")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
        self.environment |= {
            "OMP_NUM_THREADS": "1",
            "PTCLI_CACHE": str(folder / "cache"),
            "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]),
        }
        self.words = [
            "corpus=text",
            f"corpus.path={folder / 'text.txt'}",
            "tokenizer.vocab_size=70",
            "model/size=tiny",
            f"run.dir={self.runs}",
            "trainer.device=cpu",
            "trainer.precision=fp32",
            "batch.size=8",
            "max_length=32",
            "eval.tokens=300",
        ]

    def start(self, command: list[str], *words: str, **environment: str) -> subprocess.Popen:
        """`command` is PTCLI or TORCHRUN and what follows; `words` replace those of the small run."""
        return subprocess.Popen(
            [*command, self.name, *self.words, *words],
            cwd=self.folder,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, command: list[str], *words: str, **environment: str) -> tuple[int, str]:
        """The exit code and all that was printed; no rank is left."""
        return waiting.finish(self.start(command, *words, **environment))

    def run_here(self, *words: str) -> int:
        """The exit code of a command that starts no rank, in this process, which is quicker."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PTCLI_CACHE", self.environment["PTCLI_CACHE"])
            return main([self.name, *self.words, *words])

    def rank(self, number: int) -> int:
        """The process of a rank that `trainer.devices` has started."""
        (file,) = (self.runs / ".ranks").glob(f"*/process-{number}")
        return int(file.read_text())
