import pytest

from ptcli.corpus.anonymised import Anonymised
from ptcli.errors import ConfigError, DataError
from ptcli.store.blocks import blocks
from ptcli.words.unicode import Unicode


def write(tmp_path, text):
    file = tmp_path / "a.tsv"
    file.write_text(text)
    return str(file)


def test_a_row_is_a_document_and_a_field_a_sentence(tmp_path):
    corpus = Anonymised(write(tmp_path, "12 7  3\t5 12\t1\n\n1 2\t3\n\t\t0\n4\t\n"))
    corpus.check()
    documents = list(corpus.documents())
    assert [document.text for document in documents] == ["12 7 3\n5 12", "1 2\n3", "4"]
    assert [document.sentences for document in documents] == [(0, 7), (0, 4), (0,)]
    together = next(blocks(documents, words=Unicode(), language="en"))
    assert [block.sentences.tolist() for block in together] == [[0, 7], [0, 4], [0]]
    assert corpus.remarks() == ["2 labels are dropped: pretraining needs none", "1 rows hold no id"]
    assert corpus.has_words is False
    assert corpus.has_text is False


def test_one_field(tmp_path):
    path = write(tmp_path, "1 2\n3\t0\n")
    assert [document.text for document in Anonymised(path, segments=1).documents()] == ["1 2", "3"]
    assert Anonymised(path, segments=1).identity() != Anonymised(path).identity()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1 2", r"a\.tsv:1 has 1 fields.*corpus\.segments=NUMBER"),
        ("1\t2\t3\t4", "has 4 fields"),
        ("1 two\t3", r"holds '1 two', which is no row of ids.*corpus=tsv"),
        ("1,2\t3", "no row of ids"),
    ],
)
def test_what_is_no_row_of_ids_is_said(tmp_path, row, message):
    path = write(tmp_path, row)
    with pytest.raises(ConfigError, match=message):
        Anonymised(path).check()
    with pytest.raises(DataError, match=message):
        list(Anonymised(path).documents())
    with pytest.raises(ConfigError, match="at least 1"):
        Anonymised(path, segments=0).check()
