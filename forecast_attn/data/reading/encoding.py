"""Finds the encoding of a text file and decodes it to UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from forecast_attn.data.reading.code_pages import NAMES as CODE_PAGE_NAMES
from forecast_attn.data.reading.code_pages import WESTERN, code_page
from forecast_attn.data.reading.east_asian import NAMES as EAST_ASIAN_NAMES
from forecast_attn.data.reading.east_asian import east_asian_encodings, first_word, readable_encodings
from forecast_attn.errors import ConfigError, DataError

# The longer marks first: the UTF-32 one starts with the UTF-16 one.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
ASSUMED = {**CODE_PAGE_NAMES, **EAST_ASIAN_NAMES}
"""Encoding of text that is not UTF-8, and says nothing of its encoding -> what it is called."""
_SUPERSETS = {
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "big5": "cp950",
    "utf-8-sig": "utf-8",
    "latin_1": "iso8859-1",
}
"""Codec -> the one that holds it and more, which is what files called so are written in."""
_CONTROL = bytes(set(range(32)) - {9, 10, 12, 13, 26, 27})


class NotUtf8Error(Exception):
    """The text is not UTF-8, which was only assumed."""


def checked_encoding(name: str) -> str:
    """The codec of `--encoding`.

    Raises:
        ConfigError: there is no such encoding.
    """
    hint = "for example --encoding utf-8, utf-16, cp1252, cp932 or gb18030"
    try:
        info = codecs.lookup(name)
        "a".encode(name)  # refuses codecs that are not from text to bytes
    except (LookupError, ValueError, TypeError):
        raise ConfigError(f"there is no encoding '{name}'", hint) from None
    return _SUPERSETS.get(info.name, info.name)


def find_encoding(start: bytes, label: str) -> str:
    """Detect a file's encoding from its first bytes: a byte order mark, the zeros of UTF-16, else UTF-8.

    Raises:
        DataError: these bytes are no text.
    """
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    if b"\0" not in start:
        return "utf-8"
    even, odd = start[0::2].count(0), start[1::2].count(0)
    # Text of Western letters in UTF-16 has a zero in every second place and nowhere else.
    if min(even, odd) == 0 and max(even, odd) > 0.4 * len(start) / 2:
        return "utf-16-le" if odd else "utf-16-be"
    raise no_text(label)


def encoding_of_start(start: bytes, label: str) -> str:
    """The encoding by the first bytes of a file, also where it is not Unicode.

    Raises:
        DataError: as `find_encoding` and `encoding_of_letters`.
    """
    encoding = find_encoding(start, label)
    if encoding != "utf-8":
        return encoding
    try:
        codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeDecodeError:
        return encoding_of_letters(start[: start.rfind(b"\n")], label)
    return encoding


def encoding_of_letters(text: bytes, label: str) -> str:
    """The encoding of text that is not UTF-8: that of China, Japan, Korea or Taiwan in which its letters are common.

    Text of other letters is of the code page in which a language fits it, and otherwise Western.

    Args:
        text: some lines.
        label: the file's name, for messages.

    Raises:
        DataError: several encodings are likely; or the text has control characters, or bytes that stand for no letter.
    """
    if text.translate(None, _CONTROL) != text:
        raise no_text(label)
    likely = east_asian_encodings(text)
    if len(likely) == 1:
        return likely[0]
    pages = [] if likely else [page for page in (code_page(text), WESTERN) if page is not None and _holds(page, text)]
    if pages:
        return pages[0]
    readable = likely or readable_encodings(text)
    if not readable:
        raise no_text(label)
    message = f"{label} is not UTF-8, and may be in {' or '.join(EAST_ASIAN_NAMES[codec] for codec in readable)}"
    hint = " or ".join(f"--encoding {codec} (reads {first_word(text, codec)!r})" for codec in readable)
    raise DataError(message, hint, code="FA110", options=("encoding",))


def encoding_of_names(start: bytes, names: Iterable[str], label: str) -> str | None:
    """The encoding in which a text has more names of another table than in the likeliest one; None where none has.

    Two words of Polish may be Spanish ones as well, and a few letters of two bytes may be of any of their encodings.
    UTF-8 is told without names.

    Args:
        start: the first lines.
        names: those of the columns that it may have, with letters beyond ASCII.
        label: the file's name, for messages.
    """
    if find_encoding(start, label) != "utf-8" or _holds("utf-8", start):
        return None

    def count(codec: str) -> int:
        text = start.decode(codec, errors="replace")
        return sum(name in text for name in names)

    best = max(ASSUMED, key=count)
    try:
        likeliest = count(encoding_of_letters(start, label))
    except DataError:  # several are likely
        likeliest = 0
    return best if count(best) > likeliest else None


def _holds(codec: str, text: bytes) -> bool:
    try:
        text.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def no_text(label: str) -> DataError:
    return DataError(
        f"{label} is not a CSV: it holds binary data",
        "expected text, gzip, zstd, Parquet, Feather or Stata; see --encoding",
        options=("encoding",),
    )


def as_utf8(chunks: Iterable[bytes], encoding: str, label: str, *, assumed: bool) -> Iterator[bytes]:
    """The text as UTF-8, without a byte order mark.

    Args:
        chunks: the file's bytes.
        encoding: their codec.
        label: the file's name, for messages.
        assumed: True when the user named no encoding; bytes of another one then raise NotUtf8Error.

    Raises:
        DataError: a byte is not of this encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    first = True
    try:
        for chunk in chunks:
            plain = encoding == "utf-8" and chunk.isascii() and not decoder.getstate()[0]
            text = b"" if plain else decoder.decode(chunk).encode()
            text = chunk if plain else text
            yield text.removeprefix(codecs.BOM_UTF8) if first else text
            first = False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        if assumed and encoding == "utf-8":
            raise NotUtf8Error from None
        index = f"byte 0x{error.object[error.start]:02x}" if error.start < len(error.object) else "its end"
        raise DataError(
            f"{label} is not {encoding} text: {index} is none",
            "name the right encoding with --encoding NAME",
            code="FA110",
            options=("encoding",),
        ) from None
    except UnicodeError:  # UTF-16 or UTF-32 without an order of bytes
        message = f"{label} is not {encoding} text: it has no byte order mark"
        hint = "name the byte order with --encoding utf-16-le or utf-16-be"
        raise DataError(message, hint, code="FA110", options=("encoding",)) from None
