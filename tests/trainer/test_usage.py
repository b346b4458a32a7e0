import time

import pytest
import torch

from ptcli.trainer.feed import Phase
from ptcli.trainer.usage import Power, matmul_ceiling, memory
from tests.trainer.toy import Recorder, ToyLoader, train

CPU = torch.device("cpu")


def test_the_ceiling_is_measured_once_and_disturbs_no_draw():
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    matmul_ceiling.cache_clear()
    ceiling = matmul_ceiling(CPU, torch.float32, 1)
    assert torch.equal(torch.rand(4), expected)
    assert 1e8 < ceiling < 1e15
    assert matmul_ceiling(CPU, torch.float32, 1) == ceiling


def test_memory_and_power_of_a_cpu():
    assert 0.01 < memory(CPU) < 1000
    assert Power(CPU).watts() is None


def test_a_log_line_tells_waiting_and_the_share_of_the_ceiling(tmp_path, monkeypatch):
    ceiling = matmul_ceiling(CPU, torch.float32, torch.get_num_threads(), is_tf32=False)  # by a true clock
    now = 0.0

    def clock():
        nonlocal now
        now += 0.001
        return now

    class Slow(ToyLoader):
        def steps(self, position, first_step):
            nonlocal now
            for step in super().steps(position, first_step):
                now += 0.1
                yield step

    monkeypatch.setattr(time, "perf_counter", clock)
    recorder = Recorder()
    phases = [Phase(Slow, operations=1e6)]
    train(tmp_path, steps=3, loader=phases, log_every=1, evaluate=None, sinks=[recorder])
    for line in recorder.lines[1:]:
        assert 0.5 < line["train/data_wait"] < 1
        assert line["train/mfu"] == pytest.approx(line["train/tokens_per_second"] * 1e6 / ceiling)
        assert line["train/memory_gib"] > 0


def test_without_a_count_of_operations_there_is_no_share(tmp_path):
    recorder = Recorder()
    train(tmp_path, steps=2, log_every=1, evaluate=None, sinks=[recorder])
    assert all("train/mfu" not in line and line["train/data_wait"] < 1 for line in recorder.lines)
