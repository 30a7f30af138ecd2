"""Definitions of classifiers as ``export`` writes them: one script that needs NumPy only."""

import ast
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from certus.certificate.export.template import LOADER, sources
from certus.certificate.registry import CLAIMS
from certus.data.csr import CSR
from certus.proofs.glm import huber, logistic, softmax, squared_hinge
from certus.proofs.hinge import hinge
from tests.contract.classification import classes, rows

DEFINITIONS = {
    "logistic": (logistic, 2, 1),
    "softmax": (softmax, 3, 3),
    "squared_hinge": (squared_hinge, 2, 1),
    "huber": (huber, 2, 1),
    "hinge": (hinge, 2, 1),
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
    source = "\n\n\n".join(sources(definition.__name__, set()))
    loader = LOADER.format(block=256).split("def main")[0]
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


@pytest.mark.parametrize("name", CLAIMS)
def test_no_name_means_two_things_in_one_script(name):
    """A script holds a proof and all that it builds on, side by side."""
    seen: dict[str, int] = {}
    for source in sources(CLAIMS[name].proof, set()):
        for node in ast.parse(source).body:
            names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            for one in names:
                seen[one] = seen.get(one, 0) + 1
    assert {one for one, times in seen.items() if times > 1} <= {"check"}
