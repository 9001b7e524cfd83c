"""What can go wrong for a user, said so that the user knows what to do next.

    UserError
    ├── DataError     the table: a file, a column, a row, a series
    ├── ConfigError   an option or a combination of options (exit code 2)
    └── RunError      a run directory: missing, unfinished, altered, from a newer version

Library code raises these; only `forecast_attn.cli.main` prints them and chooses the exit code.
A mistake of the *programmer* stays a ValueError with a traceback.
"""

from __future__ import annotations


class UserError(Exception):
    """One sentence that says what is wrong and where, and a hint that says what to type next."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class DataError(UserError):
    """The table cannot be used as it is.

    `code` is the kind of problem, which `forecast explain CODE` tells more about; None when the stage that raised it
    has only one kind. `row` counts data rows from 1. `file` is the table, when the message names it.
    """

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        code: str | None = None,
        row: int | None = None,
        column: str | None = None,
        item_id: str | None = None,
        file: str | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.file = file
        self.code = code
        self.row = row
        self.column = column
        self.item_id = item_id

    def saying(self, message: str, file: str | None = None) -> DataError:
        """The same problem at the same place in other words, which may name its table."""
        place = {"row": self.row, "column": self.column, "item_id": self.item_id, "file": file or self.file}
        return DataError(message, self.hint, code=self.code, **place)  # type: ignore[arg-type]


class ConfigError(UserError):
    """An option has an impossible value, or two options contradict each other."""

    exit_code = 2


class RunError(UserError):
    """A run directory cannot be read, written or continued."""


def did_you_mean(word: str, known: list[str] | tuple[str, ...]) -> str | None:
    """A hint that names the nearest of the known words, or lists them all when none is near."""
    match = nearest(word, known)
    if match is not None:
        return f"did you mean '{match}'?"
    return f"known: {', '.join(known)}" if known else None


def nearest(word: str, known: list[str] | tuple[str, ...]) -> str | None:
    """The known word that looks most like this one; None when none does."""
    import difflib

    near = difflib.get_close_matches(word.lower(), [name.lower() for name in known], n=1, cutoff=0.6)
    return next(name for name in known if name.lower() == near[0]) if near else None
