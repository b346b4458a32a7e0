"""Any two choices go together, or are refused for a reason that is written down; what is accepted trains."""

import itertools
import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from writers import combinations
from writers.combinations import Choice, page, refused_pairs, slots, together

from ptcli.config import choices
from ptcli.config.facts import Facts
from ptcli.config.fit import fit
from tests.docs.covering import covering_array

DOCS = Path(__file__).resolve().parents[2] / "docs" / "combinations.md"
TRAINING_SHARES = 32
# accepted pairs for which no choice of a third slot serves both: gold words come with text, ids with none
NEVER_IN_ONE_ROW = [("words=gold", "tokenizer=ids")]
COUNT = Path(__file__).with_name("combinations.json")

# slots that a covering array varies; the others hold no choice that changes what is computed
COVERED = ("corpus", "words", "packing", "pair", "tokenizer", "mask", "objective", "optimizer", "schedule", "model")
COVERED_INSIDE = ("model/attention", "model/ffn", "model/norm", "model/position", "model/residual", "model/sharing")
PARTS_ALONE = ("tokenizer", "mask", "optimizer", "schedule")  # presets there change numbers; tests/recipe builds them
NEEDS_A_FILE = {"tokenizer": ("pretrained",)}  # choices that need something from outside


@pytest.fixture(scope="module")
def found() -> dict[str, list[Choice]]:
    return slots()


@pytest.fixture(scope="module")
def rows(found) -> list[list[Choice]]:
    return covering_array(columns_of(found))


@pytest.fixture(scope="module")
def refused(found):
    return list(refused_pairs(found))


def pick(found, typed: str) -> Choice:
    group, _, name = typed.partition("=")
    return next(choice for choice in found[group] if choice.name == name)


def test_the_page_of_refused_pairs_is_up_to_date(refused):
    assert DOCS.read_text(encoding="utf-8") == page(refused), "run: make docs"


def test_a_new_refusal_is_a_decision(refused):
    """A change of this number is looked at in review: refusing is not a way to pass."""
    assert len(refused) == json.loads(COUNT.read_text(encoding="utf-8"))["refused_pairs"]


def test_refusals_say_what_because_and_choose(refused):
    for pair in refused:
        assert pair.first.split("=")[0] in pair.message or pair.second.split("=")[0] in pair.message
        assert "Use " in pair.message, pair.message
        assert pair.message.endswith(".")


TAKE_EVERY_POSITION = ("model/attention=full", "model/attention=sliding")


def test_every_position_trains_in_every_attention_that_takes_it(found):
    for position, attention in itertools.product(found["model/position"], found["model/attention"]):
        facts = together(position, attention)
        accepts = attention.parts["model/attention"][0].fact("accepts") or ()
        ways = [part.fact("enters", "embedding") for part in facts.several("model/position")]
        if all(way == "embedding" or way in accepts for way in ways):
            assert fit(facts) == [], (position.typed, attention.typed)
    for position, attention in itertools.product(found["model/position"], TAKE_EVERY_POSITION):
        assert fit(together(position, pick(found, attention))) == [], (position.typed, attention)


def test_every_mask_trains_with_every_tokenizer_that_has_words(found):
    for mask, tokenizer in itertools.product(found["mask"], found["tokenizer"]):
        if all(part.fact("has_words", True) for part in tokenizer.parts.get("tokenizer", ())):
            assert fit(together(mask, tokenizer)) == [], (mask.typed, tokenizer.typed)


def test_every_packing_trains_with_every_mask_in_every_encoder_that_isolates(found):
    for packing, mask, model in itertools.product(found["packing"], found["mask"], found["model"]):
        attention = model.parts.get("model/attention", ())
        if all(part.fact("isolates", True) for part in attention):
            assert fit(together(packing, mask, model)) == [], (packing.typed, mask.typed, model.typed)


PACKINGS_OF_PAIRS = ("packing=segment_pair", "packing=sentence_pair", "packing=best_fit")

MUST_TRAIN = [
    ("pair=next_sentence", "packing=segment_pair"),
    ("pair=next_sentence", "packing=best_fit"),
    ("pair=sentence_order", "packing=segment_pair"),
    ("pair=sentence_order", "packing=best_fit"),
    *((pair, packing) for pair in ("pair=structural", "pair=sentence_distance") for packing in PACKINGS_OF_PAIRS),
    *((pair, packing) for pair in ("pair=bert_exact", "pair=albert_exact") for packing in PACKINGS_OF_PAIRS),
    ("pair=next_sentence", "packing=sentence_pair"),
    ("pair=sentence_order", "packing=sentence_pair"),
    ("pair=none", "packing=full_sentences"),
    ("pair=none", "packing=doc_sentences"),
    ("pair=none", "packing=stream"),
    ("pair=none", "packing=lines"),
    ("words=gold", "corpus=builtin_zh"),
    ("words=chinese", "mask=whole_word"),
    ("words=entities", "mask=phrase"),
    ("words=spans", "mask=phrase"),
    ("words=chinese", "mask=pmi"),
    ("model=albert", "mask=span"),
    ("model=albert", "model/position=rotary"),
    ("model=albert", "model/position=nezha"),
    ("model=albert", "model/attention=sliding"),
    ("model=albert", "objective=masked_lm_enhanced"),
    ("model=deberta", "model/sharing=all"),
    ("model=modernbert", "model/norm=rmsnorm"),
    ("model=nezha", "pair=next_sentence"),
    ("model=albert", "model/residual=pre"),
    ("model=bert", "model/sharing=attention_only"),
]


@pytest.mark.parametrize("pair", MUST_TRAIN, ids=" ".join)
def test_must_train(found, pair):
    assert fit(together(*(pick(found, typed) for typed in pair))) == []


def test_a_refusal_counts_whatever_the_other_slots_hold(found):
    """words=gold with the default corpus is refused, but another corpus saves it: only that pair is listed."""
    gold, builtin = pick(found, "words=gold"), pick(found, "corpus=builtin")
    assert fit(together(gold, builtin)) != []
    assert fit(together(gold, pick(found, "mask=span"))) == []


def test_a_rule_that_refuses_too_much_changes_the_count(found, refused, monkeypatch):
    def grumpy(facts: Facts) -> str | None:
        """Refuses every span."""
        mask, packing = facts.one("mask"), facts.one("packing")
        return "no. Use something else." if mask and packing and mask.name == "span" else None

    monkeypatch.setattr(combinations, "RULES", (*combinations.RULES, grumpy))
    some = {"mask": found["mask"], "packing": found["packing"]}
    assert len(list(refused_pairs(some))) == len(found["packing"])


def columns_of(found) -> list[list[Choice]]:
    """The choices of the covered slots that have an accepted partner in every other slot."""
    names = [name for name in (*COVERED, *COVERED_INSIDE) if name in found]
    columns = [[c for c in found[name] if not _stays_out(c)] for name in names]
    return [
        [
            choice
            for choice in column
            if all(
                any(fit(together(choice, other)) == [] for other in others)
                for others in columns
                if others is not column
            )
        ]
        for column in columns
    ]


def _stays_out(choice: Choice) -> bool:
    if choice.name in NEEDS_A_FILE.get(choice.group, ()):
        return True
    file = choices.find(choice.group, choice.name)
    return choice.group in PARTS_ALONE and file is not None and not file.is_part


def toy_overrides(row: list[Choice], *, text: Path) -> list[str]:
    """A row as a command line that trains two steps of a toy model. `text`: the folder of the fixture."""
    chosen = [choice.typed for choice in row]
    texts = {
        "words=spans": [f"words.path={text}/spans.jsonl"],
        "mask=pmi": ["mask.min_count=2", "mask.min_score=0"],
        "corpus=text": [f"corpus.path={text}/toy.txt"],
        "corpus=jsonl": [f"corpus.path={text}/toy.jsonl"],
        "corpus=csv": [f"corpus.path={text}/toy.csv"],
        "corpus=tsv": [f"corpus.path={text}/toy.tsv"],
        "corpus=parquet": [f"corpus.path={text}/toy.parquet"],
        "corpus=hub": [f"corpus.name={text}/hub", "corpus.streaming=true", "corpus.window=20000"],
        "corpus=parallel": [f"corpus.path=[{text}/toy.tsv,{text}/toy_other.tsv]"],
        "corpus=anonymised": [f"corpus.path={text}/toy_ids.tsv", "corpus.segments=4"],
        "corpus=recall": ["corpus.documents=300", "corpus.distance=8"],
        "corpus=mixture": [
            "+corpus@corpus.members.one=text",
            f"corpus.members.one.path={text}/toy.txt",
            "+corpus@corpus.members.other=jsonl",
            f"corpus.members.other.path={text}/toy.jsonl",
        ],
    }
    toy = [
        "model.num_layers=2",
        "model.hidden_size=32",
        "model.num_heads=2",
        "model.intermediate_size=64",
        "max_length=48",
        "batch.size=4",
        "budget.steps=2",
        "eval.max_length=48",
        "eval.tokens=256",
        "save.every=0",
        "trainer.device=cpu",
        "trainer.threads=1",
        "tokenizer.vocab_size=300",
    ]
    return [*chosen, *itertools.chain(*(texts.get(typed, []) for typed in chosen)), *toy]


def test_the_covering_array_covers_every_accepted_pair(found, refused, rows):
    seen = {frozenset((a.typed, b.typed)) for row in rows for a, b in itertools.combinations(row, 2)}
    no = {frozenset((pair.first, pair.second)) for pair in refused}
    wanted = {
        frozenset((a.typed, b.typed))
        for first, second in itertools.combinations(columns_of(found), 2)
        for a, b in itertools.product(first, second)
    }
    assert wanted - no - seen == {frozenset(pair) for pair in NEVER_IN_ONE_ROW}
    assert not seen & no
    assert all(fit(together(*row)) == [] for row in rows)
    left_out = {c.typed for c in itertools.chain(*found.values())} - {c.typed for row in rows for c in row}
    other_slots = {c.typed for name in found for c in found[name] if name not in (*COVERED, *COVERED_INSIDE)}
    presets = {c.typed for name in PARTS_ALONE for c in found[name] if _stays_out(c)}
    assert left_out - other_slots - presets == set()


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    """A folder with a small corpus in every file format."""
    folder = tmp_path_factory.mktemp("toy")
    sentence = (
        "The {0} river runs past {1} old houses. Nobody there knows why it is {0}. It has always been so. Few ask."
    )
    documents = [sentence.format(f"colour{i % 7}", i) for i in range(300)]
    (folder / "toy.txt").write_text("\n\n".join(documents), encoding="utf-8")
    units = [{"document": number, "spans": [[0, 1, "entity"]]} for number in range(300)]  # there in every corpus
    (folder / "spans.jsonl").write_text("\n".join(map(json.dumps, units)), encoding="utf-8")
    lines = [json.dumps({"text": document}) for document in documents]
    (folder / "toy.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "toy.csv").write_text("\n".join(["text", *(f'"{document}"' for document in documents)]))
    (folder / "toy.tsv").write_text("\n".join(["text", *documents]))
    (folder / "toy_other.tsv").write_text("\n".join(["text", *documents[::-1]]))
    parquet.write_table(pyarrow.table({"text": documents}), folder / "toy.parquet")
    (folder / "hub").mkdir()
    (folder / "hub" / "train.jsonl").write_text("\n".join(lines))
    rows = ["\t".join(f"{i % 7} {j} {i % 11} 3" for j in range(4)) + f"\t{i % 2}" for i in range(300)]
    (folder / "toy_ids.tsv").write_text("\n".join(rows))
    return folder


@pytest.mark.parametrize("share", range(TRAINING_SHARES))
def test_the_covering_array_trains(rows, text, monkeypatch, capfd, share):
    """Every row, two steps, through the command line; in shares, so that several processes can take them."""
    from ptcli.cli import main

    monkeypatch.chdir(text)
    rows = rows[share::TRAINING_SHARES]
    failed = []
    for number, row in enumerate(rows):
        words = toy_overrides(row, text=text)
        if main(["pretrain", *words, f"run.dir={text}/runs-{share}"]) != 0:
            failed.append((number, words, capfd.readouterr().err[-2000:]))
    assert failed == []
    runs = list((text / f"runs-{share}").glob("*/summary.json"))
    summaries = [json.loads(path.read_text(encoding="utf-8")) for path in runs]
    assert len(summaries) == len(rows)
    assert {(summary["status"], summary["step"]) for summary in summaries} == {("finished", 2)}
