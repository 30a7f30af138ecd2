"""``export`` for clusters: a script that holds the centres and reads X alone."""

import os
import subprocess
import sys

import numpy as np
import pytest
import sklearn.cluster as peers
from scipy.sparse import csr_array, save_npz

import certus
from certus.certificate import certify
from certus.data.rows import Rows
from tests.kmeans.kmeans_cases import KMeans, blobs

X = blobs(1, n=2500, p=3, k=4)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run check.py in an environment in which only NumPy can be imported."""
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


def verified(X=X, s=None, k=4, **params):
    model = peers.KMeans(k, n_init=1, random_state=0, tol=0).fit(X, sample_weight=s)
    return certus.verify(model, X, sample_weight=s, **params)


@pytest.mark.parametrize("kind", [float, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_script_finds_what_the_package_found(kind, weighted, run, tmp_path):
    given = X.astype(kind)
    s = np.random.default_rng(0).uniform(0, 2, size=len(X)) if weighted else None
    c = verified(given, s)
    c.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", given)
    files = ["X.npy"]
    if weighted:
        np.save(tmp_path / "s.npy", s)
        files.append("s.npy")
    ran = run(tmp_path, *files)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"claimed {c.objective!r}" in ran.stdout
    assert ran.stdout.startswith("local optimum: objective ")
    np.save(tmp_path / "X.npy", given * 1.0001)
    ran = run(tmp_path, *files)
    assert ran.returncode == 1
    assert "THE CLAIM DOES NOT HOLD" in ran.stdout


def test_a_script_reads_sparse_rows_and_text(run, tmp_path):
    few = np.where(np.abs(X[:200]) < 3, 0.0, np.round(X[:200], 3))
    verified(few).export(tmp_path / "check.py")
    save_npz(tmp_path / "X.npz", csr_array(few))
    np.savetxt(tmp_path / "X.csv", few, delimiter=",", fmt="%.17g")
    assert run(tmp_path, "X.npz").returncode == 0
    assert run(tmp_path, "X.csv").returncode == 0


def test_a_script_says_what_it_cannot_read(run, tmp_path):
    verified().export(tmp_path / "check.py")
    assert run(tmp_path).returncode == 2
    assert run(tmp_path, "none.npy").returncode == 2
    np.save(tmp_path / "X.npy", X[:100])
    ran = run(tmp_path, "X.npy")
    assert ran.returncode == 2
    assert "X is (100, 3), the fit's is (2500, 3)" in ran.stdout


def test_a_script_proves_the_bound_too(run, tmp_path):
    noise = np.random.default_rng(0).normal(size=(500, 4))
    c = verified(noise, k=2, bound=True)
    assert c.bound is not None
    c.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", noise)
    ran = run(tmp_path, "X.npy")
    assert ran.returncode == 0, ran.stdout


def test_ties_go_with_the_script(run, tmp_path):
    line = np.array([[-2.0], [0.0], [1.0]])
    model = KMeans(2).fit(line)
    model.cluster_centers_, model.labels_ = np.array([[1.0], [-1.0]]), np.array([1, 1, 0])
    model.inertia_, model.restarts_ = 2.0, [2.0]
    c = certify(model, Rows(line))
    assert c.parameters["ties"].tolist() == [[1], [1]]
    c.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", line)
    ran = run(tmp_path, "X.npy")
    assert ran.returncode == 0, ran.stdout


def test_a_script_says_what_does_not_hold(run, tmp_path):
    rows = np.sort(X, axis=0)
    model = peers.KMeans(4, n_init=1, max_iter=1, random_state=0).fit(rows)
    certus.verify(model, rows).export(tmp_path / "check.py")
    assert "Found:     not a local optimum" in (tmp_path / "check.py").read_text("utf-8")
    np.save(tmp_path / "X.npy", rows)
    assert run(tmp_path, "X.npy").returncode == 1
