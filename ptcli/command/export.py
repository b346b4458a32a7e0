"""`ptcli export`: a model for transformers or ONNX, compared with itself before it is said to be done."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING, DictConfig

from ptcli.config.bind import plain_values
from ptcli.config.command import Command
from ptcli.config.context import Context
from ptcli.config.identity import dump
from ptcli.config.phases import longest_row
from ptcli.config.root import Root
from ptcli.errors import ConfigError
from ptcli.files import whole_folder

if TYPE_CHECKING:
    from ptcli.run.load import Model


@dataclass
class ExportRoot(Root):
    """Types of conf/export.yaml."""

    checkpoint: str | None = None
    format: str = MISSING
    output: str | None = None
    head: bool = MISSING


COMMAND = Command(
    __name__,
    "write a model for transformers or for ONNX, and check that it gives the same numbers",
    root=ExportRoot,
    formats=("huggingface", "onnx"),
    needs={"checkpoint": "checkpoint=RUN", "output": "checkpoint=RUN output=FOLDER"},
    examples=(
        "ptcli export checkpoint=runs/NAME output=my-bert               a folder that transformers loads",
        "ptcli export checkpoint=runs/NAME format=onnx output=my-onnx   model.onnx for onnxruntime",
    ),
)

OWN_TYPE = "ptcli_encoder"
"""The model_type of what no family of transformers can hold."""

_FILLS = 'from transformers import pipeline\n\npipeline("fill-mask", model=FOLDER)("...")'
_ENCODES = "from transformers import AutoModel, AutoTokenizer\n\nmodel = AutoModel.from_pretrained(FOLDER)"
_LOADS = "import ptcli\n\nmodel, tokenizer = ptcli.load(FOLDER)"


def run(config: DictConfig, context: Context) -> None:
    """Write the folder, whole or not at all, and say what it holds."""
    from ptcli.run.find import is_fine_tuned
    from ptcli.run.load import load_any

    output = Path(config.output).expanduser()
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ConfigError(f"output={config.output} exists and is not empty. Name another folder, or remove it.")
    if config.format == "onnx":
        from ptcli.interop.onnx import check_installed

        check_installed()
    if is_fine_tuned(config.checkpoint):
        from ptcli.export.fine_tuned import export_task

        export_task(config, output)
        return
    saved = load_any(config.checkpoint, plugins=tuple(config.plugins))
    export = _onnx if config.format == "onnx" else _hugging_face
    output.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(output) as folder:
        lines = [*saved.remarks, *export(saved, folder, output, head=config.head and not saved.missing)]
    for line in lines:
        print(line)
    print(f"done: {output}")


def _hugging_face(saved: "Model", folder: Path, output: Path, *, head: bool) -> list[str]:
    from ptcli.export.card import write_card
    from ptcli.export.target import find_target
    from ptcli.interop.check import check_error, has_transformers, largest_error
    from ptcli.interop.huggingface import write
    from ptcli.interop.module import PlainModel

    settings = plain_values(saved.config)
    target, against = find_target(settings, pad_token_id=saved.tokenizer.vocabulary.pad_token_id)
    if target is None:
        return _own_format(saved, folder, output, settings, against)
    family, head = target.family, head and target.head
    written = write(
        folder,
        saved.step,
        family=family,
        numbers=target.numbers,
        tokenizer=saved.tokenizer,
        max_length=longest_row(saved.config),
        with_head=head,
        tied=target.tied,
    )
    remarks = [*target.remarks, *([f"left out: {', '.join(written.left_out)}"] if written.left_out else [])]
    lines = [f"{written.architecture} of transformers", *remarks]
    loads = _FILLS if head else _ENCODES
    write_card(saved, folder, name=output.name, architecture=written.architecture, loads=loads, notes=remarks)
    if not has_transformers():
        return [*lines, "not compared with the model itself, because transformers is not installed"]
    plain = PlainModel(saved.step.model, saved.step.objective)
    pad = saved.tokenizer.vocabulary.pad_token_id
    error = largest_error(folder, plain, head=head, max_length=longest_row(saved.config), pad_token_id=pad)
    check_error(error, "transformers")
    what = "hidden states and logits" if head else "hidden states"
    return [*lines, f"loaded with transformers: {what} differ by {error:.1e} of the largest value at most"]


def _own_format(saved: "Model", folder: Path, output: Path, settings: dict[str, Any], against: list[str]) -> list[str]:
    from ptcli import __version__
    from ptcli.export.card import write_card
    from ptcli.interop.huggingface import write_tokenizer
    from ptcli.trainer.weights import WEIGHTS, save_weights

    tokenizer, length = saved.tokenizer, longest_row(saved.config)
    write_tokenizer(folder, tokenizer, max_length=length, segments=settings["model"]["type_vocab_size"])
    tokenizer.save(folder / "tokenizer")
    save_weights(saved.step, folder / WEIGHTS)
    dump(saved.config, folder / "config.yaml")
    for path in sorted(saved.folder.glob("*.npy")):
        shutil.copy(path, folder / path.name)
    content = {"model_type": OWN_TYPE, "architectures": ["PtcliEncoder"], "ptcli_version": __version__}
    content |= {"vocab_size": tokenizer.vocabulary.size, "model": settings["model"], "objective": settings["objective"]}
    (folder / "config.json").write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    told = f"transformers has no class for this model (nearest is {'; '.join(against)}), so model_type is {OWN_TYPE}"
    notes = [f"{told}. It loads with ptcli; AutoTokenizer loads the tokenizer."]
    name = "an encoder of ptcli"
    write_card(saved, folder, name=output.name, architecture=name, loads=_LOADS, notes=notes, library="ptcli")
    return [told, "it loads with ptcli.load(FOLDER), and as checkpoint=FOLDER; AutoTokenizer loads the tokenizer"]


def _onnx(saved: "Model", folder: Path, output: Path, *, head: bool) -> list[str]:
    from ptcli.interop.check import check_error
    from ptcli.interop.huggingface import write_tokenizer
    from ptcli.interop.module import PlainModel
    from ptcli.interop.onnx import FILE, INPUTS, compare, write

    length, settings = longest_row(saved.config), plain_values(saved.config)
    plain = PlainModel(saved.step.model, saved.step.objective).eval()
    file = write(folder, plain, head=head, max_length=length)
    write_tokenizer(folder, saved.tokenizer, max_length=length, segments=settings["model"]["type_vocab_size"])
    compared = compare(file, plain, head=head, max_length=length)
    check_error(compared.error, "onnxruntime")
    return [
        f"{FILE}: {', '.join(INPUTS)} to {'logits' if head else 'last_hidden_state'}; rows of up to {length} tokens",
        f"onnxruntime differs by {compared.error:.1e} of the largest value at most",
        f"tokens/s here, rows of {length} tokens: onnxruntime {compared.onnxruntime_speed:,.0f}, "
        f"torch {compared.torch_speed:,.0f}",
    ]
