"""The way from words to a command's `run`, with a stand-in for the command."""

import sys

import pytest

from ptcli.cli import main
from ptcli.errors import DataError


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """What `pretrain` was called with; seeds from 13 on misbehave in the ways that commands do."""
    seen = []

    def run(config, context):
        seen.append((config, context))
        if config.seed == 13:
            raise RuntimeError("boom")
        if config.seed == 14:
            raise DataError("no text in it")
        if config.seed == 16:
            raise KeyboardInterrupt
        return {15: 130, 17: 143, 18: 1}.get(config.seed)

    monkeypatch.setattr("ptcli.command.pretrain.run", run)
    monkeypatch.setattr("ptcli.command.fill.run", run)
    monkeypatch.chdir(tmp_path)
    return seen


def fill_seed(seen):
    return [config.seed for config, _ in seen]


def test_one_run(calls, tmp_path):
    assert main(["pretrain", "mask=span", "seed=3", "run.dir=out"]) == 0
    ((config, context),) = calls
    assert context.command == "pretrain"
    assert context.overrides == ("mask=span", "seed=3", "run.dir=out")
    assert context.choices["mask"] == "span"
    assert (context.sweep, context.job) == (None, None)
    assert config.run.name.startswith("bert-span-")
    assert context.command_line == "ptcli pretrain mask=span seed=3 run.dir=out"
    assert list(tmp_path.iterdir()) == []  # Hydra makes no folder of its own


@pytest.mark.parametrize(("seed", "code"), [(14, 1), (15, 130), (16, 130), (17, 143), (18, 1), (1, 0)])
def test_exit_codes(calls, seed, code, capsys):
    assert main(["pretrain", f"seed={seed}"]) == code
    told = capsys.readouterr().err
    assert "Traceback" not in told
    if seed == 14:
        assert "ptcli: no text in it" in told


def test_a_mistake_of_ours_shows_where(calls):
    with pytest.raises(RuntimeError, match="boom"):
        main(["pretrain", "seed=13"])


def test_nothing_starts_where_the_nets_find_something(calls, capsys):
    assert main(["pretrain", "pair=next_sentence", "packing=full_sentences"]) == 2
    assert main(["pretrain", "mask.rato=0.3"]) == 2
    assert main(["pretrain", "-m", "mask=token,spam"]) == 2
    assert calls == []
    assert "Traceback" not in capsys.readouterr().err


def test_the_users_full_error_shows_the_traceback(calls, monkeypatch, capsys):
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    assert main(["pretrain", "seed=14"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_sweep_runs_all_jobs_and_tells_which_failed(calls, capsys, tmp_path):
    assert main(["pretrain", "-m", "seed=1,13,14,2", "budget.steps=5"]) == 1
    assert fill_seed(calls) == [1, 13, 14, 2]
    contexts = [context for _, context in calls]
    assert [context.job for context in contexts] == [0, 1, 2, 3]
    assert len({context.sweep for context in contexts}) == 1
    assert contexts[0].overrides == ("seed=1", "budget.steps=5")
    assert calls[0][0].sweep.name == contexts[0].sweep
    told = capsys.readouterr().err
    assert "job 2 of 4 failed: RuntimeError: boom" in told
    assert told.index("job 3 of 4 failed: no text in it") < told.index("job 4 of 4: seed=2")  # when it happens
    assert "2 of 4 jobs failed" in told
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [".sweeps"]


def test_a_sweep_that_goes_well(calls, capsys):
    assert main(["pretrain", "-m", "mask.ratio=0.15,0.3", "run.dir=書 #1", "sweep.name=mine"]) == 0
    assert [context.sweep for _, context in calls] == ["mine", "mine"]
    assert "2 of 2 jobs done" in capsys.readouterr().err


@pytest.mark.parametrize(("seed", "code"), [(15, 130), (16, 130)])
def test_an_interrupted_job_ends_the_sweep(calls, seed, code):
    assert main(["pretrain", "-m", f"seed={seed},1"]) == code
    assert fill_seed(calls) == [seed]


def test_terminated(calls):
    with pytest.raises(SystemExit) as caught:
        main(["pretrain", "-m", "seed=17,1"])
    assert caught.value.code == 143
    assert fill_seed(calls) == [17]


def test_prepare_and_check_share_the_keys_of_pretrain(calls, monkeypatch):
    seen = []
    monkeypatch.setattr("ptcli.command.check.run", lambda config, context: seen.append(context))
    assert main(["check", "model=albert"]) == 0
    assert seen[0].command == "check"


def test_positional_words_are_taken_out_first(calls, monkeypatch):
    seen = []
    monkeypatch.setattr("ptcli.command.fill.run", lambda config, context: seen.append((config, context)))
    assert main(["fill", "checkpoint=runs/x", "Paris, it's the [MASK] (of) France.", "top=3"]) == 0
    ((config, context),) = seen
    assert context.words == ("Paris, it's the [MASK] (of) France.",)
    assert config.checkpoint == "runs/x"
    assert config.top == 3


def test_showing_the_configuration(calls, capsys):
    assert main(["pretrain", "mask=span", "budget.minutes=3", "--cfg", "job"]) == 0
    told = capsys.readouterr().out
    assert "ptcli.mask.span.SpanMask" in told
    assert "steps: null" in told
    assert calls == []


def test_environment_and_arguments_are_put_back(calls, monkeypatch):
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)
    before = list(sys.argv)
    main(["pretrain", "seed=1"])
    assert sys.argv == before
    assert "HYDRA_FULL_ERROR" not in __import__("os").environ


def test_choices_of_ones_own(calls, tmp_path):
    (tmp_path / "mine" / "mask").mkdir(parents=True)
    (tmp_path / "mine" / "mask" / "often.yaml").write_text("defaults:\n  - token\n  - _self_\nratio: 0.5\n")
    assert main(["pretrain", "--config-dir", "mine", "mask=often"]) == 0
    assert main(["pretrain", "--config-dir=mine", "-m", "mask=often,span"]) == 0
    assert [config.mask.ratio for config, _ in calls] == [0.5, 0.5, 0.15]


@pytest.mark.parametrize(("words", "times"), [([], 1), (["hydra.mode=RUN"], 2)])
def test_what_is_composed_twice(calls, monkeypatch, words, times):
    """Hydra looks for its mode in a whole configuration of its own; only where one can be set is that needed."""
    from hydra._internal.hydra import Hydra

    composed = []
    compose = Hydra.compose_config
    monkeypatch.setattr(Hydra, "compose_config", lambda *args, **named: composed.append(1) or compose(*args, **named))
    assert main(["pretrain", *words]) == 0
    assert len(composed) == times
