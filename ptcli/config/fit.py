"""Net 3: do the chosen parts go together? Every rule of ptcli/config/rules.py is asked; all answers in one report."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from omegaconf import DictConfig

from ptcli.command_line.suggest import listing
from ptcli.config import choices as conf
from ptcli.config.bind import bind, plain_values
from ptcli.config.command import find
from ptcli.config.facts import Facts, facts_of
from ptcli.config.phases import choices_of, configuration_of, phases_of
from ptcli.config.rules import RULES
from ptcli.config.several_tasks import choices_of_member, members_of, with_keys_of
from ptcli.config.task_rules import TASK_RULES
from ptcli.config.values import check_values
from ptcli.errors import ConfigError


def check(
    config: DictConfig,
    choices: Mapping[str, str | list[str]],
    *,
    command: str = "pretrain",
    plugins: Iterable[str] = (),
    folder: Path | None = None,
) -> None:
    """Nets 2 and 3 on a composed configuration. Raises ConfigError with all problems of the net that finds some."""
    refuse_no_choice(choices)
    record = find(command)
    unbuilt = record.unbuilt if record else ()
    values = {key: value for key, value in plain_values(config).items() if key not in unbuilt}
    bind(values, plugins=plugins, folder=folder)
    problems = [*check_values(config, command=command), *fit(facts_of(values, choices, plugins=plugins, folder=folder))]
    for name in members_of(choices) if values.get("task") else ():
        alone = {**values, "task": values["task"]["members"][name]}
        facts = facts_of(alone, choices_of_member(choices, name), plugins=plugins, folder=folder)
        own = (problem for rule in TASK_RULES if (problem := rule(facts)) is not None)
        problems += [f"{name}: {with_keys_of(name, problem)}" for problem in own]
    for number, phase in enumerate(phases_of(config)):
        own, chosen = configuration_of(config, phase), choices_of(choices, phase)
        facts = facts_of(plain_values(own), chosen, plugins=plugins, folder=folder)
        found = [*check_values(own, command=command), *fit(facts)]
        problems += [f"phases[{number}]: {problem}" for problem in found if problem not in problems]
    if problems:
        raise ConfigError("\n".join(problems))


def refuse_no_choice(choices: Mapping[str, str | list[str]]) -> None:
    """Raise ConfigError for a file that holds what the choices of its group share."""
    for group, name in choices.items():
        if any(str(one).startswith("_") for one in (name if isinstance(name, list) else [name])):
            names = listing((choice.name for choice in conf.choices(group.split("@")[0])), 40)
            raise ConfigError(f"{group}={name} is no choice: it holds what choices share. Choices of {group}: {names}")


def fit(facts: Facts) -> list[str]:
    """What does not go together: one message a rule, *what, because, choose*."""
    return [problem for rule in (*RULES, *TASK_RULES) if (problem := rule(facts)) is not None]
