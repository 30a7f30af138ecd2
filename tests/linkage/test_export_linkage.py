"""Scripts of trees: they recompute the merges where there is no certus."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import certus
from certus.cluster import AgglomerativeClustering, DivisiveClustering, Tree

X = np.random.default_rng(0).normal(size=(60, 3))
D = pdist(X, "cityblock")


def tree(method, metric="euclidean", rows=X):
    return Tree(hierarchy.linkage(rows, method), method=method, metric=metric)


CASES = {
    "single": (tree("single"), X),
    "average": (tree("average"), X),
    "centroid": (tree("centroid"), X),
    "square": (tree("weighted", "precomputed", D), squareform(D)),
    "condensed": (tree("complete", "precomputed", D), D),
    "labels": (AgglomerativeClustering(3, scale="standard").fit(X), X),
    "cosine": (AgglomerativeClustering(3, linkage="average", metric="cosine").fit(X), X),
    "divisive": (DivisiveClustering(3).fit(X), X),
}


def run(folder, *arguments):
    for name in ("certus", "scipy", "sklearn", "numba"):
        (folder / f"{name}.py").write_text("raise ImportError")
    return subprocess.run(
        [sys.executable, "check.py", *arguments], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"}, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_script_recomputes_the_tree_where_certus_is_not(name, tmp_path):
    model, rows = CASES[name]
    c = certus.verify(model, rows)
    assert c.certified
    c.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", rows)
    result = run(tmp_path, "X.npy")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 answers are wrong\nthe claim holds\n" in result.stdout
    assert not result.stderr
    np.save(tmp_path / "X.npy", rows[::-1])
    result = run(tmp_path, "X.npy")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "THE CLAIM DOES NOT HOLD" in result.stdout
    np.save(tmp_path / "X.npy", rows[:-1])
    assert run(tmp_path, "X.npy").returncode == 2
    assert run(tmp_path).returncode == 2
