"""`forecast compare`: ordinary runs, a leaderboard that says what they say, and honest words about chance."""

import json
import shutil
import statistics
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import forecast_attn
from forecast_attn import Forecaster
from forecast_attn.comparison.compare import ComparisonListener
from forecast_attn.comparison.comparison_plan import ComparisonPlan
from forecast_attn.comparison.leaderboard import notes_of
from forecast_attn.config.requests import CompareRequest
from forecast_attn.errors import ConfigError, RunError, TerminatedError
from forecast_attn.evaluation.significance import diebold_mariano, giacomini_white
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training.preparation import prepare
from forecast_attn.training.validation import validation_rows

slow = pytest.mark.slow
MECHANISMS, SEEDS = ("none", "bahdanau"), (4, 5)
RUNS = [f"{attention}-seed{seed}" for seed in SEEDS for attention in MECHANISMS]
OPTIONS = {
    "lookback": 14,
    "horizon": 1,
    "hidden_size": 4,
    "max_epochs": 2,
    "combination": "none",
    "epoch_windows": 32,
    "validation_windows": 16,
    "quantiles": "0.1,0.5,0.9",
    "accelerator": "cpu",
}
FLAGS = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
CHOICES = {"attention": "none,bahdanau", "seeds": 2, "seed": 4}
WITH_TIMES = ("history.csv", "metrics.json", "manifest.json")
TIMES = ["seconds", "seconds_std", "windows_per_second"]


@pytest.fixture(scope="module")
def table(make_table, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("comparison") / "data.csv"
    make_table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def shown(forecast, table):
    """What the command says; its folder is `compared` beside the table. Look at it, do not change it."""
    words = [f"--{name}={value}" for name, value in CHOICES.items()]
    outcome = forecast("compare", table, *words, *FLAGS, "--out", table.parent / "compared")
    assert outcome.code == 0, outcome.err
    return outcome


@pytest.fixture(scope="module")
def compared(shown, table) -> Path:
    return table.parent / "compared"


def metrics_of(folder: Path, name: str) -> dict:
    return json.loads((folder / name / "metrics.json").read_text())


# --------------------------------------------------------------------------- runs


@slow
def test_every_run_is_the_one_that_train_would_have_made(compared, table, tmp_path):
    assert {path.name for path in compared.iterdir()} == {
        *RUNS,
        "comparison.json",
        "leaderboard.csv",
        "leaderboard.json",
    }
    alone = Forecaster(**OPTIONS, attention="bahdanau", seed=5).fit(table, out=tmp_path / "alone")
    for name in ("model.safetensors", "metrics.json", "schema.json", "validation_attention.parquet"):
        assert (compared / "bahdanau-seed5" / name).read_bytes() == (alone.run_path / name).read_bytes()
    assert len(Forecaster.load(compared / "none-seed4").predict().predictions) == 1


@slow
def test_the_command_line_says_who_won_and_what_to_type(shown, compared):
    lines = shown.out.splitlines()
    board = json.loads((compared / "leaderboard.json").read_text())
    winner = compared / board["run"]
    assert f"winner: '{board['winner']}', run {winner}" in lines
    assert f"predict with it: forecast predict {winner}" in lines
    assert any(line.endswith(f"judge it on later data: forecast backtest {winner} --data LATER.csv") for line in lines)
    for note in board["notes"]:
        assert f"note: {note}" in lines
    assert [line.split(", MAE")[0] for line in shown.err.splitlines() if line.startswith("run ")] == [
        f"run {number} of 4, {attention}, seed {seed}"
        for number, (seed, attention) in enumerate(((s, a) for s in SEEDS for a in MECHANISMS), start=1)
    ]


# --------------------------------------------------------------------------- leaderboard


@slow
def test_the_leaderboard_says_what_the_runs_say(compared):
    board = pd.read_csv(compared / "leaderboard.csv").set_index("attention")
    records = json.loads((compared / "leaderboard.json").read_text())
    assert list(board["mae"]) == sorted(board["mae"])
    assert list(board["rank"]) == [1, 2]
    for attention in MECHANISMS:
        each = [metrics_of(compared, f"{attention}-seed{seed}") for seed in SEEDS]
        row = board.loc[attention]
        read = {
            "mae": [m["validation"]["mae"] for m in each],
            "rmse": [m["validation"]["rmse"] for m in each],
            "mase": [m["validation"]["mase"] for m in each],
            "pinball": [statistics.fmean(m["validation"]["pinball"].values()) for m in each],
            "coverage": [m["validation"]["interval"]["coverage"] for m in each],
            "skill_per_cent": [m["skill_per_cent"] for m in each],
            "seconds": [pd.read_csv(compared / f"{attention}-seed{s}/history.csv")["seconds"].sum() for s in SEEDS],
        }
        for name, values in read.items():
            assert row[name] == pytest.approx(statistics.mean(values)), name
            assert row[f"{name}_std"] == pytest.approx(statistics.stdev(values)), name
        model = load_model(RunDir(compared / f"{attention}-seed4"))
        assert row["parameters"] == sum(values.numel() for values in model.network.state_dict().values())
        best = min(SEEDS, key=lambda seed: metrics_of(compared, f"{attention}-seed{seed}")["validation"]["mae"])
        assert row["run"] == f"{attention}-seed{best}"
    assert records["winner"] == board.index[0]
    assert records["seasonal_naive"]["mae"] == metrics_of(compared, RUNS[0])["seasonal_naive"]["mae"]
    baselines = metrics_of(compared, RUNS[0])["baselines"]
    assert {name: errors["mae"] for name, errors in records["baselines"].items()} == {
        name: errors["mae"] for name, errors in baselines.items()
    }
    assert records["validation"]["interval"]["nominal"] == pytest.approx(0.8)
    assert [run["run"] for run in records["runs"]] == RUNS


@slow
def test_tests_are_about_the_errors_per_cutoff_averaged_over_seeds(compared, table):
    losses = {}
    for attention in MECHANISMS:
        each = []
        for seed in SEEDS:
            model = load_model(RunDir(compared / f"{attention}-seed{seed}"))
            preparation = prepare(read_panel(table, model.config)[0], model.config.data)
            cutoffs = validation_rows(preparation, model.config)
            (batch,) = forecast_windows(model, preparation.panel, cutoffs)
            each.append(np.abs(batch.prediction[:, 0] - preparation.panel.target[cutoffs + 1]))
        losses[attention] = (each[0] + each[1]) / 2
    board = pd.read_csv(compared / "leaderboard.csv")
    winner, other = board["attention"]
    expected = diebold_mariano(losses[other], losses[winner])
    row = board.iloc[1]
    assert row["dm_statistic"] == pytest.approx(expected.statistic, rel=1e-4)
    assert row["dm_p_value"] == pytest.approx(expected.p_value, rel=1e-3)
    assert row["gw_p_value"] == pytest.approx(giacomini_white(losses[other], losses[winner]).p_value, rel=1e-3)
    assert row["tested_cutoffs"] == 16
    assert np.isnan(board["dm_p_value"].iloc[0])


# --------------------------------------------------------------------------- cut short


class Killed(BaseException):
    """Nothing catches this: the files stay as a kill would leave them."""


class Strikes(ComparisonListener):
    """Dies in the second epoch of the second run."""

    def run_started(self, number, runs, entry):
        self.run, self.epochs, self.kept = number, 0, []

    def epoch_done(self, record, is_best):
        self.epochs += 1
        if (self.run, self.epochs) == (2, 2):
            raise Killed


class RecordingListener(ComparisonListener):
    def __init__(self) -> None:
        self.kept: list[bool] = []

    def run_ended(self, metrics, *, kept):
        self.kept.append(kept)


@slow
def test_killed_it_goes_on_to_the_same_leaderboard(compared, table, tmp_path):
    folder, listener = tmp_path / "struck", RecordingListener()
    with pytest.raises(Killed):
        forecast_attn.compare(table, **CHOICES, **OPTIONS, out=folder, listener=Strikes())
    assert not (folder / "leaderboard.csv").exists()
    assert not (folder / RUNS[1] / "metrics.json").exists()
    # Killed once more, between the folder of the third run and its config.json.
    (folder / RUNS[2]).mkdir()
    (folder / RUNS[2] / "schema.json").write_text("{}")
    result = forecast_attn.resume_comparison(folder, listener=listener)
    assert listener.kept == [True, False, False, False]
    boards = [pd.read_csv(where / "leaderboard.csv").drop(columns=TIMES) for where in (folder, compared)]
    pd.testing.assert_frame_equal(*boards)
    for name in RUNS:
        assert (folder / name / "model.safetensors").read_bytes() == (
            compared / name / "model.safetensors"
        ).read_bytes()
    assert result.winner_run.is_dir()
    assert result.to_dict()["leaderboard"][0]["attention"] == result.winner


@slow
def test_processes_make_the_same_runs_and_go_on_where_one_of_them_was_cut_short(
    compared, table, forecast, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # names of files are those of this process
    words = [f"--{name}={value}" for name, value in CHOICES.items()]
    outcome = forecast("compare", table, *words, *FLAGS, "--out", "shared", "--jobs", "2")
    assert outcome.code == 0, outcome.err
    assert outcome.err.count("2 epochs, all epochs done") == len(RUNS)
    (tmp_path / "shared" / "leaderboard.csv").unlink()
    for file in ("metrics.json", "model.safetensors"):
        (tmp_path / "shared" / RUNS[1] / file).unlink()
    again = forecast("compare", "--resume", "shared", "--jobs", "2")
    assert again.err.count("trained before") == len(RUNS) - 1
    boards = [pd.read_csv(where / "leaderboard.csv").drop(columns=TIMES) for where in (tmp_path / "shared", compared)]
    pd.testing.assert_frame_equal(*boards)
    for name in RUNS:
        same = [path.name for path in (compared / name).iterdir() if path.name not in WITH_TIMES]
        assert "model.safetensors" in same
        for file in same:
            assert (tmp_path / "shared" / name / file).read_bytes() == (compared / name / file).read_bytes()


@slow
def test_ctrl_c_says_how_to_go_on(forecast, table, here, monkeypatch):
    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("forecast_attn.comparison.compare.train_prepared", interrupted)
    outcome = forecast("compare", table, "--attention", "none,bahdanau", *FLAGS, "--out", "cut")
    assert outcome.code == 130
    assert outcome.hint == "continue with: forecast compare --resume cut"


@slow
def test_told_to_end_it_says_how_the_whole_comparison_goes_on(forecast, table, here, monkeypatch):
    def told_to_end(*args: object, **options: object) -> None:
        raise TerminatedError("training was terminated (SIGTERM)")

    monkeypatch.setattr("forecast_attn.comparison.compare.train_prepared", told_to_end)
    outcome = forecast("compare", table, "--attention", "none,bahdanau", *FLAGS, "--out", "cut")
    assert outcome.hint == "continue with: forecast compare --resume cut"


# --------------------------------------------------------------------------- refused


@slow
def test_what_cannot_be_continued_is_refused(compared, table, forecast, make_table, tmp_path):
    words = ["--attention", "none,bahdanau", *FLAGS]
    again = forecast("compare", table, *words, "--out", compared)
    assert again.code == 1
    assert again.hint.endswith(f"continue it with: forecast compare --resume {compared}")
    other = tmp_path / "other.csv"
    make_table(seed=1).to_csv(other, index=False)
    with pytest.raises(RunError, match="is not the table"):
        forecast_attn.resume_comparison(compared, other)
    with pytest.raises(RunError, match="there is no comparison"):
        forecast_attn.resume_comparison(tmp_path)


@slow
def test_a_run_of_other_options_is_no_part_of_it(compared, tmp_path):
    folder = Path(shutil.copytree(compared, tmp_path / "copy"))
    content = json.loads((folder / "comparison.json").read_text())
    content["options"]["max_epochs"] = 3
    (folder / "comparison.json").write_text(json.dumps(content))
    with pytest.raises(RunError, match="trained with other options"):
        forecast_attn.resume_comparison(folder)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--attention", "none"), "takes two attention mechanisms or more; got 1", "none,bahdanau"),
        ((), "takes two attention mechanisms or more; got 0", "none,bahdanau"),
        (("--attention", "none,bahdano"), "no value 'bahdano'", "bahdanau"),
        (("--attention", "none,bahdanau", "--seeds", "0"), "--seeds must be between 1 and", "compare --help"),
        (("--attention", "none,bahdanau", "--combine", "median"), "--combine needs several", "--ensemble"),
        (("--resume", "there", "--seeds", "3"), "cannot change --seeds", "leave"),
    ],
)
def test_wrong_words_are_refused_before_the_table_is_read(refused, here, words, message, hint):
    refused("compare", "data.csv", *words, message=message, hint=hint, code=2)


# --------------------------------------------------------------------------- plan and words


def test_a_plan_has_every_mechanism_with_every_seed_and_survives_its_file():
    plan = ComparisonPlan.of(
        CompareRequest(attention=("bahdanau", "none", "bahdanau"), seeds=2, seed=7), horizon=3, attention_windows=5
    )
    assert [entry.name for entry in plan.entries] == ["bahdanau-seed7", "none-seed7", "bahdanau-seed8", "none-seed8"]
    configs = [plan.config_of(entry) for entry in plan.entries]
    assert [config.training.seed for config in configs] == [7, 7, 8, 8]
    assert [config.training.attention_windows for config in configs] == ["5", "128", "5", "128"]
    assert ComparisonPlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    with pytest.raises(ConfigError, match="--seed must be a whole number"):
        CompareRequest.from_options({"attention": "none,bahdanau", "seed": "x"})


def board(*rows: tuple[str, float, float, bool, float], seeds: int = 3) -> pd.DataFrame:
    names = ["attention", "mae", "mae_std", "within_spread", "dm_p_value"]
    return pd.DataFrame(rows, columns=names).assign(seeds=seeds, note="")


ROWS = (("a", 1.0, 0.01, False, np.nan), ("b", 2.0, 0.01, False, 0.001))


def test_words_fit_the_numbers():
    clear = board(*ROWS)
    far = {"seasonal-naive": {"mae": 3.0}, "linear": {"mae": 4.0}}
    assert notes_of(clear, far) == ()
    (only,) = notes_of(clear, far | {"seasonal-naive": {"mae": 1.0}})
    assert only == "no mechanism beats repeating the last season: use that instead"
    (only,) = notes_of(clear, far | {"linear": {"mae": 0.9}})
    assert only == "no mechanism beats the linear network: use that instead"
    near = board(("a", 1.0, 0.1, False, np.nan), ("b", 1.05, 0.1, True, 0.3), ("c", 1.06, 0.1, True, 0.01))
    spread, tested, alike = notes_of(near, far)
    assert spread.startswith("within the spread of the seeds: 'b', 'c' cannot be distinguished from 'a'")
    assert tested.startswith("p below 0.05 of 'c' compares these trained networks")
    assert alike == "not significantly worse than 'a' (p of 0.05 or more): 'b'"
    (untested,) = notes_of(board(*ROWS[:1], ("b", 2.0, 0.01, False, np.nan)).assign(note="DM: too few"), far)
    assert untested == "not tested: 'b'; DM: too few"
    (single,) = notes_of(board(("a", 1.0, np.nan, False, np.nan), ("b", 2.0, np.nan, False, 0.01), seeds=1), far)
    assert single.startswith("one seed each")


def test_within_the_spread_is_within_the_deviation_of_a_difference():
    from forecast_attn.comparison.leaderboard import within_spread

    table = pd.DataFrame({"mae": [1.0, 1.49, 1.51, 9.0], "mae_std": [0.3, 0.4, 0.4, np.nan]})
    assert list(within_spread(table)) == [False, True, False, False]
