"""English text that every Python holds."""

import ast
import hashlib
import inspect
import platform
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptcli.corpus.document import Document
from ptcli.errors import ConfigError

_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3"}
_SHORTEST = 200  # characters of a docstring
_RULE = 1  # changes with the rules of this file


class Builtin:
    """The topics of Python's help and the longer docstrings of its standard library: about 1.7 MB of English.

    Needs no download; the text differs a little between versions of Python. Sources are parsed, never imported.
    """

    language = "en"
    has_gold_words = False

    def __init__(self) -> None:
        self._unreadable = 0
        self._read: list[Document] = []

    def check(self) -> None:
        """Raise ConfigError where this Python was installed without its sources."""
        if not any(_library().glob("*.py")):
            raise ConfigError(
                f"corpus=builtin reads the standard library's sources, but {_library()} holds none. "
                "Choose corpus=text corpus.path=FILE."
            )

    def documents(self) -> Iterator[Document]:
        """A topic or a docstring each; a docstring that several objects share comes once."""
        if not self._read:  # parsing takes seconds and is asked for twice; the text is small
            self._read = list(self._parse())
        yield from self._read

    def _parse(self) -> Iterator[Document]:
        from pydoc_data.topics import topics

        for name in sorted(topics):
            yield Document(inspect.cleandoc(topics[name]), source=f"pydoc topic {name}")
        self._unreadable = 0
        seen: set[bytes] = set()
        for file in _sources():
            for line, text in self._docstrings(file):
                digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()
                if digest not in seen:
                    seen.add(digest)
                    yield Document(text, source=f"{file}:{line}")

    def identity(self) -> dict[str, Any]:
        """The build of Python, which is what the text comes from."""
        build = (platform.python_implementation(), platform.python_version(), *platform.python_build())
        return {"corpus": "builtin", "rule": _RULE, "python": " ".join(build)}

    def remarks(self) -> list[str]:
        """Sources that could not be parsed."""
        return [f"{self._unreadable} sources of the standard library do not parse"] if self._unreadable else []

    def _docstrings(self, file: Path) -> Iterator[tuple[int, str]]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes in the library's own strings
                tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, OSError):
            self._unreadable += 1
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text and len(text) >= _SHORTEST:
                    yield getattr(node, "lineno", 1), text.encode(errors="replace").decode()


def _library() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def _sources() -> list[Path]:
    root = _library()
    found = [path.relative_to(root) for path in root.rglob("*.py")]
    kept = [path for path in found if not _LEFT_OUT & set(path.parts)]
    return [root / path for path in sorted(kept, key=lambda path: path.as_posix())]
