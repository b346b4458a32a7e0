import pytest
from omegaconf import OmegaConf

from ptcli.assembly.parts import part
from ptcli.config.compose import compose
from ptcli.errors import ConfigError


def test_plain_arguments_arrive():
    assert type(part(compose("pretrain", ["pair=sentence_order"]).config, "pair")).__name__ == "SentenceOrder"


def test_a_refused_value_is_a_config_error():
    config = compose("pretrain", ["packing.short_sequence_probability=7"]).config
    with pytest.raises(ConfigError, match="short_sequence_probability"):
        part(config, "packing")


def test_an_argument_that_is_missing_is_a_config_error():
    config = OmegaConf.create({"corpus": {"_target_": "ptcli.corpus.text.Text"}})
    with pytest.raises(ConfigError, match=r"corpus: .*path"):
        part(config, "corpus")


def test_no_code_of_others():
    with pytest.raises(ConfigError, match="not run"):
        part(OmegaConf.create({"x": {"inner": {"_target_": "os.getcwd"}}}), "x")
