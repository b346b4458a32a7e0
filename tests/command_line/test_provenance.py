import re

import yaml

from ptcli.cli import main
from ptcli.config.compose import compose


def lines(capsys, *words):
    assert main(["pretrain", *words, "--cfg", "provenance"]) == 0
    text = capsys.readouterr().out
    return text, {line.split(":")[0].strip(): line.split("# ")[1] for line in text.splitlines() if "# " in line}


def test_each_value_is_followed_by_the_file_that_set_it(capsys):
    words = ["recipe=demo", "model=albert", "mask.replace_level=token", "budget.minutes=3"]
    text, told = lines(capsys, *words)
    assert told["embedding_size"] == "model/albert.yaml"
    assert told["initializer_range"] == "model/bert.yaml"
    assert re.search(r"\blearning_rate: .*# optimizer/demo.yaml", text)
    assert told["betas"] == "optimizer/adamw.yaml"
    assert told["replace_level"].startswith("mask/")  # the last one is eval.mask's
    assert "replace_level: token" in text
    assert text.count("# typed") == 2
    assert told["steps"] == "because another budget is typed"
    assert told["minutes"] == "typed"
    assert told["inner_group_num"] == "model/sharing/groups.yaml"
    assert told["keep"] == "pretrain.yaml"


def test_it_is_the_configuration(capsys):
    words = ["recipe=demo", "mask=span", "corpus.path=書 #1.txt", "corpus=text"]
    text, told = lines(capsys, *words)
    config = compose("pretrain", words).config
    assert yaml.safe_load(text) == yaml.safe_load(yaml.safe_dump(_plain(config)))
    assert "no file" not in " ".join(told.values())


def test_a_scaled_value_says_so(capsys):
    _, told = lines(capsys, "recipe=demo", "scale=0.1")
    assert told["steps"] == "recipe/demo.yaml, under scale=0.1"


def test_own_folders_are_named(tmp_path, capsys):
    (tmp_path / "mask").mkdir()
    (tmp_path / "mask" / "mine.yaml").write_text("defaults: [span, _self_]\nratio: 0.3\n")
    text, _ = lines(capsys, "mask=mine", f"--config-dir={tmp_path}")
    assert f"# {tmp_path}/mask/mine.yaml" in text


def _plain(config):
    from omegaconf import OmegaConf

    return OmegaConf.to_container(config)
