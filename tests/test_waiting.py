import subprocess
import sys

import pytest

from tests import waiting


def start(code):
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_what_a_process_makes_is_waited_for(tmp_path):
    process = start(f"open({str(tmp_path / 'made')!r}, 'w').write('it is here'); print('one\\ntwo\\nthree')")
    waiting.until_file(tmp_path / "made", "is here", while_runs=process)
    assert waiting.until_line(process, "two") == "one\ntwo\n"
    assert waiting.finish(process) == (0, "three\n")
    waiting.until_gone([process.pid])


def test_a_process_that_ends_without_it_is_told_with_what_it_printed(tmp_path):
    with pytest.raises(AssertionError, match=r"ended with 3 before made holds ''(.|\n)*no room"):
        waiting.until_file(tmp_path / "made", while_runs=start("print('no room'); raise SystemExit(3)"))
    with pytest.raises(AssertionError, match=r"'ready' did not come(.|\n)*no room"):
        waiting.until_line(start("print('no room')"), "ready")


def test_a_hang_is_ended(monkeypatch):
    monkeypatch.setattr(waiting, "HANG", 0.1)
    forever = "import threading; threading.Event().wait()"
    with pytest.raises(AssertionError, match="did not come"):
        waiting.until_line(start(forever), "ready")
    assert waiting.finish(start(forever))[0] == -9
    with pytest.raises(AssertionError, match="the moon falls: did not happen"):
        waiting.until(lambda: False, "the moon falls")
