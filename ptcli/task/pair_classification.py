"""One class of several for each pair of texts."""

from typing import Unpack

from ptcli.task.classification import Classification
from ptcli.task.settings import Column, TaskSettings
from ptcli.task.texts import TextTask


class PairClassification(Classification):
    """Two texts have one label together. Settings are TextTask's and Task's."""

    num_texts = 2

    def __init__(
        self,
        *,
        pair: Column = "pair",
        apart: bool = False,
        swap_pairs: bool = False,
        **settings: Unpack[TaskSettings],
    ):
        TextTask.__init__(self, pair=pair, apart=apart, swap_pairs=swap_pairs, **settings)
