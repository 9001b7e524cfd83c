"""Validators of JSON documents that come from elsewhere: each file is checked once, where it is read.

A validator is called with a value and where in the document it stands, and raises ValidationError for the first thing
that is not as expected. It ignores names that it does not know: later versions of a format may add some.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Validator = Callable[[Any, str], None]

LARGEST_COUNT = 10**7
"""Largest number of steps, windows, rows of a series or heads in a document."""


class ValidationError(ValueError):
    """A value does not have the format of its file."""


def check(content: Any, validator: Validator) -> None:
    """Check a document.

    Raises:
        ValidationError: names the position in the document and what is expected there.
    """
    validator(content, "")


def record(required: Mapping[str, Validator], optional: Mapping[str, Validator] | None = None) -> Validator:
    """An object with these names; those of `optional` may be missing."""

    def check_record(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        for name, validator in required.items():
            if name not in value:
                raise ValidationError(f"{_inside(where, name)} is missing")
            validator(value[name], _inside(where, name))
        for name, validator in (optional or {}).items():
            if name in value:
                validator(value[name], _inside(where, name))

    return check_record


def table(validator: Validator) -> Validator:
    """An object of any names, whose values all pass one validator."""

    def check_table(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        for name, entry in value.items():
            text(name, f"a name in {where}")
            validator(entry, _inside(where, name))

    return check_table


def many(validator: Validator, *, most: int | None = None) -> Validator:
    """A list whose entries all pass one validator."""

    def check_many(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        if most is not None and len(value) > most:
            raise ValidationError(f"{where} has {len(value):,} entries; {most:,} are the most")
        for number, entry in enumerate(value):
            validator(entry, f"{where}[{number}]")

    return check_many


def aligned(axis: str, tables: tuple[str, ...], validator: Validator) -> Validator:
    """An object that passes this validator, and whose tables hold lists as long as the one called `axis`."""

    def check_aligned(value: Any, where: str) -> None:
        validator(value, where)
        length = len(value[axis])
        for name in tables:
            for key, entries in value.get(name, {}).items():
                if entries is not None and len(entries) != length:
                    raise ValidationError(
                        f"{_inside(where, name)}.{key} has {len(entries):,} entries, {axis} {length:,}"
                    )

    return check_aligned


def equally_long(value: Any, where: str) -> None:
    """An object of any names, whose values are lists of numbers of one length."""
    table(many(number))(value, where)
    lengths = {len(entries) for entries in value.values()}
    if len(lengths) > 1:
        raise ValidationError(
            f"the lists of {where} have {min(lengths):,} to {max(lengths):,} entries, not equally many"
        )


def key_of(name: str, names: str) -> Validator:
    """An object whose `name`, where there is one, is a key of its object `names`."""

    def check_key(value: Any, where: str) -> None:
        if name in value:
            one_of(*value.get(names, {}))(value[name], _inside(where, name))

    return check_key


def together(*names: str) -> Validator:
    """An object that has all of these names, or none."""

    def check_together(value: Any, where: str) -> None:
        missing = [name for name in names if name not in value]
        if 0 < len(missing) < len(names):
            raise ValidationError(f"{_inside(where, missing[0])} is missing")

    return check_together


def every(*validators: Validator) -> Validator:
    """A value that passes all of these validators, tried in this order."""

    def check_every(value: Any, where: str) -> None:
        for validator in validators:
            validator(value, where)

    return check_every


def either(*validators: Validator) -> Validator:
    """A value that passes one of several validators; the error is that of the last."""

    def check_either(value: Any, where: str) -> None:
        for validator in validators[:-1]:
            try:
                return validator(value, where)
            except ValidationError:
                continue
        return validators[-1](value, where)

    return check_either


def nullable(validator: Validator) -> Validator:
    """A value that passes this validator, or null."""

    def check_nullable(value: Any, where: str) -> None:
        if value is not None:
            validator(value, where)

    return check_nullable


def anything(value: Any, where: str) -> None:
    """Any value."""


def text(value: Any, where: str) -> None:
    """Text that can be written as UTF-8."""
    if not isinstance(value, str):
        raise _wrong(where, "text", value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValidationError(f"{where} is text with a lone surrogate") from None


def path(value: Any, where: str) -> None:
    """The name of a file, which need not be UTF-8."""
    if not isinstance(value, str) or "\0" in value:
        raise _wrong(where, "a path", value)


def one_of(*choices: str) -> Validator:
    """Return a validator of a choice among texts."""

    def check_choice(value: Any, where: str) -> None:
        if not isinstance(value, str) or value not in choices:
            raise _wrong(where, f"one of {', '.join(choices)}", value)

    return check_choice


def flag(value: Any, where: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise _wrong(where, "true or false", value)


def whole(low: int = 0, high: int = LARGEST_COUNT) -> Validator:
    """A whole number between two, both included."""

    def check_whole(value: Any, where: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _wrong(where, f"a whole number from {low:,} to {high:,}", value)

    return check_whole


def number(value: Any, where: str) -> None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise _wrong(where, "a finite number", value)


def positive(value: Any, where: str) -> None:
    """A finite number above 0."""
    number(value, where)
    if value <= 0:
        raise _wrong(where, "a number above 0", value)


def digest(value: Any, where: str) -> None:
    """A SHA-256 in hexadecimal."""
    if not isinstance(value, str) or len(value) != 64 or not set(value) <= set("0123456789abcdef"):
        raise _wrong(where, "a SHA-256 digest", value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:  # a whole number of more than 308 digits
        return False


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _wrong(where: str, expected: str, value: Any) -> ValidationError:
    shown = repr(value)
    return ValidationError(
        f"{where or 'the document'} must be {expected}, not {shown[:40]}{'…' if len(shown) > 40 else ''}"
    )
