from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ptcli.trainer.average import Average


@contextmanager
def judged_weights(optimizer: Any, average: Average | None) -> Iterator[None]:
    """While entered, the weights are those that are evaluated and exported, where these are not the trained ones.

    That is the moving `average` where there is one. An optimizer that itself trains at another point than it is judged
    at (schedule_free) has `eval()`, which puts its average in place, and `train()`, which puts the point of training
    back as it was.
    """
    if average is not None:
        with average.in_place():
            yield
    elif hasattr(optimizer, "eval"):
        optimizer.eval()
        try:
            yield
        finally:
            optimizer.train()
    else:
        yield
