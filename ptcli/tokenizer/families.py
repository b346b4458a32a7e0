"""How families of models write special tokens, and where they put them around text."""

from dataclasses import dataclass
from typing import Any

from ptcli.errors import ConfigError
from ptcli.tokenizer.special_tokens import SpecialTokens


@dataclass(frozen=True, slots=True)
class Family:
    """Special tokens by role, and templates of one and of two segments; the number after a colon is the segment id."""

    roles: SpecialTokens
    first: tuple[str, ...]  # tokens with the first ids, in order
    single: str
    pair: str
    last: tuple[str, ...] = ()  # tokens with the last ids, in order

    @property
    def size(self) -> int:
        """How many special tokens there are."""
        return len(self.first) + len(self.last)


_ANGLED = {"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}

# Every family has a mask token, also where its paper needs none, so that any objective can be trained with it. Segment
# ids are those of the batches: 1 from the second segment on, also for families that have no use for them.
FAMILIES = {
    # BERT, ALBERT, ELECTRA, ERNIE, StructBERT, SpanBERT, DeBERTa
    "bert": Family(
        SpecialTokens("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
    ),
    # RoBERTa, BART
    "roberta": Family(
        SpecialTokens(cls_token="<s>", sep_token="</s>", **_ANGLED),
        ("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B:1 </s>:1",
    ),
    # what classifies stands last; XLNet's own third segment id for it is left to its model
    "xlnet": Family(
        SpecialTokens(cls_token="<cls>", sep_token="<sep>", **_ANGLED),
        ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"),
        single="$A <sep> <cls>",
        pair="$A <sep> $B:1 <sep>:1 <cls>:1",
    ),
    # sentinels stand at the end, counted down: <extra_id_0> has the last id
    "t5": Family(
        SpecialTokens(cls_token=None, sep_token="</s>", **_ANGLED),
        ("<pad>", "</s>", "<unk>", "<mask>"),
        single="$A </s>",
        pair="$A </s> $B:1 </s>:1",
        last=tuple(f"<extra_id_{number}>" for number in reversed(range(100))),
    ),
    "gpt": Family(
        SpecialTokens(cls_token="<extract>", sep_token="<delimiter>", **_ANGLED),
        ("<pad>", "<unk>", "<start>", "<delimiter>", "<extract>", "<mask>"),
        single="<start> $A <extract>",
        pair="<start> $A <delimiter> $B:1 <extract>:1",
    ),
}


def family(name: str) -> Family:
    """The family of a name. Raises ConfigError where there is none."""
    if name not in FAMILIES:
        raise ConfigError(f"tokenizer.layout={name} is unknown. Choose one of {', '.join(FAMILIES)}.")
    return FAMILIES[name]


def dress(inner: Any, chosen: Family) -> None:
    """Make the family's special tokens known to a `tokenizers.Tokenizer`, and what it puts around text.

    Where a word's tokens hold the space before it, so does the mask that stands for it, as RoBERTa's does.
    """
    from tokenizers import AddedToken, processors

    tokens, masks = [*chosen.first, *chosen.last], chosen.roles.mask_token if holds_space(inner) else None
    inner.add_special_tokens([AddedToken(t, special=True, normalized=False, lstrip=t == masks) for t in tokens])
    used = {word.partition(":")[0] for word in f"{chosen.single} {chosen.pair}".split()} - {"$A", "$B"}
    inner.post_processor = processors.TemplateProcessing(
        single=chosen.single,
        pair=chosen.pair,
        special_tokens=[(token, inner.token_to_id(token)) for token in tokens if token in used],
    )


def holds_space(inner: Any) -> bool:
    """Whether the tokens of a word hold the space before it: byte-level pieces and those of sentencepiece do."""
    from tokenizers import pre_tokenizers

    return isinstance(inner.pre_tokenizer, pre_tokenizers.ByteLevel | pre_tokenizers.Metaspace)
