"""A picture before it is drawn: its numbers, its figure, its files, and its form in the terminal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from forecast_attn.config.requests import PlotRequest
from forecast_attn.errors import ConfigError
from forecast_attn.inspection.figures import check_pictures
from forecast_attn.notebook import Drawn
from forecast_attn.runs.output_paths import refuse_outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from forecast_attn.plotting.sources import PlotSource


OF_INPUTS = ("attribution", "by-value")
"""Kinds whose drawing needs torch, which forecasts in a file do without."""


@dataclass(frozen=True, eq=False)
class Picture(Drawn):
    """Result of `Forecaster.plot`."""

    kind: str
    """One of `PICTURES`, of the requests."""
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
            from forecast_attn.plotting.forecast_pictures import draw_errors, draw_forecast, draw_reliability

            draw = {"forecast": draw_forecast, "error-by-step": draw_errors, "calibration": draw_reliability}
        from matplotlib.text import Text

        figure: Figure = draw[self.kind](self.shown)
        for text in figure.findobj(Text):
            text.set_parse_math(False)  # a name with two $ is no formula
        return figure

    def __repr__(self) -> str:
        return f"<Picture: {self.kind}>"

    def save(self, *paths: Path | str) -> list[str]:
        """Write .png or .svg files, whole or not at all; the same picture is the same bytes.

        Returns:
            Notes on what could not be drawn.

        Raises:
            ConfigError: a name ends otherwise, or matplotlib is not installed.
            RunError: a file cannot be written.
        """
        from forecast_attn.inspection.figures import save_figure

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
            from forecast_attn.plotting.forecast_terminal import render_errors, render_forecast, render_reliability

            render = {"forecast": render_forecast, "error-by-step": render_errors, "calibration": render_reliability}
        render[self.kind](self.shown, console or Console())


def draw_picture(source: PlotSource, request: PlotRequest) -> Picture:
    """Read what a picture shows, and write it to the files that are asked for.

    Args:
        source: the forecasts.
        request: what of them to draw, and where to.

    Raises:
        ConfigError, DataError, RunError: nothing matches the choice, or a file cannot be read or written.
    """
    from forecast_attn.plotting import sources

    check_pictures(png=request.png, svg=request.svg)
    if request.animate is not None:
        check_animation(request, source.data)
    written = {"--png": request.png, "--svg": request.svg, "--animate": request.animate}
    refuse_outputs(written, read=[source.table, source.data, source.future], runs=[source.run])
    check_choice(request, source.future)
    read: dict[str, Any] = {
        "forecast": sources.forecast_scene,
        "error-by-step": sources.step_errors_of,
        "calibration": sources.reliability_of,
        "attribution": sources.attribution_at,
        "by-value": sources.by_value_of,
    }
    picture = Picture(request.kind, read[request.kind](source, request))
    files = [path for path in (request.png, request.svg) if path is not None]
    notes = picture.save(*files) if files else []
    if request.animate is not None:
        from forecast_attn.plotting.animation import animation_of

        table = source.data if isinstance(source.data, Path) else None
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
        raise ConfigError("--animate shows one series", f"--item {quote(request.item[0])}")
    if data is not None and not isinstance(data, Path):
        raise ConfigError("--animate reads its series from a file", "name the file, or leave it to the run")


ONLY_FOR = {
    "cutoff": ("forecast", "attribution"),
    "history": ("forecast",),
    "model": ("forecast", "error-by-step", "calibration", "by-value"),
    "future": ("attribution",),
    "step": ("attribution",),
    "column": ("by-value",),
}
"""The kinds of picture that an option is about."""


def check_choice(request: PlotRequest, future: object) -> None:
    """Refuse, before any work, what does not go together.

    Raises:
        ConfigError: saying what.
    """
    for name, kinds in ONLY_FOR.items():
        given = future if name == "future" else getattr(request, name)
        is_given = given is not None and not (isinstance(given, tuple) and not given)
        if is_given and request.kind not in kinds:
            message = f"--{name} does not go with --kind {request.kind}; it is for {' and '.join(kinds)}"
            raise ConfigError(message, f"leave --{name} out")
