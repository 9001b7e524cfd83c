"""Loggers of experiments: TensorBoard, MLflow, Weights & Biases or a CSV file, through Lightning's classes.

They hear what every listener hears; training itself does not know them, and its bytes do not depend on them.
"""

from __future__ import annotations

import importlib.util
import math
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.config.options import RunConfig
from forecast_attn.config.requests import TrackingRequest
from forecast_attn.errors import ConfigError
from forecast_attn.runs.atomic import write_errors_of
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.telemetry import switch_off_reports
from forecast_attn.training.process_group import is_first
from forecast_attn.training.progress import EpochRecord, TrainingListener
from forecast_attn.training.schedule import TrainingPlan

if TYPE_CHECKING:
    from forecast_attn.training.preparation import Preparation

PACKAGES = {"tensorboard": "tensorboard", "mlflow": "mlflow", "wandb": "wandb"}
"""Package that a logger needs, which is also the name of its extra."""
PROJECT = "forecast-attn"
"""Name of the experiment or project."""
Draw = Callable[[RunDir, Path], list[Path]]
"""Draws pictures of a finished run into a folder, as PNG, and names them."""
_CURVES = ("train_loss", "validation_loss", "learning_rate", "seconds", "windows_per_second")


def check_tracking(request: TrackingRequest) -> None:
    """Refuse a logger that cannot write, before training.

    Raises:
        ConfigError: its package is not installed, or it has no place to write to.
    """
    if request.logger is None:
        if request.log_to is not None:
            raise ConfigError("--log-to is for a logger", "add --logger tensorboard")
        return
    if request.logger == "csv" and request.log_to is not None and any(Path(request.log_to).glob("*")):
        raise ConfigError(f"--log-to '{request.log_to}' holds something already", "name a folder of its own")
    if request.logger == "mlflow" and request.log_to is None and not os.environ.get("MLFLOW_TRACKING_URI"):
        raise ConfigError("--logger mlflow does not know the server", "--log-to http://localhost:5000, or a folder")
    check_installed(request)


def check_installed(request: TrackingRequest) -> None:
    """Refuse a logger without its package.

    Raises:
        ConfigError: with the command that installs it.
    """
    package = PACKAGES.get(request.logger or "")
    if package is not None and importlib.util.find_spec(package) is None:
        install = f'pip install "forecast-attn[{package}]"'
        raise ConfigError(f"--logger {request.logger} needs the package '{package}'", install)


def check_resumed(run: RunDir, log_to: Path | str | None) -> TrackingRequest:
    """Return the logger that a run goes on with.

    The run may be a stranger's: what it names outside its folder must be named again.

    Raises:
        ConfigError: the run is logged elsewhere than the user says, or the logger's package is not installed.
        RunError: tracking.json is damaged.
    """
    recorded = run.read_json(run.tracking) if run.tracking.is_file() else {"logger": None, "log_to": None}
    named, known = None if log_to is None else str(log_to), recorded["log_to"]
    if named != known:
        where = "in its own folder, or not at all" if known is None else f"to '{known}'"
        hint = f"leave --log-to out: {run.resume_command}" if known is None else f"if it may: {run.resume_command}"
        raise ConfigError(f"'{run.path}' is logged {where}", hint)
    request = TrackingRequest.from_options({name: recorded[name] for name in ("logger", "log_to")})
    check_installed(request)
    return request


@contextmanager
def tracked(
    run: RunDir, request: TrackingRequest, listener: TrainingListener, draw: Draw | None = None
) -> Iterator[TrainingListener]:
    """Track a training: what happens in the block reaches the listener and the logger.

    Args:
        run: of the training.
        request: the logger; none where it names none.
        listener: hears everything first. Of several processes that train together, only the first one's hears.
        draw: draws the pictures that are logged beside the scores.
    """
    if not is_first():
        yield TrainingListener()
        return
    if request.logger is None:
        yield listener
        return
    tracker = Tracker(run, request, listener, draw)
    try:
        yield tracker
    except BaseException:
        with suppress(OSError):  # as the disk may be full
            tracker.ended("failed")
        raise
    tracker.finished()


class Tracker(TrainingListener):
    """Passes events on, and logs options, curves, scores and the run."""

    def __init__(self, run: RunDir, request: TrackingRequest, listener: TrainingListener, draw: Draw | None) -> None:
        self.run, self.request, self.listener, self.draw = run, request, listener, draw
        self._logger: Any = None
        self._prefix = ""
        self._step = 0
        self._config: RunConfig | None = None
        self._folder = Path(request.log_to or run.tracked)
        """In messages; for MLflow it may be an address."""

    # ------------------------------------------------------------------ what is heard

    def prepared(self, preparation: Preparation, config: RunConfig) -> None:
        """Keep the options until the run has a folder."""
        self.listener.prepared(preparation, config)
        self._config = config

    def member_started(self, number: int, members: int) -> None:
        """Log the curves of each member apart."""
        self.listener.member_started(number, members)
        self._prefix = f"member_{number}/"

    def training_started(self, plan: TrainingPlan, first_epoch: int, device: str) -> None:
        """Open the logger."""
        self.listener.training_started(plan, first_epoch, device)
        is_new = self._logger is None and not self.run.tracking.is_file()
        with write_errors_of(self._folder):
            self._open(first_epoch)
            if is_new and self._config is not None:
                self._logger.log_hyperparams(_flat(self._config.to_dict()))

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        """Log the losses of an epoch."""
        self.listener.epoch_done(record, is_best)
        with write_errors_of(self._folder):
            self._log_curves(record._asdict())

    # No logger wants the others.

    def reading(self, done: int, total: int) -> None:
        self.listener.reading(done, total)

    def noted(self, text: str) -> None:
        self.listener.noted(text)

    def batch_done(self, loss: float, num_windows: int) -> None:
        self.listener.batch_done(loss, num_windows)

    def interrupted(self) -> None:
        self.listener.interrupted()

    def training_ended(self, reason: str) -> None:
        self.listener.training_ended(reason)

    # ------------------------------------------------------------------ what is logged

    def finished(self) -> None:
        """Log the scores beside the baselines', pictures, and the run as an artefact."""
        with write_errors_of(self._folder):
            self._log_scores()

    def _log_scores(self) -> None:
        self._open()
        metrics = self.run.read_json(self.run.metrics)
        scores: dict[str, Any] = {
            name: metrics[name]
            for name in ("validation", "baselines", "best_epoch", "skill_per_cent")
            if name in metrics
        }
        numbers = {name: value for name, value in _flat(scores).items() if _is_number(value)}
        self._logger.log_metrics(numbers, step=self._step)
        self._log_pictures()
        if self.request.logger == "mlflow":
            _log_mlflow_model(self._logger, self.run)
        elif self.request.logger == "wandb":
            _log_wandb_artifact(self._logger, self.run)
        self.ended("success")

    def _log_pictures(self) -> None:
        if self.draw is None or self.request.logger == "csv":
            return
        with tempfile.TemporaryDirectory() as folder:
            for picture in self.draw(self.run, Path(folder)):
                _log_picture(self._logger, str(self.request.logger), picture)

    def ended(self, status: str) -> None:
        """Close the logger, where one was opened."""
        if self._logger is not None:
            self._logger.finalize(status)

    def _open(self, first_epoch: float = math.inf) -> None:
        if self._logger is not None:
            return
        recorded = self.run.read_json(self.run.tracking) if self.run.tracking.is_file() else {}
        self._logger = _make_logger(self.run, self.request, recorded.get("id"))
        if not recorded:
            identifier = _id_of(self._logger, self.request.logger)
            self.run.write_json(self.run.tracking, {**self.request.to_options(), "id": identifier})
        elif self.request.logger == "csv":  # its file begins anew
            self._log_earlier_epochs(first_epoch)

    def _log_earlier_epochs(self, first_epoch: float) -> None:
        """Log the epochs of a resumed run once more; of the member that is trained now, those before `first_epoch`."""
        current = self._prefix
        for part in self.run.parts:
            self._prefix = f"member_{part.number + 1}/" if part.is_member else ""
            end = first_epoch if self._prefix == current else math.inf
            for row in part.epochs:
                if int(row["epoch"]) < end:
                    self._log_curves(row)
        self._prefix = current

    def _log_curves(self, record: Mapping[str, Any]) -> None:
        curves = {f"{self._prefix}{name}": float(record[name]) for name in _CURVES}
        epoch = int(record["epoch"])
        self._step = max(self._step, epoch)
        self._logger.log_metrics(curves, step=epoch)
        self._logger.save()


def _make_logger(run: RunDir, request: TrackingRequest, identifier: str | None) -> Any:
    """Make Lightning's logger, which continues the experiment with that identifier."""
    from forecast_attn.training.lightning import loggers

    folder, name = request.log_to or str(run.tracked), run.path.resolve().name
    if request.logger == "csv":
        logger = loggers.CSVLogger(folder, name="", version="")
        with warnings.catch_warnings():
            # `check_tracking` has seen that what the folder holds is of this run.
            warnings.filterwarnings("ignore", message=".*exists and is not empty.*")
            logger.experiment.save()
        return logger
    if request.logger == "tensorboard":
        return loggers.TensorBoardLogger(folder, name="", version="", default_hp_metric=False)
    switch_off_reports(str(request.logger))
    if request.logger == "mlflow":
        return loggers.MLFlowLogger(PROJECT, name, tracking_uri=request.log_to, run_id=identifier)
    return loggers.WandbLogger(project=PROJECT, name=name, save_dir=folder, id=identifier, resume="allow")


def _id_of(logger: Any, kind: str | None) -> str | None:
    """Identifier by which the logger finds its experiment again; None for files."""
    if kind == "mlflow":
        return str(logger.run_id)
    return str(logger.experiment.id) if kind == "wandb" else None


def _log_picture(logger: Any, kind: str, picture: Path) -> None:
    if kind == "tensorboard":
        from matplotlib.image import imread

        logger.experiment.add_image(picture.stem, imread(picture), dataformats="HWC")
    elif kind == "mlflow":
        logger.experiment.log_artifact(logger.run_id, str(picture), "pictures")
    else:
        import wandb

        logger.experiment.log({picture.stem: wandb.Image(str(picture))})


def _log_mlflow_model(logger: Any, run: RunDir) -> None:
    from forecast_attn.forecasting.mlflow_model import save_mlflow_model

    with tempfile.TemporaryDirectory() as folder:
        save_mlflow_model(run.path, Path(folder) / "model")
        logger.experiment.log_artifacts(logger.run_id, folder)


def _log_wandb_artifact(logger: Any, run: RunDir) -> None:
    import wandb

    artifact = wandb.Artifact(f"run-{logger.experiment.id}", type="model")
    artifact.add_dir(str(run.path))
    logger.experiment.log_artifact(artifact)


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested document as one level of names with slashes."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}/")
        else:
            flat[f"{prefix}{name}"] = value if isinstance(value, bool | int | float) else str(value)
    return flat


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
