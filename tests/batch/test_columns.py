import numpy as np
import pytest

from ptcli.batch.collate import gather
from ptcli.batch.loader import Loader
from ptcli.packing.best_fit import BestFit
from ptcli.packing.full_sentences import FullSentences
from ptcli.packing.segment_pair import SegmentPair
from ptcli.pair.next_sentence import NextSentence
from ptcli.pair.none import NoPair
from ptcli.store.documents import Documents
from tests.batch.fakes import EveryThird, Shard, TwoARow, vocabulary

NUM_TOKENS = 600


def tails(shard: int) -> Documents:
    """Documents of three sentences of five tokens, their first sentences left out, as a held-out side has them."""
    offsets = np.arange(0, NUM_TOKENS + 1, 5)
    first = np.arange(0, len(offsets) - 1, 3)
    return Documents(shard, offsets, np.stack([first + 1, first + 3], axis=1))


@pytest.mark.parametrize(
    ("packing", "pair"),
    [
        (TwoARow(), NoPair()),
        (FullSentences(), NoPair()),
        (BestFit(), NoPair()),
        (BestFit(), NextSentence()),
        (SegmentPair(), NextSentence()),
    ],
    ids=lambda part: type(part).__name__,
)
def test_each_position_is_told_its_document(packing, pair):
    documents = [tails(0), tails(1)]
    loader = Loader(
        shards=[Shard(NUM_TOKENS), Shard(NUM_TOKENS)],
        documents=documents,
        packing=packing,
        pair=pair,
        mask=EveryThird(),
        vocabulary=vocabulary(),
        max_length=32,
        batch_size=4,
        micro_size=4,
        seed=0,
        needs=("documents",),
    )
    seen = set()
    for gathered, _ in loader.once_flat():
        found = gathered.examples["documents"]
        tokens = gathered.examples.tokens
        assert found.shape == tokens.shape
        ordinary = gathered.examples.maskable
        # ids are numbered through a shard, ten of each fifteen are held out: the document follows from the id
        assert np.array_equal(found[ordinary] % 40, (tokens[ordinary] - 10) // 15)
        before = np.flatnonzero(~ordinary)
        before = before[before > 0]
        inner = before[~np.isin(before, gathered.examples.offsets)]
        assert np.array_equal(found[inner], found[inner - 1])  # a special token goes with the one before it
        firsts = gathered.examples.offsets[:-1]
        assert np.array_equal(found[firsts], found[firsts + 1])
        seen |= set(found[ordinary].tolist())
    assert seen == set(range(80))


def test_a_pass_for_looking_is_what_training_is_fed():
    loader = Loader(
        shards=[Shard(NUM_TOKENS)],
        documents=[tails(0)],
        packing=TwoARow(),
        pair=NoPair(),
        mask=EveryThird(),
        vocabulary=vocabulary(),
        max_length=32,
        batch_size=3,
        micro_size=2,
        seed=5,
    )
    for step, (gathered, masked) in zip(loader.steps(), loader.first_epoch(), strict=False):
        if gathered.num_rows < 3:  # training goes on in the next epoch here
            break
        rows = loader.tensors_of(gathered, masked)["input_ids"].tolist()
        fed = [row for batch in step.micro_batches for row in batch["input_ids"].tolist()]
        assert rows == fed


def test_sentences_begin_where_the_text_has_them_and_where_a_piece_does():
    index = BestFit().index(tails(0), layout=vocabulary().layout, pair=NoPair(), max_length=32, seed=0, epoch=0)
    rows = np.arange(index.num_rows)
    gathered = gather(index, Shard(NUM_TOKENS), rows, vocabulary(), documents=tails(0), needs={"sentences", "pieces"})
    examples = gathered.examples
    begins = (examples.tokens - 10) % 5 == 0  # ids count the tokens, sentences have five
    firsts = np.zeros(len(begins), bool)
    firsts[examples.offsets[:-1] + 1] = True  # behind [CLS]
    assert np.array_equal(examples["sentence_starts"], examples.maskable & (begins | firsts))
    assert np.array_equal(examples["piece_numbers"] >= 0, examples.maskable)


def test_pieces_of_a_pair_are_numbered():
    loader = Loader(
        shards=[Shard(NUM_TOKENS)],
        documents=[tails(0)],
        packing=SegmentPair(),
        pair=NextSentence(),
        mask=EveryThird(),
        vocabulary=vocabulary(),
        max_length=32,
        batch_size=4,
        micro_size=4,
        seed=0,
        needs=("pieces",),
    )
    for gathered, _ in loader.once_flat():
        text = gathered.examples.maskable
        assert np.array_equal(gathered.examples["piece_numbers"][text], gathered.examples["segments"][text])
        assert (gathered.examples["piece_numbers"][~text] == -1).all()
