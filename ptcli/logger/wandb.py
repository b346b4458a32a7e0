"""Weights & Biases. Whatever happens to it, training goes on."""

import netrc
import os
import secrets
import socket
import urllib.parse
import urllib.request
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ptcli.errors import ConfigError
from ptcli.logger.logger import Metrics, Sink

_STEP = "trainer/step"
_ID = "run-id.txt"


class Wandb(Sink):
    """One run of Weights & Biases for each run folder; a resumed run goes on in the same one.

    Args:
        project: the project's name.
        entity: user or team; None for the key's own.
        mode: online, offline, disabled, or None: WANDB_MODE where set; else online where there is a key and the server
            answers; else offline, to be sent later with `wandb sync`.
        timeout: seconds that the server is given to answer, and at the end to take what is left; what it does not take
            stays in the run's folder for `wandb sync`.
    """

    def __init__(
        self, *, project: str = "ptcli", entity: str | None = None, mode: str | None = None, timeout: float = 30
    ):
        self.project, self.entity, self.timeout = project, entity, timeout
        self.mode = mode
        self._run: Any = None
        self._has_warned = False
        self._check()

    def _check(self) -> None:
        if self.mode not in (None, "online", "offline", "disabled"):
            raise ConfigError(f"logger.wandb.mode={self.mode}: choose online, offline, disabled or null.")
        if not self.project or any(sign in self.project for sign in "/\\#?%:"):
            raise ConfigError(f"logger.wandb.project={self.project!r}: a name without / \\ # ? % or a colon.")
        if (self.mode or _mode_of_environment()) == "online" and not has_key():
            raise ConfigError(
                "logger=wandb is asked to be online, but there is no key. Type `wandb login` first, set WANDB_API_KEY, "
                "or use logger.wandb.mode=offline."
            )

    def start(self, *, folder: Path, name: str, group: str | None, config: dict[str, Any]) -> None:
        """Begin the run, or go on with the one whose id the folder holds. The mode is decided before wandb is asked."""
        mode, why = self._decide()
        if why:
            print(f"wandb: {why}", flush=True)
        if mode == "disabled":
            return
        self._try(lambda: self._begin(folder=folder, name=name, group=group, config=config, mode=mode))

    def _begin(self, *, folder: Path, name: str, group: str | None, config: dict[str, Any], mode: str) -> None:
        import wandb

        settings = wandb.Settings(silent=True, console="off", init_timeout=self.timeout, finish_timeout=self.timeout)
        self._run = wandb.init(
            project=self.project,
            entity=self.entity,
            name=name,
            group=group or name,
            id=_run_id(folder / "wandb"),
            resume="allow" if mode == "online" else None,
            dir=folder,
            config=config,
            mode=mode,  # type: ignore[arg-type]
            reinit="finish_previous",
            settings=settings,
        )
        # an axis of our own: wandb's only ever rises, and drops what a resumed run logs again
        self._run.define_metric(_STEP)
        self._run.define_metric("*", step_metric=_STEP)

    def _decide(self) -> tuple[str, str]:
        """(mode, what to tell)."""
        if mode := self.mode or _mode_of_environment():
            return mode, ""
        if not has_key():
            return "offline", "no key, so this run is kept offline (`wandb login` makes the next one online)."
        if not _answers(self.timeout):
            return "offline", f"{_server()} does not answer, so this run is kept offline (send it with `wandb sync`)."
        return "online", ""

    def log(self, step: int, metrics: Metrics) -> None:
        """A point for each metric, at `trainer/step`."""
        values = {name: value for name, value in metrics.items() if value is not None}
        self._if_begun(lambda run: run.log({**values, _STEP: step}))

    def summary(self, values: Mapping[str, Any]) -> None:
        """What the run's page shows as its result."""
        plain = {k: v for k, v in values.items() if isinstance(v, bool | int | float | str)}
        self._if_begun(lambda run: run.summary.update(plain))

    def finish(self, status: str) -> None:
        """End the run; the next one in this process is another."""
        self._if_begun(lambda run: run.finish(exit_code=0 if status == "finished" else 1))
        self._run = None

    def _if_begun(self, function: Callable[[Any], Any]) -> None:
        if self._run is not None:
            self._try(lambda: function(self._run))

    def _try(self, function: Callable[[], Any]) -> None:
        try:
            function()
        except Exception as error:  # its own errors are of many kinds, and none is worth a run
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(f"wandb failed ({type(error).__name__}: {error}); training goes on.", stacklevel=3)


def has_key() -> bool:
    """Whether a key is at hand: WANDB_API_KEY, or a line for the server in the netrc file."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    path = Path(os.environ.get("NETRC") or Path.home() / ".netrc")
    try:
        return netrc.netrc(str(path)).authenticators(_server()) is not None
    except (OSError, netrc.NetrcParseError):
        return False


def _mode_of_environment() -> str | None:
    mode = os.environ.get("WANDB_MODE") or None
    mode = {"dryrun": "offline", "run": "online"}.get(mode or "", mode)  # names of older versions
    if mode not in (None, "online", "offline", "disabled"):
        raise ConfigError(f"WANDB_MODE={mode}: choose online, offline or disabled, or unset it.")
    return mode


def _server() -> str:
    address = os.environ.get("WANDB_BASE_URL") or "https://api.wandb.ai"
    return urllib.parse.urlparse(address).hostname or "api.wandb.ai"


def _answers(timeout: float) -> bool:
    if urllib.request.getproxies():  # the way there is not ours to try
        return True
    address = urllib.parse.urlparse(os.environ.get("WANDB_BASE_URL") or "https://api.wandb.ai")
    port = address.port or (80 if address.scheme == "http" else 443)
    try:
        socket.create_connection((_server(), port), timeout=min(timeout, 5)).close()
    except OSError:
        return False
    return True


def _run_id(folder: Path) -> str:
    path = folder / _ID
    if path.exists():
        return path.read_text(encoding="utf-8").strip()
    folder.mkdir(parents=True, exist_ok=True)
    name = secrets.token_hex(4)
    path.write_text(name + "\n", encoding="utf-8")
    return name
