import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from ptcli.command_line.quoting import Words, quote, quoted
from ptcli.errors import ConfigError

ODD_PATHS = [
    "书/红楼梦.txt",
    "~/x.txt",
    "a (1).txt",
    "a#1.txt",
    "R&D.txt",
    "café.txt",
    "é.txt",
    "emoji-😀.txt",
    "a=b.txt",
    "C:\\books\\x.txt",
    "it's here.txt",
    'say "hi".txt',
    "a;b.txt",
    "x{b}.txt",
    "range(1,4)",
    "books/*.txt",
    "１２.txt",
]


def arrives(word: str, sweeps: bool = False):
    """The value that Hydra makes of a word."""
    return OverridesParser.create().parse_override(quoted(word, root="pretrain", sweeps=sweeps)).value()


@pytest.mark.parametrize("path", ODD_PATHS)
def test_any_path_arrives_as_typed(path):
    assert arrives(f"corpus.path={path}") == path


def test_a_comma_in_a_path_is_part_of_it_without_a_sweep():
    assert arrives("run.dir=/data/a,b") == "/data/a,b"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30))
def test_quoting_loses_nothing(text):
    assert OverridesParser.create().parse_override(f"key={quote(text)}").value() == text


@pytest.mark.parametrize("text", ["1e3", "007", "on", "true", "1_000", "0x10", "nan", "3.0", "15%", "1k", "yes"])
def test_text_keys_stay_text(text):
    assert arrives(f"run.name={text}") == text


def test_null_empties_a_text_key():
    assert arrives("run.name=null") is None
    assert arrives("run.name='null'") == "null"


@pytest.mark.parametrize(
    "word",
    [
        "mask.ratio=0.3",
        "mask=span",
        "model/position=[learned,rotary]",
        "mask.replace=[0.8,0.1,0.1]",
        "seed=3",
        "run.dir=${oc.env:HOME}",
        "run.name='already quoted'",
        "mask@eval.mask=span",
        "+mask.x=1",
        "~logger",
        "mask.ratio=.5",
    ],
)
def test_what_hydra_reads_is_left_alone(word):
    assert quoted(word, root="pretrain", sweeps=False) == word


def test_each_value_of_a_sweep_is_quoted_by_itself():
    words = Words(["-m", "corpus.path=书/a.txt,~/b.txt", "mask.ratio=0.15,0.3", "run.name=1e3,b"], root="pretrain")
    assert words.sweeps
    assert words.overrides == ["corpus.path='书/a.txt','~/b.txt'", "mask.ratio=0.15,0.3", "run.name='1e3','b'"]


REFUSED = {
    "mask.ratio=0,15": "Write mask.ratio=0.15",
    "mask.ratio=15%": "Write mask.ratio=0.15",
    "mask.ratio=7.5%": "Write mask.ratio=0.075",
    "batch.size=1k": "Write batch.size=1000",
    "batch.size=10K": "Write batch.size=10000",
    "budget.tokens=1M": "Write budget.tokens=1000000",
    "budget.steps=2e3": "Write budget.steps=2000",
    "--mask.ratio=0.3": "Write mask.ratio=0.3",
    "-mask.ratio=0.3": "Write mask.ratio=0.3",
    "mask.ratio =0.3": "Write mask.ratio=0.3",
    "mask.ratio= 0.3": "Write mask.ratio=0.3",
    "mask.ratio==0.3": "Write mask.ratio=0.3",
    "mask.ratio:0.3": "Write mask.ratio=0.3",
    "model\\position=rotary": "Write model/position=rotary",
    "mask": "Write mask=CHOICE",
    "mask=": "the value is missing",
    "mask.ratio=": "the value is missing",
    "mask.ratio＝0.3": "Write mask.ratio=0.3",
    "mask．ratio=0.3": "Write mask.ratio=0.3",
    "mask.ratio=0．3": "Write mask.ratio=0.3",
    "mask.ratio=０.3": "Write mask.ratio=0.3",
    "run.name=“x”": "Write run.name='x'",
    "mask.ratio=nan": "not a number",
    "mask.ratio=-inf": "not a number",
    "seed=1,2": "Add -m",
    "mask=span,token": "Add -m",
    "mask=[span,token]": "takes one choice",
    "mask=0.3": "is no choice of mask",
    "pair=null": "write pair=none",
    "span": "write mask=span",
    "--multi": "Did you mean --multirun?",
    "--experimental-rerun=x.pickle": "would run code",
    "123=4": "is no key",
}


@pytest.mark.parametrize(("word", "says"), REFUSED.items())
def test_what_cannot_be_guessed_is_refused_with_what_to_type(word, says):
    with pytest.raises(ConfigError) as caught:
        Words([word], root="pretrain")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("words", [["mask.ratio", "=0.3"], ["mask.ratio=", "0.3"], ["mask.ratio", "=", "0.3"]])
def test_spaces_around_the_equals_sign_that_the_shell_cut(words):
    with pytest.raises(ConfigError, match=r"Write mask\.ratio=0\.3"):
        Words(words, root="pretrain")


def test_flags_of_hydra_are_kept_apart():
    words = Words(["--cfg", "job", "seed=3", "--config-dir=mine"], root="pretrain")
    assert words.flags == ["--cfg", "job", "--config-dir=mine"]
    assert words.overrides == ["seed=3"]
    assert not words.sweeps


def test_two_modes_are_refused():
    with pytest.raises(ConfigError, match="only one"):
        Words(["-m", "--cfg", "job"], root="pretrain")
