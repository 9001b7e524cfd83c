"""`make benchmark`: one table of all bounds, and a failure where one is broken."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def speed(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import speed

    yield speed
    for name in ("speed", "bounds"):
        sys.modules.pop(name, None)


def script(name: str, *, body: str) -> str:
    return f"import sys\nsys.path.insert(0, {str(BENCHMARKS)!r})\nfrom bounds import *\nprint({name!r})\n{body}\n"


def test_bounds_are_gathered_and_a_broken_one_fails(
    speed: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = "at_most('small', 1.0, 2)\nat_least('large', 300, 200, ' MB')\nsys.exit(exit_code())"
    (tmp_path / "good.py").write_text(script("good", body=good))
    (tmp_path / "bad.py").write_text(script("bad", body="at_most('slow', 2.5, 2)\nsys.exit(exit_code())"))
    assert speed.main(["good"], tmp_path) == 0
    assert speed.main(["good", "bad"], tmp_path) == 1
    lines = capfd.readouterr().out.rpartition("\n\nbenchmark")[2].splitlines()
    assert [line.split("  ")[-1].strip() or line.split()[-1] for line in lines[1:4]] == ["held", "held", "BROKEN"]
    assert lines[-1] == "broken or failed: bad"


def test_every_benchmark_of_the_table_exists(speed: ModuleType) -> None:
    for name in speed.SCRIPTS:
        assert "exit_code()" in (BENCHMARKS / f"{name}.py").read_text(), name


def test_a_call_that_was_cut_short_goes_on_with_what_is_left(
    speed: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    keep = tmp_path / "kept.json"
    good = script("good", body="at_most('small', 1.0, 2)\nat_most('slow', 3, 2)\nsys.exit(exit_code())")
    (tmp_path / "good.py").write_text(good)
    (tmp_path / "cut.py").write_text("raise KeyboardInterrupt")
    assert speed.main(["good", "cut"], tmp_path, keep) == 1
    capfd.readouterr()
    assert speed.main(["good", "cut"], tmp_path, keep) == 1
    printed = capfd.readouterr().out
    assert "== good: measured before" in printed
    assert printed.splitlines()[-1] == "broken or failed: cut, good"
    (tmp_path / "cut.py").write_text("print('whole now')")  # other code: nothing of before counts
    assert speed.main(["good", "cut"], tmp_path, keep) == 1
    assert "measured before" not in capfd.readouterr().out
    assert not keep.exists()
