"""Derivatives of distances with respect to feature weights, against central differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from certus.distances import Cosine, Euclidean, Manhattan, PhiS, SquaredEuclidean

WEIGHTED = [Manhattan, Euclidean, SquaredEuclidean, PhiS]
each = pytest.mark.parametrize("cls", WEIGHTED, ids=lambda cls: cls.name)


def problem(n=37, m=29, p=6, seed=3):
    random = np.random.default_rng(seed)
    A, B, C = (random.normal(size=shape) for shape in ((n, p), (m, p), (n, m)))
    return A, B, C, random.random(p) + 0.3


def by_differences(cls, A, B, C, w, step=1e-5):
    def value(v):
        return (C * cls(w=v).pairwise(A, B)).sum()

    return [
        (value(w + step * e) - value(w - step * e)) / (2 * step) for e in np.eye(len(w))
    ]  # fmt: skip


@each
@pytest.mark.parametrize(("n", "m"), [(37, 29), (130, 65)])
def test_the_derivative_is_what_central_differences_say(cls, n, m):
    A, B, C, w = problem(n, m)
    result = cls(w=w).weight_vjp(A, B, C)
    assert_allclose(result, by_differences(cls, A, B, C, w), rtol=1e-6, atol=1e-6)


@each
def test_it_is_the_sum_over_pairs_of_the_equation(cls):
    A, B, C, w = problem(5, 4)
    W, total = w**2, 0.0
    for i, j in np.ndindex(5, 4):
        d, u = A[i] - B[j], A[i] + B[j]
        if cls is Manhattan:
            slope = 2 * w * np.abs(d)
        elif cls is SquaredEuclidean:
            slope = 2 * w * d**2
        elif cls is Euclidean:
            slope = w * d**2 / np.sqrt((W * d**2).sum())
        else:
            d, u = (v - (W * v).sum() / W.sum() for v in (d, u))
            S_u = (W * u**2).sum()
            slope = 2 * w / S_u * (d**2 - (W * d**2).sum() / S_u * u**2)
        total = total + C[i, j] * slope
    assert_allclose(cls(w=w).weight_vjp(A, B, C), total, rtol=1e-11, atol=1e-12)


@each
def test_same_bits_on_any_number_of_threads(cls):
    A, B, C, w = problem(700, 130)
    one = cls(w=w).weight_vjp(A, B, C, threads=1)
    assert_array_equal(one, cls(w=w).weight_vjp(A, B, C, threads=3))


@each
def test_no_weights_are_weights_of_one(cls):
    A, B, C, _ = problem()
    ones = np.ones(A.shape[1])
    assert_allclose(cls().pairwise(A, B), cls(w=ones).pairwise(A, B), rtol=1e-14)
    assert_allclose(cls().weight_vjp(A, B, C), cls(w=ones).weight_vjp(A, B, C), rtol=1e-12)


@each
def test_far_from_the_origin_the_derivative_is_the_same(cls):
    A, B, C, w = problem()
    A, B = np.round(A * 64) / 64, np.round(B * 64) / 64
    moved = cls(w=w).weight_vjp(A + 2.0**30, B + 2.0**30, C)
    # Φ_s takes the sum of rows, and so only a shift of both sides that its means remove
    assert_allclose(moved, cls(w=w).weight_vjp(A, B, C), rtol=1e-9, atol=1e-9)


def test_a_row_and_itself_pull_nothing():
    A, _, _, w = problem(8, 8)
    for cls in WEIGHTED:
        assert_allclose(cls(w=w).weight_vjp(A, A, np.eye(8)), 0, atol=1e-13)


def test_phi_s_does_not_change_when_all_weights_do():
    A, B, C, w = problem()
    assert_allclose(PhiS(w=3 * w).pairwise(A, B), PhiS(w=w).pairwise(A, B), rtol=1e-12)
    assert_allclose(PhiS(w=w).weight_vjp(A, B, C) @ w, 0, atol=1e-9)  # Euler, degree 0


def test_infinite_phi_s_pulls_nothing():
    A, B = np.array([[1.0, 2.0, 3.0]]), np.array([[3.0, 2.0, 1.0]])
    assert_array_equal(PhiS().pairwise(A, B), [[np.inf]])
    assert_array_equal(PhiS().weight_vjp(A, B, [[1.0]]), 0)


def test_refusals():
    A, B, C, _ = problem()
    with pytest.raises(TypeError, match="Cosine has no derivative"):
        Cosine().weight_vjp(A, B, C)
    with pytest.raises(ValueError, match="37 × 29 pairs"):
        Manhattan().weight_vjp(A, B, C.T)
    with pytest.raises(ValueError, match="w is for 2 columns, but the rows have 6"):
        Manhattan(w=[1.0, 2.0]).weight_vjp(A, B, C)
    with pytest.raises(ValueError, match="2 weights other than 0"):
        PhiS(w=[1.0, 0.0, 0.0])
