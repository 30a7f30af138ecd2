"""Every search engine against all differences in plain NumPy."""

from fractions import Fraction

import numpy as np
import pytest

from certus.solvers.neighbors import differences, products
from certus.solvers.neighbors.differences import Differences
from certus.solvers.neighbors.lists import NearestLists
from certus.solvers.neighbors.products import Products
from certus.solvers.neighbors.tiles import Tiles
from certus.solvers.neighbors.tree import KDTree

SUMS = {
    "squares": (0, 2.0, lambda d: (d * d).sum(axis=-1)),
    "absolute": (1, 1.0, lambda d: np.abs(d).sum(axis=-1)),
    "largest": (2, 1.0, lambda d: np.abs(d).max(axis=-1, initial=0.0)),
    "power": (3, 3.0, lambda d: (np.abs(d) ** 3).sum(axis=-1)),
}


def draw(kind, n, p, m, seed=0):
    rng = np.random.default_rng(seed)
    X, Q = rng.standard_normal((n, p)), rng.standard_normal((m, p))
    if kind == "whole":
        X, Q = np.rint(2 * X), np.rint(2 * Q)
    elif kind == "repeated":
        X[n // 2 :] = X[: n - n // 2]
        Q = X[:m].copy()
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "far":
        X += 1e8
        Q += 1e8
    elif kind == "constant":
        X[:], Q[:] = 3.0, 3.0
    elif kind == "scaled":
        X, Q = X * 2.0**-300, Q * 2.0**-300
    return X, np.ascontiguousarray(Q, dtype=float)


def brute(X, Q, k, sum_of):
    D = np.array([sum_of(X.astype(float) - q) for q in Q])
    order = np.argsort(D, axis=1, kind="stable")[:, :k]  # ties: the smallest row
    return NearestLists(np.take_along_axis(D, order, 1), order)


KINDS = ["plain", "whole", "repeated", "float32", "far", "constant", "scaled"]


@pytest.mark.parametrize(
    "shape", [(1500, 3, 40, 7), (1300, 20, 30, 10), (90, 4, 9, 90), (2, 1, 3, 1)]
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["tree", "differences", "products"])
def test_the_nearest_rows_are_found(name, kind, shape):
    n, p, m, k = shape
    X, Q = draw(kind, n, p, m)
    code, power, sum_of = SUMS["squares"]
    engine = {
        "tree": lambda: KDTree(X, code, power, 2),
        "differences": lambda: Differences(X, code, power, 2),
        "products": lambda: Products(X, 2),
    }[name]()
    result, expected = engine.nearest(Q, k), brute(X, Q, k, sum_of)
    np.testing.assert_allclose(result.values, expected.values, rtol=1e-13)
    same = result.rows == expected.rows
    # a fused multiplication rounds once less, which can part what NumPy finds equal
    assert same.all() if kind in ("whole", "repeated", "constant") else same.mean() > 0.99


@pytest.mark.parametrize("name", list(SUMS))
@pytest.mark.parametrize("kind", ["plain", "whole", "repeated"])
def test_every_sum_of_differences(name, kind):
    X, Q = draw(kind, 700, 4, 25)
    code, power, sum_of = SUMS[name]
    expected = brute(X, Q, 6, sum_of)
    for engine in (KDTree(X, code, power, 1), Differences(X, code, power, 3)):
        result = engine.nearest(Q, 6)
        np.testing.assert_allclose(result.values, expected.values, rtol=1e-13)
        if kind != "plain":
            np.testing.assert_array_equal(result.rows, expected.rows)


@pytest.mark.parametrize("kind", KINDS)
def test_all_ways_give_the_same_bits(kind):
    X, Q = draw(kind, 2000, 6, 50)
    result = [
        engine.nearest(Q, 8)
        for engine in (
            KDTree(X, 0, 2, 1),
            KDTree(X, 0, 2, 3),
            Differences(X, 0, 2, 2),
            Products(X, 2),
        )
    ]
    for other in result[1:]:
        np.testing.assert_array_equal(other.values, result[0].values)
        np.testing.assert_array_equal(other.rows, result[0].rows)


@pytest.mark.parametrize("kind", KINDS)
def test_all_rows_within_a_radius_are_found(kind):
    X, Q = draw(kind, 1200, 3, 40)
    r = float(np.median(Differences(X, 0, 2, 1).nearest(Q, 15).values[:, -1]))
    expected = [np.flatnonzero(row) for row in [((X - q) ** 2).sum(axis=1) <= r for q in Q]]
    for engine in (KDTree(X, 0, 2, 2), Differences(X, 0, 2, 2), Products(X, 2)):
        result = engine.within(Q, r)
        rows = [result.rows[a:b] for a, b in zip(result.edges[:-1], result.edges[1:], strict=True)]
        wrong = [i for i in range(len(Q)) if not np.array_equal(rows[i], expected[i])]
        assert len(wrong) <= (kind in ("plain", "float32", "far", "scaled"))  # at r exactly
        assert (result.values <= r).all()


def test_half_steps_around_two_far_places_are_told_apart():
    """arange·.5 about −1e8 and +1e8 together: exact, by rational arithmetic."""
    grid = np.arange(0, 40) * 0.5
    X = np.concatenate([grid - 1e8, grid + 1e8])[:, None]
    X = np.hstack([X, X[::-1]])
    result = Products(np.tile(X, (30, 1)), 2).nearest(X[:5], 60)
    for q in range(5):
        true = [
            sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, X[q], strict=True)) for x in X
        ]
        expected = sorted(float(value) for value in np.repeat(true, 30))[:60]
        np.testing.assert_allclose(result.values[q], expected, rtol=1e-14)


def test_float32_products_that_prove_too_little_are_followed_by_others(monkeypatch):
    """Clusters far apart: float32 sees each as one point, float64 does not."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5)) * 1e-3 + 1e3 * rng.integers(-1, 2, (3000, 1))
    Q = X[:200] + 1e-4
    used = []
    group = products._Search.group
    monkeypatch.setattr(
        products._Search, "group", lambda self, i: used.append(self.dtype) or group(self, i)
    )
    result = Products(X, 1).nearest(Q, 5)
    assert {np.dtype(np.float32), np.dtype(np.float64)} == set(used)
    expected = Differences(X, 0, 2, 1).nearest(Q, 5)
    np.testing.assert_array_equal(result.rows, expected.rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(8))
def test_products_are_off_by_less_than_the_bound(dtype, seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 300))
    X = rng.standard_normal((600, p)) * 10.0 ** rng.uniform(-3, 3, p) + rng.uniform(-5, 5, p)
    Q = rng.standard_normal((64, p)) * 10.0 ** rng.uniform(-3, 3, p)
    engine = Products(X, 1)
    Z, C = engine.centered(Q), engine.centered(X)
    length = (Z * Z).sum(axis=1)
    square = engine.filter.square.astype(dtype)[:, None]
    T = np.dot(C.astype(dtype), (-2 * Z.T).astype(dtype)) + square
    true = ((C[:, None] - Z[None]) ** 2).sum(axis=2)
    E = engine.filter.error(np.sqrt(length), np.dtype(dtype))
    off = np.abs(T.astype(float) + length - true)
    assert (off <= E).all()
    if dtype == np.float32:  # the bound is no more than it should be, by orders of magnitude
        assert off.max() > 1e-4 * E.max()


@pytest.mark.parametrize("threads", [1, 4])
def test_tiles_of_any_distance(threads):
    X, Q = draw("whole", 900, 4, 30)
    engine = Tiles(X, lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=2), threads)
    result, expected = engine.nearest(Q, 9), brute(X, Q, 9, SUMS["absolute"][2])
    np.testing.assert_array_equal(result.rows, expected.rows)
    np.testing.assert_array_equal(result.values, expected.values)
    near, other = engine.within(Q, 4.0), KDTree(X, 1, 1.0, 1).within(Q, 4.0)
    for a, b in zip(near, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_cannot_be_compared_is_no_neighbour():
    X, Q = np.array([[0.0], [np.nan], [2.0]]), np.array([[-1.0], [np.nan]])
    engine = Tiles(X, lambda A, B: np.abs(A - B.T), 1)
    result = engine.nearest(Q, 3)
    np.testing.assert_array_equal(result.rows, [[0, 2, -1], [-1, -1, -1]])
    np.testing.assert_array_equal(result.values, [[1, 3, np.inf], [np.inf] * 3])
    assert engine.within(Q, 9.0).edges.tolist() == [0, 2, 2]


def test_queries_in_groups_of_any_size(monkeypatch):
    X, Q = draw("plain", 1100, 12, 37)
    expected = Products(X, 1).nearest(Q, 5)
    monkeypatch.setattr(differences, "MAX_LANES", 5)
    monkeypatch.setattr(products, "TILE_ROWS", 100)
    result = Products(X, 1).nearest(Q, 5)
    np.testing.assert_array_equal(result.values, expected.values)
    np.testing.assert_array_equal(result.rows, expected.rows)
