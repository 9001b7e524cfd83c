"""`forecast tune`: a search that is killed, resumed and shared, and the run of its winner."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from forecast_attn import Forecaster, tune
from forecast_attn.config.options import all_options
from forecast_attn.config.requests import TuneRequest
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.runs.atomic import held
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.tuning import study as tuning_study
from forecast_attn.tuning.search import Search, TuningListener
from forecast_attn.tuning.space import SEARCHABLE, TableShape, default_space, read_space
from forecast_attn.tuning.study import close_storage, open_storage, quiet_optuna, release_dead_trials

from ..forks import Conditions, Strike, run_forked

optuna = pytest.importorskip("optuna", reason="the extra tune is not installed")

SMALL: dict[str, Any] = {
    "lookback": 14,
    "horizon": 3,
    "hidden_size": 4,
    "max_epochs": 2,
    "epoch_windows": 32,
    "validation_windows": 16,
    "accelerator": "cpu",
}
WORDS = tuple(word for name, value in SMALL.items() for word in (f"--{name.replace('_', '-')}", str(value)))
SPACE = 'attention = ["none", "luong-dot"]\nlearning_rate = { low = 0.001, high = 0.02, log = true }\n'


@pytest.fixture
def table(write: Callable, make_table: Callable) -> str:
    write(SPACE, "space.toml")
    return write(make_table())


def study_in(path: str = "runs/data.study.db") -> Any:
    """The study of a file, to look at or to disturb."""
    return optuna.load_study(study_name="forecast-attn", storage=f"sqlite:///{path}")


@pytest.mark.slow
def test_the_winner_is_the_run_of_the_best_trial(forecast: Callable, table: str) -> None:
    words = ("--space", "space.toml", "--trials", "4", "--out", "best", "--seed", "3", *WORDS)
    done = forecast("tune", table, *words, "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    board = document["leaderboard"]
    scores = [row["mae"] for row in board if row["state"] == "scored"]
    assert (document["run"], len(board), scores) == ("best", 4, sorted(scores))
    best = {"attention": board[0]["attention"], "learning_rate": board[0]["learning_rate"]}
    assert document["best_options"] == best
    assert sum(document["trials"].values()) == 4
    run = RunDir("best")
    assert run.read_json(run.metrics)["validation"]["mae"] == document["best"]["value"] == scores[0]
    assert {name: value for name, value in document.items() if name != "run"}.items() <= run.read_json(
        run.search
    ).items()
    again = Forecaster(**SMALL, **best, seed=3).fit(table)
    assert again.metrics["validation"]["mae"] == scores[0]
    assert len(re.findall(r"^trial \d: ", done.err, flags=re.MULTILINE)) == 4


@pytest.mark.slow
def test_a_damaged_study_is_refused_with_a_sentence(forecast: Callable, table: str) -> None:
    words = ("--space", "space.toml", "--storage", "a.db", "--no-winner", *WORDS, "--quiet")
    assert forecast("tune", table, "--trials", "1", *words).code == 0
    content = Path("a.db").read_bytes()
    Path("a.db").write_bytes(content.replace(b"FINITE", b"FNITE "))  # a word of the program that is none
    refused = forecast("tune", table, "--trials", "2", *words)
    assert (refused.code, refused.error.startswith("the database of the search is damaged: ")) == (1, True)
    assert refused.hint.startswith("--storage")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE trial_params SET param_value = 1e308",
        "UPDATE trial_params SET distribution_json = '{}'",
        "UPDATE trial_user_attributes SET value_json = '[[['",
        "UPDATE study_user_attributes SET value_json = '[[['",
    ],
)
def test_a_forged_study_is_refused_with_a_sentence(forecast: Callable, table: str, change: str) -> None:
    words = ("--space", "space.toml", "--storage", "a.db", "--no-winner", *WORDS, "--quiet")
    assert forecast("tune", table, "--trials", "1", *words).code == 0
    with contextlib.closing(sqlite3.connect("a.db")) as database, database:
        database.execute(change)
    refused = forecast("tune", table, "--trials", "2", *words)
    assert (refused.code, refused.error.startswith("the database of the search is damaged: ")) == (1, True)
    assert refused.hint.startswith("--storage")


@pytest.mark.slow
def test_the_same_command_goes_on_and_the_same_seed_draws_the_same(forecast: Callable, table: str) -> None:
    def trials_of(storage: str, *numbers: int) -> list[dict[str, Any]]:
        for number in numbers:
            words = ("--space", "space.toml", "--trials", number, "--storage", storage, "--no-winner", *WORDS)
            done = forecast("tune", table, *words, "--json", "--quiet")
            assert (done.code, done.err) == (0, "")
        assert json.loads(done.out)["run"] is None
        return [{**trial.params, "value": trial.value} for trial in study_in(storage).trials]

    in_two = trials_of("two.db", 2, 3)
    assert in_two == trials_of("one.db", 3)
    assert len(in_two) == 3
    assert not Path("runs").exists()
    other = forecast("tune", table, "--space", "space.toml", "--storage", "one.db", *WORDS, "--batch-size", "8")
    assert (other.code, other.error) == (
        2,
        "the study 'forecast-attn' was started with other options: batch_size None, now 8",
    )


@pytest.mark.slow
def test_the_defaults_of_a_table_are_tried_first(table: str) -> None:
    sizes = {name: value for name, value in SMALL.items() if name != "hidden_size"}
    result = tune(table, trials=1, winner=False, hidden_size=4, **sizes)
    assert set(result.space) == {"attention", "num_layers", "dropout", "learning_rate"}  # what is given is not searched
    assert result.best_options == {
        "attention": "luong-general",
        "num_layers": 1,
        "dropout": 0.1,
        "learning_rate": 0.008,
    }
    assert result.best_value == Forecaster(**SMALL, seed=0).fit(table).metrics["validation"]["mae"]


def test_options_have_their_short_names_in_python_too(here: Path, make_table: Callable) -> None:
    tables = [make_table(60, seed=seed).assign(shop=name) for seed, name in enumerate("ab")]
    board = tune(pd.concat(tables), id="shop", trials=1, winner=False, **SMALL).leaderboard  # type: ignore[call-arg]
    assert list(board["state"]) == ["scored"]


def test_a_space_by_the_table_keeps_patches_that_divide_the_lookback() -> None:
    shape = TableShape(168, 6, 64, 0.001, (84, 168, 336))
    space, first = default_space(shape, {"attention": "bahdanau"})
    assert {name: dimension.to_document() for name, dimension in space.items()} == {
        "hidden_size": [32, 64, 128],
        "num_layers": [1, 2],
        "dropout": {"low": 0.0, "high": 0.4, "step": 0.1},
        "learning_rate": {"low": 0.00025, "high": 0.004, "log": True},
        "lookback": [84, 168, 336],
        "patch_length": [3, 6, 12],
    }
    assert all(first[name] in dimension for name, dimension in space.items())


def test_values_of_a_range_lie_whole_steps_above_its_low(write: Callable) -> None:
    text = "dropout = { low = 0.0, high = 0.3, step = 0.15 }\nnum_layers = { low = 1, high = 5, step = 2 }\n"
    space = read_space(Path(write(text, "space.toml")))
    assert [0.1 in space["dropout"], 0.15 in space["dropout"], 0.3 in space["dropout"]] == [False, True, True]
    assert [2 in space["num_layers"], 3 in space["num_layers"]] == [False, True]


@pytest.mark.slow
def test_what_cannot_be_trained_or_compared_is_a_failed_trial_with_its_reason(write: Callable, table: str) -> None:
    space = write("lookback = [14, 100]\nattention_order = ['bahdanau', 'luong']\n", "other.toml")
    result = tune(table, trials=6, winner=False, space=space, **{**SMALL, "lookback": None, "max_epochs": 1})
    failed = result.leaderboard[result.leaderboard["state"] == "failed"]
    assert set(failed["lookback"]) == {100}
    (reason,) = set(failed["error"])
    assert "lookback 100 + horizon 3" in reason
    scored = result.leaderboard[result.leaderboard["state"] == "scored"]
    assert set(scored["lookback"]) == {14}
    assert scored["same_as"].notna().sum() == len(scored) - 2  # an order of the same mechanism is trained once


@pytest.mark.slow
def test_a_hopeless_trial_is_ended_early(write: Callable, table: str) -> None:
    space = write("learning_rate = { low = 1e-9, high = 0.02, log = true }\n", "rates.toml")
    options = {**SMALL, "max_epochs": 8, "space": space, "winner": False}
    tune(table, trials=1, **options)
    study = study_in()
    for rate in (0.006, 0.007, 0.009, 0.01, 1e-9):
        study.enqueue_trial({"learning_rate": rate})
    board = tune(table, trials=6, **options).leaderboard
    (last,) = board[board["trial"] == 5].to_dict("records")
    assert (last["state"], last["rank"]) == ("pruned", 6)
    assert last["epochs"] < 8
    assert set(board["state"][:5]) == {"scored"}
    assert set(board["epochs"][:5]) == {8}


@pytest.mark.slow
def test_a_backtest_may_be_what_is_minimised(write: Callable, table: str) -> None:
    space = write("dropout = [0.1]\n", "one.toml")
    result = tune(table, trials=1, space=space, backtest=4, metric="rmse", winner=False, **SMALL)
    scored = Forecaster(**SMALL, seed=0, final_fit="none").backtest(table, cutoffs=4, baselines="none", metrics="rmse")
    assert result.best_value == scored.metrics["rmse"].iloc[0]
    assert result.scored_on == "backtest of the last 4 cut-offs"


class KillAfterFirst(TuningListener):
    """Kills another process of the search as soon as this one hears of a trial."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def trial_ended(self, trial: Any, best: Any) -> None:
        self.process.kill()
        self.process.wait()


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
@pytest.mark.slow
def test_tables_that_another_process_makes_are_waited_for(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlalchemy.exc

    opened, storage = [], optuna.storages.RDBStorage

    def raced(*words: Any, **options: Any) -> Any:
        opened.append(words)
        if len(opened) == 1:
            reason = Exception("UNIQUE constraint failed: alembic_version.version_num")
            raise sqlalchemy.exc.IntegrityError("INSERT INTO alembic_version", None, reason)
        return storage(*words, **options)

    monkeypatch.setattr(optuna.storages, "RDBStorage", raced)
    close_storage(open_storage("sqlite:///shared.db"))
    assert len(opened) == 2


@pytest.mark.integration
def test_two_processes_share_a_study_and_the_death_of_one_loses_nothing(
    table: str, process_environment: dict[str, str]
) -> None:
    options = {**SMALL, "max_epochs": 3}
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, "-m", "forecast_attn", "tune", table, "--space", "space.toml", "--storage", "shared.db"]
    helper = subprocess.Popen([*command, "--trials", "8", "--no-winner", "--quiet", *words], env=process_environment)
    try:
        until = time.monotonic() + 120
        while not (Path("shared.db").is_file() and _finished("shared.db")):
            assert helper.poll() is None and time.monotonic() < until
            time.sleep(0.1)
        options |= {"space": "space.toml", "storage": "shared.db", "winner": False}
        result = tune(table, trials=8, listener=KillAfterFirst(helper), **options)
    finally:
        helper.kill()
        helper.wait()
    trials = study_in("shared.db").trials
    assert len(result.leaderboard) == 8
    assert {trial.user_attrs["process"][1] for trial in trials if trial.params} == {helper.pid, os.getpid()}
    assert not [trial for trial in trials if trial.state in (optuna.trial.TrialState.RUNNING,)]
    lost = [trial.params for trial in trials if trial.state == optuna.trial.TrialState.FAIL]
    over = [trial.params for trial in trials if trial.state != optuna.trial.TrialState.FAIL]
    # A process may be killed before it has chosen all options of its trial: what it had chosen is tried.
    assert all(any(params.items() <= other.items() for other in over) for params in lost)


def _finished(storage: str) -> bool:
    try:
        return any(trial.state.is_finished() for trial in study_in(storage).trials)
    except Exception:  # it is being made: whatever a half-made database makes Optuna raise
        return False


@pytest.mark.slow
def test_the_trial_of_a_dead_process_is_taken_over(table: str) -> None:
    options = {**SMALL, "space": "space.toml", "winner": False}
    tune(table, trials=1, **options)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    study = study_in()
    study.enqueue_trial({"attention": "none", "learning_rate": 0.0123})
    trial = study.ask()
    trial.suggest_categorical("attention", ("none", "luong-dot"))
    trial.suggest_float("learning_rate", 0.001, 0.02, log=True)
    trial.set_user_attr("process", [socket.gethostname(), gone.pid])
    trial.set_user_attr("attempt", 1)
    result = tune(table, trials=2, **options)
    assert list(result.leaderboard.sort_values("trial")["trial"]) == [0, 2]
    assert 0.0123 in list(result.leaderboard["learning_rate"])
    assert study_in().trials[1].state == optuna.trial.TrialState.FAIL


@pytest.mark.slow
def test_a_trial_killed_before_or_while_it_draws_is_drawn_again_as_it_would_have_been(table: str) -> None:
    options: dict[str, Any] = {"space": "space.toml", "trials": 3, "winner": False}
    tune(table, storage="whole.db", **options, **SMALL)
    whole = [trial.params for trial in study_in("whole.db").trials]
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for drawn in ([], ["attention"]):
        for at in (0, 1):  # the defaults, and the first that is drawn
            storage = f"{at}{len(drawn)}.db"
            request = TuneRequest.from_options({**options, "storage": storage})
            with pytest.warns(optuna.exceptions.ExperimentalWarning):
                search = Search.prepare(table, None, request, SMALL, TuningListener())
            for _ in range(at):
                search._try_next(None)
            with pytest.warns(UserWarning, match="Heartbeat"):
                trial = search.study.ask()
            trial.set_user_attr("process", [socket.gethostname(), gone.pid])
            trial.set_user_attr("attempt", 1)
            for name in drawn:
                search.space[name].suggest(trial, name)
            search.close()
            tune(table, storage=storage, **options, **SMALL)
            trials = study_in(storage).trials
            assert trials[at].state == optuna.trial.TrialState.FAIL
            assert [trial.params for trial in trials if trial.number != at] == whole


@pytest.mark.slow
def test_a_trial_whose_process_died_before_it_noted_itself_is_taken_over(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no sign of life either: a search waited for it for ever."""
    request = TuneRequest.from_options({"space": "space.toml", "trials": 1, "winner": False})
    with quiet_optuna():
        search = Search.prepare(table, None, request, SMALL, TuningListener())
        with pytest.warns(UserWarning, match="Heartbeat"):
            search.study.ask()
        release_dead_trials(search.study)
        assert [trial.state.name for trial in search.study.trials] == ["RUNNING"]
        monkeypatch.setattr(tuning_study, "GRACE", 0)
        release_dead_trials(search.study)
        assert [trial.state.name for trial in search.study.trials] == ["FAIL", "WAITING"]
        search.close()


def test_windows_sends_no_signal_to_the_process_of_a_trial(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("os.kill", lambda process, signal: sent.append(process))  # where signal 0 is a Ctrl-C
    request = TuneRequest.from_options({"space": "space.toml", "trials": 1, "winner": False})
    with quiet_optuna():
        search = Search.prepare(table, None, request, SMALL, TuningListener())
        with pytest.warns(UserWarning, match="Heartbeat"):
            tuning_study.mark_started(search.study.ask())
        release_dead_trials(search.study)
        assert [trial.state.name for trial in search.study.trials] == ["RUNNING"]
        search.close()
    assert not sent


@pytest.mark.slow
def test_a_trial_that_the_time_ends_is_tried_again(table: str) -> None:
    request = TuneRequest.from_options({"space": "space.toml", "trials": 2, "winner": False})
    with pytest.warns(optuna.exceptions.ExperimentalWarning):
        search = Search.prepare(table, None, request, SMALL, TuningListener())
    try:
        search._try_next(time.monotonic() - 1)
        cut, again = search.study.trials
        assert (cut.state, again.state) == (optuna.trial.TrialState.FAIL, optuna.trial.TrialState.WAITING)
        assert cut.params == again.params
    finally:
        search.close()
    result = tune(table, space="space.toml", trials=2, winner=False, **SMALL)
    assert list(result.leaderboard["trial"].sort_values()) == [1, 2]
    later = tune(table, space="space.toml", trials=99, max_time="0.001s", winner=False, **SMALL)
    assert len(later.leaderboard) == 2  # over at once, with what there is


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(forecast: Callable, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from forecast_attn.tuning import objective

    # A shell ignores Ctrl-C for what it runs in the background, these tests among it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with monkeypatch.context() as patch:
        patch.setattr(objective.TrialListener, "epoch_done", lambda *words: signal.raise_signal(signal.SIGINT))
        done = forecast("tune", table, "--space", "space.toml", "--trials", "2", *WORDS)
    signal.signal(signal.SIGINT, before)
    assert (done.code, done.hint) == (130, "what is finished is kept; go on with the same command")
    again = forecast("tune", table, "--space", "space.toml", "--trials", "2", "--no-winner", *WORDS, "--json")
    assert len(json.loads(again.out)["leaderboard"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("SIGKILL", ""),
        ("SIGTERM", "hint: what is finished is kept; go on with the same command\n"),
        ("SIGINT", "hint: what is finished is kept; go on with the same command\n"),
    ],
)
def test_the_same_command_goes_on_with_the_training_of_the_winner(
    forecast: Callable, table: str, kind: str, ending: str
) -> None:
    words = ("tune", table, "--space", "space.toml", "--trials", "1", *WORDS, "--max-epochs", "4", "--seed", "3")
    assert forecast(*words, "--out", "whole").code == 0
    Path("runs/data.study.db").unlink()
    epoch = 4 + 2  # after those of the trial
    moment = Strike("forecast_attn.training.callbacks:Recorder", "_write_checkpoint", epoch, "after", kind)
    done = run_forked((*words, "--out", "best"), Conditions(moment))
    assert done.returncode != 0
    assert done.stderr.endswith(ending)
    if kind == "SIGKILL":  # not for another search, and not beside a process that is at work in it
        more = forecast(*words, "--trials", "2", "--out", "best")
        assert more.error == "'best' exists and is not an empty folder"
        with held(Path("best/config.json")):
            assert forecast(*words, "--out", "best").error == "another process is at work in 'best'"
    again = forecast(*words, "--out", "best")
    assert again.code == 0, again.err
    for name in ("model.safetensors", "metrics.json", "search.json"):
        there, here = Path("whole", name).read_text("latin-1"), Path("best", name).read_text("latin-1")
        assert re.sub(r'"seconds": [\d.]+', "", here) == re.sub(r'"seconds": [\d.]+', "", there), name
    assert forecast(*words, "--out", "best").error == "'best' exists and is not an empty folder"


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is nothing to search"),
        ("hidden_sise = [4]", "there is no option 'hidden_sise'"),
        ("horizon = [3, 7]", "'horizon' cannot be searched"),
        ("hidden_size = []", "'hidden_size' has no values"),
        ("hidden_size = [0, 4]", "--hidden-size must be between 1 and 65,536; got 0"),
        ("lags = [[24, 168]]", r"a value of 'lags' must be a number, a text, true or false; got \[24, 168\]"),
        ("attention = ['luong']", "--attention has no value 'luong'"),
        ("attention = { low = 1, high = 2 }", "'attention' is not a number"),
        ("dropout = { low = 0.1 }", "'dropout' needs both ends"),
        ("dropout = { low = 0.3, high = 0.1 }", "'dropout' goes from 0.3 to 0.1"),
        ("dropout = { low = 0.0, high = 0.1, log = true }", "'dropout' goes from 0.0 to 0.1"),
        ("dropout = { low = 0.0, high = 0.1, by = 2 }", "'dropout' has an unknown key 'by'"),
        ("num_layers = { low = 1, high = 3, step = 0.5 }", "step of 'num_layers' must be a whole number above 0"),
        ("dropout = { low = 0.1, high = 0.2, log = true, step = 0.1 }", "'dropout' has both log and step"),
        ("hidden_size = [4]\nhidden-size = [8]", "'hidden_size' and 'hidden-size' are one option"),
        ("dropout = { low = 0.0, high = 0.35, step = 0.1 }", "'dropout' does not reach 0.35 from 0 in steps of 0.1"),
        ("hidden_size = ", "'space.toml' is not valid TOML"),
    ],
)
def test_a_wrong_space_is_refused_by_its_line(write: Callable, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        read_space(Path(write(text, "space.toml")))
    assert "'space.toml'" in caught.value.message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--trials", "0"), "--trials must be between 1 and 1,000,000; got 0"),
        (("--metric", "mape"), "--metric has no value 'mape'"),
        (("--metric", "pinball"), "--metric pinball needs quantiles"),
        (("--attention", "none"), "--attention is set, and is in the space too"),
        (("--storage", "nowhere://x"), "cannot open the study 'nowhere://x'"),
        (("--storage", "absent/study.db"), "cannot write 'absent/study.db': there is no folder 'absent'"),
        (("--max-time", "soon"), "--max-time must be a time such as 90s, 10m or 1h30m; got 'soon'"),
        (("--space", "absent.toml"), "cannot read the space 'absent.toml'"),
        (("--png", "absent/a.png"), "cannot write 'absent/a.png'"),
    ],
)
def test_a_wrong_command_writes_nothing(forecast: Callable, table: str, words: tuple[str, ...], message: str) -> None:
    before = sorted(Path().iterdir())
    done = forecast("tune", table, "--space", "space.toml", *words)
    assert done.code in (1, 2)
    assert message in done.error
    assert sorted(Path().iterdir()) == before


def test_without_the_extra_the_command_says_how_to_install_it(
    forecast: Callable, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = forecast("tune", table)
    assert (done.code, done.error) == (2, "a search needs the package 'optuna'")
    assert done.hint == 'pip install "forecast-attn[tune]"'


def test_a_password_of_a_database_is_never_shown(forecast: Callable, table: str) -> None:
    done = forecast("tune", table, "--storage", "nowhere://me:secret@host/name")
    assert done.code == 1
    assert "secret" not in done.out + done.err


def test_what_can_be_searched_are_options() -> None:
    assert set(SEARCHABLE) <= set(all_options())


@pytest.mark.slow
def test_the_importance_is_drawn(forecast: Callable, table: str) -> None:
    study = ("--space", "space.toml", "--no-winner", *WORDS)
    assert forecast("tune", table, *study, "--trials", "1", "--quiet").code == 0
    done_by_hand = study_in()
    distributions = done_by_hand.trials[0].distributions
    for number in range(12):  # the better, the higher the rate
        params = {"attention": ("none", "luong-dot")[number % 2], "learning_rate": 0.001 + 0.001 * number}
        done_by_hand.add_trial(
            optuna.trial.create_trial(params=params, distributions=distributions, value=100 - 3.0 * number)
        )
    done = forecast("tune", table, *study, "--trials", "13", "--png", "importance.png", "--json")
    assert done.code == 0, done.err
    importance = json.loads(done.out)["importance"]
    assert importance["learning_rate"] > importance["attention"]
    assert sum(importance.values()) == pytest.approx(1)
    assert Path("importance.png").read_bytes()[:4] == b"\x89PNG"


def test_the_database_has_the_name_that_was_given(here: Path) -> None:
    from sqlalchemy.engine import make_url

    name = "a?b%3F {ä}.db"
    url = tuning_study.storage_url(name, "data.csv")
    assert make_url(url.format()).database == name  # Optuna formats it


def test_a_folder_of_runs_that_cannot_be_made(here: Path) -> None:
    Path("runs").touch()
    with pytest.raises(RunError, match=r"cannot write 'runs/data.study.db': File exists"):
        tuning_study.storage_url(None, "data.csv")
