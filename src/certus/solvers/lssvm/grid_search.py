"""Exact leave-one-out over a grid of kernels and C, without refitting.

    RKR = QTQᵀ, T tridiagonal:   H⁻¹ = Q (T + I/C)⁻¹ Qᵀ  for every C

After one reduction for each kernel, η, ν and the diagonal of H⁻¹ take n² operations for each C
(``tridiagonal.py``; leave-one-out in ``dual.py``).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...data.memory import available_memory
from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .dual import (
    centered_if_linear,
    left_out_scores,
    leverage,
    shift_intercept,
    solve,
    split_intercept,
    used_rows,
)
from .kernel import Kernel
from .tiles import predict, weighted_gram
from .tridiagonal import Eigenvectors, Tridiagonal

# At 500 to 3,000 rows a reduction took 3 to 5 times as long as a factorisation with leave-one-out.
MIN_REDUCTION_CS = 5  # with fewer values of C, one factorisation for each is faster
MAX_REDUCTION_ROWS = 4000  # likewise above: a reduction runs on one thread and is memory-bound
MIN_RIDGE_TO_TRACE = 1e-12  # 1/C over the trace; above, T + I/C is definite despite rounding

Score = Callable[[np.ndarray], float]


class GridPoint(NamedTuple):
    """The scores of left-out rows and the fit of all rows, for one kernel and one C."""

    left_out: np.ndarray  # (n, q): f of each row by the fit without it
    beta: np.ndarray  # (n, q)
    b: np.ndarray  # (q,)


OnPoint = Callable[[int, int, float, GridPoint], None]  # index of kernel, of C, score, point


def grid(
    X: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    Cs: Sequence[float],
    kernels: Sequence[Kernel],
    fit_intercept: bool = True,
    score: Score | None = None,
    threads: int | None = None,
    on_point: OnPoint | None = None,
) -> np.ndarray:
    """Return f of each row by the fit without it, (kernels, Cs, n, q).

    With ``score``, return (kernels, Cs) of score((n, q)) instead. Threads may call ``score`` and
    ``on_point`` concurrently. Memory: one n × n matrix for each thread (three for kernels that may
    be indefinite).
    """
    y, used = np.asarray(y, dtype=np.float64), omega > 0
    if not used.any():
        raise ValueError("all rows have weight 0: give at least one row a positive weight")
    shape = len(kernels), len(Cs)
    results = np.empty(shape if score else (*shape, *y.shape))
    problem = X, y, omega
    separately = used.sum() > MAX_REDUCTION_ROWS or len(Cs) < MIN_REDUCTION_CS
    method = _by_factorization if separately else _by_reduction

    def evaluate(k: int) -> None:
        for c, point in enumerate(method(*problem, Cs, kernels[k], fit_intercept, threads)):
            results[k, c] = score(point.left_out) if score else point.left_out
            if score and on_point:
                on_point(k, c, float(results[k, c]), point)

    with blas_limiter:
        concurrent = (
            1
            if separately
            else _concurrent_kernels(len(y), kernels, threads or effective_threads())
        )
        run_on_threads(evaluate, len(kernels), concurrent)
    return results


def _concurrent_kernels(n: int, kernels: Sequence[Kernel], threads: int) -> int:
    """Return how many kernels fit into memory at once; 1 if one is a user's function."""
    if any(callable(kernel.name) for kernel in kernels):
        return 1
    free = available_memory() or 0
    return max(1, min(threads, free // max(1, 3 * 8 * n * n)))


def _by_factorization(
    X: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    Cs: Sequence[float],
    kernel: Kernel,
    fit_intercept: bool,
    threads: int | None,
) -> Any:
    for C in Cs:
        fit = solve(X, y, omega, C, kernel, fit_intercept, True, threads)
        assert fit.left_out is not None
        yield GridPoint(fit.left_out, fit.beta, fit.b)


def _by_reduction(
    X: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    Cs: Sequence[float],
    kernel: Kernel,
    fit_intercept: bool,
    threads: int | None,
) -> Any:
    used = omega > 0
    r, Y = np.sqrt(omega[used]), y[used]
    rows, origin = centered_if_linear(used_rows(X, kernel, used), kernel, fit_intercept)
    diagonal = kernel.diagonal(rows)
    A = weighted_gram(kernel.between(rows, rows), diagonal, r, 0.0, 1)
    is_definite = (
        kernel.semidefinite and len(r) > 1 and 1 / max(Cs) > MIN_RIDGE_TO_TRACE * (diagonal @ r**2)
    )
    reduced = Tridiagonal(A) if is_definite else Eigenvectors(A, kernel.semidefinite)
    inverses, solved = reduced.inverses(Cs, np.column_stack([r[:, None] * Y, r]))
    for inverse, part in zip(inverses, solved, strict=True):
        eta = part[:, -1]
        a, b = split_intercept(part[:, :-1], eta, r, fit_intercept)
        g = leverage(inverse, eta, r, fit_intercept)
        values = np.empty_like(y)
        values[used] = left_out_scores(Y, a, r, g)
        beta = np.zeros_like(y)
        beta[used] = r[:, None] * a
        b = shift_intercept(b, origin, beta[used], rows)
        if not used.all():
            values[~used] = predict(X[~used], X, beta, b, kernel, 1)
        yield GridPoint(values, beta, b)
