"""The rules of the house, kept by reading imports and folders. Each rule is a function over a tree; `ptcli` is one.

Every rule is also shown to fail on a small tree that breaks it.
"""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import yaml

import ptcli
from ptcli.config import choices
from ptcli.config.bind import signature
from ptcli.config.facts import target_of
from ptcli.config.targets import locate

PACKAGE = Path(ptcli.__file__).resolve().parent
TESTS = Path(__file__).resolve().parent
CONF = PACKAGE.parent / "conf"

WORDS_SIDE = ("corpus", "words", "tokenizer", "store", "pair", "packing", "mask", "noise")
MOST_LINES = 400
MOST_PARAMETERS = 8
FEW_PARAMETERS = ("command", "assembly", "run", "pretraining", "finetuning", "export", "launch", "trainer")


def table_of(page: str) -> dict[str, set[str] | None]:
    """The rooms that each room may import, by ARCHITECTURE.md's table; None: any."""
    found: dict[str, set[str] | None] = {}
    for names, _, allowed in re.findall(r"^\| (`[^|]*/`) \|([^|]*)\|([^|]*)\|$", page, re.MULTILINE):
        for room in re.findall(r"`(\w+)/`", names):
            found[room] = set(re.findall(r"\w+", allowed))
    below = set(found) - {"command"}
    for room, allowed in found.items():
        assert allowed is not None
        if "everything" in allowed:
            found[room] = below if "below" in allowed else None
    return found


def contracts_of(page: str) -> set[str]:
    """The modules that ARCHITECTURE.md calls contracts: data without behaviour, which any room may name."""
    listed = re.search(r"the contracts, data without behaviour:(.*?)\. No circle", page, re.DOTALL)
    assert listed is not None
    return {f"ptcli.{name}" for name in re.findall(r"`([\w.]+)`", listed[1])}


PAGE = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
MAY_IMPORT = table_of(PAGE)
CONTRACTS = contracts_of(PAGE)
# who may see a DictConfig
ASSEMBLERS = ("command", "config", "command_line", "assembly", "run", "pretraining", "finetuning", "export", "launch")


def modules(package: Path) -> Iterator[tuple[str, Path, ast.Module]]:
    """Room ("" for the package's own files), path and syntax tree of every module."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        yield parts[0] if len(parts) > 1 else "", path, ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.Module) -> Iterator[str]:
    """Dotted names of everything imported, anywhere in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_import_only_what_they_may(package: Path) -> list[str]:
    found = []
    for room, path, tree in modules(package):
        allowed = MAY_IMPORT.get(room)
        if allowed is None:
            continue
        for name in imports(tree):
            parts = name.split(".")
            if parts[0] != "ptcli" or len(parts) < 2 or not (package / parts[1]).is_dir():
                continue
            other = parts[1]
            is_contract = name in CONTRACTS or ".".join(parts[:3]) in CONTRACTS
            if len(parts) >= 3 and other != room and other not in allowed and not is_contract:
                found.append(f"{path.relative_to(package)} imports {name}")
    return found


def every_room_is_in_the_table(package: Path) -> list[str]:
    rooms = {path.name for path in package.iterdir() if path.is_dir() and list(path.glob("*.py"))}
    return sorted(rooms - set(MAY_IMPORT) - {"conf"})


def words_side_never_names_torch(package: Path) -> list[str]:
    return [
        f"{path.relative_to(package)} imports {name}"
        for room, path, tree in modules(package)
        if room in WORDS_SIDE
        for name in imports(tree)
        if name.split(".")[0] in ("torch", "transformers")
    ]


def nobody_imports_cli(package: Path) -> list[str]:
    return [
        f"{path.relative_to(package)}"
        for _, path, tree in modules(package)
        if path.name != "__main__.py"
        and any(name == "ptcli.cli" or name.startswith("ptcli.cli.") for name in imports(tree))
    ]


def only_assemblers_see_a_configuration(package: Path) -> list[str]:
    return [
        f"{path.relative_to(package)} imports {name}"
        for room, path, tree in modules(package)
        if room not in ASSEMBLERS
        for name in imports(tree)
        if name.split(".")[0] in ("omegaconf", "hydra")
    ]


def no_circle_of_files(package: Path) -> list[str]:
    """Files that import each other, anywhere in their text but for types alone."""
    names = {
        path: ".".join(("ptcli", *path.relative_to(package).with_suffix("").parts)) for path in package.rglob("*.py")
    }
    names = {path: name.removesuffix(".__init__") for path, name in names.items()}
    known = set(names.values()) - {"ptcli"}  # all of it is reached from the package's own file, when asked for
    graph = {
        name: {
            found for found in imports(_without_types(ast.parse(path.read_text("utf-8")))) if found in known - {name}
        }
        for path, name in names.items()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return [" -> ".join(error.args[1])]
    return []


def _without_types(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return tree


def functions_take_few_parameters(package: Path) -> list[str]:
    """What belongs together travels as one record. A part's constructor takes the keys of its YAML."""
    found = []
    for room, path, tree in modules(package):
        for node in ast.walk(tree) if room in FEW_PARAMETERS else ():
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                number = len([one for one in taken if one.arg not in ("self", "cls")])
                if number > MOST_PARAMETERS:
                    found.append(f"{path.relative_to(package)}: {node.name} takes {number} parameters")
    return found


def files_stay_short(package: Path) -> list[str]:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for _, path, _ in modules(package)}
    return [f"{path.relative_to(package)}: {lines} lines" for path, lines in lengths.items() if lines > MOST_LINES]


def no_drawers_for_odds_and_ends(package: Path) -> list[str]:
    odd = re.compile(r"^(utils?|common|helpers?|misc|registry|callbacks?)\.py$")
    return [str(path.relative_to(package)) for _, path, _ in modules(package) if odd.match(path.name)]


def parts_come_in_threes(package: Path, conf: Path, tests: Path) -> list[str]:
    """YAML, code and test of a part carry one name; a YAML without code is a preset."""
    found = []
    for group in choices.groups(conf):
        if not (package / group).is_dir():
            continue
        for choice in choices.choices(group, conf):
            has_code = (package / group / f"{choice.name}.py").is_file()
            if has_code and not (tests / group / f"test_{choice.name}.py").is_file():
                found.append(f"{group}={choice.name} has no tests/{group}/test_{choice.name}.py")
            own = str(choice.values.get("_target_", ""))
            nested = choice.values.get(choice.name)
            own = own or (str(nested.get("_target_", "")) if isinstance(nested, dict) else "")
            expected = f"ptcli.{group.replace('/', '.')}.{choice.name}."
            if has_code and not own.startswith(expected):
                found.append(f"{group}={choice.name} does not name its own code ({expected}...)")
    return found


def yaml_keys_are_constructor_parameters(conf: Path) -> list[str]:
    found = []
    for path in sorted(conf.rglob("*.yaml")):
        for node in _target_nodes(yaml.safe_load(path.read_text(encoding="utf-8")) or {}):
            parameters, takes_any = signature(locate(node["_target_"]))
            for key in node:
                if not key.startswith("_") and key != "defaults" and key not in parameters and not takes_any:
                    found.append(f"{path.relative_to(conf)}: {node['_target_']} takes no {key}")
    return found


def constructors_take_keywords(conf: Path) -> list[str]:
    """Keyword-only after the first argument, so that a YAML key is the only way in."""
    found = []
    for group in choices.groups(conf):
        for choice in choices.choices(group, conf):
            target = target_of(choice)
            if target is None or not getattr(target, "__module__", "").startswith("ptcli."):
                continue
            positional = [
                p.name for p in inspect.signature(target).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD
            ]
            if len(positional) > 1:
                found.append(f"{group}={choice.name}: {', '.join(positional)}")
    return found


def _target_nodes(node: object) -> Iterator[dict]:
    if isinstance(node, dict):
        if "_target_" in node:
            yield node
        for value in node.values():
            yield from _target_nodes(value)


RULES = (
    rooms_import_only_what_they_may,
    every_room_is_in_the_table,
    words_side_never_names_torch,
    nobody_imports_cli,
    no_circle_of_files,
    functions_take_few_parameters,
    only_assemblers_see_a_configuration,
    files_stay_short,
    no_drawers_for_odds_and_ends,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps(rule):
    assert rule(PACKAGE) == []


def test_parts_come_in_threes():
    assert parts_come_in_threes(PACKAGE, CONF, TESTS) == []


def test_yaml_keys_are_constructor_parameters():
    assert yaml_keys_are_constructor_parameters(CONF) == []


def test_constructors_take_keywords():
    assert constructors_take_keywords(CONF) == []


@pytest.mark.parametrize("words", [["--help"], ["pretrain", "--help"], ["options", "mask"], ["--version"]])
def test_help_imports_nothing_heavy(words):
    heavy = ("torch", "datasets", "hydra", "numba", "transformers", "wandb", "numpy")
    code = (
        f"import sys; from ptcli.cli import main; main({words!r}); "
        f"sys.exit(' '.join(sorted(set({heavy!r}) & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent, check=False)
    assert done.stderr.strip() == ""


BROKEN = {
    rooms_import_only_what_they_may: {
        "mask/bad.py": "from ptcli.trainer.trainer import Trainer\n",
        "trainer/loop.py": "",
    },
    every_room_is_in_the_table: {"cellar/wine.py": ""},
    words_side_never_names_torch: {"packing/bad.py": "def f():\n    import torch.nn\n"},
    nobody_imports_cli: {"command/bad.py": "from ptcli.cli import main\n"},
    only_assemblers_see_a_configuration: {"mask/bad.py": "from omegaconf import DictConfig\n"},
    no_circle_of_files: {
        "mask/one.py": "from ptcli.mask.other import x\n",
        "mask/other.py": "def f():\n    from ptcli.mask import one\n",
    },
    functions_take_few_parameters: {"trainer/bad.py": "def f(a, b, c, d, *, e, f, g, h, i): ...\n"},
    files_stay_short: {"mask/bad.py": "x = 1\n" * (MOST_LINES + 1)},
    no_drawers_for_odds_and_ends: {"mask/utils.py": ""},
}


def make(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    return tree


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_tree_that_breaks_the_rule_is_found(rule, tmp_path):
    assert rule(make(tmp_path, BROKEN[rule])) != []


def test_contracts_and_the_top_of_the_package_may_be_imported(tmp_path):
    text = "from ptcli.batch.contract import IGNORE_INDEX\nfrom ptcli.errors import DataError\nimport ptcli.mask.span\n"
    tree = make(tmp_path, {"mask/good.py": text, "batch/contract.py": "", "errors.py": ""})
    assert rooms_import_only_what_they_may(tree) == []


def test_a_part_without_a_test_or_with_foreign_code_is_found(tmp_path):
    package = make(tmp_path / "ptcli", {"mask/mine.py": "", "mask/other.py": ""})
    conf = make(
        tmp_path / "conf",
        {
            "mask/mine.yaml": "_target_: ptcli.mask.mine.Mine\n",
            "mask/other.yaml": "_target_: ptcli.mask.mine.Mine\n",
            "mask/preset.yaml": "defaults: [mine, _self_]\n",
        },
    )
    tests = make(tmp_path / "tests", {"mask/test_other.py": ""})
    found = parts_come_in_threes(package, conf, tests)
    assert len(found) == 2
    assert "test_mine.py" in found[0]
    assert "mask=other does not name its own code" in found[1]


def test_a_key_that_no_constructor_takes_is_found(tmp_path):
    conf = make(tmp_path, {"mask/bad.yaml": "_target_: ptcli.mask.token.TokenMask\nratio: 0.1\nrato: 0.1\n"})
    assert yaml_keys_are_constructor_parameters(conf) == ["mask/bad.yaml: ptcli.mask.token.TokenMask takes no rato"]
