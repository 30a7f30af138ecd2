"""The tiled factorisation: right, the same on any number of threads, and honest about failure."""

import numpy as np
import pytest
from scipy import linalg

from certus.solvers.linalg.cholesky import (
    MAX_UNTILED_COLUMNS,
    cholesky,
    cholesky_solve,
    solve_upper,
    tile_columns,
)

SIZES = [1, 2, 7, MAX_UNTILED_COLUMNS, MAX_UNTILED_COLUMNS + 1, 3 * tile_columns(600), 1000]


def positive_definite(n, seed=0):
    Z = np.random.default_rng(seed).standard_normal((n + 5, n))
    return np.asfortranarray(Z.T @ Z + np.eye(n))


@pytest.mark.parametrize("n", SIZES)
def test_factor_times_itself_is_the_matrix(n):
    A = positive_definite(n)
    R = A.copy(order="F")
    assert cholesky(R) == 0
    upper = np.triu(R)
    # ‖A − RᵀR‖ ≤ γ_{n+1} ‖R‖² : backward stable
    assert np.abs(upper.T @ upper - A).max() <= 4 * n * 2.2e-16 * np.abs(A).max()
    assert np.array_equal(np.tril(R, -1), np.tril(A, -1))  # below is neither read nor written


def test_below_the_diagonal_may_hold_anything():
    A = positive_definite(700)
    R, S = A.copy(order="F"), A.copy(order="F")
    S[np.tril_indices(700, -1)] = np.nan
    assert cholesky(R) == cholesky(S) == 0
    assert np.array_equal(np.triu(R), np.triu(S))


@pytest.mark.parametrize("n", [MAX_UNTILED_COLUMNS - 100, 1100])
@pytest.mark.parametrize("columns", [1, 3])
def test_same_bits_on_any_number_of_threads(n, columns):
    A, B = positive_definite(n), np.random.default_rng(1).standard_normal((n, columns))
    factors = [A.copy(order="F") for _ in range(4)]
    for R, threads in zip(factors, (1, 2, 3, 8), strict=True):
        cholesky(R, threads=threads)
    assert all(np.array_equal(R, factors[0]) for R in factors)
    answers = [cholesky_solve(factors[0], B, threads=threads) for threads in (1, 2, 3, 8)]
    assert all(np.array_equal(X, answers[0]) for X in answers)


@pytest.mark.parametrize("n", [1, 30, 1600])
def test_solves(n):
    A, B = positive_definite(n), np.random.default_rng(2).standard_normal((n, 2))
    R = A.copy(order="F")
    cholesky(R)
    before = B.copy()
    X = cholesky_solve(R, B)
    assert np.array_equal(B, before)
    assert linalg.norm(A @ X - B) <= 1e-12 * linalg.norm(A) * linalg.norm(X)
    for transposed in (False, True):
        expected = linalg.solve_triangular(R, B, trans=int(transposed))
        np.testing.assert_allclose(solve_upper(R, B, transposed=transposed), expected, rtol=1e-9)


@pytest.mark.parametrize("n", [40, 1000])
@pytest.mark.parametrize("at", [0, 0.3, 0.6, 1.0])
def test_first_minor_that_is_not_positive_is_named(n, at):
    k = round(at * (n - 1))
    A = positive_definite(n)
    A[k, k] = -1.0
    assert cholesky(A) == k + 1


def test_not_a_number_is_not_positive():
    A = positive_definite(600)
    A[400, 400] = np.nan
    assert cholesky(A) == 401


@pytest.mark.parametrize(
    "A",
    [
        np.eye(4, dtype=np.float32, order="F"),
        np.arange(16.0).reshape(4, 4),
        np.zeros((4, 5), order="F"),
        np.eye(4)[:0],
    ],
)
def test_other_layouts_are_refused(A):
    with pytest.raises(ValueError, match=r"Fortran order|square"):
        cholesky(A)


def test_read_only_is_refused():
    A = np.asfortranarray(np.eye(3))
    A.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        cholesky(A)
