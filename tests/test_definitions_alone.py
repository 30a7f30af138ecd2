"""Definitions of classifiers as ``export`` writes them: one script that needs NumPy only."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz
from tests.classification import classes, rows

from certus import _export
from certus.csr import CSR
from certus.definitions import huber, logistic, softmax, squared_hinge

DEFINITIONS = {
    "logistic": (logistic, 2, 1),
    "softmax": (softmax, 3, 3),
    "squared_hinge": (squared_hinge, 2, 1),
    "huber": (huber, 2, 1),
}
TAIL = """
X, y = load("X{end}"), np.load("y.npy")
found = check(Data(X, y, None), w=np.load("w.npy"), b=np.load("b.npy"), **{how})
print(repr(found["objective"]), repr(found["gap"]), repr(found["residual"]), found["kind"])
print([name for name in sys.modules if name.startswith(("certus", "scipy"))])
"""


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_script_of_the_sources_finds_what_the_package_finds(name, sparse, tmp_path):
    definition, K, outputs = DEFINITIONS[name]
    X, y = classes(3, 1500, 3, K)
    X[np.abs(X) < 0.5] = 0.0
    rng = np.random.default_rng(0)
    w, b = 0.3 * rng.normal(size=(3, outputs)), rng.normal(size=outputs)
    how = {"C": 0.5, "l2": 0.0 if outputs == K or name == "logistic" else 1.0, "tol": 1e-6}
    source = "\n\n\n".join(_export._source(definition.__name__, set()))
    loader = _export.TAIL.format(block=256, shape=X.shape, tol=1e-6, objective=0.0, gap=0.0).split(
        "def main"
    )[0]
    end = ".npz" if sparse else ".npy"
    script = "import sys\n" + source + loader + TAIL.format(end=end, how=how)
    (tmp_path / "check.py").write_text(script, encoding="utf-8")
    if sparse:
        save_npz(tmp_path / "X.npz", csr_array(X))
    for key, value in {"X": X, "y": y[:, None].astype(float), "w": w, "b": b}.items():
        np.save(tmp_path / f"{key}.npy", value)
    ran = subprocess.run(
        [sys.executable, "-I", "check.py"], cwd=tmp_path, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    numbers, modules = ran.stdout.splitlines()
    assert modules == "[]"
    objective, gap, residual, kind = numbers.split()
    found = definition.check(rows(CSR(csr_array(X)) if sparse else X, y), w=w, b=b, **how)
    assert float(objective) == pytest.approx(found["objective"], rel=1e-12)
    assert float(gap) == pytest.approx(found["gap"], rel=1e-6)
    assert float(residual) == pytest.approx(found["residual"], rel=1e-6)
    assert kind == found["kind"]
