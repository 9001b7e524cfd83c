"""Terminals of 80, 120 and 200 columns: every table and every sentence of the commands is broken at blanks only."""

import io
import re
import shutil
import sys
from collections import Counter

import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.progress import Task
from rich.table import Table
from rich.text import Text

from forecast_attn.cli import COMMANDS, training_display
from forecast_attn.cli.backtest_display import BacktestDisplay
from forecast_attn.cli.printing import JOINT, broken, joined, say_error, say_fact
from forecast_attn.cli.tables import fitting_tables, make_console
from forecast_attn.data.zones import Zone
from forecast_attn.inspection import terminal as inspection_terminal
from forecast_attn.training.progress import EpochRecord
from forecast_attn.training.schedule import TrainingPlan

from .forks import on_terminal as on_tty

pytestmark = pytest.mark.slow

WIDTHS = (80, 120, 200)
WIDE = 10_000


@pytest.fixture(scope="module")
def printed(finished_run, forecast, small, make_table, tmp_path_factory):
    """What the commands hand to their console: (command, table or sentence, how)."""
    folder = tmp_path_factory.mktemp("widths")
    run = shutil.copytree(finished_run, folder / "2026-11-22T14-22-33-luong-general")
    data, later, trained = finished_run.parent / "data.csv", folder / "later.csv", folder / "trained"
    make_table(140).to_csv(later, index=False)
    inspect, backtest = ("inspect", run, "--validation"), ("backtest", run, "--data", data, "--cutoffs", "4")
    commands = [
        ("check", data),
        ("train", data, *small, "--quantiles", "0.1,0.5,0.9", "--out", trained),
        ("predict", run),
        (*inspect, "--by", "weekday"),
        (*inspect, "--compare", trained),
        ("audit", run, "--data", data, "--windows", "8", "--draws", "20", "--covariates", "--numbers"),
        backtest,
        (*backtest, "--dry-run"),
        ("evaluate", run / "backtest.parquet", "--actuals", data, "--by", "step"),
        ("plot", run, "--kind", "error-by-step"),
        ("plot", trained, "--kind", "calibration"),
        ("plot", run, "--kind", "attribution", "--data", data),
        ("plot", trained, "--kind", "by-value"),
        ("score", trained, later, "--rate", "0.05"),
        ("compare", data, *small, "--attention", "none,luong-general", "--seeds", "1", "--out", folder / "compared"),
    ]
    seen, patch, original = [], pytest.MonkeyPatch(), Console.print

    def keep(console, *shown, **options):
        seen.extend((command, each, options) for each in shown if isinstance(each, Table | str))
        return original(console, *shown, **options)

    patch.setattr(type(make_console()), "print", keep)
    for words in commands:
        command = words[0]
        outcome = forecast(*words)
        assert outcome.code == 0, (words, outcome.err)
    patch.undo()
    return seen


def on_terminal(shown, width, **options):
    """Lines of a terminal so wide."""
    console = make_console()
    console.width, console._force_terminal, console.file = width, True, io.StringIO()
    console.no_color, console._color_system = True, None
    console.print(shown, **options)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("stderr", [False, True])
def test_no_width_is_asked_for_by_a_zero(monkeypatch, stderr):
    monkeypatch.setenv("COLUMNS", "0")
    assert make_console(stderr=stderr).width == 120


def words_of(lines):
    """Words; the time and the mechanism in a run's name are two."""
    return Counter(word for line in lines for word in re.split(r"\s+|(?<=T14-22-33-)", line) if word)


@pytest.mark.parametrize("width", WIDTHS)
def test_tables_and_sentences_are_broken_at_blanks_only(printed, width):
    assert len({command for command, shown, _ in printed if isinstance(shown, Table)}) >= 9
    for command, shown, options in printed:
        lines, whole = (on_terminal(shown, each, **options) for each in (width, WIDE))
        for line in lines:  # a long path is one word, and a command is copied in one piece
            assert len(line) <= width or len(line.split()) == 1 or line.lstrip().startswith("forecast "), (
                command,
                line,
            )
        if isinstance(shown, str):
            assert words_of(lines) == words_of(whole), (command, lines)
        else:  # in parts, the columns that name the rows stand in each
            assert set(words_of(lines)) == set(words_of(whole)), (command, lines)
            assert not words_of(whole) - words_of(lines), (command, lines)


def test_an_error_is_broken_at_blanks_on_a_terminal_and_whole_in_a_pipe(monkeypatch, capsys):
    message = "error: '/data/a/long/folder/name/sales-of-2026.csv' ends at 2026-11-22 14:00, 3 hours before 2026-11-22 17:00, and 12 % of its rows are empty"  # noqa: E501
    monkeypatch.setenv("COLUMNS", "80")
    say_error(message)
    assert capsys.readouterr().err == f"{message}\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    say_error(message)
    say_error(command := f"hint: forecast train {'x' * 80} --out run")
    *lines, last = capsys.readouterr().err.splitlines()
    assert last == command
    assert " ".join(lines) == message
    assert all(len(line) <= 80 for line in lines)
    assert len(lines) == 2
    say_error(
        "hint: name the column of the series with --id, or keep one of the rows; `forecast explain FA202` says more"
    )
    assert capsys.readouterr().err == (
        "hint: name the column of the series with --id, or keep one of the rows;\n`forecast explain FA202` says more\n"
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_facts_are_broken_at_blanks_on_a_terminal_and_whole_in_a_pipe(monkeypatch, capsys, width):
    facts = {"data.sha256": "ab" * 32, "schema.reasons": "known after the last 2026-11-22 14:00, so used so; " * 4}
    monkeypatch.setenv("COLUMNS", str(width))
    for name, value in facts.items():
        say_fact(name, value)
        assert capsys.readouterr().out == f"{name:<32} {value}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for name, value in facts.items():
        say_fact(name, value)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= width
        assert " ".join(lines).split() == [name, *value.split()]
        assert not any(line.endswith("2026-11-22") for line in lines)


@pytest.mark.parametrize("room", range(4, 40))
def test_no_line_ends_within_a_date_a_command_or_a_share(room):
    text = "most of it (12 %) after 2026-11-22 14:00; from −4.71 … +4.71; see `forecast audit RUN`, or not"
    lines = broken(text, room).split("\n")
    for whole in ("(12 %)", "2026-11-22 14:00;", "−4.71 … +4.71;", "`forecast audit RUN`,"):
        assert sum(whole in line for line in lines) == 1


@pytest.mark.parametrize("width", range(24, 60))
def test_cells_and_styled_sentences_keep_dates_commands_and_shares_whole(width):
    sentence = "raises the error 24 % as much after 2026-11-22 14:00; see `forecast audit RUN`, or not"
    grid = Table.grid(padding=(0, 1))
    grid.add_row("-", sentence)
    for renderable in (grid, Text(sentence)):
        console = make_console()
        console.width, console.file = width, io.StringIO()
        console.print(renderable)
        lines = console.file.getvalue().splitlines()
        assert " ".join(" ".join(lines).split()).removeprefix("- ") == sentence
        for whole in ("24 %", "2026-11-22 14:00;", "`forecast audit RUN`,"):
            assert sum(whole in line for line in lines) == 1


@pytest.mark.parametrize("width", range(30, 60))
def test_a_line_below_its_heading_keeps_dates_and_shares_whole(width):
    lines = inspection_terminal._hanging("looks  most of it (12 %) after 2026-11-22 14:00 and 24 % before", width)
    for whole in ("(12 %)", "2026-11-22 14:00", "24 %"):
        assert whole in lines


def test_what_goes_on_below_stands_under_its_beginning():
    assert broken("what:\n    one two three four\n\nnext one two", 14).split("\n") == [
        *("what:", "    one two", "    three four", "", "next one two"),
    ]
    assert broken("one two", -8) == "one\ntwo"  # beside a heading wider than the terminal


@pytest.mark.parametrize("letter", ["x", "1", "`"])
def test_a_long_name_is_joined_as_a_short_one(letter):
    """The test would not end if the time grew with the square of the length, as it did."""
    assert joined(f"{1_000_000 * letter} 12 %").endswith(f"12{JOINT}%")


@pytest.mark.parametrize("width", WIDTHS)
def test_time_left_is_never_cut(monkeypatch, width):
    console = make_console(stderr=True)
    console.width, console._force_terminal, console.file = width, True, io.StringIO()
    monkeypatch.setattr(training_display, "make_console", lambda **_: console)
    display = training_display.TrainingDisplay(quiet=False)
    display.member_started(1, 10)
    display.training_started(TrainingPlan(200, 100, 12_800), 1, "cuda:0")
    display.epoch_done(EpochRecord(199, 1234.5678, 1234.5678, 0.001, 1.0, 1_234_567.0), is_best=True)
    display.batch_done(1234.5678, 128)
    console.file.truncate(0)
    display.close()
    line = next(line for line in console.file.getvalue().splitlines() if "%" in line)
    assert "-:--:--" in line
    assert "loss 1234.5678" in line
    assert ("windows/s" in line) is (width == 200)
    assert "…" not in line


@pytest.mark.parametrize("width", WIDTHS)
def test_days_that_are_left_are_not_cut(monkeypatch, width):
    console = make_console(stderr=True)
    console.width, console._force_terminal, console.file = width, True, io.StringIO()
    monkeypatch.setattr(training_display, "make_console", lambda **_: console)
    monkeypatch.setattr(Task, "time_remaining", 123 * 3600 + 45 * 60 + 6)
    display = training_display.TrainingDisplay(quiet=False)
    display.training_started(TrainingPlan(200, 100, 12_800), 1, "cpu")
    for loss in (1234.5678, 0.1):  # the room for numbers shrinks and grows with them
        display.batch_done(loss, 128)
        assert "123:45:06" in _line_of(display._progress, console)
    display.epoch_done(EpochRecord(199, 1234.5678, 1234.5678, 0.001, 1.0, 1_234_567.0), is_best=True)
    display.batch_done(0.1, 128)
    assert "123:45:06" in _line_of(display._progress, console)
    display.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_refit_of_a_backtest_leaves_room_for_the_time_left(monkeypatch, width):
    monkeypatch.setattr(Task, "time_remaining", 123 * 3600 + 45 * 60 + 6)
    with BacktestDisplay(quiet=False, training=None) as display:
        console = display.console
        console.width, console._force_terminal, console.file = width, True, io.StringIO()
        display._bar = display._stack.enter_context(display._new_bar())
        display._task = display._bar.add_task("forecasting", total=100)
        display._zone = Zone()
        display.refitting(123, pd.Timestamp("2026-11-22 14:00").to_datetime64())
        display.epoch_done(EpochRecord(199, 1234.5678, 1234.5678, 0.001, 1.0, 1_234_567.0))
        line = _line_of(display._bar, console)
    assert "refit 123: rows up to 2026-11-22 14:00" in line
    assert "123:45:06" in line
    assert "…" not in line


def _line_of(progress, console):
    """The line of progress as it is drawn now."""
    with console.capture() as capture:
        console.print(progress.get_renderable())
    (line,) = capture.get().splitlines()
    return line


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_page_cuts_no_name_and_no_word(forecast_fork, command):
    wide, *pages = (on_tty((command, "--help"), TERM="dumb", COLUMNS=str(columns)) for columns in (1_000, *WIDTHS))
    for width, narrow in zip(WIDTHS, pages, strict=True):
        assert words_of(narrow.split("\n")) == words_of(wide.split("\n"))
        assert all(len(line) <= width or len(line.split()) == 1 for line in narrow.splitlines()), narrow


def test_forecasts_on_a_narrow_terminal_are_a_table(run_copy):
    shown = on_tty(("predict", run_copy), TERM="dumb", COLUMNS="38")
    rows = [line.split() for line in shown.splitlines() if " 2024-" in line]
    assert len(rows) >= 3
    assert len({len(row) for row in rows}) == 1, "no row is broken"


def test_a_column_of_sentences_is_not_one_word_wide():
    console, table = make_console(), Table()
    console.width = 40
    for name in ("a name of a model", "number", "what it says"):
        table.add_column(name, no_wrap=name.startswith("a"))
    table.add_row("seasonal-naive-and-more", "123.45", "the losses are equal")
    with console.capture() as capture:
        console.print(table)
    assert "the losses are" in capture.get()


def test_a_long_name_of_a_series_leaves_room_for_the_columns_beside_it():
    console, table = make_console(), Table()
    console.width = 80
    table.add_column("series")
    for name in ("windows", "effective", "entropy", "season"):
        table.add_column(name, justify="right")
    table.add_row("a-name-that-is-longer-" * 4, "32", "7.5", "0.70", "22%")
    (fitting,) = fitting_tables(table, console)
    assert [column.header for column in fitting.columns] == ["series", "windows", "effective", "entropy", "season"]
    with console.capture() as capture:
        console.print(table)
    assert max(map(len, capture.get().splitlines())) <= 80
    assert "".join(line[: fitting.columns[0].width].strip() for line in capture.get().splitlines()[1:]) == (
        "a-name-that-is-longer-" * 4
    )


def test_names_of_thousands_of_letters_are_cut_in_tables_and_errors(forecast, write):
    console = Console(width=100, file=io.StringIO())
    table = Table("series", "rows", box=None)
    table.add_row("n" * 10_000, "14")
    (fitting,) = fitting_tables(table, console)
    console.print(fitting)
    assert console.file.getvalue().count("\n") < 6
    days = pd.date_range("2024", periods=40).repeat(9)
    names = [f"{number}{'n' * 10_000}" for number in range(9)] * 40
    path = write(pd.DataFrame({"date": days, "item_id": names, "target": range(360)}))
    assert forecast("train", path, "--max-epochs", 1, "--hidden-size", 2, "--out", "run").code == 0
    unknown = forecast("inspect", "run/validation_attention.parquet", "--item", "other")
    assert (unknown.code, len(unknown.err) < 1000) == (1, True)
    unknown = forecast("plot", "run", "--item", "other")
    assert (unknown.code, len(unknown.err) < 2000) == (1, True)


def test_letters_as_wide_as_two_count_as_two():
    words = "forecasts of '売上高（税込み）' by '店舗名' 🎉 "
    lines = broken(f"note: {words * 3}".rstrip(), 40).split("\n")
    assert all(cell_len(line) <= 40 for line in lines)
    assert " ".join(lines) == f"note: {words * 3}".rstrip()
