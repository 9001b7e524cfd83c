"""The notebooks of the documentation run from top to bottom, and their stored outputs are of the kind they give."""

from pathlib import Path

import nbformat
import pytest

from benchmarks.run_notebooks import NOTEBOOKS, run_notebook

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:(zmq|jupyter_client|tornado).*"),
]


def outputs(notebook: nbformat.NotebookNode) -> list[tuple[str, list[str]]]:
    """Source and kinds of output of every code cell."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [(cell.source, [output.output_type for output in cell.outputs]) for cell in cells]


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_stored_outputs_are_of_this_code(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOKS.parents[1]))
    assert outputs(run_notebook(path)) == outputs(nbformat.read(path, as_version=4))
