"""Checks a table before training, and repairs it: `forecast check`.

Above `data` and `preparation`, whose stages it takes a table through as training does.
"""

from forecast_attn.checking.examination import CheckReport, Examination, SeriesSummary, check_table, examine

__all__ = ["CheckReport", "Examination", "SeriesSummary", "check_table", "examine"]
