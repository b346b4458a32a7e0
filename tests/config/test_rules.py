import pytest

from ptcli.config import rules
from ptcli.config.bind import plain_values
from ptcli.config.compose import compose
from ptcli.config.facts import Facts, Part, fact, facts_of
from ptcli.config.fit import check, fit
from ptcli.errors import ConfigError


def part(group, name, values=None, **facts):
    return Part(group, name, type(name, (), facts), values or {})


def facts(*parts, values=None):
    found = {}
    for one in parts:
        found.setdefault(one.group, ())
        found[one.group] += (one,)
    return Facts(found, values or {})


def test_two_segments_need_a_packing_that_makes_two():
    pair, packing = part("pair", "next_sentence", segments=2), part("packing", "full_sentences", max_segments=1)
    message = rules.pair_needs_segments(facts(pair, packing))
    assert message is not None
    assert message.startswith(
        "pair=next_sentence needs two segments, but packing=full_sentences makes one. Use packing="
    )
    assert "packing=segment_pair" in message
    assert message.endswith("or pair=none.")
    assert rules.pair_needs_segments(facts(pair, part("packing", "best_fit", max_segments=2))) is None


def test_two_segments_need_segment_embeddings():
    pair = part("pair", "next_sentence", segments=2)
    assert rules.pair_needs_segment_ids(facts(pair, values={"model": {"type_vocab_size": 1}}))
    assert rules.pair_needs_segment_ids(facts(pair, values={"model": {"type_vocab_size": 0}}))
    assert rules.pair_needs_segment_ids(facts(pair, values={"model": {"type_vocab_size": 2}})) is None
    alone = part("pair", "none", segments=1)
    assert rules.pair_needs_segment_ids(facts(alone, values={"model": {"type_vocab_size": 0}})) is None


def test_full_rows_are_not_grouped_by_length():
    full, short = part("packing", "best_fit", fills_rows=True), part("packing", "segment_pair")
    values = {"batch": {"group_by_length": True}}
    message = str(rules.grouping_needs_short_rows(facts(full, values=values)))
    assert "packing=best_fit fills every row. Use packing=" in message
    assert message.endswith("or batch.group_by_length=false.")
    assert rules.grouping_needs_short_rows(facts(short, values=values)) is None
    assert rules.grouping_needs_short_rows(facts(full, values={"batch": {"group_by_length": False}})) is None


def test_a_position_needs_an_attention_that_takes_it():
    position = part("model/position", "relative", enters="value")
    attention = part("model/attention", "full", accepts=frozenset({"query_key", "bias"}))
    message = str(rules.attention_takes_position(facts(position, attention)))
    assert "model/position=relative enters as an addition to the values" in message
    assert "model/position=rotary" in message
    for way in ("embedding", "query_key", "bias"):
        assert rules.attention_takes_position(facts(part("model/position", "p", enters=way), attention)) is None


def test_rows_longer_than_the_mask_decoder():
    values = {"max_length": 1024, "objective": {"decoder_positions": 512}}
    message = str(rules.decoder_fits_rows(facts(values=values)))
    assert message.startswith("max_length=1024 needs 1024 positions, but objective.decoder_positions=512. Use ")
    assert "objective.decoder_positions=1024" in message
    assert rules.decoder_fits_rows(facts(values=values | {"max_length": 512})) is None
    assert rules.decoder_fits_rows(facts(values={"max_length": 9999, "objective": {"decoder_positions": None}})) is None


def test_a_head_without_a_dense_layer_needs_embeddings_as_wide_as_the_layers():
    objective = part("objective", "masked_lm_plain")
    plain = {"transform": False, "tie": True}
    values = {"model": {"embedding_size": 128, "hidden_size": 768}, "objective": plain}
    message = str(rules.plain_head_needs_wide_embeddings(facts(objective, values=values)))
    assert "model.embedding_size=128 makes those narrower. Use " in message
    for changes in (
        {"model": {"embedding_size": None, "hidden_size": 768}},
        {"model": {"embedding_size": 768, "hidden_size": 768}},
        {"objective": plain | {"tie": False}},
        {"objective": plain | {"transform": True}},
    ):
        assert rules.plain_head_needs_wide_embeddings(facts(objective, values=values | changes)) is None


def test_rows_longer_than_learned_positions():
    learned = part("model/position", "learned", {"max_positions": 512}, extrapolates=False)
    message = rules.row_fits_positions(facts(learned, values={"max_length": 1024}))
    assert message is not None
    assert "max_length=1024 needs 1024 positions" in message
    assert "model.position.learned.max_positions=1024" in message
    assert rules.row_fits_positions(facts(learned, values={"max_length": 512, "eval": {"max_length": 600}}))
    assert rules.row_fits_positions(facts(learned, values={"max_length": 512})) is None
    rotary = part("model/position", "rotary", extrapolates=True)
    assert rules.row_fits_positions(facts(rotary, values={"max_length": 9999})) is None


def test_gold_words_come_from_the_corpus():
    gold = part("words", "gold", needs_gold_words=True)
    assert "has none" in str(rules.words_need_gold(facts(gold, part("corpus", "text", has_gold_words=False))))
    assert rules.words_need_gold(facts(gold, part("corpus", "builtin_zh", has_gold_words=True))) is None
    unknown = part("corpus", "jsonl", has_gold_words=property(lambda self: True))
    assert rules.words_need_gold(facts(gold, unknown)) is None


def test_a_mask_of_words_needs_words():
    mask = part("mask", "whole_word", needs=frozenset({"words"}))
    assert rules.words_are_told(facts(mask, part("tokenizer", "ids", has_words=False)))
    assert rules.words_are_told(facts(mask, part("tokenizer", "wordpiece"))) is None


def test_an_objective_of_both_sides_needs_an_attention_of_both():
    objective = part("objective", "masked_lm", needs_bidirectional=True)
    assert rules.objective_needs_both_sides(facts(objective, part("model/attention", "causal", causal=True)))
    assert rules.objective_needs_both_sides(facts(objective, part("model/attention", "full", causal=False))) is None


def test_a_weight_without_a_pair_does_nothing():
    none = part("pair", "none", num_labels=0)
    assert rules.pair_weight_needs_pair(facts(none, values={"objective": {"pair_weight": 0.5}}))
    assert rules.pair_weight_needs_pair(facts(none, values={"objective": {"pair_weight": 1.0}})) is None


def test_every_rule_is_in_the_table_and_says_its_reason():
    functions = [
        value
        for name, value in vars(rules).items()
        if callable(value) and getattr(value, "__module__", "") == rules.__name__
    ]
    public = {function for function in functions if not function.__name__.startswith("_")}
    assert public == set(rules.RULES)
    assert all(rule.__doc__ for rule in rules.RULES)


def test_no_facts_break_no_rule():
    assert fit(Facts({}, {})) == []


def test_facts_are_plain_class_attributes():
    class Known:
        isolates = True

        @property
        def computed(self):
            return 1

    assert fact(Known, "isolates") is True
    assert fact(Known, "computed", "unknown") == "unknown"
    assert fact(Known, "absent", 3) == 3
    assert fact(None, "absent", 3) == 3


def test_facts_of_a_real_configuration():
    composed = compose("pretrain", ["model/position=[learned,rotary]", "pair=sentence_order"])
    gathered = facts_of(plain_values(composed.config), composed.choices)
    assert [p.name for p in gathered.several("model/position")] == ["learned", "rotary"]
    pair = gathered.one("pair")
    assert pair is not None
    assert pair.typed == "pair=sentence_order"
    assert gathered.value("model.position.rotary.base") == 10000.0


def test_all_that_does_not_fit_is_said_at_once():
    composed = compose("pretrain", ["pair=next_sentence", "packing=full_sentences", "max_length=600", "seed=-1"])
    with pytest.raises(ConfigError) as caught:
        check(composed.config, composed.choices)
    assert len(str(caught.value).splitlines()) == 3


def test_ids_go_with_a_tokenizer_of_ids_and_nothing_else():
    ids, text = part("corpus", "anonymised", has_text=False), part("corpus", "text")
    reads_ids, reads_text = part("tokenizer", "ids", reads_text=False), part("tokenizer", "wordpiece")
    reads_both = part("tokenizer", "pretrained", reads_text=None)
    message = str(rules.ids_are_no_text(facts(ids, reads_text)))
    assert message.startswith("corpus=anonymised holds ids without text, but tokenizer=wordpiece reads text. Use ")
    assert "tokenizer=ids" in message
    assert "tokenizer=ids reads ids" in str(rules.ids_are_no_text(facts(text, reads_ids)))
    for corpus, tokenizer in ((ids, reads_ids), (text, reads_text), (ids, reads_both), (text, reads_both)):
        assert rules.ids_are_no_text(facts(corpus, tokenizer)) is None


def test_a_stream_has_no_epochs():
    streamed = {"corpus": {"streaming": True}, "budget": {"epochs": 2.0}}
    assert "Use budget.steps=NUMBER" in str(rules.stream_has_no_epochs(facts(values=streamed)))
    assert rules.stream_has_no_epochs(facts(values={**streamed, "budget": {"epochs": None}})) is None
    assert rules.stream_has_no_epochs(facts(values={**streamed, "corpus": {"streaming": False}})) is None
    assert rules.stream_has_no_epochs(facts(values={"budget": {"epochs": 2.0}})) is None


def test_an_optimizer_that_averages_takes_no_decay_and_no_second_average():
    averages, plain = part("optimizer", "schedule_free", takes_decay=False), part("optimizer", "adamw")
    falls, stays = part("schedule", "linear", decays=True), part("schedule", "constant", decays=False)
    message = str(rules.average_takes_no_decay(facts(averages, falls)))
    assert message.startswith(
        "optimizer=schedule_free averages its weights instead of lowering the learning rate, but "
    )
    assert "schedule=constant" in message
    for optimizer, schedule in ((averages, stays), (plain, falls), (plain, stays)):
        assert rules.average_takes_no_decay(facts(optimizer, schedule)) is None

    both = {"trainer": {"average": 0.999}}
    message = str(rules.one_average_of_the_weights(facts(averages, values=both)))
    assert "trainer.average=0.999 averages them once more. Use trainer.average=null, or optimizer=" in message
    assert rules.one_average_of_the_weights(facts(plain, values=both)) is None
    assert rules.one_average_of_the_weights(facts(averages, values={"trainer": {"average": None}})) is None


def test_parts_of_weights_need_an_optimizer_that_takes_them():
    whole, plain = part("optimizer", "adafactor", takes_parts=False), part("optimizer", "adamw")
    sharded = {"trainer": {"strategy": "fsdp"}}
    message = str(rules.parts_of_weights_need_an_optimizer_that_takes_them(facts(whole, values=sharded)))
    assert "optimizer=adafactor needs whole matrices. Use trainer.strategy=ddp, optimizer=" in message
    assert rules.parts_of_weights_need_an_optimizer_that_takes_them(facts(plain, values=sharded)) is None
    for strategy in ("auto", "ddp", "single"):
        values = {"trainer": {"strategy": strategy}}
        assert rules.parts_of_weights_need_an_optimizer_that_takes_them(facts(whole, values=values)) is None


def test_what_works_on_sentences_needs_documents_of_several():
    asking, ids = part("noise", "shuffle", needs=frozenset({"sentences"})), part("corpus", "lines", most_sentences=1)
    assert "noise=shuffle works on sentences" in str(rules.sentences_are_told(facts(asking, ids)))
    assert rules.sentences_are_told(facts(asking, part("corpus", "text"))) is None


def test_a_need_that_nothing_gives_is_named_with_those_that_there_are():
    message = str(rules.needs_are_known(facts(part("mask", "mine", needs=frozenset({"words", "verbs"})))))
    assert message.startswith("mask=mine needs verbs, which examples do not have. Use documents, pieces,")


def test_named_units_need_words_that_know_them():
    mask = part("mask", "phrase", needs=frozenset({"units"}))
    message = str(rules.units_are_told(facts(mask, part("words", "unicode", makes_units=False))))
    assert message.startswith("mask=phrase masks entities and phrases, but words=unicode knows none. Use words=")
    assert rules.units_are_told(facts(mask, part("words", "spans", makes_units=True))) is None
    assert rules.units_are_told(facts(part("mask", "token"), part("words", "unicode", makes_units=False))) is None


@pytest.mark.parametrize("key", ["mask", "eval.mask"])
@pytest.mark.parametrize("changing", [{"later_ratios": [0.1]}, {"levels": ["basic", "entity"]}])
def test_a_mask_that_changes_needs_a_number_of_steps(key, changing):
    def asked(budget, **more):
        mask = changing | more
        values = {"budget": budget, **({"mask": mask} if key == "mask" else {"eval": {"mask": mask}})}
        return rules.mask_schedule_needs_steps(facts(values=values))

    assert f"{key}.schedule_steps=NUMBER" in str(asked({"minutes": 3, "steps": None}))
    assert asked({"minutes": 3, "steps": None}, schedule_steps=100) is None
    assert asked({"steps": 100}) is None
    assert asked({"minutes": 3}, later_ratios=[], levels=["entity"]) is None


def test_a_pair_that_needs_long_documents_refuses_a_corpus_of_short_ones():
    pair, short = part("pair", "sentence_distance", needs_sentences=4), part("corpus", "parallel", most_sentences=2)
    message = str(rules.pair_needs_sentences(facts(pair, short)))
    assert message.startswith("pair=sentence_distance needs documents of four sentences, but those of corpus=parallel")
    assert "Use pair=" in message
    assert rules.pair_needs_sentences(facts(pair, part("corpus", "text"))) is None
    assert rules.pair_needs_sentences(facts(part("pair", "next_sentence"), short)) is None


@pytest.mark.parametrize("key", ["eval.every", "eval.fraction"])
def test_patience_needs_evaluations(key):
    composed = compose("pretrain", ["trainer.patience=3", f"{key}=0"])
    with pytest.raises(ConfigError, match=rf"trainer\.patience=3 counts evaluations, but {key}=0"):
        check(composed.config, composed.choices)
    composed = compose("pretrain", ["trainer.patience=3"])
    check(composed.config, composed.choices)
