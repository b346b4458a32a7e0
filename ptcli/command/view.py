"""`ptcli view`: rows exactly as training will be fed them, and what the mask does to many of them, measured."""

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig

from ptcli.assembly.parts import part, plugins_of
from ptcli.command.pretrain import NO_PART, NO_TASK, PretrainRoot
from ptcli.config.choices import flatten, shown
from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.identity import resolve
from ptcli.config.phases import phases_of
from ptcli.config.scale import apply_scale
from ptcli.errors import ConfigError
from ptcli.tokenizer.token_texts import TokenTexts

if TYPE_CHECKING:
    from ptcli.assembly.data import Data
    from ptcli.batch.contract import Column
    from ptcli.batch.loader import Loader
    from ptcli.report.rows import ShownRow
    from ptcli.report.statistics import Statistics

log = logging.getLogger(__name__)


@dataclass
class ViewRoot(PretrainRoot):
    """Types of conf/view.yaml: what pretrain takes, and what is shown of it."""

    show: int = MISSING
    examples: int = MISSING
    compare: list[str] = field(default_factory=list)
    format: str = MISSING
    output: str | None = None


COMMAND = Command(
    __name__,
    "show rows as training will be fed them, and measure what the mask does",
    root=ViewRoot,
    formats=("terminal", "html", "json"),
    refuses=NO_TASK | NO_PART,
    examples=(
        "ptcli view mask=span                                    rows and figures in the terminal",
        "ptcli view mask=span show=0 examples=10000              figures alone",
        "ptcli view compare=[token,whole_word,span]              the same rows under several masks",
        "ptcli view mask=span format=html output=view.html       a page for the browser",
    ),
)


@dataclass
class View:
    """What is shown: rows, the counts of each mask by its name."""

    rows: "list[ShownRow]" = field(default_factory=list)
    statistics: "dict[str, Statistics]" = field(default_factory=dict)
    columns: "tuple[Column, ...]" = ()  # that parts add to the batch


def run(config: DictConfig, context: Context) -> None:
    """Show rows and statistics in the terminal, or write a page or JSON."""
    from ptcli.assembly.data import make_data
    from ptcli.assembly.text import prepare_text, read_corpus

    configs = _compared(config, context) if config.compare else {str(context.choices["mask"]): config}
    _check_output(config)
    read_corpus(config)
    if phases_of(config):
        log.info("the run has phases: rows are shown as outside of them; type a phase's settings to see its own")
    for one in configs.values():
        part(one, "mask")
    part(config, "packing")
    store = prepare_text(config)
    tokenizer = store.tokenizer()
    texts = TokenTexts(tokenizer)
    data = {name: make_data(one, store, tokenizer.vocabulary) for name, one in configs.items()}
    view = look(config, data, texts=texts)
    one = next(iter(view.statistics.values()))
    if one.examples < config.examples:
        log.info(f"an epoch has {one.examples:,} examples, fewer than examples={config.examples:,}: all are measured")
    mask_id = tokenizer.vocabulary.mask_token_id
    mask_token = "the mask token" if mask_id is None else texts.text(mask_id)
    _write(config, context, view, mask_token=mask_token)


def look(config: DictConfig, data: "dict[str, Data]", *, texts: TokenTexts) -> View:
    """The first `config.show` rows of training under each mask, and counts over its first `config.examples` examples.

    `data`: by the name of its mask, otherwise the same.
    """
    from ptcli.report.rows import shown_rows
    from ptcli.report.statistics import Statistics

    loaders = {name: _loader(config, one) for name, one in data.items()}
    columns = next(iter(loaders.values())).columns[1:]  # beside the mask's own labels
    statistics = {
        name: Statistics(getattr(one.mask, "shown", None), getattr(one.mask, "mean_words", None))
        for name, one in data.items()
    }
    view = View(columns=columns, statistics=statistics)
    counted = next(iter(view.statistics.values()))
    for number, fed in enumerate(zip(*(loader.first_epoch() for loader in loaders.values()), strict=True)):
        gathered = fed[0][0]
        added = {column: gathered.values_of(column) for column in columns}
        for (name, one), (_, masked) in zip(data.items(), fed, strict=True):
            view.statistics[name].add(
                gathered.examples,
                masked,
                added=added,
                num_rows=gathered.num_rows,
                ratio_asked=one.mask.ratio_at(number),
            )
        if len(view.rows) < config.show:
            view.rows += shown_rows(
                gathered.examples,
                {name: masked for name, (_, masked) in zip(data, fed, strict=True)},
                added=added,
                row_of_example=gathered.row_of_example,
                text=texts.text,
                first_number=len(view.rows) + 1,
            )
        if counted.examples >= config.examples and len(view.rows) >= config.show:
            break
    del view.rows[config.show :]
    return view


def _loader(config: DictConfig, data: "Data") -> "Loader":
    from ptcli.assembly.data import training_loader
    from ptcli.assembly.model import model_shape

    micro_size = config.batch.size  # which rows a step has does not depend on it, but where they are grouped
    if config.batch.group_by_length:
        micro_size = part(config, "trainer").micro_size(config.batch.size, config.batch.micro_size)
    return training_loader(config, data, model=model_shape(config), micro_size=micro_size, static_length=False)


def _compared(config: DictConfig, context: Context) -> dict[str, DictConfig]:
    """The configuration under each mask of `compare`, and first under one that was typed as mask=... beside it.

    What was typed for a mask's key goes to the masks that have it. Raises ConfigError for a mask that does not exist
    or does not fit.
    """
    from ptcli.command_line.quoting import Words
    from ptcli.config.compose import composer, settle
    from ptcli.config.fit import check

    typed = settle(Words(context.overrides, root="view").overrides)
    names = [word.removeprefix("mask=") for word in typed if word.startswith("mask=")]
    typed = [word for word in typed if not word.startswith("mask=")]
    names += [name for name in config.compare if name not in names]
    of_mask = {word: word.split("=")[0].lstrip("+").split(".")[1] for word in typed if word.startswith("mask.")}
    others = [word for word in typed if word not in of_mask]
    found: dict[str, DictConfig] = {}
    with composer("view") as compose:
        for name in names:
            keys = compose([*others, f"mask={name}"]).config.mask
            taken = [word for word, key in of_mask.items() if key in keys]
            composed = compose([*others, f"mask={name}", *taken])
            apply_scale(composed.config, composed.choices, context.overrides)
            check(composed.config, composed.choices, command="view", plugins=plugins_of(config))
            found[name] = composed.config
    for word, key in of_mask.items():
        having = [name for name, one in found.items() if key in one.mask]
        if len(having) < len(found):
            log.info(f"{word} is a key of {', '.join(having)} alone")
    return found


def _check_output(config: DictConfig) -> None:
    """Refuse what cannot be written before anything is read."""
    if config.output is None:
        if config.format == "html":
            raise ConfigError("format=html needs a file: output=view.html")
        return
    path = Path(config.output).expanduser()
    if path.is_dir():
        raise ConfigError(f"output={config.output} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise ConfigError(f"output={config.output}: there is no folder {path.parent}")
    wanted = {".html": "html", ".htm": "html", ".json": "json"}.get(path.suffix.lower(), config.format)
    if wanted != config.format:
        raise ConfigError(f"output={config.output} with format={config.format}: type format={wanted}")


def _write(config: DictConfig, context: Context, view: View, *, mask_token: str) -> None:
    from ptcli.report.page import page
    from ptcli.report.terminal import console_for

    if config.format == "terminal" and config.output is None:
        return _print(console_for(), config, view, mask_token)
    if config.format == "json" and config.output is None:
        print("".join(_json(config, context, view)))
        return None
    with Path(config.output).expanduser().open("w", encoding="utf-8") as file:
        if config.format == "terminal":
            _print(console_for(file), config, view, mask_token)
        elif config.format == "json":
            file.writelines(_json(config, context, view))
        else:
            file.writelines(
                page(
                    view.rows,
                    view.statistics,
                    title=context.command_line,
                    notes=_notes(config),
                    columns=view.columns,
                    mask_token=mask_token,
                    max_length=config.max_length,
                )
            )
    log.info(f"written: {config.output}")
    return None


def _print(console: Any, config: DictConfig, view: View, mask_token: str) -> None:
    from ptcli.report.rows import is_permuted
    from ptcli.report.terminal import draw_row, draw_statistics, legend

    if view.rows:
        console.print(legend(mask_token, permuted=is_permuted(view.rows)), soft_wrap=False)
    for row in view.rows:
        console.print()
        for line in draw_row(row, width=console.width, max_length=config.max_length):
            console.print(line)
    console.print(draw_statistics(view.statistics, columns=view.columns, width=console.width))


def _json(config: DictConfig, context: Context, view: View) -> Iterator[str]:
    told = {
        "command": context.command_line,
        "seed": config.seed,
        "epoch": 0,
        "max_length": config.max_length,
        "rows": [asdict(row) for row in view.rows],
        "statistics": {name: one.as_dict(view.columns) for name, one in view.statistics.items()},
    }
    yield json.dumps(told, ensure_ascii=False, indent=1)
    yield "\n" if config.output is not None else ""


def _notes(config: DictConfig) -> list[str]:
    first = f"the rows that training is fed first (epoch 0), under seed {config.seed}"
    if config.compare:
        return [first]
    return [first, ", ".join(f"mask.{key}={shown(value)}" for key, value in flatten(resolve(config)["mask"]))]
