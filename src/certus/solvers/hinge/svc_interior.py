r"""C-SVC by an interior-point method: its number of steps hardly depends on the scale of K or C.

    minimise ½βᵀKβ − yᵀβ,   Σβ = 0,   0 ≤ α ≤ C,   α = β∘y

    y f = 1 + z − v,  f = Kβ + b        z, v ≥ 0: multipliers of α ≥ 0 and α ≤ C
    α∘z = (C − α)∘v = σμ                and σμ → 0

Mehrotra's predictor and corrector; the two directions of a step share one Cholesky factor of
K + D, D = diag(z/α + v/(C − α)). K must be positive semidefinite. The last digits are left to
``svc_polish``.
"""

from functools import partial

import numpy as np

from ..linalg.cholesky import cholesky, cholesky_solve

STEPS = 80  # 15 to 40 are usual
CLOSE = 1e-11  # gap, beside the objective, where rounding begins to show
SHORT = 0.995  # of the way to the boundary
RIDGE = 1e-14  # of the diagonal of K: keeps K + D definite where rounding made K indefinite
INDEFINITE = 1e-8  # a ridge that is more than rounding


def interior_point(
    K: np.ndarray, y: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, float] | None:
    """β and b of rows with C_i = most > 0, y = ±1, K (n, n); None: K is not semidefinite.

    β is exactly 0 or ±C where the multiplier says that it is at a bound.
    """
    diagonal = np.diagonal(K)
    unit = 1.0 / max(float(diagonal.mean()), np.finfo(float).tiny)  # f changes by 1
    alpha = np.minimum(most / 2, unit)
    s = most - alpha  # kept beside α: its digits are lost in most − α
    z, v, b = np.ones_like(y), np.ones_like(y), 0.0
    largest = float(np.abs(diagonal).max())
    floor, moved = RIDGE * largest, False
    best: tuple[float, np.ndarray, float] | None = None
    for _ in range(STEPS):
        Kbeta = K @ (y * alpha)
        dual = y * (Kbeta + b) - 1 - z + v
        primal = float(y @ alpha)
        gap = float(alpha @ z + s @ v)
        mu = gap / (2 * len(y))
        quadratic = float((y * alpha) @ Kbeta)
        size = abs(float(alpha.sum()) - quadratic / 2) + quadratic / 2
        wrong = gap + float(np.abs(dual) @ np.minimum(most, alpha + unit))
        if best is None or wrong < best[0]:
            best = wrong, *_at_bounds(y, alpha, s, z, v, most, b)
        if wrong <= CLOSE * size:
            break
        A = np.array(K, order="F")
        A[np.diag_indices_from(A)] += z / alpha + v / s + floor
        if cholesky(A) != 0:
            floor *= 100
            if floor <= INDEFINITE * largest:
                continue
            if not moved:
                return None
            break
        ones = cholesky_solve(A, np.ones((len(y), 1)))[:, 0]
        direction = partial(_direction, A, ones, y, alpha, s, z, v, dual, primal)
        none = np.zeros_like(y)
        d, dz, dv, _db = direction(none, none)
        t = min(_reach(alpha, d), _reach(s, -d))
        r = min(_reach(z, dz), _reach(v, dv))
        after = float((alpha + t * d) @ (z + r * dz) + (s - t * d) @ (v + r * dv))
        aim = mu * min(1.0, after / gap) ** 3
        d, dz, dv, db = direction(aim - d * dz, aim + d * dv)
        t = min(_reach(alpha, d), _reach(s, -d), _reach(z, dz), _reach(v, dv))
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
    """Newton's change of α, z, v and b. R: factor of K + D; ``ones``: (K + D)⁻¹1; ``to_z``,
    ``to_v``: what α∘z and s∘v should become, less second-order terms."""
    right = -dual + to_z / alpha - z - to_v / s + v
    u = cholesky_solve(R, (y * right)[:, None])[:, 0]
    db = float((u.sum() + primal) / ones.sum())
    d = y * (u - db * ones)
    return d, to_z / alpha - z - z / alpha * d, to_v / s - v + v / s * d, db


def _reach(x: np.ndarray, d: np.ndarray) -> float:
    """The longest step, 1 at most, after which x > 0."""
    falling = d < 0
    return min(1.0, SHORT * float(np.min(-x[falling] / d[falling]))) if falling.any() else 1.0


def _at_bounds(
    y: np.ndarray, alpha: np.ndarray, s: np.ndarray, z: np.ndarray, v: np.ndarray,
    most: np.ndarray, b: float,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """β and b with α exactly at a bound where the multiplier outweighs the distance to it."""
    typical = max(float(alpha.mean()), np.finfo(float).tiny)
    at = np.where(z * typical > alpha, 0.0, alpha)
    return y * np.where(v * typical > s, most, at), b
