r"""Least squares with nearly dependent columns, in twice the working precision.

With T = D⁻¹VΣ⁻¹ from the singular values of the scaled columns, A = X̃T has nearly orthonormal
columns. They and the residuals are computed in twice the working precision
(``accurate_products``), so that with √s∘[1 A] = QR and g = [1 A]ᵀ(s∘r)

    f − f* ≤ ‖R⁻ᵀg‖² / (1 − δ/σ_min(R))²,      δ, the rounding of A, small relative to σ_min(R) ≈ 1.

Negligible directions (``negligible_directions``) may be left out: one coefficient of each is fixed.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.least_squares._problem import ColumnFactor, SquaresProblem
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import negligible_in_span

WEAK_SINGULAR_FACTOR = 8.0  # times δ: smaller singular values are not resolved
CANDIDATE_ROUNDINGS = 16.0  # times eps·‖|X||d|‖: a larger σ is certainly not negligible
MAX_CONDITION = 4.0  # of A, above which its columns are orthonormalised once more
MAX_TURNS = 4
MAX_CANDIDATE_WORK = 2**28  # rows × columns × directions tested for negligibility


class AccurateExcess(NamedTuple):
    """Objective and excess of least squares (α = 0), computed in twice the working precision."""

    excess: np.ndarray  # (k,): bound of f − f*, rounding included
    evaluation: np.ndarray  # (k,): bound of |f̂ − f|
    objective: np.ndarray  # (k,)
    step: np.ndarray  # (p, k), as viewed
    coef_error: np.ndarray  # (k,): bound of ‖w − w*‖
    nominal_excess: np.ndarray  # (k,): the excess, if nothing had been rounded


def excess_of_nearly_dependent(
    problem: SquaresProblem, factor: ColumnFactor, keep: np.ndarray, w: np.ndarray, b: np.ndarray
) -> AccurateExcess | None:
    """Excess along the columns ``keep`` at w (p, k) and b (k,) in the user's units; None if they
    are too nearly dependent even for this precision."""
    p, start = len(w), int(problem.fit_intercept)
    sigma, V, _ = factor.of(keep)
    if len(keep) == 0 or len(sigma) < len(keep) or not (sigma > 0).all():
        return None
    D = np.zeros((p + 1, len(keep)))  # of columns and the constant: [X 1]D = A
    D[keep] = V / sigma * (problem.q / factor.scale)[keep, None]
    if problem.fit_intercept:
        D[-1] = -problem.user_mean @ D[:p]
    theta = np.vstack([w, b])
    for _ in range(MAX_TURNS):
        if not np.isfinite(D).all():
            return None
        sums = AccurateSums(
            *problem.data.reduce(
                accurate_sums, D, theta, start, combine=merge_accurate_sums, square=True
            )
        )
        R = sums.R[start:, start:]
        if not np.isfinite(sums.R).all() or len(R) < len(keep):
            return None
        _, size, Wt = np.linalg.svd(R)
        offset = sums.R[0, 1:] / sums.R[0, 0] if start else np.zeros(len(keep))
        centered = np.linalg.norm(sums.R[:start, start:], axis=0) <= MAX_CONDITION * size[-1]
        if size[0] <= MAX_CONDITION * size[-1] and centered.all():
            return bound_excess(problem, keep, D, sums)
        if not size[-1] > 0:
            return None
        D[-1] -= offset
        D = D @ (Wt.T / size)
    return None


class AccurateSums(NamedTuple):
    """Weighted sums over rows of A and of r = y − Xw − b, both in twice the working precision."""

    R: np.ndarray  # of √s∘[1 A] = QR
    Srr: np.ndarray  # Σ s r²                    (k,)
    g: np.ndarray  # [1 A]ᵀ(s∘r)                 (m, k)
    AA: np.ndarray  # Σ s (|x|ᵀ|D|)²             (columns of A,)
    rr: np.ndarray  # Σ s (|x|ᵀ|w| + |b| + |y|)² (k,)


def accurate_sums(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, D: np.ndarray, theta: np.ndarray, start: int
) -> tuple[Any, ...]:
    if s is not None:
        X, y, s = X[s > 0], y[s > 0], s[s > 0]
    X = np.hstack([dense(X).astype(float), np.ones((len(y), 1))])
    root = np.ones((len(y), 1)) if s is None else np.sqrt(s)[:, None]
    A, A_size = root * sum(accurate_product(X, D)), root * (np.abs(X) @ np.abs(D))
    r, r_size = np.empty((2, *y.shape))
    for t in range(y.shape[1]):  # y is one more column, with the coefficient 1
        Z, minus = np.hstack([X, y[:, [t]]]), np.append(-theta[:, t], 1.0)[:, None]
        r[:, [t]] = root * sum(accurate_product(Z, minus))
        r_size[:, [t]] = root * (np.abs(Z) @ np.abs(minus))
    A = np.hstack([root, A])[:, 1 - start :]
    squares = [(v * v).sum(axis=0) for v in (r, A_size, r_size)]
    return np.linalg.qr(A, mode="r"), squares[0], A.T @ r, squares[1], squares[2]


def merge_accurate_sums(left: np.ndarray, right: np.ndarray) -> tuple[Any, ...]:
    R = np.linalg.qr(np.vstack([left[0], right[0]]), mode="r")
    return R, *(a + b for a, b in zip(left[1:], right[1:], strict=True))


def bound_excess(
    problem: SquaresProblem, keep: np.ndarray, D: np.ndarray, sums: AccurateSums
) -> AccurateExcess | None:
    (p, k), m = problem.w.shape, len(sums.R)
    start, depth = int(problem.fit_intercept), gamma(problem.data.depth + 8)
    norm = np.linalg.norm(sums.R, axis=0)
    _, sigma, Wt = np.linalg.svd(sums.R / norm)
    # √s, A and their product are rounded; A also has an error of its own
    share = product_error(p + 2) * np.sqrt(sums.AA) / norm[start:]
    A_error = float(np.linalg.norm(share)) + 4 * UNIT * np.sqrt(m)
    delta = A_error + 2 * UNIT * max(m, 64) * sigma[0]
    if not delta < sigma[-1] / 2:
        return None
    rss = np.sqrt(sums.Srr) * (1 + depth)
    r_error = product_error(p + 2) * np.sqrt(sums.rr) + 4 * UNIT * rss
    g = Wt @ (sums.g / norm[:, None]) / sigma[:, None]
    g_error = (np.sqrt(m) * depth + A_error) * (rss + r_error) / sigma[-1]
    far = (np.linalg.norm(g, axis=0) + g_error) / (1 - delta / sigma[-1]) + r_error
    c = Wt.T @ (g / sigma[:, None]) / norm[:, None]
    step = np.zeros((p, k))
    step[keep] = D[keep] @ c[start:] / problem.q[keep, None]
    # w* − w = D c*, and norm∘c* is no longer than far/(σ_min − δ)
    reach = np.linalg.norm(D[keep] / norm[start:], axis=1).max(initial=0.0)
    evaluation = (2 * rss + r_error) * r_error + 2 * depth * sums.Srr
    coef_error, nominal_excess = reach * far / (sigma[-1] - delta), (g * g).sum(axis=0)
    return AccurateExcess(far**2, evaluation, sums.Srr, step, coef_error, nominal_excess)


def negligible_columns(
    problem: SquaresProblem, factor: ColumnFactor, among: np.ndarray
) -> tuple[Any, list[Any]] | None:
    """Split the columns ``among``: those retained, and the negligible directions left out; None if
    there are too many candidates."""
    data, m, mean = problem.data, len(among), problem.user_mean
    sigma, V, delta = factor.of(among)
    n_singular, Vt = len(sigma), V.T
    # no negligible direction has a σ above this
    size = np.hypot(problem.norm / problem.q, np.sqrt(problem.sums.S) * mean)
    unscale = problem.q / factor.scale
    raw = np.abs(Vt) @ (size * unscale)[among]
    weak = np.ones(m, dtype=bool)
    weak[:n_singular] = sigma <= np.maximum(
        WEAK_SINGULAR_FACTOR * delta, CANDIDATE_ROUNDINGS * data.eps * raw
    )
    count = int(weak.sum())
    if count == 0:
        return among, []
    if data.shape[0] * m * count > MAX_CANDIDATE_WORK:
        return None
    if n_singular < m:
        Vt = np.linalg.svd(factor.R[:, among], full_matrices=True)[2]
    N, V, s = np.zeros((len(size) + 1, count)), Vt[~weak].T, sigma[~weak[:n_singular]]
    N[among] = unscale[among, None] * Vt[weak].T
    N[-1] = -mean @ N[:-1]
    # rounding has mixed other singular vectors into these: remove their components
    (h,) = data.reduce(transposed_times_effect, N, mean)
    mixed = V @ ((V.T @ (unscale[:, None] * h)[among]) / s[:, None] ** 2)
    N[among] -= unscale[among, None] * mixed
    N[-1] = -mean @ N[:-1]
    constant = None
    if problem.fit_intercept:
        size, constant = np.append(size, np.sqrt(problem.sums.S)), 1.0
    else:
        N = N[:-1]
    # a column of zeros has no size
    left_out = negligible_in_span(data, N, np.where(size > 0, size, 1.0), constant)
    return np.setdiff1d(among, [direction.pivot for direction in left_out]), left_out


def transposed_times_effect(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, D: np.ndarray, mean: np.ndarray
) -> tuple[Any]:
    """X̃ᵀ(s∘[X 1]D) of one block, in the user's units."""
    X = dense(X).astype(float, copy=False)
    change = sum(accurate_product(np.hstack([X, np.ones((len(X), 1))]), D))
    return (np.dot((X - mean).T, change if s is None else s[:, None] * change),)
