import json

from ptcli.logger.jsonl import Jsonl


def start(folder):
    sink = Jsonl()
    sink.start(folder=folder, name="run", group=None, config={})
    return sink


def test_one_object_a_line_appended_and_there_at_once(tmp_path):
    sink = start(tmp_path)
    sink.log(1, {"train/loss": 2.5, "train/pair_loss": None})
    assert (tmp_path / "metrics.jsonl").read_text() == '{"step": 1, "train/loss": 2.5, "train/pair_loss": null}\n'
    sink.finish("finished")
    sink.finish("finished")
    again = start(tmp_path)
    again.log(2, {"a": float("nan"), "b": float("inf"), "c": 0.1 + 0.2})
    again.finish("failed")
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert lines[1] == {"step": 2, "a": None, "b": None, "c": 0.1 + 0.2}


def test_lines_written_after_a_cut_stand_after_the_cut(tmp_path):
    sink = start(tmp_path)
    sink.log(1, {"a": 1.0})
    length = (tmp_path / "metrics.jsonl").stat().st_size
    sink.log(2, {"a": 2.0})
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.truncate(length)
    sink.log(3, {"a": 3.0})
    assert [json.loads(line)["step"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()] == [1, 3]
