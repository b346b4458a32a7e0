import pytest

from ptcli.logger.logger import Logger, Sink


class Noted(Sink):
    def __init__(self, fails=False):
        self.calls, self.fails = [], fails

    def start(self, **settings):
        self.calls.append(("start", settings["name"], settings["config"]))

    def log(self, step, metrics):
        self.calls.append(("log", step, dict(metrics)))

    def finish(self, status):
        self.calls.append(("finish", status))
        if self.fails:
            raise RuntimeError("no")


def test_every_sink_is_called_in_order_and_finished_once(tmp_path):
    sinks = [Noted(), Noted()]
    with Logger(sinks) as logger:
        logger.start(folder=tmp_path, name="run")
        logger.log(1, {"train/loss": 2.0})
        logger.progress(step=1, share=0.5, seconds=1.0)
        logger.say("hello")
        logger.summary({"step": 1})
        logger.finish("finished")
    for sink in sinks:
        assert sink.calls == [("start", "run", {}), ("log", 1, {"train/loss": 2.0}), ("finish", "finished")]


@pytest.mark.parametrize(("error", "status"), [(ValueError, "failed"), (KeyboardInterrupt, "interrupted")])
def test_the_status_follows_from_how_the_block_ends(error, status):
    sink = Noted()
    with pytest.raises(error), Logger([sink]):
        raise error
    assert sink.calls == [("finish", status)]


def test_a_sink_that_fails_to_finish_does_not_keep_others_from_it():
    first, second = Noted(fails=True), Noted()
    with pytest.raises(RuntimeError):
        Logger([first, second]).finish("finished")
    assert second.calls == [("finish", "finished")]


def test_an_error_is_not_hidden_by_a_sink_that_cannot_finish():
    class Broken(Sink):
        def finish(self, status):
            raise OSError("no room")

    with pytest.raises(ValueError, match="the first"), Logger([Broken()]):
        raise ValueError("the first")
    with pytest.raises(OSError, match="no room"), Logger([Broken()]):
        pass
