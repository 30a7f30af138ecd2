r"""Least squares with nearly dependent columns: which directions are left out, and an accurate
solution along the others.

A direction d of the coefficients is left out if rounding of the columns could explain its effect on
the rows,

    ‖Xd‖ ≤ 4·eps·‖|X||d|‖        X with the constant column, eps of the data's float type,

and is used otherwise. Products that cancel are computed in long double.

The remaining columns are orthonormalised iteratively: with [X 1]D = A nearly orthonormal,

    c = argmin ‖r − Ac‖²,   (w, b) ← (w, b) + Dc,   r = y − Xw − b

and D is corrected by the singular values of A until A is orthonormal to a digit or two. The error
of each step is small relative to the step, whatever the condition of X.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import Aliases, Scaled, data_eps, rank_noise
from ..linalg.gram import NonFiniteError

LEFT_OUT_ROUNDINGS = 4.0  # ‖Xd‖/(eps·‖|X||d|‖) up to which a direction is left out
DOUBTFUL_NOISE_FACTOR = 4.0  # directions of singular values below 4 times their noise are tested
PIVOT_SHARE = 1e-3  # relative to the largest coefficient: smaller pivots may be rounding
MAX_DENOMINATOR = 24  # of fractions tried as coefficients
FRACTION_RTOL = 1e-5  # between a coefficient and a fraction
MAX_NAMED_COLUMNS = 5  # repeated columns that a warning spells out
MAX_STEPS = 6
MAX_WIDE_WORK = 2**28  # rows × columns² in long double: a few seconds
MIN_GAIN_SHARE = 1e-15  # of Σ s y²: a step that gains less is the last


class LeftOutDirections(NamedTuple):
    """Directions left out, in the user's units, and the columns that are used."""

    keep: np.ndarray  # columns whose coefficients are found by least squares
    columns: np.ndarray  # (m,): column j of direction t has coefficient 1 there and 0 in the others
    D: np.ndarray  # (p, m)

    def aliases(self, problem: Scaled) -> Aliases | None:
        """Repeated columns as x_j = Σ c_i x_i; a constant column has no coefficients."""
        if len(self.columns) == 0:
            return None
        coef = -self.D[np.ix_(self.keep, np.arange(len(self.columns[:MAX_NAMED_COLUMNS])))]
        coef[:, problem.norm[self.columns[:MAX_NAMED_COLUMNS]] == 0] = 0.0
        return Aliases(self.columns, self.keep, coef)


def left_out(rows: Rows, problem: Scaled, sigma: np.ndarray, Vt: np.ndarray) -> LeftOutDirections:
    """Directions left out by the rule above, from the SVD of all scaled columns (p ≤ n)."""
    p = Vt.shape[1]
    doubtful = sigma <= DOUBTFUL_NOISE_FACTOR * rank_noise(sigma, Vt, problem, rows)
    constant = np.flatnonzero(problem.norm == 0)
    if np.count_nonzero(doubtful) == len(constant):
        return LeftOutDirections(np.flatnonzero(problem.norm), constant, np.eye(p)[:, constant])
    N, pivots = _echelon(_sharpened(rows, problem, sigma, Vt, doubtful))
    N = problem.unscale[:, None] * N
    N /= N[pivots, np.arange(len(pivots))]
    weight = 1 / problem.unscale
    tried = [_in_fractions(N, weight), N]
    out = np.zeros(len(pivots), dtype=bool)
    D = N.copy()
    for directions in tried:
        left = np.flatnonzero(~out)
        good = left[_negligible(rows, problem, directions[:, left])]
        D[:, good] = directions[:, good]
        out[good] = True
    order = np.argsort(np.asarray(pivots)[out])
    columns = np.asarray(pivots, dtype=np.intp)[out][order]
    return LeftOutDirections(np.setdiff1d(np.arange(p), columns), columns, D[:, out][:, order])


def _sharpened(
    rows: Rows, problem: Scaled, sigma: np.ndarray, Vt: np.ndarray, doubtful: np.ndarray
) -> np.ndarray:
    """Doubtful singular vectors N without the components along the others that rounding has mixed
    in: N − VΣ⁻²Vᵀ(X̃ᵀX̃N)."""
    N, V, s = Vt[doubtful].T, Vt[~doubtful].T, sigma[~doubtful]
    with np.errstate(over="ignore", invalid="ignore"):
        D = problem.unscale[:, None] * N
        constant = -(problem.mean @ D) if problem.centered else np.zeros(D.shape[1])
        (h,) = rows.reduce(_transposed_times_effect, np.vstack([D, constant]), problem.mean)
        h = problem.unscale[:, None] * h
        sharpened: np.ndarray = N - V @ ((V.T @ h) / s[:, None] ** 2)
    if not np.isfinite(sharpened).all():
        raise NonFiniteError
    return sharpened


def _transposed_times_effect(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, D: np.ndarray, mean: np.ndarray
) -> tuple[Any]:
    change = _wide(X, D).astype(float)
    return (np.subtract(X, mean, dtype=float).T @ (change if s is None else s[:, None] * change),)


def _echelon(N: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Basis of the same span in which each vector has a 1 where the others have 0. Pivots are taken
    from the last column backwards, so that of repeated columns the first is kept."""
    N, pivots = N.copy(), list[int]()
    for t in range(N.shape[1]):
        size = np.abs(N[:, t:]).max(axis=1)
        size[pivots] = 0.0
        j = int(np.flatnonzero(size > PIVOT_SHARE * size.max())[-1])
        k = t + int(np.argmax(np.abs(N[j, t:])))
        N[:, [t, k]] = N[:, [k, t]]
        N[:, t] /= N[j, t]
        others = np.arange(N.shape[1]) != t
        N[:, others] -= np.multiply.outer(N[:, t], N[j, others])
        N[j, others] = 0.0
        pivots.append(j)
    return N, pivots


def _in_fractions(N: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Round coefficients to nearby fractions of small denominator, and negligible ones to 0."""
    size = np.abs(N) * weight[:, None]
    out = np.where(size > FRACTION_RTOL * size.max(axis=0), N, 0.0)
    assigned = out == 0
    for denominator in range(1, MAX_DENOMINATOR + 1):
        fraction = np.round(N * denominator) / denominator
        is_near = ~assigned & (np.abs(fraction - N) <= FRACTION_RTOL * np.abs(N))
        out, assigned = np.where(is_near, fraction, out), assigned | is_near
    return out


def _negligible(rows: Rows, problem: Scaled, D: np.ndarray) -> np.ndarray:
    """Mask of the directions that the rule leaves out, with the constant's coefficient that
    minimises ‖Xd‖."""
    constant = np.zeros(D.shape[1])
    if problem.centered:
        constant = -(problem.mean @ D)
        D_all = np.vstack([D, constant])
        (mean,) = rows.reduce(_mean_block, D_all)
        constant = constant - (mean / problem.sums.S).astype(float)
    square, size = rows.reduce(_effect_block, np.vstack([D, constant]))
    limit = LEFT_OUT_ROUNDINGS * data_eps(rows) * np.sqrt(size)
    negligible: np.ndarray = np.sqrt(square).astype(float) <= limit
    return negligible


def _wide(X: np.ndarray, D: np.ndarray) -> Any:
    """[X 1]D in long double."""
    used = np.flatnonzero(D[:-1].any(axis=1))
    D = D.astype(np.longdouble)
    return X[:, used].astype(np.longdouble) @ D[used] + D[-1]


def _mean_block(X: np.ndarray, y: np.ndarray, s: np.ndarray | None, D: np.ndarray) -> tuple[Any]:
    change = _wide(X, D)
    return ((change if s is None else s[:, None] * change).sum(axis=0),)


def _effect_block(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, D: np.ndarray
) -> tuple[Any, Any]:
    """‖Xd‖² and ‖|X||d|‖² over the rows of positive weight."""
    X = X if s is None else X[s > 0]
    change = _wide(X, D)
    size = np.abs(X).astype(float) @ np.abs(D[:-1]) + np.abs(D[-1])
    return (change * change).sum(axis=0), (size * size).sum(axis=0)


def solve_accurately(
    rows: Rows, problem: Scaled, keep: np.ndarray, sigma: np.ndarray, Vt: np.ndarray,
    w: np.ndarray, b: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """(w, b) in the user's units, from an initial guess and the SVD of the columns in ``keep``."""
    p, start = len(w), int(problem.centered)
    D = np.zeros((p + 1, len(keep)))
    D[keep] = Vt.T / sigma * problem.unscale[keep, None]
    if start:
        D[-1] = -(problem.mean @ D[:p])
    theta = np.vstack([w, b]).astype(np.longdouble)
    best, least = theta, np.full(w.shape[1], np.inf)
    for _ in range(MAX_STEPS):
        T, Srr = rows.reduce(_orthonormal_block, D, theta, start, combine=_merge_triangles,
                             square=True)  # fmt: skip
        if not np.isfinite(T).all():
            break
        better = Srr < least
        if not better.any():
            break
        best = np.where(better, theta, best)
        least = np.minimum(Srr, least)
        m = start + len(keep)
        R, z = T[:m, :m], T[:m, m:]
        norm = np.linalg.norm(R, axis=0)
        U, size, Wt = np.linalg.svd(R / norm)
        if not size[-1] > 0:
            break
        c = (Wt.T @ ((U.T @ z) / size[:, None])) / norm[:, None]
        gain = (z * z).sum(axis=0)
        step = np.vstack([D @ c[start:]])
        if start:
            step[-1] += c[0]
        theta = np.where(gain > 0, theta + step, theta)
        if (gain <= MIN_GAIN_SHARE * np.maximum(problem.sums.yy, 0.0)).all():
            best = np.where(Srr <= least, theta, best)
            break
        inner = R[start:, start:]
        _, size, Wt = np.linalg.svd(inner)
        if not size[-1] > 0:
            break
        if start:
            D[-1] -= R[0, 1:] / R[0, 0]
        D = D @ (Wt.T / size)
    theta = best.astype(float)
    return theta[:-1], theta[-1]


def _orthonormal_block(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, D: np.ndarray, theta: np.ndarray, start: int
) -> tuple[Any, Any]:
    """R of √s∘[1 A r], and Σ s r²."""
    r = (y - _wide(X, theta)).astype(float)
    A = np.hstack([np.ones((len(r), 1)), _wide(X, D).astype(float), r])[:, 1 - start :]
    if s is not None:
        A *= np.sqrt(s)[:, None]
    residuals = A[:, len(A[0]) - r.shape[1] :]
    return np.linalg.qr(A, mode="r"), (residuals * residuals).sum(axis=0)


def _merge_triangles(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"), left[1] + right[1]


def least_norm_of(out: LeftOutDirections, problem: Scaled, w: np.ndarray, b: np.ndarray) -> Any:
    """Move (w, b) along the directions left out to the least ‖w‖."""
    if len(out.columns) == 0:
        return w, b
    t = np.linalg.lstsq(out.D, w, rcond=None)[0]
    return w - out.D @ t, b + (problem.mean @ (out.D @ t) if problem.centered else 0.0)
