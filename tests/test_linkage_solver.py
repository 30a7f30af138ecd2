"""Agglomerative trees against SciPy's and against the definition of a linkage, merge by merge."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from certus.solvers.linkage import METHODS, agglomerate, agglomerate_distances

REDUCIBLE = [m for m in METHODS if m not in ("centroid", "median")]
each_method = pytest.mark.parametrize("method", METHODS)


def cluster_distance(method, X, D, A, B, m):
    """d(A, B) by the definition, from all rows of both; m: the medians of the tree so far."""
    between = D[np.ix_(A, B)]
    a, b = len(A), len(B)
    apart = np.linalg.norm(X[A].mean(axis=0) - X[B].mean(axis=0))
    return {
        "single": lambda: between.min(),
        "complete": lambda: between.max(),
        "average": lambda: between.mean(),
        "centroid": lambda: apart,
        "ward": lambda: np.sqrt(2 * a * b / (a + b)) * apart,
        "median": lambda: np.linalg.norm(m[0] - m[1]),
    }[method]()


def assert_is_greedy(method, X, merges, tol=1e-9):
    """Each merge is of a least pair then, at its distance: O(n³) and more, by the definition."""
    n = len(X)
    D = squareform(pdist(X)) if n > 1 else np.zeros((1, 1))
    members = {i: [i] for i in range(n)}
    medians = {i: X[i] for i in range(n)}
    halves = {(i, j): D[i, j] for i in range(n) for j in range(n)}  # of weighted
    for t, (i, j, height, size) in enumerate(merges):
        i, j = int(i), int(j)
        assert i < j

        def d(a, b, m=members):
            if method == "weighted":
                return halves[a, b]
            return cluster_distance(method, X, D, m[a], m[b], (medians[a], medians[b]))

        alive = sorted(members)
        least = min(d(a, b) for a in alive for b in alive if a < b)
        assert d(i, j) == pytest.approx(height, rel=tol, abs=tol)
        assert height <= least + tol * max(1.0, least)
        new = n + t
        for c in set(alive) - {i, j}:
            if method == "weighted":
                halves[new, c] = halves[c, new] = (halves[i, c] + halves[j, c]) / 2
        members[new] = members.pop(i) + members.pop(j)
        medians[new] = (medians.pop(i) + medians.pop(j)) / 2
        assert size == len(members[new])
    assert len(members) == 1


def rows(n, p, seed=0):
    return np.random.default_rng([seed, n, p]).normal(size=(n, p))


@each_method
@pytest.mark.parametrize(("n", "p"), [(2, 1), (3, 2), (50, 1), (200, 3), (300, 16)])
def test_the_tree_is_scipys(method, n, p):
    X = rows(n, p)
    expected = linkage(X, method)
    for merges in (
        agglomerate(X, method),
        agglomerate_distances(squareform(pdist(X)), method),
        agglomerate_distances(pdist(X), method),
    ):
        np.testing.assert_allclose(merges, expected, rtol=1e-9, atol=1e-12)


@each_method
def test_one_row_has_no_merges(method):
    assert agglomerate(np.ones((1, 3)), method).shape == (0, 4)
    assert agglomerate_distances(np.zeros((1, 1)), method).shape == (0, 4)


@each_method
@pytest.mark.parametrize("seed", range(3))
def test_every_merge_is_of_a_least_pair_also_with_ties_and_duplicates(method, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(24, 2)).astype(float)
    assert_is_greedy(method, X, agglomerate(X, method))
    merges = agglomerate_distances(squareform(pdist(X)), method)
    assert_is_greedy(method, X, merges)
    distinct = len(np.unique(X, axis=0))
    assert np.all(merges[: 24 - distinct, 2] == 0)
    assert np.all(merges[24 - distinct :, 2] > 0)
