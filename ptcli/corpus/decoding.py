"""From bytes to characters and lines: streamed, strict, and with advice where the bytes are in another encoding."""

import codecs
import io
import re
from collections.abc import Iterator
from itertools import chain

from ptcli.corpus.packed import File, read_chunks
from ptcli.errors import ConfigError, DataError

DETECT = "detect"
"""As an encoding: UTF-8 where a file is UTF-8 from end to end, else what its characters speak for."""

# The most frequent characters of texts in each encoding: a right guess has a good share of them among its non-ASCII
# characters, a wrong one almost none. Only the scores' order matters.
_CHINESE = "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年，。、：；？！‘’“”—…　"
_TRADITIONAL = "的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年，。、：；？！「」　‘’“”—…"
_KANA = "".join(map(chr, range(0x3041, 0x3097))) + "".join(map(chr, range(0x30A1, 0x30FB)))
_LATIN = "éèêëàâäáãåçñöôóòõüûúùíîïìøæœßÉÈÄÖÜÅØ’‘“”–—…°«»§½¼¾¢£©®·±²"
_CYRILLIC = "".join(map(chr, range(0x410, 0x450)))
_USUAL = {
    "gb18030": set(_CHINESE),
    "big5": set(_TRADITIONAL),
    "shift_jis": set(_KANA + "。、"),
    "euc_jp": set(_KANA + "。、"),
    "euc_kr": set("이다는에의을가를은고하지한로서기도"),
}
# Of one byte a character: any bytes are text in these, so they are asked last.
_USUAL_OF_ONE_BYTE = {"cp1251": set(_CYRILLIC), "cp1252": set(_LATIN)}
_BESIDE_LATIN = re.compile(r"[A-Za-z][^\x00-\x7f]+|[^\x00-\x7f]+[A-Za-z]")
_LEAST_SHARE = 0.1


def check_encoding(encoding: str) -> None:
    """Raise ConfigError where Python knows no such encoding."""
    if encoding == DETECT:
        return
    try:
        known = codecs.lookup(encoding)._is_text_encoding
    except LookupError:
        known = False
    if not known:
        raise ConfigError(
            f"corpus.encoding={encoding} is no known encoding. Write utf-8, gb18030, big5, cp1252, ..., or detect"
        )


def read_text(file: File, *, encoding: str) -> Iterator[str]:
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


def read_lines(file: File, *, encoding: str) -> Iterator[str]:
    """The lines of a file, without their ends; one line of many megabytes costs time linear in its length."""
    return chain.from_iterable(read_some_lines(file, encoding=encoding))


def read_some_lines(file: File, *, encoding: str) -> Iterator[list[str]]:
    """The same, as many at a time as end in what is read at once."""
    parts: list[str] = []
    for text in read_text(file, encoding=encoding):
        lines = text.split("\n")
        parts.append(lines[0])
        if len(lines) > 1:
            lines[0] = "".join(parts)
            parts = [lines.pop()]
            yield lines
    if last := "".join(parts):
        yield [last]


def guess_encoding(sample: bytes) -> str | None:
    """The encoding that decodes the sample and gives the most usual characters; None where no guess is good."""
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for candidates in (_USUAL, _USUAL_OF_ONE_BYTE):
        shares = {name: _share(sample, name, usual) for name, usual in candidates.items()}
        best = max(shares, key=lambda name: shares[name])
        if shares[best] > _LEAST_SHARE:
            return best
    return None


def _share(sample: bytes, encoding: str, usual: set[str]) -> float:
    """Of the characters beyond ASCII, how many are usual ones; 0 where the sample does not decode."""
    try:
        text = codecs.getincrementaldecoder(encoding)("strict").decode(sample)
    except UnicodeError:
        return 0.0
    beyond_ascii = sum(c > "\x7f" for c in text)
    if encoding == "cp1251":  # a word in two scripts is French, not Russian
        text = _BESIDE_LATIN.sub("", text)
    return sum(c in usual for c in text) / max(beyond_ascii, 1)


def detect_encoding(file: File) -> str:
    """The encoding of a whole file. Raises DataError where it is not UTF-8 and no guess is good."""
    if (wrong := _not_utf8(file)) is None:
        return "utf-8"
    if (guess := guess_encoding(wrong)) is None:
        raise DataError(
            f"{file}: its encoding cannot be told from its characters. Give it: corpus.encoding=cp1252, big5, ..., "
            "or leave the file out"
        )
    return guess


def _not_utf8(file: File) -> bytes | None:
    """The stretch of a file that holds its first bytes that are not UTF-8; None where all are."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    first = True
    for chunk in read_chunks(file):
        try:
            decoder.decode(chunk)
        except UnicodeError:
            # a later stretch may begin within a character of the true encoding, but not after an end of line
            return chunk if first else chunk[chunk.find(b"\n") + 1 :]
        first = False
    return b"" if decoder.getstate()[0] else None


def _undecodable(file: File, encoding: str, offset: int, error: UnicodeError) -> DataError:
    sample = _not_utf8(file)
    guess = "utf-8" if sample is None else guess_encoding(sample)
    where = f"byte {offset + error.start:,}" if isinstance(error, UnicodeDecodeError) else f"after byte {offset:,}"
    advice = (
        f"It decodes as {guess}: type corpus.encoding={guess}, or corpus.encoding=detect where files differ"
        if guess and codecs.lookup(guess) != codecs.lookup(encoding)
        else "Give its encoding: corpus.encoding=cp1252, big5, ..., or repair the file"
    )
    reason = error.reason if isinstance(error, UnicodeDecodeError) else str(error)
    return DataError(f"{file} is not {encoding} text: {reason} at {where}. {advice}.")
