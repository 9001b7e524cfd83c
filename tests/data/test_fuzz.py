"""Whatever a file holds, reading and checking it ends in findings or in a UserError, and training agrees with check.

Some 2,700 cases: bytes at random, JSON of any form, tables of the corpus with bytes changed, tables of awkward cells
under random options, and DataFrames of random types.
"""

import itertools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from forecast_attn.checking import CheckReport, check_table
from forecast_attn.checking.fix import fix_table
from forecast_attn.config.options import DataConfig, RunConfig
from forecast_attn.data.findings import all_codes
from forecast_attn.errors import DataError, UserError
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training.preparation import prepare

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
FILES = sorted(path for path in CORPUS.iterdir() if path.is_file() and path.suffix != ".toml")

pytestmark = pytest.mark.slow


def cases(number: int) -> Any:
    """Settings of a test with so many cases; `make fuzz` tries twenty times as many."""
    return settings(
        max_examples=number * int(os.environ.get("FUZZ", "1")), suppress_health_check=list(HealthCheck), database=None
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file that every case writes anew; its name says nothing about its content."""
    return tmp_path_factory.mktemp("fuzz") / "table.csv"


def checked(table: Path | pd.DataFrame, config: DataConfig) -> CheckReport | None:
    """The report, held to what holds of every report; None where the options were refused."""
    try:
        report = check_table(table, config)
    except UserError as error:
        assert error.exit_code == 2, error
        return None
    json.dumps(report.to_dict(), allow_nan=False)
    assert all(finding.code in all_codes() and finding.fix and finding.message for finding in report.findings)
    return report


def held_to_training(table: Path | pd.DataFrame, config: DataConfig) -> None:
    """Check and training agree on whether the table will do, and on what is wrong with it first."""
    report = checked(table, config)
    if report is None:
        return
    event("good" if not report.errors else report.errors[0].code)
    try:
        panel, _ = read_panel(table, RunConfig(data=config))
        prepare(panel, config)
    except DataError as error:
        message = error.message.removeprefix(f"'{Path(report.path).name}': ")
        assert report.errors, error
        assert message == report.errors[0].message.removeprefix(f"'{Path(report.path).name}': ")
    else:
        assert not report.errors, report.errors


# --------------------------------------------------------------------------- bytes


@cases(200)
@given(content=st.binary(max_size=300))
@example(content=b"\xff\xfe")
@example(content=b"\x1f\x8b\x08")
@example(content=b"PAR1PAR1")
@example(content=b'"')
@example(content=b"a,b\n\x00,1\n")
def test_bytes_at_random(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    checked(path, DataConfig())


@cases(166)
@given(text=st.text(alphabet=",;\t|\"'\n\r 0123456789-.:TZdatey=#\ufeffé", max_size=200))
def test_letters_of_tables_at_random(path: Path, text: str) -> None:
    path.write_bytes(text.encode())
    checked(path, DataConfig(lookback=1, horizon=1))


JSON_KEYS = st.sampled_from(
    ["date", "y", "data", "columns", "index", "schema", "0", "1", "2024-01-01", "2024-01-02", "", "a.b"]
)
JSON_CELLS = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers(-(10**30), 10**30)
    | st.sampled_from(["", "2024-01-01", "1,5"])
)
JSON_VALUES = st.recursive(
    JSON_CELLS, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(JSON_KEYS, inner, max_size=4), max_leaves=40
)


@cases(150)
@given(value=JSON_VALUES.filter(lambda value: isinstance(value, dict | list)), copies=st.sampled_from([1, 1, 7, 30]))
def test_json_of_any_form(path: Path, value: Any, copies: int) -> None:
    path.write_text(json.dumps(value) if copies == 1 else "\n".join([json.dumps(value)] * copies))
    held_to_training(path, DataConfig(lookback=1, horizon=1))


mutations = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "insert", "repeat", "truncate"]),
        st.floats(0, 1, exclude_max=True),
        st.binary(min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=4,
)


def mutated(content: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    """The bytes with a few of them changed, each at a place between start and end."""
    for kind, share, other in changes:
        at = int(share * len(content))
        if kind == "flip":
            content = content[:at] + other + content[at + len(other) :]
        elif kind == "cut":
            content = content[:at] + content[at + len(other) :]
        elif kind == "insert":
            content = content[:at] + other + content[at:]
        elif kind == "repeat":
            content = content[:at] + content[max(at - 30, 0) :]
        else:
            content = content[: max(at, 1)]
    return content


@cases(216)
@given(source=st.sampled_from(FILES), changes=mutations, wide=st.booleans())
@example(source=CORPUS / "utc.csv", changes=[("cut", 0.25, b"\x00")], wide=False)
def test_files_of_the_corpus_with_bytes_changed(path: Path, source: Path, changes: list[Any], wide: bool) -> None:
    path.write_bytes(mutated(source.read_bytes(), changes))
    checked(path, DataConfig(lookback=3, horizon=1, wide=wide))


# --------------------------------------------------------------------------- tables

NAMES = ["date", "y", "id", "item_id", "x", "", "value", "time", "price", "Date ", "größe", "issued_at", "target"]
CELLS = [
    *("", "1", "-2.5", "3", "4", "5", "0", "1e400", "1e30", "-0.0", "+7", "1,5", "1.234,5", "0x10", "1_000", "٣"),
    *("inf", "NaN", "NA", "x", "true", "#N/A", '"a,b"', '"', "é", "a", "b", "24:00", "1e-320", "nan%", "\u200b"),
    *("2024-01-01", "2024-01-02", "2024-01-03 00:00", "2024/1/4 0:00", "01/02/2024", "31.12.2024", "9999-12-31"),
    *(
        "2024-03-31T02:30",
        "2024-01-01T00:00+01:00",
        "2024-01-01T00:00Z",
        "2024-W05",
        "2024-Q1",
        "2024-02-30",
        "20240101",
    ),
]
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "lookback": st.sampled_from([1, 2, 3]),
    "horizon": st.sampled_from([1, 2]),
    "validation": st.sampled_from([0.0, 0.2, 1.0, 3.0]),
    "freq": st.sampled_from([None, None, "D", "h", "MS", "W", "B", "1"]),
    "tz": st.sampled_from([None, None, "Europe/Berlin", "America/New_York", "UTC"]),
    "date_format": st.sampled_from([None, None, None, "%Y-%m-%d", "%d/%m/%Y", "s"]),
    "delimiter": st.sampled_from([None, None, ",", ";", "tab"]),
    "decimal": st.sampled_from([None, None, ".", ","]),
    "encoding": st.sampled_from([None, None, None, "utf-8", "utf-16", "latin-1"]),
    "wide": st.sampled_from([False, False, False, True]),
    "duplicates": st.sampled_from(["error", "mean", "first", "last"]),
    "missing": st.sampled_from(["error", "mask", "ffill", "interpolate", "zero"]),
    "scaling": st.sampled_from(["standard", "robust", "mean-abs", "none"]),
    "transform": st.sampled_from(["none", "arcsinh", "log"]),
    "short_series": st.sampled_from(["skip", "pad", "error"]),
    "target": st.sampled_from([None, None, "y", "x"]),
    "time": st.sampled_from([None, None, None, "date", "x"]),
    "item_id": st.sampled_from([None, None, None, "id", "x"]),
    "past_covariates": st.sampled_from([(), (), ("x",), ("y",)]),
    "future_covariates": st.sampled_from([(), (), ("price",), ("price:1",)]),
    "static_covariates": st.sampled_from([(), (), (), ("x",)]),
    "categorical": st.sampled_from([(), (), ("x",)]),
    "weight": st.sampled_from([None, None, None, "price"]),
}


@st.composite
def options(draw: st.DrawFn) -> DataConfig | None:
    """A few options beside their defaults; None where they contradict each other."""
    chosen = draw(st.sets(st.sampled_from(sorted(OPTIONS)), max_size=4)) | {"lookback", "horizon"}
    try:
        return RunConfig.from_options({name: draw(OPTIONS[name]) for name in sorted(chosen)}).data
    except UserError:
        return None


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """A CSV of awkward cells, ragged now and then."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    width = st.integers(max(len(names) - 1, 1), len(names) + 1) if draw(st.integers(0, 9)) == 0 else st.just(len(names))
    rows = [draw(st.lists(st.sampled_from(CELLS), min_size=n, max_size=n)) for n in draw(st.lists(width, max_size=8))]
    mark = draw(st.sampled_from([",", ",", ";", "\t", "|"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = end.join(mark.join(row) for row in [names, *rows]) + draw(st.sampled_from(["", end]))
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"])), "ignore")


@cases(83)
@given(content=tables(), config=options())
def test_tables_of_awkward_cells(path: Path, content: bytes, config: DataConfig | None) -> None:
    if config is not None:
        path.write_bytes(content)
        held_to_training(path, config)


@st.composite
def nearly_good(draw: st.DrawFn, others: list[str] = CELLS[:-4]) -> bytes:
    """Regular series with a few cells changed: what most broken tables are."""
    days = pd.date_range(draw(st.sampled_from(["2024-02-20", "2024-03-28", "2024-10-24"])), periods=10, freq="D")
    hours = pd.date_range("2024-10-26 20:00", periods=10, freq="h").strftime("%Y-%m-%d %H:%M")
    stamps = draw(st.sampled_from([list(days.strftime("%Y-%m-%d")), list(hours), [str(n) for n in range(10)]]))
    ids = draw(st.sampled_from([("a",), ("a", "b")]))
    rows = [[name, stamp, str((7 * at) % 11), str(at % 3)] for name in ids for at, stamp in enumerate(stamps)]
    for _ in range(draw(st.integers(0, 3))):
        row = draw(st.integers(0, len(rows) - 1))
        rows[row][draw(st.integers(0, 3))] = draw(st.sampled_from(others))
    for _ in range(draw(st.integers(0, 2))):
        rows.pop(draw(st.integers(0, len(rows) - 1)))
    mark = draw(st.sampled_from([",", ";", "\t"]))
    names = draw(st.sampled_from([["item_id", "date", "y", "x"], ["id", "step", "y", "price"]]))
    return "\n".join(mark.join(row) for row in itertools.chain([names], rows)).encode()


@cases(83)
@given(content=nearly_good(), config=options())
def test_series_with_a_few_cells_changed(path: Path, content: bytes, config: DataConfig | None) -> None:
    if config is not None:
        path.write_bytes(content)
        held_to_training(path, config)


choices = st.builds(
    DataConfig,
    lookback=st.just(2),
    horizon=st.just(1),
    missing=st.sampled_from(["mask", "ffill", "interpolate", "zero"]),
    duplicates=st.sampled_from(["mean", "first", "last"]),
    tz=st.sampled_from([None, None, "Europe/Berlin", "America/New_York"]),
    static_covariates=st.sampled_from([(), (), ("x",)]),
    past_covariates=st.sampled_from([(), ("price",)]),
    categorical=st.sampled_from([(), ("x",)]),
    short_series=st.sampled_from(["skip", "pad"]),
)


@cases(50)
@given(content=nearly_good(["", "5", "NA", "-0.0", "1e-320", "3", "2024-02-22", "b", " 7 "]), config=choices)
def test_what_can_be_repaired_is_repaired_whole(path: Path, content: bytes, config: DataConfig) -> None:
    """`fix_table` itself refuses to give a table that reads as other series than the original."""
    path.write_bytes(content)
    try:
        report, fixed = fix_table(path, config)
    except UserError as error:
        assert error.exit_code == 2, error
        return
    assert (fixed is None) == bool(report.errors)
    if fixed is not None:
        event(" ".join(sorted({repair.kind for repair in fixed.repairs})) or "nothing to repair")
        assert not fixed.report.errors


# --------------------------------------------------------------------------- DataFrames

STAMPS = pd.date_range("2024-03-28", periods=8, freq="D")
COLUMNS: dict[str, Any] = {
    "dates": STAMPS,
    "seconds": STAMPS.astype("datetime64[s]"),
    "zoned": STAMPS.tz_localize("Europe/Berlin"),
    "no time": pd.DatetimeIndex([pd.NaT, *STAMPS[1:]]),
    "periods": pd.period_range("2024-01", periods=8, freq="M"),
    "texts": STAMPS.astype(str),
    "objects": [STAMPS[0].date(), *STAMPS[1:]],
    "mixed": ["1", 2, 3.5, None, "x", True, b"y", (1, 2)],
    "float16": np.arange(8, dtype="float16"),
    "float32": np.linspace(0, 1, 8, dtype="float32"),
    "int8": np.arange(8, dtype="int8"),
    "uint64": np.full(8, 2**64 - 1, np.uint64),
    "Int64": pd.array([1, None, 3, 4, 5, 6, 7, 8], "Int64"),
    "boolean": pd.array([True, None, *[False] * 6], "boolean"),
    "bool": np.arange(8) % 2 == 0,
    "string": pd.array(["a", None, *"abcabc"], "string"),
    "category": pd.Categorical(list("aabbaabb")),
    "numbers as categories": pd.Categorical([1, 2, 3, 4, 5, 6, 7, 8]),
    "intervals": pd.interval_range(0, 8, periods=8),
    "durations": pd.timedelta_range("1h", periods=8, freq="h"),
    "complex": np.arange(8) * 1j,
    "empty": [None] * 8,
    "infinite": [np.inf, *range(7)],
}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    names = draw(st.lists(st.sampled_from([*NAMES, 7, ("a", "b"), None]), min_size=1, max_size=4, unique=True))
    columns = {name: COLUMNS[draw(st.sampled_from(sorted(COLUMNS)))] for name in names}
    frame = pd.DataFrame(columns)
    index = draw(st.sampled_from(["range", "dates", "repeated", "levels"]))
    if index == "dates":
        frame.index = STAMPS
    elif index == "repeated":
        frame.index = pd.Index([0] * 8)
    elif index == "levels":
        frame.index = pd.MultiIndex.from_product([["a", "b"], range(4)], names=["item_id", None])
    return frame.iloc[: draw(st.integers(0, 8))]


@cases(66)
@given(frame=frames(), config=options())
def test_data_frames_of_random_types(frame: pd.DataFrame, config: DataConfig | None) -> None:
    if config is not None:
        before = frame.copy(deep=True)
        held_to_training(frame, config)
        pd.testing.assert_frame_equal(frame, before)
