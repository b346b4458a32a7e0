"""ptcli as it is typed, for the studies."""

import shlex
import subprocess
import sys


def ptcli(*words: str) -> None:
    """Print a command of ptcli and run it; end with what it said where it fails."""
    print("ptcli " + shlex.join(words), file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, "-m", "ptcli", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
