import pytest

from ptcli.cli import main


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Write files below conf/ in the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(files):
        for name, text in {"nothing/here.txt": b"", **files}.items():
            (tmp_path / "conf" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "conf" / name).write_bytes(text)

    return write


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "conf: there is no choice in this folder. One of mask is conf/mask/NAME.yaml"),
        ({"mask/mine.yaml": b"a: b: c\n"}, "conf/mask/mine.yaml cannot be read: line 1: mapping values"),
        ({"mask/mine.yaml": b"a: \xff\n"}, "conf/mask/mine.yaml cannot be read: it is not UTF-8"),
        ({"mask/mine.yaml": b"- token\n"}, "conf/mask/mine.yaml: a choice names its class"),
        ({"mask/mine.yaml": b"ratio: 0.3\n"}, "begins with another (defaults: [NAME, _self_])"),
        ({"auxiliary/mine.yaml": b"mine:\n  weight: 1.0\n"}, "conf/auxiliary/mine.yaml: a choice names its class"),
        ({"mask/token.yaml": b"ratio: 0.3\ndefaults: [span]\n"}, "there is a mask=token in"),
        ({"pretrain.yaml": b"seed: 3\n"}, "conf/pretrain.yaml is never read"),
    ],
)
def test_what_cannot_be_meant_is_told(make, files, told, capsys):
    make(files)
    assert main(["check", "--config-dir=conf", "measure=false"]) == 2
    assert told in capsys.readouterr().err


def test_the_folder_of_a_group_is_told(make, capsys):
    make({"mask/mine.yaml": b"defaults: [span, _self_]\n"})
    assert main(["options", "mask", "--config-dir=conf/mask"]) == 2
    assert "Type the one above it: conf" in capsys.readouterr().err


def test_a_choice_in_the_wrong_place_is_told(make, capsys):
    make({"masks/mine.yaml": b"defaults: [span, _self_]\n", "mask/other.yaml": b"defaults: [span, _self_]\n"})
    assert main(["check", "--config-dir=conf", "mask=mine"]) == 2
    assert "conf/masks/mine.yaml is not in the folder of its group: move it to conf/mask/mine.yaml" in (
        capsys.readouterr().err
    )
    assert main(["check", "mask=other"]) == 2
    assert "conf/mask/other.yaml is found by --config-dir=conf" in capsys.readouterr().err


def test_a_copy_of_ours_and_a_choice_that_is_no_object_may_lie_there(make, capsys):
    from ptcli.config.locate import conf_folder

    ours = (conf_folder() / "mask" / "token.yaml").read_bytes()
    make({"mask/token.yaml": ours, "model/size/mine.yaml": b"num_layers: 2\n", "recipe/mine.yaml": b"seed: 3\n"})
    assert main(["options", "model/size=mine", "--config-dir=conf"]) == 0
    assert "your preset, conf/model/size/mine.yaml" in capsys.readouterr().out


def test_options_say_which_file_is_read(make, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    make({"mask/token.yaml": b"# Mine.\ndefaults: [span, _self_]\n", "mask/mine.yaml": b"defaults: [span, _self_]\n"})
    assert main(["options", "mask", "--config-dir=conf"]) == 0
    told = capsys.readouterr().out
    assert "conf/mask/token.yaml is never read: mask=token is another" in told
    assert "your preset" in told
    assert "Mine." not in told


def test_the_folder_is_no_sentence(make, capsys):
    make({"mask/mine.yaml": b"defaults: [span, _self_]\n"})
    assert main(["fill", "--config-dir", "conf"]) == 2
    assert "checkpoint" in (told := capsys.readouterr().err)
    assert "conf" not in told
