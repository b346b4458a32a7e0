"""A checkpoint's own pretraining, on the text of its run: what other training takes turns with."""

from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig

from ptcli.assembly.data import make_data, training_loader
from ptcli.assembly.evaluation import make_evaluation
from ptcli.assembly.text import prepare_text
from ptcli.config.phases import configuration_of, phases_of
from ptcli.errors import ConfigError
from ptcli.run.find import find_hugging_face, is_fine_tuned
from ptcli.run.load import Saved


@dataclass(frozen=True)
class GoingOn:
    """What goes on with a pretraining: an objective on its model, rows, and the held-out text where there is any.

    `text`: what the rows are made of, for identities.
    """

    objective: Any
    loader: Any
    evaluation: Any
    text: str


def check_has_text(checkpoint: str, *, share: float) -> None:
    """Raise ConfigError where a checkpoint is no run of ptcli pretrain, which alone knows its text."""
    what = ""
    if find_hugging_face(checkpoint) is not None:
        what = "is a model of transformers', which does not say what text it was trained on"
    elif is_fine_tuned(checkpoint):
        what = "was fine-tuned, and has neither a masked-LM head nor a text"
    if what:
        raise ConfigError(
            f"task.pretraining={share} goes on with the checkpoint's pretraining, but checkpoint={checkpoint} {what}. "
            f"Use task.pretraining=0, or a run of ptcli pretrain (checkpoint={checkpoint} is what one may begin with)."
        )


def going_on(saved: Saved, *, batch_size: int, micro_size: int, seed: int, static_length: bool) -> GoingOn:
    """A run's corpus, rows and mask as they were when it ended. Its held-out documents stay held out."""
    config = _as_it_ended(saved.config)
    config.batch.size, config.batch.micro_size, config.seed = batch_size, micro_size, seed
    store = prepare_text(config, tokenizer=saved.tokenizer)
    data, model = make_data(config, store, saved.tokenizer.vocabulary, saved.learnt), saved.step.model
    return GoingOn(
        objective=saved.step.objective,
        loader=training_loader(config, data, model=model, micro_size=micro_size, static_length=static_length),
        evaluation=make_evaluation(config, data, model=model, counts=saved.counts, micro_size=micro_size),
        text=store.folder.name,
    )


def _as_it_ended(config: DictConfig) -> DictConfig:
    """The settings of the last phase, and the mask's last ratio."""
    phases = phases_of(config)
    config = configuration_of(config, phases[-1]) if phases else config.copy()
    if config.mask.get("later_ratios"):
        config.mask.update({"ratio": config.mask.later_ratios[-1], "later_ratios": [], "ratio_schedule": "constant"})
    return config
