from ptcli.cli import main
from ptcli.config import choices
from ptcli.config.comments import description, key_comments

TEXT = """# @package _global_
# What it is.
# More of it.
_target_: ptcli.x.Y
# Share of tokens,
# from 0 to 1.
ratio: 0.15
name: "a # b"   # a trailing one
inner:
  deep: 1       # below
  other: 2
"""


def test_the_first_comment_describes_the_file():
    assert description(TEXT) == "What it is."
    assert description("key: 1\n# late") == ""


def test_comments_above_and_behind_keys():
    comments = key_comments(TEXT)
    assert comments["ratio"] == "Share of tokens, from 0 to 1."
    assert comments["name"] == "a trailing one"
    assert comments["inner.deep"] == "below"
    assert comments["inner.other"] == ""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_preset_shows_the_keys_it_begins_with(tmp_path):
    write(
        tmp_path / "mask/token.yaml",
        "# Tokens.\n_target_: ptcli.mask.token.TokenMask\nratio: 0.15  # share\ncopies: null\n",
    )
    write(tmp_path / "mask/mine.yaml", "# Mine.\ndefaults:\n  - token\n  - _self_\ncopies: 3  # copies\n")
    assert choices.find("mask", "../mask/mine", tmp_path) is None
    mine = choices.find("mask", "mine", tmp_path)
    assert mine is not None
    assert mine.key_table() == {"ratio": (0.15, "share"), "copies": (3, "copies")}
    assert not mine.is_part
    assert choices.groups(tmp_path) == ("mask",)


def test_defaults_of_a_root_and_of_the_groups_inside():
    chosen = choices.default_choices("pretrain")
    assert chosen["mask"] == "token"
    assert chosen["mask@eval.mask"] == "evaluation"
    assert chosen["model/position"] == "learned"


def test_every_choice_and_root_key_says_what_it_is():
    for group in choices.groups():
        for choice in choices.choices(group):
            assert choice.description, choice.path
    for root in ("pretrain", "evaluate", "fill"):
        silent = [
            k for k, (_, told) in choices.root(root).key_table().items() if not told and not k.startswith("hydra.")
        ]
        assert silent == [], root


def test_shown():
    assert [choices.shown(value) for value in (None, True, 1, 1.5, "x", "${.size.a}")] == [
        "null",
        "true",
        "1",
        "1.5",
        "x",
        "size.a",
    ]


def test_what_choices_share_is_no_choice(capsys):
    assert main(["pretrain", "mask=_settings"]) == 2
    told = capsys.readouterr().err
    assert "mask=_settings is no choice" in told
    assert "whole_word" in told
    assert choices.SHARED not in {choice.name for choice in choices.choices("mask")}
    assert choices.find("mask", "token").key_table()["ratio"][0] == 0.15
    assert main(["options", "mask"]) == 0
    assert capsys.readouterr().out.count("mask.ratio_schedule") == 1, "shared settings are shown once"
