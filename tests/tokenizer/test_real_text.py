"""Tokenizers trained on real books: the words of the text survive them."""

import subprocess
import sys
from itertools import islice

import numpy as np
import pytest
import transformers

from ptcli.corpus.document import Document
from ptcli.corpus.sentences import sentence_spans
from ptcli.corpus.text import Text
from ptcli.words.alignment import words_of_tokens
from ptcli.words.chinese import Chinese
from ptcli.words.unicode import Unicode
from tests.tokenizer.recipes import RECIPES, Memory


@pytest.fixture
def texts(data):
    """100,000 characters of an English novel and of a Chinese one."""
    books = ["en/gutenberg", "zh/classics/hongloumeng.txt"]
    documents = [islice(Text(str(data / "corpora" / book), documents="file").documents(), 1) for book in books]
    return [next(document).text[5_000:105_000] for document in documents]


@pytest.mark.data
@pytest.mark.parametrize("kind", RECIPES)
def test_words_are_found_again_and_ids_are_those_of_transformers(texts, tmp_path, kind):
    corpus = Memory(texts)
    tokenizer = RECIPES[kind](vocab_size=4000).build(corpus, cache=tmp_path)
    for text, words in zip(texts, (Unicode(), Chinese()), strict=True):
        spans = words.spans(Document(text))
        _, starts, ends = tokenizer.encode([text])[0]
        first, last = words_of_tokens(starts, ends, spans)
        assert np.unique(first).size > 0.95 * spans.shape[0] or kind in ("bpe", "unigram")
        joined = [text[a:b] for a, b in zip(starts[last > first], ends[last > first], strict=True)]
        # to bpe and unigram, signs in a row are one word, and so are ideographs in a row
        if kind in ("bpe", "unigram"):
            joined = [token for token in joined if any(c.isascii() and c.isalpha() for c in token)]
        assert len(joined) < 0.002 * spans.shape[0]
    tokenizer.save(tmp_path / "saved")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    for text, language in zip(texts, ("en", "zh"), strict=True):
        lines = [text[a:b] for a, b in sentence_spans(text[:20_000], language)][:100]
        for line, (ids, _, _) in zip(lines, tokenizer.encode(lines), strict=True):
            assert theirs(line, add_special_tokens=False)["input_ids"] == ids.tolist()


_ONE_LINE = """
import resource, sys
from pathlib import Path
from ptcli.corpus.text import Text
from tests.tokenizer.recipes import RECIPES
tokenizer = RECIPES[sys.argv[1]](vocab_size=8192).build(Text(sys.argv[2]), cache=Path(sys.argv[3]))
print(tokenizer.vocabulary.size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", RECIPES)
def test_one_chinese_line_of_20_megabytes_takes_less_than_2_gigabytes(tmp_path, kind):
    rng = np.random.default_rng(0)
    characters = np.array([chr(code) for code in range(0x4E00, 0x4E00 + 5000)])
    words = ["".join(characters[rng.zipf(1.2, 2) % 5000]) for _ in range(20_000)]
    line = "".join(words[number % 20_000] for number in rng.zipf(1.1, 3_400_000))[:6_700_000]
    file = tmp_path / "line.txt"
    file.write_text(line, encoding="utf-8")
    assert file.stat().st_size > 20_000_000
    command = [sys.executable, "-c", _ONE_LINE, kind, str(file), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    size, gigabytes = done.stdout.split()
    print(kind, size, gigabytes)
    assert float(gigabytes) < 2
    assert int(size) > 4000
