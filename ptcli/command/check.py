"""`ptcli check`: whether a configuration fits together, how large its model is, and what it needs; trains nothing."""

from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from rich.table import Table

from ptcli.command.assemble import check_parts, part, read_corpus
from ptcli.config.context import Context
from ptcli.trainer.budget import Budget
from ptcli.trainer.loop import Trainer

_MEBIBYTE = 2**20


def run(config: DictConfig, context: Context) -> None:
    """Print parameters, operations, memory by part and the budget. Nothing is read but whether the corpus is there."""
    read_corpus(config)
    trainer: Trainer = part(config, "trainer")
    budget = Budget(**OmegaConf.to_container(config.budget))  # type: ignore[arg-type]
    part(config, "schedule").check(total_steps=budget.total_steps)
    vocab_size = OmegaConf.select(config, "tokenizer.vocab_size") or _vocabulary_of(config)
    micro_size = trainer.micro_size(config.batch.size, config.batch.micro_size)
    step = check_parts(config, vocab_size=vocab_size)
    parameters = sum(p.numel() for p in step.parameters())
    forward = step.model.flops_per_token(config.max_length)
    layers = len(step.model.layers())
    scores = micro_size * config.model.num_heads * config.max_length**2
    rows = {
        "run": f"{config.run.dir}/{config.run.name}",
        "device": trainer.describe(),
        "parameters": f"{parameters:,} at a vocabulary of {vocab_size:,}"
        + (f" ({layers} layers, {len(set(map(id, step.model.layers())))} of them with weights of their own)"),
        "operations": f"{3 * forward / 1e6:,.1f} M a token, forward and backward, heads not counted",
        "weights, gradients, optimizer": f"{parameters * 16 / _MEBIBYTE:,.0f} MiB (fp32 and two moments)",
        "attention": f"{scores * 4 / _MEBIBYTE:,.0f} MiB where a layer's scores are held whole "
        f"({micro_size} rows, {config.model.num_heads} heads, {config.max_length} x {config.max_length})",
        "rows": f"{config.batch.size} a step, {micro_size} at once, {config.max_length} tokens each",
        "budget": ", ".join(f"{value:g} {name}" for name, value in budget.as_dict().items())
        + (
            f", at most {budget.total_steps * config.batch.size * config.max_length:,} tokens"
            if budget.total_steps
            else ""
        ),
    }
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(name, value)
    Console(highlight=False, soft_wrap=True).print(table)
    print("everything fits together")


def _vocabulary_of(config: DictConfig) -> int:
    """The size of a vocabulary that is loaded, not trained."""
    from ptcli.cache import cache_folder

    corpus, _, recipe = read_corpus(config)
    return recipe.build(corpus, cache=cache_folder() / "tokenizers").vocabulary.size
