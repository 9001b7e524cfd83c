"""`Forecaster.plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forecast_attn.runs.run_dir import RunDir

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.plotting.picture import Picture


class Plotting:
    """Mixin of Forecaster: its forecasts as pictures."""

    def plot(
        self,
        kind: str = "forecast",
        *,
        forecasts: pd.DataFrame | Path | str | None = None,
        item: str | Sequence[str] = (),
        cutoff: str | None = None,
        model: str | Sequence[str] = (),
        history: int | None = None,
        data: pd.DataFrame | Path | str | None = None,
        png: Path | str | None = None,
        svg: Path | str | None = None,
    ) -> Picture:
        """Draw what was forecast: of `forecasts`, or the newest that `predict` or `backtest` wrote into the run.

        Args:
            kind: `forecast`, `error-by-step` or `calibration`.
            forecasts: a table of forecasts, such as `ForecastResult.predictions` or `BacktestResult.frame`; those in
                the run when None.
            item: series; all when empty.
            cutoff: the forecast of this cut-off, made again by the network where no file has it; the last when None.
            model: models of a backtest.
            history: steps before the cut-off; four horizons, at least 24, when None.
            data: a table of the series, which also says what came; found through the run when None.
            png: file to write the picture to; none when None.
            svg: the same picture, scalable.

        Returns:
            The picture: `.print()` shows it in a terminal, `.figure()` is one of matplotlib, `.to_dict()` its numbers.

        Raises:
            ConfigError: there is no such kind, an option is not about it, or matplotlib is not installed.
            RunError: not fitted, or the run is damaged.
            DataError: nothing matches the choice.
        """
        from forecast_attn.plotting.picture import check_targets, picture_of
        from forecast_attn.plotting.sources import PlotChoice, PlotSource

        files = {name: None if path is None else Path(path) for name, path in (("png", png), ("svg", svg))}
        table, values = (Path(each) if isinstance(each, str) else each for each in (forecasts, data))
        read = {"the table of forecasts": table, "data": values}
        check_targets(files, {what: path for what, path in read.items() if isinstance(path, Path)})
        choice = PlotChoice(_names(item), _names(model), cutoff, history, values)
        picture = picture_of(kind, PlotSource(table, self._fitted()), choice)
        written = [path for path in files.values() if path is not None]
        if written:
            picture.save(*written)
        return picture

    def _fitted(self) -> RunDir:
        raise NotImplementedError


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
