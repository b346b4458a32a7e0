"""From bytes to characters and lines: streamed, strict, and with advice where the bytes are in another encoding."""

import codecs
import io
from collections.abc import Iterator
from pathlib import Path

from ptcli.corpus.files import read_chunks
from ptcli.errors import ConfigError, DataError

_GUESS_FROM = 1 << 20  # bytes

# The most frequent characters of texts in each encoding: a right guess has a good share of them among its non-ASCII
# characters, a wrong one almost none. Only the scores' order matters.
_CHINESE = "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年，。、：；？！“”　"
_TRADITIONAL = "的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年，。、：；？！「」　"
_KANA = "".join(map(chr, range(0x3041, 0x3097))) + "".join(map(chr, range(0x30A1, 0x30FB)))
_LATIN = "éèêëàâäáãåçñöôóòõüûúùíîïìøæœßÉÈÄÖÜÅØ’‘“”–—…°«»§"
_CYRILLIC = "".join(map(chr, range(0x410, 0x450)))
_USUAL = {
    "gb18030": set(_CHINESE),
    "big5": set(_TRADITIONAL),
    "shift_jis": set(_KANA + "。、"),
    "euc_jp": set(_KANA + "。、"),
    "euc_kr": set("이다는에의을가를은고하지한로서기도"),
    "cp1251": set(_CYRILLIC),
    "cp1252": set(_LATIN),
}


def check_encoding(encoding: str) -> None:
    """Raise ConfigError where Python knows no such encoding."""
    try:
        known = codecs.lookup(encoding)._is_text_encoding
    except LookupError:
        known = False
    if not known:
        raise ConfigError(f"corpus.encoding={encoding} is no known encoding. Write utf-8, gb18030, big5, cp1252, ...")


def read_text(file: Path, *, encoding: str) -> Iterator[str]:
    """The characters of a file in pieces: newlines are \\n, a byte order mark is gone.

    Raises DataError that names the file, the offset of the first byte that is no text, and what to type instead.
    """
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    offset, first = 0, True
    for chunk in read_chunks(file):
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(chunk)
        except UnicodeError as error:
            raise _undecodable(file, encoding, offset - pending, error) from error
        offset += len(chunk)
        text = newlines.decode(text)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        yield text
    pending = len(decoder.getstate()[0])
    try:
        yield newlines.decode(decoder.decode(b"", final=True), final=True)
    except UnicodeError as error:
        raise _undecodable(file, encoding, offset - pending, error) from error


def read_lines(file: Path, *, encoding: str) -> Iterator[str]:
    """The lines of a file, without their ends; one line of many megabytes costs time linear in its length."""
    parts: list[str] = []
    for text in read_text(file, encoding=encoding):
        head, *rest = text.split("\n")
        parts.append(head)
        for line in rest:
            yield "".join(parts)
            parts = [line]
    if last := "".join(parts):
        yield last


def guess_encoding(sample: bytes) -> str | None:
    """The encoding that decodes the sample and gives the most usual characters; None where no guess is good."""
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    best, best_score = None, 0.1
    for encoding, usual in _USUAL.items():
        try:
            text = codecs.getincrementaldecoder(encoding)("strict").decode(sample)
        except UnicodeError:
            continue
        beyond_ascii = [c for c in text if c > "\x7f"]
        score = sum(c in usual for c in beyond_ascii) / max(len(beyond_ascii), 1)
        if score > best_score:
            best, best_score = encoding, score
    return best


def _undecodable(file: Path, encoding: str, offset: int, error: UnicodeError) -> DataError:
    sample = b""
    for chunk in read_chunks(file):
        sample += chunk
        if len(sample) >= _GUESS_FROM:
            break
    guess = guess_encoding(sample[:_GUESS_FROM])
    where = f"byte {offset + error.start:,}" if isinstance(error, UnicodeDecodeError) else f"after byte {offset:,}"
    advice = (
        f"It decodes as {guess}: type corpus.encoding={guess}"
        if guess and codecs.lookup(guess) != codecs.lookup(encoding)
        else "Give its encoding: corpus.encoding=cp1252, big5, ..., or repair the file"
    )
    reason = error.reason if isinstance(error, UnicodeDecodeError) else str(error)
    return DataError(f"{file} is not {encoding} text: {reason} at {where}. {advice}.")
