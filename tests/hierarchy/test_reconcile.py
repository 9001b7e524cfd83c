"""Forecasts that add up, beside the formulas of the papers in plain matrices."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from forecast_attn import Forecaster
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.hierarchy.reconcile import reconciled
from forecast_attn.hierarchy.structure import Hierarchy

pytest.importorskip("hierarchicalforecast")
pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]

STORES = {"n1": "north", "n2": "north", "s1": "south", "s2": "south", "s3": "south"}
TREE = pd.DataFrame({"all": "total", "region": STORES.values(), "store": STORES.keys()})
GROUPS = TREE.assign(kind=["old", "new", "old", "new", "new"])[["all", "region", "kind", "store"]]
S = np.array(
    [
        [1, 1, 1, 1, 1],  # total
        [1, 1, 0, 0, 0],  # north
        [0, 0, 1, 1, 1],  # south
        *np.eye(5),
    ]
)
NAMES = ("total", "north", "south", *STORES)
HORIZON = 3


def sales() -> pd.DataFrame:
    """Five stores with errors in common, their regions and the total, of 90 days."""
    rng, days = np.random.default_rng(3), pd.date_range("2024-01-01", periods=90)
    common = rng.normal(size=(90, 1))
    week = 3 * np.sin(2 * np.pi * np.arange(90) / 7)[:, None]
    stores = (20 + week + common + rng.normal(size=(90, 5)) * [1, 2, 1, 3, 2]).round(2)
    every = stores @ S.T
    return pd.concat(
        [pd.DataFrame({"store": name, "day": days, "sales": every[:, at]}) for at, name in enumerate(NAMES)],
        ignore_index=True,
    )


@pytest.fixture(scope="module")
def forecaster(tmp_path_factory: pytest.TempPathFactory) -> Forecaster:
    folder = tmp_path_factory.mktemp("hierarchy")
    sales().to_csv(folder / "sales.csv", index=False)
    sizes = {"lookback": 14, "horizon": HORIZON, "hidden_size": 4, "max_epochs": 1, "epoch_windows": 64}
    options: dict[str, Any] = {"quantiles": "0.1,0.5,0.9", "validation": 20, "item_id": "store", "combination": "none"}
    forecaster = Forecaster(**sizes, **options, final_fit="none", seed=7, accelerator="cpu")
    forecaster.fit(folder / "sales.csv", out=folder / "run")
    forecaster.predict(out=folder / "run" / "predictions.csv")
    return forecaster


@pytest.fixture(scope="module")
def base(forecaster: Forecaster) -> pd.DataFrame:
    return forecaster.predict().predictions


def matrix(frame: pd.DataFrame, column: str = "prediction") -> Floats:
    """(num_series, horizon)"""
    return frame.pivot(index="item_id", columns="step", values=column).loc[list(NAMES)].to_numpy()


def shrunk_covariance(errors: Floats) -> Floats:
    """Schäfer and Strimmer 2005: correlations shrunk to 0 by the estimated optimum (num_series, num_series)."""
    count = errors.shape[1]
    covariance = np.cov(errors)
    standard = (errors - errors.mean(axis=1, keepdims=True)) / errors.std(axis=1, ddof=1, keepdims=True)
    products = standard[:, None] * standard[None]
    correlation = products.sum(axis=-1) / (count - 1)
    variance = count / (count - 1) ** 3 * ((products - products.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    off = ~np.eye(len(errors), dtype=bool)
    shrinkage = min(max(variance[off].sum() / (correlation[off] ** 2).sum(), 0), 1)
    return np.where(off, (1 - shrinkage) * covariance, covariance)


def minimal_trace(values: Floats, weight: Floats) -> Floats:
    """Wickramasuriya, Athanasopoulos and Hyndman 2019, equation 7: S (S' W⁻¹ S)⁻¹ S' W⁻¹ y."""
    inverse = np.linalg.inv(weight)
    return S @ np.linalg.solve(S.T @ inverse @ S, S.T @ inverse @ values)


def test_a_table_of_levels_is_a_summing_matrix() -> None:
    tree = Hierarchy.of(TREE)
    assert tree.names == NAMES
    assert tree.summing.tolist() == S.tolist()
    assert tree.is_tree
    groups = Hierarchy.of(GROUPS)
    assert groups.levels["kind"] == ("new", "old")
    assert groups.summing[3:5].tolist() == [[0, 1, 0, 1, 1], [1, 0, 1, 0, 0]]
    assert not groups.is_tree


@pytest.mark.parametrize("method", ["ols", "wls-struct", "wls-var", "mint"])
def test_minimal_variance_is_that_of_the_paper(method: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(10, 4, size=(8, 6))
    errors = rng.normal(size=(8, 40)) * np.arange(1, 9)[:, None] + rng.normal(size=40)
    weight = {
        "ols": np.eye(8),
        "wls-struct": np.diag(S.sum(axis=1)),
        "wls-var": np.diag((errors**2).mean(axis=1)),
        "mint": shrunk_covariance(errors),
    }[method]
    actual = reconciled(Hierarchy.of(TREE), values, method, errors if method in ("wls-var", "mint") else None)
    np.testing.assert_allclose(actual, minimal_trace(values, weight), rtol=1e-6)
    np.testing.assert_allclose(actual, S @ actual[3:], rtol=1e-9)


def test_top_down_keeps_the_total_and_shares_by_forecast() -> None:
    """Athanasopoulos, Ahmed and Hyndman 2009, section 3: shares of forecasts, level by level."""
    values = np.array([100.0, 30, 50, 10, 20, 10, 10, 20])[:, None]
    actual = reconciled(Hierarchy.of(TREE), values, "top-down")[:, 0]
    expected = [100, 37.5, 62.5, 12.5, 25, 15.625, 15.625, 31.25]
    np.testing.assert_allclose(actual, expected)


def test_no_forecast_is_negative_where_none_may_be() -> None:
    """Of all forecasts that add up and are not negative, the nearest (Wickramasuriya, Turlach and Hyndman 2020)."""
    from scipy.optimize import nnls

    values = np.array([10.0, 2, 12, 1, -4, 3, 8, 0])[:, None]
    actual = reconciled(Hierarchy.of(TREE), values, "ols", non_negative=True)[:, 0]
    nearest, _ = nnls(S.astype(float), np.maximum(values[:, 0], 0))
    np.testing.assert_allclose(actual, S @ nearest, atol=1e-4)
    assert actual.min() >= 0


@pytest.mark.parametrize("method", ["mint", "bottom-up"])
def test_forecasts_of_a_run_add_up(method: str, forecaster: Forecaster, base: pd.DataFrame) -> None:
    result = forecaster.reconcile(TREE, base, method=method)
    reconciled_values, given = matrix(result.predictions), matrix(base)
    if method == "mint":
        past = forecaster.backtest(stride=1, baselines="none").frame
        past["error"] = past["target"] - past["prediction"]
        for step in range(1, HORIZON + 1):
            rows = past[past["step"] == step]
            errors = rows.pivot(index="item_id", columns="cutoff", values="error").loc[list(NAMES)].dropna(axis=1)
            expected = minimal_trace(given[:, step - 1], shrunk_covariance(errors.to_numpy()))
            np.testing.assert_allclose(reconciled_values[:, step - 1], expected, rtol=1e-6)
        assert result.errors == errors.shape[1]
    else:
        np.testing.assert_allclose(reconciled_values, S @ given[3:], rtol=1e-12)
    for quantile in ("0.1", "0.9"):
        widths = matrix(result.predictions, quantile) - reconciled_values
        np.testing.assert_allclose(widths, matrix(base, quantile) - given, atol=1e-9)
    pd.testing.assert_frame_equal(
        result.predictions[["item_id", "cutoff", "timestamp", "step"]],
        base[["item_id", "cutoff", "timestamp", "step"]],
        check_dtype=False,
    )
    levels = result.levels.set_index("level")
    assert levels["gap_after"].max() < 1e-9
    assert levels.loc["all", "gap_before"] == pytest.approx(np.abs(given[0] - given[3:].sum(axis=0)).max())


def test_bottom_up_adds_the_sums_that_nobody_forecast(forecaster: Forecaster, base: pd.DataFrame) -> None:
    shuffled = base[base["item_id"].isin(STORES)].sample(frac=1, random_state=1).reset_index(drop=True)
    result = forecaster.reconcile(GROUPS, shuffled, method="bottom-up")
    pd.testing.assert_frame_equal(result.predictions.iloc[: len(shuffled)], shuffled, check_dtype=False)
    new = result.predictions.iloc[len(shuffled) :]
    old = base[base["item_id"].isin(["n1", "s1"])].groupby("timestamp")["prediction"].sum()
    np.testing.assert_allclose(new.loc[new["item_id"] == "old", "prediction"], old)
    assert new["0.9"].isna().all()
    assert set(result.without_quantiles) == set(new["item_id"])
    assert forecaster.reconcile(TREE, base, method="bottom-up").without_quantiles == ()
    assert not new["timestamp"].isna().any()


def test_the_command_writes_what_python_gives(
    forecast, forecaster: Forecaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    TREE.to_csv("stores.csv", index=False)
    outcome = forecast("reconcile", forecaster.run_path, "--hierarchy", "stores.csv", "--out", "sums.csv", "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert [level["series"] for level in document["levels"]] == [1, 2, 5]
    written, again = pd.read_csv("sums.csv"), pd.read_csv(forecaster.run_path / "predictions.csv")
    assert written.columns.tolist() == again.columns.tolist()
    assert written[["item_id", "timestamp"]].equals(again[["item_id", "timestamp"]])
    expected = forecaster.reconcile(TREE, again).predictions
    np.testing.assert_allclose(matrix(written), matrix(expected), rtol=1e-9)
    np.testing.assert_allclose(matrix(written), S @ matrix(written)[3:], rtol=1e-8)
    shown = forecast("reconcile", forecaster.run_path, "--hierarchy", "stores.csv", "--method", "ols", "--out", "o.csv")
    assert "ols: o.csv" in shown.out


def test_rows_after_the_cutoff_teach_nothing(forecaster: Forecaster, tmp_path: Path) -> None:
    table, cutoff, reference = sales(), "2024-03-26", tmp_path / "reference.csv"
    forecasts = forecaster.predict(table[table["day"] <= cutoff]).predictions

    def by_errors_of(changed: "pd.Series[bool]") -> Floats:
        table.assign(sales=table["sales"].where(~changed, table["sales"] * 3)).to_csv(reference, index=False)
        return matrix(forecaster.reconcile(TREE, forecasts, reference=reference).predictions)

    nothing, of_a_store = table["day"] < "2024-01-01", table["store"] == "n1"
    assert by_errors_of(of_a_store & (table["day"] > cutoff)).tobytes() == by_errors_of(nothing).tobytes()
    assert by_errors_of(of_a_store & (table["day"] == cutoff)).tobytes() != by_errors_of(nothing).tobytes()


def test_what_does_not_fit_is_refused(forecaster: Forecaster, base: pd.DataFrame, tmp_path: Path) -> None:
    stores = base[base["item_id"].isin(STORES)]
    with pytest.raises(DataError, match="has no forecasts of 'total', 'north', 'south'"):
        forecaster.reconcile(TREE, stores)
    with pytest.raises(DataError, match="has no forecasts of 's3'"):
        forecaster.reconcile(TREE, stores[stores["item_id"] != "s3"], method="bottom-up")
    with pytest.raises(DataError, match="has series that the hierarchy lacks: 's1', 's2', 's3', 'south'"):
        forecaster.reconcile(TREE[:2], base)
    with pytest.raises(ConfigError, match="--method top-down takes one series that holds all others"):
        forecaster.reconcile(GROUPS, base, method="top-down")
    with pytest.raises(DataError, match="not all forecast once at the same times"):
        forecaster.reconcile(TREE, base[:-1], method="ols")
    with pytest.raises(DataError, match="not all forecast once at the same times"):
        forecaster.reconcile(TREE, pd.concat([base, base[:1]]), method="ols")
    with pytest.raises(DataError, match="names the series 'n1' in two levels"):
        Hierarchy.of(TREE.assign(region=TREE["store"]))
    with pytest.raises(DataError, match="names the bottom series 'n1' twice"):
        Hierarchy.of(pd.concat([TREE, TREE[:1]]))
    with pytest.raises(DataError, match="has an empty cell in column 'region', row 2"):
        Hierarchy.of(TREE.assign(region=["north", None, "south", "south", "south"]))
    with pytest.raises(DataError, match="is not a hierarchy: it has 1 columns"):
        Hierarchy.of(TREE[["store"]])
    few = tmp_path / "few.csv"
    table = sales()
    table[table["day"] < "2024-03-20"].to_csv(few, index=False)
    with pytest.raises(DataError, match=r"learns from 10 past forecasts of all series or more; there are \d"):
        forecaster.reconcile(TREE, base, reference=few)
    with pytest.raises(RunError, match="has no forecasts yet"):
        copy = tmp_path / "copy"
        forecaster.save(copy)
        (copy / "predictions.csv").unlink()
        Forecaster.load(copy).reconcile(TREE)


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("item_id", None, "expected a series name, got an empty cell"),
        ("cutoff", None, "expected a cut-off, got an empty cell"),
        ("timestamp", None, "expected a time stamp, got an empty cell"),
        ("step", None, "expected a whole number from 1, got an empty cell"),
        ("step", 1.5, "expected a whole number from 1, got 1.5"),
        ("step", 0, "expected a whole number from 1, got 0"),
        ("step", "x", "'DataFrame': column 'step' must be numeric; row 3 is 'x'"),
        ("prediction", "x", "'DataFrame': column 'prediction' must be numeric; row 3 is 'x'"),
    ],
)
def test_a_cell_that_identifies_no_forecast_is_refused(
    column: str, cell: Any, message: str, forecaster: Forecaster, base: pd.DataFrame
) -> None:
    damaged = base.astype({column: object})
    damaged.loc[2, column] = cell
    where = "" if cell == "x" else f"'DataFrame', column '{column}', row 3: "
    with pytest.raises(DataError) as refused:
        forecaster.reconcile(TREE, damaged, method="bottom-up")
    assert refused.value.message == where + message
    assert (refused.value.hint or "").startswith("correct the cell")
    assert "--" not in (refused.value.hint or "")


def test_a_missing_hierarchy_is_told_with_its_shape(finished_run: Path, here: Path, forecast: Any) -> None:
    done = forecast("reconcile", finished_run, "--hierarchy", "none.csv")
    assert done.error == "there is no file 'none.csv'"
    assert done.hint.startswith("--hierarchy FILE: a column per level, from the top to the bottom, and a row per ")
