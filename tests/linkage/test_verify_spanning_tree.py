"""``certus.verify`` on sparse matrices of edges: whether a spanning tree is minimal."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

import certus
from certus.exceptions import CannotVerifyError

X = np.random.default_rng(0).normal(size=(40, 3))
D = squareform(pdist(X))
n = len(X)
T = minimum_spanning_tree(D)


def tree_of(edges):
    i, j, length = np.array(edges).T
    return csr_array((length, (i.astype(int), j.astype(int))), shape=(n, n))


def edges_of(tree):
    entries = tree.tocoo()
    return np.column_stack([entries.row, entries.col, entries.data])


def longer(t):
    """T with its edge t replaced by the longest that connects the same two parts."""
    edges = edges_of(T)
    place = np.arange(n)
    for i, j, _ in np.delete(edges, t, axis=0):
        place[place == place[int(j)]] = place[int(i)]
    across = np.where(place[:, None] != place, D, 0.0)
    i, j = np.unravel_index(across.argmax(), across.shape)
    saved = D[i, j] - edges[t, 2]
    edges[t] = i, j, D[i, j]
    return tree_of(edges), saved


@pytest.mark.parametrize("by", ["proof", "page"])
@pytest.mark.parametrize("rows", [X, D], ids=["rows", "distances"])
def test_a_minimum_spanning_tree_of_scipy_is_accepted(rows, by):
    c = certus.verify(T, rows, by=by)
    assert (c.model, c.status) == ("spanning tree", "exact")
    by_what = "the distances given" if rows is D else "Euclidean distance"
    assert c.formula == f"minimum spanning tree by {by_what}"
    assert ("X was read as the distances between the rows" in c.notes) == (rows is D)


@pytest.mark.parametrize("t", [0, 17, n - 2])
def test_a_tree_with_one_longer_edge_is_too_long_by_what_it_could_save_at_most(t):
    tree, saved = longer(t)
    c = certus.verify(tree, X)
    assert c.status == "contradicted"
    assert 0 < c._finding.excess <= saved * (1 + 1e-9)
    assert c._finding.length - c._finding.excess >= T.sum() * (1 - 1e-12)
    assert "Too long" in c.explain()
    assert certus.verify(tree, X, by="page").status == "contradicted"


def test_lengths_that_are_not_the_distances_are_found():
    assert certus.verify(T * 1.001, X).status == "contradicted"
    assert certus.verify(T * 0.999, X).status == "contradicted"
    assert certus.verify(T, np.roll(X, 1, axis=0)).status == "contradicted"


def test_a_script_of_the_certificate(tmp_path):
    certus.verify(T, X).export(tmp_path / "check.py")
    assert (tmp_path / "check.py").read_text("utf-8").count("\n") <= 150


def cycle():
    edges = edges_of(T)
    edges[0, :2] = edges[1, 0], edges[2, 0]
    edges[1] = edges[0, [1, 0, 2]]
    return tree_of(edges)


@pytest.mark.parametrize(
    ("tree", "rows", "more", "message"),
    [
        (T[:, :5], X, {}, r"a sparse matrix of shape \(40, 5\) is no tree"),
        (T + T.T, X, {}, "has 39 edges, each stored once, and this matrix 78"),
        (tree_of(edges_of(T)[1:]), X, {}, "this matrix 38 .SciPy drops edges of length 0"),
        (-T, X, {}, "negative or not finite"),
        (T, X[:5], {}, "this is a spanning tree of 40 rows, and X has shape"),
        (cycle(), X, {}, "closes a cycle"),
        (T, X, {"y": np.ones(n)}, "neither y nor weights"),
        (T, np.where(X > 2, np.nan, X), {}, "missing value"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_words(tree, rows, more, message):
    with pytest.raises(CannotVerifyError, match=message):
        certus.verify(tree, rows, **more)
