"""Newton's steps on the support of a quadratic model, with coordinates that leave on the way."""

import numpy as np
import pytest

from certus.solvers.lasso import quadratic_model
from certus.solvers.lasso.quadratic_model import _solve_on_support


def draw(m, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) @ (np.eye(m) + 0.3 * rng.standard_normal((m, m)) / np.sqrt(m))
    return X.T @ X / n, rng.standard_normal(m), rng.standard_normal(m)


def value(H, g, v0, v, l1, l2):
    move = v - v0
    return g @ move + move @ H @ move / 2 + l1 @ np.abs(v) + l2 @ v**2 / 2


@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_one_factor_for_many_steps_is_a_factor_for_each(seed, l2, monkeypatch):
    m = 40
    H, g, v0 = draw(m, 90, seed)
    l1, l2 = np.full(m, 0.4), np.full(m, l2)
    one, each = v0.copy(), v0.copy()
    _solve_on_support(H, g, one, l1, l2)
    monkeypatch.setattr(quadratic_model, "MAX_HELD_COORDINATES", 0)
    _solve_on_support(H, g, each, l1, l2)
    np.testing.assert_allclose(one, each, rtol=0, atol=1e-9)
    assert 0 < np.count_nonzero(one) < m - 3  # several left


@pytest.mark.parametrize("seed", range(6))
def test_the_walk_ends_where_the_model_is_flat_on_its_support(seed):
    m = 30
    H, g, v0 = draw(m, 80, seed)
    l1, l2, v = np.full(m, 0.3), np.full(m, 0.01), v0.copy()
    _solve_on_support(H, g, v, l1, l2)
    A = np.flatnonzero(v)
    slope = (g + H @ (v - v0) + l2 * v)[A] + l1[A] * np.sign(v[A])
    np.testing.assert_allclose(slope, 0, atol=1e-8)
    assert (np.sign(v) * np.sign(v0) >= 0).all()
    assert value(H, g, v0, v, l1, l2) < value(H, g, v0, v0, l1, l2)


def test_columns_that_repeat_others_do_not_lead_upwards():
    H, g, v0 = draw(12, 40, 3)
    H = np.block([[H, H], [H, H]])
    g, v0 = np.tile(g, 2), np.tile(v0, 2)
    l1, l2, v = np.full(24, 0.3), np.zeros(24), v0.copy()
    _solve_on_support(H, g, v, l1, l2)
    assert np.isfinite(v).all()
    assert value(H, g, v0, v, l1, l2) <= value(H, g, v0, v0, l1, l2)
