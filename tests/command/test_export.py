"""`ptcli export`, and what transformers makes of it; `ptcli.load`."""

import json

import pytest
import torch

import ptcli
from ptcli.cli import main
from ptcli.errors import CheckpointError, DataError
from tests.command.toy import run_folder, settings

TEXTS = ["The cat saw a [MASK] near the old house.", "A dog [MASK]."]


@pytest.fixture(scope="module")
def exported(cache, tmp_path_factory):
    """Train, export, and give the run and the exported folder; once for each set of words."""
    made = {}

    def export(*words):
        if words not in made:
            folder = tmp_path_factory.mktemp("export")
            assert main(["pretrain", *settings(folder, "budget.steps=2", "eval.every=0", *words)]) == 0
            run = run_folder(folder)
            assert main(["export", f"checkpoint={run}", f"output={folder}/out"]) == 0
            made[words] = run, folder / "out"
        return made[words]

    return export


CASES = {
    "pairs": (["pair=next_sentence", "packing=segment_pair"], "BertForPreTraining"),
    "three labels": (["pair=structural", "packing=segment_pair"], "BertForMaskedLM"),
    "untied, shared, no segments": (
        ["objective.tie=false", "model/sharing=all", "model.type_vocab_size=0"],
        "BertForMaskedLM",
    ),
    "untransformed": (["objective.transform=false"], "BertModel"),
    "attention shared": (
        ["model=albert", "model.embedding_size=16", "model/sharing=attention_only"],
        "AlbertForMaskedLM",
    ),
    "rotary": (["model/position=rotary", "model.type_vocab_size=0"], "RoFormerForMaskedLM"),
    "deberta": (["model=deberta"], "DebertaModel"),
    "roberta": (["model=roberta", "tokenizer=bpe", "tokenizer.vocab_size=400"], "RobertaForMaskedLM"),
}


@pytest.mark.parametrize("case", CASES)
def test_transformers_gives_the_same_numbers(case, exported):
    from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

    words, architecture = CASES[case]
    run, folder = exported(*words)
    assert json.loads((folder / "config.json").read_text())["architectures"] == [architecture]
    model, tokenizer = ptcli.load(str(run))
    theirs = AutoTokenizer.from_pretrained(folder)
    texts = [text.replace("[MASK]", str(tokenizer.mask_token)) for text in TEXTS]
    inputs, expected = theirs(texts, return_tensors="pt", padding=True), tokenizer(texts)
    assert torch.equal(inputs["input_ids"], expected["input_ids"])
    real = expected["attention_mask"].bool()
    with torch.inference_mode():
        hidden = AutoModel.from_pretrained(folder).eval()(**inputs).last_hidden_state
        assert (hidden - model.hidden_states(**expected))[real].abs().max() < 1e-5
        if "MaskedLM" in architecture:
            logits = AutoModelForMaskedLM.from_pretrained(folder).eval()(**inputs).logits
            assert (logits - model(**expected))[real].abs().max() < 1e-5


def test_pairs_have_the_labels_and_segments_of_training(exported):
    from transformers import AutoModelForPreTraining, AutoTokenizer

    run, folder = exported(*CASES["pairs"][0])
    inputs = AutoTokenizer.from_pretrained(folder)("The cat saw.", "A dog ran.", return_tensors="pt")
    assert inputs["token_type_ids"].tolist()[0].count(1) == 5  # A dog ran . [SEP]
    model, _ = ptcli.load(str(run))
    with torch.inference_mode():
        theirs = AutoModelForPreTraining.from_pretrained(folder).eval()(**inputs).seq_relationship_logits
        ours = model.objective.pair_head(model.hidden_states(**inputs)[:, 0])
    assert (ours - theirs).abs().max() < 1e-5


def test_the_fill_mask_pipeline_guesses_what_fill_guesses(exported, capsys):
    from transformers import pipeline

    run, folder = exported(*CASES["pairs"][0])
    text = "the cat saw a [MASK] near the house."
    guesses = pipeline("fill-mask", model=str(folder), device="cpu")(text, top_k=1)
    assert main(["fill", f"checkpoint={run}", text, "top=1", "trainer.device=cpu"]) == 0
    assert str(guesses[0]["token_str"]) in capsys.readouterr().out.splitlines()[-1]


def test_the_model_card_says_what_the_model_is(exported):
    _, folder = exported(*CASES["pairs"][0])
    card = (folder / "README.md").read_text()
    assert "BertForPreTraining" in card
    assert "devlin2018bert" in card
    assert "ratio measured" in card
    assert "NextSentence" in card
    assert "eval/masked_lm_loss" in card
    assert str(folder.parent) not in card


def test_no_class_no_wrong_name(exported, capsys):
    run, folder = exported("model/position=rotary", "model.position.rotary.base=500.0")
    told = capsys.readouterr().out
    assert json.loads((folder / "config.json").read_text())["model_type"] == "ptcli_encoder"
    assert not told or "roformer: model.position.rotary.base=500.0 (there 10000.0)" in told
    from transformers import AutoTokenizer

    model, tokenizer = ptcli.load(str(folder))
    before, _ = ptcli.load(str(run))
    theirs = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(TEXTS)
    assert torch.equal(model(**inputs), before(**inputs))
    assert torch.equal(theirs(TEXTS, padding=True, return_tensors="pt")["input_ids"], inputs["input_ids"])
    assert main(["fill", f"checkpoint={folder}", "the [MASK]", "trainer.device=cpu"]) == 0


def test_onnxruntime_gives_the_same_numbers(exported, tmp_path, capsys):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    run, _ = exported(*CASES["pairs"][0])
    assert main(["export", f"checkpoint={run}", "format=onnx", f"output={tmp_path}/onnx"]) == 0
    told = capsys.readouterr().out
    assert "onnxruntime differs by" in told
    assert "tokens/s" in told
    model, tokenizer = ptcli.load(str(run))
    session = onnxruntime.InferenceSession(str(tmp_path / "onnx" / "model.onnx"))
    for texts in (TEXTS, TEXTS[:1], [*TEXTS, "A tree."]):
        inputs = tokenizer(texts)
        inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
        (logits,) = session.run(["logits"], {name: tensor.numpy() for name, tensor in inputs.items()})
        real = inputs["attention_mask"].bool()
        assert (torch.from_numpy(logits) - model(**inputs))[real].abs().max() < 1e-4


def test_a_difference_is_told_and_nothing_is_written(exported, tmp_path, monkeypatch, capsys):
    run, _ = exported(*CASES["pairs"][0])
    monkeypatch.setattr("ptcli.interop.check.largest_error", lambda *_, **__: 0.5)
    assert main(["export", f"checkpoint={run}", f"output={tmp_path}/out"]) == 1
    assert "other numbers" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_unhappy_paths(exported, tmp_path, capsys):
    run, folder = exported(*CASES["pairs"][0])
    for words, said in (
        ([f"checkpoint={run}", f"output={folder}"], "is not empty"),
        ([f"checkpoint={run}"], "output is missing"),
        ([f"output={tmp_path}/out"], "checkpoint is missing"),
        ([f"checkpoint={run}", f"output={tmp_path}/out", "format=gguf"], "one of huggingface, onnx"),
        ([f"checkpoint={tmp_path}/absent", f"output={tmp_path}/out"], "no such folder"),
    ):
        assert main(["export", *words]) == 2
        assert said in capsys.readouterr().err


def test_load_says_what_is_wrong(exported, tmp_path):
    run, _ = exported(*CASES["pairs"][0])
    _, tokenizer = ptcli.load(str(run))
    with pytest.raises(DataError, match="32"):
        tokenizer("the cat " * 40)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(CheckpointError, match="model_type=gpt2"):
        ptcli.load(str(tmp_path))
