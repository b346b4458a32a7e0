"""What every rank of a launched job runs: `python -m ptcli.launch.worker FOLDER`, with torch's variables set.

FOLDER holds `job.json`. Rank 0 leaves `result.json` there; a rank that fails leaves `failure-RANK.json`.
"""

import ctypes
import json
import os
import signal
import sys
import traceback
from pathlib import Path

import torch.distributed as dist

from ptcli.config.command import code_of
from ptcli.config.outside import bring
from ptcli.errors import PtcliError
from ptcli.launch.group import end_at_once, lead_or_follow, read_job
from ptcli.launch.job import speak
from ptcli.trainer.ranks import RankLostError

_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def main(folder: Path) -> None:
    """Work on the job as the rank that the environment names, and leave."""
    _end_with_launcher()
    rank = int(os.environ["RANK"])
    (folder / f"process-{rank}").write_text(str(os.getpid()), encoding="utf-8")
    speak()
    try:
        code = lead_or_follow(lambda: _lead(folder))
    except BaseException as error:
        if _note_failure(folder, rank, error):
            traceback.print_exc()
        code = getattr(error, "exit_code", 1)
    end_at_once(code)


def _lead(folder: Path) -> int:
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    config, context = read_job(job)
    with bring(context.outside):
        result = code_of(context.command).run(config, context)
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
    return 0  # what a code says is in the result: the launcher takes any but 0 for a failure


def _note_failure(folder: Path, rank: int, error: BaseException) -> bool:
    """Leave what the launcher tells of it. Whether the user is to see its traceback here."""
    is_consequence = isinstance(error, dist.DistError | RankLostError) or "gloo" in str(error)
    story = {
        "kind": type(error).__name__,
        "message": str(error),
        "is_told": isinstance(error, PtcliError),
        "is_consequence": is_consequence,
        "traceback": traceback.format_exc(),
    }
    (folder / f"failure-{rank}.json").write_text(json.dumps(story), encoding="utf-8")
    return not story["is_told"] and not is_consequence


def _end_with_launcher() -> None:
    """On Linux, be sent SIGTERM when the launcher ends, however it does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
