"""The errors that a user sees. Each says what is wrong, why, and what to type instead.

A mistake of our own is an `assert`; it is never one of these.
"""


class PtcliError(Exception):
    """Base of all errors meant for users. `exit_code` is what the process ends with."""

    exit_code = 1


class ConfigError(PtcliError):
    """What can be known before work starts: names, values, combinations, absent paths. Nothing was started."""

    exit_code = 2


class DataError(PtcliError):
    """What only reading the data shows: bytes that are no text, a corpus that makes no example."""


class CheckpointError(PtcliError):
    """Weights or a run folder that cannot be used: absent, damaged, of another shape."""
