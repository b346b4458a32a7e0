"""What fine-tuning starts from: a run's model, a fine-tuned one's, or one of transformers'."""

from typing import Any

from torch import nn

from ptcli.assembly.parts import part
from ptcli.config.bind import plain_values
from ptcli.config.phases import longest_row
from ptcli.finetuning.joint_model import is_joint, load_joint
from ptcli.finetuning.model import Base, load_fine_tuned
from ptcli.run.find import is_fine_tuned
from ptcli.run.load import Saved, load_any
from ptcli.trainer.seeds import seed_everything


def load_base(checkpoint: str, *, plugins: tuple[str, ...], random_weights: bool, seed: int) -> Base:
    """Read a run's model, a fine-tuned one's, or one of transformers'. `random_weights`: its shape alone."""

    if is_fine_tuned(checkpoint):
        load: Any = load_joint if is_joint(checkpoint, plugins=plugins) else load_fine_tuned
        found: Any = load(checkpoint, plugins=plugins)
        longest, segments = found.config.longest, found.config.segments
    else:
        found = load_any(checkpoint, plugins=plugins)
        longest = longest_row(found.config)
        segments = getattr(part(found.config, "pair"), "segments", 1) if isinstance(found, Saved) else 2
    model, pooler = found.step.model, found.pooler

    def fresh() -> nn.Module:
        return part(found.config, "model", vocab_size=found.tokenizer.vocabulary.size)

    if random_weights:
        seed_everything(seed)
        model, pooler = fresh(), None
    return Base(
        folder=found.folder,
        settings=plain_values(found.config)["model"],
        tokenizer=found.tokenizer,
        model=model,
        pooler=pooler,
        longest=longest,
        segments=segments,
        fresh=fresh,
        source=found,
        remarks=found.remarks,
    )
