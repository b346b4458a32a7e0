import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptcli.corpus.anonymised import Anonymised
from ptcli.corpus.document import Document
from ptcli.corpus.mixture import Mixture
from ptcli.corpus.text import Text
from ptcli.errors import ConfigError


class Given:
    """Documents of given lengths, each saying whose it is."""

    has_gold_words = False

    def __init__(self, mark, lengths, language="en"):
        self.mark, self.lengths, self.language = mark, lengths, language

    def check(self):
        pass

    def documents(self):
        return (Document(self.mark * length, source=f"{self.mark}{n}") for n, length in enumerate(self.lengths))

    def identity(self):
        return {"lengths": self.lengths}

    def remarks(self):
        return [f"remark of {self.mark}"]


LENGTHS = st.lists(st.integers(1, 50), min_size=20, max_size=60)


@settings(deadline=None)
@given(LENGTHS, LENGTHS, LENGTHS, st.tuples(*[st.floats(0.1, 10)] * 3))
def test_every_member_has_its_share_at_every_place(a, b, c, weights):
    members = {"a": Given("a", a), "b": Given("b", b), "c": Given("c", c)}
    mixture = Mixture(members, weights=dict(zip("abc", weights, strict=True)))
    documents = list(mixture.documents())
    given_ = dict.fromkeys("abc", 0)
    for document in documents:
        given_[document.text[0]] += len(document.text)
        behind = [given_[name] / weight for name, weight in zip("abc", weights, strict=True)]
        # no member is more than one document (of at most 50 characters) ahead of another
        assert max(behind) - min(behind) <= 50 / min(weights) + 1e-6
    for name, member in members.items():
        own = [d.source for d in documents if d.text[0] == name]
        assert own == [d.source for d in itertools.islice(member.documents(), len(own))]  # in order, none twice
    counts = {name: sum(d.text[0] == name for d in documents) for name in "abc"}
    assert any(counts[name] == len(member.lengths) for name, member in members.items())  # one is read to its end


def test_shares_of_the_text_and_what_is_left_out_are_said():
    mixture = Mixture({"few": Given("f", [100] * 10), "many": Given("m", [7] * 5000)}, weights={"few": 1, "many": 3})
    texts = [document.text for document in mixture.documents()]
    share = sum(len(text) for text in texts if text[0] == "m") / sum(map(len, texts))
    assert share == pytest.approx(0.75, abs=0.03)
    assert mixture.remarks()[:2] == ["few: remark of f", "many: remark of m"]
    assert mixture.remarks()[2].startswith("the mixture holds few 1,000 characters (2")
    assert mixture.remarks()[2].endswith("few is read to its end, what is left of the others is left out")


def test_each_document_has_its_members_language():
    mixture = Mixture({"en": Given("a", [5, 5]), "zh": Given("b", [5, 5], language="zh")})
    assert [(d.text[0], d.language) for d in mixture.documents()] == [("a", "en"), ("b", "zh")] * 2
    assert mixture.language == "en"


def test_a_store_divides_each_member_by_its_own_languages_rules(tmp_path):
    from ptcli.store.blocks import blocks
    from ptcli.words.unicode import Unicode

    texts = {"en": "Mr. Smith came. He left.", "de": "Am 3. Mai kam er. Er ging."}
    for language, text in texts.items():
        (tmp_path / f"{language}.txt").write_text(text)
    members = {language: Text(str(tmp_path / f"{language}.txt"), language=language) for language in texts}
    together = itertools.chain(*blocks(Mixture(members).documents(), words=Unicode(), language="en"))
    assert [len(block.sentences) for block in together] == [2, 2]


def test_identity_is_members_and_proportions():
    def identity(lengths, **weights):
        return Mixture({"a": Given("a", lengths), "b": Given("b", [1])}, weights=weights).identity()

    first = identity([1, 2], a=1, b=2)
    assert identity([1, 2], a=2, b=4) == first
    assert identity([1, 2], a=2, b=1) != first
    assert identity([1, 3], a=1, b=2) != first
    json.dumps(first)


def test_refusals_name_the_way_out(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("1 2\t3")
    text, ids = Text(str(file)), Anonymised(str(file))
    for members, settings_, message in [
        (None, {}, r"two corpora or more.*\+corpus@corpus.members.books=text"),
        ({"a": text}, {}, "two corpora or more"),
        ({"a": text, "b": text}, {"weights": {"c": 1}}, r"corpus\.weights\.c is the weight of no member.*a, b"),
        ({"a": text, "b": text}, {"weights": {"a": 0}}, "above 0"),
        ({"a": text, "b": ids}, {}, "corpus.members.b holds ids"),
        ({"a": text, "b": Text(str(tmp_path / "absent"))}, {}, "absent does not exist"),
        ({"a": text, "b": Text(str(file), streaming=True)}, {}, "corpus.members.b.streaming=true does nothing"),
        (
            {"a": text, "b": Text(str(file), streaming=True, window=5)},
            {"streaming": True},
            "corpus.members.b.window does nothing",
        ),
    ]:
        with pytest.raises(ConfigError, match=message):
            Mixture(members, **settings_).check()


def test_the_command_line_names_members(tmp_path):
    from ptcli.assembly.parts import part
    from ptcli.config.compose import compose

    (tmp_path / "a.txt").write_text("one\n\ntwo")
    (tmp_path / "b.jsonl").write_text('{"text": "three"}\n{"text": "four"}')
    words = [
        "corpus=mixture",
        "+corpus@corpus.members.books=text",
        f"corpus.members.books.path={tmp_path}/a.txt",
        "+corpus@corpus.members.web=jsonl",
        f"corpus.members.web.path={tmp_path}/b.jsonl",
        "+corpus.weights.web=2",
    ]
    corpus = part(compose("pretrain", words).config, "corpus")
    corpus.check()
    assert {document.text for document in corpus.documents()} >= {"one", "three"}
    assert corpus.weights == {"books": 1.0, "web": 2.0}
