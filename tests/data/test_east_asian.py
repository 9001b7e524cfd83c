"""Encodings of China, Japan, Korea and Taiwan, told by their letters; Western text is never taken for one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.reading import read_table
from forecast_attn.data.reading.east_asian import east_asian_encodings
from forecast_attn.errors import DataError

Write = Callable[[str | bytes], Path]

NAMES = {
    "cp932": "日付 年月日 売上金額 数量 店舗コード 商品名 平均気温 最高気温 降水量 実績(万kW) 予測値 使用量 乗客数 "
    "地域 人口 始値 終値 出来高 備考 曜日",
    "gb18030": "日期 时间 月份 销售额 数量 价格 城市 门店 商品编号 温度 最高气温 降水量 风速 用电量 负荷 客流量 开盘价 "
    "成交量 涨跌幅 备注",
    "cp950": "日期 時間 月份 銷售額 數量 價格 城市 門市 商品編號 溫度 最高氣溫 降雨量 風速 用電量 負載 旅客人數 開盤價 "
    "成交股數 漲跌價差 備註",
    "cp949": "날짜 일시 년월 매출액 판매량 가격 도시 지점명 상품코드 기온 최고기온(C) 강수량 풍속 전력사용량 부하 "
    "승객수 시가 거래량 등락률 비고",
}
POLISH = "Wartość|Miesiąc|Złoty|ŁÓDŹ|ŻYWNOŚĆ|Świętokrzyskie|Ilość|Čas|Množství|PRŮMĚR|Příjem|Dátum|Hőmérséklet|ÉRTÉK"
RUSSIAN = "Дата|Цена|Объём продаж|ДАТА|ЦЕНА|КОЛИЧЕСТВО|Температура|Выручка, руб.|Магазин"
WESTERN = {
    "cp1252": "Temperatur (°C)|Größe|Straße|Füße|Gefäß|Änderung|Äpfel|Århus|ÖÄÜ|MÄÄRÄ|SÄÄ|määrä|été|École|ANNÉE|Año"
    "|cœur|NIÑO|Açúcar|AÇÕES|m²|µg/m³|£ amount|Preis (€)|it’s|don’t|“Total” – “Net”|½|©2024|Ñandú|São|Îles|Þór|ÞÓR|ÆØÅ",
    "cp1250": POLISH,
    "iso8859-2": POLISH,
    "cp1254": "Tarih|Değer|Satış|Şehir|Ağırlık|Ölçüm|İSTANBUL|SICAKLIK ÖLÇÜMÜ|Gün|Çarşamba",
    "cp1251": f"{RUSSIAN}|Місяць|КІЛЬКІСТЬ",
    "koi8-r": RUSSIAN,
    "cp866": RUSSIAN,
    "cp1253": "Ημερομηνία|Τιμή|ΗΜΕΡΟΜΗΝΙΑ|ΤΙΜΗ|ΕΤΟΣ|Ποσότητα|Θερμοκρασία|ΠΩΛΗΣΕΙΣ",
    "mac_roman": "Größe|Straße|Année|Año|São|Température|Änderung|ÉTÉ",
}


def table_of(names: list[str]) -> str:
    return ",".join(names) + "\n" + "\n".join(",".join("123") for _ in range(3)) + "\n"


@pytest.mark.parametrize("encoding", NAMES)
def test_letters_that_are_common_in_one_encoding_tell_it(encoding: str) -> None:
    """Nearly always, where six columns have names; else several are likely, of which this one is the likeliest."""
    names = NAMES[encoding].split()
    headers = [Random(seed).sample(names, 6) for seed in range(200)]
    likely = [east_asian_encodings(table_of(header).encode(encoding)) for header in headers]
    assert {encodings[0] for encodings in likely} == {encoding}
    assert likely.count((encoding,)) > 0.97 * len(likely)


def test_kana_tell_the_encoding_of_unix_in_japan() -> None:
    names = [*NAMES["cp932"].split()[:6], "データ", "ひらがな"]
    assert east_asian_encodings(table_of(names).encode("euc_jp")) == ("euc_jp",)


@pytest.mark.parametrize("encoding", WESTERN)
def test_text_of_one_byte_per_letter_is_never_taken_for_another(encoding: str) -> None:
    names = WESTERN[encoding].split("|")
    for seed in range(300):
        header = Random(seed).choices(names, k=1 + seed % 12)
        assert east_asian_encodings(table_of(header).encode(encoding, "ignore")) == (), header


@pytest.mark.parametrize("encoding", NAMES)
def test_a_table_is_read_in_the_encoding_that_is_told(write_csv: Write, encoding: str) -> None:
    """Also where the letters are far down, and where pieces of the file end within one."""
    notes: list[Finding] = []
    names = NAMES[encoding].split()
    text = "day,place\n" + "1,x\n" * 400_000 + "".join(f"1,{names[row % 20]}\n" for row in range(700_000))
    frame = read_table(write_csv(text.encode(encoding)), DataConfig(), report=notes.append)
    assert frame["place"].iloc[400_000:].tolist() == [names[row % 20] for row in range(700_000)]
    assert [(note.code, f"({encoding})" in note.message) for note in notes] == [("FA105", True)]


def test_letters_that_fit_several_encodings_are_refused(write_csv: Write) -> None:
    path = write_csv("加纳,巴林第纳尔,洛马文,查克马文\n1,2,3,4\n".encode("gb18030"))
    with pytest.raises(DataError, match="may be in GB18030 or EUC-KR") as error:
        read_table(path, DataConfig())
    assert "--encoding gb18030 (reads '加纳') or --encoding cp949 (reads '속케')" in str(error.value.hint)
    assert read_table(path, DataConfig(encoding="gb2312")).columns[0] == "加纳"


def test_rare_letters_are_refused_rather_than_called_binary(write_csv: Write) -> None:
    """Letters of Taiwan in the encoding of China, with bytes that stand for no Western letter."""
    with pytest.raises(DataError, match="may be in GB18030") as error:
        read_table(write_csv("年,漲跌價差\n1,2\n".encode("gb18030")), DataConfig())
    assert "--encoding gb18030 (reads '年')" in str(error.value.hint)


@pytest.mark.parametrize(
    ("name", "superset", "letter"),
    [("shift_jis", "cp932", "①"), ("big5", "cp950", "碁"), ("gbk", "gb18030", "㐀"), ("euc-kr", "cp949", "햏")],
)
def test_a_standard_names_the_encoding_of_windows_that_holds_it(
    write_csv: Write, name: str, superset: str, letter: str
) -> None:
    path = write_csv(f"{letter},y\n1,2\n".encode(superset))
    assert read_table(path, DataConfig(encoding=name)).columns[0] == letter


def test_a_few_letters_of_japanese_tell_its_encoding(tmp_path: Path) -> None:
    """The load of Tokyo has no other Japanese word than its result."""
    rows = [f"2024/1/{day},{hour}:00,{2000 + hour}" for day in (1, 2) for hour in range(24)]
    (tmp_path / "juyo.csv").write_text("\n".join(["DATE,TIME,実績(万kW)", *rows]), encoding="cp932")
    assert "実績(万kW)" in read_table(tmp_path / "juyo.csv", DataConfig())
