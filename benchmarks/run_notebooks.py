"""Run the notebooks of docs/notebooks and store their outputs; with --check, run them and write nothing.

python benchmarks/run_notebooks.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
SECONDS_PER_CELL = 300


def run_notebook(path: Path) -> nbformat.NotebookNode:
    """Run all cells of a notebook in a fresh kernel and return it with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(path, as_version=4)
    settings = {"resources": {"metadata": {"path": str(path.parent)}}, "record_timing": False}
    NotebookClient(notebook, timeout=SECONDS_PER_CELL, kernel_name="python3", **settings).execute()
    notebook.metadata = nbformat.from_dict({"kernelspec": notebook.metadata["kernelspec"]})
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if "text/html" in output.get("data", {}):  # which is shown: a picture beside it would only be large
            output["data"].pop("image/png", None)
    return notebook


def main() -> int:
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = run_notebook(path)
        if "--check" not in sys.argv:
            nbformat.write(notebook, path)
        print(f"{path.name}: {len(notebook.cells)} cells")
    return 0


if __name__ == "__main__":
    sys.exit(main())
