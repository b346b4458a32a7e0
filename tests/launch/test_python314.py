import argparse

import pytest

from ptcli.launch import python314


def add_the_check_of_python_314(monkeypatch):
    """argparse of 3.14 expands the help of an argument when it is added; do the same here."""
    container = argparse._ActionsContainer
    add = container.add_argument

    def check_help(self, action):
        if action.help and hasattr(self, "_get_formatter"):
            try:
                if "%" in action.help:
                    self._get_formatter()._expand_help(action)
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError("badly formed help string") from error

    def add_argument(self, *args, **kwargs):
        action = add(self, *args, **kwargs)
        self._check_help(action)
        return action

    monkeypatch.setattr(container, "_check_help", check_help, raising=False)
    monkeypatch.setattr(container, "add_argument", add_argument)


def test_hydra_fails_under_the_check_and_passes_with_the_guard(monkeypatch):
    from hydra._internal.utils import get_args_parser

    add_the_check_of_python_314(monkeypatch)
    with pytest.raises(ValueError, match="badly formed help"):
        get_args_parser()
    python314.let_lazy_help_pass()
    assert get_args_parser().parse_args(["-m", "seed=1"]).overrides == ["seed=1"]
    with pytest.raises(ValueError, match="badly formed help"):
        argparse.ArgumentParser().add_argument("--x", help="100 %(sure)s")  # text is still checked


def test_applied_twice_it_is_applied_once(monkeypatch):
    add_the_check_of_python_314(monkeypatch)
    python314.let_lazy_help_pass()
    checked = argparse._ActionsContainer._check_help
    python314.let_lazy_help_pass()
    assert argparse._ActionsContainer._check_help is checked


def test_nothing_happens_where_argparse_makes_no_check():
    before = getattr(argparse._ActionsContainer, "_check_help", None)
    python314.guard()
    assert before is not None or getattr(argparse._ActionsContainer, "_check_help", None) is None
