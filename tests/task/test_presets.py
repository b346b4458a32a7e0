"""Each preset reads a few made-up rows in the layout in which its data set is given away, and as the hub has it."""

from pathlib import Path

import datasets
import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf

from ptcli.config import choices
from tests.task.layouts import LAYOUTS, MARK, SPANS

FOLDER = Path(__file__).parents[2] / "conf" / "task"
PRESETS = [choice.name for choice in choices.choices("task") if not choice.is_part]
ON_THE_MODEL = ("head", "pooling", "adversarial")


@pytest.fixture
def task_of(tmp_path):
    """The task of a preset; keys as they are typed behind `task.`."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "task").symlink_to(FOLDER)
    (tmp_path / "root" / "root.yaml").write_text("defaults: [{task: classification}, _self_]\n", encoding="utf-8")

    def task(name, **keys):
        typed = [f"task={name}", *(f"++task.{key}={value}" for key, value in keys.items())]
        with initialize_config_dir(str(tmp_path / "root"), version_base=None):
            config = OmegaConf.to_container(compose("root", overrides=typed).task, resolve=True)
        config = {key: value for key, value in config.items() if key not in ON_THE_MODEL}
        built = instantiate(config, _convert_="all")
        built.check()
        return built

    return task


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(params=sorted(LAYOUTS))
def read(request, tmp_path, task_of):
    """Name, task and rows by split of each preset from its files."""
    folder = write(tmp_path / request.param, LAYOUTS[request.param])
    task = task_of(request.param, path=folder)
    return request.param, task, {split: task.read(split) for split in task.splits}


def test_every_preset_has_a_layout():
    assert sorted(LAYOUTS) == sorted(PRESETS)


def test_every_preset_is_in_the_guide():
    text = (Path(__file__).parents[2] / "docs" / "fine-tuning.md").read_text(encoding="utf-8")
    assert [name for name in PRESETS if f"`{name}`" not in text] == []


def perfect(task, rows, labels):
    """Predictions that are all right."""
    if task.target == "class":
        return [{"probabilities": {name: float(name == row.label) for name in labels}} for row in rows]
    if task.target == "value":
        return [{"value": row.label} for row in rows]
    if task.target == "tokens":
        return [{"tags": row.label} for row in rows]
    if task.target == "span":
        return [{"answer": row.label[0].text if row.label else ""} for row in rows]
    assert task.target == "choice"
    return [
        {"choice": row.label, "probabilities": [float(n == row.label) for n in range(len(row.choices))]} for row in rows
    ]


def test_rows_are_read_from_the_files_and_perfect_predictions_score_one(read):
    name, task, rows = read
    assert "train" in rows and len(rows["train"]) > 0
    assert "validation" in rows or name == "competition"
    labels = task.collect_labels({split: of for split, of in rows.items() if not split.startswith("test")})
    for split, of in rows.items():
        for row in of:
            assert all(text for text in (*row.texts, *row.words, *row.choices))
            assert split.startswith("test") or row.label is not None
    if task.target == "class":
        assert len(labels) >= 2
    assert task.best_metric == task.metrics[0]
    everything = [row for split, of in rows.items() if not split.startswith("test") for row in of]
    scores = task.score(perfect(task, everything, labels), everything, labels=labels)
    assert scores[task.best_metric].value == pytest.approx(1.0)
    assert all(score.value is None or score.value == pytest.approx(1.0) for score in scores.values())


LABELS = {
    "cola": ("0", "1"),
    "mnli": ("entailment", "neutral", "contradiction"),
    "qnli": ("entailment", "not_entailment"),
    "rte": ("entailment", "not_entailment"),
    "cb": ("entailment", "contradiction", "neutral"),
    "boolq": ("false", "true"),
    "cmnli": ("neutral", "entailment", "contradiction"),
    "xnli": ("entailment", "neutral", "contradictory"),
    "iflytek": ("0", "2", "11"),
    "competition": ("0", "1"),
}


@pytest.mark.parametrize("name", sorted(LABELS))
def test_labels_stand_in_the_data_sets_order(name, tmp_path, task_of):
    task = task_of(name, path=write(tmp_path / name, LAYOUTS[name]))
    splits = [split for split in task.splits if not split.startswith("test")]
    assert task.collect_labels({split: task.read(split) for split in splits}) == LABELS[name]


def test_mnli_has_two_validation_sets(tmp_path, task_of):
    task = task_of("mnli", path=write(tmp_path / "mnli", LAYOUTS["mnli"]))
    assert task.splits == ["train", "validation", "validation_mismatched", "test", "test_mismatched"]
    assert [row.label for row in task.read("validation")] == ["entailment"]
    assert [row.label for row in task.read("validation_mismatched")] == ["neutral", "contradiction"]


def test_single_presets(tmp_path, task_of):
    def first(name, split="train"):
        return task_of(name, path=write(tmp_path / name, LAYOUTS[name])).read(split)[0]

    assert first("cola").texts == ("They sang.",)
    assert first("mrpc").texts == ('A "b.', "B a.")
    assert first("copa").texts == ("It fell.", "What was the cause?")
    assert first("copa", "validation").label == 1
    assert first("wic").texts == ("bed: A bed.", "A river bed.")
    assert first("wsc").texts == ("他 小明", "小明说他累了")
    assert first("wsc_superglue").texts == ("he Mark", "Mark told Pete that he sang.")
    assert first("wsc_superglue").label == "true"
    assert first("csl").texts == ("雷达 信号", "本文研究雷达")
    assert first("c3").label == 1
    assert first("c3").texts == ("男：你好。\n女：你好。", "谁先说？")
    assert first("cluener").label == ("B-company", "I-company", "B-name", "I-name", "I-name", "O")
    assert first("conll2003").label == ("I-ORG", "O")
    assert first("conll2003_pos").label == ("NNP", "VBZ")
    assert first("competition").texts == ("12 2954 16", "12 32 252")
    assert [a.text for a in first("squad", "validation").label] == ["He", "He was"]
    assert first("squad_v2", "validation").label == ()
    assert first("xnli").label == "contradictory"
    assert first("xnli", "validation").texts == ("雨", "火")  # of several languages, the one asked for


def test_rows_without_a_usable_label_are_left_out_and_counted(tmp_path, task_of):
    task = task_of("cmnli", path=write(tmp_path / "cmnli", LAYOUTS["cmnli"]))
    assert [row.label for row in task.read("train")] == ["contradiction", "entailment"]
    assert any("1 bad rows are left out" in remark and "'-'" in remark for remark in task.remarks())
    task = task_of("qqp", path=write(tmp_path / "qqp", LAYOUTS["qqp"]))
    assert len(task.read("train")) == 2
    assert "1 bad rows" in task.remarks()[0]


NAMES = {
    "cola": ["unacceptable", "acceptable"],
    "sst2": ["negative", "positive"],
    "mnli": ["entailment", "neutral", "contradiction"],
    "boolq": ["False", "True"],
    "tnews": ["100", "101", "102"],
    "xnli": ["entailment", "neutral", "contradiction"],
    "wsc": ["true", "false"],
    "wsc_superglue": ["False", "True"],
    "copa": ["choice1", "choice2"],
}
ON_THE_HUB = {
    "cola": {"sentence": "They sang."},
    "sst2": {"sentence": "fine"},
    "mnli": {"premise": "A.", "hypothesis": "B."},
    "boolq": {"question": "is it", "passage": "It is."},
    "tnews": {"sentence": "故事"},
    "xnli": {"premise": "甲", "hypothesis": "乙"},
    "wsc": {"text": "小明说他累了", "target": SPANS},
    "wsc_superglue": {"text": "Mark saw that he sang.", **MARK},
    "copa": {"premise": "It fell.", "choice1": "I let go.", "choice2": "I sang.", "question": "cause"},
}


@pytest.mark.parametrize("name", sorted(ON_THE_HUB))
def test_the_hubs_numbers_become_the_same_labels(name, tmp_path, task_of):
    """The hub's files are Parquet with the names of the classes beside their numbers, -1 where there is no label."""
    rows = [{**ON_THE_HUB[name], "label": 1, "idx": 0}, {**ON_THE_HUB[name], "label": -1, "idx": 1}]
    table = datasets.Dataset.from_list(rows).cast_column("label", datasets.ClassLabel(names=NAMES[name]))
    table.to_parquet(tmp_path / "test.parquet")
    first, second = task_of(name).read_file(tmp_path / "test.parquet")
    expected = {"cola": "1", "sst2": "1", "mnli": "neutral", "boolq": "true", "tnews": "101", "xnli": "neutral"}
    expected["wsc_superglue"] = "true"
    assert first.label == expected.get(name, 1 if name == "copa" else "false")
    assert second.label is None
    assert first.id == "0" or name == "xnli"
