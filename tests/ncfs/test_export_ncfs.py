"""``export`` for NCFS: a script that holds the weights and needs NumPy and the rows."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

from certus.exceptions import CertificateError
from certus.feature_selection import NCFSClassifier, NCFSRegressor
from tests.contract.problems import weights
from tests.ncfs.ncfs_cases import curve

NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """check.py where only NumPy can be imported."""
    folder = tmp_path_factory.mktemp("absent")
    for name in ("certus", "scipy", "sklearn", "numba", "pandas"):
        (folder / f"{name}.py").write_text(f"raise ImportError('there is no {name} here')")
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"}

    def run(cwd, *arguments):
        return subprocess.run(
            [sys.executable, "check.py", *arguments],
            cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


def iris():
    X, y = load_iris(return_X_y=True)
    return X, NAMES[y]


CASES = {
    "classes": (NCFSClassifier(), iris, None),
    "patterns, balanced": (NCFSClassifier(metric="phi_s", prior="balanced"), iris, 1),
    "costs, shares": (
        NCFSClassifier(
            loss=lambda u, v: 1.0 * (u != v), prior=[0.2, 0.3, 0.5], form="mean", metric="euclidean"
        ),
        iris,
        1,
    ),
    "values": (NCFSRegressor(), curve, 1),
    "insensitive": (
        NCFSRegressor(loss="epsilon_insensitive", metric="sqeuclidean", scale="standard"), curve, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", [float, np.float32])
@pytest.mark.parametrize("name", CASES)
def test_a_script_finds_what_the_package_found(name, kind, run, tmp_path):
    model, rows, seed = CASES[name]
    X, y = rows() if rows is iris else rows(2)
    X, s = X.astype(kind), weights(seed, len(X)) if seed else None
    c = model.fit(X, y, sample_weight=s).certificate_
    c.export(tmp_path / "check.py")
    files = ["X.npy", "y.npy"]
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    if s is not None:
        np.save(tmp_path / "s.npy", s)
        files.append("s.npy")
    ran = run(tmp_path, *files)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not ran.stderr
    assert f"claimed {c.objective!r}" in ran.stdout
    assert ran.stdout.endswith("the claim holds\n")
    text = (tmp_path / "check.py").read_text(encoding="utf-8")
    assert f"Maximised: {c.formula}" in text
    assert "import certus" not in text
    spoiled = X.copy()
    spoiled[3, np.argmax(model.weights_)] *= 1.01
    np.save(tmp_path / "X.npy", spoiled)
    ran = run(tmp_path, *files)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "THE CLAIM DOES NOT HOLD" in ran.stdout
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.roll(y, 1))
    assert run(tmp_path, *files).returncode == 1


def test_text_files_do_too(run, tmp_path):
    X, y = iris()
    NCFSClassifier().fit(X, y).certificate_.export(tmp_path / "check.py")
    np.savetxt(tmp_path / "X.csv", X, delimiter=",", fmt="%.17g")
    (tmp_path / "y.csv").write_text("\n".join(y))
    assert run(tmp_path, "X.csv", "y.csv").returncode == 0


def test_many_rows_are_summed_in_several_blocks(run, tmp_path):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    X, y = np.repeat(X, 8, axis=0) + 0.3 * rng.normal(size=(1200, 4)), np.repeat(y, 8)
    c = NCFSClassifier().fit(X, y).certificate_
    c.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    ran = run(tmp_path, "X.npy", "y.npy")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["X.npy"], ["none.npy", "y.npy"], ["short.npy", "y.npy"], ["X.npy", "other.npy"]],
    ids=" ".join,
)
def test_a_script_says_what_it_cannot_read(arguments, run, tmp_path):
    X, y = iris()
    NCFSClassifier().fit(X, y).certificate_.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "short.npy", X[:9])
    np.save(tmp_path / "other.npy", np.where(y == "setosa", "rosa", y))
    ran = run(tmp_path, *arguments)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_function_of_yours_is_not_exported_and_why(tmp_path):
    X, y = curve(2)
    c = NCFSRegressor(loss=lambda u, v: np.abs(u - v)).fit(X, y).certificate_
    assert c.certified
    with pytest.raises(CertificateError, match=r"the loss is a function of yours.*certus\.verify"):
        c.export(tmp_path / "check.py")
    assert not list(tmp_path.iterdir())


def test_a_script_says_what_is_no_local_optimum(run, tmp_path):
    X, y = iris()
    NCFSClassifier(solver="yang").fit(X, y).certificate_.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    assert run(tmp_path, "X.npy", "y.npy").returncode == 1
