"""Any two choices go together, or are refused for a reason that is written down; what is accepted trains."""

import itertools
import json
from pathlib import Path

import pytest
from allpairspy import AllPairs

from ptcli.config import combinations
from ptcli.config.combinations import Choice, page, refused_pairs, slots, together
from ptcli.config.facts import Facts
from ptcli.config.fit import fit

DOCS = Path(__file__).resolve().parents[1] / "docs" / "combinations.md"
COUNT = Path(__file__).with_name("combinations.json")

# slots that a covering array varies; the others hold no choice that changes what is computed
COVERED = ("corpus", "words", "packing", "pair", "tokenizer", "mask", "objective", "optimizer", "schedule", "model")
COVERED_INSIDE = ("model/attention", "model/ffn", "model/norm", "model/position", "model/residual", "model/sharing")
NEEDS_A_FILE = {"tokenizer": ("pretrained",)}  # choices that need something from outside


@pytest.fixture(scope="module")
def found() -> dict[str, list[Choice]]:
    return slots()


@pytest.fixture(scope="module")
def refused(found):
    return list(refused_pairs(found))


def pick(found, typed: str) -> Choice:
    group, _, name = typed.partition("=")
    return next(choice for choice in found[group] if choice.name == name)


def test_the_page_of_refused_pairs_is_up_to_date(refused):
    assert DOCS.read_text(encoding="utf-8") == page(refused), "run: python -m ptcli.config.combinations"


def test_a_new_refusal_is_a_decision(refused):
    """A change of this number is looked at in review: refusing is not a way to pass."""
    assert len(refused) == json.loads(COUNT.read_text(encoding="utf-8"))["refused_pairs"]


def test_refusals_say_what_because_and_choose(refused):
    for pair in refused:
        assert pair.first.split("=")[0] in pair.message or pair.second.split("=")[0] in pair.message
        assert "Use " in pair.message, pair.message
        assert pair.message.endswith(".")


def test_every_position_trains_in_every_attention_that_takes_it(found):
    for position, attention in itertools.product(found["model/position"], found["model/attention"]):
        facts = together(position, attention)
        accepts = attention.parts["model/attention"][0].fact("accepts") or ()
        ways = [part.fact("enters", "embedding") for part in facts.several("model/position")]
        if all(way == "embedding" or way in accepts for way in ways):
            assert fit(facts) == [], (position.typed, attention.typed)
    for name in ("learned", "sinusoidal", "rotary", "none"):
        assert fit(together(pick(found, f"model/position={name}"), pick(found, "model/attention=full"))) == []


def test_every_mask_trains_with_every_tokenizer_that_has_words(found):
    for mask, tokenizer in itertools.product(found["mask"], found["tokenizer"]):
        if all(part.fact("has_words", True) for part in tokenizer.parts.get("tokenizer", ())):
            assert fit(together(mask, tokenizer)) == [], (mask.typed, tokenizer.typed)


def test_every_packing_trains_with_every_mask_in_every_encoder_that_isolates(found):
    for packing, mask, model in itertools.product(found["packing"], found["mask"], found["model"]):
        attention = model.parts.get("model/attention", ())
        if all(part.fact("isolates", True) for part in attention):
            assert fit(together(packing, mask, model)) == [], (packing.typed, mask.typed, model.typed)


MUST_TRAIN = [
    ("pair=next_sentence", "packing=segment_pair"),
    ("pair=next_sentence", "packing=best_fit"),
    ("pair=sentence_order", "packing=segment_pair"),
    ("pair=sentence_order", "packing=best_fit"),
    ("pair=none", "packing=full_sentences"),
    ("words=gold", "corpus=builtin_zh"),
    ("words=chinese", "mask=whole_word"),
    ("model=albert", "mask=span"),
    ("model=albert", "model/position=rotary"),
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
    """The choices of the covered slots that have an accepted partner in every other slot.

    (mask=none has none in objective as long as every objective there predicts masked tokens.)
    """
    names = [name for name in (*COVERED, *COVERED_INSIDE) if name in found]
    columns = [[c for c in found[name] if c.name not in NEEDS_A_FILE.get(name, ())] for name in names]
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


def covering_array(found) -> list[list[Choice]]:
    """Rows in which every accepted pair of choices of two slots stands together at least once.

    The library builds rows greedily and leaves out pairs that end in a refused row; those get rows of their own.
    """
    columns = columns_of(found)
    rows = [list(row) for row in AllPairs(columns, filter_func=lambda row: fit(together(*row)) == [])]
    missing = {
        frozenset((a.typed, b.typed)): (a, b)
        for first, second in itertools.combinations(columns, 2)
        for a, b in itertools.product(first, second)
        if fit(together(a, b)) == []
    }
    for row in rows:
        _strike(missing, row)
    while missing:
        row = _completed(next(iter(missing.values())), columns, missing)
        rows.append(row)
        _strike(missing, row)
    return rows


def _strike(missing, row: list[Choice]) -> None:
    for a, b in itertools.combinations(row, 2):
        missing.pop(frozenset((a.typed, b.typed)), None)


def _completed(pair, columns, missing) -> list[Choice]:
    """A whole accepted row around a pair, with as many other missing pairs as come along."""
    row = list(pair)
    for column in columns:
        if any(choice in column for choice in pair):
            continue
        fitting = [choice for choice in column if fit(together(*row, choice)) == []]
        row.append(max(fitting, key=lambda c: sum(frozenset((c.typed, r.typed)) in missing for r in row)))
    return row


def toy_overrides(row: list[Choice], *, text: Path) -> list[str]:
    """A row as a command line that trains two steps of a toy model. `text`: a folder with toy.txt and toy.jsonl."""
    chosen = [choice.typed for choice in row]
    files = {"corpus=text": f"corpus.path={text}/toy.txt", "corpus=jsonl": f"corpus.path={text}/toy.jsonl"}
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
        f"run.dir={text}/runs",
    ]
    return [*chosen, *(files[typed] for typed in chosen if typed in files), *toy]


def test_the_covering_array_covers_every_accepted_pair(found, refused):
    rows = covering_array(found)
    seen = {frozenset((a.typed, b.typed)) for row in rows for a, b in itertools.combinations(row, 2)}
    no = {frozenset((pair.first, pair.second)) for pair in refused}
    wanted = {
        frozenset((a.typed, b.typed))
        for first, second in itertools.combinations(columns_of(found), 2)
        for a, b in itertools.product(first, second)
    }
    assert wanted - no - seen == set()
    left_out = {c.typed for c in itertools.chain(*found.values())} - {c.typed for row in rows for c in row}
    other_slots = {c.typed for name in found for c in found[name] if name not in (*COVERED, *COVERED_INSIDE)}
    assert left_out - other_slots == {"mask=none", "tokenizer=pretrained"}


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    """A folder with a small corpus in both file formats."""
    folder = tmp_path_factory.mktemp("toy")
    sentence = "The {0} river runs past {1} old houses. Nobody there knows why it is {0}. It has always been so."
    documents = [sentence.format(f"colour{i % 7}", i) for i in range(300)]
    (folder / "toy.txt").write_text("\n\n".join(documents), encoding="utf-8")
    lines = [json.dumps({"text": document}) for document in documents]
    (folder / "toy.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_the_covering_array_trains(found, text, monkeypatch, capfd):
    """Every row, two steps, through the command line."""
    from ptcli.cli import main

    monkeypatch.chdir(text)
    rows = covering_array(found)
    failed = []
    for number, row in enumerate(rows):
        words = toy_overrides(row, text=text)
        if main(["pretrain", *words]) != 0:
            failed.append((number, words, capfd.readouterr().err[-2000:]))
    assert failed == []
    summaries = [json.loads(path.read_text(encoding="utf-8")) for path in (text / "runs").glob("*/summary.json")]
    assert len(summaries) == len(rows)
    assert {(summary["status"], summary["step"]) for summary in summaries} == {("finished", 2)}
