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


COMMAND = """
from dataclasses import dataclass
from ptcli.config.command import Command
from ptcli.config.root import Root

@dataclass
class MineRoot(Root):
    number: int = 3

COMMAND = Command(__name__, "count words", root=MineRoot)

def run(config, context):
    print("number", config.number)
"""
YAML = "defaults: [{}_root, command, _self_]\n"


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Write a package of commands, and what their YAML is, into the current folder; the word that names it."""
    name = f"commands_of_{tmp_path.name}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(files, configurations=("counting",)):
        (tmp_path / name / "command").mkdir(parents=True)
        (tmp_path / "conf").mkdir()
        for file, text in files.items():
            (tmp_path / name / "command" / f"{file}.py").write_text(text)
        for each in configurations:
            (tmp_path / "conf" / f"{each}.yaml").write_text(YAML.format(each))
        return f"plugins=[{name}]"

    return write


def test_a_command_of_ones_own_is_run_listed_and_helped(command, capsys):
    plugins = command({"counting": COMMAND, "_beside": "raise ValueError"})
    assert main(["counting", plugins, "--config-dir=conf", "number=5"]) == 0
    assert capsys.readouterr().out == "number 5\n"
    assert main(["counting", plugins, "hydra.searchpath=[file://conf]", "-m", "number=1,2"]) == 0
    assert capsys.readouterr().out == "number 1\nnumber 2\n"
    assert main(["--help", plugins]) == 0
    assert "  counting   count words" in capsys.readouterr().out
    assert main(["counting", "--help", plugins, "--config-dir=conf"]) == 0
    assert "plugins=[]" in capsys.readouterr().out
    assert main(["counting", plugins, "--config-dir=conf", "--cfg", "provenance"]) == 0
    assert "number: 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["countin", "{}"], "there is no command countin. Did you mean counting?"),
        (["counting"], "command/counting.py is found by {}"),
        (["counting", "{}"], "counting.yaml, in a folder of yours. Type --config-dir=FOLDER"),
        (["counting", "{}", "--config-dir=conf", "numbr=3"], "Did you mean number?"),
    ],
)
def test_a_command_of_ones_own_is_explained_as_ours_are(command, words, told, capsys):
    plugins = command({"counting": COMMAND})
    assert main([word.format(plugins) for word in words]) == 2
    assert told.format(plugins) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"view": COMMAND}, "command/view.py: ptcli has a command view already"),
        ({"counting": "x = 1"}, "counting is no command: it needs COMMAND = Command(__name__, ...)"),
        ({"counting": "import nothing_there"}, "cannot be imported: ModuleNotFoundError"),
        ({"counting": COMMAND.replace("(Root)", "")}, "no dataclass that begins with ptcli.config.root.Root"),
        ({"counting": COMMAND.replace("__name__", "'other'")}, "its record names other"),
    ],
)
def test_what_is_no_command_is_refused(command, files, told, capsys):
    plugins = command(files)
    assert main(["--help", plugins]) == 2
    assert told in capsys.readouterr().err
    if "view" in files:
        assert main(["view", plugins]) == 2
        assert told in capsys.readouterr().err


def test_a_file_brings_no_command(command, tmp_path, capsys):
    plugins = command({"counting": COMMAND})
    (tmp_path / "conf" / "counting.yaml").write_text(f"{YAML.format('counting')}{plugins.replace('=', ': ')}\n")
    assert main(["counting", "--config-dir=conf"]) == 2
    assert "there is no command counting" in capsys.readouterr().err


def test_completion_offers_ones_own_command_and_imports_what_is_typed_alone(command, capsys, monkeypatch):
    plugins = command({"counting": COMMAND, "broken": "raise RuntimeError"}, ("counting", "broken"))

    def offered(start, behind=""):
        line = f"ptcli {start}"
        monkeypatch.setenv("COMP_LINE", f"{line} {behind}".rstrip())
        monkeypatch.setenv("COMP_POINT", str(len(line)))
        assert main(["-sc", "query=bash"]) == 0
        return capsys.readouterr().out.split()

    assert offered("coun") == []
    assert offered("coun", plugins) == ["counting"]
    assert offered(f"counting {plugins} --config-dir=conf num") == ["number="]
    assert offered(f"counting {plugins} num") == []
    assert offered(f"broken {plugins} --config-dir=conf num") == []
    assert offered(f"pretrain {plugins} --config-dir=conf -m seed=1,2 mask=whole") == ["mask=whole_word"]
    assert offered("pretrain --config-dir=nowhere mask=whole") == ["mask=whole_word"]
    assert offered("options mask=whole") == ["mask=whole_word"]
