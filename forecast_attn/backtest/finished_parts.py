"""Finished parts of a backtest, in a hidden folder beside its file, so that a kill costs no more than one part."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from forecast_attn.runs.atomic import PARTIAL_SUFFIX, make_scratch, remove_scratch, write_atomically, write_errors_of


class Parts:
    """The folder of a backtest's parts.

    Attributes:
        folder: gone when the backtest is whole.
        changed: what an earlier backtest into the same file had otherwise, whose parts are deleted; None where there
            was none, or the same.
        num_finished: how many finished parts of the windows there were; baselines are no parts.
    """

    def __init__(self, out: Path, identity: dict[str, Any]) -> None:
        """Open or begin.

        Args:
            out: the file that is to be.
            identity: everything its bytes depend on, JSON-able.

        Raises:
            RunError: the folder cannot be made.
        """
        self.folder = out.with_name(f".{out.name}.parts")
        self._identity = self.folder / "backtest.txt"
        identity = json.loads(json.dumps(identity))  # as it will be read: JSON has no tuples
        self.changed = self._difference(identity)
        with write_errors_of(out):
            if self.changed is not None or not self._identity.is_file():
                make_scratch(self.folder, self._identity.name)
                write_atomically(self._identity, json.dumps(identity))  # in ASCII: a path may be no UTF-8
            for leftover in self.folder.glob(f".*{PARTIAL_SUFFIX}"):
                leftover.unlink()
        self.num_finished = len(list(self.folder.glob("part-*.arrow")))

    def _difference(self, identity: dict[str, Any]) -> str | None:
        """The first thing that is not as in the folder."""
        if not self._identity.is_file():
            return None
        try:
            before = json.loads(self._identity.read_text(encoding="utf-8"))
            return next((name for name in identity if before.get(name) != identity[name]), None)
        except (OSError, ValueError, AttributeError):
            return "parts that can be read"

    def forecasts(self, number: int) -> Path:
        """Forecasts of one part of the windows by the model."""
        return self.folder / f"part-{number:06d}.arrow"

    def baseline(self, name: str) -> Path:
        """All forecasts of a baseline."""
        return self.folder / f"baseline-{name}.parquet"

    def weights(self, number: int) -> Path:
        """Weights of a refit."""
        return self.folder / f"refit-{number:06d}.safetensors"

    def start(self, number: int) -> Path:
        """Weights that the next refit begins with, where these are others."""
        return self.folder / f"refit-{number:06d}.start.safetensors"

    def calibration(self, number: int) -> Path:
        """Calibration of a refit."""
        return self.folder / f"refit-{number:06d}.calibration"

    def combination(self, number: int) -> Path:
        """Weights of the combination with a refit."""
        return self.folder / f"refit-{number:06d}.weights"

    def scratch(self, number: int) -> Path:
        """An empty folder to refit in."""
        folder = self.folder / f"refit-{number:06d}"
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def remove(self) -> None:
        """Delete the folder: the backtest is whole."""
        remove_scratch(self.folder, self._identity.name)
