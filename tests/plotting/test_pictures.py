"""The pictures: their lines and areas are the numbers, and they are written whole."""

import sys
import xml.etree.ElementTree

import matplotlib.dates
import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.requests import PlotRequest
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.inspection.figures import save_figure, shortened
from forecast_attn.plotting.forecast_pictures import draw_errors, draw_forecast, draw_reliability, lightened
from forecast_attn.plotting.picture import Picture
from forecast_attn.plotting.sources import find_source, forecast_scene, reliability_of, step_errors_of

ALL = PlotRequest()


@pytest.fixture
def scene(make_backtest, make_file):
    def make(choice=ALL, **table):
        return forecast_scene(find_source(make_file(make_backtest(**table))), choice)

    return make


def about(figure):
    """The grey words below the title."""
    return " ".join(text.get_text() for text in figure.texts if text is not figure._suptitle)


def lines_of(axes):
    return {line.get_label(): line for line in axes.lines}


def test_lines_and_bands_are_the_numbers(scene):
    drawn = scene(PlotRequest(model=("net", "naive")))
    (view,), (axes,) = drawn.views, draw_forecast(drawn).axes
    lines = lines_of(axes)
    for model in view.models:
        line = lines[f"forecast of {model.name}"]
        np.testing.assert_array_equal(line.get_ydata(), model.prediction)
        stamps = [
            pd.Timestamp(stamp).round("s").tz_localize(None) for stamp in matplotlib.dates.num2date(line.get_xdata())
        ]
        assert stamps == [pd.Timestamp(stamp) for stamp in view.stamps]
    np.testing.assert_array_equal(lines["target"].get_ydata(), view.history)
    np.testing.assert_array_equal(lines["actual"].get_ydata()[1:], view.actual)
    areas = {area.get_label(): area for area in axes.collections}
    assert list(areas) == ["90 %", "50 %"]
    for name, (lower, upper) in {"90 %": (0.05, 0.95), "50 %": (0.25, 0.75)}.items():
        corners = areas[name].get_paths()[0].vertices
        assert set(view.models[0].quantiles[lower]) | set(view.models[0].quantiles[upper]) == set(corners[:, 1])
    assert areas["90 %"].get_zorder() < areas["50 %"].get_zorder() < lines["forecast of net"].get_zorder()


def test_titles_say_series_target_and_cutoff(scene):
    figure = draw_forecast(scene(tz="Europe/Berlin"))
    (axes,) = figure.axes
    assert figure.get_suptitle() == "target: forecast of 24 steps"
    assert about(figure) == "city, cut-off 2024-03-30 23:00+01:00; 2024-03-29 to 2024-04-01, Europe/Berlin"
    assert axes.get_xlabel() == ""  # said above
    assert axes.get_ylabel() == "target"


def test_the_clock_of_the_axis_is_the_users(scene):
    (axes,) = draw_forecast(scene(PlotRequest(history=0), tz="Europe/Berlin")).axes
    for tick, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        wall = pd.Timestamp(matplotlib.dates.num2date(tick)).round("s").tz_convert("Europe/Berlin")
        assert label.get_text() == (f"{wall:%b} {wall.day}" if wall == wall.normalize() else f"{wall:%H:%M}")


def test_a_missing_value_is_a_gap_in_the_line(make_backtest, make_file):
    table = make_backtest(cutoffs=("2024-01-01",), horizon=6)
    table.loc[table["step"] == 3, "target"] = np.nan
    (axes,) = draw_forecast(forecast_scene(find_source(make_file(table)), ALL)).axes
    assert np.isnan(lines_of(axes)["actual"].get_ydata()).tolist() == [False, False, True, False, False, False]


def test_nothing_is_drawn_of_what_is_not_known(make_backtest, make_file):
    table = make_backtest(quantiles=(), models=("net",)).drop(columns=["target", "model"])
    (axes,) = draw_forecast(forecast_scene(find_source(make_file(table, "predictions.csv")), ALL)).axes
    assert "actual" not in lines_of(axes)
    assert not axes.collections
    np.testing.assert_array_equal(lines_of(axes)["forecast"].get_ydata(), table["prediction"].tail(24))


@pytest.mark.slow
def test_several_series_are_panels_of_one_picture(scene):
    drawn = scene(items=("a", "b", "c", "d", "e"), horizon=4)
    figure = draw_forecast(drawn)
    assert [axes.get_label() for axes in figure.axes] == ["a", "b", "c", "d", "e"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "b", "c", "d", "e"]
    assert about(figure).startswith("cut-off 2024-03-30 23:00; ")
    for axes, view in zip(figure.axes, drawn.views, strict=True):
        np.testing.assert_array_equal(lines_of(axes)["forecast of net"].get_ydata(), view.models[0].prediction)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "forecast of net",
        "actual",
        "target",
        "50 %",
        "90 %",
    ]


@pytest.mark.slow
def test_a_picture_of_fewer_series_says_so(scene):
    figure = draw_forecast(scene(items=tuple("abcdefghijklmn"), horizon=2))
    assert len(figure.axes) == 12
    assert "12 of 14 series" in about(figure)


def test_whole_number_axes_and_one_step_are_drawn(make_backtest, make_file):
    table = make_backtest(horizon=1, models=("net",)).head(1).assign(cutoff=4, timestamp=5)
    (axes,) = draw_forecast(forecast_scene(find_source(make_file(table)), ALL)).axes
    lines = lines_of(axes)
    assert lines["forecast of net"].get_xdata().tolist() == [5]
    assert lines["forecast of net"].get_marker() == "o"
    assert "target" not in lines  # there is no history
    for bars, (lower, upper) in zip(axes.collections, (("0.05", "0.95"), ("0.25", "0.75")), strict=True):
        (bar,) = bars.get_segments()
        np.testing.assert_allclose(bar, [[5, table[lower].iloc[0]], [5, table[upper].iloc[0]]])
    assert axes.get_xlim()[0] < 4 < 5 < axes.get_xlim()[1]


def test_errors_are_drawn_from_zero(make_backtest, make_file):
    errors = step_errors_of(find_source(make_file(make_backtest())), PlotRequest(model=("net", "naive")))
    (axes,) = draw_errors(errors).axes
    lines = {label.split(",")[0]: line for label, line in lines_of(axes).items()}
    for model in errors.models:
        np.testing.assert_array_equal(lines[model.name].get_xdata(), errors.steps)
        np.testing.assert_array_equal(lines[model.name].get_ydata(), model.mae)
    assert axes.get_ylim()[0] == 0
    assert "mean absolute error of target" in axes.get_ylabel()


def test_the_reliability_diagram_draws_shares_ranges_and_differences(make_backtest, make_file):
    curve = reliability_of(find_source(make_file(make_backtest())), ALL)
    square, difference = draw_reliability(curve).axes
    (model,) = curve.models
    np.testing.assert_array_equal(lines_of(square)["net"].get_xdata(), model.quantiles)
    np.testing.assert_array_equal(lines_of(square)["net"].get_ydata(), model.observed)
    np.testing.assert_allclose(lines_of(difference)["net"].get_ydata(), model.observed - model.quantiles)
    assert lines_of(square)["calibrated"].get_xydata().tolist() == [[0, 0], [1, 1]]
    (ranges,) = square.collections
    for at, bar in enumerate(ranges.get_segments()):
        np.testing.assert_allclose(bar, [[model.quantiles[at], model.low[at]], [model.quantiles[at], model.high[at]]])
    assert "72 values" in about(square.get_figure())


# --------------------------------------------------------------------------- files


@pytest.mark.slow
def test_a_png_is_readable_at_the_width_of_a_page(scene, tmp_path):
    save_figure(draw_forecast(scene()), tmp_path / "forecast.png")
    content = (tmp_path / "forecast.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == 1440
    assert [entry.name for entry in tmp_path.iterdir() if entry.suffix != ".parquet"] == ["forecast.png"]


@pytest.mark.slow
def test_the_same_forecast_is_the_same_svg(scene, tmp_path):
    for name in ("first.svg", "second.svg"):
        save_figure(draw_forecast(scene()), tmp_path / name)
    content = (tmp_path / "first.svg").read_bytes()
    assert xml.etree.ElementTree.fromstring(content).tag.endswith("svg")
    assert content == (tmp_path / "second.svg").read_bytes()


def test_other_files_and_missing_folders_are_refused(scene, tmp_path):
    with pytest.raises(ConfigError, match=r"a \.png or a \.svg; got 'forecast\.pdf'"):
        save_figure(draw_forecast(scene()), tmp_path / "forecast.pdf")
    with pytest.raises(RunError, match="cannot write"):
        save_figure(draw_forecast(scene()), tmp_path / "no" / "forecast.png")


def test_without_matplotlib_the_extra_is_named(scene, monkeypatch):
    drawn = scene()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError) as caught:
        draw_forecast(drawn)
    assert "forecast-attn[plot]" in caught.value.hint


def test_long_names_are_cut_and_colours_mixed_with_white():
    assert shortened("a" * 20, 10) == "a" * 9 + "…"
    assert shortened("short", 10) == "short"
    assert (lightened("#d1495b", 1), lightened("#d1495b", 0), lightened("#000000", 0.5)) == (
        "#d1495b",
        "#ffffff",
        "#808080",
    )


def test_names_of_any_length_stay_in_the_picture(make_backtest, make_file, tmp_path):
    name = "a very long name of a series, " * 8
    figure = draw_forecast(forecast_scene(find_source(make_file(make_backtest(items=(name,)))), ALL))
    figure.canvas.draw()
    for text in figure.texts:
        assert text.get_window_extent().x1 <= figure.bbox.x1


def test_a_name_with_dollars_is_no_formula(scene, tmp_path):
    name = r"cost $\nothing$"
    picture = Picture("forecast", scene(models=(name,)))
    picture.save(tmp_path / "cost.svg")
    assert name in (tmp_path / "cost.svg").read_text(encoding="utf-8")
