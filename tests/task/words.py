"""A tokenizer whose tokens can be read: known words are one token, others fall into letters."""

from functools import cache
from string import ascii_lowercase, digits

from tokenizers import Tokenizer as Inner
from tokenizers import models, normalizers, pre_tokenizers

from ptcli.tokenizer.families import dress, family
from ptcli.tokenizer.tokenizer import Tokenizer

KNOWN = ("the", "cat", "sat", "on", "mat", "who", "dog")


@cache
def letters(layout: str = "bert") -> Tokenizer:
    """Each word of KNOWN is a token; any other word is a token a letter, all but the first with ## before."""
    chosen = family(layout)
    signs = [*ascii_lowercase, *digits, *",.?!我喜欢猫"]
    tokens = [*chosen.first, *KNOWN, *signs, *(f"##{sign}" for sign in signs), *chosen.last]
    unknown = chosen.roles.unk_token
    assert unknown is not None
    inner = Inner(models.WordPiece({token: n for n, token in enumerate(tokens)}, unk_token=unknown))
    inner.normalizer = normalizers.BertNormalizer()  # type: ignore[assignment]
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
    dress(inner, chosen)
    return Tokenizer(inner, special_tokens=chosen.roles)


def examples(encoded, tokenizer: Tokenizer | None = None) -> list[str]:
    """The tokens of each example, spaces between."""
    tokenizer = tokenizer or letters()
    ranges = zip(encoded.offsets[:-1], encoded.offsets[1:], strict=True)
    return [" ".join(tokenizer.token(token) for token in encoded.tokens[a:b]) for a, b in ranges]
