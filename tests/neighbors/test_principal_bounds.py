"""Rows of many columns: bounds from leading coordinates, and answers that do not depend on them."""

import numpy as np
import pytest

from certus.solvers.neighbors import principal_bounds, products
from certus.solvers.neighbors.differences import Differences
from certus.solvers.neighbors.principal_bounds import PrincipalCoordinates
from certus.solvers.neighbors.products import Products

PLAIN = np.dtype(np.float32)


def draw(n, m, p=300, seed=0, rank=20, noise=0.1):
    """Draw rows and queries near a plane of ``rank`` dimensions."""
    rng = np.random.default_rng(seed)
    axes = rng.standard_normal((rank, p))
    X = rng.standard_normal((n + m, rank)) @ axes + noise * rng.standard_normal((n + m, p))
    return X[:n], X[n:]


def spy(monkeypatch):
    used = []
    group = principal_bounds.PrincipalSearch.group

    def recorded(self, i):
        answer = group(self, i)
        used.append((len(i), int(answer[2].sum())))
        return answer

    monkeypatch.setattr(principal_bounds.PrincipalSearch, "group", recorded)
    return used


@pytest.mark.parametrize("noise", [0.01, 3.0])
def test_answers_are_those_of_all_differences(noise, monkeypatch):
    monkeypatch.setattr(principal_bounds, "MIN_QUERIES", 100)
    monkeypatch.setattr(principal_bounds, "N_COORDINATES", 64)
    monkeypatch.setattr(principal_bounds, "MAX_CANDIDATES", 200)
    X, Q = draw(4200, 300, noise=noise)
    used = spy(monkeypatch)
    result = Products(X, 2).nearest(Q, 6)
    expected = Differences(X, 0, 2.0, 2).nearest(Q, 6)
    np.testing.assert_array_equal(result.rows, expected.rows)
    np.testing.assert_array_equal(result.values, expected.values)
    queries, proven = (sum(part[i] for part in used) for i in (0, 1))
    assert queries > 0
    assert (proven > 0.9 * queries) == (noise < 1)  # where the rest hides much, others take over


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_one(seed):
    """Includes distant queries and rows far from the origin."""
    X, Q = draw(500, 40, p=260, seed=seed, noise=10.0 ** np.random.default_rng(seed).uniform(-6, 1))
    X, Q = X + 100.0, Q * 50.0 ** (seed % 3) + 100.0
    engine = Products(X, 1)
    lead = PrincipalCoordinates(engine)
    Y, Z = lead.rotated(engine.centered(X)), lead.rotated(engine.centered(Q))
    length = (Z * Z).sum(axis=1)
    bound = lead.filter.copy @ (-2 * Z.T).astype(np.float32)
    bound = (bound + lead.filter.square.astype(np.float32)[:, None]).astype(float) + length
    true = ((engine.centered(X)[:, None] - engine.centered(Q)[None]) ** 2).sum(axis=2)
    assert (bound - lead.filter.error(np.sqrt(length), PLAIN) <= true).all()
    np.testing.assert_allclose((Y * Y).sum(axis=1), engine.filter.square, rtol=1e-12)


def test_few_queries_or_columns_do_not_pay_for_axes(monkeypatch):
    X, Q = draw(4200, 50)
    used = spy(monkeypatch)
    Products(X, 1).nearest(Q, 3)
    assert not used
    assert (
        principal_bounds.MIN_COLUMNS > products.MAX_SWEPT_COLUMNS
    )  # few columns are swept, not multiplied


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_ties_and_repeated_rows_are_collected(shift, monkeypatch):
    """Rows that repeat have equal bounds: all of them must be collected to find the smallest."""
    monkeypatch.setattr(principal_bounds, "MIN_QUERIES", 100)
    X, Q = draw(2100, 300, noise=0.01, seed=3)
    X, Q = np.vstack([X, X]) + shift, Q + shift
    result = Products(X, 2).nearest(Q, 5)
    expected = Differences(X, 0, 2.0, 2).nearest(Q, 5)
    np.testing.assert_array_equal(result.rows, expected.rows)
    np.testing.assert_array_equal(result.values, expected.values)


def test_collecting_counts_what_does_not_fit():
    from certus.kernels.neighbors.nearest import collect, narrow

    rng = np.random.default_rng(0)
    T, n = rng.standard_normal((50, 7)).astype(PLAIN), rng.standard_normal(50).astype(PLAIN)
    limit = np.linspace(-3, 3, 7).astype(PLAIN)
    counts, rows = np.zeros(7, dtype=np.intp), np.full((7, 10), -1)
    collect(T, n, 100, limit, counts, rows)
    for q in range(7):
        expected = np.flatnonzero(T[:, q] + n <= limit[q])
        assert counts[q] == len(expected)
        np.testing.assert_array_equal(rows[q, : min(10, counts[q])], 100 + expected[:10])
    X, Q = rng.standard_normal((50, 20)).astype(PLAIN), rng.standard_normal((7, 20)).astype(PLAIN)
    counts, rows = np.full(7, 10, dtype=np.intp), rng.integers(0, 50, (7, 10))
    before = rows.copy()
    narrow(X, n, Q, limit, counts, rows)
    for q in range(7):
        kept = [r for r in before[q] if float(n[r] + X[r] @ Q[q]) <= limit[q]]
        assert list(rows[q, : counts[q]]) == kept
    with pytest.raises(ValueError, match="not rows of X"):
        narrow(X, n, Q, limit, counts, rows + 50)
