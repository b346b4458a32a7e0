import sys

from ptcli.corpus.builtin import Builtin


def test_it_reads_topics_and_docstrings_without_importing():
    before = set(sys.modules)
    corpus = Builtin()
    corpus.check()
    documents = list(corpus.documents())
    assert not {"tkinter", "asyncio.windows_events", "xmlrpc.server"} & (set(sys.modules) - before)
    assert len(documents) > 1500
    assert sum(len(document.text) for document in documents) > 1_000_000
    assert min(len(document.text.strip()) for document in documents) > 0
    docstrings = [d for d in documents if not d.source.startswith("pydoc")]
    assert min(len(d.text) for d in docstrings) >= 200
    assert len({d.text for d in docstrings}) == len(docstrings)
    assert list(corpus.documents()) == documents
    files = [d.source.rpartition(":")[0] for d in docstrings]
    assert files == sorted(files)
    assert sys.version.split()[0] in corpus.identity()["python"]
