"""The first command that `forecast check` prints for a table: what a test expects of it, and the test itself."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

import pandas as pd
import pytest

from forecast_attn.checking.commands import MOST_COMMANDS, find_proposals
from forecast_attn.checking.proposal import command_text
from forecast_attn.config.options import DataConfig

from ..data.test_layouts import write_workbook

SUMS = {"aggregate": "sum", "missing": "zero"}
"""Options of amounts that add up."""
QUICK = (
    *("--max-epochs", "1", "--epoch-windows", "16", "--validation-windows", "8", "--hidden-size", "4"),
    *("--combination", "none", "--accelerator", "cpu", "--seed", "1"),
)
"""A training that takes a tenth of a second."""

Content = pd.DataFrame | str | list[list[object]]
"""A table as a frame, as the text of a file, or as the rows of a sheet."""


@dataclass(frozen=True)
class FirstCommand:
    """A table, and what its first command is.

    Args:
        name: of the case.
        make: the table, or the function that makes it.
        options: options of the command and their values; None for an option that it does not have.
        forecasts: the whole sentence beside the command, "" where it does not matter.
        mentions: a part of that sentence.
        no_others: the command has no other options.
        num_series: how many series the command trains on.
        step: the step of the time axis.
        trains: the command is also run, with a small network.
        encoding: of the file.
        file: its name.
        quick: `make fast` runs the case, too; the others are slow.
    """

    name: str
    make: Callable[[], Content] | str
    options: Mapping[str, object]
    forecasts: str = ""
    _: KW_ONLY
    mentions: str = ""
    no_others: bool = False
    num_series: int | None = None
    step: str | None = None
    trains: bool = False
    encoding: str = "utf-8"
    file: str = "table.csv"
    quick: bool = False


def each_case(cases: Iterable[FirstCommand]) -> pytest.MarkDecorator:
    """Run a test for each case, which it gets as `case`."""
    parameters = [pytest.param(case, id=case.name, marks=[] if case.quick else [pytest.mark.slow]) for case in cases]
    return pytest.mark.parametrize("case", parameters)


def check_first_command(case: FirstCommand, folder: Path, forecast: Callable) -> None:
    """Check the first command of a case's table against what the case expects.

    The others are looked for, too, in the quick cases alone: each is tried on the table, which takes as long again.
    """
    path = written_table(case, folder)
    proposal, *_ = find_proposals(path, DataConfig(), most=MOST_COMMANDS if case.quick else 1)
    options = dict(proposal.options)
    assert (options if case.no_others else {name: options.get(name) for name in case.options}) == case.options
    assert proposal.forecasts == (case.forecasts or proposal.forecasts)
    assert case.mentions in proposal.forecasts
    assert proposal.num_series == (case.num_series or proposal.num_series)
    assert proposal.step == (case.step or proposal.step)
    if case.trains:
        words = shlex.split(command_text(str(path), {}, proposal.options))
        outcome = forecast(*words[1:], *QUICK, "--out", folder / "run", "--quiet")
        assert outcome.code == 0, outcome


def written_table(case: FirstCommand, folder: Path) -> Path:
    """The file of a case's table."""
    content, path = case.make() if callable(case.make) else case.make, folder / case.file
    if isinstance(content, list):
        return write_workbook(folder / "book.xlsx", {"Sheet": content})
    if isinstance(content, pd.DataFrame):
        content.to_csv(path, index=False)
    else:
        path.write_text(content, encoding=case.encoding)
    return path


def first_of(folder: Path, frame: pd.DataFrame, name: str = "table.csv") -> dict[str, object]:
    """The options of the first command of a frame, with what it forecasts; nothing where there is no command."""
    frame.to_csv(folder / name, index=False)
    proposals = find_proposals(folder / name, DataConfig())
    return {**proposals[0].options, "forecasts": proposals[0].forecasts} if proposals else {}
