"""In a notebook every plot is shown: those of certus, and those that others make afterwards."""

import os
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
NotebookClient = pytest.importorskip("nbclient").NotebookClient

CELLS = (
    "from certus.plotting import ConvergenceDisplay\n"
    "trace = [(0, 0.0, 9.0, 1.0), (1, 0.1, 5.0, 3.0), (2, 0.2, 4.1, 4.0)]\n"
    "ConvergenceDisplay(trace).plot();",
    "ConvergenceDisplay(trace).plot();",
    "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3]);",
    "from certus.cluster import Tree\n"
    "Tree([[0, 1, 1.0, 2], [3, 4, 1.5, 2], [2, 6, 4.0, 3], [5, 7, 9.0, 5]]).plot();",
)


@pytest.mark.costly
@pytest.mark.parametrize("first", ["", "%matplotlib inline"])
def test_every_plot_of_a_notebook_is_shown(first, tmp_path):
    sources = [first, *CELLS] if first else CELLS
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    kernel = book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    client = NotebookClient(book, timeout=120, kernel_name=kernel["name"])
    path = os.pathsep.join([str(Path(__file__).parents[2] / "src"), *sys.path])
    client.execute(cwd=str(tmp_path), env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": INLINE})
    for cell in book.cells[len(sources) - len(CELLS) :]:
        shown = [out for out in cell.outputs if "image/png" in out.get("data", {})]
        assert len(shown) == 1, cell.source


INLINE = "module://matplotlib_inline.backend_inline"  # as Jupyter starts its kernels
