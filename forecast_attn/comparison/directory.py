"""A comparison's folder: the names of its files, and of the runs in it.

comparison.json            what is compared, on which table
<attention>-seed<seed>/    a run directory for each training
leaderboard.csv            one row per mechanism, the best first
leaderboard.json           the same, with every run, the tests, the winner and what there is to say
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forecast_attn.atomic import write_errors_of
from forecast_attn.comparison.plan import ComparisonPlan, Entry
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.run_dir import DAMAGED_HINT, DataSource, RunDir, check_is_free
from forecast_attn.version import package_version


class ComparisonDir:
    """One comparison's folder."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.plan = self.path / "comparison.json"
        self.leaderboard_csv = self.path / "leaderboard.csv"
        self.leaderboard_json = self.path / "leaderboard.json"

    def check_is_free(self) -> None:
        """Raise RunError unless a comparison may be made here."""
        if self.plan.is_file():
            hint = f"name another --out, or continue it with: forecast compare --resume {self.path}"
            raise RunError(f"'{self.path}' holds a comparison already", hint)
        check_is_free(self.path)

    def create(self, plan: ComparisonPlan, source: DataSource) -> None:
        """Make the folder, which says what it will hold.

        Raises:
            RunError: it holds something already, or cannot be written.
        """
        self.check_is_free()
        with write_errors_of(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        about = {"file": source.name, "sha256": source.sha256, "vintages_sha256": source.vintages_sha256}
        # RunDir.write_json adds the format and writes whole files.
        RunDir(self.path).write_json(self.plan, {"package_version": package_version(), "data": about, **plan.to_dict()})

    def read(self) -> tuple[ComparisonPlan, dict[str, Any]]:
        """What is compared, and what is known of the table.

        Raises:
            RunError: this is no comparison, or a damaged one.
        """
        if not self.plan.is_file():
            raise RunError(f"there is no comparison in '{self.path}'", "begin one: forecast compare data.csv --out DIR")
        content = RunDir(self.path).read_json(self.plan)
        try:
            recorded = {name: content["data"][name] for name in ("file", "sha256", "vintages_sha256")}
            return ComparisonPlan.from_dict(content), recorded
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ConfigError) as error:
            raise RunError(f"'{self.plan}' is damaged: {error}", DAMAGED_HINT) from None

    def run(self, entry: Entry) -> RunDir:
        """Where a training is."""
        return RunDir(self.path / entry.name)
