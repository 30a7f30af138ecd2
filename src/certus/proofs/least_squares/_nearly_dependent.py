r"""Least squares whose columns nearly depend on each other, in twice the digits.

With T = D⁻¹VΣ⁻¹ from the singular values of the scaled columns, A = X̃T has nearly orthonormal
columns. They are computed in twice the digits (``accurate_products``), and so are the residuals, so
that with √s∘[1 A] = QR and g = [1 A]ᵀ(s∘r)

    f − f* ≤ ‖R⁻ᵀg‖² / (1 − δ/σ_min(R))²,       δ, the rounding of A, small beside σ_min(R) ≈ 1.

Directions that are negligible by the one rule for them (``negligible_directions``) may be left out:
one coefficient of each is held where it is.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.least_squares._problem import Factor, SquaresProblem
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import negligible_in_span

WEAK = 8.0  # times δ, up to which a singular value is not known
CANDIDATE = 16.0  # times eps·‖|X||d|‖, above which σ is certainly not negligible
CONDITION = 4.0  # of A, above which its columns are made orthonormal once more
TURNS = 4
CANDIDATE_WORK = 2**28  # rows × columns × directions that are looked at for the rule


class Careful(NamedTuple):
    """Objective and excess of least squares (α = 0), computed in twice the digits."""

    excess: np.ndarray  # (k,): f − f* at most, rounding included
    evaluation: np.ndarray  # (k,): |f̂ − f| at most
    objective: np.ndarray  # (k,)
    step: np.ndarray  # (p, k), as viewed
    coef_error: np.ndarray  # (k,): ‖w − w*‖ at most
    seen: np.ndarray  # (k,): the excess, if nothing had been rounded


def of_nearly_dependent_columns(
    problem: SquaresProblem, factor: Factor, keep: np.ndarray, w: np.ndarray, b: np.ndarray
) -> Careful | None:
    """For those columns, of w (p, k) and b (k,) in the user's units; None where they are too nearly
    dependent even so."""
    p, start = len(w), int(problem.fit_intercept)
    sigma, V, _ = factor.of(keep)
    if len(keep) == 0 or len(sigma) < len(keep) or not (sigma > 0).all():
        return None
    D = np.zeros((p + 1, len(keep)))  # of columns and the constant: [X 1]D = A
    D[keep] = V / sigma * (problem.q / factor.scale)[keep, None]
    if problem.fit_intercept:
        D[-1] = -problem.user_mean @ D[:p]
    theta = np.vstack([w, b])
    for _ in range(TURNS):
        if not np.isfinite(D).all():
            return None
        sums = Nearly(
            *problem.data.reduce(nearly_sums, D, theta, start, combine=nearly_merge, square=True)
        )
        R = sums.R[start:, start:]
        if not np.isfinite(sums.R).all() or len(R) < len(keep):
            return None
        _, size, Wt = np.linalg.svd(R)
        offset = sums.R[0, 1:] / sums.R[0, 0] if start else np.zeros(len(keep))
        centred = np.linalg.norm(sums.R[:start, start:], axis=0) <= CONDITION * size[-1]
        if size[0] <= CONDITION * size[-1] and centred.all():
            return nearly_bound(problem, keep, D, sums)
        if not size[-1] > 0:
            return None
        D[-1] -= offset
        D = D @ (Wt.T / size)
    return None


class Nearly(NamedTuple):
    """Sums over rows, with weights s, of A and of r = y − Xw − b, both in twice the digits."""

    R: np.ndarray  # of √s∘[1 A] = QR
    Srr: np.ndarray  # Σ s r²                    (k,)
    g: np.ndarray  # [1 A]ᵀ(s∘r)                 (m, k)
    AA: np.ndarray  # Σ s (|x|ᵀ|D|)²             (columns of A,)
    rr: np.ndarray  # Σ s (|x|ᵀ|w| + |b| + |y|)² (k,)


def nearly_sums(
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


def nearly_merge(left: np.ndarray, right: np.ndarray) -> tuple[Any, ...]:
    R = np.linalg.qr(np.vstack([left[0], right[0]]), mode="r")
    return R, *(a + b for a, b in zip(left[1:], right[1:], strict=True))


def nearly_bound(
    problem: SquaresProblem, keep: np.ndarray, D: np.ndarray, sums: Nearly
) -> Careful | None:
    (p, k), m = problem.w.shape, len(sums.R)
    start, depth = int(problem.fit_intercept), gamma(problem.data.depth + 8)
    norm = np.linalg.norm(sums.R, axis=0)
    _, sigma, Wt = np.linalg.svd(sums.R / norm)
    # √s, A and their product are rounded; A has its own error besides
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
    coef_error, seen = reach * far / (sigma[-1] - delta), (g * g).sum(axis=0)
    return Careful(far**2, evaluation, sums.Srr, step, coef_error, seen)


def negligible_columns(
    problem: SquaresProblem, factor: Factor, among: np.ndarray
) -> tuple[Any, list[Any]] | None:
    """(columns that are kept, directions that are left out) by the rule, of those columns; None:
    too many to ask."""
    data, m, mean = problem.data, len(among), problem.user_mean
    sigma, V, delta = factor.of(among)
    few, Vt = len(sigma), V.T
    # no direction that the rule allows to leave out has a σ above this
    size = np.hypot(problem.norm / problem.q, np.sqrt(problem.sums.S) * mean)
    unscale = problem.q / factor.scale
    raw = np.abs(Vt) @ (size * unscale)[among]
    weak = np.ones(m, dtype=bool)
    weak[:few] = sigma <= np.maximum(WEAK * delta, CANDIDATE * data.eps * raw)
    count = int(weak.sum())
    if count == 0:
        return among, []
    if data.shape[0] * m * count > CANDIDATE_WORK:
        return None
    if few < m:
        Vt = np.linalg.svd(factor.R[:, among], full_matrices=True)[2]
    N, V, s = np.zeros((len(size) + 1, count)), Vt[~weak].T, sigma[~weak[:few]]
    N[among] = unscale[among, None] * Vt[weak].T
    N[-1] = -mean @ N[:-1]
    # singular vectors are rounded: what is mixed in of the others is taken away
    (h,) = data.reduce(transposed_times_effect, N, mean)
    mixed = V @ ((V.T @ (unscale[:, None] * h)[among]) / s[:, None] ** 2)
    N[among] -= unscale[among, None] * mixed
    N[-1] = -mean @ N[:-1]
    constant = None
    if problem.fit_intercept:
        size, constant = np.append(size, np.sqrt(problem.sums.S)), 1.0
    else:
        N = N[:-1]
    # a column of zeros has no size of its own
    found = negligible_in_span(data, N, np.where(size > 0, size, 1.0), constant)
    return np.setdiff1d(among, [one.pivot for one in found]), found


def transposed_times_effect(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, D: np.ndarray, mean: np.ndarray
) -> tuple[Any]:
    """X̃ᵀ(s∘[X 1]D) of one block, in the user's units."""
    X = dense(X).astype(float, copy=False)
    change = sum(accurate_product(np.hstack([X, np.ones((len(X), 1))]), D))
    return (np.dot((X - mean).T, change if s is None else s[:, None] * change),)
