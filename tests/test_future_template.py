"""`forecast future-template`: write it, fill it in, forecast."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(
    forecast: Callable, small: tuple[str, ...], make_table: Callable, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A run that needs temperatures."""
    folder = tmp_path_factory.mktemp("template")
    make_table(120).to_csv(folder / "data.csv", index=False)
    outcome = forecast(
        "train", folder / "data.csv", *small, "--future", "temperature", "--out", folder / "run", "--quiet"
    )
    assert outcome.code == 0, outcome.err
    return folder / "run"


def test_write_fill_and_forecast(forecast: Callable, run: Path, here: Path) -> None:
    written = forecast("future-template", run, "--out", "future.csv")
    assert (written.code, written.out) == (0, "")
    assert f"cells to fill in: 3 of 'temperature'; then forecast predict {run} --future future.csv" in written.err
    text = Path("future.csv").read_text()
    assert text == "date,temperature\n2024-04-30,\n2024-05-01,\n2024-05-02,\n"
    refused = forecast("predict", run, "--future", "future.csv", "--out", "forecast.csv")
    assert refused.code == 1
    assert refused.error == (
        "'future.csv' has no 'temperature' for 3 of the 3 steps to forecast of series 'target': 2024-04-30, "
        "2024-05-01, 2024-05-02; it has 3 rows, from 2024-04-30 to 2024-05-02"
    )
    pd.read_csv("future.csv").assign(temperature=[1, 2, 3]).to_csv("future.csv", index=False)
    assert forecast("predict", run, "--future", "future.csv", "--out", "forecast.csv").code == 0
    assert len(pd.read_csv("forecast.csv")) == 3


def test_a_newer_history_moves_the_template(forecast: Callable, run: Path, here: Path, make_table: Callable) -> None:
    make_table(130).to_csv("newer.csv", index=False)
    outcome = forecast("future-template", run, "--data", "newer.csv", "--quiet")
    assert (outcome.out, outcome.err) == ("date,temperature\n2024-05-10,\n2024-05-11,\n2024-05-12,\n", "")


def test_what_is_there_is_not_overwritten(refused: Callable, run: Path, write: Callable) -> None:
    path = write("filled in by hand", "future.csv")
    message = "--out 'future.csv' exists already, and may hold what was filled in"
    refused("future-template", run, "--out", path, message=message, hint="choose another name", code=2)


def test_a_run_without_future_covariates_needs_none(forecast: Callable, finished_run: Path, here: Path) -> None:
    outcome = forecast("future-template", finished_run, "--out", "future.csv")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "note: this run has no future covariates; predict needs no file of them\n"
    assert not Path("future.csv").exists()


def test_the_template_is_written_as_the_run_reads(forecast: Callable, small: tuple[str, ...], here: Path) -> None:
    days = pd.date_range("2024-01-01", periods=90)
    table = pd.DataFrame({"date": days, "y": np.arange(90.0) % 7, "Wärme": np.arange(90.0) % 5})
    table.to_csv("data.csv", index=False, encoding="latin-1")
    options = ("--encoding", "latin-1", "--future", "Wärme", "--target", "y")
    assert forecast("train", "data.csv", *options, *small, "--out", "run", "--quiet").code == 0
    assert forecast("future-template", "run", "--out", "future.csv").code == 0
    filled = pd.read_csv("future.csv", encoding="latin-1").assign(Wärme=1)
    filled.to_csv("future.csv", index=False, encoding="latin-1")
    predicted = forecast("predict", "run", "--future", "future.csv", "--out", "-")
    assert predicted.code == 0, predicted.err


@pytest.mark.parametrize("flags", [("--delimiter", "blanks"), ("--no-header",), ("--delimiter", ";", "--no-header")])
def test_a_run_of_another_delimiter_or_without_names_reads_its_template_and_tables_with_commas(
    flags: tuple[str, ...], forecast: Callable, small: tuple[str, ...], here: Path
) -> None:
    days = pd.date_range("2024-01-01", periods=90).strftime("%Y-%m-%d")
    names = ["column_1", "column_2", "column_3"]
    table = pd.DataFrame(dict(zip(names, [days, np.arange(90) % 7, np.arange(90) % 5], strict=True)))
    delimiter = " " if "blanks" in flags else ";" if ";" in flags else ","
    table.to_csv("data.txt", sep=delimiter, index=False, header="--no-header" not in flags)
    options = (*flags, "--future", "column_3", "--target", "column_2")
    assert forecast("train", "data.txt", *options, *small, "--out", "run", "--quiet").code == 0
    assert forecast("future-template", "run", "--out", "future.csv").code == 0
    template = pd.read_csv("future.csv", sep=None, engine="python").assign(column_3=1)
    forecasts = []
    for sep in (",", delimiter):
        template.to_csv("future.csv", sep=sep, index=False)
        predicted = forecast("predict", "run", "--future", "future.csv", "--out", "-")
        assert predicted.code == 0, predicted.err
        forecasts.append(predicted.out)
    assert forecasts[0] == forecasts[1]


def test_a_run_of_two_header_lines_and_a_footer_reads_tables_with_and_without(
    forecast: Callable, small: tuple[str, ...], here: Path
) -> None:
    """The template has neither: its first row is no unit, and its last row no source."""
    days = pd.date_range("2024-01-01", periods=93).strftime("%Y-%m-%d")
    rows = [f"{day},{at % 7 if at < 90 else ''},{at % 5}" for at, day in enumerate(days)]
    lines = {"plain": (["date,y MW,x"], []), "both": (["date,y,x", ",MW,"], ["Source: us,,"])}
    for name, (above, below) in lines.items():
        Path(f"{name}.csv").write_text("\n".join([*above, *rows[:90], *below]))
        Path(f"{name}-future.csv").write_text("\n".join([*above, *rows[90:], *below]))
    options = ("--header-rows", 2, "--skip-footer", 1, "--target", "y MW", "--future", "x")
    assert forecast("train", "both.csv", *options, *small, "--out", "run", "--quiet").code == 0
    assert forecast("future-template", "run", "--out", "template.csv").code == 0
    pd.read_csv("template.csv").assign(x=[0, 1, 2]).to_csv("template.csv", index=False)
    forecasts = set()
    for data, future in [("plain", "plain-future"), ("both", "both-future"), ("both", "template")]:
        words = ("predict", "run", "--data", f"{data}.csv", "--future", f"{future}.csv", "--out", "-", "--quiet")
        predicted = forecast(*words)
        assert predicted.code == 0, predicted.err
        forecasts.add(predicted.out)
    assert len(forecasts) == 1
    assert "2024-04-01" in forecasts.pop()


@pytest.fixture(scope="module")
def promotions(forecast: Callable, small: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a table with two absent days, which needs to know the days of a promotion."""
    folder = tmp_path_factory.mktemp("promotions")
    days = pd.date_range("2024-01-01", periods=120)
    table = pd.DataFrame({"date": days, "y": np.arange(120.0) % 7, "promo": np.where(days.day % 5 == 0, "yes", "no")})
    table.drop(index=[40, 70]).to_csv(folder / "data.csv", index=False)
    words = ("train", folder / "data.csv", *small, "--future", "promo", "--missing", "mask", "--target", "y")
    outcome = forecast(*words, "--out", folder / "run", "--quiet")
    assert outcome.code == 0, outcome.err
    return folder / "run"


def test_a_template_left_empty_is_refused_where_cells_may_be_missing(
    forecast: Callable, promotions: Path, here: Path
) -> None:
    written = forecast("future-template", promotions, "--out", "future.csv")
    assert "values of 'promo' that the run knows: 'no', 'yes'" in written.err
    outcome = forecast("predict", promotions, "--future", "future.csv", "--out", "f.csv")
    assert outcome.code == 1
    assert outcome.error.startswith("'future.csv' has no 'promo' for 3 of the 3 steps to forecast of series 'y': ")
    assert "hint: fill in the empty cells of 'promo', with one of 'no', 'yes'" in outcome.err
    assert not Path("f.csv").exists()


def test_a_category_that_training_did_not_see_is_named_with_those_it_saw(
    forecast: Callable, promotions: Path, here: Path
) -> None:
    assert forecast("future-template", promotions, "--out", "future.csv").code == 0
    pd.read_csv("future.csv").assign(promo=["Yes", "0", ""]).to_csv("future.csv", index=False)
    outcome = forecast("predict", promotions, "--future", "future.csv", "--out", "f.csv", "--quiet")
    assert outcome.code == 0
    assert "warning: 'future.csv' has no 'promo' for 1 of the 3 steps to forecast, first 2024-" in outcome.err
    assert "training did not see, 1 time: 'Yes'; did you mean 'yes'? known: 'no', 'yes'" in outcome.err
    assert "training did not see, 1 time: '0'; known: 'no', 'yes'" in outcome.err


def test_repairs_of_the_table_of_training_are_not_printed_again(
    forecast: Callable, promotions: Path, here: Path
) -> None:
    pd.DataFrame({"date": pd.date_range("2024-04-30", periods=3), "promo": "no"}).to_csv("future.csv", index=False)
    words = ("predict", promotions, "--future", "future.csv", "--out", "f.csv")
    again = forecast(*words)
    assert again.code == 0, again.err
    assert "missing: masked" not in again.err
    named = forecast(*words, "--data", promotions.parent / "data.csv")
    assert "missing: masked" in named.err


def test_from_python(run: Path) -> None:
    from forecast_attn import Forecaster

    forecaster = Forecaster.load(run)
    template = forecaster.future_template()
    assert template.to_fill == {"temperature": 3}
    predictions = forecaster.predict(future=template.table.assign(temperature=0.5)).predictions
    assert np.isfinite(predictions["prediction"]).all()
    assert predictions["timestamp"].tolist() == template.table["date"].tolist()
