"""The plan of a comparison: every mechanism is trained with every seed, all else equal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from forecast_attn.config.options import ATTENTION_FILE_OPTIONS, RunConfig
from forecast_attn.config.requests import CompareRequest
from forecast_attn.config.values import MOST_SEEDS
from forecast_attn.errors import ConfigError, RunError, reason_of, shell_command
from forecast_attn.runs.atomic import check_name, write_errors_of
from forecast_attn.runs.run_dir import DAMAGED_HINT, DataSource, RunDir, check_holds_its_own_files, check_is_free
from forecast_attn.runs.validators import anything, check, digest, many, nullable, record, table, text, whole
from forecast_attn.version import package_version


class Entry(NamedTuple):
    """A training of the comparison."""

    attention: str
    seed: int

    @property
    def name(self) -> str:
        """Name of the run directory."""
        return f"{self.attention}-seed{self.seed}"


@dataclass(frozen=True)
class ComparisonPlan:
    """Mechanisms, seeds, and the options that all runs share."""

    attentions: tuple[str, ...]
    seeds: tuple[int, ...]
    options: dict[str, Any]

    @classmethod
    def of(cls, request: CompareRequest, **options: Any) -> ComparisonPlan:
        """Plan what a user asks for.

        Args:
            request: mechanisms and seeds.
            **options: of `forecast train`, for all runs.

        Raises:
            ConfigError: fewer than two mechanisms, an unknown one, or options that do not go with one of them.
        """
        names = tuple(dict.fromkeys(request.attention))
        if len(names) < 2:
            raise ConfigError(
                f"a comparison takes two attention mechanisms or more; got {len(names)}",
                "such as --attention none,bahdanau,luong-general",
            )
        plan = cls(names, tuple(range(request.seed, request.seed + request.seeds)), options)
        for entry in plan.entries:
            plan.config_of(entry)
        return plan

    @property
    def entries(self) -> tuple[Entry, ...]:
        """A seed of every mechanism before the next seed, so that a comparison cut short has compared something."""
        return tuple(Entry(attention, seed) for seed in self.seeds for attention in self.attentions)

    def config_of(self, entry: Entry) -> RunConfig:
        """The options of one training, as asked for.

        Raises:
            ConfigError: options contradict each other.
        """
        dropped = ATTENTION_FILE_OPTIONS if entry.attention == "none" else ()
        shared = {name: value for name, value in self.options.items() if name not in dropped}
        return RunConfig.from_options({**shared, "attention": entry.attention, "seed": entry.seed})

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {"attention": list(self.attentions), "seeds": list(self.seeds), "options": self.options}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> ComparisonPlan:
        """Read what `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError, ConfigError: it is something else.
        """
        seeds = [int(seed) for seed in content["seeds"]]
        choices = {"attention": content["attention"], "seeds": len(seeds), "seed": seeds[0]}
        return cls.of(CompareRequest.from_options(choices), **content["options"])


# --------------------------------------------------------------------------- directory
# Folder of a comparison: names of its files and runs.


_FORM = record(
    {
        "data": record({"file": text, "sha256": nullable(digest), "vintages_sha256": nullable(digest)}),
        "attention": many(text, most=100),
        "seeds": many(whole(0, 2**31), most=MOST_SEEDS),
        "options": table(anything),
    }
)
"""Schema of comparison.json; its options are checked as those of the command line are."""


class ComparisonDir:
    """Folder of a comparison."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.plan = self.path / "comparison.json"
        self.leaderboard_csv = self.path / "leaderboard.csv"
        self.leaderboard_json = self.path / "leaderboard.json"

    def check_is_free(self) -> None:
        """Raise RunError unless a comparison may be made here."""
        if self.plan.is_file():
            hint = f"choose another --out, or continue it with: {shell_command('compare', '--resume', self.path)}"
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
        content = {"package_version": package_version(), "data": source.to_dict(), **plan.to_dict()}
        RunDir(self.path).write_json(self.plan, content)  # which adds the format, and writes whole files

    def read(self) -> tuple[ComparisonPlan, dict[str, Any]]:
        """Read the plan, and the record of the table.

        Raises:
            RunError: this is no comparison, or a damaged one.
        """
        if not self.plan.is_file():
            raise RunError(f"there is no comparison in '{self.path}'", "start one: forecast compare data.csv --out DIR")
        check_name(self.path)
        check_holds_its_own_files(self.path)
        content = RunDir(self.path).read_json(self.plan)
        try:
            check(content, _FORM)
            recorded = {name: content["data"][name] for name in ("file", "sha256", "vintages_sha256")}
            return ComparisonPlan.from_dict(content), recorded
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ConfigError) as error:
            raise RunError(f"'{self.plan}' is damaged: {reason_of(error)}", DAMAGED_HINT) from None

    def run(self, entry: Entry) -> RunDir:
        """Directory of one training."""
        return RunDir(self.path / entry.name)


def comparisons_in(folder: Path) -> list[ComparisonDir]:
    """The comparisons in a folder, by name."""
    return [ComparisonDir(path.parent) for path in sorted(folder.glob("*/comparison.json"))]
