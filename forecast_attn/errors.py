"""Errors that a user can cause, each with a message and a hint of what to do next.

    UserError
    ├── DataError     the table: a file, a column, a row, a series
    ├── ConfigError   an option or a combination of options (exit code 2)
    └── RunError      a run directory: missing, unfinished, altered, from a newer version

Library code raises these; only `forecast_attn.cli.main` prints them and chooses the exit code.
A mistake of the *programmer* stays a ValueError with a traceback.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from typing import Self

INTERRUPTED = 130
"""Exit code after Ctrl-C. A command that has printed the reason raises SystemExit with it: Typer's Exit prints none."""

LONGEST_NAME = 80
"""Characters of a name in a list of names."""

INCOMPLETE = 3
"""Exit code of a forecast without some of the series."""

_FIELDS = ("code", "file", "row", "column", "item_id", "value")


class UserError(Exception):
    """One sentence that says what is wrong and where, and a hint that says what to type next.

    Programs read the fields; nothing parses the text of a message.

    Args:
        message: the sentence.
        hint: what to type next.
        code: the kind of problem, explained by `forecast explain CODE`; None where the stage has only one kind.
        file: the table; None where the raiser does not know it (`data.findings.naming` adds it).
        row: data row of the file, counted from 1.
        column: name of the column.
        item_id: name of the series.
        value: the cell's text.
        options: options of `forecast train` that the hint proposes, which a trained model has settled.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        code: str | None = None,
        file: str | None = None,
        row: int | None = None,
        column: str | None = None,
        item_id: str | None = None,
        value: str | None = None,
        options: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.file = file
        self.row = row
        self.column = column
        self.item_id = item_id
        self.value = value
        self.options = options
        self.is_told_elsewhere = False
        """True where another process of the same training prints this error."""
        self.commands: tuple[str, ...] = ()
        """Commands to type instead, each tried before it is suggested."""

    def to_dict(self) -> dict[str, object]:
        """JSON-able: kind, message, hint, the fields that are known, and commands."""
        fields = {name: getattr(self, name) for name in _FIELDS}
        kinds = [kind.__name__ for kind in type(self).__mro__ if kind in UserError.__subclasses__()]
        described = {"kind": kinds[0] if kinds else type(self).__name__, "message": self.message, "hint": self.hint}
        return {**described, **fields, "options": list(self.options), "commands": list(self.commands)}

    def reworded(self, message: str | None = None, hint: str | None = None) -> Self:
        """Return the same problem at the same place with another message or another hint."""
        fields = {name: getattr(self, name) for name in _FIELDS}
        options = self.options if hint is None else ()
        return type(self)(message or self.message, hint or self.hint, options=options, **fields)

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


def reason_of(error: Exception) -> str:
    """The message of an error, without its hint, for a sentence that has another hint."""
    return error.message if isinstance(error, UserError) else str(error)


class DataError(UserError):
    """The table cannot be used as it is.

    `finding` is the `data.findings.Finding` that was raised as an error, which may have been reported before.
    """

    finding: object = None


class ConfigError(UserError):
    """An option has an impossible value, or two options contradict each other."""

    exit_code = 2


class RunError(UserError):
    """A run directory cannot be read, written or continued."""


class TerminatedError(RunError):
    """SIGTERM ended the work."""


@contextlib.contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Name the package that an import in the block misses, and the command that installs it.

    Args:
        what: subject of the sentence, such as `a server`.
        extra: of pyproject.toml, which has the package.

    Raises:
        ConfigError: a package is missing.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        raise ConfigError(f"{what} needs the package '{package}'", f'pip install "forecast-attn[{extra}]"') from None


def did_you_mean(word: str, known: list[str] | tuple[str, ...]) -> str | None:
    """A hint that names the nearest of the known words, or lists them all when none is near."""
    match = nearest(word, known)
    if match is not None:
        return f"did you mean '{match}'?"
    return f"known: {', '.join(shortened_names(known))}" if known else None


def shortened_names(names: list[str] | tuple[str, ...]) -> list[str]:
    """Names for a list: a line of numbers taken for a header may have thousands of characters, and so may a series."""
    return [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names]


def nearest(word: str, known: list[str] | tuple[str, ...]) -> str | None:
    """The known word that looks most like this one; None when none does."""
    import difflib

    near = difflib.get_close_matches(word.lower(), [name.lower() for name in known], n=1, cutoff=0.6)
    return next(name for name in known if name.lower() == near[0]) if near else None


def shell_command(*words: object) -> str:
    """A command to type, quoted for a shell: `forecast predict 'my run'`."""
    return shlex.join(["forecast", *map(str, words)])
