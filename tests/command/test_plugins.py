"""A user's own class, named on the command line: in training, when the run goes on, and when its model is used."""

import sys

import pytest

from ptcli.cli import main
from tests.command.toy import run_folder, settings

MASK = """
from ptcli.mask.token import TokenMask

class Part:
    pass

class Mine(TokenMask):
    def __init__(self, *, inner=None, **settings):
        super().__init__(**settings)
        assert inner is None or isinstance(inner, (Part, TokenMask))

def function(**settings):
    return Mine(**settings)
"""


@pytest.fixture
def mine(cache, tmp_path, monkeypatch):
    """A package in the current folder, and a folder of YAML that names its class."""
    name = f"plugin_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MASK)
    (tmp_path / "conf/mask").mkdir(parents=True)
    inner = f"inner:\n  _target_: {name}.Part\n"
    (tmp_path / "conf/mask/mine.yaml").write_text(f"defaults: [token, _self_]\n_target_: {name}.Mine\n{inner}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


def test_a_class_of_ones_own_is_trained_resumed_and_used(mine, tmp_path, capsys):
    words = settings(tmp_path, f"plugins=[{mine}]", f"mask._target_={mine}.Mine", "budget.steps=1", "eval.every=0")
    assert main(["pretrain", *words]) == 0
    run = run_folder(tmp_path)
    assert main(["pretrain", *words]) == 0
    assert "is finished" in capsys.readouterr().err
    assert main(["fill", f"checkpoint={run}", "the [MASK]"]) == 2
    assert f"type plugins=[{mine}]" in capsys.readouterr().err
    assert main(["fill", f"checkpoint={run}", f"plugins=[{mine}]", "the [MASK]"]) == 0
    assert "not loaded" not in capsys.readouterr().err


def test_a_folder_of_ones_own_names_it_too(mine, tmp_path, capsys):
    words = ["view", *settings(tmp_path, "--config-dir=conf", "mask=mine")]
    assert main([*words, f"plugins=[{mine}]"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    assert f"type plugins=[{mine}]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("mask._target_={}.function", "is no class"),
        ("mask._target_={}.Nothing", "has no Nothing"),
        ("mask._target_={}.TokenMask", "it belongs to ptcli"),
        ("+mask.ratio._target_={}.Mine", "mask.ratio"),
        ("+seed._target_={}.Mine", "seed"),
    ],
)
def test_what_is_no_class_of_the_package_is_refused(mine, tmp_path, capsys, word, told):
    assert main(["pretrain", *settings(tmp_path, f"plugins=[{mine}]", word.format(mine))]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
