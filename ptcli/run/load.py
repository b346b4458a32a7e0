"""Finding and loading models that exist already: what a run left behind, or a folder of transformers'."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from omegaconf import DictConfig

from ptcli.assembly.masking import Learnt
from ptcli.config.identity import read
from ptcli.errors import CheckpointError, ConfigError
from ptcli.interop.folder import HuggingFaceFolder
from ptcli.run.find import LABELS, find_hugging_face, find_model
from ptcli.tokenizer.known import find_known
from ptcli.tokenizer.tokenizer import Tokenizer
from ptcli.trainer.weights import load_weights

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Model:
    """A model that was read. `step` is a TrainingStep in evaluation mode; `missing`: tensors that no file held.

    `pooler`: the module that pretraining on pairs trained, for tasks to begin with; None: there was none.
    """

    folder: Path
    config: DictConfig
    tokenizer: Tokenizer
    step: Any
    remarks: list[str]
    missing: list[str] = field(default_factory=list)
    pooler: Any = None


@dataclass(frozen=True)
class Saved(Model):
    """The model of a run. `counts`: the training text's token counts.

    `learnt`: all that masks know of the training text (ptcli/assembly/masking.py).
    """

    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    learnt: Learnt = field(default_factory=dict)


def load(checkpoint: str, *, plugins: tuple[str, ...] = ()) -> Saved:
    """Read a run's model. Its configuration is data: only classes of ptcli and of `plugins` are built from it."""
    from ptcli.assembly.model import make_model
    from ptcli.assembly.parts import part

    folder = find_model(checkpoint)
    if (folder / LABELS).is_file():
        raise ConfigError(
            f"checkpoint={checkpoint} is a fine-tuned model: it has no masked-LM head. It answers with ptcli predict, "
            "is measured by ptcli evaluate, written for transformers by ptcli export, and trained on by ptcli finetune."
        )
    config, remarks = read(folder / "config.yaml", plugins=plugins)
    config.plugins = list(plugins)
    tokenizer = Tokenizer.load(folder / "tokenizer")
    step = make_model(config, tokenizer.vocabulary.size, part(config, "pair"))
    load_weights(step, folder)
    step.eval()
    try:
        counts = np.load(folder / "token_counts.npy", allow_pickle=False)
        learnt = {path.stem: np.load(path, allow_pickle=False) for path in sorted(folder.glob("*.npy"))}
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder / 'token_counts.npy'} (or another array) cannot be read: {error}") from error
    pooler = getattr(getattr(step.objective, "pair_head", None), "pooler", None)
    return Saved(folder, config, tokenizer, step, remarks, pooler=pooler, counts=counts, learnt=learnt)


def load_any(checkpoint: str, *, plugins: tuple[str, ...] = ()) -> Model:
    """Read a run's model, or one of transformers'."""
    there = find_hugging_face(checkpoint)
    return load(checkpoint, plugins=plugins) if there is None else _load_hugging_face(there)


def _load_hugging_face(there: HuggingFaceFolder) -> Model:
    from ptcli.assembly.model import make_model
    from ptcli.assembly.parts import part
    from ptcli.config.compose import compose

    longest = there.config["max_position_embeddings"]
    config = compose("pretrain", [*there.overrides, f"max_length={longest}"]).config
    tokenizer = find_known(str(there.path), key="checkpoint").load()
    step = make_model(config, tokenizer.vocabulary.size, part(config, "pair"))
    ours, unused = tensors_of(there, step, with_pooler=True)
    pooler = _take_pooler(ours, step.model.hidden_size)
    missing = sorted(set(step.state_dict()) - set(ours))
    if misfits := [name for name in missing if name.startswith("model.")]:
        raise CheckpointError(f"{there.path} lacks {', '.join(misfits[:6])}.")
    cut = fit_vocabulary(ours, size=tokenizer.vocabulary.size)
    step.load_state_dict(ours, strict=False)
    step.eval()
    remarks = [*cut, *([f"not used of {there.path}: {', '.join(unused)}"] if unused else [])]
    return Model(there.path, config, tokenizer, step, remarks, missing, pooler)


def _take_pooler(tensors: "dict[str, Tensor]", hidden_size: int) -> Any:
    """The pooler among a model's tensors, which are taken out; None where there is none."""
    from ptcli.model.heads import Pooler

    prefix = "objective.pair_head.pooler."
    own = {name.removeprefix(prefix): tensors.pop(name) for name in list(tensors) if name.startswith(prefix)}
    if not own:
        return None
    pooler = Pooler(hidden_size)
    pooler.load_state_dict(own)
    return pooler


def tensors_of(
    there: HuggingFaceFolder, step: Any, *, with_pooler: bool = False
) -> "tuple[dict[str, Tensor], list[str]]":
    """The folder's weights under the names of `step`, and those that it has no place for.

    `with_pooler`: the pooler, too, of a family that is pretrained on pairs, whether or not `step` has one.
    """
    from ptcli.interop.weights import to_ours

    family, config = there.family, there.config
    entries = [*family.body(config, order=step.model.order), *family.masked_lm_head(config)]
    if getattr(step.objective, "pair_head", None) is not None:
        entries += [*family.pooler(), *family.pair_classifier()]
    elif with_pooler and family.pair_classifier():
        entries += family.pooler()
    read = to_ours(there.tensors(), entries)
    return read.tensors, read.unused


def fit_vocabulary(tensors: "dict[str, Tensor]", *, size: int) -> list[str]:
    """Cut rows above the tokenizer's `size` ids, which no text reaches, off the tables; a remark where there are any.

    CheckpointError where there are fewer rows than ids.
    """
    rows = tensors[TOKENS].shape[0] if TOKENS in tensors else size  # where they are missing, that is told elsewhere
    if rows < size:
        raise CheckpointError(f"the tokenizer has {size:,} ids, but the checkpoint only {rows:,} embeddings.")
    for name in VOCABULARY_TENSORS:
        if name in tensors:
            tensors[name] = tensors[name][:size]
    return [f"{rows - size:,} rows of its embeddings, which the tokenizer has no ids for, are cut off"] * (rows > size)


TOKENS = "model.embeddings.tokens.weight"
VOCABULARY_TENSORS = (TOKENS, "objective.masked_lm_head.bias", "objective.masked_lm_head.decoder.weight")
"""Those with a row for each id."""
