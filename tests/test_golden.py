"""The first ten batches of some set-ups, as hashes: a change of data order, pairs, packing or masks shows in review.

A change that is meant is written down with `python -m tests.test_golden`; what changed then stands in golden.json.
The text and the vocabulary are made here, so that no tokenizer's training takes part.
"""

import hashlib
import itertools
import json
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("golden.json")

SET_UPS = {
    "best_fit": [],
    "next_sentence": ["packing=segment_pair", "pair=next_sentence", "mask=whole_word"],
    "sentence_order": ["packing=best_fit", "pair=sentence_order", "mask=span"],
    "structural": ["packing=sentence_pair", "pair=structural", "mask=whole_word", "batch.micro_size=3"],
    "sentence_distance": ["packing=segment_pair", "pair=sentence_distance", "seed=2"],
    "bert_exact": ["packing=segment_pair", "pair=bert_exact", "mask.ratio=0.4"],
    "full_sentences": ["packing=full_sentences", "mask=span"],
    "stream": ["packing=stream", "mask=static", "mask.copies=2"],
    "doc_sentences": ["packing=doc_sentences", "batch.group_by_length=true", "mask=whole_word"],
    "lines": ["packing=lines", "corpus.documents=line", "batch.group_by_length=true", "batch.micro_size=4"],
}
BATCHES = 10

TEXT = (
    "a all and at away back bird boat boats book by came carry carries cloud day door fall far field fish follow "
    "for garden green grow hill home house in is it keep lamp large leaf light like long make mill moon morning "
    "never night no of old on open over rain read reading red river road run running sea see sheep ship show sing "
    "sleep slow small snow so some song south star stay stone street sun table talk tall that the they through "
    "town tree turn under up walk wall warm was water well west when white wind window winter with wood word "
    "world yellow young"
)
WORDS = TEXT.split()
PIECES = ["##s", "##ing", "##ed", "##er", "##ly"]


@pytest.mark.parametrize("name", SET_UPS)
def test_batches_are_those_written_down(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PTCLI_CACHE", str(tmp_path / "cache"))
    written = json.loads(FILE.read_text(encoding="utf-8"))[name]
    found = hashes(SET_UPS[name], tmp_path)
    changed = [number for number, (a, b) in enumerate(zip(written, found, strict=True)) if a != b]
    assert not changed, f"batches {changed} are others now; if that is meant: python -m tests.test_golden"


def test_every_set_up_is_written_down_and_differs():
    written = json.loads(FILE.read_text(encoding="utf-8"))
    assert list(written) == list(SET_UPS)
    every = [one for batches in written.values() for one in batches]
    assert len(set(every)) == len(every) == len(SET_UPS) * BATCHES


def hashes(overrides: list[str], folder: Path) -> list[str]:
    """Hashes of the first batches that a command line with these overrides trains on; files are made in `folder`."""
    from ptcli.assembly.data import make_data, training_loader
    from ptcli.assembly.model import model_shape
    from ptcli.assembly.text import prepare_text
    from ptcli.config.compose import compose
    from ptcli.trainer.trainer import Trainer

    corpus(folder / "corpus.txt")
    tokenizer(folder / "tokenizer.json")
    words = ["corpus=text", f"corpus.path={folder}/corpus.txt", "tokenizer=pretrained"]
    words += [f"tokenizer.path={folder}/tokenizer.json", "max_length=48", "batch.size=6", "trainer.device=cpu"]
    config = compose("pretrain", [*words, *overrides]).config
    store = prepare_text(config)
    data = make_data(config, store, store.tokenizer().vocabulary)
    micro_size = Trainer().micro_size(config.batch.size, config.batch.micro_size)
    loader = training_loader(config, data, model=model_shape(config), micro_size=micro_size, static_length=False)
    steps = loader.steps()
    found = [_hash(step.micro_batches) for step in itertools.islice(steps, BATCHES)]
    steps.close()
    return found


def _hash(micro_batches) -> str:
    digest = hashlib.sha256()
    for batch in micro_batches:
        for key in sorted(batch):
            digest.update(f"{key} {tuple(batch[key].shape)} {batch[key].dtype}".encode())
            digest.update(batch[key].contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def corpus(path: Path) -> None:
    """120 documents of 1 to 16 sentences of 3 to 14 words, some with an ending, from arithmetic and no generator."""
    state, lines = 1, []

    def number(below: int) -> int:
        nonlocal state
        state = (state * 48271) % 2147483647
        return state % below

    for _ in range(120):
        for _ in range(1 + number(8) + number(9)):
            words = [WORDS[number(len(WORDS))] + (PIECES[number(5)][2:] if number(6) == 0 else "")]
            words += [WORDS[number(len(WORDS))] + ("s" if number(9) == 0 else "") for _ in range(2 + number(12))]
            lines.append(" ".join(words).capitalize() + ".")
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")


def tokenizer(path: Path) -> None:
    """A WordPiece tokenizer of the words above."""
    import tokenizers

    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *WORDS, *PIECES]
    model = tokenizers.models.WordPiece({entry: i for i, entry in enumerate(entries)}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(entries[:5])
    made.save(str(path))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = {name: hashes(overrides, Path(folder)) for name, overrides in SET_UPS.items()}
    FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
