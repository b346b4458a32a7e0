"""What is done to characters before text is cut into tokens; offsets still count the characters of the text itself."""

from typing import Any


def normalizer(
    *, lowercase: bool, strip_accents: bool | None, nfkc: bool, clean: bool = False, ideographs_apart: bool = False
) -> Any:
    """One normaliser of the library tokenizers; None where nothing is to be done. See `normalizers_of`."""
    from tokenizers import normalizers

    steps = normalizers_of(
        lowercase=lowercase, strip_accents=strip_accents, nfkc=nfkc, clean=clean, ideographs_apart=ideographs_apart
    )
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else normalizers.Sequence(steps)


def normalizers_of(
    *, lowercase: bool, strip_accents: bool | None, nfkc: bool, clean: bool = False, ideographs_apart: bool = False
) -> list[Any]:
    """Normalisers of the library tokenizers, to be applied in order.

    `nfkc`: compatibility forms (ﬁ, Ｈ, ㎒) become plain ones. `strip_accents`: None does as `lowercase`. `clean`:
    control characters go, white space becomes spaces. `ideographs_apart`: each ideograph is a word.
    """
    from tokenizers import normalizers

    steps: list[Any] = []
    if nfkc:
        steps.append(normalizers.NFKC())
    if clean or ideographs_apart or lowercase or strip_accents:
        steps.append(
            normalizers.BertNormalizer(
                clean_text=clean,
                handle_chinese_chars=ideographs_apart,
                strip_accents=strip_accents,
                lowercase=lowercase,
            )
        )
    strips = lowercase if strip_accents is None else strip_accents
    if strips and not ideographs_apart:  # what was taken apart and is no accent goes together again: Hangul, kana
        steps.append(normalizers.NFC())
    return steps
