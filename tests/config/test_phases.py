import pytest

from ptcli.config.compose import compose
from ptcli.config.fit import check
from ptcli.config.phases import TYPES, configuration_of, longest_row, phases_of
from ptcli.errors import ConfigError

BERT = "phases=[{until: 0.9, max_length: 128, batch.size: 256}, {max_length: 512}]"


def composed(*overrides):
    return compose("pretrain", list(overrides))


def checked(*overrides):
    made = composed(*overrides)
    check(made.config, made.choices)
    return made.config


def test_a_phase_is_the_runs_configuration_with_its_own_settings_in_it():
    config = checked(BERT)
    first, last = phases_of(config)
    assert (first.until, last.until) == (0.9, 1.0)
    assert str(first) == "max_length=128, batch.size=256"
    own = configuration_of(config, first)
    assert (own.max_length, own.batch.size, own.seed) == (128, 256, config.seed)
    own = configuration_of(config, last)
    assert (own.max_length, own.batch.size) == (512, config.batch.size)
    assert longest_row(config) == 512
    assert (config.max_length, config.batch.size) == (128, 32)  # the run's own is left as it is


def test_a_run_without_phases():
    config = checked()
    assert phases_of(config) == []
    assert longest_row(config) == config.max_length


def test_every_setting_that_a_phase_may_have():
    config = checked(
        "phases=[{until: 0.5, max_length: 64, batch.size: 8, batch.micro_size: 4, mask.ratio: 0.3, "
        "packing: segment_pair, optimizer.learning_rate: 0.01}, {}]"
    )
    first, last = phases_of(config)
    assert set(first.settings) == set(TYPES)
    own = configuration_of(config, first)
    assert own.packing._target_.endswith("SegmentPair")
    assert (own.mask.ratio, own.optimizer.learning_rate, own.batch.micro_size) == (0.3, 0.01, 4)
    assert str(last) == "the run's own settings"


@pytest.mark.parametrize(
    ("phases", "told"),
    [
        ("[{max_length: 64}, {}]", r"phases\[0\]\.until is missing"),
        ("[{until: 0.5, max_length: 64}]", r"phases\[0\]\.until=0\.5: the last phase ends with the budget"),
        ("[{until: 1, max_length: 64}, {}]", r"phases\[0\]\.until=1: the last phase ends with the budget"),
        ("[{until: 0.5}, {until: 0.4}, {}]", r"phases\[1\]\.until=0\.4: a share of the budget, above 0\.5"),
        ("[{until: 90}, {}]", r"phases\[0\]\.until=90: a share of the budget"),
        ("[{until: soon}, {}]", r"phases\[0\]\.until=soon: a share"),
        ("[{until: 0.5, max_lenght: 64}, {}]", "sets no max_lenght. Did you mean max_length"),
        ("[{until: 0.5, model.num_layers: 2}, {}]", r"sets no model\.num_layers"),
        ("[{until: 0.5, max_length: long}, {}]", "max_length=long: takes a whole number"),
        ("[{until: 0.5, max_length: [1, 2]}, {}]", r"max_length=\[1, 2\]: takes one value"),
        ("[{until: 0.5, packing: tight}, {}]", "packing=tight: one of best_fit, doc_sentences"),
        ("[0.5, {}]", r"phases\[0\]=0\.5: a mapping"),
    ],
)
def test_what_is_refused(phases, told):
    with pytest.raises(ConfigError, match=told):
        checked(f"phases={phases}")


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (
            ["phases=[{until: 0.5, max_length: 64}, {max_length: 1024}]"],
            r"phases\[1\]: max_length=1024 needs 1024 positions",
        ),
        (["phases=[{until: 0.5, max_length: 2}, {}]"], r"phases\[0\]: max_length=2: a row holds at least 4"),
        (
            ["pair=next_sentence", "packing=segment_pair", "phases=[{until: 0.5, packing: full_sentences}, {}]"],
            r"phases\[0\]: pair=next_sentence needs two segments, but packing=full_sentences makes one",
        ),
        (
            ["batch.micro_size=8", "phases=[{until: 0.5, batch.size: 4}, {}]"],
            r"phases\[0\]: batch\.micro_size=8 is more",
        ),
        (
            ["mask.later_ratios=[0.3]", "mask.ratio_schedule=linear", "phases=[{until: 0.5, mask.ratio: 0.2}, {}]"],
            r"mask\.later_ratios changes it already",
        ),
    ],
)
def test_every_phase_passes_the_nets_of_a_run(overrides, told):
    with pytest.raises(ConfigError, match=told):
        checked(*overrides)


def test_a_setting_that_a_part_does_not_have():
    with pytest.raises(ConfigError, match=r"mask\.ratio: what this run has for mask takes no ratio"):
        phases_of(composed("~mask.ratio", "phases=[{until: 0.5, mask.ratio: 0.2}, {}]").config)


def test_a_rate_that_the_optimizer_leaves_open_cannot_change():
    words = ["optimizer.learning_rate=null", "phases=[{until: 0.5, optimizer.learning_rate: 0.1}, {}]"]
    with pytest.raises(ConfigError, match="this run's optimizer has none that could change"):
        phases_of(composed(*words).config)


def test_another_phase_is_another_run():
    from ptcli.config.identity import fingerprint

    names = {fingerprint(composed(*words).config) for words in ([], [BERT], [BERT.replace("0.9", "0.8")])}
    assert len(names) == 3
