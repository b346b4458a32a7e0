"""The rules between slots. Each is a function of facts that the parts declare; its first docstring line is its reason.

A message says what does not go, because of what, and what to choose instead. A fact not declared breaks no rule.
"""

from collections.abc import Callable

from ptcli.config.facts import Facts, Part, fact
from ptcli.mask.examples import NEEDS

Rule = Callable[[Facts], str | None]


def pair_needs_segments(facts: Facts) -> str | None:
    """A pair of two segments needs a packing that makes two."""
    pair, packing = facts.one("pair"), facts.one("packing")
    if not pair or not packing:
        return None
    wanted, made = pair.fact("segments", 1), packing.fact("max_segments", 2)
    if wanted <= made:
        return None
    use = facts.others("packing", lambda cls: fact(cls, "max_segments", 1) >= wanted)
    return (
        f"{pair.typed} needs {_number(wanted)} segments, but {packing.typed} makes {_number(made)}. "
        f"Use {_either([*use, 'pair=none'])}."
    )


def pair_needs_segment_ids(facts: Facts) -> str | None:
    """Two segments need two rows of segment embeddings."""
    pair, rows = facts.one("pair"), facts.value("model.type_vocab_size")
    if not pair or not isinstance(rows, int) or pair.fact("segments", 1) <= max(rows, 1):
        return None
    wanted = pair.fact("segments", 1)
    return (
        f"{pair.typed} needs {_number(wanted)} segments, but model.type_vocab_size={rows} does not tell them "
        f"apart. Use model.type_vocab_size={wanted}, or pair=none."
    )


def grouping_needs_short_rows(facts: Facts) -> str | None:
    """Rows that a packing fills are all of one length, so there is nothing to group."""
    packing = facts.one("packing")
    if not packing or not facts.value("batch.group_by_length") or not packing.fact("fills_rows", False):
        return None
    use = facts.others("packing", lambda cls: not fact(cls, "fills_rows", False))
    return (
        f"batch.group_by_length=true puts rows of like length together, but {packing.typed} fills every row. "
        f"Use {_either([*use, 'batch.group_by_length=false'])}."
    )


def attention_takes_position(facts: Facts) -> str | None:
    """A position that enters inside the attention needs an attention that takes it there."""
    attention = facts.one("model/attention")
    accepts = attention.fact("accepts") if attention else None
    if attention is None or accepts is None:
        return None
    for position in facts.several("model/position"):
        enters = position.fact("enters", "embedding")
        if enters == "embedding" or enters in accepts:
            continue
        use_attention = facts.others("model/attention", lambda cls, way=enters: way in (fact(cls, "accepts") or ()))
        use_position = facts.others(
            "model/position", lambda cls: fact(cls, "enters", "embedding") in {*accepts, "embedding"}
        )
        return (
            f"{position.typed} enters as {_way(enters)}, but {attention.typed} does not take that. "
            f"Use {_either([*use_attention, *use_position])}."
        )
    return None


def row_fits_positions(facts: Facts) -> str | None:
    """Learned positions end at a fixed number; a longer row has positions without an embedding."""
    for position in facts.several("model/position"):
        if position.fact("extrapolates", True):
            continue
        end = position.values.get("max_positions")
        for key in ("max_length", "eval.max_length"):
            length = facts.value(key)
            if isinstance(end, int) and isinstance(length, int) and length > end:
                free = facts.others("model/position", lambda cls: fact(cls, "extrapolates", False))
                return (
                    f"{key}={length} needs {length} positions, but {position.typed} has {end}. "
                    f"Use {_either([f'{key}={end}', f'model.position.{position.name}.max_positions={length}', *free])}."
                )
    return None


def decoder_fits_rows(facts: Facts) -> str | None:
    """An enhanced mask decoder has a fixed number of places; a longer row has positions without a vector."""
    end = facts.value("objective.decoder_positions")
    for key in ("max_length", "eval.max_length"):
        length = facts.value(key)
        if isinstance(end, int) and isinstance(length, int) and length > end:
            return (
                f"{key}={length} needs {length} positions, but objective.decoder_positions={end}. "
                f"Use {_either([f'{key}={end}', f'objective.decoder_positions={length}', 'objective=masked_lm'])}."
            )
    return None


def plain_head_needs_wide_embeddings(facts: Facts) -> str | None:
    """A head without a dense layer multiplies hidden states and embeddings, which must be of one width."""
    objective, narrow = facts.one("objective"), facts.value("model.embedding_size")
    tied, transform = facts.value("objective.tie"), facts.value("objective.transform")
    if not objective or not isinstance(narrow, int) or transform is not False or tied is not True:
        return None
    if narrow == facts.value("model.hidden_size"):
        return None
    return (
        f"objective.transform=false multiplies hidden states and embeddings, but model.embedding_size={narrow} makes "
        f"those narrower. Use objective.transform=true, objective.tie=false, or model.embedding_size=null."
    )


def pair_needs_sentences(facts: Facts) -> str | None:
    """Some pairs need documents of several sentences, which not every corpus has."""
    pair, corpus = facts.one("pair"), facts.one("corpus")
    if not pair or not corpus:
        return None
    wanted, most = pair.fact("needs_sentences", 0), corpus.fact("most_sentences")
    if most is None or wanted <= most:
        return None
    use = facts.others("pair", lambda cls: fact(cls, "needs_sentences", 0) <= most)
    return (
        f"{pair.typed} needs documents of {_number(wanted)} sentences, but those of {corpus.typed} have "
        f"{_number(most)}. Use {_either(use)}."
    )


def words_need_gold(facts: Facts) -> str | None:
    """Gold words come from the corpus, so it must have them."""
    words, corpus = facts.one("words"), facts.one("corpus")
    if not words or not corpus or not words.fact("needs_gold_words", False):
        return None
    if corpus.fact("has_gold_words", True):
        return None
    use = facts.others("words", lambda cls: fact(cls, "needs_gold_words", True) is False)
    corpora = facts.others("corpus", lambda cls: fact(cls, "has_gold_words", False) is True, limit=1)
    return f"{words.typed} needs gold words, but {corpus.typed} has none. Use {_either([*use, *corpora])}."


def words_are_told(facts: Facts) -> str | None:
    """What works on whole words needs a corpus and a tokenizer that know where words begin."""
    for asking in _asking(facts, "words"):
        for key in ("corpus", "tokenizer"):
            part = facts.one(key)
            if part and not part.fact("has_words", True):
                told = f"{part.typed} does not say. Use {_in_place_of(asking)}."
                return f"{asking.typed} needs to know where words begin, but {told}"
    return None


def units_are_told(facts: Facts) -> str | None:
    """What works on named units needs words that know them."""
    words = facts.one("words")
    for asking in _asking(facts, "units"):
        if words and not words.fact("makes_units", True):
            use = facts.others("words", lambda cls: fact(cls, "makes_units", False))
            other = "mask=span" if asking.group == "mask" else f"{asking.group}=none"
            told = f"{words.typed} knows none. Use {_either([*use, other])}."
            return f"{asking.typed} masks entities and phrases, but {told}"
    return None


def sentences_are_told(facts: Facts) -> str | None:
    """What works on sentences needs a corpus that knows where they begin."""
    corpus = facts.one("corpus")
    for asking in _asking(facts, "sentences"):
        if corpus and corpus.fact("most_sentences") == 1:
            one = f"documents of {corpus.typed} have one. Use {_in_place_of(asking)}."
            return f"{asking.typed} works on sentences, but {one}"
    return None


def needs_are_known(facts: Facts) -> str | None:
    """What a part asks for has to be something that examples have."""
    for asking in _asking(facts):
        if unknown := sorted(set(asking.fact("needs", ())) - set(NEEDS)):
            return (
                f"{asking.typed} needs {', '.join(unknown)}, which examples do not have. Use {_either(sorted(NEEDS))}."
            )
    return None


def mask_schedule_needs_steps(facts: Facts) -> str | None:
    """A mask that changes during the training needs to know how many steps that takes."""
    for key in ("mask", "eval.mask"):
        ratios, levels = facts.value(f"{key}.later_ratios"), facts.value(f"{key}.levels")
        if facts.value(f"{key}.schedule_steps") is not None or facts.value("budget.steps") is not None:
            continue
        if facts.value("budget") is None or not (ratios or (isinstance(levels, list) and len(levels) > 1)):
            continue
        what = f"{key}.later_ratios" if ratios else f"{key}.levels"
        return (
            f"{what}={_listed(ratios or levels)} follows the optimiser steps, but the budget does not count them. "
            f"Use {key}.schedule_steps=NUMBER, or budget.steps=NUMBER."
        )
    return None


def objective_needs_both_sides(facts: Facts) -> str | None:
    """An objective that predicts from both neighbours needs an attention that looks both ways."""
    objective, attention = facts.one("objective"), facts.one("model/attention")
    if not objective or not attention:
        return None
    if not objective.fact("needs_bidirectional", False) or not attention.fact("causal", False):
        return None
    use = facts.others("model/attention", lambda cls: fact(cls, "causal", True) is False)
    return f"{objective.typed} predicts from both sides, but {attention.typed} looks back only. Use {_either(use)}."


def pair_weight_needs_pair(facts: Facts) -> str | None:
    """A weight of the pair's loss does nothing without a pair."""
    pair, weight = facts.one("pair"), facts.value("objective.pair_weight", 1.0)
    if not pair or weight in (1.0, None) or pair.fact("num_labels", 1) > 0:
        return None
    use = facts.others("pair", lambda cls: fact(cls, "num_labels", 0) > 0)
    return (
        f"objective.pair_weight={weight} does nothing, because {pair.typed} asks nothing about pairs. "
        f"Use {_either([*use, 'leave objective.pair_weight out'])}."
    )


def ids_are_no_text(facts: Facts) -> str | None:
    """A corpus of ids needs the tokenizer of ids, a corpus of text one that reads text."""
    corpus, tokenizer = facts.one("corpus"), facts.one("tokenizer")
    if not corpus or not tokenizer or tokenizer.fact("reads_text", True) is None:
        return None
    has_text, reads_text = corpus.fact("has_text", True), tokenizer.fact("reads_text", True)
    if has_text == reads_text:
        return None
    use = facts.others("tokenizer", lambda cls: fact(cls, "reads_text", True) is has_text)
    corpora = facts.others("corpus", lambda cls: fact(cls, "has_text", True) is reads_text, limit=1)
    told = "holds ids without text" if reads_text else "holds text"
    return (
        f"{corpus.typed} {told}, but {tokenizer.typed} reads {'text' if reads_text else 'ids'}. "
        f"Use {_either([*use, *corpora])}."
    )


def stream_has_no_epochs(facts: Facts) -> str | None:
    """A budget of epochs needs to know how long the text is, which a stream does not."""
    epochs = facts.value("budget.epochs")
    if epochs is None or facts.value("corpus.streaming", False) is not True:
        return None
    return (
        f"budget.epochs={epochs} needs the length of the text, but corpus.streaming=true reads it as it comes. "
        "Use budget.steps=NUMBER, budget.tokens=NUMBER, or corpus.streaming=false."
    )


def average_takes_no_decay(facts: Facts) -> str | None:
    """An optimizer that averages its weights does so instead of lowering the learning rate."""
    optimizer, schedule = facts.one("optimizer"), facts.one("schedule")
    if not optimizer or not schedule or optimizer.fact("takes_decay", True) or not schedule.fact("decays", False):
        return None
    use = facts.others("schedule", lambda cls: fact(cls, "decays", True) is False)
    return (
        f"{optimizer.typed} averages its weights instead of lowering the learning rate, but {schedule.typed} lowers "
        f"it. Use {_either([*use, 'optimizer=adamw'])}."
    )


def one_average_of_the_weights(facts: Facts) -> str | None:
    """An optimizer that averages its weights is judged by its own average, not by a second one."""
    optimizer, decay = facts.one("optimizer"), facts.value("trainer.average")
    if not optimizer or optimizer.fact("takes_decay", True) or decay is None:
        return None
    return (
        f"{optimizer.typed} averages its weights itself, but trainer.average={decay} averages them once more. "
        f"Use {_either(['trainer.average=null', 'optimizer=adamw'])}."
    )


def parts_of_weights_need_an_optimizer_that_takes_them(facts: Facts) -> str | None:
    """Where each device holds a part of the weights, the optimizer must be able to work on parts."""
    optimizer = facts.one("optimizer")
    if not optimizer or facts.value("trainer.strategy") != "fsdp" or optimizer.fact("takes_parts", True):
        return None
    optimizers = facts.others("optimizer", lambda cls: fact(cls, "takes_parts", True), limit=2)
    return (
        f"trainer.strategy=fsdp gives each device a part of the weights, but {optimizer.typed} needs whole matrices. "
        f"Use {_either(['trainer.strategy=ddp', *optimizers])}."
    )


def patience_needs_evaluations(facts: Facts) -> str | None:
    """Patience counts evaluations, so there must be some during the training."""
    patience = facts.value("trainer.patience")
    if patience is None:
        return None
    for key in ("eval.every", "eval.fraction"):
        if facts.value(key, 1) == 0:
            return (
                f"trainer.patience={patience} counts evaluations, but {key}=0 leaves none during the training. "
                f"Use {key} above 0, or trainer.patience=null."
            )
    return None


RULES: tuple[Rule, ...] = (
    pair_needs_segments,
    pair_needs_segment_ids,
    grouping_needs_short_rows,
    attention_takes_position,
    row_fits_positions,
    decoder_fits_rows,
    plain_head_needs_wide_embeddings,
    pair_needs_sentences,
    words_need_gold,
    needs_are_known,
    words_are_told,
    units_are_told,
    sentences_are_told,
    mask_schedule_needs_steps,
    objective_needs_both_sides,
    pair_weight_needs_pair,
    ids_are_no_text,
    stream_has_no_epochs,
    average_takes_no_decay,
    one_average_of_the_weights,
    patience_needs_evaluations,
    parts_of_weights_need_an_optimizer_that_takes_them,
)


def _asking(facts: Facts, need: str | None = None) -> list[Part]:
    """The mask and the noises, which read columns of the examples; those that ask for one of them."""
    parts = [part for group in ("mask", "noise") for part in facts.several(group)]
    return [part for part in parts if need is None or need in part.fact("needs", ())]


def _in_place_of(asking: Part) -> str:
    """What asks for no column of the examples."""
    return "mask=token" if asking.group == "mask" else f"{asking.group}=none"


def _either(options: list[str]) -> str:
    """`a`, `a, or b`, `a, b, or c`."""
    options = list(dict.fromkeys(options))
    if len(options) < 2:
        return "".join(options)
    return ", ".join(options[:-1]) + f", or {options[-1]}"


def _listed(values: list) -> str:
    return f"[{','.join(str(value) for value in values)}]"


def _number(count: int) -> str:
    return {0: "none", 1: "one", 2: "two", 3: "three", 4: "four"}.get(count, str(count))


def _way(enters: str) -> str:
    return {
        "query_key": "a change of queries and keys",
        "bias": "a bias of the attention scores",
        "score": "a term of each layer's scores",
        "value": "an addition to the values",
    }.get(enters, enters)
