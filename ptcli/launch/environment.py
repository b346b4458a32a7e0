"""Whether this process is one of several that torchrun or srun started, and which; in torch's variables.

RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT: torchrun sets them, srun has its own.
"""

import os
import re
from collections.abc import MutableMapping

_FIRST_PORT, _PORTS = 20_000, 10_000


def is_one_of_several(environment: MutableMapping[str, str] = os.environ) -> bool:
    """Whether several processes were started to train together. A batch job's own script is one process."""
    if "RANK" in environment and "WORLD_SIZE" in environment:
        return int(environment["WORLD_SIZE"]) > 1
    return int(environment.get("SLURM_STEP_NUM_TASKS", "1")) > 1


def translate_slurm(environment: MutableMapping[str, str] = os.environ) -> None:
    """Set torch's variables from those of srun, where torch's are not there. The first host is where ranks meet."""
    if "RANK" in environment:
        return
    environment["RANK"] = environment["SLURM_PROCID"]
    environment["WORLD_SIZE"] = environment["SLURM_STEP_NUM_TASKS"]
    environment["LOCAL_RANK"] = environment["SLURM_LOCALID"]
    tasks = _tasks_of_nodes(environment["SLURM_STEP_TASKS_PER_NODE"])
    environment["LOCAL_WORLD_SIZE"] = str(tasks[int(environment.get("SLURM_NODEID", "0"))])
    environment.setdefault("MASTER_ADDR", first_host(environment["SLURM_STEP_NODELIST"]))
    job, step = int(environment["SLURM_JOB_ID"]), int(environment.get("SLURM_STEP_ID", "0"))
    environment.setdefault("MASTER_PORT", str(_FIRST_PORT + (job * 7 + step) % _PORTS))


def first_host(hosts: str) -> str:
    """The first host of a list as SLURM writes it: gpu[003-007,12],cpu1 begins with gpu003."""
    first = re.match(r"(?:[^,\[]|\[[^\]]*\])+", hosts)
    assert first is not None, "a list of hosts is not empty"
    return re.sub(r"\[([^\],-]+)[^\]]*\]", r"\1", first[0])


def _tasks_of_nodes(text: str) -> list[int]:
    """Tasks of each node: 2(x3),1 are 2, 2, 2, 1."""
    found: list[int] = []
    for tasks, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        found += [int(tasks)] * int(times or 1)
    return found
