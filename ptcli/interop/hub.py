"""Checkpoints of the Hugging Face hub."""

import re
from pathlib import Path

from ptcli.errors import ConfigError

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_WANTED = ["*.json", "*.safetensors", "vocab.txt"]  # no pickles, no code


def looks_like_a_name(checkpoint: str) -> bool:
    """`bert-base-uncased` or `google/electra-small-generator`; no path that begins where a folder lies."""
    return _NAME.fullmatch(checkpoint) is not None and not Path(checkpoint.split("/")[0]).is_dir()


def download(name: str) -> Path:
    """The folder of a checkpoint in the hub's cache, fetched where it is not there yet. Raises ConfigError."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, allow_patterns=_WANTED))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ConfigError(
            f"checkpoint={name}: there is no such folder here, and it cannot be fetched from the hub ({reason})."
        ) from error
