"""The fixtures of fine-tuning, as the tests of commands have them."""

from tests.command.conftest import base, cache, rows, tuned  # noqa: F401
