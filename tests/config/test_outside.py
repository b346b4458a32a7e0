import json
from dataclasses import asdict

import pytest

from ptcli.config import choices
from ptcli.config.context import Context
from ptcli.config.locate import conf_folder
from ptcli.config.outside import Outside, bring, brought, conf_folders, sort_out
from ptcli.errors import ConfigError


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "a package/conf"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a package").rename(tmp_path / "a_package")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("words", "found", "packages"),
    [
        (["--config-dir", "one"], ("one",), ()),
        (["--config-dir=one", "plugins=[mine,other.part]"], ("one",), ("mine", "other.part")),
        (["-cd", "one", "hydra.searchpath=[file://two]"], ("one", "two"), ()),
        (["hydra.searchpath=[two]", "+plugins=['mine']"], ("two",), ("mine",)),
        (["hydra.searchpath=[pkg://a_package.conf]"], ("{}/a_package/conf",), ()),
        (["plugins=[]"], (), ()),
    ],
)
def test_what_brings_something_is_told_from_the_other_words(folders, tmp_path, words, found, packages):
    outside, others = sort_out(["pretrain", *words, "seed=1"])
    assert outside == Outside(tuple(folder.format(tmp_path) for folder in found), packages)
    assert others == ["pretrain", "seed=1"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--config-dir=three"], "there is no such folder"),
        (["hydra.searchpath=[file://three]"], "there is no folder three"),
        (["--config-dir=one", "-cd", "two"], r"--config-dir=one 'hydra.searchpath=\[file://two\]'"),
        (["plugins=mine"], r"Write plugins=\[mine\]"),
    ],
)
def test_what_brings_nothing_is_refused(folders, words, told):
    with pytest.raises(ConfigError, match=told):
        sort_out(words)


@pytest.mark.parametrize("typed", [[], ["--config-dir=one", "plugins=[mine]"], ["hydra.searchpath=[file://one,two]"]])
def test_the_line_that_starts_a_job_again_brings_the_same(folders, typed):
    outside, _ = sort_out(typed)
    context = Context("pretrain", overrides=("seed=1", *(w for w in typed if "=[" in w)), outside=outside)
    again, others = sort_out(context.typed)
    assert again == outside
    assert others == ["seed=1"]
    assert Context.from_dict(json.loads(json.dumps(asdict(context)))) == context


def test_own_choices_are_among_ours_and_ours_come_first(folders, tmp_path):
    for folder, name in (("one", "mine"), ("two", "mine"), ("two", "token")):
        (tmp_path / folder / "mask").mkdir(exist_ok=True)
        (tmp_path / folder / "mask" / f"{name}.yaml").write_text("# Mine.\ndefaults: [span, _self_]\nratio: 0.3\n")
    (tmp_path / "one" / "notes").mkdir()
    (tmp_path / "one" / "notes" / "note.yaml").touch()
    ours, groups = choices.choices("mask"), choices.groups()
    with bring(Outside(("one", "two"))):
        assert conf_folders()[0] == conf_folder()
        assert choices.groups() == groups, "a folder beside them is none"
        assert len(choices.choices("mask")) == len(ours) + 1
        mine = choices.find("mask", "mine")
        assert mine is not None
        assert mine.path == tmp_path.joinpath("one/mask/mine.yaml").relative_to(tmp_path)
        assert (mine.is_own, mine.is_part) == (True, False)
        assert mine.base() == choices.find("mask", "span")
        assert mine.key_table()["p"][0] == 0.2
        assert choices.find("mask", "token") in ours
        assert choices.choices("mask", conf_folder()) == ours
    assert brought() == Outside()
    assert choices.find("mask", "mine") is None


def test_a_phase_takes_a_preset_of_the_users_own(folders, tmp_path):
    from ptcli.config.compose import composer
    from ptcli.config.fit import check
    from ptcli.config.phases import configuration_of, phases_of

    (tmp_path / "one" / "packing").mkdir()
    (tmp_path / "one" / "packing" / "mine.yaml").write_text("defaults: [best_fit, _self_]\n")
    with bring(Outside(("one",))):
        with composer("pretrain") as compose:
            composed = compose(["phases=[{until:0.5,packing:mine},{packing:full_sentences}]"])
        check(composed.config, composed.choices)
        first, _ = phases_of(composed.config)
        assert configuration_of(composed.config, first).packing == composed.config.packing
