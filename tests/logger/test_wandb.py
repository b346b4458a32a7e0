import json
import os
import sys
from pathlib import Path

import pytest
import yaml
from hydra.utils import instantiate

from ptcli.errors import ConfigError
from ptcli.logger import wandb as wandb_module
from ptcli.logger.wandb import Wandb, has_key
from tests.waiting import run

ROOT = Path(__file__).parents[2]

TWO_JOBS = """
import sys, warnings
from pathlib import Path
warnings.simplefilter("error")
from ptcli.logger.logger import Logger
from ptcli.logger.wandb import Wandb
for ratio in (0.15, 0.3):
    folder = Path(sys.argv[1]) / f"run-{ratio}"
    folder.mkdir()
    try:
        with Logger([Wandb()]) as logger:
            logger.start(folder=folder, name=f"bert-{ratio}", group="my-sweep", config={"mask": {"ratio": ratio}})
            logger.log(1, {"train/loss": 5.0, "train/pair_loss": None})
            logger.log(1, {"train/loss": 4.0})
            logger.summary({"status": "finished", "nested": {}})
            if ratio == 0.15:
                raise ValueError("the first job fails")
    except ValueError as error:
        print(error)
print("trained")
"""


@pytest.fixture(autouse=True)
def no_key(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HOME", str(tmp_path))


def read_log(path):
    """The records of a .wandb file: a header of 7 bytes, then LevelDB's log format (blocks of 32 KiB)."""
    data, at, parts = path.read_bytes(), 7, []
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:  # a block's padded end
            at += 32768 - at % 32768
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        parts.append(data[at + 7 : at + 7 + length])
        at += 7 + length
        if kind in (1, 4):  # full, last
            yield b"".join(parts)
            parts = []


def records(folder):
    """Configuration, history, group and id of an offline run, read from its file."""
    from wandb.proto import wandb_internal_pb2

    (path,) = folder.glob("wandb/offline-run-*/*.wandb")
    config, steps, group, run_id = {}, [], None, None
    for data in read_log(path):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            group, run_id = record.run.run_group, record.run.run_id
            config = {item.key: json.loads(item.value_json) for item in record.run.config.update} or config
        elif kind == "history":
            items = record.history.item
            steps.append({item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items})
    return config, steps, group, run_id


def test_two_jobs_in_one_process_without_a_key_or_terminal_are_two_runs_of_one_group(tmp_path):
    code, told, error = run([sys.executable, "-c", TWO_JOBS, str(tmp_path)], cwd=ROOT)
    assert code == 0, error
    assert "trained" in told
    assert "no key, so this run is kept offline" in told
    found = [records(tmp_path / f"run-{ratio}") for ratio in (0.15, 0.3)]
    assert [config["mask"]["ratio"] for config, *_ in found] == [0.15, 0.3]
    assert [group for *_, group, _ in found] == ["my-sweep", "my-sweep"]
    assert len({run_id for *_, run_id in found}) == 2
    for folder, (_, steps, _, run_id) in zip((0.15, 0.3), found, strict=True):
        assert [s["train/loss"] for s in steps] == [5.0, 4.0]  # a step logged twice is not dropped
        assert [s["trainer/step"] for s in steps] == [1, 1]
        assert (tmp_path / f"run-{folder}/wandb/run-id.txt").read_text().strip() == run_id
    assert "monotonically" not in told + error


def test_a_resumed_run_has_the_same_id(tmp_path):
    assert wandb_module._run_id(tmp_path / "wandb") == wandb_module._run_id(tmp_path / "wandb")
    assert wandb_module._run_id(tmp_path / "other") != wandb_module._run_id(tmp_path / "wandb")


def test_keys(monkeypatch, tmp_path):
    assert not has_key()
    (tmp_path / "netrc").write_text("machine api.wandb.ai login user password secret\n")
    assert has_key()
    monkeypatch.setenv("WANDB_BASE_URL", "https://wandb.example.org:8080")
    assert not has_key()
    (tmp_path / "netrc").write_text("this is no netrc\n")
    assert not has_key()
    monkeypatch.setenv("WANDB_API_KEY", "x" * 40)
    assert has_key()


def test_the_mode_is_decided_before_wandb_is_asked(monkeypatch):
    assert Wandb()._decide()[0] == "offline"
    assert Wandb(mode="disabled")._decide() == ("disabled", "")
    monkeypatch.setenv("WANDB_MODE", "dryrun")
    assert Wandb()._decide() == ("offline", "")
    monkeypatch.delenv("WANDB_MODE")
    monkeypatch.setenv("WANDB_API_KEY", "x" * 40)
    monkeypatch.setattr(wandb_module, "_answers", lambda timeout: False)
    mode, why = Wandb()._decide()
    assert mode == "offline"
    assert "does not answer" in why
    monkeypatch.setattr(wandb_module, "_answers", lambda timeout: True)
    assert Wandb()._decide() == ("online", "")


def test_what_is_refused_before_anything_starts(monkeypatch):
    with pytest.raises(ConfigError, match="wandb login"):
        Wandb(mode="online")
    with pytest.raises(ConfigError, match="choose online"):
        Wandb(mode="of")
    with pytest.raises(ConfigError, match="project"):
        Wandb(project="a/b")
    monkeypatch.setenv("WANDB_MODE", "sometimes")
    with pytest.raises(ConfigError, match="WANDB_MODE=sometimes"):
        Wandb()


def test_a_failure_is_one_warning_and_training_goes_on(monkeypatch, tmp_path):
    import wandb

    monkeypatch.setattr(wandb, "init", lambda **settings: 1 / 0)
    sink = Wandb(mode="offline")
    with pytest.warns(UserWarning, match="training goes on"):
        sink.start(folder=tmp_path, name="run", group=None, config={})
    sink.log(1, {"a": 1.0})
    sink.summary({"a": 1})
    sink.finish("finished")


def test_a_server_that_is_gone_holds_up_neither_the_beginning_nor_the_end(monkeypatch, tmp_path):
    import wandb

    given = {}

    def stop(**settings):
        given.update(settings)
        raise OSError("enough is known")

    monkeypatch.setattr(wandb, "init", stop)
    with pytest.warns(UserWarning, match="training goes on"):
        Wandb(mode="offline", timeout=7).start(folder=tmp_path, name="run", group=None, config={})
    assert (given["settings"].init_timeout, given["settings"].finish_timeout) == (7, 7)


def test_a_failure_while_logging_is_one_warning(recwarn):
    class Broken:
        def log(self, values):
            raise OSError("gone")

        finish = log

    sink = Wandb(mode="offline")
    sink._run = Broken()
    sink.log(1, {})
    sink.log(2, {})
    sink.finish("finished")
    assert [str(w.message) for w in recwarn if "wandb failed" in str(w.message)] == [
        "wandb failed (OSError: gone); training goes on."
    ]


def test_the_yaml_is_nested_by_name():
    settings = yaml.safe_load((ROOT / "conf/logger/wandb.yaml").read_text(encoding="utf-8"))
    sinks = instantiate(settings)
    assert list(sinks) == ["wandb"]
    assert (sinks.wandb.project, sinks.wandb.mode) == ("ptcli", None)
    assert yaml.safe_load((ROOT / "conf/logger/none.yaml").read_text(encoding="utf-8")) == {}
