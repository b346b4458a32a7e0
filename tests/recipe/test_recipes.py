"""Every recipe composes and builds; its size, its learning rate and its arithmetic are the paper's."""

import functools
import itertools
from pathlib import Path

import pytest

from ptcli.assembly.model import check_parts
from ptcli.assembly.parts import part
from ptcli.cli import main
from ptcli.command.check import _shares
from ptcli.config import choices
from ptcli.config.compose import compose
from ptcli.config.fit import check
from tests.command.toy import SETTINGS, corpus, run_folder

RECIPES = [choice.name for choice in choices.choices("recipe") if choice.name != "none"]

PARAMETERS = {  # vocabulary, parameters of the model with its heads
    "bert": (30522, 110_106_428),
    "roberta": (50265, 124_697_433),
    "albert": (30000, 11_813_810),
    "spanbert": (28996, 335_174_458 - (30522 - 28996) * 1025),
    "deberta": (128100, 184_551_780 + 512 * 768),  # the mask decoder's places
    "ernie": (18000, 100_477_778),
    "structbert": (30522, 110_106_428 + 769),  # a third label
    "nezha": (21128, 102_489_226),
    "academic_budget": (30522, 335_174_458 + 2 * 1024),  # a norm after the last layer
    "forty_percent": (50265, 355_412_057 + 2 * 1024),
    "cramming": (32768, 119_589_889),
    "mosaicbert": (30522, 137_400_384 - 6 * 769),
    "modernbert": (50368, 149_655_232),
    "ettin": (50368, 149_655_232),
}
TOKENS = {  # positions of a whole run, by the papers' batches
    "bert": 256 * 1_000_000 * (0.9 * 128 + 0.1 * 512),
    "roberta": 8192 * 500_000 * 512,
    "albert": 4096 * 125_000 * 512,
    "spanbert": 32 * 4096 * 2_400_000,
    "deberta": 256 * 1_000_000 * 512,
    "nezha": 80 * 180 * 100_000 * 128,
    "forty_percent": 4096 * 23_000 * 128,
    "mosaicbert": 286_720_000 * 128,
}
RATES = {  # at updates (from 0): the learning rate
    "bert": {0: 1e-8, 9_998: 0.9999e-4, 9_999: 1e-4, 10_000: 0.99e-4, 999_999: 1e-10},
    "roberta": {0: 6e-4 / 24_000, 23_999: 6e-4, 24_001: 6e-4 * 475_999 / 476_000, 499_999: 6e-4 / 476_000},
    "albert": {0: 1.76e-3 / 3125, 3_125: 1.76e-3 * 0.975, 124_999: 1.76e-3 / 125_000},
    "spanbert": {9_999: 1e-4, 10_001: 1e-4 * 2_389_999 / 2_390_000, 2_399_999: 1e-4 / 2_390_000},
    "deberta": {9_999: 1e-4, 10_001: 1e-4 * 989_999 / 990_000},
    "structbert": {100_000: 0.9e-4, 49_999: 0.5e-4},
    "nezha": {1_800: 1.8e-4 * 0.982},
    "forty_percent": {1_379: 2e-3, 1_381: 2e-3 * 21_619 / 21_620, 22_999: 2e-3 / 21_620},
    "mosaicbert": {4_199: 5e-4, 69_999: 5e-4 * (0.02 + 0.98 / 65_800)},
}
SHARES = {  # by the share of a budget that counts no updates
    "academic_budget": {0.03: 0.5e-3, 0.06: 1e-3, 0.53: 0.5e-3, 1.0: 0.0},
    "cramming": {0.0: 0.25e-3, 0.75: 1e-3, 1.0: 0.0},
    "modernbert": {0.00075: 4e-4, 0.0015: 8e-4, 0.97: 8e-4, 0.98125: 4e-4, 1.0: 0.0},
    "ettin": {0.97: 8e-4, 1.0: 0.04 * 8e-4},
    "competition": {0.0: 5e-5, 0.5: 3e-5, 1.0: 1e-5},
}


@functools.cache  # nobody changes what is composed
def composed(recipe, *words):
    given = ["corpus.path=rows.tsv"] if recipe == "competition" else []
    return compose("pretrain", [f"recipe={recipe}", *given, *words])


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_passes_the_nets_and_builds(recipe):
    found = composed(recipe)
    check(found.config, found.choices)
    vocabulary, parameters = PARAMETERS.get(recipe, (1024, None))
    step = check_parts(found.config, vocab_size=vocabulary)
    if parameters is not None:
        assert found.config.tokenizer.vocab_size == vocabulary
        assert sum(p.numel() for p in step.parameters()) == parameters


def test_every_recipe_is_tested():
    own = {"demo", "ernie", "structbert", "competition"}  # no batch of their own in the paper, or no paper
    assert set(PARAMETERS) | {"demo", "competition"} == set(RECIPES)
    assert set(RATES) | set(SHARES) | {"demo", "ernie"} == set(RECIPES)
    by_clock = {"academic_budget", "cramming", "modernbert", "ettin"}
    assert set(TOKENS) | own | by_clock == set(RECIPES)


@pytest.mark.parametrize("recipe", RATES)
def test_the_learning_rate_is_the_papers_at_its_turns(recipe):
    config = composed(recipe).config
    schedule, total = part(config, "schedule"), config.budget.steps
    schedule.check(total_steps=total)
    for step, rate in RATES[recipe].items():
        factor = schedule(step=step, total_steps=total, before=step / total, after=(step + 1) / total)
        assert factor * config.optimizer.learning_rate == pytest.approx(rate, rel=1e-4), step


@pytest.mark.parametrize("recipe", SHARES)
def test_the_learning_rate_follows_the_clock(recipe):
    config = composed(recipe).config
    schedule = part(config, "schedule")
    schedule.check(total_steps=None)
    for share, rate in SHARES[recipe].items():
        factor = schedule(step=5, total_steps=None, before=share, after=share)
        expected = pytest.approx(rate, rel=2e-3, abs=1e-12)
        if recipe == "modernbert" and share == 0.98125:  # a quarter of the decay: 1 - sqrt
            assert factor == pytest.approx(0.5, abs=1e-6)
        assert factor * config.optimizer.learning_rate == expected, share


@pytest.mark.parametrize("recipe", TOKENS)
def test_batches_make_the_papers_tokens(recipe):
    config = composed(recipe).config
    positions = sum(share * rows * length for share, rows, length in _shares(config))
    assert config.budget.steps * positions == pytest.approx(TOKENS[recipe], rel=1e-9)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_micro_batch_divides_every_batch(recipe):
    """No rows are left over at the end of a step, in no phase."""
    from ptcli.config.phases import configuration_of, phases_of

    config = composed(recipe).config
    for phase in [config, *(configuration_of(config, one) for one in phases_of(config))]:
        micro_size = phase.batch.micro_size or phase.batch.size
        assert phase.batch.size % micro_size == 0, phase.batch


def test_what_is_typed_wins_and_the_rest_stays():
    words = ["model=albert", "model/size=mini", "mask=token", "max_length=64", "optimizer=adamw"]
    found = composed("roberta", *words)
    assert (found.choices["model"], found.choices["mask"], found.choices["packing"]) == (
        "albert",
        "token",
        "full_sentences",
    )
    assert (found.config.model.num_layers, found.config.max_length, found.config.batch.size) == (4, 64, 8192)
    assert found.config.optimizer.learning_rate == 5e-4
    check(found.config, found.choices)


PRESETS = [
    [f"{group}={one.name}" for one in choices.choices(group) if not one.is_part]
    for group in ("mask", "optimizer", "schedule", "tokenizer", "trainer")
]


@pytest.mark.parametrize("row", [[*filter(None, row)] for row in itertools.zip_longest(*PRESETS)], ids=" ".join)
def test_every_preset_builds(row):
    needed = ["words=entities"] if "mask=ernie" in row else []
    found = compose("pretrain", [*row, "model/size=tiny", *needed])
    check(found.config, found.choices)
    check_parts(found.config)
    part(found.config, "tokenizer")


QUICK = ("bert", "roberta", "modernbert")
TRAINED = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in RECIPES]


@pytest.mark.parametrize("recipe", TRAINED)
def test_a_recipe_trains_at_toy_size(tmp_path, monkeypatch, recipe):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    words = [word for word in SETTINGS if not word.startswith(("budget.", "model/size", "tokenizer", "max_length"))]
    words += ["batch.micro_size=2", "budget.steps=4", "max_length=32", f"run.dir={tmp_path}/runs"]
    words.append("phases=[{until: 0.5, max_length: 24}, {}]" if recipe == "bert" else "phases=[]")
    if recipe == "competition":
        rows = [f"{i % 7} {i % 5} 3 4\t{i % 11} 3 {i % 3} 9\t{i % 2}" for i in range(300)]
        (tmp_path / "rows.tsv").write_text("\n".join(rows))
        words.append(f"corpus.path={tmp_path}/rows.tsv")
    elif recipe in ("ernie", "nezha"):
        words += ["corpus=builtin_zh", "tokenizer.vocab_size=300"]
    else:
        words += ["corpus=text", f"corpus.path={corpus(tmp_path)}", "tokenizer.vocab_size=300"]
    assert main(["pretrain", f"recipe={recipe}", *words]) == 0
    assert (run_folder(tmp_path) / "model").is_dir()


def test_the_page_of_recipes_is_up_to_date():
    from writers.recipes import with_table

    page = Path(__file__).parents[2] / "docs" / "recipes.md"
    text = page.read_text(encoding="utf-8")
    assert text == with_table(text), "run: make docs"
