"""The printed commands: options that were given, misspelt or wrong, and trainings that were refused."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import check_table
from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.proposal import command_text
from forecast_attn.config.options import DataConfig

from ..made_columns import SIXTY_DAYS, date_column, values
from .first_commands import QUICK


@pytest.mark.slow
def test_check_prints_one_command_for_each_target(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "a table.csv"
    pd.DataFrame({"date": date_column(90), "hydro": values(90), "solar gain": values(90)}).to_csv(path, index=False)
    outcome = forecast("check", path, "--horizon", "3")
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert "train on it with one of:" in lines
    assert f"  forecast train '{path}' --horizon 3 --target hydro" in lines
    assert f"  forecast train '{path}' --horizon 3 --target 'solar gain'" in lines
    assert f"  forecast train '{path}' --horizon 3 --wide" in lines
    assert "      forecasts 'hydro', 3 steps of 1 day ahead" in lines
    commands = json.loads(forecast("check", path, "--json").out)["commands"]
    assert [each["options"] for each in commands] == [{"target": "hydro"}, {"target": "solar gain"}, {"wide": True}]
    assert {(each["time"], each["step"], each["num_series"]) for each in commands[:2]} == {("date", "D", 1)}


def test_check_of_a_ready_table_prints_the_bare_command(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": date_column(90), "y": values(90)}).to_csv(path, index=False)
    lines = forecast("check", path).out.splitlines()
    assert lines[-2:] == [f"  forecast train {path}", "      forecasts 'y', 7 steps of 1 day ahead"]


@pytest.mark.slow
def test_a_refused_training_prints_the_commands_too(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": date_column(90).drop(range(40, 50)), "y": values(80)}).to_csv(path, index=False)
    words = ("train", path, "--max-epochs", "1", "--out", tmp_path / "run")
    outcome = forecast(*words)
    assert outcome.code == 1
    tried = [line for line in outcome.err.splitlines() if line.startswith("try: ")]
    command = f"forecast train {path} --max-epochs 1 --out {tmp_path / 'run'} --missing mask"
    assert tried == [f"try: {command}  # 'y', 7 steps of 1 day ahead"]
    document = json.loads(forecast(*words, "--json").out)["error"]
    assert document["code"] == "FA204"
    assert (document["row"], document["item_id"], document["kind"]) == (41, "y", "DataError")
    assert document["commands"] == [tried[0].removeprefix("try: ")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "right", "without"),
    [
        (("--season", "decade"), (), ", without --season"),
        (("--tz", "Mars/Base"), (), ", without --tz"),
        (("--missing", "msk"), ("--missing", "mask"), ""),
        (("--aggregate", "sum"), (), ", without --aggregate"),
        (("--horizon", "0", "--lookback", "0"), (), ", without --horizon, without --lookback"),
        (("--missing", "msk", "--season", "decade"), ("--missing", "mask"), ", without --season"),
    ],
)
@pytest.mark.parametrize("command", ["check", "train"])
def test_an_option_with_a_wrong_value_gets_the_command_without_it(
    forecast: Callable, tmp_path: Path, command: str, given: tuple[str, ...], right: tuple[str, ...], without: str
) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": date_column(90), "y": values(90)}).to_csv(path, index=False)
    outcome = forecast(command, path, *given, "--target", "y")
    assert outcome.code == 2
    tried = [line for line in outcome.err.splitlines() if line.startswith("try: ")]
    words = shlex.join(["--target", "y", *right])
    assert tried == [f"try: forecast train {path} {words}  # 'y', 7 steps of 1 day ahead{without}"]


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ({"time": "dte", "target": "yy"}, {"time": "date", "target": "y"}),
        ({"target": "yy", "season": "decade"}, {"target": "y", "season": None}),
    ],
)
def test_two_wrong_options_are_answered_by_one_command(
    tmp_path: Path, given: dict[str, str], right: dict[str, str]
) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": date_column(90), "y": values(90)}).to_csv(path, index=False)
    (proposal,) = find_proposals(path, DataConfig(**given))
    assert proposal.options == right
    assert ("without --season" in proposal.forecasts) == ("season" in given)


def test_a_fix_stands_once_below_all_that_it_mends(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": date_column(90), "y": np.where(np.arange(90) < 3, np.inf, values(90))}).to_csv(
        path, index=False
    )
    lines = forecast("check", path).out.splitlines()
    fixes = [line for line in lines if line.startswith("      fix: ")]
    assert sum(line.startswith("FA303 error") for line in lines) == 3
    assert len(fixes) == len(set(fixes))


def test_a_tiny_table_gets_the_command_with_sizes(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": date_column(6), "y": values(6)}).to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert dict(proposal.options) == {"lookback": 2, "horizon": 2}


def test_given_options_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    frame = pd.DataFrame({"date": date_column(90), "a": values(90), "b": values(90)})
    frame.drop(index=range(30, 40)).to_csv(path, index=False)
    proposals = find_proposals(path, DataConfig(target="b", missing="ffill"))
    assert [dict(proposal.options) for proposal in proposals] == [{}]
    assert find_proposals(path, DataConfig(target="b"))[0].options == {"missing": "mask"}


def test_a_misspelt_column_is_spelt_right_in_the_command(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    pd.DataFrame({"day": date_column(60), "Sales": values(60), "Promo": [0, 1] * 30}).to_csv(path, index=False)
    outcome = forecast("train", path, "--target", "Sales", "--future", "promo")
    assert "did you mean 'Promo'?" in outcome.err
    assert f"try: forecast train {path} --target Sales --future Promo  #" in outcome.err


@pytest.mark.parametrize(
    ("options", "cell", "words", "without"),
    [
        ({"encoding": "utf-16"}, "7", [], ", without --encoding"),
        ({"delimiter": ";"}, "7", [], ", without --delimiter"),
        ({"freq": "h"}, "7", [], ", without --freq"),
        ({"resample": "h"}, "7", [], ", without --resample"),
        ({"date_format": "%d.%m.%Y"}, "7", [], ", without --date-format"),
        ({"missing": "error"}, "", [], ", without --missing"),
        ({"transform": "log"}, "-7", [], ", without --transform"),
        ({"horizon": 50}, "7", [], ", without --horizon"),
        ({"static_covariates": ("x",)}, "7", [], ", without --static"),
        ({}, "4 kW", ["--na", "4 kW"], ", with '4 kW' as no value"),
        ({}, "inf", ["--na", "inf"], ", with 'inf' as no value"),
        ({"past_covariates": ("x",), "na": ("-",)}, "7 kW", ["--past", "x", "--na", "-,7 kW"], "as no value"),
    ],
)
def test_a_command_withdraws_the_option_that_does_not_fit_or_reads_a_mistake_as_no_value(
    tmp_path: Path, options: dict[str, object], cell: str, words: list[str], without: str
) -> None:
    path = tmp_path / "shop.csv"
    y = [str(value) for value in values(60)]
    y[40] = cell
    pd.DataFrame({"day": date_column(60), "y": y, "x": np.arange(60) % 3}).to_csv(path, index=False)
    given = {"target": "y", **options}
    proposal = find_proposals(path, DataConfig(**given))[0]
    assert proposal.forecasts.startswith("'y', 7 steps of 1 day ahead")
    assert proposal.forecasts.endswith(without)
    command = shlex.split(command_text(str(path), given, proposal.options))
    assert command == ["forecast", "train", str(path), "--target", "y", *words]


@pytest.mark.parametrize("row", ["2024-02-10,4,8", "2024-02-30,4", '2024-02-10,"4'])
def test_a_table_that_no_option_reads_names_the_command_for_the_corrected_one(
    forecast: Callable, tmp_path: Path, row: str
) -> None:
    path = tmp_path / "shop.csv"
    lines = ["day,y", *(f"{day},{value}" for day, value in zip(date_column(60), values(60), strict=True))]
    path.write_text("\n".join([*lines[:41], row, *lines[42:]]))
    checked = forecast("check", path, "--missing", "mask")
    assert checked.out.endswith(f"when you have corrected that:\n  forecast check {path} --missing mask\n")
    assert f"try: forecast check {path}  # lists all that is wrong" in forecast("train", path).err


def test_a_file_of_nearly_the_name_is_trained_on_by_the_command(forecast: Callable, tmp_path: Path) -> None:
    pd.DataFrame({"day": date_column(60), "y": values(60)}).to_csv(tmp_path / "sales.csv", index=False)
    wrong, right = tmp_path / "sale.csv", tmp_path / "sales.csv"
    assert f"try: forecast train {right} --horizon 3\n" in forecast("train", wrong, "--horizon", "3").err
    assert forecast("check", wrong).out.endswith(f"  forecast check {right}\n")
    assert "holds no table" in forecast("train", tmp_path / "nowhere" / "sales.csv").err


def test_check_says_how_to_use_a_column_of_categories(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    frame = {"day": date_column(60), "Sales": values(60), "Promo": ["yes", "no"] * 30}
    frame["Remark"] = [f"order {at}" for at in range(60)]
    pd.DataFrame(frame).to_csv(path, index=False)
    fixes = {f.column: f.fix for f in check_table(path, DataConfig()).findings if f.code == "FA104"}
    assert fixes["Promo"].startswith("to use its 2 categories: --future 'Promo' if they are known ahead")
    assert "categories:" not in fixes["Remark"]


def test_lists_of_names_are_options_as_tuples_are(tmp_path: Path) -> None:
    """Whoever calls from Python may give lists."""
    path = tmp_path / "table.csv"
    frame = pd.DataFrame({"date": date_column(60), "y": values(60), "shop": ["a", "b"] * 30})
    frame.assign(y=frame["y"].astype(str).where(frame.index % 9 > 0, "-")).to_csv(path, index=False)
    listed = find_proposals(path, DataConfig(na=["-"], categorical=["shop"]))  # type: ignore[arg-type]
    assert [each.options for each in listed] == [
        each.options for each in find_proposals(path, DataConfig(na=("-",), categorical=("shop",)))
    ]
    assert listed[0].target == "y"


def test_a_mark_and_a_name_with_commas_are_typed_in_quotes(forecast, tmp_path: Path) -> None:
    """`--na '<0,2'` would be two marks; the run keeps one, too."""
    cells = [f"{number:.2f}".replace(".", ",") for number in values(90)]
    lines = [f"{day};{'<0,2' if at % 9 == 4 else cells[at]};{cells[-at]}" for at, day in enumerate(date_column(90))]
    table = tmp_path / "limits.csv"
    table.write_text("\n".join(["day;nitrate;rain, mm", *lines]))
    printed = json.loads(forecast("check", table, "--json").out)["commands"]
    words = next(shlex.split(each["command"]) for each in printed if each["target"] == "rain, mm")
    assert '"<0,2"' in words
    run = tmp_path / "run"
    trained = forecast(*words[1:], "--ignore", '"nitrate"', "--out", run, *QUICK)
    assert trained.code == 0, trained.err
    options = ("--na", '"<0,2"', "--ignore", '"rain, mm"', "--missing", "mask")
    again = forecast("train", table, *options, "--out", tmp_path / "other", *QUICK)
    assert again.code == 0, again.err
    assert json.loads((tmp_path / "other" / "config.json").read_text())["options"]["data"]["ignore"] == ["rain, mm"]
    assert forecast("predict", run).code == 0


@pytest.mark.slow
def test_a_printed_command_forecasts_without_values_that_nobody_has(forecast: Callable, tmp_path: Path) -> None:
    """A column goes on behind the likeliest target, but with holes: it is not known ahead."""
    rows = [
        f"{region},{day:%Y-%m-%d},{100 + (7 * at + 3 * len(region)) % 23 if at < 48 else ''},"
        f"{'' if at > 48 and at % 5 == 0 else 5 * at % 11}\n"
        for region in ("north", "southern")
        for at, day in enumerate(SIXTY_DAYS)
    ]
    path = tmp_path / "table.csv"
    path.write_text("region,date,cases,others\n" + "".join(rows))
    first = find_proposals(path, DataConfig(), most=2)[0]
    expected = {"item_id": "region", "target": "cases", "missing": "mask", "past_covariates": ("others",)}
    assert dict(first.options) == expected
    words = ("--id", "region", "--target", "cases", "--missing", "mask", "--past", "others", "--out", tmp_path / "run")
    assert forecast("train", path, *words, "--max-epochs", "1", "--hidden-size", "4").code == 0
    assert forecast("predict", tmp_path / "run").code == 0
