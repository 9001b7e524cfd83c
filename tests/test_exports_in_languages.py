"""`forecast check` reads what offices of many countries write: their calendars, clocks, marks, sums and letters."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from .made_columns import RNG, noise


def bills_in_thai() -> str:
    """Years are those of the Buddha, 543 before ours, and a sum stands below."""
    days = pd.date_range("2023-01-02", periods=120)
    rows = [f"{day:%d/%m}/{day.year + 543},{RNG.integers(50, 250)},{RNG.integers(90, 400)}" for day in days]
    return "\n".join(["วันที่,จำนวนบิล,จำนวนลูกค้า", *rows, "รวม,17000,29000"])


def prices_in_arabic() -> str:
    """The goods of a market have codes from 101 on beside their dates, which are no clocks."""
    goods = ["طماطم", "بطاطس", "بصل أحمر", "خيار بلدي", "باذنجان"]
    rows = [
        f"{day:%d/%m/%Y},{code},{name},{price:.2f}"
        for day in pd.date_range("2023-01-02", periods=60)
        for code, (name, price) in enumerate(zip(goods, noise(5), strict=True), 101)
    ]
    return "\n".join(["التاريخ,كود الصنف,الصنف,متوسط السعر", *rows])


def weather_in_brazil() -> str:
    stamps = pd.date_range("2023-01-01", periods=240, freq="h")
    rows = [
        f"{at:%Y/%m/%d};{at:%H}00 UTC;{rain:.1f}".replace(".", ",") for at, rain in zip(stamps, noise(240), strict=True)
    ]
    return "\n".join(["REGIAO:;CO", "UF:;DF", "Data;Hora UTC;PRECIPITAÇÃO TOTAL, HORÁRIO (mm)", *rows])


def tourists_in_romanian() -> str:
    names = ["ianuarie", "februarie", "martie", "aprilie", "mai", "iunie", "iulie", "august", "septembrie", "octombrie"]
    months = [f"Luna {name} {year}" for year in range(2014, 2020) for name in (*names, "noiembrie", "decembrie")]
    rows = [f"{kind}, {month}, {RNG.integers(9000, 90_000)}" for kind in ("Hoteluri", "Vile") for month in months]
    return "\n".join(["Tipuri, Luni, Valoare", *rows])


def receipts_in_polish() -> str:
    """Amounts are named after the rates of their tax, which are no shares."""
    stamps = pd.date_range("2022-01-03", periods=200) + pd.to_timedelta(RNG.integers(1200, 1300, 200), "min")
    rows = [f"{at:%Y-%m-%d %H:%M};{a};{a / 9:.3f};{a * 2}" for at, a in zip(stamps, noise(200), strict=True)]
    header = "Data i godzina;Sprzedaż brutto A (23%);Sprzedaż brutto E (zw.);Suma brutto"
    return "\n".join([header, *rows]).replace(".", ",").replace("(zw,)", "(zw.)")


def slips_in_korean() -> str:
    """Dates have the numbers of slips behind them, months their sum below, and the time of printing ends all."""
    lines = ["일자-No.,품목명,수량,합 계"]
    for month in pd.date_range("2023-01-01", periods=8, freq="MS"):
        for day in pd.bdate_range(month, month + pd.offsets.MonthEnd()):
            slips = range(1, int(RNG.integers(2, 6)))
            lines += [f"{day:%Y/%m/%d} -{slip},설탕,{RNG.integers(1, 9)},{RNG.integers(9, 99)}00" for slip in slips]
        lines.append(f"{month:%Y/%m} 계,,474,12176890")
    return "\n".join([*lines, "총합계,,7454,191203320", "2024/01/03  오전 9:12:44,,,"])


def air_in_taiwan() -> str:
    """A day of each pollutant has a column for each hour, and numbers have the mark of an instrument behind them."""
    days = pd.date_range("2024-01-01", periods=40)
    rows = [
        f"二林,{day:%Y/%m/%d},{name}," + ",".join(f"{value / 30:.2f}{'x' if value > 12 else ''}" for value in noise(24))
        for day in days
        for name in ("CO", "SO2")
    ]
    return "\n".join(["測站,日期,測項," + ",".join(f"{hour:02}" for hour in range(24)), *rows])


TEXTS: dict[str, tuple[Callable[[], str], str, dict[str, object]]] = {
    "thai": (bills_in_thai, "utf-8", {"time": None, "skip_footer": 1}),
    "arabic": (prices_in_arabic, "cp1256", {"time": None, "item_id": "الصنف"}),
    "brazil": (weather_in_brazil, "cp1252", {"time": "Data,Hora UTC", "item_id": None}),
    "romanian": (tourists_in_romanian, "utf-8", {"time": None, "item_id": "Tipuri"}),
    "polish": (receipts_in_polish, "cp1250", {"target": "Suma brutto"}),
    "korean": (slips_in_korean, "utf-8", {"undated_rows": "drop", "aggregate": "sum"}),
    "taiwan": (air_in_taiwan, "cp950", {"layout": "calendar", "item_id": "測項"}),
}


@pytest.mark.parametrize("name", TEXTS)
def test_an_export_in_another_language_is_read_at_the_first_try(tmp_path: Path, name: str) -> None:
    make, encoding, expected = TEXTS[name]
    (tmp_path / "export.csv").write_text(make(), encoding=encoding)
    options = dict(find_proposals(tmp_path / "export.csv", DataConfig())[0].options)
    assert {key: options.get(key) for key in expected} == expected
