from collections.abc import Callable
from pathlib import Path

import torch

_SKIPPED, _RECORDED = 4, 5
"""Steps that are left out at first, since they compile, allocate and fill caches, and steps that are recorded."""


class Profile:
    """What each operation of a few steps costs, recorded by torch's profiler.

    `path`: the trace that is written, gzipped JSON, which ui.perfetto.dev and chrome://tracing open.
    """

    def __init__(self, path: Path, *, device: torch.device, say: Callable[[str], None]):
        self._path, self._say = path, say
        self._is_written = False
        activities = [torch.profiler.ProfilerActivity.CPU]
        if device.type == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profiler = torch.profiler.profile(
            activities=activities,
            schedule=torch.profiler.schedule(wait=_SKIPPED, warmup=1, active=_RECORDED, repeat=1),
            on_trace_ready=self._write,
        )
        self._profiler.start()

    def step(self) -> None:
        """After each optimiser step."""
        self._profiler.step()

    def stop(self) -> None:
        """At the end; says so where the run was too short to be recorded."""
        self._profiler.stop()
        if not self._is_written:
            self._say(f"no profile: a run of {_SKIPPED + 2} steps or more is recorded from step {_SKIPPED + 2} on")

    def _write(self, profiler: torch.profiler.profile) -> None:
        if self._is_written or not profiler.events():
            return
        profiler.export_chrome_trace(str(self._path))
        self._is_written = True
        self._say(f"the profile of {_RECORDED} steps is in {self._path}; open it in ui.perfetto.dev")
