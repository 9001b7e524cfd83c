"""Log of a server: one JSON object a line on stderr."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

NAME = "forecast_attn.serving"
LOG = logging.getLogger(NAME)


class JsonLines(logging.Formatter):
    """Formats a record, its fields (`extra={"fields": …}`) and its traceback as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        document = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            document["traceback"] = self.formatException(record.exc_info)
        return json.dumps(document, ensure_ascii=False, default=str)


def log_to_stderr(*, quiet: bool) -> None:
    """Write the server's log and uvicorn's to stderr; if quiet, only their warnings."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in (NAME, "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING if quiet or name == "uvicorn" else logging.INFO)
