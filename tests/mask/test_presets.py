"""The YAML of conf/mask: every choice builds, and its keys are the constructor's."""

import inspect
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import get_class, instantiate
from omegaconf import OmegaConf

from ptcli.mask.settings import MaskSettings
from ptcli.mask.strategy import MaskStrategy
from tests.mask.strategies import counts, some_ngrams
from tests.mask.synthetic import examples, vocabulary

FOLDER = Path(__file__).parents[2] / "conf" / "mask"
GIVEN = {"vocabulary", "counts", "ngrams", "unit_types"}  # by the command, not by the user
CHOICES = sorted(path.stem for path in FOLDER.glob("[!_]*.yaml"))


@pytest.fixture
def composed(tmp_path):
    """Compose one choice in the place of `mask` and one in that of `eval.mask`, as the commands do."""
    (tmp_path / "mask").symlink_to(FOLDER)
    (tmp_path / "root.yaml").write_text("defaults: [{mask: token}, {mask@eval.mask: evaluation}, _self_]\n")

    def compose_with(*overrides):
        with initialize_config_dir(str(tmp_path), version_base=None):
            return compose("root", overrides=list(overrides))

    return compose_with


@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_builds_and_masks(choice, composed):
    config = composed(f"mask={choice}")
    given = {"vocabulary": vocabulary(), "counts": counts()}
    if get_class(config.mask._target_).learns == "ngrams":
        given["ngrams"] = some_ngrams()
    if len(config.mask.get("levels") or ()) > 1:
        given["schedule_steps"] = 4
    mask = instantiate(config.mask, _convert_="all", _partial_=True)(**given)
    assert isinstance(mask, MaskStrategy)
    mask(examples([10, 30]), seed=0, epoch=0)


@pytest.mark.parametrize("choice", CHOICES)
def test_yaml_defaults_are_the_constructors(choice, composed):
    """A part says its own defaults; a preset may differ from them."""
    config = OmegaConf.to_container(composed(f"mask={choice}").mask)
    target = get_class(config.pop("_target_"))
    parameters = dict(inspect.signature(target).parameters)
    if "settings" in parameters:
        del parameters["settings"]
        parameters |= inspect.signature(MaskStrategy).parameters
    assert set(config) == set(parameters) - GIVEN
    if "defaults:" not in (FOLDER / f"{choice}.yaml").read_text():
        for key, value in config.items():
            default = parameters[key].default
            assert value == (list(default) if isinstance(default, tuple) else default)


def test_static_dynamic_and_evaluation(composed):
    config = composed("mask=static", "mask.ratio=0.3")
    assert (config.mask.copies, config.mask.ratio) == (10, 0.3)
    assert composed("mask=dynamic").mask.copies is None
    assert config.eval.mask.replace == [1.0, 0.0, 0.0]
    assert (config.eval.mask.ratio, config.eval.mask.copies) == (0.15, 1)


@pytest.mark.parametrize("choice", CHOICES)
def test_the_first_line_describes_the_choice(choice):
    assert (FOLDER / f"{choice}.yaml").read_text().startswith("# ")


def test_the_shared_settings_are_those_of_the_strategy():
    """What strategies pass on by `**settings` is written down once more, for type checkers and the command line."""
    assert list(MaskSettings.__annotations__) == list(inspect.signature(MaskStrategy).parameters)
