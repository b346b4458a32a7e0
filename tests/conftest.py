"""What all tests share: a private cache, quiet libraries, the real corpora where they are at hand."""

import os
from pathlib import Path

import pytest

# One thread a test process: xdist runs one process a core, and sums come out the same everywhere.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["WANDB_MODE"] = "offline"
os.environ.pop("WANDB_API_KEY", None)

import numba  # noqa: E402
from jaxtyping import install_import_hook  # noqa: E402

import ptcli.compiled  # noqa: E402, F401  (it says where compiled loops lie)
import tests.typechecking  # noqa: E402, F401  (the hook looks it up by name)

# Loops are compiled once: not again wherever a test has a cache of its own, nor in processes that it starts.
os.environ.setdefault("NUMBA_CACHE_DIR", str(numba.config.CACHE_DIR))

# Shapes in signatures are checked whenever a model or an objective runs in a test.
install_import_hook(
    [
        "ptcli.model",
        "ptcli.objective",
        *(f"ptcli.task.{name}" for name in ("pooling", "head", "losses", "adversarial")),
        *(f"ptcli.task.{name}" for name in ("objective", "places", "layer_mix", "r_drop")),
    ],
    "tests.typechecking.check",
)


@pytest.fixture
def data() -> Path:
    """The folder of real corpora and tasks ($PTCLI_DATA); tests that need it are marked `data`."""
    folder = os.environ.get("PTCLI_DATA", "")
    if folder and Path(folder).is_dir():
        return Path(folder)
    if os.environ.get("PTCLI_REQUIRE_DATA"):
        pytest.fail("PTCLI_DATA names no folder: `make test-all` wants the real corpora")
    pytest.skip("PTCLI_DATA names no folder with the real corpora")
