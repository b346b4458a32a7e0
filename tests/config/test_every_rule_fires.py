"""Each rule refuses something that can be typed: one that nothing breaks any more goes."""

import pytest

from ptcli.config.bind import plain_values
from ptcli.config.compose import composer
from ptcli.config.facts import facts_of
from ptcli.config.rules import RULES
from ptcli.config.several_tasks import spelled_out
from ptcli.config.task_rules import TASK_RULES

BREAKING = {
    "pretrain": {
        "pair_needs_segments": "pair=next_sentence packing=full_sentences",
        "pair_needs_segment_ids": "pair=next_sentence packing=segment_pair model.type_vocab_size=1",
        "grouping_needs_short_rows": "packing=full_sentences batch.group_by_length=true",
        "row_fits_positions": "max_length=1024",
        "decoder_fits_rows": "model=deberta objective.decoder_positions=512 max_length=1024",
        "plain_head_needs_wide_embeddings": "objective.transform=false model.embedding_size=64",
        "pair_needs_sentences": "pair=sentence_distance corpus=parallel",
        "words_need_gold": "words=gold",
        "words_are_told": "mask=whole_word tokenizer=ids corpus=anonymised",
        "units_are_told": "mask=phrase",
        "mask_schedule_needs_steps": "mask.later_ratios=[0.3] mask.ratio_schedule=linear budget.steps=null",
        "pair_weight_needs_pair": "objective.pair_weight=0.5",
        "ids_are_no_text": "tokenizer=ids",
        "stream_has_no_epochs": "corpus=text corpus.streaming=true budget.epochs=1",
        "average_takes_no_decay": "optimizer=schedule_free schedule=cosine",
        "one_average_of_the_weights": "optimizer=schedule_free trainer.average=0.999",
        "patience_needs_evaluations": "trainer.patience=2 eval.every=0",
        "parts_of_weights_need_an_optimizer_that_takes_them": "trainer.strategy=fsdp optimizer=adafactor",
    },
    "finetune": {
        "comparing_head_needs_two_texts": "task=sst2 task/head=san",
        "comparing_head_takes_no_pooling": "task=mnli task/head=san task/pooling=mean",
        "moving_embeddings_need_a_gradient": "task=mnli task/adversarial=fgm task.freeze_embeddings=true",
        "parts_of_weights_go_through_once": "task=mnli task.r_drop=1.0 trainer.strategy=fsdp",
        "folds_are_of_one_task": "task=[mnli,qqp] folds=2",
    },
}
OF_YOUR_OWN_PARTS = {  # plugins alone break these; tests/config/test_rules.py has parts that do
    "attention_takes_position",
    "needs_are_known",
    "sentences_are_told",
    "objective_needs_both_sides",
}


@pytest.mark.parametrize("root", BREAKING)
def test_each_rule_refuses_what_breaks_it(root):
    with composer(root) as compose:
        for name, words in BREAKING[root].items():
            composed = compose(spelled_out(words.split(), root=root, sweeps=False))
            facts = facts_of(plain_values(composed.config), composed.choices)
            assert name in {rule.__name__ for rule in (*RULES, *TASK_RULES) if rule(facts)}, name


def test_no_rule_is_left_out():
    broken = {name for rules in BREAKING.values() for name in rules}
    assert {rule.__name__ for rule in (*RULES, *TASK_RULES)} == broken | OF_YOUR_OWN_PARTS
