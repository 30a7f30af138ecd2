r"""C-SVC by an interior-point method, whose number of steps hardly depends on the scale of K or C.

    minimise ½βᵀKβ − yᵀβ,   Σβ = 0,   0 ≤ α ≤ C,   α = β∘y

    y f = 1 + z − v,  f = Kβ + b        z, v ≥ 0: multipliers of α ≥ 0 and α ≤ C
    α∘z = (C − α)∘v = σμ                and σμ → 0

Mehrotra's predictor and corrector share one Cholesky factor of K + D, D = diag(z/α + v/(C − α)). K
must be positive semidefinite. The last digits are left to ``svc_polish``.
"""

from functools import partial

import numpy as np

from ..linalg.cholesky import cholesky, cholesky_solve

MAX_STEPS = 80  # 15 to 40 are usual
GAP_TOL = 1e-11  # relative to the objective: below it the gap is rounding
BOUNDARY_FRACTION = 0.995  # share of the way to the boundary that a step may go
MIN_RIDGE = 1e-14  # relative to K's diagonal: keeps K + D definite where rounding made K indefinite
MAX_RIDGE = 1e-8  # a larger ridge is more than rounding: K is indefinite


def interior_point(
    K: np.ndarray, y: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, float] | None:
    """Return β and b for bounds C_i = ``upper`` > 0, y = ±1, K (n, n); None: K is not semidefinite.

    β is exactly 0 or ±C where its multiplier shows that it is at a bound.
    """
    diagonal = np.diagonal(K)
    unit = 1.0 / max(float(diagonal.mean()), np.finfo(float).tiny)  # changes f by about 1
    alpha = np.minimum(upper / 2, unit)
    s = upper - alpha  # updated separately: its digits are lost in most − α
    z, v, b = np.ones_like(y), np.ones_like(y), 0.0
    largest = float(np.abs(diagonal).max())
    floor, moved = MIN_RIDGE * largest, False
    best: tuple[float, np.ndarray, float] | None = None
    for _ in range(MAX_STEPS):
        Kbeta = K @ (y * alpha)
        dual = y * (Kbeta + b) - 1 - z + v
        primal = float(y @ alpha)
        gap = float(alpha @ z + s @ v)
        mu = gap / (2 * len(y))
        quadratic = float((y * alpha) @ Kbeta)
        size = abs(float(alpha.sum()) - quadratic / 2) + quadratic / 2
        error = gap + float(np.abs(dual) @ np.minimum(upper, alpha + unit))
        if best is None or error < best[0]:
            best = error, *_at_bounds(y, alpha, s, z, v, upper, b)
        if error <= GAP_TOL * size:
            break
        A = np.array(K, order="F")
        A[np.diag_indices_from(A)] += z / alpha + v / s + floor
        if cholesky(A) != 0:
            floor *= 100
            if floor <= MAX_RIDGE * largest:
                continue
            if not moved:
                return None
            break
        ones = cholesky_solve(A, np.ones((len(y), 1)))[:, 0]
        direction = partial(_direction, A, ones, y, alpha, s, z, v, dual, primal)
        zeros = np.zeros_like(y)
        d, dz, dv, _db = direction(zeros, zeros)
        t = min(_max_step(alpha, d), _max_step(s, -d))
        r = min(_max_step(z, dz), _max_step(v, dv))
        after = float((alpha + t * d) @ (z + r * dz) + (s - t * d) @ (v + r * dv))
        target = mu * min(1.0, after / gap) ** 3
        d, dz, dv, db = direction(target - d * dz, target + d * dv)
        t = min(_max_step(alpha, d), _max_step(s, -d), _max_step(z, dz), _max_step(v, dv))
        if not (np.isfinite(t) and t > 1e-12):
            break
        alpha, s, z, v = alpha + t * d, s - t * d, z + t * dz, v + t * dv
        b, moved = b + t * db, True
    assert best is not None
    return best[1:]


def _direction(
    R: np.ndarray, ones: np.ndarray, y: np.ndarray, alpha: np.ndarray, s: np.ndarray,
    z: np.ndarray, v: np.ndarray, dual: np.ndarray, primal: float,
    to_z: np.ndarray, to_v: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:  # fmt: skip
    """Return Newton's changes of α, z, v and b.

    R: factor of K + D; ``ones``: (K + D)⁻¹1; ``to_z``, ``to_v``: targets of α∘z and s∘v, minus
    second-order terms.
    """
    rhs = -dual + to_z / alpha - z - to_v / s + v
    u = cholesky_solve(R, (y * rhs)[:, None])[:, 0]
    db = float((u.sum() + primal) / ones.sum())
    d = y * (u - db * ones)
    return d, to_z / alpha - z - z / alpha * d, to_v / s - v + v / s * d, db


def _max_step(x: np.ndarray, d: np.ndarray) -> float:
    """Return the longest step, at most 1, after which x > 0."""
    falling = d < 0
    return (
        min(1.0, BOUNDARY_FRACTION * float(np.min(-x[falling] / d[falling])))
        if falling.any()
        else 1.0
    )


def _at_bounds(
    y: np.ndarray, alpha: np.ndarray, s: np.ndarray, z: np.ndarray, v: np.ndarray,
    upper: np.ndarray, b: float,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Return β and b, with α exactly at a bound where the multiplier exceeds the distance to it."""
    mean_alpha = max(float(alpha.mean()), np.finfo(float).tiny)
    at = np.where(z * mean_alpha > alpha, 0.0, alpha)
    return y * np.where(v * mean_alpha > s, upper, at), b
