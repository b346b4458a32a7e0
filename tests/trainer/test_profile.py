import gzip
import json

from ptcli.trainer.trainer import Trainer
from tests.trainer.test_loop import assert_equal, undisturbed  # noqa: F401 (a fixture)
from tests.trainer.toy import Recorder, train


def test_a_few_steps_are_recorded_into_a_trace_and_training_is_undisturbed(tmp_path, undisturbed):  # noqa: F811
    recorder = Recorder()
    run = train(tmp_path, trainer=Trainer(device="cpu", precision="fp32", profile=True), sinks=[recorder])
    assert_equal(tmp_path, run, undisturbed)
    path = tmp_path / "profile.json.gz"
    assert f"the profile of 5 steps is in {path}; open it in ui.perfetto.dev" in recorder.said
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    names = [event.get("name") for event in events]
    assert "aten::addmm" in names
    assert len({name for name in names if str(name).startswith("ProfilerStep")}) == 5


def test_a_run_too_short_to_be_recorded_is_told(tmp_path):
    recorder = Recorder()
    train(tmp_path, steps=3, trainer=Trainer(device="cpu", precision="fp32", profile=True), sinks=[recorder])
    assert [text for text in recorder.said if "no profile" in text] == [
        "no profile: a run of 6 steps or more is recorded from step 6 on"
    ]
    assert not (tmp_path / "profile.json.gz").exists()
