"""The one place where text leaves the program: names from data cannot send control codes to the terminal.

Reports show control characters written out, as \\x1b. Documents (CSV, JSON) leave byte for byte, but on a terminal.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from typing import Any

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Characters that move the cursor, change colours, ring, hide or reverse text; and lone surrogates."""
_DATE = r"\d{4}-\d\d-\d\d \d\d:\d\d"
_WHOLE = re.compile(
    rf"{_DATE}(?: … \d\d:\d\d)?|`[^`]*`|(?<![\d.,])[+−]?[\d.,]+ … [+−]?[\d.,]+(?: %)?"
    r"|[(\[]default: \S{1,20}(?!\S)|(?<!\S)\S+ %"
)
"""Texts within which no line is broken: dates with their time, commands, ranges, defaults and shares."""
JOINT = "\ue000"
"""A private-use character that stands for a blank at which no line is broken."""
SECOND = "\ue001"
"""A private-use character that stands for the second half of a letter as wide as two."""
_PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "×": "x",
    "·": ".",
    "≤": "<=",
    "≥": ">=",
    "±": "+-",
    "→": "->",
    "│": "|",
    "─": "-",
    "■": "#",
    **dict(zip(" ░▒▓█", " .:*#", strict=True)),
    **dict(zip("▁▂▃▄▅▆▇", "..::**#", strict=True)),
}
"""Characters that we print and a terminal without UTF-8 may not have, and their replacements."""
_FALLBACK = "forecast-attn"


def visible(text: str) -> str:
    """Return text with control characters other than line ends and tabs written out: `\\x1b[31m`."""
    return _CONTROL.sub(lambda match: _escaped(match[0]), text)


def one_line(text: str) -> str:
    """Return text with line ends written out, so that a name cannot look like another line of output."""
    return text.replace("\n", "\\n")


def shortened(text: str, longest: int) -> str:
    """Return text with words longer than that cut in their middle: the names in a table may have any length."""
    return re.sub(rf"\S{{{longest + 1},}}", lambda word: f"{word[0][: longest - 20]}…{word[0][-19:]}", text)


def joined(text: str) -> str:
    """Return text with `JOINT` for the blanks at which no line may be broken."""
    return _WHOLE.sub(lambda match: match[0].replace(" ", JOINT), text)


def broken(text: str, room: int) -> str:
    """Break lines at blanks; commands, which people copy, and words longer than a line stay whole.

    Letters as wide as two, of Chinese, Japanese and Korean, and emoji count as two.
    """
    from textwrap import TextWrapper
    from unicodedata import east_asian_width

    wrapper = TextWrapper(max(room, 1), break_long_words=False, break_on_hyphens=False, replace_whitespace=False)
    lines = []
    doubled = "".join(each + SECOND if east_asian_width(each) in "WF" else each for each in joined(text))
    for line in doubled.split("\n"):
        wrapper.subsequent_indent = line[: len(line) - len(line.lstrip(" "))]
        lines.append(line if line.lstrip().startswith("forecast ") else wrapper.fill(line))
    return "\n".join(lines).replace(JOINT, " ").replace(SECOND, "")


def say(text: str, *, err: bool = False) -> None:
    """Write a line for people to read."""
    print(visible(text), file=sys.stderr if err else sys.stdout)


def say_error(text: str) -> None:
    """Write a sentence to stderr: on a terminal broken at blanks, unless a command stands in it without backquotes,
    for where that ends is not known, and people copy it.
    """
    if sys.stderr.isatty() and not re.search("(?<!`)forecast ", text):
        from shutil import get_terminal_size

        text = broken(text, get_terminal_size().columns)
    say(text, err=True)


def line_length() -> int:
    """Return the columns of the terminal; 100 in a pipe."""
    from shutil import get_terminal_size

    return get_terminal_size().columns if sys.stdout.isatty() else 100


def say_fact(name: str, value: str) -> None:
    """Write a name and its value: on a terminal a value is broken at blanks, below its name where it has long words."""
    start = f"{name:<32} "
    if sys.stdout.isatty():
        width = line_length()
        lines, indent = broken(value, width - len(start)).split("\n"), len(start)
        if max(map(len, lines)) > width - len(start):
            lines, indent = ["", *broken(value, width - 2).split("\n")], 2
        value = f"\n{' ' * indent}".join(lines)
    say(f"{start}{value}")


def write(text: str) -> None:
    """Write a document to stdout: as it is to a file or a pipe, with visible control characters to a terminal."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


def write_table(text: str, encoding: str = "utf-8") -> None:
    """Write a table to stdout in its own encoding, whatever that of the terminal is."""
    if sys.stdout.isatty() or not hasattr(sys.stdout, "buffer"):
        write(text)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(encoding))


def write_json(document: Any) -> None:
    """Write a JSON document to stdout, with escapes for what stdout's encoding does not have."""
    from json import dumps

    text = dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = dumps(document, indent=1, allow_nan=False)
    write(f"{text}\n")


def accept_any_text() -> None:
    """Let stdout and stderr replace what their encoding cannot express, instead of failing; closed ones swallow it."""
    codecs.register_error(_FALLBACK, _replacement)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as by `>&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_FALLBACK)


def _replacement(error: UnicodeError) -> tuple[str, int]:
    """Return similar ASCII characters, a star for a braille pattern, or the character's number."""
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    return "".join(map(_in_ascii, characters)), error.end


def _in_ascii(character: str) -> str:
    if "\u2800" <= character <= "\u28ff":
        return " " if character == "\u2800" else "*"
    return _PLAIN.get(character) or _escaped(character)


def _escaped(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that is no UTF-8
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
