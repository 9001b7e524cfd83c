"""What each column means, by declaration, by name and by content."""

from dataclasses import replace

import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data import timestamps
from forecast_attn.data.cells import parse_cells
from forecast_attn.data.reading import read_table
from forecast_attn.data.roles import MOST_UNDECLARED, Roles, resolve_roles
from forecast_attn.errors import ConfigError, DataError

DAYS = [f"2024-01-{day:02d}" for day in range(1, 6)]


def roles_of(columns: dict[str, list[object]], **declared: object) -> Roles:
    return resolve_roles(pd.DataFrame(columns), DataConfig(**declared), "table.csv")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["date", "Datetime", "TIMESTAMP", "time", "ds", "month"])
def test_time_by_name(name: str) -> None:
    assert roles_of({name: DAYS, "x": [1, 2, 3, 4, 5]}).time == name


def test_time_by_content() -> None:
    roles = roles_of({"when": DAYS, "where": list("abcde"), "x": [1, 2, 3, 4, 5]})
    assert (roles.time, roles.ignored) == ("when", {"where": "text"})


def test_declared_columns_may_be_as_many_as_the_user_wants() -> None:
    names = [f"c{at}" for at in range(MOST_UNDECLARED + 1)]
    columns: dict[str, list[object]] = {"date": DAYS, "x": [1, 2, 3, 4, 5]} | {name: [1, 2, 3, 4, 5] for name in names}
    assert len(roles_of(columns, past_covariates=names).past_covariates) == MOST_UNDECLARED + 1
    with pytest.raises(DataError, match="2,003 columns that no option names"):
        roles_of(columns)


def test_columns_of_the_same_texts_in_another_order_are_told_apart(write) -> None:
    """To pandas their types are equal."""
    days = [f"2024-01-{day:02d}" for day in range(1, 21)]
    numbers = pd.DataFrame({"date": days, "y": range(20), "a": ["1", *["2"] * 17, "x", "x"]})
    words = pd.DataFrame({"b": ["x", "1", *["x"] * 17, "2"], "c": ["2021-01-02", "x", *["x"] * 18]})
    dates = pd.DataFrame({"d": ["x", *["2021-01-02"] * 19]})
    frame = read_table(write(pd.concat([numbers, words, dates], axis=1)), DataConfig())
    roles = resolve_roles(frame, DataConfig(time="date", target="y"), "table.csv")
    assert roles.past_covariates == ("a",)
    assert roles.ignored == {"b": "text", "c": "text", "d": "dates"}
    stamps = {name: timestamps.parse_timestamps(frame[name])[0][1:] for name in ("c", "d")}
    assert pd.isna(stamps["c"]).all() and (stamps["d"] == pd.Timestamp("2021-01-02")).all()


def test_words_are_not_parsed_as_dates(monkeypatch) -> None:
    monkeypatch.setattr(timestamps, "parse_timestamps", lambda *_: pytest.fail("words were parsed"))
    assert not timestamps.looks_like_dates(pd.Series(["left", "right", "Monday"]))


def test_a_month_number_beside_a_date_is_a_covariate() -> None:
    roles = roles_of({"month": [1, 1, 1, 1, 1], "date": DAYS, "y": [1, 2, 3, 4, 5]})
    assert (roles.time, roles.past_covariates) == ("date", ("month",))


def test_whole_numbers_called_step_are_the_last_resort() -> None:
    assert roles_of({"step": [1, 2, 3], "y": [1, 2, 3]}).time == "step"
    assert roles_of({"step": [1, 2, 3, 4, 5], "when": DAYS, "y": [1, 2, 3, 4, 5]}).past_covariates == ("step",)


def test_no_time() -> None:
    with pytest.raises(DataError, match=r"'table.csv' has no column of time stamps; its columns are 'a', 'b'") as error:
        roles_of({"a": [1, 2], "b": [3, 4]})
    assert "--time NAME" in str(error.value.hint)


def test_years_as_identifiers_are_no_dates() -> None:
    assert roles_of({"id": ["2001", "2001", "2002", "2002", "2003"], "when": DAYS, "y": [1, 2, 3, 4, 5]}).time == "when"


def test_two_columns_of_dates() -> None:
    with pytest.raises(DataError, match="several columns of dates: 'from', 'to'"):
        roles_of({"to": DAYS, "from": DAYS, "x": [1, 2, 3, 4, 5]})


@pytest.mark.parametrize("name", ["target", "Y", "value", "OT", "demand"])
def test_target_by_name(name: str) -> None:
    roles = roles_of({"date": DAYS, "a": [1, 2, 3, 4, 5], name: [1, 2, 3, 4, 5]})
    assert (roles.target, roles.past_covariates, roles.reasons[name]) == (name, ("a",), "name")


def test_the_only_numeric_column_is_the_target() -> None:
    assert roles_of({"date": DAYS, "passengers": [1, 2, 3, 4, 5]}).target == "passengers"


@pytest.mark.parametrize("names", [("a", "b"), ("y", "value"), ("Target", "Actual")])
def test_two_possible_targets_are_listed(names: tuple[str, str]) -> None:
    with pytest.raises(DataError, match="2 columns that could be the target") as error:
        roles_of({"date": DAYS, names[0]: [1, 2, 3, 4, 5], names[1]: [1, 2, 3, 4, 5]})
    assert all(f"'{name}'" in error.value.message for name in names)
    assert "--target" in str(error.value.hint)


def test_no_numeric_column() -> None:
    with pytest.raises(DataError, match="no numeric column to forecast"):
        roles_of({"date": DAYS, "name": list("abcde")})


def test_a_declared_column_that_is_missing() -> None:
    with pytest.raises(DataError, match=r"no column 'temperatur' \(--future\)") as error:
        roles_of(
            {"date": DAYS, "y": [1, 2, 3, 4, 5], "Temperature": [1, 2, 3, 4, 5]}, future_covariates=("temperatur",)
        )
    assert error.value.hint == "did you mean 'Temperature'?"


def test_two_roles_for_one_column() -> None:
    with pytest.raises(ConfigError, match="'x' is declared twice: --past and --future"):
        roles_of({"date": DAYS, "y": [1, 2, 3, 4, 5]}, past_covariates=("x",), future_covariates=("x",))


@pytest.mark.parametrize(("one", "other"), [("x", "x:2"), ("x:2", "x"), ("x:2", "x:3")])
def test_two_spans_for_one_column(one: str, other: str) -> None:
    with pytest.raises(ConfigError, match=rf"^column 'x' is declared twice: --future {one} and {other}\b"):
        roles_of({"date": DAYS, "y": [1, 2, 3, 4, 5], "x": [1, 2, 3, 4, 5]}, future_covariates=(one, other))


def test_declared_roles_stand() -> None:
    columns: dict[str, list[object]] = {"when": DAYS, "shop": list("aabbb"), "a": [1, 2, 3, 4, 5]}
    columns |= {"b": [1, 2, 3, 4, 5], "c": [1, 2, 3, 4, 5], "d": [1, 1, 2, 2, 2], "e": [1, 2, 3, 4, 5]}
    roles = roles_of(
        columns,
        time="when",
        target="b",
        item_id="shop",
        future_covariates=("e", "c"),
        static_covariates=("d",),
        ignore=("a",),
    )
    assert roles == Roles("when", "b", "shop", (), ("c", "e"), ("d",), {"a": "declared"}, roles.reasons)
    assert roles.reasons["c"] == "declared as future"


def test_values_beyond_the_target_make_a_column_known_in_the_future() -> None:
    nan = float("nan")
    roles = roles_of(
        {
            "date": DAYS,
            "y": [1, 2, 3, nan, nan],
            "price": [1, 2, 3, 4, 5],
            "wind": [1, 2, 3, nan, nan],
            "c": [1, 2, nan, 4, 5],
        }
    )
    assert (roles.future_covariates, roles.past_covariates) == (("c", "price"), ("wind",))
    assert "after the target ends" in roles.reasons["price"]


def test_a_hole_in_the_target_makes_nothing_known_in_the_future() -> None:
    roles = roles_of({"date": DAYS, "y": [1, float("nan"), 3, 4, 5], "price": [1, 2, 3, 4, 5]})
    assert roles.future_covariates == ()


@pytest.mark.parametrize(
    ("target", "is_known_ahead"),
    [
        ("1 . . 2 3 .", True),
        ("1 . 2 3 . .", True),
        ("1 . 2 . 3 .", False),
        (". 2 3 4 5 .", True),
        (". . . 4 5 6", False),
    ],
)
def test_last_values_that_are_missing_like_others_are_no_future(target: str, is_known_ahead: bool) -> None:
    values = [float("nan") if cell == "." else float(cell) for cell in target.split()]
    dates = pd.date_range("2024-01-01", periods=6).strftime("%Y-%m-%d")
    roles = roles_of({"date": [*dates], "y": values, "price": [1, 2, 3, 4, 5, 6]})
    assert roles.future_covariates == (("price",) if is_known_ahead else ())


def test_numbers_of_rows_are_no_covariate() -> None:
    """A logger numbers its last line too, which has no measurement: the number is not known ahead."""
    rows = 30
    days = [f"2024-01-{day:02d}" for day in range(1, rows + 1)]
    values = [float(day % 7) for day in range(rows - 1)] + [float("nan")]
    columns = {"#": range(1, rows + 1), "date": days, "y": values, "speed": range(5, 2 * rows + 5, 2)}
    roles = roles_of(columns)
    assert roles.ignored == {"#": "numbers of rows"}
    assert roles.future_covariates == ("speed",)
    assert roles_of(columns, past_covariates=("#",)).past_covariates == ("#",)


def test_the_end_of_the_target_is_judged_per_series() -> None:
    nan = float("nan")
    columns = {"id": list("aabb"), "date": DAYS[:2] + DAYS[2:4], "y": [1.0, nan, 3.0, 4.0], "price": [1, 2, 3, 4]}
    assert roles_of(columns).future_covariates == ("price",)


def test_order_of_columns_does_not_matter() -> None:
    columns = {"date": DAYS, "y": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5], "a": [1, 2, 3, 4, 5]}
    assert roles_of(columns) == roles_of(dict(reversed(columns.items())))


def test_row_numbers_called_id_tell_no_series_apart() -> None:
    roles = roles_of({"id": [10, 11, 12, 13, 14], "date": DAYS, "y": [1, 2, 3, 4, 5]})
    assert (roles.item_id, roles.ignored) == (None, {"id": "differs in every row"})


def test_columns_left_out_and_why() -> None:
    columns: dict[str, list[object]] = {"Unnamed: 0": [0, 1, 2, 3, 4], "date": DAYS, "y": [1, 2, 3, 4, 5]}
    columns |= {"empty": [None] * 5, "city": list("abcde"), "issued": DAYS}
    roles = roles_of(columns)
    assert roles.ignored == {"Unnamed: 0": "index without a name", "city": "text", "empty": "empty", "issued": "dates"}


def test_decimal_commas_are_mistakes_in_numbers_not_text() -> None:
    assert roles_of({"date": DAYS, "price": ["1,5", "2,5", "3", "4,25", "5"]}).target == "price"


def test_booleans_and_mostly_numeric_text_are_numeric() -> None:
    columns: dict[str, list[object]] = {"date": DAYS, "y": [1, 2, 3, 4, 5], "open": [True, False, True, True, False]}
    assert roles_of(columns | {"dirty": ["1", "2", "?", "4", "5"]}).past_covariates == ("dirty", "open")


def test_a_run_whose_series_have_a_column_without_a_name_is_refused_like_one_with_another_column() -> None:
    frame = pd.DataFrame({"date": ["2024-01-01"], "y": [1.0]})
    roles = replace(resolve_roles(frame, DataConfig(), "data.csv"), item_id="")
    with pytest.raises(DataError, match="no column ''"):
        parse_cells(frame, roles, lambda _: None, "tail.parquet")
