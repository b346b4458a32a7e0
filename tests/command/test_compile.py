"""torch.compile with its own code generator, which takes a minute or two on a CPU."""

import pytest

from tests.command.toy import metrics, settings, start
from tests.waiting import finish


@pytest.mark.slow
def test_a_compiled_run_has_the_losses_of_one_that_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    shared = ["model.dropout=0", "model.attention_dropout=0", "budget.steps=6"]
    for name in ("true", "false"):  # processes of their own: what is checked at run time here would be compiled too
        words = settings(tmp_path, *shared, f"run.name={name}", f"trainer.compile={name}")
        code, told = finish(start(["pretrain", *words], tmp_path))
        assert code == 0, told
    compiled, plain = (metrics(tmp_path / "runs" / name) for name in ("true", "false"))
    for one, other in zip(compiled, plain, strict=True):
        for metric in ("train/loss", "train/grad_norm", "eval/masked_lm_loss"):
            assert one.get(metric, 0) == pytest.approx(other.get(metric, 0), rel=1e-3)
