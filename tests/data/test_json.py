"""JSON in any form gives the table that the same CSV gives, and what is no table is refused with a sentence."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import check_table, examine
from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import Source, json_file, read_beside, read_table
from forecast_attn.data.reading.json_file import _Number
from forecast_attn.errors import ConfigError, DataError

DAYS = pd.date_range("2024-01-01", periods=40).strftime("%Y-%m-%d")
TABLE = pd.DataFrame(
    {
        "date": DAYS,
        "shop": "007",
        "sales": (np.arange(40) * 1.7 % 7 + 0.1).round(3),
        "visitors": np.arange(40).astype(float),
        "open": np.arange(40) % 7 > 0,
    }
)
TABLE.loc[3, "visitors"] = np.nan
RECORDS = json.loads(TABLE.to_json(orient="records"))


def text_of(orient: str, **options: Any) -> bytes:
    return TABLE.to_json(orient=orient, **options).encode()  # type: ignore[call-overload]


FORMS: dict[str, Callable[[], bytes]] = {
    "records": lambda: text_of("records"),
    "columns of cells by their rows": lambda: text_of("columns"),
    "records by their rows": lambda: text_of("index"),
    "split": lambda: text_of("split"),
    "lines": lambda: text_of("records", lines=True),
    "lines, gzip": lambda: gzip.compress(text_of("records", lines=True)),
    "lists of cells": lambda: json.dumps({name: [row[name] for row in RECORDS] for name in TABLE}).encode(),
    "rows below their names": lambda: json.dumps([list(TABLE), *([*row.values()] for row in RECORDS)]).encode(),
    "names and rows": lambda: json.dumps({"fields": [*TABLE], "rows": [[*row.values()] for row in RECORDS]}).encode(),
    "below another key": lambda: json.dumps({"count": 40, "data": RECORDS}).encode(),
    "beside single records": lambda: json.dumps([{"page": 1, "links": [{"next": None}]}, RECORDS]).encode(),
    "below a key of the series": lambda: json.dumps([{"unit": "pcs", "values": RECORDS}]).encode(),
    "lists of records": lambda: json.dumps([RECORDS[:20], RECORDS[20:]]).encode(),
    "byte order mark": lambda: b"\xef\xbb\xbf" + text_of("records"),
    "UTF-16": lambda: text_of("records").decode().encode("utf-16"),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_the_table_of_the_csv(name: str, tmp_path: Path) -> None:
    config = DataConfig(item_id="shop")
    (tmp_path / "table").write_bytes(FORMS[name]())
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    frame = read_table(tmp_path / "table", config).drop(columns="unit", errors="ignore")
    pd.testing.assert_frame_equal(frame, read_table(tmp_path / "table.csv", config))


def test_lists_of_unlike_records_are_several_tables(tmp_path: Path) -> None:
    (tmp_path / "table").write_text(json.dumps([RECORDS, [{"page": 1, "of": 2}, {"page": 2, "of": 2}]]))
    with pytest.raises(DataError, match="has 2 tables"):
        read_table(tmp_path / "table", DataConfig())


def write(folder: Path, value: Any) -> Path:
    path = folder / "table.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


EPOCHS = [1_147_651_200_000 + 86_400_000 * at for at in range(60)]
TITLED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "dates as names of records": (
        {"Meta": {"symbol": "X"}, "Daily": {day: {"close": f"{at % 7}.5"} for at, day in enumerate(DAYS)}},
        {},
        "'close', 7 steps of 1 day ahead",
    ),
    "dates as names of values": (
        {"bpi": dict(zip(DAYS, range(40), strict=True)), "time": {"updated": "now"}},
        {},
        "'value', 7 steps of 1 day ahead",
    ),
    "pairs of milliseconds and values": (
        [[epoch, at % 7] for at, epoch in enumerate(EPOCHS)],
        {"header": False, "time": "column_1", "date_format": "ms"},
        "'column_2', 7 steps of 1 day ahead",
    ),
    "records within records": (
        [{"a": {"at": day, "high": at % 7}, "b": {"high": at % 5}} for at, day in enumerate(DAYS)],
        {"target": "a.high"},
        "'a.high', 7 steps of 1 day ahead",
    ),
    "events with properties": (
        {
            "type": "FeatureCollection",
            "features": [
                {"properties": {"mag": at % 7, "time": EPOCHS[0] + at * 9 * 10**6}, "geometry": {"xy": [1, at]}}
                for at in range(300)
            ],
        },
        {"date_format": "ms"},
        "'mag', ",
    ),
    "equal tables by the name of their series": (
        {"AAPL": RECORDS, "MSFT": RECORDS},
        {},
        "'sales' of 2 series told apart by 'item_id', 7 steps of 1 day ahead",
    ),
    "values of each series": (
        [{"name": name, "data": [at % 12 for at in range(60)], "tags": ["a", "b"]} for name in ("Rome", "Oslo")],
        {"time": "step", "item_id": "name"},
        "'data' of 2 series told apart by 'name', 12 steps of 1 row ahead",
    ),
    "values of a record in records within it": (
        [
            {
                "meta": {"symbol": "X"},
                "timestamp": [epoch // 1000 for epoch in EPOCHS],
                "indicators": {"quote": [{"close": [at % 7 + 0.5 for at in range(len(EPOCHS))]}]},
            }
        ],
        {"date_format": "s"},
        "'close', 7 steps of 1 day ahead",
    ),
    "dates and values of each line of a chart": (
        {"data": [{"name": name, "x": list(DAYS), "y": [at % 7 for at in range(len(DAYS))]} for name in ("a", "b")]},
        {"item_id": "name"},
        "'y' of 2 series told apart by 'name', 7 steps of 1 day ahead",
    ),
    "rows of several series below the names of their columns": (
        {
            "results": [
                {
                    "tags": {"host": name},
                    "columns": ["time", "load"],
                    "values": [[day, at % 7] for at, day in enumerate(DAYS)],
                }
                for name in ("a", "b")
            ]
        },
        {"item_id": "host"},
        "'load' of 2 series told apart by 'host', 7 steps of 1 day ahead",
    ),
    "a cube of JSON-stat": (
        {
            "class": "dataset",
            "id": ["geo", "time"],
            "size": [2, 40],
            "dimension": {
                "geo": {"category": {"index": {"AT": 0, "BE": 1}}},
                "time": {"category": {"index": [f"{2010 + at // 4}-Q{at % 4 + 1}" for at in range(40)]}},
            },
            "value": {str(at): at % 9 for at in range(80)},
        },
        {"item_id": "geo"},
        "'value' of 2 series told apart by 'geo', 4 steps of 1 quarter ahead",
    ),
    "days, some without a record": (
        {day: {"visits": at % 7 + 9, "actions": at % 5 + 30} if at % 40 else [] for at, day in enumerate(DAYS)},
        {},
        "'visits', 7 steps of 1 day ahead",
    ),
    "a table among what says of it": (
        [
            {"type": "header", "version": "5.1", "comment": "Export to JSON plugin for PHPMyAdmin"},
            {"type": "database", "name": "bees"},
            {
                "type": "table",
                "name": "hives",
                "data": [{"day": day, "kg": str(at % 7)} for at, day in enumerate(DAYS)],
            },
        ],
        {},
        "'kg', 7 steps of 1 day ahead",
    ),
    "values of series of which one is short": (
        [
            {"item_id": name, "date": list(DAYS[:length]), "y": [at % 7 for at in range(length)]}
            for name, length in (("a", 40), ("b", 40), ("c", 3))
        ],
        {},
        "'y' of 2 series told apart by 'item_id', 7 steps of 1 day ahead",
    ),
    "values alone": ([at % 7 for at in range(60)], {"time": "row-number"}, "'value', 12 steps of 1 row ahead"),
}


@pytest.mark.parametrize("name", TITLED)
def test_the_first_command_is_what_the_document_means(name: str, tmp_path: Path) -> None:
    value, options, forecasts = TITLED[name]
    proposal = find_proposals(write(tmp_path, value), DataConfig())[0]
    assert proposal.forecasts.startswith(forecasts)
    assert proposal.options.items() >= options.items()


def test_columns_of_one_name_are_numbered(tmp_path: Path) -> None:
    frame = read_table(write(tmp_path, {"columns": ["y", "y.1", "y", "y"], "data": [[1, 2, 3, 4]]}), DataConfig())
    assert frame.to_dict("list") == {"y": [1], "y.1": [2], "y.2": [3], "y.3": [4]}


def test_keys_may_have_dots(tmp_path: Path) -> None:
    rows = [{"t": day, "y": at} for at, day in enumerate(DAYS)]
    (tmp_path / "shops.json").write_text(json.dumps({"north.shop": rows, "south.shop": rows}))
    frame = read_table(Source.of(tmp_path / "shops.json"), DataConfig())
    assert frame["item_id"].unique().tolist() == ["north.shop", "south.shop"]
    (tmp_path / "long.json").write_text(json.dumps({"a.b.c.d.e.f.g.h": {"of": rows}}))
    assert len(read_table(Source.of(tmp_path / "long.json"), DataConfig())) == len(rows)


def test_each_table_of_a_document_gets_its_command(tmp_path: Path) -> None:
    hourly, daily = ({"time": [*DAYS[:rows]], name: [*range(rows)]} for rows, name in ((40, "t2m"), (20, "tmax")))
    path = write(tmp_path, {"latitude": 52.5, "hourly": hourly, "daily": daily})
    with pytest.raises(DataError, match="2 tables: 'hourly', 'daily'") as error:
        read_table(path, DataConfig())
    assert error.value.hint == "--sheet 'hourly' or --sheet 'daily'"
    proposals = find_proposals(path, DataConfig())
    assert [(each.options["sheet"], each.target) for each in proposals] == [("hourly", "t2m"), ("daily", "tmax")]
    with pytest.raises(DataError, match="no table 'dayly'") as error:
        read_table(path, DataConfig(sheet="dayly"))
    assert "daily" in str(error.value.hint)
    assert list(read_beside(path, DataConfig(sheet="daily"))) == ["time", "tmax"]
    with pytest.raises(DataError, match="no table 'hourly'") as error:
        read_table(write(tmp_path, hourly), DataConfig(sheet="hourly"))
    assert error.value.hint == "leave --sheet out: it is one table without a name"


def test_a_mistake_is_found_in_its_row(tmp_path: Path) -> None:
    rows = [{"date": day, "y": at if at != 4 else "4 or 5"} for at, day in enumerate(DAYS)]
    path = write(tmp_path, "\n".join(map(json.dumps, rows)))
    (finding,) = check_table(path, DataConfig()).errors
    assert finding.code == "FA103"
    assert "row 5 is '4 or 5'" in finding.message


def test_numbers_in_texts_may_have_either_mark(tmp_path: Path) -> None:
    path = write(tmp_path, [{"date": day, "y": f"{at % 7 + 1},{at:03}"} for at, day in enumerate(DAYS)])
    assert {proposal.options["decimal"] for proposal in find_proposals(path, DataConfig())} == {",", "."}


@pytest.mark.parametrize("option", [{"delimiter": ";"}, {"encoding": "utf-8"}])
def test_options_of_text_are_refused(option: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is JSON, which has no --"):
        read_table(write(tmp_path, RECORDS), DataConfig(**option))


@pytest.mark.parametrize("mark", ["\r", "\n", "\r\n"])
def test_names_and_cells_may_hold_a_line_end(mark: str, tmp_path: Path) -> None:
    """A carriage return ends a row of CSV for most readers."""
    name, cell = f"sho{mark}p", f"nor{mark}th"
    table = read_table(write(tmp_path, [{"date": day, name: cell, "sales": 1.5} for day in DAYS]), DataConfig())
    assert list(table.columns) == ["date", name, "sales"]
    assert set(table[name]) == {cell}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "b": {"c": [2, 3]}}', "is JSON without a table"),
        (json.dumps({"arcs": [[[at, 2], [3, 4 + at]] for at in range(60)]}), "is JSON without a table"),
        ('[{"a": 1}, {"a": 2', "is damaged JSON: line 1, character 19"),
        ('{"a": 1}\n{"a": }', "is damaged JSON: line 2, character 7"),
        ('[{"a": 1, "a": 2}]', "a record has 'a' twice"),
        ("{" + ",".join(f'"k{at}":1' for at in range(99_999)) + ',"k9":2}', "has 'k9' twice"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"a":' * 5000 + "1" + "}]" * 5000, "nested too deeply"),
        (json.dumps([{"y": at, "sho\ud800p": at} for at in range(9)]), "holds half a character, .ud800"),
        (json.dumps([{f"k{at}": at} for at in range(20_000)]), "unpacks to more than"),
        (json.dumps([{"t": "x" * 100_000, "v": list(range(2_000))}]), "unpacks to more than"),
    ],
    ids=[
        "no table",
        "outlines",
        "cut off",
        "a damaged line",
        "a name twice",
        "one of many",
        "deep lists",
        "deep records",
        "half a character",
        "sparse",
        "repeated",
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, text), DataConfig())


def test_a_document_is_parsed_once_by_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []

    def document(source: Source) -> Any:
        parsed.append(source.label)
        return json.loads(b"".join(source.chunks()), parse_float=_Number, parse_int=_Number)

    monkeypatch.setattr(json_file, "_document", document)
    path = write(tmp_path, [{"date": day, "a": at * at % 23, "b": at * at % 31} for at, day in enumerate(DAYS)])
    examination = examine(path, DataConfig())
    assert len(find_proposals(path, DataConfig(), examination)) == 3  # each of both, and both
    assert len(parsed) == 1


def test_a_number_of_megabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(f'[{{"date":"2024-01-01","y":{"9" * 200_000}}},{{"date":"2024-01-02","y":2}}]')
    examination = examine(path, DataConfig())
    assert "longer than 131,072 characters" in str([finding.message for finding in examination.findings])
    assert not find_proposals(path, DataConfig(), examination)


def test_a_record_of_thirty_thousand_names(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps([{f"name {index}": index for index in range(30_000)}, {"name 0": 1}]))
    assert len(json_file.json_tables(Source.of(path))) == 1
