"""Rows of many columns: bounds from leading coordinates, and answers that do not depend on them."""

import numpy as np
import pytest

from certus.solvers.neighbors import leading, products
from certus.solvers.neighbors.differences import Differences
from certus.solvers.neighbors.leading import Leading
from certus.solvers.neighbors.products import Products

PLAIN = np.dtype(np.float32)


def draw(n, m, p=300, seed=0, rank=20, noise=0.1):
    """Near a plane of ``rank`` dimensions."""
    rng = np.random.default_rng(seed)
    axes = rng.standard_normal((rank, p))
    X = rng.standard_normal((n + m, rank)) @ axes + noise * rng.standard_normal((n + m, p))
    return X[:n], X[n:]


def spy(monkeypatch):
    used = []
    group = products._Search.group

    def told(self, i):
        answer = group(self, i)
        used.append((self.leading is not None, len(i), int(answer[2].sum())))
        return answer

    monkeypatch.setattr(products._Search, "group", told)
    return used


@pytest.mark.parametrize("noise", [0.01, 3.0])
def test_answers_are_those_of_all_differences(noise, monkeypatch):
    monkeypatch.setattr(leading, "QUERIES", 100)
    X, Q = draw(4200, 300, noise=noise)
    used = spy(monkeypatch)
    found = Products(X, 2).nearest(Q, 6)
    expected = Differences(X, 0, 2.0, 2).nearest(Q, 6)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_array_equal(found.values, expected.values)
    asked, proven = (sum(part[i] for part in used if part[0]) for i in (1, 2))
    assert asked > 0
    assert (proven > 0.9 * asked) == (noise < 1)  # where the rest hides much, others take over


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_one(seed):
    """Far queries and rows far from the origin included."""
    X, Q = draw(500, 40, p=260, seed=seed, noise=10.0 ** np.random.default_rng(seed).uniform(-6, 1))
    X, Q = X + 100.0, Q * 50.0 ** (seed % 3) + 100.0
    engine = Products(X, 1)
    lead = Leading(engine)
    Y, Z = lead.rotated(engine.viewed(X)), lead.rotated(engine.viewed(Q))
    length = (Z * Z).sum(axis=1)
    bound = lead.filter.copy @ (-2 * Z.T).astype(np.float32)
    bound = (bound + lead.filter.square.astype(np.float32)[:, None]).astype(float) + length
    true = ((engine.viewed(X)[:, None] - engine.viewed(Q)[None]) ** 2).sum(axis=2)
    assert (bound - lead.filter.error(np.sqrt(length), PLAIN) <= true).all()
    np.testing.assert_allclose((Y * Y).sum(axis=1), engine.filter.square, rtol=1e-12)


def test_few_queries_or_columns_do_not_pay_for_axes(monkeypatch):
    X, Q = draw(4200, 50)
    used = spy(monkeypatch)
    Products(X, 1).nearest(Q, 3)
    assert not any(part[0] for part in used)
    assert leading.COLUMNS > products.SWEPT  # few columns are swept, not multiplied
