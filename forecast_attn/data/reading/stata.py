"""Reads files of Stata (.dta) by pandas: numbers, dates, and values with labels as their labels."""

from __future__ import annotations

import io
import warnings

import pandas as pd

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading.columnar import refuse_text_options
from forecast_attn.data.reading.frames import frame_of_pandas
from forecast_attn.data.reading.source import STATA, Progress, Source
from forecast_attn.errors import DataError


def read_stata(source: Source, config: DataConfig, progress: Progress | None) -> pd.DataFrame:
    """Read a file of Stata 8 or later. A column of numbers that all have labels is text, as pandas reads it.

    Raises:
        ConfigError: an option for text files is given.
        DataError: the file is damaged, or has no rows.
    """
    refuse_text_options(config, f"{source.label} is a {STATA} file")
    with source.open() as stream:
        content = stream.read()
    try:
        frame = _read(content)
    except Exception as error:  # pandas raises anything on a damaged file
        message = f"{source.label} is a damaged or incomplete {STATA} file"
        raise DataError(message, f"copy or download it again; pandas says: {error}") from None
    if progress is not None:
        progress(source.size, source.size)
    return frame_of_pandas(frame, config, source.label)


def _read(content: bytes) -> pd.DataFrame:
    """The table with labels, but for columns in which some numbers have none, or two of them the same one."""
    try:
        frame = _read_once(content, with_labels=True)
    except ValueError as error:
        if "Value labels" not in str(error):
            raise
        return _read_once(content, with_labels=False)
    labelled = frame.select_dtypes("category")
    partly = [name for name in labelled if not all(isinstance(each, str) for each in labelled[name].cat.categories)]
    return frame.assign(**_read_once(content, with_labels=False)[partly]) if partly else frame


def _read_once(content: bytes, *, with_labels: bool) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.CategoricalConversionWarning)  # of numbers without a label
        return pd.read_stata(io.BytesIO(content), convert_categoricals=with_labels)
