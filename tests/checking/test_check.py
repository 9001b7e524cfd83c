"""`forecast check`: what it prints in each format, and what `--fix` writes."""

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import check_table, examine
from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.fix import fix_table
from forecast_attn.config.options import DataConfig, RunConfig
from forecast_attn.data.findings import all_codes
from forecast_attn.data.panel import Panel
from forecast_attn.runs.training_table import read_panel

from .test_layouts import HOURS_ACROSS
from .test_missing_marks import marked
from .test_numbers_in_cells import EUROPEAN_THOUSANDS

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
SIZES = ("--lookback", "3", "--horizon", "1")

DAYS = pd.date_range("2024-01-01", periods=12).strftime("%Y-%m-%d")
VALUES = [3, 5, 4, 7, 6, 9, 8, 2, 5, 7, 6, 10.5]


def table(**columns: Any) -> pd.DataFrame:
    """Twelve days."""
    return pd.DataFrame({"date": DAYS, "y": VALUES, **columns})


def with_cells(frame: pd.DataFrame, column: str, cells: dict[int, Any]) -> pd.DataFrame:
    """The table with some cells of a column replaced, by row from 1."""
    frame = frame.astype({column: object})
    for row, cell in cells.items():
        frame.loc[row - 1, column] = cell
    return frame


# --------------------------------------------------------------------------- formats


def test_the_table_for_people(forecast: Callable, write: Callable) -> None:
    outcome = forecast("check", write(with_cells(table(), "y", {4: "many"})), *SIZES)
    assert outcome.code == 1
    assert (
        "FA103 error: column 'y' must be numeric; row 4 (line 5) is 'many'\n      fix: correct the cell" in outcome.out
    )
    assert "data.csv: cannot be trained on as it is\nforecast explain FA103 says more\n" in outcome.out
    assert outcome.out.endswith("when you have corrected that:\n  forecast check data.csv --horizon 1 --lookback 3\n")


def test_a_clean_table(forecast: Callable, write: Callable) -> None:
    outcome = forecast("check", write(table()), *SIZES)
    assert (outcome.code, outcome.err) == (0, "")
    assert "data.csv: ready to train\n" in outcome.out


@pytest.mark.parametrize("words", [("--json",), ("--format", "json"), ("--json", "--format", "json")])
def test_json(forecast: Callable, write: Callable, words: tuple[str, ...]) -> None:
    outcome = forecast("check", write(with_cells(table(), "y", {4: "many"})), *SIZES, *words)
    assert outcome.code == 1
    (finding,) = json.loads(outcome.out)["findings"]
    assert finding == {
        "code": "FA103",
        "severity": "error",
        "file": "data.csv",
        "row": 4,
        "column": "y",
        "item_id": "y",
        "message": "column 'y' must be numeric; row 4 (line 5) is 'many'",
        "fix": finding["fix"],
    }
    assert finding["fix"].startswith("correct the cell")


@pytest.mark.parametrize("options", [(), ("--time", "date")])
def test_whole_numbers_too_far_apart_to_be_steps_are_a_finding(
    forecast: Callable, write: Callable, options: tuple[str, ...]
) -> None:
    stamps = [number * 10**15 for number in range(40)]
    outcome = forecast("check", write(pd.DataFrame({"date": stamps, "y": range(40)})), "--json", *options)
    assert outcome.code == 1
    assert [finding["code"] for finding in json.loads(outcome.out)["findings"]] == ["FA203"]


def test_notes_and_warnings_are_clean(forecast: Callable, write: Callable) -> None:
    outcome = forecast("check", write(table(note="dry", version=1)[::-1]), *SIZES, "--json", "--target", "y")
    findings = {finding["code"]: finding["severity"] for finding in json.loads(outcome.out)["findings"]}
    assert findings == {"FA404": "warning", "FA104": "note", "FA207": "note"}
    assert outcome.code == 0


@pytest.mark.parametrize("code", ["FA101", "FA103", "FA204", "FA401", "FA405"])
def test_every_finding_is_whole(forecast: Callable, write: Callable, code: str) -> None:
    example = all_codes()[code].bad
    report = json.loads(forecast("check", write(example.table), *example.options, "--json").out)
    for finding in report["findings"]:
        assert set(finding) == {"code", "severity", "file", "row", "column", "item_id", "message", "fix"}
        assert finding["file"] == "data.csv"
        assert finding["fix"]


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--format", "yaml"), "--format has no value 'yaml'", "table, json, github"),
        (("--format", "gitub"), "--format has no value 'gitub'", "did you mean 'github'"),
        (("--format", "github", "--json"), "contradict", "leave one"),
        (("--fix",), "--fix needs a file", "--fix --out clean.csv"),
        (("--out", "clean.csv"), "--out is where --fix writes", "add --fix"),
        (("--fix", "--out", "data.csv"), "is a file that is read", "another file"),
        (("--fix", "--out", "./data.csv"), "is a file that is read", "another file"),
        (("--fix", "--out", "link.csv"), "is a file that is read", "another file"),
        (("--fix", "--out", "-", "--json"), "both write to stdout", "--out FILE"),
        (("--fix", "--out", "-", "--format", "github"), "both write to stdout", "--out FILE"),
    ],
)
def test_options_that_contradict(
    refused: Callable, write: Callable, words: tuple[str, ...], message: str, hint: str
) -> None:
    path = write(table())
    Path("link.csv").symlink_to(path)
    refused("check", path, *words, message=message, hint=hint, code=2)


# --------------------------------------------------------------------------- GitHub


def unescaped(text: str) -> str:
    """What GitHub makes of an escaped text."""
    return text.replace("%0A", "\n").replace("%0D", "\r").replace("%3A", ":").replace("%2C", ",").replace("%25", "%")


def annotations(out: str) -> list[tuple[str, dict[str, str], str]]:
    """Command, properties and message of every line, parsed as the runner does: at the first `::`, commas, `=`."""
    parsed = []
    for line in out.splitlines():
        match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
        assert match, line
        pairs = [pair.split("=", 1) for pair in match[2].split(",")]
        parsed.append((match[1], {name: unescaped(value) for name, value in pairs}, unescaped(match[3])))
    return parsed


def test_annotations(forecast: Callable, write: Callable) -> None:
    frame = with_cells(table(**{"load: 100 %, net": [1, 2, 3] * 4, "note": "a, b"}), "load: 100 %, net", {5: "50 %"})
    outcome = forecast("check", write(frame, "my data, 50%.csv"), *SIZES, "--format", "github", "--target", "y")
    assert (outcome.code, outcome.err) == (1, "")
    (error, where, message), (notice, elsewhere, _) = annotations(outcome.out)
    assert (error, notice) == ("error", "notice")
    assert where == {
        "file": "my data, 50%.csv",
        "line": "6",
        "col": "16",
        "title": "FA103: text in a column of numbers",
    }
    assert message.startswith("column 'load: 100 %, net' must be numeric; row 5 (line 6) is '50 %'\n")
    assert set(elsewhere) == {"file", "title"}


def test_a_warning_is_a_warning(forecast: Callable, write: Callable) -> None:
    outcome = forecast("check", write(table(version=1)), *SIZES, "--target", "y", "--format", "github")
    assert outcome.code == 0
    assert [command for command, _, _ in annotations(outcome.out)] == ["warning"]


@pytest.mark.parametrize(
    ("text", "line", "col"),
    [
        ("date,y\n2024-01-01,x\n", 2, 12),
        ("\n\ndate,y\n\n2024-01-01,x\n", 5, 12),
        ('date,note,y\n2024-01-01,"a\nb, c",1\n2024-01-02,"d ""e""",x\n', 4, 22),
        ('date,note,y\n2024-01-01,"a\nb, c",x\n', 3, 7),
        ("sep=;\ndate;y\n2024-01-01;x\n", 3, 12),
        ("date\ty\r\n2024-01-01\tx\r\n", 2, 12),
        ('"date","y"\n"2024-01-01","x"\n', 2, 14),
    ],
)
def test_annotations_point_at_the_cell(forecast: Callable, write: Callable, text: str, line: int, col: int) -> None:
    """Against the text itself: the character at line and column begins the cell."""
    mark = ";" if ";" in text else "\t" if "\t" in text else ","
    filler = {",note,": '"z",'}.get(",note," if "note" in text else "", "")
    end = "\r\n" if "\r" in text else "\n"
    days = pd.date_range("2024-01-03", periods=6).strftime("%Y-%m-%d")
    text += "".join(f"{day}{mark}{filler}{at}{end}" for at, day in enumerate(days))
    outcome = forecast("check", write(text), *SIZES, "--format", "github")
    positions = [
        (where["line"], where["col"]) for _, where, messages in annotations(outcome.out) if "is 'x'" in messages
    ]
    assert positions == [(str(line), str(col))], outcome
    assert text.split("\n")[line - 1][col - 1 :].startswith(("x", '"x'))


def test_annotations_of_a_file_without_lines(forecast: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CORPUS)
    ((_, where, _),) = annotations(forecast("check", "nulls.parquet", *SIZES, "--format", "github").out)
    assert where["file"] == "nulls.parquet"
    assert "line" not in where


def test_a_finding_in_a_file_that_an_option_names(forecast: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CORPUS)
    words = ("comma.csv", "--holiday-dates", "holidays/text.csv", *SIZES)
    ((command, where, _),) = annotations(forecast("check", *words, "--format", "github").out)
    assert (command, where["file"], where["line"], where["col"]) == ("error", "holidays/text.csv", "3", "1")
    (finding,) = json.loads(forecast("check", *words, "--json").out)["findings"]
    assert (finding["code"], finding["file"], finding["row"]) == ("FA523", "holidays/text.csv", 2)


# --------------------------------------------------------------------------- --fix

FIXED = [
    ("semicolon-decimal-comma.csv", (), ["decimal mark: comma to point", "delimiter: ; to comma"]),
    ("utf8-mark.csv", (), ["byte order mark: removed"]),
    ("latin1.csv", (), ["encoding: cp1252 to utf-8"]),
    ("utf16-tab.txt", (), ["byte order mark: removed", "delimiter: tab to comma", "encoding: utf-16-le to utf-8"]),
    (
        "excel-sep-line.csv",
        (),
        ["decimal mark: comma to point", "delimiter: ; to comma", "line that names the delimiter: removed"],
    ),
    ("blanks-around.csv", (), ["names: blanks removed"]),
    ("day-first.csv", (), ["stamps: written as ISO 8601"]),
    ("iso-weeks.csv", (), ["stamps: written as ISO 8601"]),
    ("compact.csv", (), ["stamps: written as ISO 8601"]),
    ("hour-24.csv", (), ["stamps: written as ISO 8601"]),
    ("shuffled.csv", (), ["rows: sorted by series and time"]),
    ("name-missing.csv", (), ["column left out: index without a name"]),
    ("rows-of-nothing.csv", (), ["rows without a value: dropped"]),
    ("last-rows-unknown.csv", (), ["rows without a value: dropped"]),
    ("repeated-mean.csv", ("--duplicates", "mean"), ["duplicates: mean"]),
    ("repeated-first.csv", ("--duplicates", "first"), ["duplicates: first"]),
    ("repeated-last.csv", ("--duplicates", "last"), ["duplicates: last"]),
    ("gap-ffill.csv", ("--missing", "ffill"), ["gap: rows added", "missing: ffill"]),
    ("gap-interpolate.csv", ("--missing", "interpolate"), ["gap: rows added", "missing: interpolate"]),
    ("gap-zero.csv", ("--missing", "zero"), ["gap: rows added", "missing: zero"]),
    ("gap-mask.csv", ("--missing", "mask"), ["gap: rows added", "missing: masked"]),
    ("target-missing-zero.csv", ("--missing", "zero"), ["missing: zero"]),
    ("wide.csv", ("--wide",), ["wide: one row per series and step"]),
    ("date-format-given.csv", ("--date-format", "%d/%m/%Y"), ["stamps: written as ISO 8601"]),
    ("berlin-spring-said.csv", ("--tz", "Europe/Berlin"), ["stamps: written as ISO 8601"]),
    ("berlin-autumn-said.csv", ("--tz", "Europe/Berlin"), ["stamps: written as ISO 8601"]),
    ("thousands-in-german.csv", ("--decimal", ","), ["decimal mark: comma to point", "delimiter: ; to comma"]),
    ("comma.csv", (), []),
    ("future-rows.csv", (), []),
    ("categories.csv", ("--past", "weather"), []),
    ("categories-of-numbers.csv", ("--past", "code", "--categorical", "code"), []),
    ("static.csv", ("--static", "area"), []),
    ("identifier-with-zeros.csv", (), []),
    ("days.parquet", (), []),
    ("zoned.parquet", ("--tz", "Europe/Berlin"), []),
    ("quoted-newline.csv", (), []),
]
SETTLED = ("--delimiter", "--decimal", "--encoding", "--date-format", "--duplicates", "--missing")


@pytest.mark.parametrize(("name", "words", "repairs"), FIXED, ids=[name for name, _, _ in FIXED])
def test_a_repaired_table_is_the_same_series(
    forecast: Callable, here: Path, name: str, words: tuple[str, ...], repairs: list[str]
) -> None:
    """It passes check, needs no option of reading, and gives training the same arrays."""
    outcome = forecast("check", CORPUS / name, *words, *SIZES, "--fix", "--out", "clean.csv")
    assert outcome.code == 0, outcome
    messages = [line.split("  ")[0] for line in outcome.err.splitlines() if ": " in line and "clean.csv" not in line]
    assert sorted(messages) == repairs, outcome.err
    assert outcome.err.splitlines()[-1].startswith("clean.csv: ")
    assert "clean.csv: ready to train\n" in outcome.out
    assert outcome.out.endswith("ready to train\n") or "explain" in outcome.out

    left = without_settled(words)
    again = forecast("check", "clean.csv", *left, *SIZES)
    assert again.code == 0, again
    assert not [line for line in again.out.splitlines() if "FA105" in line or "FA207" in line]
    twice = forecast("check", "clean.csv", *left, *SIZES, "--fix", "--out", "twice.csv")
    assert twice.code == 0, twice
    assert Path("twice.csv").read_bytes() == Path("clean.csv").read_bytes()
    same = "comma.csv" if repairs == ["rows without a value: dropped"] else name  # as it is, it cannot be trained on
    assert_same(panel_of(CORPUS / same, words), panel_of("clean.csv", left))


def without_settled(words: tuple[str, ...]) -> tuple[str, ...]:
    """The options that the repaired table still needs."""
    if words == ("--wide",):
        return ()
    pairs = list(zip(words[::2], words[1::2], strict=True))
    return tuple(w for flag, value in pairs if flag not in SETTLED or value == "mask" for w in (flag, value))


def panel_of(path: Path | str, words: tuple[str, ...]) -> Panel:
    """What training reads."""
    pairs = {"wide": True} if words == ("--wide",) else dict(zip((w[2:] for w in words[::2]), words[1::2], strict=True))
    return read_panel(path, RunConfig.from_options({**pairs, "lookback": 3, "horizon": 1}))[0]


def assert_same(one: Panel, other: Panel) -> None:
    """Bit-equal arrays, one by one and by name."""
    assert (one.item_ids, one.categories, one.zone, one.frequency.alias) == (
        other.item_ids,
        other.categories,
        other.zone,
        other.frequency.alias,
    )
    arrays = {name: value for name, value in vars(one).items() if isinstance(value, np.ndarray)}
    assert len(arrays) >= 10
    for name, value in arrays.items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


@pytest.mark.parametrize(
    "text", [EUROPEAN_THOUSANDS, marked("-"), HOURS_ACROSS], ids=["thousands and a sum", "a hyphen", "hours across"]
)
def test_a_table_is_repaired_with_the_options_of_its_command(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    config = DataConfig(**find_proposals(path, DataConfig(), most=2)[0].options)
    _, fixed = fix_table(path, config)
    assert fixed is not None
    clean = tmp_path / "clean.csv"
    clean.write_text(fixed.csv)
    missing = "mask" if config.na else "auto"
    again, first = examine(clean, DataConfig(missing=missing)), examine(path, config)
    assert again.panel is not None
    assert first.panel is not None
    np.testing.assert_array_equal(again.panel.target, first.panel.target)
    np.testing.assert_array_equal(again.panel.timestamps, first.panel.timestamps)


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("repeated.csv", (), "FA202"),
        ("gap.csv", (), "FA204"),
        ("target-missing.csv", (), "FA301"),
        ("unit.csv", (), "FA103"),
        ("day-or-month-first.csv", (), "FA201"),
        ("row-too-long.csv", (), "FA106"),
        ("empty.csv", (), "FA101"),
        ("two-targets.csv", (), "FA102"),
        ("gap-mask.csv", ("--duplicates", "mean"), "FA204"),
        ("all-too-short.csv", (), "FA403"),
        ("series-without-a-value.csv", (), "FA301"),
    ],
)
def test_what_needs_a_choice_is_not_repaired(
    forecast: Callable, files_in: Callable, here: Path, name: str, words: tuple[str, ...], code: str
) -> None:
    Path("clean.csv").write_text("mine")
    outcome = forecast("check", CORPUS / name, *words, *SIZES, "--fix", "--out", "clean.csv", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["findings"][0]["code"] == code
    assert files_in() == {"clean.csv": b"mine"}
    to_stdout = forecast("check", CORPUS / name, *words, *SIZES, "--fix", "--out", "-")
    assert to_stdout.code == 1
    assert f"{code} error" in to_stdout.out
    assert "date,y\n" not in to_stdout.out


def test_days_on_which_a_market_was_closed_stay_absent(forecast: Callable, write: Callable) -> None:
    days = pd.bdate_range("2023-01-02", periods=300)
    closed = days[[0, 30, 71, 100, 133, 180, 220, 250]]
    path = write(pd.DataFrame({"date": days.difference(closed), "close": np.arange(292.0) % 17}))
    outcome = forecast("check", path, "--fix", "--out", "clean.csv")
    assert outcome.code == 0, outcome.err
    assert "days closed" in outcome.out
    assert pd.read_csv("clean.csv")["date"].tolist() == [f"{day:%Y-%m-%d}" for day in days.difference(closed)]


def test_a_row_of_several_has_no_cell_of_a_column_without_a_role(forecast: Callable, write: Callable) -> None:
    """As the number of a row, or a remark, of which the first of a day says nothing."""
    hours = pd.date_range("2024-01-01", periods=24 * 40, freq="h")
    orders = {"order": np.arange(len(hours)) * 7 + 12000, "remark": "x", "y": np.arange(len(hours)) % 5}
    path = write(pd.DataFrame({"time": hours, **orders}))
    words = ("--target", "y", "--resample", "D", "--aggregate", "sum", "--ignore", "order")
    outcome = forecast("check", path, *words, "--fix", "--out", "clean.csv")
    assert outcome.code == 0, outcome.err
    assert list(pd.read_csv("clean.csv").columns) == ["time", "y"]
    assert "column left out: text" in outcome.err


def test_repairs_of_series_in_rows_name_what_the_layout_leaves_out_and_no_stamps(
    forecast: Callable, write: Callable
) -> None:
    """The first cell of a row is no stamp that was written anew."""
    steps = {f"V{step}": np.arange(3) + step for step in range(1, 13)}
    path = write(pd.DataFrame({"name": ["a", "b", "c"], "kind": ["x", "y", "x"], **steps}))
    outcome = forecast("check", path, "--layout", "rows", "--fix", "--out", "clean.csv")
    repairs = [line.split("  ")[0] for line in outcome.err.splitlines()[1:]]
    assert repairs == [
        "layout rows: one row per series and step",
        "column left out: not a step",
        "clean.csv: 2 repairs",
    ]


def test_numbers_of_rows_are_left_out_where_rows_are_added(forecast: Callable, write: Callable) -> None:
    days = pd.date_range("2024-01-01", periods=60).delete([20, 21])
    path = write(pd.DataFrame({"date": days, "Sl no.": np.arange(1, 59), "y": np.arange(58.0) % 7}))
    outcome = forecast("check", path, "--target", "y", "--missing", "mask", "--fix", "--out", "clean.csv")
    assert outcome.code == 0, outcome.err
    assert list(pd.read_csv("clean.csv").columns) == ["date", "y"]


def test_a_column_that_is_read_otherwise_once_rows_are_left_out_is_named(forecast: Callable, write: Callable) -> None:
    """Only the series without a target has a price."""
    days = pd.date_range("2024-01-01", periods=60)
    one = pd.DataFrame({"item_id": "a", "date": days, "y": np.arange(60.0) % 7, "price": np.nan})
    path = write(pd.concat([one, one.assign(item_id="b", y=np.nan, price=np.arange(60.0))]))
    words = ("--target", "y", "--missing", "mask", "--fix", "--out", "clean.csv")
    outcome = forecast("check", path, *words)
    assert outcome.error == "'price' would be read otherwise after the repair, which moves rows or leaves some out"
    assert "hint: --ignore price" in outcome.err
    assert forecast("check", path, *words, "--ignore", "price").code == 0


def test_a_role_that_only_a_row_left_out_shows_is_asked_for(forecast: Callable, write: Callable) -> None:
    """Row 10 of `b` is in the future and behind a gap: the repaired table has no future row."""
    days = [f"2024-02-{day}" for day in range(10, 29)]
    rows = [f"a,{day},{at % 5},{at % 3}" for at, day in enumerate(days)]
    path = write("\n".join(["item_id,date,y,x", *rows, *(f"b{row[1:]}" for row in rows[:16]), "b,2024-02-28,,1", ""]))
    words = ("check", path, *SIZES, "--missing", "mask", "--fix", "--out", "clean.csv")
    outcome = forecast(*words)
    assert outcome.code == 2
    assert "hint: --future x" in outcome.err
    assert forecast(*words, "--future", "x").code == 0


def test_what_is_left_is_named_by_its_row_in_the_original(forecast: Callable, write: Callable) -> None:
    frame = with_cells(table(), "y", {9: "many"})
    lines = frame.to_csv(index=False).splitlines()
    path = write("\n".join([*lines[:3], ",", *lines[3:], ""]))
    outcome = forecast("check", path, *SIZES, "--fix", "--out", "clean.csv", "--json")
    assert [(f["code"], f["row"]) for f in json.loads(outcome.out)["findings"]] == [("FA103", 10)]


def test_stdout_is_the_table_and_nothing_else(forecast: Callable, write: Callable) -> None:
    path = write(table().to_csv(index=False, sep=";"))
    outcome = forecast("check", path, *SIZES, "--fix", "--out", "-")
    assert outcome.code == 0
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(outcome.out)), table())
    assert "delimiter: ; to comma" in outcome.err
    assert forecast("check", path, *SIZES, "--fix", "--out", "-", "--quiet").err == ""


def test_stdin(forecast: Callable, monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    class Stdin:
        buffer = io.BytesIO(table().to_csv(index=False, sep=";").encode())

        def isatty(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", Stdin())
    outcome = forecast("check", "-", *SIZES, "--fix", "--out", "clean.csv")
    assert outcome.code == 0, outcome
    assert Path("clean.csv").read_text() == table().to_csv(index=False)


def test_the_original_is_never_changed(forecast: Callable, write: Callable, files_in: Callable) -> None:
    path = write(table()[::-1])
    before = files_in()
    assert forecast("check", path, *SIZES, "--fix", "--out", "clean.csv").code == 0
    after = files_in()
    assert sorted(after) == ["clean.csv", "data.csv"]
    assert after["data.csv"] == before["data.csv"]


def test_columns_without_a_role_stay_where_their_rows_do(forecast: Callable, write: Callable) -> None:
    frame = table(note=[f"n{at}" for at in range(12)]).drop(index=[2, 3])
    outcome = forecast("check", write(frame), *SIZES, "--missing", "zero", "--fix", "--out", "clean.csv")
    assert outcome.code == 0, outcome
    clean = pd.read_csv("clean.csv")
    assert list(clean["note"].fillna("-")) == ["n0", "n1", "-", "-", *(f"n{at}" for at in range(4, 12))]
    assert list(clean["y"][2:4]) == [0, 0]
    expected = table().set_index("date")["y"].drop(DAYS[2:4])
    pd.testing.assert_series_equal(clean.set_index("date")["y"].drop(DAYS[2:4]), expected, check_dtype=False)


@pytest.mark.parametrize(("duplicates", "row"), [("first", "2024-01-03,2,n2"), ("last", "2024-01-03,99,last")])
def test_a_row_that_stays_of_several_is_one_of_them(
    forecast: Callable, write: Callable, duplicates: str, row: str
) -> None:
    rows = table(note=[f"n{at}" for at in range(12)]).assign(y=range(12)).to_csv(index=False).splitlines()
    path = write("\n".join([*rows, "2024-01-03,99,last", ""]))
    words = ("--duplicates", duplicates, "--fix", "--out", "clean.csv")
    assert forecast("check", path, *SIZES, *words).code == 0
    assert Path("clean.csv").read_text().splitlines()[3] == row


def test_whole_numbers_stay_whole_numbers(forecast: Callable, write: Callable) -> None:
    path = write(table(x=range(12), z=[0.5, *range(11)]).assign(y=range(12)))
    assert forecast("check", path, *SIZES, "--target", "y", "--fix", "--out", "clean.csv").code == 0
    assert Path("clean.csv").read_text().splitlines()[1:3] == ["2024-01-01,0,0,0.5", "2024-01-02,1,1,0.0"]


@pytest.mark.parametrize("policy", ["ffill", "interpolate"])
def test_values_drawn_from_later_ones_are_pointed_out(forecast: Callable, write: Callable, policy: str) -> None:
    """A training on the repaired table cannot know that they are."""
    path = write(table().drop(index=[4]))
    outcome = forecast("check", path, *SIZES, "--missing", policy, "--fix", "--out", "clean.csv")
    assert ("train on the original" in outcome.err) == (policy == "interpolate")


def test_repairs_in_python(write: Callable) -> None:
    report, fixed = fix_table(table().drop(index=[4]), DataConfig(lookback=3, horizon=1, missing="ffill"))
    assert fixed is not None
    assert not report.errors
    assert [(r.kind, r.item_id, r.count, r.first) for r in fixed.repairs if r.kind.startswith("missing")] == [
        ("missing: ffill", "y", 1, "2024-01-05")
    ]
    assert fixed.repairs[-1].message.startswith("missing: ffill, series 'y'")
    assert check_table(write(fixed.csv), DataConfig(lookback=3, horizon=1)).findings == ()


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_no_date_is_broken_at_any_width(
    forecast: Callable, here: Path, make_table: Callable, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    table = make_table(60)
    table["date"] = pd.date_range("2024-01-01 01:00", periods=60, freq="h").strftime("%Y-%m-%d %H:%M")
    table.assign(item_id="a shop of a long name").to_csv("data.csv", index=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = forecast("check", "data.csv").out
    assert "2024-01-01 01:00" in shown
    assert "2024-01-03 12:00" in shown
    assert "duplicates" in shown


def test_thousands_of_empty_columns_are_counted(forecast, write, make_table):
    """One value far from the table, as a spreadsheet leaves it, must not fill the terminal."""
    empty = pd.DataFrame(columns=[f"empty {number}" for number in range(1_000)], index=range(30))
    table = pd.concat([make_table(30), empty], axis=1)
    outcome = forecast("check", write(table, "wide.csv"))
    assert outcome.code == 0, outcome.err
    assert len(outcome.out.splitlines()) < 400
    assert "… 803 more" in outcome.out and "FA104: 980 more; --json lists them all" in outcome.out


@pytest.mark.parametrize(
    ("above", "options", "line"),
    [
        ("", ("--no-header",), 5),
        ("date,load\n,MW\n", ("--header-rows", "2"), 7),
        ("a title\n\nof two lines\ndate,load\n", ("--skip-rows", "3"), 9),
        ("# a comment\ndate,load\n", ("--comment", "#"), 7),
    ],
)
def test_an_annotation_names_the_line_of_the_file(
    forecast: Callable, tmp_path: Path, above: str, options: tuple[str, ...], line: int
) -> None:
    """Whatever stands above the rows, and however many lines have names."""
    rows = [f"2024-01-{day:02d},{day}" for day in range(1, 31)]
    rows[4] = "2024-01-05,"
    (tmp_path / "table.csv").write_text(above + "\n".join(rows))
    outcome = forecast("check", tmp_path / "table.csv", "--format", "github", *options)
    assert f"line={line}," in outcome.out


def test_an_identifier_without_a_name_in_any_row_is_no_reading(forecast: Callable, tmp_path: Path) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=60), "shop": "", "sales": range(60)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    outcome = forecast("check", tmp_path / "table.csv", "--id", "shop")
    assert outcome.code == 1
    assert "shop" in outcome.out
    assert "Traceback" not in outcome.out + outcome.err


def test_an_empty_column_that_is_declared_gets_no_warning(forecast: Callable, tmp_path: Path) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=60), "kind": "", "sales": range(60)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    outcome = forecast("check", tmp_path / "table.csv", "--categorical", "kind")
    assert "Warning" not in outcome.err
