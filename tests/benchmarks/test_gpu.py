"""The benchmark of a GPU, at toy size on the CPU."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_it_runs_at_toy_size_and_its_packed_rows_are_exact(tmp_path):
    done = subprocess.run(
        ["bash", str(ROOT / "benchmarks" / "gpu.sh")],
        env={**os.environ, "TOY": "1", "PYTHON": sys.executable, "PTCLI_CACHE": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "TFLOP/s" in done.stdout
    table = [line for line in done.stdout.splitlines() if line.startswith("| 2x64")]
    assert [line.split("|")[3].strip() for line in table] == ["varied", "full"]
