import json

import pytest
import torch

from ptcli.cli import main
from ptcli.errors import CheckpointError
from ptcli.trainer.first_steps import FirstSteps, digests, first_difference, read_record
from tests.command.toy import run_folder, settings


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def pretrain(folder, *more):
    assert main(["pretrain", *settings(folder, *more)]) == 0
    return run_folder(folder)


def change(run, name, edit):
    path = run / name
    path.write_text(edit(path.read_text()))


def test_a_run_is_equal_to_itself_and_nothing_is_left_of_the_second_one(tmp_path, capsys):
    run = pretrain(tmp_path, "budget.steps=7", "trainer.average=0.9")
    before = sorted(path.name for path in (tmp_path / "runs").rglob("*"))
    capsys.readouterr()
    assert main(["reproduce", str(run)]) == 0
    assert "bitwise equal: 7 steps, all weights after 1 and 5, every logged figure" in capsys.readouterr().out
    assert main(["reproduce", f"checkpoint={run}", "steps=3"]) == 0
    assert "bitwise equal: 3 steps, all weights after 1, every logged figure" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "runs").rglob("*")) == before


def test_the_first_tensor_that_differs_is_named(tmp_path, capsys):
    run = pretrain(tmp_path, "budget.steps=6")

    def edit(text):
        record = json.loads(text)
        names = list(record["steps"]["5"])
        for name in names[2:4]:
            record["steps"]["5"][name] = "0" * 64
        record["made_on"]["torch"] = "2.9.0"
        edit.name, edit.number = names[2], len(names)
        return json.dumps(record)

    change(run, "first_steps.json", edit)
    capsys.readouterr()
    assert main(["reproduce", str(run)]) == 1
    told = capsys.readouterr().out
    assert f"not equal after step 5: {edit.name} is the first of 2 tensors (of {edit.number}) that differ" in told
    assert "made elsewhere (torch 2.9.0 there" in told
    assert main(["reproduce", str(run), "steps=4"]) == 0  # the first step is equal


def test_a_run_with_another_seed_or_other_losses_differs(tmp_path, capsys):
    run = pretrain(tmp_path, "budget.steps=2")
    change(
        run,
        "metrics.jsonl",
        lambda text: text.replace('"train/mask_ratio_asked": 0.15', '"train/mask_ratio_asked": 0.2'),
    )
    assert main(["reproduce", str(run)]) == 1
    assert "logged at step 1 is not: train/mask_ratio_asked 0.2 there, 0.15 here" in capsys.readouterr().out
    change(run, "config.yaml", lambda text: text.replace("seed: 1\n", "seed: 2\n"))
    assert main(["reproduce", str(run)]) == 1
    assert "not equal after step 1: model." in capsys.readouterr().out


def test_another_corpus_is_told(tmp_path, capsys):
    run = pretrain(tmp_path, "budget.steps=2")
    change(tmp_path, "corpus.txt", lambda text: text.replace("cat", "cow"))
    assert main(["reproduce", str(run)]) == 1
    assert "the tokenised corpus is another" in capsys.readouterr().out


def test_what_cannot_be_repeated_is_told(tmp_path, capsys):
    run = pretrain(tmp_path, "budget.steps=null", "budget.minutes=0.01")
    assert main(["reproduce", str(run)]) == 1
    assert "trained for minutes (which do not repeat)" in capsys.readouterr().err
    assert main(["reproduce"]) == 2
    assert "name one run folder" in capsys.readouterr().err
    assert main(["reproduce", str(tmp_path / "absent")]) == 2
    assert main(["reproduce", str(tmp_path)]) == 1
    assert "not a run folder" in capsys.readouterr().err
    assert main(["reproduce", str(run), "steps=0"]) == 2


def test_a_record_is_of_one_machine_and_of_the_latest_beginning(tmp_path):
    module = torch.nn.Linear(2, 2)
    with pytest.raises(CheckpointError, match=r"holds no first_steps\.json"):
        read_record(tmp_path)
    first = FirstSteps(tmp_path, module, device=torch.device("cpu"), corpus="a")
    for step in range(1, 6):
        first.after(step)
    assert list(read_record(tmp_path)["steps"]) == ["1", "5"]
    change(tmp_path, "first_steps.json", lambda text: text.replace(torch.__version__, "2.9"))
    elsewhere = FirstSteps(tmp_path, module, device=torch.device("cpu"), corpus="a")
    elsewhere.after(20)  # the run goes on elsewhere: what it makes of step 20 proves nothing
    assert list(read_record(tmp_path)["steps"]) == ["1", "5"]
    elsewhere.after(1)  # but it may begin again
    assert list(read_record(tmp_path)["steps"]) == ["1"]
    change(tmp_path, "first_steps.json", lambda text: text[:-5])
    with pytest.raises(CheckpointError, match="damaged"):
        read_record(tmp_path)


def test_digests_are_of_bits():
    module = torch.nn.Linear(2, 2).to(torch.bfloat16)
    before = digests(module)
    assert first_difference(before, digests(module)) is None
    with torch.no_grad():
        module.bias[0] = module.bias[0] + 1
    assert first_difference(before, digests(module)) == "bias"
    assert first_difference(before, {"weight": before["weight"]}) == "bias"
