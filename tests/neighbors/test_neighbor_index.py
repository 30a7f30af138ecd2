"""The index: any distance, any algorithm, one answer."""

import numpy as np
import pytest

from certus.distances import get_distance
from certus.solvers.neighbors import DenseIndex, index

METRICS = {
    "euclidean": {}, "sqeuclidean": {}, "manhattan": {}, "chebyshev": {}, "minkowski": {"p": 3},
    "cosine": {}, "correlation": {}, "spearman": {}, "mahalanobis": {}, "canberra": {},
    "braycurtis": {}, "hamming": {},
}  # fmt: skip


def draw(n=1500, p=5, m=120, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.standard_normal((m, p))


def made(metric, X, **options):
    distance = get_distance(metric, **METRICS.get(metric, {})).prepare(X)
    return distance, DenseIndex(X, distance, **options)


def expected(D, k):
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, 1), order


@pytest.mark.filterwarnings("ignore:.*[Hh]amming")
@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute"])
@pytest.mark.parametrize("metric", list(METRICS))
def test_neighbours_by_every_metric_and_algorithm(metric, algorithm):
    X, Q = draw()
    if metric == "hamming":
        X, Q = np.rint(X), np.rint(Q)
    distance, rows = made(metric, X, algorithm=algorithm)
    D = distance.pairwise(Q, X)
    result, numbers = rows.kneighbors(Q, 7)
    near, order = expected(D, 7)
    np.testing.assert_allclose(result, near, rtol=1e-9, atol=1e-12)
    if metric != "hamming":  # ties
        assert (numbers == order).mean() > 0.999
    else:
        np.testing.assert_array_equal(numbers, order)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "minkowski", "cosine", "canberra"])
def test_rows_within_a_radius_by_every_way(metric):
    X, Q = draw()
    distance, rows = made(metric, X)
    D = distance.pairwise(Q, X)
    r = float(np.quantile(D, 0.02))
    result = rows.radius(Q, r)
    for i in range(len(Q)):
        own = slice(result.edges[i], result.edges[i + 1])
        near = np.flatnonzero(D[i] <= r)
        assert len(np.setxor1d(result.rows[own], near)) <= (np.abs(D[i] - r) < 1e-12).sum()
        np.testing.assert_allclose(result.values[own], D[i, result.rows[own]], atol=1e-12)


def test_a_radius_that_is_a_distance_includes_it():
    X = np.array([[0.0], [0.1], [0.2], [0.3]])
    _, rows = made("euclidean", X)
    for j in range(4):
        r = abs(X[j, 0] - 0.05)
        assert j in rows.radius(np.array([[0.05]]), r).rows


def test_rows_are_not_their_own_neighbours():
    X, _ = draw(400, 3)
    X[200:203] = X[7]
    for algorithm in ("kd_tree", "brute"):
        _, rows = made("euclidean", X, algorithm=algorithm)
        result, numbers = rows.kneighbors(None, 4)
        assert not (numbers == np.arange(400)[:, None]).any()
        D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
        np.fill_diagonal(D, np.inf)
        near, order = expected(D, 4)
        np.testing.assert_allclose(result, near, atol=1e-12)
        np.testing.assert_array_equal(numbers[[7, 200, 201, 202]], order[[7, 200, 201, 202]])
        within = rows.radius(None, 0.0)
        assert within.rows.tolist() == [200, 201, 202, 7, 201, 202, 7, 200, 202, 7, 200, 201]


def test_more_repeats_than_neighbours():
    X = np.zeros((6, 2))
    _, rows = made("euclidean", X)
    _, numbers = rows.kneighbors(None, 2)
    np.testing.assert_array_equal(numbers, [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]])


def test_a_tree_is_used_where_it_looks_at_few_rows(monkeypatch):
    X, Q = draw(6000, 2)
    _, rows = made("euclidean", X)
    rows.kneighbors(Q, 3)
    assert rows.algorithm == "kd_tree"
    X, Q = draw(6000, 14)
    _, rows = made("euclidean", X)
    rows.kneighbors(Q, 3)
    assert rows.algorithm == "brute"  # measured: a tree would look at most of them
    monkeypatch.setattr(index, "MIN_TREE_QUERIES", 10**9)
    for p, algorithm in ((2, "kd_tree"), (6, "brute")):  # a tree of 6 columns wants more queries
        X, Q = draw(6000, p)
        _, rows = made("euclidean", X)
        rows.kneighbors(Q, 3)
        assert rows.algorithm == algorithm


def test_float32_rows_stay_float32():
    X, Q = draw(2000, 3)
    distance, rows = made("euclidean", X.astype(np.float32))
    assert rows.Z.dtype == np.float32
    result, _ = rows.kneighbors(Q, 3)
    near, _ = expected(distance.pairwise(Q, X.astype(np.float32).astype(float)), 3)
    np.testing.assert_allclose(result, near, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_same_bits_on_any_number_of_threads(threads):
    X, Q = draw(5000, 6, 300)
    _, one = made("euclidean", X, threads=1)
    _, many = made("euclidean", X, threads=threads)
    for a, b in zip(one.kneighbors(Q, 5), many.kneighbors(Q, 5), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e160])
@pytest.mark.parametrize("metric", ["euclidean", "minkowski", "manhattan", "chebyshev"])
def test_powers_that_overflow_or_vanish_do_not_matter(metric, size):
    X, Q = draw(1200, 3, 20)
    _, plain = made(metric, X)
    _, rows = made(metric, X * size)
    near, order = plain.kneighbors(Q, 4)
    result, numbers = rows.kneighbors(Q * size, 4)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_allclose(result, near * size, rtol=1e-9)
    far, _ = plain.kneighbors(Q[:2] * 1e200, 4)
    assert np.isfinite(far).all()


def test_a_large_power():
    X, Q = draw(600, 4, 10)
    distance = get_distance("minkowski", p=60)
    result, numbers = DenseIndex(X, distance).kneighbors(Q, 3)
    near, order = expected(distance.pairwise(Q, X), 3)
    np.testing.assert_array_equal(numbers, order)
    np.testing.assert_allclose(result, near, rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute"])
def test_rows_that_a_distance_cannot_tell_apart(algorithm):
    """Constant columns have no spread, so Mahalanobis ignores them."""
    X = np.ones((1500, 2))
    _, rows = made("mahalanobis", X, algorithm=algorithm)
    result, numbers = rows.kneighbors(X[:20], 3)
    np.testing.assert_array_equal(result, 0.0)
    np.testing.assert_array_equal(numbers, np.tile(np.arange(3), (20, 1)))
    assert len(rows.radius(X[:2], 0.0).rows) == 3000
