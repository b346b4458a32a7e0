"""What comes with a compiled loop, and what does not."""

import subprocess
import sys


def test_a_loop_that_runs_does_not_bring_scipy():
    """numba looks for scipy's BLAS when it is imported and again with the first loop: 100 ms and 20 MB for nothing."""
    command = (
        "import sys, numpy\n"
        "from ptcli.randomness import draws, key_of\n"
        "draws(key_of(1), numpy.arange(3, dtype=numpy.uint64))\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] == 'scipy'))"
    )
    said = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
