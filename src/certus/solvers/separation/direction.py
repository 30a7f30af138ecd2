r"""Linear separability of classes: where it holds, unpenalised logistic fits have no optimum.

    m_ik = (u_{y_i} − u_k)ᵀx_i + c_{y_i} − c_k ≥ 0   for all rows i and k ≠ y_i,   some m_ik > 0

Along such a (u, c) the likelihood rises without limit. Complete: all m_ik > 0; quasi-complete: some
are 0. Two classes: u_0 = c_0 = 0, and (u, c) = (u_1, c_1).

``separating_column`` looks for a single feature, which is easiest to understand.
``separating_direction`` finds any direction, trying the cheapest methods first: the margins of the
solver's coefficients; scores that interpolate the labels where columns outnumber rows; then, with
θ = (u, c) of columns scaled to [−1, 1] and m_ik = a_ikᵀθ, two linear programs:

    max t       a_ikᵀθ ≥ t,  |θ| ≤ 1       t > 0: complete
    max gᵀθ     a_ikᵀθ ≥ 0,  |θ| ≤ 1       g = Σ_ik a_ik;  > 0: quasi-complete, 0: not separable

on few rows first, to which the rows that the solution violates are added: fewer constraints allow
more, so a value of 0 is final. So is 0 up to rounding: the program's dual λ ≥ 0 leaves
r = g + Σ λ_ik a_ik ≈ 0, and changing the positive factors 1 + λ_ik by less than 1 makes r vanish if
r is in the span of the few rows and ‖r‖ is below their least singular value. Σ (1 + λ_ik) m_ik = 0
then holds for every θ, and m = 0 is the only m ≥ 0 that satisfies it.
"""

from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import hstack

from ...data.csr import Block, SparseMatrix
from ...data.rows import Rows
from .scaled_rows import ConstraintRows, StoredConstraintRows, scaled_rows
from .single_column import SeparatingColumn, separating_column

__all__ = ["SeparatingColumn", "Separation", "separating_column", "separating_direction"]

# of a program's matrix: half as many entries take HiGHS 3 s, six times as many 90 s
MAX_PROGRAM_ENTRIES = 1 << 18
MAX_INTERPOLATED_ROWS = 2048  # up to which labels are interpolated where columns outnumber rows
MAX_ROUNDS = 40  # of adding violated rows; 3 to 10 are usual
MARGIN_TOL = 1e-9  # in scaled columns: HiGHS satisfies constraints to 1e-10
HIGHS_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
MAX_DENOMINATOR = 1000  # of coefficients that are taken for rational


class Separation(NamedTuple):
    """Kind of separation, how it was decided, and a direction if there is one."""

    kind: str  # "complete", "quasi-complete", "not separable" or "unknown"
    why: str
    u: np.ndarray | None = None  # (p, 1) or (p, n_classes), in the user's units
    c: np.ndarray | None = None  # (1,) or (n_classes,)


def separating_direction(
    rows: Rows,
    n_classes: int,
    fit_intercept: bool = True,
    hint: Any = None,
) -> Separation:
    """Return a direction (u, c), or that there is none; "unknown" where deciding is too expensive.

    ``hint``: (w, b) of a solver. After many steps they separate separable classes; otherwise the
    rows that they misclassify are the first constraints.
    """
    scaled = scaled_rows(rows, n_classes, fit_intercept)
    worst = None
    if hint is not None:
        w, b = np.asarray(hint[0], dtype=float), np.asarray(hint[1], dtype=float)
        m = scaled.margins(w, b, 0.0, np.inf)
        if m.least > 0:
            return Separation("complete", "the solver's coefficients separate", w, b)
        worst = m.worst
    few = scaled.n_present <= min(rows.shape[1], MAX_INTERPOLATED_ROWS)
    if few and isinstance(scaled, StoredConstraintRows):
        theta = _interpolated(scaled)
        if scaled.margins_of(theta, -np.inf).least > MARGIN_TOL:
            return _separation(scaled, "complete", "the scores interpolate the labels", theta)
    chosen = scaled.initial_rows()
    result = _solve_programs(scaled, chosen if worst is None else scaled.union(chosen, worst))
    if result.kind == "quasi-complete" and n_classes > 2:
        return _one_class_separated(rows, n_classes, fit_intercept) or result
    return result


def _one_class_separated(rows: Rows, n_classes: int, fit_intercept: bool) -> Separation | None:
    """Return a direction that separates one class from all others, which may overlap.

    The others have exactly equal scores, whereas rounding puts rows on the planes of a program's
    vertex on the wrong side.
    """
    for k in range(n_classes):
        against_rest = rows.recoded(_against_rest, k)
        two = separating_direction(against_rest, 2, fit_intercept)
        if two.kind == "complete" and two.u is not None and two.c is not None:
            in_class = np.eye(n_classes)[k]
            return Separation("quasi-complete", two.why, two.u * in_class, two.c * in_class)
    return None


def _against_rest(
    y: np.ndarray, s: np.ndarray | None, k: int
) -> tuple[np.ndarray, np.ndarray | None]:
    return (y == k).astype(float), s


def _solve_programs(scaled: ConstraintRows, chosen: np.ndarray) -> Separation:
    g = scaled.sum_of_all()
    complete = True  # which of the two programs is being solved
    for _ in range(MAX_ROUNDS):
        why = f"linear program of {len(chosen):,} rows"
        if scaled.entries(len(chosen)) > MAX_PROGRAM_ENTRIES:
            return Separation("unknown", f"a {why} and {scaled.unknowns:,} unknowns is too large")
        A = scaled.constraints(chosen)
        theta, value = _max_margin_program(A) if complete else _max_sum_program(A, g)
        if theta is None:
            break
        if complete and value <= MARGIN_TOL:
            complete = False
            continue
        if not complete and _sum_is_zero(value, A, g, scaled.n_present):
            return Separation("not separable", why)
        m = scaled.margins_of(theta, MARGIN_TOL if complete else -MARGIN_TOL)
        if complete and m.least > MARGIN_TOL:
            return _separation(scaled, "complete", why, theta)
        if not complete and m.least >= -MARGIN_TOL and m.largest > 1e3 * MARGIN_TOL:
            return _separation(scaled, "quasi-complete", why, theta)
        violated = scaled.not_among(chosen, m.worst)
        if not len(violated):
            break
        chosen = scaled.union(chosen, violated)
    return Separation("unknown", "the linear programs came to no end")


def _max_margin_program(A: SparseMatrix) -> tuple[np.ndarray | None, float]:
    """Solve max t, Aθ ≥ t, |θ| ≤ 1."""
    m, d = A.shape
    left = hstack([-A, np.ones((m, 1))], format="csr")
    cost = np.zeros(d + 1)
    cost[-1] = -1
    theta, value = _program(cost, left, [(-1.0, 1.0)] * d + [(0.0, 1.0)])
    return None if theta is None else theta[:-1], value


def _max_sum_program(A: SparseMatrix, g: np.ndarray) -> tuple[np.ndarray | None, float]:
    """Solve max gᵀθ, Aθ ≥ 0, |θ| ≤ 1."""
    size = float(np.abs(g).max(initial=0.0)) or 1.0
    theta, value = _program(-g / size, -A, (-1.0, 1.0))
    return theta, value * size


def _program(
    cost: np.ndarray, left: SparseMatrix, bounds: tuple[float, float] | list[tuple[float, float]]
) -> tuple[np.ndarray | None, float]:
    """Return (θ, −costᵀθ) of the least cost with left·θ ≤ 0."""
    from scipy.optimize import linprog

    right = np.zeros(left.shape[0])
    program = linprog(cost, left, right, bounds=bounds, method="highs", options=HIGHS_OPTIONS)
    return (program.x, -program.fun) if program.success else (None, 0.0)


def _sum_is_zero(value: float, A: SparseMatrix, g: np.ndarray, n: int) -> bool:
    """Return whether changing the positive factors can make r, of norm ``value``, vanish."""
    _, sigma, Vt = np.linalg.svd(A.toarray(), full_matrices=False)
    rounding = 64 * np.finfo(float).eps
    kept = sigma > rounding * max(A.shape) * sigma[0]
    V = Vt[kept]
    outside = np.abs(g - V.T @ (V @ g)).max(initial=0.0)
    least = float(sigma[kept].min(initial=np.inf))
    return bool(outside <= rounding * n and value < least / 2)


def _interpolated(scaled: StoredConstraintRows) -> np.ndarray:
    """Return θ of least norm with score 1 for a row's class and 0 (two classes: −1) for others."""
    Z, y = scaled.rows_of(scaled.present)
    in_class = (y[:, None] == np.arange(1, scaled.n_classes)).astype(float)
    target = 2 * in_class - 1 if scaled.n_classes == 2 else in_class - (y == 0)[:, None]
    return np.linalg.lstsq(Z, target, rcond=None)[0].T.ravel()


# --- the direction in the user's units ------------------------------------------------------------


def _separation(scaled: ConstraintRows, kind: str, why: str, theta: np.ndarray) -> Separation:
    u, c = scaled.about_center(theta)
    c = c - scaled.center @ u
    if kind == "quasi-complete":
        u, c = _simplified(scaled, u, c)
    return Separation(kind, why, u, c)


def _simplified(
    scaled: ConstraintRows, u: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return integer u where these separate too, so that rows lie exactly on the planes."""
    whole = _whole_numbers(u)
    if whole is None:
        return u, c
    c_whole, K = c, scaled.n_classes
    if scaled.fit_intercept:
        (M,) = scaled.rows.reduce(_largest, whole, K, combine=_maximum)
        c_whole = _intercepts(M)
        c_whole = c_whole[1:] if K == 2 else c_whole
    if not np.isfinite(c_whole).all():
        return u, c
    m = scaled.margins(whole, c_whole, 0.0, -np.inf)
    return (whole, c_whole) if m.least >= 0 and m.largest > 0 else (u, c)


def _intercepts(M: np.ndarray) -> np.ndarray:
    """Return c in the middle of its feasible range, c_y − c_k ≥ M_yk with c_0 = 0.

    The ends of the range are longest paths, by Bellman and Ford.
    """
    low, high = np.full(len(M), -np.inf), np.full(len(M), np.inf)
    low[0] = high[0] = 0.0
    with np.errstate(invalid="ignore"):  # a class without rows has no bounds
        for _ in range(len(M)):
            low = np.maximum(low, (low + M).max(axis=1))
            high = np.minimum(high, (high[:, None] - M).min(axis=0))
        return (low + high) / 2


def _whole_numbers(u: np.ndarray) -> np.ndarray | None:
    largest = np.abs(u).max()
    ratios = [
        Fraction(v).limit_denominator(MAX_DENOMINATOR) for v in (u / largest).ravel().tolist()
    ]
    common = lcm(*(r.denominator for r in ratios))
    approximation = np.array([float(r) for r in ratios]).reshape(u.shape)
    if common > 2**20 or np.abs(approximation - u / largest).max() > MARGIN_TOL:
        return None
    return np.array([float(r * common) for r in ratios]).reshape(u.shape)


def _largest(
    X: Block, y: np.ndarray, s: np.ndarray | None, u: np.ndarray, n_classes: int
) -> tuple[Any]:
    """Return M_yk, the largest (u_k − u_y)ᵀx in class y."""
    z = X @ u
    if n_classes == 2:
        z = np.column_stack([np.zeros(len(z)), z])
    M = np.full((n_classes, n_classes), -np.inf)
    for k in range(n_classes):
        in_class = y[:, 0] == k if s is None else (y[:, 0] == k) & (s > 0)
        if in_class.any():
            M[k] = (z[in_class] - z[in_class, k][:, None]).max(axis=0)
    np.fill_diagonal(M, -np.inf)
    return (M,)


def _maximum(a: tuple[Any], b: tuple[Any]) -> tuple[Any]:
    return (np.maximum(a[0], b[0]),)
