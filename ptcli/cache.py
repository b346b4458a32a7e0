"""Where prepared corpora, trained tokenizers and compiled loops are kept between runs."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """$PTCLI_CACHE where it is set, else the user's cache folder. Deleting it loses time, never data."""
    return Path(os.environ.get("PTCLI_CACHE") or platformdirs.user_cache_dir("ptcli", appauthor=False))
