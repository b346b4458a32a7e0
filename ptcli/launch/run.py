"""From the words behind a command to the command's `run`, through Hydra and the nets. Returns the exit code."""

from collections.abc import Sequence

from omegaconf import DictConfig

from ptcli.command_line.provenance import asks_for_provenance, provenance
from ptcli.command_line.quoting import Words
from ptcli.config.compose import explained, settle
from ptcli.config.context import Context
from ptcli.config.outside import brought
from ptcli.launch.hydra_main import hydra_choices, hydra_main
from ptcli.launch.job import Result, run_job, speak


def run(command: str, words: Sequence[str], *, positional: Sequence[str] = ()) -> int:
    """Run one command, or with -m all jobs of a sweep. Raises ConfigError for what can be known before work."""
    typed = Words(words, root=command)
    overrides = settle(typed.overrides)
    speak()
    if asks_for_provenance(typed.flags):
        print(provenance(command, typed, overrides))
        return 0
    if typed.sweeps:
        from ptcli.launch.run_sweep import run_sweep

        return run_sweep(command, typed, overrides, positional=positional)
    ended: list[Result | Exception] = []

    def task(config: DictConfig) -> None:
        context = Context(command, tuple(positional), tuple(typed.typed), hydra_choices(), outside=brought())
        try:
            ended.append(run_job(config, context))
        except Exception as error:  # told by the caller: Hydra would print its own words first
            ended.append(error)

    with explained(root=command, overrides=overrides):
        hydra_main(task, command=command, words=[*typed.flags, *overrides])
    result = ended[0] if ended else None
    if isinstance(result, Exception):
        raise result
    return result if isinstance(result, int) else 0
