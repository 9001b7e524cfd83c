"""What can be said about a table before training on it, and what can be put right: `forecast check`.

Above `data` and `preparation`, whose stages it takes a table through as training does.
"""

from forecast_attn.checking.examination import CheckReport, Examination, SeriesSummary, check_table, examine

__all__ = ["CheckReport", "Examination", "SeriesSummary", "check_table", "examine"]
