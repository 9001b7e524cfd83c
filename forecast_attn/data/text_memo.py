"""Answers about the texts of a column, kept as long as these are: `check` asks again with every option."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import pandas as pd

Answer = TypeVar("Answer")


class TextMemo(Generic[Answer]):
    """Answers to questions about the distinct texts of columns."""

    def __init__(self) -> None:
        self._answers: WeakKeyDictionary[pd.CategoricalDtype, tuple[pd.Index, dict[Hashable, Answer]]]
        self._answers = WeakKeyDictionary()

    def get(self, dtype: Any, question: Hashable, answer: Callable[[], Answer]) -> Answer:
        """The answer for the texts of a column, which its type (a CategoricalDtype) holds; found out once."""
        texts, answers = self._answers.setdefault(dtype, (dtype.categories, {}))
        if not (texts is dtype.categories or texts.equals(dtype.categories)):  # equal types may differ in their order
            return answer()
        if question not in answers:
            answers[question] = answer()
        return answers[question]
