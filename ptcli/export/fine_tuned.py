"""`ptcli export` of a fine-tuned model: a class of transformers with its head and the names of its labels."""

import json
from pathlib import Path

from omegaconf import DictConfig

from ptcli.config.bind import plain_values
from ptcli.config.compose import compose
from ptcli.errors import ConfigError
from ptcli.export.target import find_target
from ptcli.files import whole_folder
from ptcli.finetuning.model import FineTuned, load_fine_tuned
from ptcli.interop.check import check_error
from ptcli.run.find import LABELS


def export_task(config: DictConfig, output: Path) -> None:
    """Write the folder, whole or not at all. ConfigError for what no class of transformers holds."""
    if not config.head:
        raise ConfigError("head=false: a fine-tuned model is written with its head. Leave head=false out.")
    saved = load_fine_tuned(config.checkpoint, plugins=tuple(config.plugins))
    if config.format == "onnx":
        _onnx(saved, output)
        return
    settings = plain_values(saved.config)
    vocabulary = saved.tokenizer.vocabulary
    objective = plain_values(compose("pretrain").config)["objective"]  # of no matter: the head is the task's
    target, against = find_target(
        {"model": settings["model"], "objective": objective}, pad_token_id=vocabulary.pad_token_id
    )
    from ptcli.interop.check import has_transformers
    from ptcli.interop.task_head import task_head
    from ptcli.interop.task_model import largest_error, write_task

    if target is None:
        raise ConfigError(f"transformers has no class for this model (nearest is {'; '.join(against)}).")
    head = task_head(target.family, saved.step.state_dict(), target=saved.task.target)
    if isinstance(head, str) or saved.task.apart:
        told = head if isinstance(head, str) else "transformers has no class that encodes two texts apart (task.apart)"
        raise ConfigError(f"checkpoint={config.checkpoint}: {told}. Its answers are had with ptcli predict.")
    names = saved.task.names_of(saved.labels)
    length = saved.config.max_length
    output.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(output) as folder:
        write_task(
            folder,
            saved.step,
            family=target.family,
            numbers=target.numbers,
            head=head,
            labels=names,
            tokenizer=saved.tokenizer,
            max_length=length,
        )
        best = json.loads((saved.folder / LABELS).read_text(encoding="utf-8"))["best"]
        (folder / "README.md").write_text(_card(output.name, head.architecture, names, best), encoding="utf-8")
        if not has_transformers():
            told = "not compared with the model itself, because transformers is not installed"
        else:
            types = saved.step.model.embeddings.types
            error = largest_error(
                folder,
                saved.step,
                target=saved.task.target,
                architecture=head.architecture,
                max_length=length,
                num_types=1 if types is None else types.num_embeddings,
                pad_token_id=vocabulary.pad_token_id,
            )
            check_error(error, "transformers")
            told = f"loaded with transformers: logits differ by {error:.1e} of the largest value at most"
    for line in (*saved.remarks, *target.remarks, f"{head.architecture} of transformers", told):
        print(line)
    print(f"done: {output}")


def _onnx(saved: FineTuned, output: Path) -> None:
    from ptcli.interop.huggingface import write_tokenizer
    from ptcli.interop.module import PlainTask
    from ptcli.interop.onnx import FILE, INPUTS, compare, write

    if saved.task.apart or getattr(saved.step.objective.head, "reads_states", False):
        raise ConfigError(
            f"checkpoint={saved.folder} compares the texts of a pair by itself, for which a file of ONNX that takes "
            "rows has no place. Its answers are had with ptcli predict."
        )
    length, types = saved.config.max_length, plain_values(saved.config)["model"]["type_vocab_size"]
    plain = PlainTask(saved.step.model, saved.step.objective, target=saved.task.target).eval()
    names = saved.task.names_of(saved.labels)
    output.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(output) as folder:
        file = write(folder, plain, head=True, max_length=length)
        write_tokenizer(folder, saved.tokenizer, max_length=length, segments=types)
        (folder / LABELS).write_text(json.dumps({"labels": names}, ensure_ascii=False) + "\n", encoding="utf-8")
        compared = compare(file, plain, head=True, max_length=length)
        check_error(compared.error, "onnxruntime")
    for line in (
        *saved.remarks,
        f"{FILE}: {', '.join(INPUTS)} to logits {_MEANING[saved.task.target]}; rows of up to {length} tokens",
        f"onnxruntime differs by {compared.error:.1e} of the largest value at most",
        f"done: {output}",
    ):
        print(line)


_MEANING = {
    "class": f"of a row's labels, in the order of {LABELS}",
    "classes": f"of a row's labels, in the order of {LABELS}",
    "value": "that are a row's number",
    "tokens": f"of each position's tags, in the order of {LABELS}",
    "span": "of each position as an answer's start and end",
    "choice": "of a row's choice",
    "rank": "that are a row's score",
}


def _card(name: str, architecture: str, labels: tuple[str, ...], best: dict[str, float]) -> str:
    lines = [
        "---",
        "library_name: transformers",
        "---",
        f"# {name}",
        "",
        f"A {architecture}, fine-tuned with ptcli.",
        *([f"Labels: {', '.join(labels)}."] if labels else []),
        "",
        "```python",
        f"from transformers import AutoTokenizer, {architecture}",
        "",
        "tokenizer = AutoTokenizer.from_pretrained(FOLDER)",
        f"model = {architecture}.from_pretrained(FOLDER)",
        "```",
        "",
        *(f"- {metric.removeprefix('eval/')} on validation rows: {value:.4f}" for metric, value in best.items()),
    ]
    return "\n".join(lines) + "\n"
