"""`ptcli evaluate`: a model on the documents that its run held out, or on any other text."""

import logging

from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from rich.table import Table

from ptcli.command.assemble import make_data, make_evaluation, part, prepare_text
from ptcli.command.checkpoint import load
from ptcli.config.context import Context

log = logging.getLogger(__name__)

_MEANINGS = {
    "eval/masked_lm_loss": "fixed mask (15 %, always [MASK]), nats",
    "eval/masked_lm_accuracy": "fixed mask",
    "eval/unigram_loss": "always guessing the training frequencies, same positions",
    "eval/own_mask_loss": "the training's own mask, nats",
    "eval/own_mask_accuracy": "the training's own mask",
    "eval/no_context_loss": "the best without looking at any neighbour, same positions",
    "eval/difficulty": "own mask at [MASK], loss / unigram loss: 0 solved, 1 nothing learnt",
    "eval/pair_loss": "sentence pairs, nats",
    "eval/pair_accuracy": "sentence pairs",
    "eval/tokens": "real tokens read",
}


def run(config: DictConfig, context: Context) -> float | None:
    """Print the evaluation as a table; its fixed-mask loss."""
    device = part(
        OmegaConf.create({"trainer": {"_target_": "ptcli.trainer.loop.Trainer", **config.trainer}}), "trainer"
    )
    saved = load(config.checkpoint, plugins=tuple(config.plugins))
    for remark in saved.remarks:
        log.info(remark)
    measured = saved.config
    other_text = OmegaConf.select(config, "corpus.path") is not None
    measured.eval.update({"max_length": config.eval.max_length, "tokens": config.eval.tokens, "mask": config.eval.mask})
    if other_text:
        measured.corpus = config.corpus
    store = prepare_text(measured, tokenizer=saved.tokenizer)
    data = make_data(measured, store, saved.tokenizer.vocabulary)
    if other_text:  # nothing of it was trained on: all of it is held out
        data.held_out[:] = store.split(0.0)[0]
        log.info(f"{store.num_documents:,} documents, {sum(d.num_tokens for d in data.held_out):,} tokens")
    else:
        log.info(store.split_remark(measured.eval.fraction))
    evaluation = make_evaluation(measured, data, counts=saved.counts, micro_size=config.batch.size)
    if evaluation is None:
        log.info("the run held nothing out (eval.fraction=0): give other text with corpus.path=FILE")
        return None
    saved.step.to(device.device)
    metrics = evaluation(saved.step.model, saved.step.objective, device=device.device, autocast=device.autocast)
    table = Table("metric", "value", "what it is", box=None, pad_edge=False)
    for name, value in metrics.items():
        figure = f"{value:,.0f}" if name == "eval/tokens" else f"{value:.4f}"
        table.add_row(name, figure, _MEANINGS.get(name, ""))
    Console(highlight=False).print(table)
    return metrics.get("eval/masked_lm_loss")
