"""`ptcli prepare`: whole, in parts, as a table and as JSON."""

import json
import subprocess
import sys

import pytest

from ptcli.cli import main
from tests.command.toy import settings


@pytest.fixture
def words(tmp_path, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    return settings(tmp_path)


def told(capsys):
    return json.loads(capsys.readouterr().out)


def test_the_table_tells_what_is_in_the_corpus(words, capsys):
    assert main(["prepare", *words, "pair=next_sentence", "packing=segment_pair"]) == 0
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert rows["documents"].strip() == "120"
    for name in ("sentences", "words", "tokens", "unknown tokens", "unaligned words", "of one sentence", "vocabulary"):
        assert name in rows
    assert "% full" in rows["rows an epoch"]
    assert "% next, " in rows["pair labels"]
    assert " MB, 1 shard, in " in rows["on disk"]
    assert "MB of text a second" in rows["seconds"]


def test_json_tells_the_same_in_figures(words, capsys):
    assert main(["prepare", *words, "format=json", "pair=next_sentence", "packing=segment_pair"]) == 0
    facts = told(capsys)
    assert facts["documents"] == 120
    assert facts["documents"] < facts["sentences"] < facts["words"] <= facts["tokens"]
    assert facts["unknown_rate"] == facts["unknown_tokens"] / facts["tokens"]
    assert sum(facts["pair_labels"].values()) == pytest.approx(1)
    assert 0 < facts["fill"] <= 1
    assert facts["rows"] > 0
    assert facts["shards"] == 1
    assert facts["megabytes_per_second"] > 0


def test_parts_become_one_store(words, capsys):
    assert main(["prepare", *words, "format=json", "prepare.shard=1/2"]) == 0
    first = told(capsys)
    assert first["documents"] == 120
    assert main(["prepare", *words]) == 2
    assert "prepare.shard=2/2" in capsys.readouterr().err
    assert main(["prepare", *words, "prepare.shard=2/2"]) == 0
    assert "has nothing to do: the corpus makes fewer shards" in capsys.readouterr().err
    assert main(["prepare", *words, "format=json"]) == 0
    assert told(capsys)["tokens"] == first["tokens"]
    assert main(["prepare", *words, "prepare.shard=2/2"]) == 0
    assert "there already, whole" in capsys.readouterr().err


def test_a_sweep_over_parts_is_not_refused(words, capsys):
    assert main(["prepare", "-m", *words, "format=json", "prepare.shard=1/2,2/2"]) == 0
    capsys.readouterr()
    assert main(["prepare", *words, "format=json"]) == 0
    assert told(capsys)["documents"] == 120


@pytest.mark.parametrize(
    ("command", "word", "message"),
    [
        ("prepare", "prepare.shard=3/2", "write which of how many"),
        ("prepare", "prepare.workers=0", "must be 1 or more"),
        ("prepare", "format=html", "one of table, json"),
        ("prepare", "model.num_heds=2", "num_heads"),
        ("prepare", "pair=next_sentence", "needs two segments"),
        ("pretrain", "prepare.shard=1/2", "only ptcli prepare"),
        ("pretrain", "format=json", "format"),
    ],
)
def test_what_does_not_go_is_refused(words, capsys, command, word, message):
    more = ["packing=full_sentences"] if word.startswith("pair") else []
    assert main([command, *words, word, *more]) == 2
    assert message in capsys.readouterr().err


def test_preparing_needs_no_torch(words):
    """Its 200 MB would be more than all the rest."""
    code = (
        "import sys; from ptcli.cli import main; code = main(sys.argv[1:]); "
        "sys.exit(code or ('torch' in sys.modules) * 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, "prepare", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
