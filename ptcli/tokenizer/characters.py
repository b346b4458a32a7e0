"""The characters of a vocabulary's words, as a character network reads them."""

import numpy as np

from ptcli.tokenizer.tokenizer import Tokenizer

NUM_CHARACTER_IDS = 262
"""0 is padding, 1 + b the byte b; the others begin and end a sentence, begin and end a word, and fill it up."""

_BEGIN_SENTENCE, _END_SENTENCE, _BEGIN_WORD, _END_WORD, _FILL = (1 + code for code in range(256, 261))
_MASKED, _UNKNOWN, _OTHER = (1 + byte for byte in (0xFF, 0xFE, 0xFD))  # bytes that UTF-8 never uses


def character_ids(tokenizer: Tokenizer, *, width: int = 50) -> np.ndarray:
    """`width` character ids for each entry of a vocabulary, int16 (V, width): ELMo's (Peters et al., arXiv 1802.05365).

    A word is its begin, its UTF-8 bytes, as many as fit, its end, and filling; a special token has one character of its
    own, padding none. The table follows from the vocabulary, so that it can never disagree with a tokenizer beside it.
    """
    assert width > 2
    vocabulary = tokenizer.vocabulary
    named = {
        vocabulary.cls_token_id: _BEGIN_SENTENCE,
        vocabulary.sep_token_id: _END_SENTENCE,
        vocabulary.mask_token_id: _MASKED,
        vocabulary.unk_token_id: _UNKNOWN,
    }
    table = np.full((vocabulary.size, width), _FILL, np.int16)
    table[:, 0] = _BEGIN_WORD
    for number in range(vocabulary.size):
        if vocabulary.special[number] or number in named:
            inside = [named.get(number, _OTHER)]
        else:
            inside = [1 + byte for byte in tokenizer.token(number).encode()[: width - 2]]
        table[number, 1 : 1 + len(inside)] = inside
        table[number, 1 + len(inside)] = _END_WORD
    table[vocabulary.pad_token_id] = 0
    return table
