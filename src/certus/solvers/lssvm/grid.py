"""Exact leave-one-out over a grid of kernels and C, without refitting.

    RKR = QTQᵀ, T tridiagonal:   H⁻¹ = Q (T + I/C)⁻¹ Qᵀ  for every C

One reduction for each kernel gives η, ν and the diagonal of H⁻¹ of all C by n² operations each
(``tridiagonal.py``; leave-one-out in ``dual.py``).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...data.memory import available_memory
from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .dual import leverage, moved_back, rows_kept, solve, split, without_its_row, without_origin
from .kernel import Kernel
from .tiles import predict, weighted_gram
from .tridiagonal import Eigenvectors, Tridiagonal

# At 500 to 3,000 rows a reduction took 3 to 5 times as long as a factorisation with leave-one-out.
FEW = 5  # C below which each is solved for by itself
LARGE = 4000  # … and rows above, as a reduction runs on one thread and waits for memory
SAFE = 1e-12  # 1/C of the trace from which T + I/C is positive definite whatever rounding did

Score = Callable[[np.ndarray], float]


class Point(NamedTuple):
    """One C of one kernel: f of every row when it is left out (n, q), and the fit of all rows."""

    left_out: np.ndarray
    beta: np.ndarray  # (n, q)
    b: np.ndarray  # (q,)


OnPoint = Callable[[int, int, float, Point], None]  # of kernel k and C c, with their score


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
    """(kernels, Cs, n, q): f of every row when it is left out; with ``score``, (kernels, Cs) of
    score((n, q)), which threads may call at once, as they may ``on_point``.

    Memory: one n × n matrix for each thread (three for kernels that may be indefinite).
    """
    y, kept = np.asarray(y, dtype=np.float64), omega > 0
    if not kept.any():
        raise ValueError("all rows have weight 0: give at least one row a positive weight")
    shape = len(kernels), len(Cs)
    found = np.empty(shape if score else (*shape, *y.shape))
    problem = X, y, omega
    alone = kept.sum() > LARGE or len(Cs) < FEW
    way = _one_by_one if alone else _together

    def one(k: int) -> None:
        for c, point in enumerate(way(*problem, Cs, kernels[k], fit_intercept, threads)):
            found[k, c] = score(point.left_out) if score else point.left_out
            if score and on_point:
                on_point(k, c, float(found[k, c]), point)

    with blas_limiter:
        at_once = 1 if alone else _at_once(len(y), kernels, threads or effective_threads())
        run_on_threads(one, len(kernels), at_once)
    return found


def _at_once(n: int, kernels: Sequence[Kernel], threads: int) -> int:
    """Kernels for which there is memory; one if a user's function is among them."""
    if any(callable(kernel.name) for kernel in kernels):
        return 1
    free = available_memory() or 0
    return max(1, min(threads, free // max(1, 3 * 8 * n * n)))


def _one_by_one(
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
        yield Point(fit.left_out, fit.beta, fit.b)


def _together(
    X: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    Cs: Sequence[float],
    kernel: Kernel,
    fit_intercept: bool,
    threads: int | None,
) -> Any:
    kept = omega > 0
    r, Y = np.sqrt(omega[kept]), y[kept]
    rows, origin = without_origin(rows_kept(X, kernel, kept), kernel, fit_intercept)
    diagonal = kernel.diagonal(rows)
    A = weighted_gram(kernel.between(rows, rows), diagonal, r, 0.0, 1)
    safe = kernel.semidefinite and len(r) > 1 and 1 / max(Cs) > SAFE * (diagonal @ r**2)
    reduced = Tridiagonal(A) if safe else Eigenvectors(A, kernel.semidefinite)
    inverses, solved = reduced.inverses(Cs, np.column_stack([r[:, None] * Y, r]))
    for inverse, part in zip(inverses, solved, strict=True):
        eta = part[:, -1]
        a, b = split(part[:, :-1], eta, r, fit_intercept)
        g = leverage(inverse, eta, r, fit_intercept)
        values = np.empty_like(y)
        values[kept] = without_its_row(Y, a, r, g)
        beta = np.zeros_like(y)
        beta[kept] = r[:, None] * a
        b = moved_back(b, origin, beta[kept], rows)
        if not kept.all():
            values[~kept] = predict(X[~kept], X, beta, b, kernel, 1)
        yield Point(values, beta, b)
