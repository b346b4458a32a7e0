import gzip
import os

import pytest

from ptcli.corpus.text import Text
from ptcli.errors import ConfigError, DataError


def texts(path, **settings):
    return [document.text for document in Text(str(path), **settings).documents()]


SPELLINGS = {
    "one blank line": "a b\nc\n\nd\n\ne\n",
    "three blank lines": "a b\nc\n\n\n\nd\n \t\n\n\ne\n",
    "CRLF": "a b\r\nc\r\n\r\nd\r\n\r\ne\r\n",
    "trailing blanks and none at the end": "\n\n a b \nc \n\nd\n\ne\n\n\n\n",
    "byte order mark": "\ufeffa b\nc\n\nd\n\ne",
    "old Mac": "a b\rc\r\rd\r\re\r",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_blank_lines_give_the_same_documents(tmp_path, spelling):
    file = tmp_path / "a.txt"
    file.write_bytes(SPELLINGS[spelling].encode())
    assert texts(file) == ["a b c", "d", "e"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_where_documents_begin_does_not_depend_on_what_is_read_at_once(tmp_path, monkeypatch, size):
    """Paragraphs, blank lines and characters reach over the pieces in which a file is read."""
    monkeypatch.setattr("ptcli.corpus.packed._CHUNK", size)
    monkeypatch.setattr("ptcli.corpus.text._LINES", size)
    file = tmp_path / "a.txt"
    file.write_text("\n\n a é\nb \n\n\u3000\n第一\n二\n \t\nd", encoding="utf-8")
    expected = [("a é b", 3), ("第一二", 7), ("d", 10)]
    for framed in (False, True):
        documents = Text(str(file), strip_gutenberg=framed).documents()
        assert [(d.text, int(d.source.rpartition(":")[2])) for d in documents] == expected


def test_units(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n\nthree\n")
    (tmp_path / "b.txt").write_text("four")
    assert texts(tmp_path, documents="line") == ["one", "two", "three", "four"]
    assert texts(tmp_path, documents="file") == ["one\ntwo\n\nthree", "four"]
    assert texts(tmp_path) == ["one two", "three", "four"]


def test_hard_wrapped_chinese_is_joined_without_a_space(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("第一行，\n第二行\nin English\n第三行", encoding="utf-8")
    assert texts(file) == ["第一行，第二行 in English 第三行"]


WRAPPED = "A title\n\nwrapped\nlines,\n  more\n\n\nand\nagain\n"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["A title", "wrapped lines, more", "and again"]),
        ({"join_lines": False}, ["A title", "wrapped\nlines,\nmore", "and\nagain"]),
        ({"documents": "file"}, [WRAPPED.strip()]),
        ({"documents": "file", "join_lines": True}, ["A title\n\nwrapped lines, more\n\nand again"]),
    ],
)
def test_hard_wrapped_lines_are_joined_where_asked(tmp_path, settings, expected):
    (tmp_path / "a.txt").write_text(WRAPPED)
    assert texts(tmp_path, **settings) == expected


def test_detect_takes_each_files_own_encoding(tmp_path):
    french, chinese = "Él está aquí; naïve café – “déjà vu”. ", "他说：我们在这里不是一个人。"
    (tmp_path / "a.txt").write_bytes((french * 20).encode())
    (tmp_path / "b.txt").write_bytes((french * 20).encode("cp1252"))
    # plain for longer than a piece that is read at once, then not
    (tmp_path / "c.txt").write_bytes(b"plain line\n" * 200_000 + (chinese * 200 + "\n").encode("gb18030"))
    (tmp_path / "d.txt").write_bytes("Some plain text. ".encode("utf-16"))
    corpus = Text(str(tmp_path), encoding="detect", documents="file")
    found = [document.text for document in corpus.documents()]
    assert found[:2] == [(french * 20).strip()] * 2
    assert found[2].endswith(chinese * 200)
    assert found[3] == "Some plain text."
    assert corpus.remarks() == [
        "1 files are read as cp1252",
        "1 files are read as gb18030",
        "1 files are read as utf-16",
    ]
    assert list(corpus.documents()) and corpus.remarks()[0] == "1 files are read as cp1252"
    (tmp_path / "e.txt").write_bytes(bytes(range(128, 256)) * 10)
    with pytest.raises(DataError, match=r"e\.txt: its encoding cannot be told.*corpus\.encoding="):
        texts(tmp_path / "e.txt", encoding="detect")


def test_folders_patterns_lists_and_gzip(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("b")
    (tmp_path / "a (1)#.txt").write_text("a")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"c"))
    (tmp_path / ".hidden.txt").write_text("never")
    (tmp_path / "x.pdf").write_text("never")
    corpus = Text(str(tmp_path))
    assert [document.text for document in corpus.documents()] == ["a", "c", "b"]
    assert corpus.remarks() == [f"{tmp_path}: 1 files with other endings are left out: .pdf (1)"]
    assert texts(tmp_path / "*.txt*") == ["a", "c"]
    assert texts(tmp_path / "**" / "*.md") == ["b"]
    twice = Text([str(tmp_path / "sub"), str(tmp_path / "a (1)#.txt"), str(tmp_path / "sub" / "b.md")])
    assert [document.text for document in twice.documents()] == ["b", "a"]
    assert "named twice" in twice.remarks()[0]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert texts("~/sub") == ["b"]


def test_names_that_a_shell_and_hydra_find_odd(tmp_path):
    for name in ("红楼梦.txt", "é.txt", "R&D [1].txt", "a,b.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
        assert texts(tmp_path / name) == [name]


def test_bytes_that_are_no_text_name_file_offset_and_encoding(tmp_path):
    file = tmp_path / "zh.txt"
    text = "他说：我们在这里不是一个人。" * 200
    file.write_bytes(b"plain ASCII first. " + text.encode("gb18030"))
    with pytest.raises(DataError, match=r"zh\.txt is not utf-8 text: .* at byte 19\. .*corpus\.encoding=gb18030"):
        texts(file)
    assert texts(file, encoding="gb18030") == ["plain ASCII first. " + text]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Él está aquí; naïve café – “déjà vu”. " * 20, "cp1252"),
        ("Le café était déjà fermé. " * 20, "cp1252"),
        ("Costs fell by 3½¢ a pound. " * 20, "cp1252"),
        ("the man’s “work”—and rest. " * 20, "big5"),
        ("我們在這裡說他們是一個人，時間到了。" * 20, "big5"),
        ("これはテストです。私はここにいます。" * 20, "shift_jis"),
        ("Это русский текст, он длинный. " * 20, "cp1251"),
        ("Some plain text. " * 20, "utf-16"),
    ],
)
def test_the_encoding_is_guessed(tmp_path, text, encoding):
    file = tmp_path / "a.txt"
    file.write_bytes(text.encode(encoding))
    with pytest.raises(DataError, match=f"corpus.encoding={encoding}"):
        texts(file)
    assert texts(file, encoding=encoding) == [text.strip()]


def test_the_offset_is_right_beyond_the_first_piece_and_at_a_cut_character(tmp_path):
    file = tmp_path / "a.txt"
    good = "é".encode() * (1 << 20)  # two pieces, a character across their edge with the byte before
    file.write_bytes(b"x" + good + b"\xff")
    with pytest.raises(DataError, match=f"byte {1 + len(good):,}"):
        texts(file)
    file.write_bytes(b"x" + good + b"\xc3")  # the end cuts a character
    with pytest.raises(DataError, match=f"byte {1 + len(good):,}"):
        texts(file)


def test_a_line_of_megabytes_is_read_in_linear_time(tmp_path):
    file = tmp_path / "a.txt"
    line = "很长的一行" * 1_400_000  # 21 MB
    file.write_text(line, encoding="utf-8")
    assert texts(file, documents="line") == [line]


def test_refusals_name_the_way_out(tmp_path):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "a.pdf").write_text("x")
    (tmp_path / "a.txt").write_text("x")
    for settings, message in [
        ({"path": None}, "corpus.path=books/"),
        ({"path": str(tmp_path / "b.txt")}, "does not exist.* holds: .*a.txt"),
        ({"path": str(tmp_path / "*.tex")}, "matches no file"),
        ({"path": str(tmp_path / "pdfs")}, r"no file that ends in \.txt.*\.pdf \(1\)"),
        ({"path": str(tmp_path / "empty.txt")}, "every file there is empty"),
        ({"path": str(tmp_path / "a.txt"), "documents": "line", "join_lines": True}, "joins nothing"),
        ({"path": str(tmp_path / "a.txt"), "window": 10}, "corpus.window=10 does nothing"),
        ({"path": str(tmp_path / "a.txt"), "window": 0, "streaming": True}, "at least 1 character"),
        ({"path": str(tmp_path / "a.txt"), "documents": "page"}, "corpus.documents=page.*blank_line, file, line"),
        ({"path": str(tmp_path / "a.txt"), "encoding": "utf-9"}, "corpus.encoding=utf-9"),
        ({"path": str(tmp_path / "a.txt"), "language": "english"}, "corpus.language=english"),
    ]:
        with pytest.raises(ConfigError, match=message):
            Text(**settings).check()
    (tmp_path / "bad.txt.gz").write_bytes(gzip.compress(os.urandom(1000))[:200])
    with pytest.raises(DataError, match="damaged gzip"):
        texts(tmp_path / "bad.txt.gz", encoding="latin-1")


def test_files_without_text_are_counted(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.txt").write_text(" \n\n")
    corpus = Text(str(tmp_path))
    for _ in range(2):  # a second pass gives the same
        assert len(list(corpus.documents())) == 1
        assert corpus.remarks() == ["1 files hold no text"]


def test_identity_is_content_and_settings_not_place(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("the same")
    here, there = (Text(str(tmp_path / name)).identity() for name in ("here", "there"))
    assert here == there
    for settings in ({"documents": "line"}, {"join_lines": False}, {"strip_gutenberg": True}, {"encoding": "cp1252"}):
        assert Text(str(tmp_path / "here"), **settings).identity() != here
    assert Text(str(tmp_path / "here"), encoding="UTF8").identity() == here
    (tmp_path / "there" / "a.txt").write_text("the some")
    assert Text(str(tmp_path / "there")).identity() != here


def test_a_streams_identity_is_names_sizes_and_times_so_that_nothing_is_read_twice(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("the same")
    first = Text(str(file), streaming=True).identity()
    assert Text(str(file), streaming=True).identity() == first
    os.utime(file, ns=(1, 1))
    assert Text(str(file), streaming=True).identity() != first
