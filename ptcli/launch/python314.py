"""Python 3.14's argparse expands every help text when an argument is added; Hydra 1.3 hands it one that is no string.

Hydra makes the help of --shell-completion on demand, as an object (hydra#3121), and the check refuses it before any
word is read. The guard lets help that is no string pass; text is checked as before. Hydra 1.4 will not need it.
"""

import argparse
import sys
from typing import Any

_CONTAINER: Any = argparse._ActionsContainer  # the class whose add_argument makes the check


def guard() -> None:
    """Apply once, before Hydra makes its parser. Does nothing below Python 3.14 or where argparse makes no check."""
    if sys.version_info >= (3, 14):
        let_lazy_help_pass()


def let_lazy_help_pass() -> None:
    """Skip the check for help that is no string."""
    check = getattr(_CONTAINER, "_check_help", None)
    if check is None or hasattr(check, "_ptcli"):
        return

    def checked(self: Any, action: argparse.Action) -> None:
        if isinstance(action.help, str):
            check(self, action)

    checked._ptcli = True  # type: ignore[attr-defined]
    _CONTAINER._check_help = checked
