r"""Bound of the excess of a logistic or softmax fit from gradient and curvature.

Let g be the gradient of F at θ = (w, b), H a lower bound of its Hessian made of the rows of a
subset (or all) and the penalty, ν² = gᵀH⁻¹g. Along a direction u of length ‖u‖_H = 1 let
φ(t) = F(θ + tu). The rows' losses have |φ'''| ≤ M φ'' with M the largest change of a score of those
rows along u (softmax: the range of its changes), so with φ'(0) ≥ −ν

    φ''(t) ≥ e^{−Mt},     φ(t) − φ(0) ≥ −νt + (Mt − 1 + e^{−Mt}) / M²

(the other rows lie above their tangents). Minimising over t gives, for a = νM < 1,

    F(θ) − F* ≤ (a + (1 − a) log(1 − a)) / M² = ν² (1/2 + a/6 + a²/12 + …),

attained before t = −log(1 − a)/M, which bounds the distance to the optimum in ‖·‖_H. So an optimum
exists: the data are not separable. M ≤ max_i ‖x_i‖_{H⁻¹}.

All directions matter. Where H does not resolve the curvature along one (columns that repeat others,
or nearly do), nothing is proven here and the result is marked as unresolved:
``_careful_curvature`` treats such directions in higher precision.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.glm.duality import EVALUATION_ROUNDINGS, Fitted
from certus.proofs.linalg.linear_sums import View, gamma
from certus.proofs.types import Matrix, RowData

MAX_PARAMETERS = 2000  # up to which matrices of them are formed
QUICK_WORK = (2**24,)  # multiplications for a subset's matrix: negligible next to a pass …
SUBSET_WORK = (2**27, 2**30)  # … about as many as a pass, and more
ALL_ROWS_WORK = 2**33  # for the matrix of all rows
UNPENALIZED_WORK = 2**38  # for all rows where there is no penalty, and so no other proof
MAX_ROUGH_STEP = 0.1  # a = νM up to which a rough M is good enough
MAX_PREDICTED_RATIO = 8  # more rows are not tried if they are predicted to miss ``enough`` by this


class CurvatureBound(NamedTuple):
    """Bound of the excess; infinite where there is none."""

    excess: float  # upper bound of F(θ) − F*
    decrement: float  # ν²/2
    reach: np.ndarray | None  # upper bound of |θ_j − θ*_j|, or None
    unresolved: bool = False  # rounding prevents a better bound
    gain: float = 0.0  # approximate gain of a step along the resolved directions
    flat: np.ndarray | None = None  # directions whose curvature H does not resolve, (K, P, m)


NO_BOUND = CurvatureBound(np.inf, np.inf, None)


class RowCurvature(Protocol):
    """ω times the loss's second derivatives in z of each row, (n, K, K)."""

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray, /) -> np.ndarray: ...


class LocalModel(NamedTuple):
    """Gradient and curvature of F at θ, in the columns as viewed.

    Parameters are ordered (K, P), P the columns and, where there is an intercept, a constant one.
    """

    w: np.ndarray  # (p, K)
    b: np.ndarray  # (K,)
    row_curvature: RowCurvature  # (y, s, z) → ω times the loss's second derivatives in z, (n, K, K)
    view: View
    constant: float | None
    g: np.ndarray  # (K, P), the subgradient of least norm
    g_error: np.ndarray  # (K, P)
    l2: np.ndarray  # (K, P)
    kept: np.ndarray  # (K, P) of bool: parameters that no invariance of F can fix
    penalized: bool
    b_error: float
    z_error: float  # upper bound of √Σω(ẑ − z)²

    def score_error(self, peak: np.ndarray) -> float:
        """Return a bound of the rounding of a score, of rows with |x_j| ≤ peak_j."""
        p = len(self.w)
        size = peak[:p] @ np.abs(self.w) + np.abs(self.b)
        return float(gamma(p + 6) * size.max() + self.b_error)


def local_model(
    fitted: Fitted,
    columns: slice,
    sums: tuple[Any, Any],
    slope: np.ndarray,
    W: np.ndarray,
    size: np.ndarray,
    row_curvature: RowCurvature,
    steepest: float,
) -> LocalModel:
    """Return the local model of some columns of w.

    ``sums``: v = −∂loss/∂w (p, K) and v_b = −∂loss/∂b (K,); ``slope``: √Σω(∂ℓ/∂z)²; ``W``: Σω;
    ``size``: ‖x_j‖ (p,); ``steepest``: bound of the loss's curvature. All weighted by ω.
    """
    v, v_b = sums
    w, b, q = fitted.w[:, columns], fitted.b[columns], fitted.q[:, None]
    b_error = np.max(fitted.b_error)
    z_error = gamma(len(w) + 6) * (size @ np.abs(w) + np.sqrt(W) * np.abs(b))
    z_error = np.linalg.norm(z_error + np.sqrt(W) * b_error)
    # rounding of a sum over rows, and slopes at scores with error z_error
    error = fitted.rounding * slope + steepest * z_error
    g, g_error = -v, np.multiply.outer(size, error)
    l1, l2 = fitted.penalty.l1 * q + 0 * v, fitted.penalty.l2 * q * q + 0 * v
    constant = 1.0 if fitted.free else fitted.scaling
    if constant is not None:
        at = 0.0 if fitted.free else 1.0
        w = np.vstack([w, b / constant])
        g = np.vstack([g, -constant * v_b])
        g_error = np.vstack([g_error, abs(constant) * np.sqrt(W) * error])
        l1 = np.vstack([l1, np.full((1, len(b)), at * fitted.penalty.l1)])
        l2 = np.vstack([l2, np.full((1, len(b)), at * fitted.penalty.l2)])
    # add l1·sign(w); at w = 0 the subgradient nearest to 0
    g = g + l2 * w
    g = np.where(w != 0, g + l1 * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - l1, 0.0))
    g_error = g_error + gamma(4) * (np.abs(l2 * w) + l1)
    kept = np.ones(g.shape, dtype=bool)
    if len(b) > 1:  # a constant added to all classes' scores changes no loss
        if fitted.penalty == (0, 0):
            kept[:, -1] = False
        elif fitted.free:
            kept[-1, -1] = False
    return LocalModel(
        fitted.w[:, columns], b, row_curvature, fitted.view, constant, g.T, g_error.T, l2.T, kept.T,
        fitted.penalty != (0, 0), float(b_error), float(z_error),
    )  # fmt: skip


def curvature_bound(
    data: RowData, local: LocalModel, enough: float, quick: bool = False
) -> CurvatureBound:
    """Return the bound of growing subsets of the rows, up to all.

    Stops at the first subset whose excess is below ``enough``.
    """
    n = data.shape[0]
    parameters = int(local.kept.sum())
    if parameters > MAX_PARAMETERS or not np.isfinite(local.g).all():
        return NO_BOUND
    best, affordable = NO_BOUND, ALL_ROWS_WORK if local.penalized else UNPENALIZED_WORK
    for work in QUICK_WORK if quick else (*SUBSET_WORK, affordable):
        rows = max(1024 + 2 * parameters, work // parameters**2)
        if rows < n and work == affordable:
            break
        subset = data.sample(rows)
        rows = n if subset.shape[0] == n else rows
        candidate = curvature_bound_of_rows(subset, local)
        if candidate.excess < best.excess or not np.isfinite(best.excess):
            best = candidate
        # ν² falls at most in proportion to the number of rows
        predicted = candidate.decrement * min(rows, n) / n
        if (
            candidate.excess <= enough
            or rows >= n
            or enough * MAX_PREDICTED_RATIO < predicted < np.inf
        ):
            break
    return best


def curvature_bound_of_rows(data: RowData, local: LocalModel) -> CurvatureBound:
    H, peak = data.reduce(
        hessian, local.w, local.b, local.row_curvature, local.view, local.constant,
        combine=add_and_compare, square=True,
    )  # fmt: skip
    # a column of zeros changes no score: without penalty and gradient it is not a parameter
    is_determined = (peak > 0) | (local.l2 > 0) | (local.g != 0)
    if not local.penalized:  # rows outside a subset may have entries there
        is_determined = is_determined | (local.g_error > 0)
    unique = bool((is_determined | ~local.kept).all())
    local = local._replace(kept=local.kept & is_determined)
    kept = local.kept.ravel()
    size = local.kept.size
    H = H.reshape(size, size)[np.ix_(kept, kept)]
    H[np.diag_indices_from(H)] += local.l2.ravel()[kept]
    d = np.sqrt(np.diagonal(H))
    hessian_change = np.expm1(2 * local.score_error(peak))  # relative, of H at ẑ and z
    if not (np.isfinite(H).all() and hessian_change < 0.1):
        return NO_BOUND._replace(unresolved=bool(np.isfinite(H).all()))
    scale = np.where(d > 0, d, 1.0)
    lam, V = np.linalg.eigh(H / scale / scale[:, None])
    # rounding of the sums, and of the eigenvalues; the trace is at most the number of columns
    depth = (
        data.depth + len(peak) + EVALUATION_ROUNDINGS
    )  # blocks have at least as many rows as columns
    slack = (gamma(depth) + 2 * gamma(8 * len(d) + 8)) * len(d)
    is_resolved = lam > 4 * slack
    if not is_resolved.any():
        return NO_BOUND._replace(unresolved=True)
    lam_lower = lam[is_resolved] - slack
    A = V[:, is_resolved] / np.sqrt(lam_lower * (1 - hessian_change)) / scale[:, None]
    g = local.g.ravel()[kept]
    if not is_resolved.all():
        flat = spread_over(V[:, ~is_resolved] / scale[:, None], local.kept)
        gain = float(np.sum((A.T @ g) ** 2) / 2)
        return NO_BOUND._replace(unresolved=True, gain=gain, flat=flat)
    g_error = local.g_error.ravel()[kept] + gamma(2 * len(g) + 8) * np.abs(g)
    slope, rounding = np.linalg.norm(A.T @ g), np.linalg.norm(np.abs(A).T @ g_error)
    nu, lost = float(slope + rounding), bool(rounding > slope)
    wide = spread_over(A, local.kept)
    K = len(local.kept)
    # ‖x‖_{H⁻¹} ≤ ‖D⁻¹x‖/√λ; a difference of two classes is at most twice that
    reach = np.where(local.kept, peak / spread_over(scale[:, None], local.kept, 1.0)[..., 0], 0.0)
    rough = np.sqrt((reach**2).sum(axis=1).max() / (lam_lower.min() * (1 - hessian_change)))
    M = float(rough) * (1 if K == 1 else 2) * (1 + 1e-6)
    if nu * M > MAX_ROUGH_STEP:
        sizes = row_sizes, local.view, local.constant, peak, wide, wide[..., :0]
        sampled = data.sample(64).reduce(*sizes, combine=larger)
        if nu**2 * sampled[0] > 1:
            return CurvatureBound(np.inf, nu**2 / 2, None, lost)
        M, _ = data.reduce(*sizes, combine=larger)
        M = float(np.sqrt(M)) * (1 + gamma(4 * len(d) + 8))
    excess, step = excess_bound(nu, M)
    spread = step * np.linalg.norm(A, axis=1) if unique else None
    return CurvatureBound(excess, nu**2 / 2, spread, lost)


def excess_bound(nu: float, M: float) -> tuple[float, float]:
    """Return (a + (1 − a) log(1 − a))/M² and −log(1 − a)/M, a = νM; ∞ where a ≥ 1."""
    a = nu * M
    if not a < 1:
        return np.inf, np.inf
    if a < 0.1:  # the series, with its remainder bounded by a geometric one
        share = 0.5 + a / 6 + a**2 / (12 * (1 - a))
        return float(nu**2 * share * (1 + 1e-12)), float(nu / (1 - a))
    last = np.log1p(-a)
    return float((a + (1 - a) * last) / M**2 * (1 + 1e-9)), float(-last / M * (1 + 1e-9))


def spread_over(A: np.ndarray, kept: np.ndarray, fill: float = 0.0) -> Any:
    """Return A with its rows placed at the kept parameters, (K, P, …)."""
    out = np.full((kept.size, A.shape[1]), fill)
    out[kept.ravel()] = A
    return out.reshape(*kept.shape, A.shape[1])


def with_constant(X: Matrix, view: View, constant: float | None) -> Any:
    """Return [X, c] of a block as viewed."""
    Z = view.of(X)
    return Z if constant is None else np.hstack([Z, np.full((len(Z), 1), constant)])


def of_loss(y: np.ndarray) -> np.ndarray:
    """Return targets (n,); (n, 2) where an offset stands beside them."""
    return y[:, 0] if y.shape[1] == 1 else y


def hessian(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    b: np.ndarray,
    row_curvature: RowCurvature,
    view: View,
    constant: float | None,
) -> tuple[Any, Any]:
    """Return Σ h x xᵀ of one block for each pair of classes, and max |x_j| of weighted rows."""
    Z = with_constant(X, view, constant)
    h = row_curvature(
        of_loss(y), np.ones(len(y)) if s is None else s, np.dot(Z[:, : len(w)], w) + b
    )
    K, P = w.shape[1], Z.shape[1]
    H = np.empty((K, P, K, P))
    for k in range(K):
        for l in range(k, K):
            H[k, :, l, :] = np.dot(Z.T, h[:, k, l, None] * Z)
            H[l, :, k, :] = H[k, :, l, :].T
    counted = np.abs(Z if s is None else Z[s > 0])
    return H, counted.max(axis=0, initial=0.0)


def add_and_compare(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return left[0] + right[0], np.maximum(left[1], right[1])


def row_sizes(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    view: View,
    constant: float | None,
    peak: np.ndarray,
    A: np.ndarray,
    U: np.ndarray,
) -> tuple[Any, Any]:
    """Return the largest ‖(e_k − e_l)⊗x‖² in A of one block's weighted rows.

    Also returns by how much the directions U change a score, relative to what they could with
    entries up to ``peak``.
    """
    Z = with_constant(X if s is None else X[s > 0], view, constant)
    M, null, step = 0.0, 0.0, max(16, 2**20 // A[:, 0].size)
    for start in range(0, len(Z), step):
        part = Z[start : start + step]
        T = [np.dot(part, directions) for directions in A]  # each (n, r)
        pairs = [T[k] - T[l] for k in range(len(T)) for l in range(k)] or T
        M = max(M, *(np.einsum("ij,ij->i", d, d).max(initial=0.0) for d in pairs), 0.0)
        # maximum over classes: a direction may hardly affect one of them
        could = np.max([np.dot(peak, np.abs(directions)) for directions in U], axis=0)
        for directions in U:
            change = np.abs(np.dot(part, directions)).max(axis=0, initial=0.0)
            share = np.divide(change, could, out=np.zeros_like(change), where=could > 0)
            null = max(null, share.max(initial=0.0))
    return M, null


def larger(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return max(left[0], right[0]), max(left[1], right[1])
