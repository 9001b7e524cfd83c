"""Training continued on the rows up to a cut-off: what `forecast update` does once, and a backtest at each `--refit`.

The weights go on from where they are. Scales, vocabulary, calendar and calibration stay those of the run: forecasts of
all refits are made on one scale, and nothing but the weights can tell one from another.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.baselines.registry import BaselineSetup, CachedBaselines
from forecast_attn.config.options import RunConfig
from forecast_attn.config.values import parse_share_range
from forecast_attn.data.cleaning import without_later_values
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.split import Split, validation_steps
from forecast_attn.devices import choose_device, cpu_threads
from forecast_attn.errors import DataError
from forecast_attn.forecasting.ensemble import member_config
from forecast_attn.forecasting.history import select_series
from forecast_attn.forecasting.inference import load_network
from forecast_attn.forecasting.model import Model
from forecast_attn.nn.network import ForecastNetwork
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.callbacks import best_epoch_of
from forecast_attn.training.fit import fit
from forecast_attn.training.preparation import Preparation, prepare_again
from forecast_attn.training.progress import TrainingListener
from forecast_attn.training.sampling import mix_seed
from forecast_attn.training.train import module_of
from forecast_attn.training.validation import combination, forecast_validation

RATE_SHARE = 0.2
"""Learning rate of a refit, as a share of the run's: small steps from weights that are good already."""
VALIDATION_HORIZONS = 7
"""Number of last horizons that choose the best epoch of a refit; fewer where the run itself was validated on fewer. The
newest rows are worth more to train on than to choose among a few epochs."""


@dataclass(frozen=True)
class Refit:
    """Settings of a refit."""

    number: int
    """Number of the refit, from 1; its seed follows from the run's."""
    cutoff: Any
    """Stamp after which nothing is seen."""
    epochs: int
    accelerator: str = "auto"
    learning_rate: float | None = None
    """Peak learning rate; `RATE_SHARE` of the run's when None."""
    since: Any | None = None
    """The steps of a window's horizon lie after this stamp; its lookback may begin before. All windows when None."""
    validation: int | None = None
    """Number of last steps that choose the best epoch; 0 for none, and the last epoch. When None as a refit does."""
    half_life: Any | None = None
    """Stamp at which a window is drawn half as often as one at the cut-off; all are drawn alike when None."""
    keep: str = "new"
    """`best`: the old weights stay where they are no worse on the validation windows. `new`: they never do."""
    final_fit: bool = False
    """End with a training on all rows up to the cut-off, those of validation too; see `updated`."""
    hint: str | None = None
    """Hint where there is no window to train on."""


class Refitted(NamedTuple):
    """A model that was trained further."""

    model: Model
    epochs: tuple[int, ...]
    """The epoch of each network that was best."""


def refit(model: Model, panel: Panel, request: Refit, folder: Path, listener: TrainingListener) -> Refitted:
    """Train a model further on the rows up to a cut-off, all members where it is an ensemble.

    Args:
        model: whose weights to begin with; it is left as it is.
        panel: the series, with rows after the cut-off too, which are cut off first.
        request: cut-off, epochs, device.
        folder: an empty folder for the weights of the best epoch.
        listener: called with the progress of the training.

    Returns:
        The model with the weights of its best epoch, and the number of that epoch.

    Raises:
        DataError: there is no window up to the cut-off.
        RunError: the loss became non-finite, or the folder cannot be written.
        KeyboardInterrupt: Ctrl-C while training.
    """
    preparation = windows_to_refit(model, panel_until(panel, request.cutoff), request)
    config, networks, epochs = refit_config(model.config, request), [], []
    for number, network in enumerate(model.networks):
        run = RunDir.create(folder_of_network(folder, model, number))
        networks.append(_trained_further(network, preparation, member_config(config, number), run, listener))
        epochs.append(best_epoch_of(run))
    return Refitted(replace(model, networks=tuple(networks)), tuple(epochs))


def folder_of_network(folder: Path, model: Model, number: int) -> Path:
    """Folder of one network's weights and history within that of a refit."""
    return folder / str(number) if model.is_ensemble else folder


def combination_after(model: Model, panel: Panel, request: Refit, device: torch.device) -> Combination | None:
    """Combine network and baselines as the validation windows of a refit choose.

    Args:
        model: the refitted one.
        panel: the series, with rows after the cut-off too, which are cut off first.
        request: as it was refitted.
        device: where to compute.

    Returns:
        None where the refit has no validation windows.
    """
    preparation = windows_to_refit(model, panel_until(panel, request.cutoff), request)
    if not len(preparation.validation_cutoffs):
        return None
    validation = forecast_validation(model, preparation, preparation.windows().to(device))
    setup = BaselineSetup.of(model.schema, preparation.split.boundary)
    baselines = CachedBaselines(preparation.panel, validation.cutoffs, setup)
    return Combination.from_dict(combination(preparation, validation, baselines))


def held_out_steps(model: Model, known: Panel, request: Refit) -> int:
    """Steps before the cut-off that a refit does not train on."""
    if request.validation is not None:
        longest = int((known.ends - known.starts[:-1]).max())
        return min(request.validation, longest)
    steps = validation_steps(known, model.config.data.validation, model.schema.horizon)
    return min(steps, VALIDATION_HORIZONS * model.schema.horizon)


def windows_to_refit(model: Model, known: Panel, request: Refit) -> Preparation:
    """The windows of the rows up to the cut-off, to train on and to choose the best epoch with.

    Raises:
        DataError: there are none.
    """
    schema, steps = model.schema, held_out_steps(model, known, request)
    boundary = schema.frequency.shift(np.array([request.cutoff]), -steps)[0]
    preparation = prepare_again(known, schema, boundary)
    if request.since is not None:
        rows = preparation.panel.timestamps
        training, validation = (
            cutoffs[rows[cutoffs] >= request.since]
            for cutoffs in (preparation.training_cutoffs, preparation.validation_cutoffs)
        )
        preparation = replace(preparation, training_cutoffs=training, validation_cutoffs=validation)
    if not len(preparation.training_cutoffs) or (steps and not len(preparation.validation_cutoffs)):
        until = known.zone.stamp_text(request.cutoff)
        raise DataError(f"there is no window to train on up to {until}", request.hint)
    return preparation if request.half_life is None else _newest_drawn_most(preparation, model.config, request)


def _newest_drawn_most(preparation: Preparation, config: RunConfig, request: Refit) -> Preparation:
    """The same with training windows drawn by their age, as many as their weights sum to.

    A window at the stamp `half_life` weighs one half, one twice as old a quarter. It may be drawn several times.
    """
    assert config.training.seed is not None
    cutoffs = preparation.training_cutoffs
    stamps = preparation.panel.timestamps[cutoffs]
    ages = (request.cutoff - stamps) / (request.cutoff - request.half_life)
    weights = 0.5 ** ages.astype(np.float64)
    generator = np.random.default_rng(mix_seed(config.training.seed, request.number))
    number = max(round(float(weights.sum())), 1)
    drawn = generator.choice(len(cutoffs), number, p=weights / weights.sum())
    return replace(preparation, training_cutoffs=cutoffs[np.sort(drawn)])


def _trained_further(
    network: ForecastNetwork, preparation: Preparation, config: RunConfig, run: RunDir, listener: TrainingListener
) -> ForecastNetwork:
    """A copy of a network, with the weights of its best epoch."""
    module = module_of(copy.deepcopy(network).cpu().train(), preparation, config)
    with cpu_threads(config.training.threads), torch.random.fork_rng(devices=()):
        reason = fit(module, run, listener, resumable=False)  # a refit that is cut short begins again
    if reason == "interrupted":
        raise KeyboardInterrupt
    return load_network(run, config, preparation.schema)


def refit_config(config: RunConfig, request: Refit) -> RunConfig:
    """The options of the run, but for those that belong to a beginning: fewer and smaller steps, and no early end."""
    training = config.training
    assert training.seed is not None
    assert training.learning_rate is not None
    share = parse_share_range(training.teacher_forcing)[1]
    changed = replace(
        training,
        learning_rate=request.learning_rate or training.learning_rate * RATE_SHARE,
        max_epochs=request.epochs,
        patience=request.epochs,
        max_time=None,
        teacher_forcing=f"{share:g}" if config.model.decoding == "autoregressive" else training.teacher_forcing,
        seed=mix_seed(training.seed, request.number) % 2**31,
        accelerator=request.accelerator,
        # Several GPUs want processes that begin before this one has used a GPU: with its own forecasts it has.
        devices=training.devices if choose_device(request.accelerator).type == "cpu" else 1,
        num_nodes=1,
        strategy="auto",
    )
    return replace(config, training=changed)


def panel_until(panel: Panel, cutoff: Any) -> Panel:
    """The rows up to and with a stamp, as if there were no others; holes across it are carried forward."""
    panel = without_later_values(panel, cutoff)
    rows = Split(cutoff).training_rows(panel)
    known = panel.with_rows(ranges(panel.starts[:-1], rows), rows, rows)
    return known if rows.all() else select_series(known, rows > 0)
