"""What a command line brings from outside: folders of YAML and packages of code.

It holds for the whole process, as the command line does. A file never brings anything (SECURITY.md).
"""

import importlib.util
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from ptcli.config.locate import conf_folder
from ptcli.errors import ConfigError

_FLAGS = ("--config-dir", "-cd")


@dataclass(frozen=True, slots=True)
class Outside:
    """Folders laid out like conf/, in the order in which Hydra looks into them, and importable packages."""

    folders: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """What brings it, as it is typed."""
        urls = ",".join(f"file://{folder}" for folder in self.folders)
        one = [f"--config-dir={folder}" for folder in self.folders]
        packages = [f"plugins=[{','.join(self.packages)}]"] if self.packages else []
        return packages + (one if len(one) < 2 else [f"hydra.searchpath=[{urls}]"])


_brought = [Outside()]


def brought() -> Outside:
    """What the command line of this process brings."""
    return _brought[-1]


@contextmanager
def bring(outside: Outside) -> Iterator[None]:
    """Until the end of the block, choices are looked for in these folders too, and commands in these packages."""
    _brought.append(outside)
    try:
        yield
    finally:
        _brought.pop()


def conf_folders() -> tuple[Path, ...]:
    """Where choices are looked for: conf/, then the user's own. The first that has a file is the one that is read."""
    return (conf_folder(), *map(Path, brought().folders))


def sort_out(words: Sequence[str]) -> tuple[Outside, list[str]]:
    """What the words bring, and the other words. Raises ConfigError for two --config-dir, or one that is not there."""
    named: list[str] = []  # --config-dir
    searched: list[str] = []
    packages: list[str] = []
    others: list[str] = []
    pending = iter(words)
    for word in pending:
        name, equals, value = word.lstrip("+").partition("=")
        if name in _FLAGS:
            named += [value] if equals else [folder for folder in [next(pending, None)] if folder is not None]
        elif name == "hydra.searchpath" and equals:
            searched += [_folder_of(url) for url in _texts(value)]
        elif name == "plugins" and equals:
            if re.fullmatch(r"[\w.,]+", value):
                raise ConfigError(f"{word}: several may be named, in brackets. Write plugins=[{value}]")
            packages += _texts(value)
        else:
            others.append(word)
    if len(named) > 1:
        urls = ",".join(f"file://{folder}" for folder in named[1:])
        raise ConfigError(
            f"--config-dir is given {len(named)} times, and takes one folder. "
            f"Type --config-dir={named[0]} 'hydra.searchpath=[{urls}]'"
        )
    for folder in named:
        if not Path(folder).is_dir():
            raise ConfigError(f"--config-dir={folder}: there is no such folder. Type the one that holds your choices")
    for folder in searched:
        if not Path(folder).is_dir():
            raise ConfigError(f"hydra.searchpath: there is no folder {folder}. Type hydra.searchpath=[file://FOLDER]")
    return Outside((*named, *searched), tuple(packages)), others


def _texts(value: str) -> list[str]:
    """The texts of a list as it is typed; none where it is another thing, of which the composition tells."""
    try:
        listed = yaml.safe_load(value)
    except yaml.YAMLError:
        return []
    return listed if isinstance(listed, list) and all(isinstance(text, str) for text in listed) else []


def _folder_of(url: str) -> str:
    """The folder of file://FOLDER or pkg://PACKAGE, as Hydra reads them."""
    scheme, _, rest = url.rpartition("://")
    if scheme != "pkg":
        return rest
    return next(iter(package_folders(rest.replace("/", "."))), rest)


def package_folders(name: str) -> Iterable[str]:
    """Where the files of a package lie; nowhere where there is no such package. Its parents alone are imported."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return ()
    return (spec.submodule_search_locations or ()) if spec else ()
