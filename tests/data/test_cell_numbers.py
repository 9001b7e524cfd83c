"""Numbers in cells with units, currencies, footnotes and codes behind them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table

from ..made_columns import SIXTY_DAYS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["3 kW", "4.5 kW", "-2 kW"], [3, 4.5, -2]),
        (["3°C", "4.5°C", "-2°C"], [3, 4.5, -2]),
        (["3 m³/s", "4.5 m³/s", "0 m³/s"], [3, 4.5, 0]),
        (["54.67/Kg", "7/Kg", "-2/Kg"], [54.67, 7, -2]),
        (["3 / kWh", "4.5 / kWh", "2 / kWh"], [3, 4.5, 2]),
        (["150.1*", "7.0", "8.1"], [150.1, 7, 8.1]),
        (["97.3 p", "96.1", ":"], [97.3, 96.1, np.nan]),
        (["97.3(P)", "96.1", "95.0"], [97.3, 96.1, 95]),
        (["3 kW", "4.5 MW", "2 kW"], None),
        (["3 k", "400", "500"], None),
        (["3*", "4*", "5"], None),
        (["2020 Jan", "2021 Jan", "2022 Jan"], None),
        (["2020 Q1", "2021 Q1", "2022 Q1"], None),
        (["5 am", "6 am", "7 am"], None),
        (["10/Ene", "11/Ene", "12/Ene"], None),
        (["3/Kg", "4/L", "2/Kg"], None),
        (["3 of 4", "2 of 4", "1 of 4"], None),
        (["12 Main Street", "14 Main Street", "16 Main Street"], None),
    ],
)
def test_units_and_footnotes_behind_numbers_leave_the_numbers(
    tmp_path: Path, cells: list[str], numbers: list[float] | None
) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"day": [1, 2, 3], "y": cells}).to_csv(path, index=False)
    column = read_table(path, DataConfig(), report=lambda finding: None)["y"]
    if numbers is None:
        assert list(column.astype(str)) == cells
    else:
        np.testing.assert_array_equal(column, numbers)


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["12A", "A 12", "1 23", "(5", "5)", "--5", "$", "%", "1,2,3'4", "$5 €x"])
def test_names_are_no_numbers_with_signs(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text("date;kind;y\n" + "".join(f"{day:%Y-%m-%d};{cell};{at}\n" for at, day in enumerate(SIXTY_DAYS)))
    assert not pd.api.types.is_numeric_dtype(read_table(path, DataConfig())["kind"].dtype)


def test_middles_of_hours_are_no_codes_of_quality(tmp_path: Path) -> None:
    rows = "\n".join(f"2023-01-{1 + row // 24:02d} {row % 24:02d}:00;{row % 24},5;{row % 9}" for row in range(240))
    path = tmp_path / "middles.csv"
    path.write_text(f"time;middle;y\n{rows}\n")
    assert read_table(path, DataConfig())["middle"].iloc[1] == 1.5
