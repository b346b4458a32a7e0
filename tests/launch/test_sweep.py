import pytest

from ptcli.config import compose as compose_module
from ptcli.config.compose import composer
from ptcli.errors import ConfigError
from ptcli.launch.outcomes import Outcome, forget, outcomes, report, shown, spread
from ptcli.launch.sweep import check_sweep, jobs_of, sweep_name


def jobs(*overrides):
    with composer("pretrain"):
        return jobs_of(overrides)


def test_jobs_are_those_of_hydras_sweeper():
    assert jobs("mask.ratio=0.15,0.3", "seed=range(1,3)", "hydra/launcher=basic") == [
        ["mask.ratio=0.15", "seed=1"],
        ["mask.ratio=0.15", "seed=2"],
        ["mask.ratio=0.3", "seed=1"],
        ["mask.ratio=0.3", "seed=2"],
    ]
    assert jobs("seed=3") == [["seed=3"]]


def test_a_job_that_does_not_fit_is_named_before_any_starts():
    with pytest.raises(ConfigError, match=r"job 2 of 2 \(pair=next_sentence\): pair=next_sentence needs two segments"):
        check_sweep("pretrain", ["pair=none,next_sentence", "packing=full_sentences"])


def test_unknown_choices_and_keys_stop_the_sweep():
    with pytest.raises(ConfigError, match=r"job 2 of 2.*Did you mean span"):
        check_sweep("pretrain", ["mask=token,spam"])
    with pytest.raises(ConfigError, match="Did you mean"):
        check_sweep("pretrain", ["mask.rato=0.1,0.2"])


def test_the_same_job_twice_is_refused():
    with pytest.raises(ConfigError, match="the same as job 1"):
        check_sweep("pretrain", ["seed=1,1"])
    with pytest.raises(ConfigError, match="would use the folder of job 1"):
        check_sweep("pretrain", ["budget.steps=1,2"])
    named = check_sweep("pretrain", ["budget.steps=1,2", "run.name='run-${budget.steps}'"])
    assert len(named.jobs) == 2


def test_jobs_of_other_tasks_are_no_twins(tmp_path):
    """One pretraining, which the second job finds finished, and a fine-tuning of each task."""
    (tmp_path / "train.tsv").write_text("text\tlabel\na\tb\n")
    words = ["task=classification,regression", f"task.path={tmp_path}"]
    assert len(check_sweep("pretrain", words).jobs) == 2
    with pytest.raises(ConfigError, match="would use the folder of job 1"):
        check_sweep("pretrain", [*words[1:], "task=regression", "finetune.epochs=1,2"])


def test_values_are_told_by_what_differs_beside_the_seed():
    found = [
        Outcome(n, [f"rate={rate}", f"seed={seed}"], "done", value=rate + seed / 10)
        for n, (rate, seed) in enumerate([(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)])
    ]
    assert spread(found) == [
        "rate=1: mean 1.2000, standard deviation 0.1000, 1.1000 to 1.3000 over 3 jobs",
        "rate=2: mean 2.1500, standard deviation 0.0707, 2.1000 to 2.2000 over 2 jobs",
    ]
    assert spread(found[:2])[0].startswith("all jobs: mean 1.1500, ")
    assert spread(found[2:4]) == ["rate=1: 1.3000", "rate=2: 2.1000"]
    assert spread(found[:1]) == spread([Outcome(0, [], "failed"), found[0]]) == []


def test_jobs_that_differ_in_values_alone_are_composed_once(monkeypatch):
    """Hydra takes most of the time of checking hundreds of jobs."""
    composed, by_hydra = [], compose_module.hydra_compose
    monkeypatch.setattr(compose_module, "hydra_compose", lambda *a, **k: composed.append(1) or by_hydra(*a, **k))
    assert len(check_sweep("pretrain", ["mask=token,span", "seed=range(0,20)"]).jobs) == 40
    assert len(composed) == 2


def test_a_sweeper_that_asks_as_it_goes_is_not_expanded():
    assert check_sweep("pretrain", ["hydra/sweeper=optuna", "seed=1,2"]).jobs == []


def test_names_are_stable_and_plain():
    one = sweep_name(["mask.ratio=0.15,0.3", "seed=1,2"])
    assert one == sweep_name(["seed=1,2", "mask.ratio=0.15,0.3"]).replace("seed-ratio", "ratio-seed")
    assert one.startswith("ratio-seed-")
    assert one != sweep_name(["mask.ratio=0.15,0.4", "seed=1,2"])
    assert sweep_name(["seed=1"]).startswith("sweep-")


def test_what_differs_is_shown():
    assert shown(["a=1", "b=2"], [["a=1", "b=2"], ["a=1", "b=3"]]) == ["b=2"]
    assert shown(["a=1"], [["a=1"]]) == ["a=1"]


def test_outcomes_are_kept_and_reported(tmp_path, capsys):
    Outcome(1, ["seed=2"], "failed", "[boom] no text", "runs/b").write(tmp_path)
    Outcome(0, ["seed=1"], "done", "", "runs/a").write(tmp_path)
    found = outcomes(tmp_path)
    assert [outcome.job for outcome in found] == [0, 1]
    assert report(found, expected=3) == 1
    told = capsys.readouterr().err
    assert "2 of 3 jobs failed" in told
    assert "[boom] no text" in told
    assert report(found[:1], expected=1) == 0
    forget(tmp_path)
    assert outcomes(tmp_path) == []
