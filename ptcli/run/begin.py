"""What an earlier run left in a run folder: another configuration is refused, what is finished is said."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from omegaconf import DictConfig

from ptcli.config.context import Context
from ptcli.config.identity import dump, fingerprint, read, resolve
from ptcli.errors import CheckpointError, ConfigError, PtcliError
from ptcli.run.folder import RunFolder
from ptcli.trainer.budget import Budget

log = logging.getLogger(__name__)


def begin(folder: RunFolder, config: DictConfig, context: Context, budget: Budget) -> dict[str, Any]:
    """Make the folder ready for this configuration, which is written down in it.

    Its summary where it holds the finished run, of which nothing is left to do; else nothing.
    """
    if config.resume != "never":
        refuse_another(folder, config)
        summary = folder.summary()
        if summary.get("status") == "finished" and summary.get("budget") == budget.as_dict():
            log.info(
                f"{folder.path} is finished: step {summary['step']:,}, {summary['seconds']:,.0f} s. Nothing is left to "
                "do. A larger budget goes on from here; resume=never begins anew; seed=2 is another run."
            )
            return summary
    if aside := folder.begin(config.resume):
        log.info(f"what {folder.path} held is put aside in {aside}")
    dump(config, folder.path / "config.yaml")
    (folder.path / "overrides.txt").write_text("".join(f"{word}\n" for word in context.overrides), encoding="utf-8")
    return {}


@contextmanager
def left_unless_begun(folder: RunFolder) -> Iterator[None]:
    """What `begin` wrote is taken back where an error that is told comes before the first step."""
    try:
        yield
    except PtcliError:
        if folder.status is None:
            for name in ("config.yaml", "overrides.txt"):
                (folder.path / name).unlink(missing_ok=True)
            if not folder.metrics_length():
                folder.metrics.unlink(missing_ok=True)
        raise


def refuse_another(folder: RunFolder, config: DictConfig) -> None:
    """A folder named by hand may hold a run of another configuration: say which keys differ."""
    before = folder.path / "config.yaml"
    if not before.exists():
        return
    try:
        old, _ = read(before, plugins=tuple(config.get("plugins") or ()))
    except (CheckpointError, ConfigError) as error:
        raise ConfigError(f"{error}. Type run.name=NAME for another folder, or resume=never to begin anew.") from error
    if fingerprint(old) == fingerprint(config):
        return
    changed = [
        f"{key}={_short(there)} there, {_short(here)} now"
        for key, (there, here) in _differences(resolve(old), resolve(config)).items()
        if key.split(".")[0] not in ("run", "resume", "logger", "log", "save", "budget", "sweep")
    ]
    raise ConfigError(
        f"{folder.path} holds a run of another configuration ({'; '.join(changed[:6])}"
        f"{'; ...' if len(changed) > 6 else ''}). Type run.name=NAME for a new run, "
        "or resume=never to begin this one anew."
    )


def _differences(one: Any, other: Any, key: str = "") -> dict[str, tuple[Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for name in dict.fromkeys([*one, *other]):
            found |= _differences(one.get(name), other.get(name), f"{key}.{name}".lstrip("."))
        return found
    return {} if one == other else {key: (one, other)}


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
