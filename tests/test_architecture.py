"""The invariants of ARCHITECTURE.md, each held by a test that reads the code or runs it."""

import ast
import gc
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from forecast_attn import memory
from forecast_attn.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "forecast_attn"
FLOORS = (
    ("errors", "memory", "telemetry", "urls", "version"),
    ("pipes",),
    ("config", "devices", "notebook", "cluster"),
    ("data", "nn"),
    ("runs", "baselines"),
    ("attention_file", "evaluation"),
    ("forecasting",),
    ("training", "inspection"),
    ("audit", "backtest", "checking", "comparison", "export", "serving"),
    ("plotting",),
    ("hierarchy", "reporting", "tuning", "updating"),
    ("live", "result_pictures"),
    ("forecaster",),
    ("cli", "__init__"),
    ("__main__",),
)
"""The packages from the ground up: each imports from lower floors only."""
HEAVY = ("torch", "pytorch_lightning", "lightning", "pandas", "numpy", "pyarrow", "jaxtyping", "safetensors")


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, which is parsed once for all tests."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imported_names(path: Path) -> tuple[str, ...]:
    """Modules a file imports, also inside functions and for type checking only."""
    return tuple(_imported_names(path))


def _imported_names(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


def files_importing(prefix: str, *, below: Path = PACKAGE) -> set[str]:
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in below.rglob("*.py")
        if any(name == prefix or name.startswith(f"{prefix}.") for name in imported_names(path))
    }


def modules_loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import forecast_attn",
        "import importlib\nfrom forecast_attn.cli import COMMANDS\n"
        "for name in COMMANDS: importlib.import_module('forecast_attn.cli.' + name.replace('-', '_'))",
        "import forecast_attn.config.options",
        "import contextlib, io\nfrom forecast_attn.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main(['train', '--help'])",
        "import contextlib, io, os\nfrom forecast_attn.cli import main\n"
        "os.environ.update(_FORECAST_COMPLETE='complete_bash', COMP_WORDS='forecast predict ', COMP_CWORD='2')\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main([])",
    ],
)
def test_the_command_line_loads_nothing_heavy(statement: str) -> None:
    assert modules_loaded_by(statement).isdisjoint(HEAVY)


def test_importing_the_package_sets_nothing_for_other_packages() -> None:
    code = "import os\nbefore = {*os.environ}\nimport forecast_attn.forecaster\nprint(*{*os.environ} - before)"
    unset = {name: value for name, value in os.environ.items() if not name.startswith(("MKL", "ORT", "MLFLOW", "RAY"))}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT, env=unset)
    assert {name for name in done.stdout.split() if name.startswith(("MKL", "ORT", "MLFLOW", "RAY"))} == {"MKL_CBWR"}


def test_results_load_matplotlib_only_to_be_drawn() -> None:
    loaded = modules_loaded_by("import forecast_attn.forecaster, forecast_attn.result_pictures")
    assert "forecast_attn.result_pictures" in loaded
    assert "matplotlib" not in loaded


def test_the_page_of_all_commands_builds_none() -> None:
    loaded = modules_loaded_by(
        "import contextlib, io\nfrom forecast_attn.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main(['--help'])"
    )
    assert "forecast_attn.cli" in loaded
    assert not [name for name in loaded if name.startswith(("forecast_attn.cli.flags", "forecast_attn.config"))]


def test_garbage_is_collected_again_once_a_command_has_loaded_the_library() -> None:
    import forecast_attn.cli.library

    before = gc.get_freeze_count()
    importlib.reload(forecast_attn.cli.library)
    assert gc.isenabled()
    assert gc.get_freeze_count() > before


def test_nothing_is_kept_from_the_end_where_triton_would_call_it_leaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    with memory.collection_paused():
        pass
    memory.unfreeze_for_triton()
    assert gc.get_freeze_count() > 0
    monkeypatch.setitem(sys.modules, "triton", sys)
    memory.unfreeze_for_triton()
    assert gc.get_freeze_count() == 0


def test_garbage_is_collected_again_once_a_command_begins(forecast: Callable[..., object]) -> None:
    gc.disable()
    try:
        forecast("explain", "--help")
        assert not gc.isenabled()
        forecast("explain", "FA201")
        assert gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.slow
def test_checking_a_table_loads_no_torch() -> None:
    """It needs no network, and the scales of windows, which are tensors, take longer to measure than it takes."""
    loaded = modules_loaded_by(
        "import contextlib, io\nfrom forecast_attn.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "    main(['check', 'data/city_load.csv', '--target', 'demand'])\n"
        "assert 'train on it with' in out.getvalue()"
    )
    assert "forecast_attn.training.preparation" in loaded
    assert "torch" not in loaded


@pytest.mark.slow
def test_prediction_does_not_load_lightning() -> None:
    loaded = modules_loaded_by("import forecast_attn.cli.library, forecast_attn.forecasting.predict")
    assert "torch" in loaded
    assert loaded.isdisjoint(("pytorch_lightning", "lightning", "torchmetrics"))


@pytest.mark.slow
def test_counting_a_network_loads_no_compiler() -> None:
    """On "meta" a range is taken apart by code that imports sympy: prediction began more than a second later."""
    loaded = modules_loaded_by(
        "import torch\n"
        "from forecast_attn.config.options import ModelConfig\n"
        "from forecast_attn.nn.builder import WindowSizes, build_network\n"
        "sizes = WindowSizes(lookback=28, horizon=7, season=7, num_past_inputs=2, num_future_inputs=1, num_static=1)\n"
        "several = {'lags': (7,)}, {'attention': 'bahdanau-normed'}, {'patch_length': 7}, {'linear_path': True}\n"
        "with torch.device('meta'):\n"
        "    for options in ({}, *several):\n"
        "        build_network(ModelConfig(**options), sizes)"
    )
    assert loaded.isdisjoint(("sympy", "torch._dynamo"))


@pytest.mark.slow
def test_only_training_imports_lightning() -> None:
    """In one file, which leaves out what Lightning does not need."""
    assert files_importing("pytorch_lightning") | files_importing("lightning") == {"training/lightning.py"}


@pytest.mark.slow
def test_networks_and_data_do_not_know_each_other() -> None:
    assert not files_importing("forecast_attn.data", below=PACKAGE / "nn")
    assert not files_importing("forecast_attn.nn", below=PACKAGE / "data")


def test_networks_know_no_configuration_but_for_the_builder() -> None:
    assert files_importing("forecast_attn.config.options", below=PACKAGE / "nn") == {"nn/builder.py"}


def package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.slow
def test_every_import_points_to_a_lower_floor() -> None:
    floors = {name: floor for floor, names in enumerate(FLOORS) for name in names}
    upward = []
    for path in PACKAGE.rglob("*.py"):
        package = package_of(path)
        for name in imported_names(path):
            other = name.split(".")[1] if name.startswith("forecast_attn.") else package
            if other != package and floors[other] >= floors[package]:
                upward.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert not upward


@pytest.mark.slow
def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports inside functions and for type checking only count too."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    imports = {name: set(imported_names(path)) & set(modules) - {name} for name, path in modules.items()}
    while leaves := {name for name, imported in imports.items() if not imported & set(imports)}:
        for name in leaves:
            del imports[name]
    assert not imports, f"each of these reaches a circle: {sorted(imports)}"


@pytest.mark.slow
def test_nobody_imports_the_command_line() -> None:
    importing = files_importing("forecast_attn.cli")
    assert {name for name in importing if not name.startswith("cli/")} == {"__main__.py"}


def test_only_reading_reads_csv() -> None:
    reading = {
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if "pd.read_csv(" in path.read_text()
    }
    # The forecaster reads back the history.csv that the run itself wrote.
    assert reading == {"forecaster.py"}


@pytest.mark.slow
def test_only_run_dir_knows_file_names() -> None:
    from forecast_attn.runs.run_dir import RunDir

    names = [path.name for path in vars(RunDir("run")).values() if isinstance(path, Path) and path.suffix]
    assert len(names) >= 10
    for path in PACKAGE.rglob("*.py"):
        if path.name in ("run_dir.py", "chronos.py"):  # a Chronos model has a config.json of its own
            continue
        strings = [
            node.value for node in nodes_of(path) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert not [name for name in names if name in strings], path


@pytest.mark.slow
def test_only_main_prints_errors_and_exits() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "cli":
            calls = {ast.unparse(n.func) for n in nodes_of(path) if isinstance(n, ast.Call)}
            assert calls.isdisjoint({"sys.exit", "exit", "quit", "print", "typer.Exit", "typer.echo"}), path


@pytest.mark.slow
def test_no_pickle_is_read_or_written_for_a_model() -> None:
    for path in PACKAGE.rglob("*.py"):
        names = set(imported_names(path))
        assert names.isdisjoint({"pickle", "joblib", "dill", "cloudpickle", "shelve", "marshal"}), path
        assert "torch.load(" not in path.read_text(), path
        assert not re.search(r"(?<!safetensors\.)torch\.save\(", path.read_text()), path


def test_resume_state_is_loaded_as_weights_only() -> None:
    calls = [node for node in nodes_of(PACKAGE / "training" / "fit.py") if isinstance(node, ast.Call)]
    (fit,) = [call for call in calls if ast.unparse(call.func) == "trainer.fit"]
    assert "weights_only=True" in ast.unparse(fit)


def test_attention_keeps_no_tensor_between_calls() -> None:
    import torch

    from forecast_attn.config.mechanisms import ATTENTIONS
    from forecast_attn.nn.attention import Attention
    from forecast_attn.nn.scores import make_score

    for mechanism in ATTENTIONS.values():
        if mechanism.score == "none":
            continue
        score = make_score(mechanism.score, query_size=8, key_size=8, attention_size=8, heads=2, key_length=5)
        attention = Attention(score).eval()
        before = _state(attention)
        attention(torch.randn(2, 3, 8), torch.randn(2, 5, 8))
        assert _state(attention) == before


def _state(module: object) -> set[tuple[str, str]]:
    """Names and kinds of everything every submodule holds."""
    import torch

    assert isinstance(module, torch.nn.Module)
    return {
        (name, f"{attribute}:{type(value).__name__}")
        for name, part in module.named_modules()
        for attribute, value in vars(part).items()
        if not isinstance(value, dict)
    } | {(name, key) for name, part in module.named_modules() for key in part._buffers}


def test_modules_are_not_called_after_nothing() -> None:
    banned = {"utils", "common", "helpers", "base", "util", "misc"}
    assert not [path for path in PACKAGE.rglob("*.py") if path.stem in banned]


def test_no_file_name_stands_twice_but_for_commands() -> None:
    folders: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        if path.stem != "__init__":
            folders.setdefault(path.stem, set()).add(path.parent.name)
    commands = {name.replace("-", "_") for name in COMMANDS}
    once = {stem for stem, packages in folders.items() if len(packages) == 1}
    of_commands = {stem for stem in commands if len(folders.get(stem, set()) - {"cli"}) <= 1}
    assert not folders.keys() - once - of_commands


def test_the_architecture_page_is_short_and_names_real_files_and_tests() -> None:

    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 150
    here = Path(__file__).read_text(encoding="utf-8")
    tests = set(re.findall(r"`(test_\w+)`", page))
    assert len(tests) >= 8
    assert not [name for name in tests if f"def {name}(" not in here]
    for name in re.findall(r"`((?:forecast_attn|benchmarks|docs|tests)/[\w/.-]+)`", page):
        assert (ROOT / name).exists(), name


def documented_nodes() -> Iterator[tuple[str, str]]:
    """`file:name` and docstring of every module, class and function of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                docstring = ast.get_docstring(node)
                if docstring is not None:
                    yield f"{path.relative_to(PACKAGE)}:{getattr(node, 'name', 'module')}", docstring


@pytest.mark.slow
def test_docstrings_begin_with_an_imperative_or_a_noun() -> None:
    questions = re.compile(
        r"(What|Of|Whether|How|Who|Whoever|Where|Which|When|Why|So many|Those|Without|Before|After|Once|Whose)\b"
    )
    assert not [name for name, docstring in documented_nodes() if questions.match(docstring)]


@pytest.mark.slow
def test_names_say_what_a_value_is() -> None:
    words = "found|own|places?|told|said|beginning|came|heard|meant|mine|ours|theirs|wanted|asked"
    vague = re.compile(f"_?({words})_?", re.IGNORECASE)
    for folder in ("forecast_attn", "tests", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in nodes_of(path):
                name = node.id if isinstance(node, ast.Name) else getattr(node, "arg", getattr(node, "name", None))
                assert not vague.fullmatch(str(name)), f"{path.relative_to(ROOT)}:{node.lineno}: {name}"


@pytest.mark.slow
def test_no_two_classes_share_a_name() -> None:
    files: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert not {name: paths for name, paths in files.items() if len(paths) > 1}


@pytest.mark.parametrize(
    ("behaviour", "file", "name"),
    [
        ("default lookback", "config/defaults", "sizes_of_step"),
        ("early stopping", "training/callbacks", "Recorder"),
        ("luong-general", "nn/scores", "GeneralScore"),
        ("the device", "devices", "choose_device"),
        ("the CSV reader", "data/reading/csv_file", "read_delimited"),
        ("MASE", "evaluation/metrics", "_mase"),
        ("seasonal-naive", "baselines/naive", "seasonal_naive"),
        ("sparsemax", "nn/normalisers", "sparsemax"),
        ("the split", "data/split", "split_panel"),
        ("scaling of a series", "data/scaling", "Scaler"),
        ("windows of a batch", "data/windows", "WindowArrays"),
        ("the learning rate's schedule", "training/schedule", "make_plan"),
        ("pinball loss", "training/loss", "pinball_loss"),
        ("the attention file", "attention_file/writer", "AttentionWriter"),
        ("names of a run's files", "runs/run_dir", "RunDir"),
        ("files that appear whole", "runs/atomic", "write_atomically"),
        ("Diebold-Mariano", "evaluation/significance", "diebold_mariano"),
        ("holidays", "data/holidays", "Holidays"),
        ("daylight saving", "data/daylight_saving", "to_instants"),
        ("the decimal mark", "data/reading/cell_numbers", "find_decimal"),
        ("errors and exit codes", "cli/__init__", "main"),
        ("the decoder's steps", "nn/decoder", "BahdanauDecoder"),
        ("conformal calibration", "forecasting/calibration", "conformal_rank"),
        ("resuming", "training/resume", "resume"),
        ("refits", "training/refit", "refit"),
        ("loggers such as MLflow", "training/tracking", "Tracker"),
        ("weights of a combination", "baselines/combination_weights", "choose_weights"),
        ("Theta", "baselines/theta", "_theta"),
        ("ONNX", "export/onnx_file", "export_onnx"),
        ("the token of ui", "live/runs_server", "RunsServer"),
    ],
)
def test_a_behaviour_stands_where_a_newcomer_looks_first(behaviour: str, file: str, name: str) -> None:
    nodes = nodes_of(PACKAGE / f"{file}.py")
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert name in defined, f"{behaviour} is looked for in {file}.py"
