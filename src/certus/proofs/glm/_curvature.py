r"""How far from its optimum a logistic or softmax fit is, from gradient and curvature.

Let g be the gradient of F at θ = (w, b), H any matrix below its Hessian that the rows of a subset
(or all) and the penalty make up, ν² = gᵀH⁻¹g. Along a direction u of length ‖u‖_H = 1 let
φ(t) = F(θ + tu). The rows' losses have |φ'''| ≤ M φ'' with M the most by which u changes a score of
those rows (softmax: the range of its changes), so with φ'(0) ≥ −ν

    φ''(t) ≥ e^{−Mt},     φ(t) − φ(0) ≥ −νt + (Mt − 1 + e^{−Mt}) / M²

(the other rows lie above their tangents), whose least value over t, for a = νM < 1, is

    F(θ) − F* ≤ (a + (1 − a) log(1 − a)) / M² = ν² (1/2 + a/6 + a²/12 + …),

reached before t = −log(1 − a)/M: so far the optimum is at most, in ‖·‖_H. Thus there is one: the
data are not separable. M ≤ max_i ‖x_i‖_{H⁻¹}.

Every direction counts. Where the matrix H does not show the curvature along one (columns that
repeat others, or nearly do), nothing is proven here, and the finding says that this is why:
``_careful_curvature`` looks at such directions in more digits.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.glm.duality import EVALUATION, Fitted
from certus.proofs.linalg.linear_sums import View, gamma
from certus.proofs.types import Matrix, RowData

MOST_PARAMETERS = 2000  # up to which matrices of them are formed
GLANCE = (2**24,)  # multiplications for a subset's matrix: next to nothing …
SUBSETS = (2**27, 2**30)  # … about those of a pass, and more
ALL_ROWS = 2**33  # for the matrix of all rows
ONLY_PROOF = 2**38  # … where there is no penalty, and so no other proof
SMALL_STEP = 0.1  # a = νM up to which a rough M is good enough
HOPELESS = 8  # times more than ``enough``: what more rows promise must not be above


class Curvature(NamedTuple):
    """What was found; inf where nothing was."""

    excess: float  # F(θ) − F* at most
    decrement: float  # ν²/2
    reach: np.ndarray | None  # |θ_j − θ*_j| at most, or None
    unresolved: bool = False  # rounding is why no more is known
    gain: float = 0.0  # what a step along directions that are known would gain, about
    dark: np.ndarray | None = None  # directions of which H shows no curvature, (K, P, m)


NOTHING = Curvature(np.inf, np.inf, None)


class RowBend(Protocol):
    """ω times the loss's second derivatives in z, row by row, (n, K, K)."""

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray, /) -> np.ndarray: ...


class Local(NamedTuple):
    """F near θ, in the columns as viewed: all that the bound asks for.

    Parameters are ordered (K, P), P the columns and, where there is an intercept, a constant one.
    """

    w: np.ndarray  # (p, K)
    b: np.ndarray  # (K,)
    bend: RowBend  # (y, s, z) → ω times the loss's second derivatives in z, (n, K, K)
    view: View
    constant: float | None
    g: np.ndarray  # (K, P), the least subgradient
    g_error: np.ndarray  # (K, P)
    l2: np.ndarray  # (K, P)
    kept: np.ndarray  # (K, P) of bool: parameters that no invariance of F can fix
    penalised: bool
    b_error: float
    z_error: float  # √Σω(ẑ − z)², at most

    def score_error(self, peak: np.ndarray) -> float:
        """The most by which rounding changed a score of rows with |x_j| ≤ peak_j."""
        p = len(self.w)
        size = peak[:p] @ np.abs(self.w) + np.abs(self.b)
        return float(gamma(p + 6) * size.max() + self.b_error)


def local_of(
    fitted: Fitted,
    columns: slice,
    sums: tuple[Any, Any],
    slope: np.ndarray,
    W: np.ndarray,
    size: np.ndarray,
    bend: RowBend,
    steepest: float,
) -> Local:
    """Of some columns of w, from ``sums``: v = −∂loss/∂w (p, K) and v_b = −∂loss/∂b (K,).

    ``slope``: √Σω(∂ℓ/∂z)²; ``W``: Σω; ``size``: ‖x_j‖ (p,); ``steepest``: the loss's curvature, at
    most. All weighted by ω.
    """
    v, v_b = sums
    w, b, q = fitted.w[:, columns], fitted.b[columns], fitted.q[:, None]
    b_error = np.max(fitted.b_error)
    z_error = gamma(len(w) + 6) * (size @ np.abs(w) + np.sqrt(W) * np.abs(b))
    z_error = np.linalg.norm(z_error + np.sqrt(W) * b_error)
    # of a sum over rows, and of slopes at scores that are off by z_error
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
    # l1·sign(w), and at w = 0 what brings g nearest to 0
    g = g + l2 * w
    g = np.where(w != 0, g + l1 * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - l1, 0.0))
    g_error = g_error + gamma(4) * (np.abs(l2 * w) + l1)
    kept = np.ones(g.shape, dtype=bool)
    if len(b) > 1:  # the same added to all classes' scores changes no loss
        if fitted.penalty == (0, 0):
            kept[:, -1] = False
        elif fitted.free:
            kept[-1, -1] = False
    return Local(
        fitted.w[:, columns], b, bend, fitted.view, constant, g.T, g_error.T, l2.T, kept.T,
        fitted.penalty != (0, 0), float(b_error), float(z_error),
    )  # fmt: skip


def from_curvature(data: RowData, local: Local, enough: float, glance: bool = False) -> Curvature:
    """By subsets of the rows, each larger than the one before, up to all: the first whose excess
    is below ``enough``."""
    n = data.shape[0]
    parameters = int(local.kept.sum())
    if parameters > MOST_PARAMETERS or not np.isfinite(local.g).all():
        return NOTHING
    best, affordable = NOTHING, ALL_ROWS if local.penalised else ONLY_PROOF
    for work in GLANCE if glance else (*SUBSETS, affordable):
        rows = max(1024 + 2 * parameters, work // parameters**2)
        if rows < n and work == affordable:
            break
        found = curvature_of(data.sample(rows), local)
        if found.excess < best.excess or not np.isfinite(best.excess):
            best = found
        # ν² falls as the rows grow in number, and no faster
        promised = found.decrement * min(rows, n) / n
        if found.excess <= enough or rows >= n or enough * HOPELESS < promised < np.inf:
            break
    return best


def curvature_of(data: RowData, local: Local) -> Curvature:
    H, peak = data.reduce(
        hessian, local.w, local.b, local.bend, local.view, local.constant,
        combine=add_and_compare, square=True,
    )  # fmt: skip
    # a column of zeros changes no score: where nothing else pulls at it, it is no parameter
    seen = (peak > 0) | (local.l2 > 0) | (local.g != 0)
    if not local.penalised:  # rows outside a subset may have entries there
        seen = seen | (local.g_error > 0)
    unique = bool((seen | ~local.kept).all())
    local = local._replace(kept=local.kept & seen)
    kept = local.kept.ravel()
    size = local.kept.size
    H = H.reshape(size, size)[np.ix_(kept, kept)]
    H[np.diag_indices_from(H)] += local.l2.ravel()[kept]
    d = np.sqrt(np.diagonal(H))
    moved = np.expm1(2 * local.score_error(peak))  # H at ẑ is that at z, up to this share
    if not (np.isfinite(H).all() and moved < 0.1):
        return NOTHING._replace(unresolved=bool(np.isfinite(H).all()))
    scale = np.where(d > 0, d, 1.0)
    lam, V = np.linalg.eigh(H / scale / scale[:, None])
    # rounding of the sums, and of the eigenvalues; the trace is at most the number of columns
    depth = data.depth + len(peak) + EVALUATION  # blocks have as many rows as columns at least
    slack = (gamma(depth) + 2 * gamma(8 * len(d) + 8)) * len(d)
    known = lam > 4 * slack
    if not known.any():
        return NOTHING._replace(unresolved=True)
    least = lam[known] - slack
    A = V[:, known] / np.sqrt(least * (1 - moved)) / scale[:, None]
    g = local.g.ravel()[kept]
    if not known.all():
        dark = spread_over(V[:, ~known] / scale[:, None], local.kept)
        gain = float(np.sum((A.T @ g) ** 2) / 2)
        return NOTHING._replace(unresolved=True, gain=gain, dark=dark)
    g_error = local.g_error.ravel()[kept] + gamma(2 * len(g) + 8) * np.abs(g)
    slope, rounding = np.linalg.norm(A.T @ g), np.linalg.norm(np.abs(A).T @ g_error)
    nu, lost = float(slope + rounding), bool(rounding > slope)
    wide = spread_over(A, local.kept)
    K = len(local.kept)
    # ‖x‖_{H⁻¹} ≤ ‖D⁻¹x‖/√λ; a difference of two classes is at most twice that
    reach = np.where(local.kept, peak / spread_over(scale[:, None], local.kept, 1.0)[..., 0], 0.0)
    rough = np.sqrt((reach**2).sum(axis=1).max() / (least.min() * (1 - moved)))
    M = float(rough) * (1 if K == 1 else 2) * (1 + 1e-6)
    if nu * M > SMALL_STEP:
        sizes = row_sizes, local.view, local.constant, peak, wide, wide[..., :0]
        few = data.sample(64).reduce(*sizes, combine=larger)
        if nu**2 * few[0] > 1:
            return Curvature(np.inf, nu**2 / 2, None, lost)
        M, _ = data.reduce(*sizes, combine=larger)
        M = float(np.sqrt(M)) * (1 + gamma(4 * len(d) + 8))
    excess, step = excess_of(nu, M)
    spread = step * np.linalg.norm(A, axis=1) if unique else None
    return Curvature(excess, nu**2 / 2, spread, lost)


def excess_of(nu: float, M: float) -> tuple[float, float]:
    """(a + (1 − a) log(1 − a))/M² and −log(1 − a)/M, a = νM."""
    a = nu * M
    if not a < 1:
        return np.inf, np.inf
    if a < 0.1:  # the series, its rest as if it were geometric
        share = 0.5 + a / 6 + a**2 / (12 * (1 - a))
        return float(nu**2 * share * (1 + 1e-12)), float(nu / (1 - a))
    last = np.log1p(-a)
    return float((a + (1 - a) * last) / M**2 * (1 + 1e-9)), float(-last / M * (1 + 1e-9))


def spread_over(A: np.ndarray, kept: np.ndarray, fill: float = 0.0) -> Any:
    """Rows of A at the parameters that are kept, (K, P, …)."""
    out = np.full((kept.size, A.shape[1]), fill)
    out[kept.ravel()] = A
    return out.reshape(*kept.shape, A.shape[1])


def with_constant(X: Matrix, view: View, constant: float | None) -> Any:
    """[X, c] of a block as viewed."""
    Z = view.of(X)
    return Z if constant is None else np.hstack([Z, np.full((len(Z), 1), constant)])


def hessian(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    b: np.ndarray,
    bend: RowBend,
    view: View,
    constant: float | None,
) -> tuple[Any, Any]:
    """Σ h x xᵀ of one block for each pair of classes, and the largest |x_j| of rows that count."""
    Z = with_constant(X, view, constant)
    h = bend(y[:, 0], np.ones(len(y)) if s is None else s, np.dot(Z[:, : len(w)], w) + b)
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
    """The largest ‖(e_k − e_l)⊗x‖² in A of one block's rows that count, and by how much the
    directions U change a score, as a share of what they could for entries up to ``peak``."""
    Z = with_constant(X if s is None else X[s > 0], view, constant)
    M, null, step = 0.0, 0.0, max(16, 2**20 // A[:, 0].size)
    for start in range(0, len(Z), step):
        part = Z[start : start + step]
        T = [np.dot(part, directions) for directions in A]  # each (n, r)
        pairs = [T[k] - T[l] for k in range(len(T)) for l in range(k)] or T
        M = max(M, *(np.einsum("ij,ij->i", d, d).max(initial=0.0) for d in pairs), 0.0)
        # of all classes: a direction may hardly touch one of them
        could = np.max([np.dot(peak, np.abs(directions)) for directions in U], axis=0)
        for directions in U:
            change = np.abs(np.dot(part, directions)).max(axis=0, initial=0.0)
            share = np.divide(change, could, out=np.zeros_like(change), where=could > 0)
            null = max(null, share.max(initial=0.0))
    return M, null


def larger(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return max(left[0], right[0]), max(left[1], right[1])
