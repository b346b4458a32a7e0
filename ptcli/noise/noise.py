"""What changes the text of examples beside the mask, or asks something of it: the words side of an objective."""

import numpy as np

from ptcli.batch.contract import Column
from ptcli.mask.examples import Examples, Masked


class Noise:
    """A function of one example, computed for a batch of them, as masks are (ptcli/mask/strategy.py).

    Whatever is drawn is a pure function of `key` (which changes with the seed and the data epoch), of the example's key
    and of the place in it (ptcli/randomness.py): never of the batch. A noise has one of the two methods, or both.

    `needs`: columns of the examples that it reads; `adds`: columns of the batch that it gives.
    """

    needs: frozenset[str] = frozenset()
    adds: tuple[Column, ...] = ()

    def before(self, examples: Examples, *, key: np.uint64) -> Examples:
        """The examples as the mask gets them: reordered, shortened (`Examples.without`), never longer.

        A `token` column that is added here is one of the examples' columns: what comes later shortens it, too.
        """
        return examples

    def after(self, examples: Examples, masked: Masked, *, key: np.uint64) -> tuple[Masked, dict[str, np.ndarray]]:
        """What the model is shown of masked examples, as many positions as before; and the columns that are added."""
        return masked, {}
