"""``export`` for classifiers: a script that reads labels and knows the classes."""

import os
import subprocess
import sys

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy.sparse import csr_array, save_npz

import certus
from tests.certificate.test_verify_classifiers import (
    LOGISTIC,
    by_scipy,
    classes,
    quietly,
    up_to_one,
)
from tests.contract.problems import weights


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Only NumPy can be imported there."""
    folder = tmp_path_factory.mktemp("absent")
    for name in ("certus", "scipy", "sklearn", "numba", "pandas"):
        (folder / f"{name}.py").write_text(f"raise ImportError('there is no {name} here')")
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"}

    def run(cwd, *arguments):
        return subprocess.run(
            [sys.executable, "check.py", *arguments],
            cwd=cwd, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    return run


MODELS = {
    "logistic": LOGISTIC["newton-cg"],
    "balanced": LOGISTIC["balanced"],
    "weights": LOGISTIC["weights"],
    "liblinear": LOGISTIC["liblinear, scaled intercept"],
    "ridge": peers.RidgeClassifier(class_weight="balanced"),
    "ridge without class weights": peers.RidgeClassifier(),
}


def written(folder, model, X, y, s=None):
    certus.verify(model, X, y, s).export(folder / "check.py")
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    if s is None:
        return ["X.npy", "y.npy"]
    np.save(folder / "s.npy", s)
    return ["X.npy", "y.npy", "s.npy"]


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", [*MODELS, "sgd"])
def test_the_claim_holds_where_certus_cannot_be_imported(name, K, elsewhere, tmp_path):
    if K > 2 and name == "liblinear":
        pytest.skip("liblinear is for two classes")
    X, y = classes(7, K=K)
    s = None if name == "logistic" else up_to_one(7, len(X))
    if name == "sgd":
        model = by_scipy(X, y, s, class_weight="balanced")
    else:
        model = quietly(MODELS[name], X, y, s)
    files = written(tmp_path, model, X, y, s)
    found = elsewhere(tmp_path, *files)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "the claim holds" in found.stdout
    np.save(tmp_path / "y.npy", np.where(np.arange(len(y)) < 9, "ash", y))
    found = elsewhere(tmp_path, *files)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "THE CLAIM DOES NOT HOLD" in found.stdout


@pytest.mark.parametrize(
    "labels",
    [
        lambda k: k, lambda k: k.astype(bool), lambda k: k * 2.0 - 5, lambda k: k.astype(str),
        lambda k: np.array(["no, never", "it's\nso"])[k],
    ],
    ids=["int", "bool", "float", "digits", "text with commas and quotes"],
)  # fmt: skip
def test_labels_of_any_kind_are_read_back(labels, elsewhere, tmp_path):
    X, k = classes(7, text=False)
    y = labels(k)
    files = written(tmp_path, quietly(LOGISTIC["newton-cg"], X, y), X, y)
    found = elsewhere(tmp_path, *files)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("kind", ["text", "int", "bool", "float"])
def test_labels_in_lines_of_text_do_too(kind, quote, elsewhere, tmp_path):
    X, k = classes(7, text=False)
    y = {"text": np.array(["no", "så"])[k], "int": k, "bool": k == 1, "float": k * 1.0}[kind]
    s = weights(7, len(X))
    model = quietly(LOGISTIC["newton-cg"], X, y, s)
    certus.verify(model, X, y, s).export(tmp_path / "check.py")
    np.savetxt(tmp_path / "X.csv", X, delimiter=",", fmt="%.17g")
    np.savetxt(tmp_path / "s.csv", s)
    lines = "".join(f"{quote}{label}{quote}\n" for label in y.tolist())
    (tmp_path / "y.csv").write_text("\ufeff" + lines, encoding="utf-8")
    found = elsewhere(tmp_path, "X.csv", "y.csv", "s.csv")
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_label_that_is_no_class_is_named(elsewhere, tmp_path):
    X, y = classes(7)
    files = written(tmp_path, quietly(LOGISTIC["newton-cg"], X, y), X, y)
    np.save(tmp_path / "y.npy", np.where(np.arange(len(y)) == 3, "oak", y))
    found = elsewhere(tmp_path, *files)
    assert found.returncode == 2
    assert "'oak' is none of the classes ['ash', 'birch']" in found.stdout


@pytest.mark.parametrize("K", [2, 3])
def test_sparse_rows_do_too(K, elsewhere, tmp_path):
    X, y = classes(7, K=K)
    X = csr_array(np.where(np.abs(X) < 0.7, 0.0, X))
    certus.verify(quietly(LOGISTIC["newton-cg"], X, y), X, y).export(tmp_path / "check.py")
    save_npz(tmp_path / "X.npz", X)
    np.save(tmp_path / "y.npy", y)
    found = elsewhere(tmp_path, "X.npz", "y.npy")
    assert found.returncode == 0, found.stdout + found.stderr
