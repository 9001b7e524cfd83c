"""Default sizes of the network and of training, chosen by the table's season.

Hourly and finer series are cut into patches, with what docs/accuracy-tried.md found to go well with them; all others
are read step by step. Lags are off: they barely improve accuracy and make the attention weights meaningless.
"""

from __future__ import annotations

from typing import NamedTuple

from forecast_attn.config.options import ModelConfig, TrainingConfig

PATCHES_PER_SEASON = 4
SHORTEST_SEASON = 24
"""The shortest season, in steps, whose steps are joined in patches: the hours of a day."""
FEWEST_SEASONS = 2
"""Fewest seasons in the lookback; with fewer there is little to choose among."""
FEWEST_SERIES = 20
"""Smallest number of series that counts as a panel: a network soon learns what that many series share."""


_MINUTE = 60 * 10**9
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


class DefaultSizes(NamedTuple):
    """Default sizes of a table, in steps of its time axis."""

    season: int
    """1 for none."""
    horizon: int
    lookback: int


SIZES_WITHOUT_SEASON = DefaultSizes(1, 12, 48)
SIZES_OF_BUSINESS_DAYS = DefaultSizes(5, 5, 20)


def sizes_of_months(months: int) -> DefaultSizes:
    """Return the default sizes for a step of this many months."""
    season = 12 // months if 12 % months == 0 else 1
    horizon, lookback = {1: (12, 36), 3: (4, 12)}.get(months, (3, 9))
    return DefaultSizes(season, horizon, lookback)


def sizes_of_step(step: int) -> DefaultSizes:
    """Return the default sizes for a step of this many nanoseconds.

    From five minutes to hours the season is a day and the lookback a week. A day of finer steps would be a lookback of
    thousands, so their season is an hour, or a minute; below a second none is assumed.
    """
    if step == 7 * _DAY:
        return DefaultSizes(52, 13, 104)
    if step == _DAY:
        return DefaultSizes(7, 7, 28)
    if step > _DAY:
        return SIZES_WITHOUT_SEASON
    if step >= 5 * _MINUTE:
        day = _DAY // step
        return DefaultSizes(day, day, 7 * day) if _DAY % step == 0 else SIZES_WITHOUT_SEASON
    if step < 10**9:
        return DefaultSizes(1, 60, 240)
    season = (_HOUR if step >= _MINUTE else _MINUTE) // step
    return DefaultSizes(season, max(season, 12), max(4 * season, 48))


LONGEST_DAY = 288
"""Steps of a day up to which a week is looked back."""


def sizes_of_sessions(per_day: int, days: int) -> DefaultSizes:
    """Return the default sizes for a week of this many days with this many steps: a day, and a week back.

    Steps of a day have the season of a week. Of very many steps a day, as of minutes, the season is still the day, and
    the lookback two of them.
    """
    if per_day == 1:
        return DefaultSizes(days, days, 4 * days)
    return DefaultSizes(per_day, per_day, per_day * (days if per_day <= LONGEST_DAY else 2))


class Shape(NamedTuple):
    """The options of `ModelConfig` that depend on the table, none of them open."""

    patch_length: int
    hidden_size: int
    bidirectional: bool
    projection_size: int
    temporal_decoder_size: int
    lags: tuple[int, ...]


def shape_of(
    model: ModelConfig, *, lookback: int, horizon: int, season: int, within_day: bool = True, num_series: int = 1
) -> Shape:
    """The shape of a network: what was given, and the rest by the table.

    Args:
        model: options; None is open.
        lookback: time steps.
        horizon: time steps.
        season: time steps, 1 for none.
        within_day: whether a time step is shorter than a day.
        num_series: of the table.
    """
    length = model.patch_length or (_patch_length(model, lookback, horizon, season) if within_day else 1)
    shape = Shape(
        length,
        32 if num_series >= FEWEST_SERIES else 64,
        bidirectional=False,
        projection_size=0,
        temporal_decoder_size=0,
        lags=(),
    )
    if length > 1:
        shape = shape._replace(hidden_size=64, bidirectional=True, projection_size=128, temporal_decoder_size=64)
    given = {name: getattr(model, name) for name in Shape._fields}
    return shape._replace(**{name: value for name, value in given.items() if value is not None})


def learning_rate_of(training: TrainingConfig, patch_length: int, num_series: int) -> float:
    """Peak learning rate of AdamW; patched networks and panels need a smaller one."""
    return training.learning_rate or (0.001 if patch_length > 1 else 0.005 if num_series >= FEWEST_SERIES else 0.008)


def weight_decay_of(training: TrainingConfig, patch_length: int) -> float:
    """Networks over patches have more weights, and keep them smaller."""
    return training.weight_decay if training.weight_decay is not None else 0.01 if patch_length > 1 else 0.0001


def patches_note(model: ModelConfig, *, lookback: int, horizon: int, season: int, within_day: bool) -> str | None:
    """Note on defaults that change because the lookback is no whole number of usual patches; None otherwise.

    Args:
        model: options as they were given.
        lookback: time steps, as the next two.
        horizon: to forecast.
        season: 1 for none.
        within_day: whether a time step is shorter than a day.
    """
    usual = season // PATCHES_PER_SEASON
    if model.patch_length or not within_day or not _takes_patches(model, lookback, horizon, season):
        return None
    length = _patch_length(model, lookback, horizon, season)
    if length == usual:
        return None
    below = lookback - lookback % usual
    instead = f"--lookback {below} or {below + usual}"
    if length > 1:
        because = f"because it is not a multiple of {usual}, the usual ones; {instead} gives those"
        return f"--lookback {lookback} is cut into patches of {length} steps, {because}"
    return (
        f"no number of steps near {usual} divides --lookback {lookback}, so it is not cut into patches: it is read "
        f"step by step, at about a fifth of the speed and with other defaults; {instead} gives patches of {usual}"
    )


def _takes_patches(model: ModelConfig, lookback: int, horizon: int, season: int) -> bool:
    """Return whether a season is long enough for patches, and nothing needs single steps."""
    has_season = season >= SHORTEST_SEASON and season % PATCHES_PER_SEASON == 0
    # Values that are fed back, and windows with a centre, are of single steps.
    single = model.decoding == "autoregressive" or model.attention_window != "global"
    return has_season and lookback >= FEWEST_SEASONS * season and horizon >= season and not single


def _patch_length(model: ModelConfig, lookback: int, horizon: int, season: int) -> int:
    """Time steps that are taken as one where the user does not say.

    A quarter of a season, or the number nearest to it that divides the lookback, rather one of which a season is a
    whole number; 1 where none between a sixth and a third of a season does.
    """
    if not _takes_patches(model, lookback, horizon, season):
        return 1
    usual = season // PATCHES_PER_SEASON
    near = [length for length in range(-(-season // 6), season // 3 + 1) if lookback % length == 0]
    return min(near, key=lambda length: (length != usual, season % length > 0, abs(length - usual), -length), default=1)
