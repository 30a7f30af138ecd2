"""Every loss is what its formula says: derivatives, conjugate, and all of it at once.

A new loss is one more line in ``LOSSES``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from certus import losses
from certus.losses import Gamma, Huber, Logistic, Poisson, Softmax, Squared, SquaredHinge


class Case(NamedTuple):
    loss: Any
    targets: Callable[[np.random.Generator, int], np.ndarray]  # n of them, as the loss wants them
    outputs: int = 1
    kinks: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None  # 0 where curvature jumps
    outside: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None  # (y, inside) → outside

    def __str__(self) -> str:
        return f"{self.loss!r}" + (f"-{self.outputs}" if self.outputs > 1 else "")


def reals(rng, n):
    return 3 * rng.normal(size=n)


def counts(rng, n):
    return rng.poisson(2.0, size=n).astype(float)


def amounts(rng, n):
    return rng.gamma(2.0, size=n)


def signs(rng, n):
    return rng.choice([-1.0, 1.0], size=n)


def indices(K):
    return lambda rng, n: rng.integers(0, K, size=n).astype(float)


LOSSES = [
    Case(Squared(), reals),
    *(
        Case(
            Huber(delta),
            reals,
            kinks=lambda y, z, delta=delta: np.abs(y - z) - delta,
            outside=lambda y, a, delta=delta: np.where(a < 0, -1, 1) * delta * 1.01,
        )
        for delta in (0.3, 1.35)
    ),
    Case(Logistic(), signs, outside=lambda y, a: y * 0.01),
    Case(Logistic(), signs, outside=lambda y, a: -y * 1.01),
    Case(SquaredHinge(), signs, kinks=lambda y, z: y * z - 1, outside=lambda y, a: y * 0.01),
    Case(Poisson(), counts, outside=lambda y, a: -y - 0.01),
    Case(Gamma(), amounts, outside=lambda y, a: 1.01),
    Case(Softmax(), indices(2), outputs=2, outside=lambda y, a: a + 0.01),
    Case(Softmax(), indices(5), outputs=5, outside=lambda y, a: 5 * (a - 0.1)),
]
each_case = pytest.mark.parametrize("case", LOSSES, ids=str)
N, STEP = 400, 1e-6


def points(case: Case, seed: int = 0):
    """y and z, the latter away from where the curvature jumps."""
    rng = np.random.default_rng(seed)
    y = case.targets(rng, N)
    z = 3 * rng.normal(size=N if case.outputs == 1 else (N, case.outputs))
    if case.kinks is not None:
        keep = np.abs(case.kinks(y, z)) > 10 * STEP
        y, z = y[keep], z[keep]
    return y, z


def directions(z: np.ndarray):
    """Every score by itself."""
    if z.ndim == 1:
        yield np.ones_like(z), ()
    else:
        for k in range(z.shape[1]):
            e = np.zeros_like(z)
            e[:, k] = 1
            yield e, (k,)


def inner(a, z):
    return a * z if z.ndim == 1 else np.einsum("ij,ij->i", a, z)


def times(curvature, v):
    return curvature * v if v.ndim == 1 else np.einsum("ikl,il->ik", curvature, v)


def test_the_table_has_every_public_loss():
    in_table = {type(case.loss).__name__ for case in LOSSES}
    assert in_table == set(losses.__all__) - {"Loss"}


@each_case
def test_slope_is_the_derivative_of_value(case):
    y, z = points(case)
    slope = case.loss.slope(y, z)
    assert slope.shape == z.shape
    for e, k in directions(z):
        up, down = case.loss.value(y, z + STEP * e), case.loss.value(y, z - STEP * e)
        np.testing.assert_allclose((up - down) / (2 * STEP), slope[:, *k], atol=1e-7)


@each_case
def test_curvature_is_the_derivative_of_slope(case):
    y, z = points(case)
    curvature = case.loss.curvature(y, z)
    assert curvature.shape == z.shape + z.shape[1:]
    for e, k in directions(z):
        up, down = case.loss.slope(y, z + STEP * e), case.loss.slope(y, z - STEP * e)
        np.testing.assert_allclose((up - down) / (2 * STEP), curvature[(..., *k)], atol=1e-7)


@each_case
def test_no_curvature_is_negative_or_above_its_bound(case):
    y, z = points(case)
    curvature = case.loss.curvature(y, z).reshape(len(z), case.outputs, case.outputs)
    eigenvalues = np.linalg.eigvalsh(curvature)
    assert eigenvalues.min() >= -1e-12
    assert eigenvalues.max() <= case.loss.curvature_bound + 1e-12
    if case.loss.curvature_bound < np.inf:
        assert eigenvalues.max() >= case.loss.curvature_bound / 2, "a bound that says something"


@each_case
def test_evaluate_is_value_slope_and_what_curvature_needs(case):
    y, z = points(case)
    value, slope, state = case.loss.evaluate(y, z)
    np.testing.assert_allclose(value, case.loss.value(y, z), rtol=1e-14)
    np.testing.assert_allclose(slope, case.loss.slope(y, z), rtol=1e-14)
    v = np.random.default_rng(1).normal(size=z.shape)
    expected = times(case.loss.curvature(y, z), v)
    np.testing.assert_allclose(case.loss.curvature_product(state, v), expected, atol=1e-14)


@each_case
def test_inputs_are_left_as_they_were(case):
    y, z = points(case)
    before = y.copy(), z.copy()
    case.loss.evaluate(y, z)
    case.loss.conjugate(y, case.loss.slope(y, z))
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(z, before[1])


@each_case
def test_fenchel_young_is_an_equality_at_the_slope(case):
    y, z = points(case)
    a = case.loss.slope(y, z)
    both = case.loss.value(y, z) + case.loss.conjugate(y, a)
    np.testing.assert_allclose(both, inner(a, z), atol=1e-10)


@each_case
def test_fenchel_young_is_an_inequality_elsewhere(case):
    y, z = points(case)
    other = 3 * np.random.default_rng(2).normal(size=z.shape)
    a = case.loss.slope(y, other)  # inside the domain, whatever that is
    slack = case.loss.value(y, z) + case.loss.conjugate(y, a) - inner(a, z)
    assert slack.min() >= -1e-12
    assert slack.max() > 0.1


@each_case
def test_points_between_slopes_and_0_are_inside_the_domain(case):
    # how dual points are made feasible: scaled towards 0
    y, z = points(case)
    for shrink in (0.0, 0.3, 1.0):
        assert np.isfinite(case.loss.conjugate(y, shrink * case.loss.slope(y, z))).all()


@pytest.mark.parametrize("case", [c for c in LOSSES if c.outside is not None], ids=str)
def test_the_conjugate_is_infinite_outside_its_domain(case):
    y, z = points(case)
    a = case.outside(y, case.loss.slope(y, z))
    assert (case.loss.conjugate(y, a) == np.inf).all()


@each_case
def test_nothing_overflows_far_out(case):
    y, z = points(case)
    for scale in (1e3, 1e100):
        with np.errstate(all="raise", under="ignore"):
            value, slope, state = case.loss.evaluate(y, scale * z)
        for found in (value, slope, state):
            assert np.isfinite(found).all()
