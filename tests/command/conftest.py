"""What tests of fine-tuning share, made once for each module: a cache, a pretrained run, rows, a fine-tuned run."""

import pytest

from tests.command.reviews import finetune, pretrained, reviews


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("PTCLI_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    yield
    patch.undo()


@pytest.fixture(scope="module")
def base(cache, tmp_path_factory):
    return pretrained(tmp_path_factory.mktemp("pretrained"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return reviews(tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def tuned(base, rows, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    assert finetune(base, rows, runs) == 0
    return runs / "tuned"
