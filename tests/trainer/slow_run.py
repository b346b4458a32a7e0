"""Started by tests as a process of its own: trains the toy slowly enough to be stopped. Arguments: FOLDER [eval]."""

import sys
import time
from pathlib import Path

from ptcli.logger.logger import Sink
from ptcli.trainer.signals import Interrupted
from tests.trainer.toy import train
from tests.waiting import HANG


class Slow(Sink):
    def progress(self, *, step, share, seconds):
        time.sleep(0.02)
        print(f"step {step}", flush=True)


def long_evaluation():
    print("evaluating", flush=True)
    time.sleep(HANG)
    print("evaluated", flush=True)
    return {"eval/masked_lm_loss": 1.0}


if __name__ == "__main__":
    options = {"evaluate": long_evaluation} if "eval" in sys.argv else {}
    try:
        train(Path(sys.argv[1]), sinks=[Slow()], resume_command="ptcli pretrain", export=True, **options)
    except Interrupted as stop:
        print(stop, flush=True)
        sys.exit(stop.exit_code)
