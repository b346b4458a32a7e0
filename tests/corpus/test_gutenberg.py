"""The frame of Project Gutenberg's books."""

import pytest

from ptcli.corpus.text import Text

HEAD = "The Project Gutenberg eBook of X\n\nTitle: X\n\n"
END = "*** END OF THE PROJECT GUTENBERG EBOOK X ***\n\nSection 1. General Terms of Use\n"
BOOK = "CHAPTER I.\n\nIt began\nat the end of the road.\n\n***\n\nThe end of it.\n\n"
MARKS = {
    "of today": "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n",
    "of before": "***START OF THIS PROJECT GUTENBERG EBOOK X***\n",
    "wrapped": "*** START OF THE PROJECT GUTENBERG EBOOK A VERY LONG\nTITLE; OR, X ***\n",
}
DOCUMENTS = ["CHAPTER I.", "It began at the end of the road.", "***", "The end of it."]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("end", [END, "End of Project Gutenberg's X, by Y\n\n" + END, ""])
def test_the_frame_is_removed_and_line_numbers_stay(tmp_path, mark, end):
    file = tmp_path / "x.txt"
    text = "\ufeff" + HEAD + MARKS[mark] + "\n" + BOOK + end
    file.write_bytes(text.replace("\n", "\r\n").encode())
    corpus = Text(str(file), strip_gutenberg=True)
    documents = list(corpus.documents())
    assert [document.text for document in documents] == DOCUMENTS
    assert text.split("\n")[int(documents[1].source.rpartition(":")[2]) - 1] == "It began"
    assert corpus.remarks() == []


def test_a_book_without_a_frame_stays_whole_and_is_counted(tmp_path):
    (tmp_path / "a.txt").write_text(BOOK)
    (tmp_path / "b.txt").write_text("line\n" * 5000 + MARKS["of today"])
    corpus = Text(str(tmp_path), strip_gutenberg=True, documents="line")
    assert len(list(corpus.documents())) == 5 + 5001
    assert corpus.remarks() == ["corpus.strip_gutenberg: 2 files have no frame of Project Gutenberg"]
    assert [document.text for document in Text(str(tmp_path / "a.txt")).documents()] == DOCUMENTS
