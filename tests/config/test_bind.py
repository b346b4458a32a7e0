import pytest
from omegaconf import OmegaConf

from ptcli.config.bind import bind, mismatch
from ptcli.config.compose import compose
from ptcli.config.targets import check_plugins, locate, refusals
from ptcli.errors import ConfigError


def problems(*words):
    with pytest.raises(ConfigError) as caught:
        bind(compose("pretrain", words).config)
    return str(caught.value)


def test_shipped_configurations_bind():
    bind(compose("pretrain").config)
    bind(compose("pretrain", ["recipe=demo", "pair=next_sentence", "logger=wandb"]).config)
    bind(compose("evaluate").config)
    bind(compose("fill").config)


def test_an_added_key_is_found():
    assert "mask.rato" in problems("+mask.rato=0.3")
    assert "Did you mean mask.ratio?" in problems("+mask.rato=0.3")


def test_an_added_key_on_a_partial_node_is_found():
    assert "model.attention.foo" in problems("+model.attention.foo=1")


def test_a_value_where_a_part_belongs():
    assert "Write model/position=rotary" in problems("model.position=rotary")


def test_all_problems_come_at_once():
    text = problems("+mask.foo=1", "model.position=rotary", "mask.ratio=abc", "model.dropout=none")
    assert len(text.splitlines()) == 4
    assert "mask.ratio=abc: takes a number" in text


def test_a_target_outside_is_not_run():
    for target in ("os.system", "ptcli.config.locate.Path", "ptcli.cli.os.system", "builtins.eval", "subprocess.run"):
        config = OmegaConf.create({"mask": {"_target_": target}})
        with pytest.raises(ConfigError, match=r"not run|no module|no class"):
            bind(config)


def test_what_is_not_there_says_so():
    with pytest.raises(ConfigError, match="has no Nothing"):
        locate("colorsys.Nothing", ["colorsys"])
    with pytest.raises(ConfigError, match="there is no module"):
        locate("colorsys.nothing.Nothing", ["colorsys"])
    with pytest.raises(ConfigError, match="is no class"):
        locate("colorsys.rgb_to_hsv", ["colorsys"])


def test_a_plugin_is_named_on_the_command_line(tmp_path, monkeypatch):
    (tmp_path / "my_masks_for_bind.py").write_text("class Mine:\n    def __init__(self, *, ratio: float): ...\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    config = OmegaConf.create({"mask": {"_target_": "my_masks_for_bind.Mine", "ratio": 0.2}})
    with pytest.raises(ConfigError, match=r"plugins=\[my_masks_for_bind\]"):
        bind(config)
    plugins = check_plugins(["my_masks_for_bind"], ["plugins=[my_masks_for_bind]"])
    bind(config, plugins=plugins)
    with pytest.raises(ConfigError, match="comes from a file"):
        check_plugins(["my_masks_for_bind"], ["seed=1"])
    with pytest.raises(ConfigError, match="there is no package"):
        check_plugins(["no_such_package_here"], ["plugins=[no_such_package_here]"])


@pytest.mark.parametrize(
    ("value", "annotation", "wanted"),
    [
        (0.5, float, ""),
        (1, float, ""),
        (True, int, "a whole number"),
        (0.5, int, "a whole number"),
        ("yes", bool, "true or false"),
        (None, int | None, ""),
        (None, int, "a whole number"),
        ("x", int | str, ""),
        ([1], int, ""),  # only plain values are judged
        ("x", list[int], ""),
    ],
)
def test_plain_types(value, annotation, wanted):
    assert mismatch(value, annotation) == wanted


def test_a_missing_value_is_asked_for():
    config = OmegaConf.create({"mask": {"_target_": "ptcli.mask.token.TokenMask", "ratio": "???"}})
    with pytest.raises(ConfigError, match=r"mask\.ratio must be given"):
        bind(config)


def test_a_library_class_that_a_file_names_stands_in_its_place_alone(tmp_path):
    (tmp_path / "mask").mkdir()
    (tmp_path / "mask" / "theirs.yaml").write_text("_target_: collections.OrderedDict\n")
    theirs = {"_target_": "collections.OrderedDict"}
    assert locate("collections.OrderedDict", folder=tmp_path).__name__ == "OrderedDict"
    bind({"mask": theirs}, folder=tmp_path)
    with pytest.raises(ConfigError, match="no class belongs there"):
        bind({"pair": theirs}, folder=tmp_path)


def test_a_class_stands_in_the_slots_of_its_group_alone():
    token = {"_target_": "ptcli.mask.token.TokenMask"}
    for key in ("mask", "eval.mask"):
        assert not list(refusals(token, key))
    for key in ("pair", "model.embedding_size", "mask.ratio", "mask.inner", "max_length", "phases[0]", ""):
        assert list(refusals(token, key)), key
    rotary = {"_target_": "ptcli.model.position.rotary.RotaryPositions", "_partial_": True}
    assert not list(refusals(rotary, "model.position.rotary"))
    assert list(refusals(rotary, "model.position.learned"))
    assert list(refusals(rotary, "model.position"))


def test_slots_inside_others():
    text, mean = "ptcli.corpus.text.Text", "ptcli.task.pooling.MeanPooling"
    for key, target in (
        ("corpus.members.my-books", text),
        ("corpus.members.a.members.b", text),
        ("words.base", "ptcli.words.unicode.Unicode"),
        ("task.members.mnli.pooling", mean),
    ):
        assert not list(refusals({"_target_": target}, key)), key
    for key in ("corpus.members", "corpus.members.a.b", "task.members.a/b.pooling", "words.members.a", "pair.base"):
        assert list(refusals({"_target_": text}, key)), key


def test_what_hydra_does_with_a_node_is_not_for_a_configuration_to_set():
    gelu = {"_target_": "ptcli.model.ffn.gelu.GeluFeedForward", "_partial_": True}
    assert not list(refusals(gelu, "model.ffn"))
    changes = [{"_partial_": 1}, {"_partial_": "true"}, {"_args_": [1]}, {"_recursive_": False}, {"_convert_": "all"}]
    for change in changes:
        assert list(refusals(gelu | change, "model.ffn")), change
    assert list(refusals({"_recursive_": False}, "batch"))


def test_inside_a_plugins_class_stands_what_it_takes():
    token = {"_target_": "ptcli.mask.token.TokenMask"}
    mine = {"_target_": "mine.Mask", "inner": token, "own": [{"_target_": "mine.Part", "_args_": [1]}]}
    assert not list(refusals(mine, "mask", plugins=["mine"]))
    assert not list(refusals({"_target_": "mine.Places"}, "model.position.mine", plugins=["mine"]))
    for key in ("mask.ratio", "max_length"):
        assert list(refusals(mine, key, plugins=["mine"])), key
    for target in ("minestrone.Mask", "mine", "mine.__main__.Mask", "mine..Mask", "ptcli.errors.PtcliError", 3, None):
        assert list(refusals({"_target_": target}, "mask", plugins=["mine", "ptcli"])), target
    outside = mine | {"inner": {"_target_": "ptcli.files.write_whole"}}
    assert [key for key, _ in refusals(outside, "mask", plugins=["mine"])] == ["mask.inner"]


def test_settings_that_are_passed_on_are_known():
    """`**settings: Unpack[...]` takes the keys of its TypedDict and no others, with their types."""
    assert "Did you mean mask.ratio?" in problems("mask=span", "+mask.rato=0.3")
    assert "mask.copies=many: takes a whole number" in problems("mask=span", "mask.copies=many")
    bind(compose("pretrain", ["mask=span", "mask.later_ratios=[0.1]", "mask.ratio_schedule=linear"]).config)
