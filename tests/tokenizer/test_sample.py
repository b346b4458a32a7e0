from ptcli.corpus.document import Document
from ptcli.tokenizer.sample import sample

DOCUMENTS = [Document(f"{number:06d} " * 300) for number in range(400)]
TOTAL = 400 * 2100


def test_a_small_corpus_comes_whole():
    blocks, total = sample(DOCUMENTS, characters=TOTAL)
    assert "".join(blocks) == "".join(d.text for d in DOCUMENTS)
    assert total == TOTAL


def test_a_large_corpus_is_sampled_evenly_in_order_and_always_alike():
    blocks, total = sample(DOCUMENTS, characters=200_000)
    assert total == TOTAL
    assert 150_000 < sum(map(len, blocks)) <= 200_000
    numbers = [int(block[:6]) for block in blocks]
    assert numbers == sorted(numbers)
    quarters = [sum(q * 100 <= n < q * 100 + 100 for n in numbers) for q in range(4)]
    assert min(quarters) > len(numbers) / 4 * 0.6
    assert sample(iter(DOCUMENTS), characters=200_000)[0] == blocks


def test_words_are_not_cut():
    blocks, _ = sample([Document("lengthy " * 5000)], characters=20_000)
    assert {word for block in blocks for word in block.split()} == {"lengthy"}
