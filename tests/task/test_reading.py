"""Rows from files of every format; what is wrong is named with file and line."""

import gzip
import json
import re

import pyarrow
import pytest
from pyarrow import parquet

from ptcli.errors import ConfigError, DataError
from ptcli.task.classification import Classification
from ptcli.task.extractive_qa import ExtractiveQA
from ptcli.task.multiple_choice import MultipleChoice
from ptcli.task.pair_classification import PairClassification
from ptcli.task.token_classification import TokenClassification

PAIRS = [("a b", "c", "1"), ("d", "", "0"), ("", "f", "1")]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def pairs(path, **settings):
    task = PairClassification(path=str(path), text=["one", 0], pair=["two", 1], label=["label", 2], **settings)
    task.check()
    return task


def seen(rows):
    return [(*row.texts, row.label) for row in rows]


TABLES = {
    "rows.csv": "label,one,two\n" + "".join(f"{c},{a},{b}\n" for a, b, c in PAIRS),
    "rows.tsv": "one\ttwo\tlabel\n" + "".join("\t".join(row) + "\n" for row in PAIRS),
    "without_names.tsv": "".join("\t".join(row) + "\n" for row in PAIRS),
    "rows.jsonl": "".join(json.dumps({"one": a, "two": b, "label": int(c)}) + "\n\n" for a, b, c in PAIRS),
    "lines.json": "".join(json.dumps({"one": a, "two": b, "label": int(c)}) + "\n" for a, b, c in PAIRS),
    "list.json": json.dumps([{"one": a, "two": b, "label": int(c)} for a, b, c in PAIRS], indent=1),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_every_format_give_the_same_rows_empty_texts_kept(tmp_path, name):
    rows = pairs(write(tmp_path / name, TABLES[name])).read("train")
    assert seen(rows) == PAIRS
    assert [row.index for row in rows] == [0, 1, 2]
    assert all(str(tmp_path) in row.source for row in rows)


def test_parquet_gives_the_same_rows_and_packed_files_too(tmp_path):
    columns = [list(column) for column in zip(*PAIRS, strict=True)]
    table = pyarrow.table(dict(zip(("one", "two", "label"), columns, strict=True)))
    parquet.write_table(table, tmp_path / "rows.parquet")
    assert seen(pairs(tmp_path / "rows.parquet").read("train")) == PAIRS
    (tmp_path / "rows.tsv.gz").write_bytes(gzip.compress(TABLES["rows.tsv"].encode()))
    assert seen(pairs(tmp_path / "rows.tsv.gz").read("train")) == PAIRS


def test_parquet_of_datasets_gives_the_names_of_classes(tmp_path):
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"one": Value("string"), "two": Value("string"), "label": ClassLabel(names=["no", "yes"])})
    data = Dataset.from_dict({"one": ["a", "b", "c"], "two": ["d", "e", "f"], "label": [1, 0, -1]}, features=features)
    data.to_parquet(tmp_path / "rows.parquet")
    rows = list(pairs(tmp_path / "rows.parquet").read_file(tmp_path / "rows.parquet"))
    assert [row.label for row in rows] == ["yes", "no", None]


def test_a_data_set_of_datasets_is_read_by_split(tmp_path):
    write(tmp_path / "train.jsonl", TABLES["rows.jsonl"])
    write(tmp_path / "dev.jsonl", TABLES["rows.jsonl"].splitlines()[0])
    task = PairClassification(
        name=str(tmp_path), text="one", pair="two", hub_splits={"train": "train", "validation": "validation"}
    )
    task.check()
    assert task.splits == ["train", "validation"]
    assert seen(task.read("train")) == PAIRS
    assert seen(task.read("validation")) == PAIRS[:1]


def test_splits_are_found_by_name_or_as_they_are_given(tmp_path):
    for name in ("train.tsv", "dev.tsv", "test.tsv", "notes.tsv"):
        write(tmp_path / name, TABLES["rows.tsv"])
    assert sorted(pairs(tmp_path).splits) == ["test", "train", "validation"]
    given = pairs(tmp_path, splits={"train": ["train.tsv", "notes.tsv"], "validation_other": "dev.tsv"})
    assert given.splits == ["train", "validation_other"]
    assert len(given.read("train")) == 6
    assert [row.index for row in given.read("train")] == list(range(6))
    with pytest.raises(ConfigError, match=r"valid\.tsv \(the validation split\) does not exist.*holds: dev\.tsv"):
        pairs(tmp_path, splits={"train": "train.tsv", "validation": "valid.tsv"})


def test_a_file_is_the_train_split_and_splits_that_it_overrules_are_told(tmp_path):
    table = write(tmp_path / "rows.tsv", TABLES["rows.tsv"])
    task = pairs(table, splits={"train": "train.tsv", "validation": "dev.tsv"})
    assert task.splits == ["train"]
    assert seen(task.read("train")) == PAIRS
    assert "all of it is the train split" in task.remarks()[0]
    with pytest.raises(ConfigError, match="the task has no validation split, only train"):
        task.read("validation")


def test_a_quotation_mark_is_a_character_in_tsv_and_not_in_csv(tmp_path):
    tsv = write(tmp_path / "rows.tsv", 'one\ttwo\tlabel\n"a\tb"\t1\n')
    assert seen(pairs(tsv).read("train")) == [('"a', 'b"', "1")]
    csv = write(tmp_path / "rows.csv", 'one,two,label\n"a, b","c ""d""",1\n')
    assert seen(pairs(csv).read("train")) == [("a, b", 'c "d"', "1")]
    open_quote = write(tmp_path / "open.csv", 'one,two,label\n"a,b,1\n')
    with pytest.raises(DataError, match=r"open\.csv:2 .*task\.quote=null"):
        pairs(open_quote).read("train")


def test_a_bad_row_is_named_and_left_out_only_where_that_is_asked_for(tmp_path):
    table = write(tmp_path / "rows.tsv", "one\ttwo\tlabel\na\tb\t1\nc\td\ne\tf\t0\n")
    with pytest.raises(DataError, match=r"rows\.tsv:3 has 2 values, but the first row has 3.*skip_bad_rows"):
        pairs(table).read("train")
    task = pairs(table, skip_bad_rows=True)
    assert seen(task.read("train")) == [("a", "b", "1"), ("e", "f", "0")]
    assert [row.index for row in task.read("train")] == [0, 1]
    assert re.search(r"1 bad rows are left out: .*rows\.tsv:3", " ".join(task.remarks()))
    lines = write(tmp_path / "rows.jsonl", '{"one": "a", "two": "b", "label": 1}\n[1]\n{"one": \n')
    with pytest.raises(DataError, match=r"rows\.jsonl:2 holds no object"):
        pairs(lines).read("train")
    task = pairs(lines, skip_bad_rows=True)
    assert len(task.read("train")) == 1
    assert "2 bad rows" in " ".join(task.remarks())


def test_missing_labels_are_named_where_they_are_needed(tmp_path):
    table = write(tmp_path / "train.tsv", "one\ttwo\tlabel\na\tb\t1\nc\td\t\ne\tf\t \n")
    with pytest.raises(DataError, match=r"2 rows of the train split have no label.*train\.tsv:3, .*train\.tsv:4"):
        pairs(table).read("train")
    assert [row.label for row in pairs(table).read("train", labelled=False)] == ["1", None, None]
    assert [row.label for row in pairs(table).read_file(table)] == ["1", None, None]
    two = write(tmp_path / "predict.tsv", "a\tb\nc\td\n")
    assert seen(pairs(table).read_file(two)) == [("a", "b", None), ("c", "d", None)]


def test_a_missing_column_is_told_with_those_there_are(tmp_path):
    table = write(tmp_path / "rows.csv", "first,two,label\na,b,1\n")
    with pytest.raises(DataError, match=r"no column one.*there: first, two, label.*task\.text=COLUMN"):
        PairClassification(path=str(table), text="one", pair="two").read("train")


def test_numbers_name_columns_only_where_there_are_no_names(tmp_path):
    """A test file without a label must not take another column for it."""
    write(tmp_path / "test.tsv", "one\ttwo\tthree\na\tb\tc\n")
    assert seen(pairs(tmp_path).read("test")) == [("a", "b", None)]


def test_columns_lead_into_objects_and_into_texts(tmp_path):
    lines = write(tmp_path / "rows.jsonl", json.dumps({"target": {"word": "cat"}, "text": "the cat", "label": True}))
    task = PairClassification(path=str(lines), text="target.word", pair="{target.word}: {text}")
    assert seen(task.read("train")) == [("cat", "cat: the cat", "true")]


def test_where_leaves_out_other_rows_and_counts_them(tmp_path):
    table = write(tmp_path / "rows.tsv", "language\tone\ttwo\tlabel\nzh\ta\tb\t1\nen\tc\td\t0\nzh\te\tf\t0\n")
    task = pairs(table, where={"language": "zh"})
    assert seen(task.read("train")) == [("a", "b", "1"), ("e", "f", "0")]
    assert "1 rows are left out by task.where" in task.remarks()
    with pytest.raises(DataError, match=r"no column lang, which task\.where names"):
        pairs(table, where={"lang": "zh"}).read("train")


def test_labels_come_from_all_splits_in_a_stable_order(tmp_path):
    write(tmp_path / "train.tsv", "text\tlabel\na\t10\nb\t9\n")
    write(tmp_path / "dev.tsv", "text\tlabel\nc\t-1\nd\tx\n")
    task = Classification(path=str(tmp_path))
    splits = {split: task.read(split) for split in task.splits}
    assert task.collect_labels(splits) == ("-1", "9", "10", "x")
    assert task.collect_labels(dict(reversed(splits.items()))) == ("-1", "9", "10", "x")


def test_unknown_labels_are_named_with_their_rows(tmp_path):
    table = write(tmp_path / "rows.tsv", "text\tlabel\na\tgood\nb\tgod\nc\tbad\n")
    task = Classification(path=str(table), labels=["bad", "good"])
    with pytest.raises(DataError, match=r"'god' \(1 rows: .*rows\.tsv:3"):
        task.collect_labels({"train": task.read("train")})


def test_names_of_labels_are_labels_too(tmp_path):
    table = write(tmp_path / "rows.tsv", "text\tlabel\na\t0\nb\tgood\nc\t1\n")
    task = Classification(path=str(table), labels=["0", "1"], label_names=["bad", "good"])
    task.check()
    rows = task.read("train")
    assert [row.label for row in rows] == ["0", "1", "1"]
    assert task.names_of(task.collect_labels({"train": rows})) == ("bad", "good")
    with pytest.raises(ConfigError, match=r"label_names has 1 names for 2 labels"):
        Classification(path=str(table), labels=["0", "1"], label_names=["bad"]).check()


def test_one_label_is_nothing_to_learn(tmp_path):
    table = write(tmp_path / "rows.tsv", "text\tlabel\na\t1\nb\t1\n")
    task = Classification(path=str(table))
    with pytest.raises(DataError, match=r"1 different labels \(1\).*task\.label=COLUMN"):
        task.collect_labels({"train": task.read("train")})


def test_conll_sentences_end_at_lines_of_white_space(tmp_path):
    file = write(tmp_path / "train.conll", "The\tO\nCat\tB-x\n\t\nIt\tO\n\n\n-DOCSTART-\tO\n\nsat\tO")
    task = TokenClassification(path=str(file), text=["tokens", 0], label=["tags", 1])
    rows = task.read("train")
    assert [(row.words, row.label) for row in rows] == [
        (("The", "Cat"), ("O", "B-x")),
        (("It",), ("O",)),
        (("sat",), ("O",)),
    ]
    assert [row.source.rpartition(":")[2] for row in rows] == ["1", "4", "9"]
    unlabelled = write(tmp_path / "input.conll", "The\nCat\n\nIt\n")
    assert [(row.words, row.label) for row in task.read_file(unlabelled)] == [(("The", "Cat"), None), (("It",), None)]


def test_conll_of_four_columns_and_of_uneven_ones(tmp_path):
    file = write(tmp_path / "train.txt", "EU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\n")
    task = TokenClassification(path=str(file), format="conll", text=0, label=3)
    assert task.read("train")[0].label == ("I-ORG", "O")
    uneven = write(tmp_path / "uneven.conll", "a O\nb\n\nc O\n")
    with pytest.raises(DataError, match=r"uneven\.conll:1 begins a sentence of 2 columns, but line 2 has 1"):
        TokenClassification(path=str(uneven), text=0, label=1).read("train")


def test_tags_must_be_as_many_as_words(tmp_path):
    lines = write(tmp_path / "rows.jsonl", json.dumps({"tokens": ["a", "b"], "tags": ["O"]}))
    with pytest.raises(DataError, match=r"rows\.jsonl:1 has 1 tags for 2 words"):
        TokenClassification(path=str(lines), text="tokens", label="tags").read("train")


def test_entities_given_by_place_become_tags_of_characters(tmp_path):
    line = {"text": "我喜欢猫", "label": {"thing": {"猫": [[3, 3]]}, "verb": {"喜欢": [[1, 2]]}}}
    file = write(tmp_path / "rows.jsonl", json.dumps(line, ensure_ascii=False))
    (row,) = TokenClassification(path=str(file), text="text", label="label", word_separator="").read("train")
    assert row.words == tuple("我喜欢猫")
    assert row.label == ("O", "B-verb", "I-verb", "B-thing")


SQUAD = {
    "data": [
        {
            "title": "Cats",
            "paragraphs": [
                {
                    "context": "the cat sat on the mat",
                    "qas": [
                        {"id": "q1", "question": "who?", "answers": [{"text": "cat", "answer_start": 4}]},
                        {"id": "q2", "question": "where?", "answers": [{"text": "the mat", "answer_start": 13}]},
                        {"id": "q3", "question": "why?", "answers": [], "is_impossible": True},
                    ],
                }
            ],
        }
    ]
}


def questions(path, **settings):
    return ExtractiveQA(path=str(path), text="question", label="answers", id="id", **settings)


def test_squad_files_give_questions_and_move_answers_to_where_they_stand(tmp_path):
    task = questions(write(tmp_path / "train.json", json.dumps(SQUAD)), no_answer=True)
    rows = task.read("train")
    assert [row.id for row in rows] == ["q1", "q2", "q3"]
    assert [[(a.text, a.start) for a in row.label] for row in rows] == [[("cat", 4)], [("the mat", 15)], []]
    assert "1 answers stand elsewhere" in " ".join(task.remarks())
    with pytest.raises(DataError, match=r"question q3 has no answer; task\.no_answer=true"):
        questions(tmp_path / "train.json").read("train")


def test_an_answer_that_the_context_lacks_is_a_bad_row(tmp_path):
    changed = json.loads(json.dumps(SQUAD))
    changed["data"][0]["paragraphs"][0]["qas"][0]["answers"] = [{"text": "dog", "answer_start": 4}]
    path = write(tmp_path / "train.json", json.dumps(changed))
    with pytest.raises(DataError, match=r"question q1 has the answer 'dog', which its context does not hold"):
        questions(path, no_answer=True).read("train")
    assert [row.id for row in questions(path, no_answer=True, skip_bad_rows=True).read("train")] == ["q2", "q3"]


def test_answers_as_the_hub_has_them_and_as_cmrc_first_had_them(tmp_path):
    hub = {"id": "1", "question": "who?", "context": "a cat", "answers": {"text": ["cat"], "answer_start": [2]}}
    (row,) = questions(write(tmp_path / "rows.jsonl", json.dumps(hub))).read("train")
    assert (row.label[0].text, row.label[0].start) == ("cat", 2)
    first = [{"context_text": "我喜欢猫", "qas": [{"query_id": "Q", "query_text": "谁", "answers": ["猫", "狗"]}]}]
    task = questions(write(tmp_path / "cmrc.json", json.dumps(first)))
    (row,) = task.read("train")
    assert [(a.text, a.start) for a in row.label] == [("猫", 3), ("狗", -1)]
    assert "1 answers are not in their context" in " ".join(task.remarks())


def test_c3_files_give_choices(tmp_path):
    document = [[["男：你好", "女：再见"], [{"question": "谁?", "choice": ["我", "你"], "answer": "你"}], "1-1"]]
    file = write(tmp_path / "train.json", json.dumps(document))
    (row,) = MultipleChoice(
        path=str(file), text="context", question="question", choices="choice", label="answer", id="id"
    ).read("train")
    assert row.texts == ("男：你好\n女：再见", "谁?")
    assert (row.choices, row.label, row.id) == (("我", "你"), 1, "1-1-0")


def test_errors_of_readers_name_the_keys_of_the_task(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_bytes("text\tlabel\n我喜欢猫\t1\n".encode("gb18030"))
    with pytest.raises(DataError, match=r"task\.encoding=") as caught:
        Classification(path=str(path)).read("train")
    assert "corpus." not in str(caught.value)
    rows = Classification(path=str(path), encoding="gb18030").read("train")
    assert rows[0].texts == ("我喜欢猫",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"no rows.*task\.path=FOLDER"),
        ({"path": "/nowhere/at/all"}, r"/nowhere/at/all does not exist"),
        ({"name": "./nowhere"}, r"task\.name=\./nowhere is no folder"),
        ({"path": ".", "format": "xml"}, r"task\.format=xml is unknown"),
        ({"path": ".", "delimiter": ";;"}, r"task\.delimiter=';;' must be one character"),
        ({"path": ".", "encoding": "klingon"}, r"task\.encoding=klingon"),
        ({"path": ".", "validation_fraction": 1.0}, r"task\.validation_fraction=1\.0"),
        ({"path": ".", "labels": ["a", "a"]}, r"names a label twice"),
        ({"path": ".", "metrics": ["acc"]}, r"task\.metrics has 'acc'"),
        ({"path": ".", "best_metric": "f1"}, r"task\.best_metric=f1 is not measured"),
    ],
)
def test_what_can_be_known_before_is_refused_before(settings, message):
    with pytest.raises(ConfigError, match=message):
        Classification(**settings).check()


def test_a_folder_without_splits_is_refused(tmp_path):
    write(tmp_path / "rows.tsv", "a\t1\n")
    with pytest.raises(ConfigError, match=r"holds no file called train.*task\.splits="):
        Classification(path=str(tmp_path)).check()
