"""The benchmarks of published protocols: the right rows and no others, nothing scored unasked, nothing run twice."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))  # they are scripts, not part of the package
try:
    import epf
    import fev_epf
    import fev_peers
    from published import child, command, fev, lear, pieces, protocols, references, summary
finally:
    sys.path.remove(str(ROOT / "benchmarks"))

TINY = {
    "max_epochs": 1,
    "epoch_windows": 64,
    "validation_windows": 16,
    "hidden_size": 4,
    "attention_windows": "1",
    "combination": "none",
}
ROWS = 720


def market(path: Path, rows: int = ROWS, *, changed_from: int | None = None) -> Path:
    """Hourly prices with a covariate known ahead, from a midnight on; from a row on with other values."""
    random = np.random.default_rng(0)
    load = 50 + 10 * np.sin(np.arange(rows) * 2 * np.pi / 24) + random.normal(size=rows)
    price = 30 + 0.5 * load + random.normal(size=rows)
    if changed_from is not None:
        price[changed_from:] *= -7
        load[changed_from:] += 1_000
    stamps = pd.date_range("2013-01-01", periods=rows, freq="h").strftime("%Y/%-m/%-d %-H:%M")
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"date": stamps, " Load forecast": load, "OT": price}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("horizon", [96, 192, 336, 720])
def test_the_rows_of_etth1_are_those_that_the_authors_corrected(horizon: int) -> None:
    """Older versions of the authors' table, and of ours, had the two models swapped: NLinear is ahead everywhere."""
    row = references.PUBLISHED[f"U{horizon}"]["ETTh1"]
    assert row["NLinear"] <= row["DLinear"]
    assert {96: (0.053, 0.177), 720: (0.080, 0.226)}.get(horizon, row["NLinear"]) == row["NLinear"]
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    cells = [f"{mse:.3f} / {mae:.3f}" for mse, mae in row.values()]
    assert "| horizon | " + " | ".join(row) + " |" in page
    assert f"| {horizon} | " + " | ".join(cells) + " |" in page


class Called(NamedTuple):
    """What a call of benchmarks/epf.py left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def call_epf(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Called]:
    def call(*words: object) -> Called:
        options = [word for name, value in TINY.items() for word in ("--set", f"{name}={value}")]
        monkeypatch.setattr(sys, "argv", ["epf.py", *map(str, words), *options])
        code = epf.main()
        return Called(code, *capsys.readouterr())

    return call


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """Tasks are done here instead of in a process of their own; what they were."""
    tasks: list[dict] = []

    def run(task: Path, log: Path) -> int:
        tasks.append(json.loads(task.read_text()))
        child.run_task(task)
        return 0

    monkeypatch.setattr(pieces, "in_own_process", run)
    return tasks


# --------------------------------------------------------------------------- boundaries


@given(rows=st.integers(1_000, 60_000))
def test_fractions_are_cut_as_the_papers_cut_them(rows: int) -> None:
    """Against a count of rows: every row is in one part, and every window whose horizon is in the part is there."""
    validation, test = protocols.EPF["F"].stages(rows)
    train = range(rows)[: int(rows * 0.7)]
    tested = range(rows)[-int(rows * 0.2) :]
    between = [row for row in range(rows) if row not in train and row not in tested]
    assert (validation.first, validation.end) == (between[0], between[-1] + 1)
    assert (test.first, test.end) == (tested[0], rows)
    assert {stage.known for stage in (validation, test)} == {tested[0]}
    assert {stage.validation for stage in (validation, test)} == {len(between)}
    for stage, part in ((validation, between), (test, list(tested))):
        assert stage.windows(24) == sum(first + 24 <= len(part) for first in range(len(part)))


def test_the_rows_of_the_published_tables() -> None:
    """NP, PJM and FR have 52,416 rows; the dates of the test days are those that the authors give."""
    stamps = pd.date_range("2013-01-01", periods=52_416, freq="h")
    _, test = protocols.EPF["F"].stages(len(stamps))
    assert (test.end - test.first, test.windows(24)) == (10_483, 10_460)
    validation, test = protocols.EPF["D"].stages(len(stamps))
    assert [str(stamps[row]) for row in (test.first, test.end - 1)] == ["2016-12-27 00:00:00", "2018-12-24 23:00:00"]
    assert (test.known, test.stride, test.windows(24)) == (test.first, 24, 728)
    assert (validation.known, validation.end, validation.windows(24)) == (validation.first, test.first, 364)
    french = pd.date_range("2011-01-09", periods=52_416, freq="h")
    assert [str(french[row].date()) for row in (test.first, test.end - 1)] == ["2015-01-04", "2016-12-31"]
    validation, test = protocols.ETT["U96"].stages(17_420)
    assert (validation.known - validation.validation, validation.first, test.first, test.end) == (
        *(8_640, 8_640, 11_520, 14_400),
    )
    assert test.windows(96) == 2_880 - 96 + 1


def test_tables_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(protocols.TableError, match="protocol D needs more rows"):
        protocols.EPF["D"].stages(20_000)
    table = market(tmp_path / "A.csv", 50)
    lines = table.read_text().splitlines(keepends=True)
    (tmp_path / "B.csv").write_text("".join(lines[:20] + lines[21:]))
    with pytest.raises(protocols.TableError, match=r"'B\.csv' is not hourly"):
        protocols.read_table(tmp_path / "B.csv")
    with pytest.raises(protocols.TableError, match="whose last row is at 23:00"):
        protocols.check_days(protocols.read_table(table), table.name)


# --------------------------------------------------------------------------- a piece


def scored(table: Path, first: int, end: int, train: int) -> tuple[float, float]:
    """MSE and MAE of yesterday's price over all windows, standardised, with the csv module and loops."""
    with table.open() as file:
        price = [float(row["OT"]) for row in csv.DictReader(file)]
    mean = sum(price[:train]) / train
    deviation = (sum((value - mean) ** 2 for value in price[:train]) / train) ** 0.5
    errors = [
        ((price[start - 24 + step] - mean) - (price[start + step] - mean)) / deviation
        for start in range(first, end - 23)
        for step in range(24)
    ]
    return sum(error**2 for error in errors) / len(errors), sum(map(abs, errors)) / len(errors)


@pytest.mark.integration
def test_training_and_forecasts_have_processes_of_their_own(tmp_path: Path, call_epf: Callable[..., Called]) -> None:
    table = market(tmp_path / "data" / "M.csv")
    done = call_epf(table.parent, "--protocols", "P", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    result = json.loads((tmp_path / "out" / "M" / "P" / "seed-1" / "result.json").read_text())
    assert 100 < result["training"]["peak_memory_mb"] < 2_000
    assert result["training"]["parameters"] > 100
    assert "ours, validation" in done.out


def test_a_market_from_the_command_line(
    tmp_path: Path, call_epf: Callable[..., Called], in_this_process: list[dict]
) -> None:
    """Scores by hand; the test part on request only; what is finished is kept; another configuration is noticed."""
    table = market(tmp_path / "data" / "M.csv")
    words = (
        table.parent,
        "--protocols",
        "P",
        "--candidate",
        "combine_with=median-regression",
        "--out",
        tmp_path / "out",
    )
    first = call_epf(*words)
    assert first.code == 0, first.err
    folder = tmp_path / "out" / "M" / "P" / "seed-1"
    result = json.loads((folder / "result.json").read_text())
    assert "test" not in result
    assert not list(folder.glob("test*"))
    assert (result["training"]["rows"], result["validation"]["windows"]) == (576, 50)
    naive = result["validation"]["models"]["seasonal-naive"]
    assert (naive["mse"], naive["mae"]) == pytest.approx(scored(table, 503, 576, 503), rel=1e-6)

    assert [task["kind"] for task in in_this_process] == ["train", "score"]
    second = call_epf(*words, "--test")
    assert [(task["kind"], task["first"]) for task in in_this_process[2:]] == [("score", 576)]
    result = json.loads((folder / "result.json").read_text())
    assert result["test"]["windows"] == 144 - 23
    naive = result["test"]["models"]["seasonal-naive"]
    assert (naive["mse"], naive["mae"]) == pytest.approx(scored(table, 576, 720, 503), rel=1e-6)
    rows = pd.read_parquet(folder / "test-0.parquet").query("model == 'combination'")
    error = (rows["prediction"] - rows["target"]) / protocols.read_table(table)["OT"][:503].std(ddof=0)
    assert result["test"]["mae"] == pytest.approx(error.abs().mean())
    assert "ours, test" in second.out

    third = call_epf(*words, "--set", "learning_rate=0.001")
    assert third.code == 1
    assert "learning_rate: null there, 0.001 asked for" in third.err
    assert len(in_this_process) == 3
    assert (
        json.loads((tmp_path / "out" / "summary.json").read_text())[0]["test"]["mae"]["mean"] == result["test"]["mae"]
    )


@pytest.fixture
def short_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protocol D on a table of 30 days."""
    for name, days in (("TEST_DAYS", 10), ("FEV_DAYS", 4), ("VALIDATION_DAYS", 7), ("INNER_DAYS", 7)):
        monkeypatch.setattr(protocols, name, days)
    monkeypatch.setattr(pieces, "INNER_DAYS", 7)


def piece_of(table: Path, name: str, out: Path, *candidates: dict, seed: int = 1) -> pieces.Piece:
    options = TINY if name == "P" else {**TINY, "lookback": 48}
    return pieces.Piece(table, protocols.EPF[name], seed, options, candidates or ({},), out)


def run(piece: pieces.Piece, **options: bool) -> dict:
    return pieces.run_piece(piece, **{"test": False, "again": False, **options}, say=lambda text: None)


@pytest.mark.parametrize("name", ["P", "F", "D"])
def test_training_never_sees_a_test_row(name: str, tmp_path: Path, in_this_process: list, short_days: None) -> None:
    """Another price and another load on every test row: the same weights, the same validation scores."""
    cells = []
    first_test = {"P": 576, "F": 576, "D": 480}[name]
    for number, changed in enumerate((None, first_test)):
        table = market(tmp_path / str(number) / "M.csv", changed_from=changed)
        assert protocols.EPF[name].stages(ROWS)[1].first == first_test
        cells.append(run(piece_of(table, name, tmp_path / f"out-{number}"), test=True))
    masked = [
        (each["training"]["metrics"]["model_sha256"], each["validation"]["mse"], each["validation"]["mae"])
        for each in cells
    ]
    assert masked[0] == masked[1]
    assert cells[0]["test"]["mae"] != cells[1]["test"]["mae"]
    assert {task["known"] for task in in_this_process if task["kind"] == "train"} <= {first_test, first_test - 7 * 24}


def test_days_are_forecast_at_midnight_and_refits_chosen_on_validation(
    tmp_path: Path, in_this_process: list, short_days: None
) -> None:
    table = market(tmp_path / "M.csv")
    piece = piece_of(
        table,
        "D",
        tmp_path / "out",
        {"refit": "never"},
        {"refit": "3", "refit_epochs": "1", "refit_learning_rate": "0.001"},
    )
    result = run(piece, test=True)
    trainings = [task for task in in_this_process if task["kind"] == "train"]
    assert [task["known"] for task in trainings] == [ROWS - 17 * 24, ROWS - 10 * 24]
    assert {task["options"]["validation"] for task in trainings} == {7 * 24}
    maes = [candidate["validation"]["mae"] for candidate in result["candidates"]]
    assert len(set(maes)) == 2
    assert result["chosen"] == maes.index(min(maes))
    rows = pd.read_parquet(piece.folder / f"test-{result['chosen']}.parquet").query("model == 'ours'")
    assert set(rows["cutoff"].dt.hour) == {23}
    assert (len(rows), rows["cutoff"].nunique()) == (240, 10)
    assert result["test"]["mae"] == pytest.approx((rows["prediction"] - rows["target"]).abs().mean())
    folds = json.loads((piece.folder / "validation-1.json").read_text())
    assert folds["windows"] == 7


def test_days_may_be_forecast_together_with_a_regression(
    tmp_path: Path, in_this_process: list, short_days: None
) -> None:
    table, both = market(tmp_path / "M.csv"), {"combine_with": "regression"}
    summaries = [run(piece_of(table, "D", tmp_path / "out", both, {}, seed=seed)) for seed in (1, 2)]
    frames = [pd.read_parquet(tmp_path / f"out/M/D/seed-{seed}/validation-0.parquet") for seed in (1, 2)]
    for result, frame in zip(summaries, frames, strict=True):
        by_model = {name: rows["prediction"].to_numpy() for name, rows in frame.groupby("model")}
        expected = (by_model["ours"] + by_model["regression"]) / 2
        actual = frame[frame["model"] == "ours"]["target"].to_numpy()
        assert result["candidates"][0]["validation"]["mae"] == pytest.approx(np.abs(expected - actual).mean())
        alone = np.abs(by_model["ours"] - actual).mean()
        assert result["candidates"][1]["validation"]["mae"] == pytest.approx(alone)
        assert result["chosen"] == 0  # a network of four units, trained for an epoch
    (row,) = summary.summarise(tmp_path / "out")
    combined = [frame[frame["model"] == "combination"].reset_index(drop=True) for frame in frames]
    error = (combined[0]["prediction"] + combined[1]["prediction"]) / 2 - combined[0]["target"]
    assert row["validation"]["together"]["mae"] == pytest.approx(error.abs().mean())
    assert len([task for task in in_this_process if task["kind"] == "train"]) == 2


def test_beside_a_combination_stand_its_parts(tmp_path: Path, in_this_process: list) -> None:
    table = market(tmp_path / "M.csv")
    result = run(piece_of(table, "P", tmp_path / "out", {"combine_with": "median-regression"}))
    rows = pd.read_parquet(tmp_path / "out/M/P/seed-1/validation-0.parquet")
    assert set(rows["model"]) == set(result["validation"]["models"])
    assert set(rows["model"]) == {"ours", "median-regression", "combination", "seasonal-naive"}
    for name, forecasts in rows.groupby("model", observed=True):
        error = (forecasts["prediction"] - forecasts["target"]) / result["validation"]["scale"]
        assert result["validation"]["models"][name]["mae"] == pytest.approx(error.abs().mean())
    assert result["validation"]["mae"] == result["validation"]["models"]["combination"]["mae"]
    (row,) = summary.summarise(tmp_path / "out")
    (alone,) = [line for line in summary.lines([row]) if "network alone, validation" in line]
    assert f"{row['validation']['models']['ours']['mae']:.3f}" in alone


def test_seeds_together_are_the_mean_of_their_forecasts(tmp_path: Path, in_this_process: list) -> None:
    table = market(tmp_path / "M.csv")
    summaries = [run(piece_of(table, "F", tmp_path / "out", seed=seed)) for seed in (1, 2)]
    (row,) = summary.summarise(tmp_path / "out")
    assert row["validation"]["mae"]["seeds"] == [each["validation"]["mae"] for each in summaries]
    assert row["validation"]["mae"]["mean"] == pytest.approx(np.mean(row["validation"]["mae"]["seeds"]))
    frames = [pd.read_parquet(path) for path in sorted((tmp_path / "out").glob("M/F/*/validation-0.parquet"))]
    combined = [frame[frame["model"] == "ours"].set_index(["cutoff", "step"]) for frame in frames]
    error = (combined[0]["prediction"] + combined[1]["prediction"]) / 2 - combined[0]["target"]
    scale = protocols.read_table(table)["OT"][: int(0.7 * ROWS)].std(ddof=0)
    assert row["validation"]["together"]["mae"] == pytest.approx(error.abs().mean() / scale)
    assert any("seeds together, validation" in line for line in summary.lines([row]))


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("P", {"lookback": 48}, "lookback is decided by protocol P"),
        ("F", {"validation": 0.1}, "validation is decided by protocol F"),
        ("F", {"refit": 7}, "protocol F trains once"),
        ("F", {"combine_with": "regression"}, "regression would go on learning"),
        ("P", {"combine_with": "median-regression,auto-ets"}, "auto-ets would go on learning"),
        ("D", {"seed": 7}, "seed is decided"),
        ("D", {"no_such_option": 7}, "there is no option"),
    ],
)
def test_what_a_protocol_decides_is_refused(
    name: str, given: dict, says: str, tmp_path: Path, short_days: None
) -> None:
    with pytest.raises(pieces.ConfigError, match=says):
        run(piece_of(market(tmp_path / "M.csv"), name, tmp_path / "out", given))


def test_options_come_from_the_line_and_from_a_file(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text("[model]\nhidden_size = 8\n[training]\nmax_epochs = 3\n")
    arguments = SimpleNamespace(config=config, set=["max-epochs=5"], ensemble=3, candidate=["refit=7 dropout=0.2"])
    assert command.options_of(arguments) == {"hidden_size": 8, "max_epochs": "5", "ensemble": 3}
    assert command.candidates_of(arguments, ({},)) == ({"refit": "7", "dropout": "0.2"},)
    with pytest.raises(pieces.ConfigError, match="is not NAME=VALUE"):
        command.options_of(SimpleNamespace(config=None, set=["max_epochs"], ensemble=1))
    with pytest.raises(pieces.ConfigError, match="refits are chosen on validation"):
        command.options_of(SimpleNamespace(config=None, set=["refit=7"], ensemble=1))
    with pytest.raises(pieces.ConfigError, match="a baseline to combine with is chosen on validation"):
        command.options_of(SimpleNamespace(config=None, set=["combine_with=regression"], ensemble=1))
    with pytest.raises(pieces.ConfigError, match="a backtest has no option 'refit_often'"):
        command.candidates_of(SimpleNamespace(candidate=["refit_often=7"]), ())


def test_ablation_ends_where_the_test_part_begins(tmp_path, monkeypatch, capsys, in_this_process):
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import ablation
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    market(tmp_path / "data" / "XX.csv")
    monkeypatch.setattr(ablation, "ROWS", {"defaults": TINY, "--lags 24": {**TINY, "lags": "24"}})
    monkeypatch.setattr(sys, "argv", ["ablation.py", str(tmp_path / "data"), "--out", str(tmp_path / "out")])
    assert ablation.main() == 0
    assert len(pd.read_csv(tmp_path / "out" / "markets" / "XX.csv")) == int(0.8 * ROWS)
    assert int(0.8 * ROWS) <= protocols.EPF["F"].split(ROWS)[1]
    header, _, first, second = capsys.readouterr().out.splitlines()
    assert header.startswith("| | XX |")
    assert "| `defaults` |" in first
    assert "+0.0%" in first
    assert "| `--lags 24` |" in second
    scores = json.loads((tmp_path / "out" / "ablation-F.json").read_text())
    assert scores["defaults"]["XX"]["mae"] != scores["--lags 24"]["XX"]["mae"]


# --------------------------------------------------------------------------- fev-bench


def test_days_of_fev_are_scored_as_the_formulas_say() -> None:
    """Against plain loops; the last two of five days."""
    random = np.random.default_rng(3)
    target = random.normal(size=120)
    quantiles = np.sort(random.normal(size=(2, 24, 9)), axis=-1)
    rows = [
        {"cutoff": day, "step": step + 1, "target": target[72 + 24 * day + step]}
        | {f"0.{index + 1}": quantiles[day, step, index] for index in range(9)}
        for day in range(2)
        for step in range(24)
    ]
    summaries = fev.day_scores(pd.DataFrame(rows).sample(frac=1, random_state=0), target)
    for day in range(2):
        first = 72 + 24 * day
        scale = sum(abs(target[row] - target[row - 24]) for row in range(24, first)) / (first - 24)
        losses, absolute, inside = [], [], 0
        for step in range(24):
            actual, forecasts = target[first + step], quantiles[day, step]
            losses += [2 * abs((actual - q) * ((actual <= q) - (index + 1) / 10)) for index, q in enumerate(forecasts)]
            absolute.append(abs(actual - forecasts[4]))
            inside += forecasts[0] <= actual <= forecasts[8]
        assert summaries["sql"][day] == pytest.approx(sum(losses) / len(losses) / scale)
        assert summaries["mase"][day] == pytest.approx(sum(absolute) / 24 / scale)
        assert summaries["coverage"][day] == pytest.approx(inside / 24)
    with pytest.raises(RuntimeError, match="not those of the last days"):
        fev.day_scores(pd.DataFrame(rows), target[:-1])


TINY_FEV = {**TINY, "lookback": 48, "quantiles": ",".join(fev.QUANTILES), "calibration": "adaptive"}


def test_fev_chooses_by_sql_on_the_days_before_and_scores_the_last_ones_on_request(
    tmp_path: Path,
    in_this_process: list,
    short_days: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = market(tmp_path / "data" / "M.csv")
    monkeypatch.setattr(fev_epf, "CANDIDATES", (TINY_FEV, TINY_FEV | {"combine_with": "seasonal-naive"}))

    def called(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["fev_epf.py", str(table.parent), "--out", str(tmp_path / "out"), *words])
        assert fev_epf.main() == 0
        return capsys.readouterr().out

    assert "The last 20 days are scored with --test only" in called()
    assert [(task["kind"], task.get("known"), task.get("end")) for task in in_this_process] == [
        ("train", ROWS - 11 * 24, None),
        ("score", None, ROWS - 4 * 24),
        ("score", None, ROWS - 4 * 24),
    ]
    assert "last 20 days, OURS" in called("--test")
    assert [task["kind"] for task in in_this_process[3:]] == ["train", "score"]
    assert in_this_process[3]["known"] == ROWS - 4 * 24
    (row,) = json.loads((tmp_path / "out" / "fev.json").read_text())
    sqls = [each["sql"] for each in row["candidates"]]
    assert row["chosen"] == row["candidates"][sqls.index(min(sqls))]["options"]
    rows = pd.read_parquet(tmp_path / f"out/M/FEV/seed-1/test-{sqls.index(min(sqls))}.parquet")
    rows = rows[rows["model"] == ("combination" if "combine_with" in row["chosen"] else "ours")]
    expected = fev.day_scores(rows, protocols.read_table(table)["OT"].to_numpy())
    assert len(expected["sql"]) == 4
    assert row["test"]["sql"] == pytest.approx(expected["sql"].mean())
    assert row["halves"]["sql"] > 0


def test_a_network_that_learns_on_goes_on_through_the_last_days(
    tmp_path: Path, in_this_process: list, short_days: None
) -> None:
    """Trained once, before the days that choose; the last ones are scored with the refits of all days before."""
    table = market(tmp_path / "M.csv")
    refits = {"refit": 4, "refit_epochs": 1, "refit_validation": 0}
    piece = pieces.Piece(table, protocols.FEV["FEV"], 1, {}, (TINY_FEV | refits,), tmp_path / "out")
    result = run(piece, test=True)
    assert [task.get("known") for task in in_this_process] == [ROWS - 11 * 24, None, None]
    before, rows = (pd.read_parquet(piece.folder / f"{name}-0.parquet") for name in ("validation", "test"))
    rows = rows[rows["model"] == "ours"].reset_index(drop=True)
    assert rows["cutoff"].nunique() == 11
    pd.testing.assert_frame_equal(rows[: 7 * 24], before[before["model"] == "ours"].reset_index(drop=True))
    expected = fev.day_scores(rows[7 * 24 :], protocols.read_table(table)["OT"].to_numpy())
    assert result["test"]["windows"] == len(expected["sql"]) == 4
    assert result["test"]["sql"] == pytest.approx(expected["sql"].mean())
    assert result["test"]["mae"] == pytest.approx((rows["prediction"] - rows["target"])[7 * 24 :].abs().mean())


@pytest.fixture
def quick_lear(monkeypatch: pytest.MonkeyPatch, short_days: None) -> None:
    monkeypatch.setattr(lear, "WINDOWS", (5,))


def call_peers(monkeypatch: pytest.MonkeyPatch, table: Path, out: Path) -> dict:
    words = ["fev_peers.py", str(table.parent), "--peers", "LEAR", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", words)
    assert fev_peers.main() == 0
    return json.loads((out / table.stem / "LEAR.json").read_text())


def test_peers_forecast_the_days_that_choose_and_are_scored_as_ours_is(
    tmp_path: Path, quick_lear: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = market(tmp_path / "data" / "M.csv")
    result = call_peers(monkeypatch, table, tmp_path / "out")
    target = protocols.read_table(table)["OT"].to_numpy()[: ROWS - 4 * 24]
    rows = pd.read_parquet(tmp_path / "out" / "M" / "LEAR.parquet")
    assert rows["cutoff"].unique().tolist() == list(range(ROWS - 11 * 24, ROWS - 4 * 24, 24))
    assert result["sql"] == pytest.approx(fev.day_scores(rows, target)["sql"].mean())
    assert f"M, LEAR{result['sql']:>29.3f}" in capsys.readouterr().out
    monkeypatch.setattr(fev_peers, "PEERS", {"LEAR": None})  # what is finished is not run again
    assert call_peers(monkeypatch, table, tmp_path / "out") == result


def test_peers_never_see_a_later_price_or_the_last_days(
    tmp_path: Path, quick_lear: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first day's forecasts do not change with the prices from that day on; nor do any with the last days."""
    first, of_each = ROWS - 11 * 24, []
    for name, changed_from in (("whole", ROWS), ("first", first), ("last", ROWS - 4 * 24)):
        path = market(tmp_path / name / "data" / "M.csv")
        table = pd.read_csv(path)
        table["OT"] = table["OT"].where(table.index < changed_from, -7 * table["OT"])
        table.to_csv(path, index=False)
        call_peers(monkeypatch, path, tmp_path / name)
        of_each.append(pd.read_parquet(tmp_path / name / "M" / "LEAR.parquet").drop(columns="target"))
    whole, changed, last = of_each
    pd.testing.assert_frame_equal(whole, last)
    day = whole["cutoff"] == first
    pd.testing.assert_frame_equal(whole[day], changed[day])
    assert (whole["0.5"] != changed["0.5"])[~day].any()


def test_a_network_of_peers_reads_the_hours_before_midnight_and_the_covariates_after(
    tmp_path: Path, short_days: None
) -> None:
    table = protocols.read_table(market(tmp_path / "M.csv"))
    stage = protocols.FEV["FEV"].stages(ROWS)[0]
    history, future = fev_peers.windows(fev_peers.with_calendar(table), stage)
    assert "y" not in future
    stamps = table["date"]
    for number, cutoff in enumerate(range(stage.first, stage.end, 24)):
        before, after = (each[each["unique_id"] == number] for each in (history, future))
        assert before["ds"].tolist() == stamps[cutoff - 168 : cutoff].tolist()
        assert before["y"].tolist() == table["OT"][cutoff - 168 : cutoff].tolist()
        assert after["ds"].tolist() == stamps[cutoff : cutoff + 24].tolist()
        assert after["Load forecast"].tolist() == table["Load forecast"][cutoff : cutoff + 24].tolist()
    assert history["unique_id"].nunique() == future["unique_id"].nunique() == 7
