import pytest

from ptcli.corpus.parallel import Parallel
from ptcli.errors import ConfigError, DataError
from ptcli.store.blocks import blocks
from ptcli.words.unicode import Unicode


def write(tmp_path, first, second):
    (tmp_path / "x.en").write_text(first)
    (tmp_path / "x.de").write_text(second, encoding="utf-8")
    return [str(tmp_path / "x.en"), str(tmp_path / "x.de")]


def test_a_document_is_a_line_and_its_translation_whatever_marks_stand_in_it(tmp_path):
    paths = write(tmp_path, "Hi. How are you?\n\nOne.\n \nTwo.", "Hallo. Wie geht’s?\n\nEins.\nleer\nZwei.\n")
    corpus = Parallel(paths)
    corpus.check()
    documents = list(corpus.documents())
    assert [document.text.split("\n") for document in documents] == [
        ["Hi. How are you?", "Hallo. Wie geht’s?"],
        ["One.", "Eins."],
        ["Two.", "Zwei."],
    ]
    assert corpus.remarks() == ["2 pairs of lines have an empty side"]
    together = next(blocks(documents, words=Unicode(), language="en"))
    assert [block.sentences.tolist() for block in together] == [[0, 17], [0, 5], [0, 5]]
    assert Parallel(paths[::-1]).identity() != corpus.identity()


def test_files_of_unlike_length_are_no_translations(tmp_path):
    with pytest.raises(DataError, match=r"x\.de has 1 lines, .*x\.en has more.*corpus\.path=\["):
        list(Parallel(write(tmp_path, "a\nb\nc", "a")).documents())
    with pytest.raises(DataError, match=r"x\.en has 2 lines, .*x\.de has more"):
        list(Parallel(write(tmp_path, "a\nb", "a\nb\nc")).documents())


def test_it_wants_two_files(tmp_path):
    paths = write(tmp_path, "a", "b")
    with pytest.raises(ConfigError, match=r"two files, but .* names 1"):
        Parallel(paths[:1]).check()
