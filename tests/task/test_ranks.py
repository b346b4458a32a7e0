"""Tasks on two ranks against one process."""

import math

import pytest
from safetensors.torch import load_file

from ptcli.trainer.ranks import Ranks
from tests.task.rank_work import HELPS, SHARE, some_steps
from tests.task.test_every_kind import KINDS
from tests.trainer.rank_work import finish, result, start


@pytest.mark.distributed
def test_every_kind_has_the_weights_and_gradients_of_one_process(tmp_path):
    """DDP and FSDP, unequal numbers of micro-batches, steps over the end of an epoch; and ranks that regularise differ
    in what they draw, never in their weights."""
    processes = start(tmp_path, ranks=2, module="tests.task.rank_work")
    alone = {name: some_steps(name, strategy="single", ranks=Ranks(), micro_size=2 * SHARE) for name in KINDS}
    assert finish(processes) == [0, 0]
    for name, wanted in alone.items():
        for strategy in ("ddp", "fsdp"):
            found = load_file(tmp_path / f"{strategy}-{name}.safetensors")
            assert found.keys() == wanted.keys()
            apart = max(float((found[key] - wanted[key]).abs().max()) for key in wanted)
            assert apart < 1e-9, (strategy, name)
    sums = [result(tmp_path, "kinds", rank) for rank in range(2)]
    assert sums[0] == sums[1]
    assert all(math.isfinite(each) for name in HELPS for each in sums[0][name])
