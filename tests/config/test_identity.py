import re

import pytest
from omegaconf import OmegaConf

from ptcli.config.compose import compose
from ptcli.config.identity import dump, fingerprint, plain, read, resolve, run_name
from ptcli.errors import CheckpointError, ConfigError


def name(*words):
    composed = compose("pretrain", words)
    return run_name(composed.config, composed.choices)


def test_the_name_says_model_and_mask():
    assert re.fullmatch(r"bert-token-[0-9a-f]{8}", name())
    assert re.fullmatch(r"albert-span-[0-9a-f]{8}", name("model=albert", "mask=span"))
    assert name("run.name=mine") == "mine"


def test_what_defines_a_run_and_what_does_not():
    same = [
        "budget.steps=5",
        "logger=wandb",
        "log.every=3",
        "save.every=7",
        "resume=never",
        "trainer.device=cpu",
        "prepare.workers=2",
    ]
    assert len({name(), *(name(word) for word in same), name("run.dir=elsewhere"), name("sweep.name=s")}) == 1
    other = ["seed=2", "mask.ratio=0.3", "model.dropout=0.0", "max_length=64", "batch.size=8", "corpus=text"]
    assert len({name(), *(name(word) for word in other)}) == 1 + len(other)


def test_written_and_read_back_is_the_same(tmp_path):
    config = compose("pretrain", ["corpus=text", "corpus.path=书/a.txt"]).config
    dump(config, tmp_path / "config.yaml")
    loaded, remarks = read(tmp_path / "config.yaml")
    assert resolve(loaded) == resolve(config)
    assert fingerprint(loaded) == fingerprint(config)
    assert remarks == []


def test_a_strangers_file_is_data(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("plugins: [evil]\nseed: 1\n")
    loaded, remarks = read(path)
    assert loaded.plugins == []
    assert "evil" in remarks[0]
    path.write_text("run: {name: '${oc.env:HOME}'}\n")
    with pytest.raises(CheckpointError, match=r"run\.name"):
        read(path)
    path.write_text("run: {'${oc.env:HOME}': 1}\n")
    with pytest.raises(CheckpointError, match=r"a key in run"):
        read(path)
    path.write_text("pair: {_target_: ptcli.files.write_whole}\n")
    with pytest.raises(ConfigError, match=r"config\.yaml: pair: .* no choice of pair"):
        read(path)
    path.write_text("x: !!python/object/apply:os.system ['echo hello']\n")
    with pytest.raises(CheckpointError, match="damaged"):
        read(path)
    path.write_text("- 1\n")
    with pytest.raises(CheckpointError, match="no configuration"):
        read(path)
    with pytest.raises(CheckpointError, match="not a run folder"):
        read(tmp_path / "absent" / "config.yaml")


def test_of_its_plugins_those_stay_that_the_user_names(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("plugins: [mine, evil]\nmask: {_target_: mine.Mask}\n")
    loaded, remarks = read(path, plugins=("mine", "other"))
    assert loaded.plugins == ["mine"]
    assert "evil" in remarks[0]
    with pytest.raises(ConfigError, match=r"plugins=\[mine\]"):
        read(path)
    path.write_text("plugins: evil\n")
    assert read(path, plugins=("evil",))[0].plugins == []


def test_plain_names():
    assert plain("a b=c,d/e") == "a-b-c-d-e"
    assert plain(["x", "y"]) == "x-y"
    assert plain(None) == "none"


def test_a_missing_value_is_named():
    with pytest.raises(ConfigError, match="a"):
        resolve(OmegaConf.create({"a": "???"}))
