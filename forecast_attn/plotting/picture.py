"""A picture before it is drawn: its numbers, its figure, its files, and its form in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.config.requests import PICTURES, PlotRequest
from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.runs.output_paths import refuse_outputs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from rich.console import Console

    from forecast_attn.plotting.sources import PlotChoice, PlotSource


OF_INPUTS = ("attribution", "by-value")
"""Kinds whose drawing needs torch, which forecasts in a file do without."""


@dataclass(frozen=True, eq=False)
class Picture:
    """Result of `Forecaster.plot`."""

    kind: str
    """One of `PICTURES`."""
    shown: Any
    """The scene, errors, calibration, attribution or means that are drawn."""
    file_notes: tuple[str, ...] = ()
    """Of the files that were written."""

    @property
    def notes(self) -> list[str]:
        """Remarks about what the picture, and its files, leave out."""
        return [*self.shown.notes, *self.file_notes]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: every number that is drawn."""
        content: dict[str, Any] = self.shown.to_dict()
        return content

    def figure(self) -> Figure:
        """A figure of matplotlib, to be changed or shown; each call makes a new one.

        Raises:
            ConfigError: matplotlib is not installed.
        """
        draw: dict[str, Any]
        if self.kind in OF_INPUTS:
            from forecast_attn.plotting.input_pictures import draw_attribution, draw_by_value

            draw = {"attribution": draw_attribution, "by-value": draw_by_value}
        else:
            from forecast_attn.plotting.curve_pictures import draw_errors, draw_reliability
            from forecast_attn.plotting.forecast_picture import draw_forecast

            draw = {"forecast": draw_forecast, "error-by-step": draw_errors, "calibration": draw_reliability}
        from matplotlib.text import Text

        figure: Figure = draw[self.kind](self.shown)
        for text in figure.findobj(Text):
            text.set_parse_math(False)  # a name with two $ is no formula
        return figure

    def __repr__(self) -> str:
        return f"<Picture: {self.kind}>"

    def _repr_png_(self) -> bytes | None:
        """The picture for a notebook; None without matplotlib."""
        import warnings
        from io import BytesIO

        from forecast_attn.inspection.fonts import installed_fonts

        try:
            figure = self.figure()
        except ConfigError:
            return None
        stream = BytesIO()
        with installed_fonts(figure) as notes:
            figure.savefig(stream, format="png", dpi=100)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return stream.getvalue()

    def save(self, *paths: Path | str) -> list[str]:
        """Write .png or .svg files, whole or not at all; the same picture is the same bytes.

        Returns:
            Notes on what could not be drawn.

        Raises:
            ConfigError: a name ends otherwise, or matplotlib is not installed.
            RunError: a file cannot be written.
        """
        from forecast_attn.inspection.plots import save_figure

        figure = self.figure()
        notes = [note for path in paths for note in save_figure(figure, Path(path))]
        return list(dict.fromkeys(notes))

    def print(self, console: Console | None = None) -> None:
        """Print it as wide as the terminal, in colours where it has them."""
        from rich.console import Console

        render: dict[str, Any]
        if self.kind in OF_INPUTS:
            from forecast_attn.plotting.input_terminal import render_attribution, render_by_value

            render = {"attribution": render_attribution, "by-value": render_by_value}
        else:
            from forecast_attn.plotting.terminal import render_errors, render_forecast, render_reliability

            render = {"forecast": render_forecast, "error-by-step": render_errors, "calibration": render_reliability}
        render[self.kind](self.shown, console or Console())


def draw_picture(
    source: PlotSource,
    request: PlotRequest,
    data: pd.DataFrame | Path | None,
    future: pd.DataFrame | Path | None,
) -> Picture:
    """Read what a picture shows, and write it to the files that are asked for.

    Args:
        source: the forecasts.
        request: what of them to draw, and where to.
        data: a table of the series; found through the run when None.
        future: values of covariates beyond it.

    Raises:
        ConfigError, DataError, RunError: nothing matches the choice, or a file cannot be read or written.
    """
    from forecast_attn.plotting.sources import PlotChoice

    pictures = {"png": request.png, "svg": request.svg}
    check_pictures(pictures)
    if request.animate is not None:
        check_animation(request, data)
    written = {"--png": request.png, "--svg": request.svg, "--animate": request.animate}
    refuse_outputs(written, read=[source.table, data, future], runs=[source.run])
    choice = PlotChoice(
        list(request.item),
        list(request.model),
        request.cutoff,
        request.history,
        data,
        future,
        request.step,
        request.column,
    )
    picture = picture_of(request.kind, source, choice)
    files = [path for path in pictures.values() if path is not None]
    notes = picture.save(*files) if files else []
    if request.animate is not None:
        from forecast_attn.plotting.animation import animation_of

        table = data if isinstance(data, Path) else None
        animation = animation_of(source.run, next(iter(request.item), None), table)
        notes += [*animation.notes, *animation.save(request.animate)]
    return replace(picture, file_notes=tuple(dict.fromkeys(notes)))


def check_animation(request: PlotRequest, data: object) -> None:
    """Refuse, before any work, what an animation cannot show.

    Raises:
        ConfigError: saying what.
    """
    assert request.animate is not None
    from forecast_attn.plotting.animation import check_name

    check_name(request.animate)
    others = [
        name for name in ("cutoff", "history", "model", "step", "column") if getattr(request, name) not in (None, ())
    ]
    if request.kind != "forecast" or others:
        unfit = f"--kind {request.kind}" if request.kind != "forecast" else f"--{others[0]}"
        raise ConfigError(f"--animate does not go with {unfit}", "leave it out: it plays all cut-offs of the run")
    if len(request.item) > 1:
        raise ConfigError("--animate shows one series", f"--item {request.item[0]}")
    if data is not None and not isinstance(data, Path):
        raise ConfigError("--animate reads its series from a file", "name the file, or leave it to the run")


def picture_of(kind: str, source: PlotSource, choice: PlotChoice) -> Picture:
    """Read and score what a picture shows.

    Raises:
        ConfigError, DataError, RunError: nothing matches the choice, or a file cannot be read.
    """
    from forecast_attn.plotting import sources

    check_choice_of(kind, choice)
    read: dict[str, Any] = {
        "forecast": sources.forecast_scene,
        "error-by-step": sources.step_errors_of,
        "calibration": sources.reliability_of,
        "attribution": sources.attribution_at,
        "by-value": sources.by_value_of,
    }
    return Picture(kind, read[kind](source, choice))


ONLY_FOR = {
    "cutoff": ("forecast", "attribution"),
    "history": ("forecast",),
    "models": ("forecast", "error-by-step", "calibration", "by-value"),
    "future": ("attribution",),
    "step": ("attribution",),
    "columns": ("by-value",),
}
"""The kinds of picture that a part of a choice is about."""


def check_choice_of(kind: str, choice: PlotChoice) -> None:
    """Refuse, before any work, what does not go together.

    Raises:
        ConfigError: saying what.
    """
    if kind not in PICTURES:
        raise ConfigError(f"there is no picture --kind {kind}", did_you_mean(kind, PICTURES))
    for name, kinds in ONLY_FOR.items():
        given = getattr(choice, name)
        if kind not in kinds and given is not None and not (isinstance(given, list | tuple) and not given):
            flag = f"--{name.removesuffix('s')}"
            raise ConfigError(
                f"{flag} does not go with --kind {kind}; it is for {' and '.join(kinds)}", f"leave {flag} out"
            )


def check_pictures(pictures: Mapping[str, Path | None]) -> None:
    """Refuse, before any work, a picture of another kind.

    Args:
        pictures: by the kind, png or svg.

    Raises:
        ConfigError: saying which.
    """
    for name, path in pictures.items():
        if path is not None and path.suffix.lower() != f".{name}":
            raise ConfigError(f"--{name} writes a .{name}; got '{path.name}'", f"--{name} {path.stem}.{name}")
