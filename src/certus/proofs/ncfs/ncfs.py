r"""NCFS: weights of columns by which the nearest rows agree best.

    p_ij = exp(−D_W(x_i, x_j)/σ) / Σ_{k≠i} exp(−D_W(x_i, x_k)/σ),  p_ii = 0
    q_i  = Σ_j p_ij G_ij
    F(W) = Σ_i a_i q_i − λ Σ_l W_l,  W ≥ 0                                            (maximised)

G_ij is what row i gains if row j speaks for it: 1[y_i = y_j], or minus a loss. Rows are scaled,
x ← (x − shift)/scale; a column that never changes has no part in it. With C_ij = a_i p_ij (q_i −
G_ij)/σ the slope is ∂F/∂W_l = Σ_ij C_ij ∂D_ij/∂W_l − λ, and

    D     L1 Σ W|Δ|    L2² Σ WΔ²    L2 √(Σ WΔ²)    Φ_s S_δ/S_u
    ∂D    |Δ|          Δ²           Δ²/2D          [(δ_l − μ_δ)² − D(u_l − μ_u)²]/S_u

δ = x_i − x_j, u = x_i + x_j, μ their means and S their sums of squares about these, weighted by W.

F is not concave. ``check`` recomputes F and shows that W is a stationary point of F on W ≥ 0: in
units of λ, ∂F/∂W_l is 0 where W_l > 0, and not above 0 where W_l = 0. (In w = √W the slope is 0
wherever w_l = 0, for any data, and shows nothing.) Two cases are of their own kind.

Φ_s is the same for W and cW, and W is known by ΣW = P. Then λ has no effect, so it is left out, and
Σ W_l ∂F/∂W_l = 0 everywhere: the slope lies in the plane ΣW = P by itself.

L2 has no slope where D = 0. Rows that differ only in columns without weight are at |w_l||Δ_l| once
such a column has some, so that F rises by |w_l| Σ C_ij|Δ_l|: at W_l = 0 this sum, too, must not be
above 0.
"""

from typing import Any

import numpy as np

from certus.proofs.ncfs._claims import Scaled, other_claims, score_of
from certus.proofs.ncfs._sums import Asked, OfClasses, OfValues, slopes
from certus.proofs.types import PairFunction, TargetedRows

SUM = 1e-9  # of ΣW = P


# --- the definition, plain ------------------------------------------------------------------------


def distance(x: np.ndarray, y: np.ndarray, W: np.ndarray, metric: str = "manhattan") -> Any:
    """D_W(x, y); rows stand on the last axis but one."""
    d = x - y
    if metric == "manhattan":
        return (W * np.abs(d)).sum(axis=-1)
    if metric == "phi_s":
        above, below = (_about_mean(v, W) ** 2 @ W for v in (d, x + y))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(above == 0, 0.0, above / below)
    D = (W * d * d).sum(axis=-1)
    return np.sqrt(D) if metric == "euclidean" else D


def distance_slope(x: np.ndarray, y: np.ndarray, W: np.ndarray, metric: str = "manhattan") -> Any:
    """∂D/∂W_l; 0 where it does not exist."""
    d = x - y
    if metric == "manhattan":
        return np.abs(d)
    if metric == "sqeuclidean":
        return d * d
    D = np.asarray(distance(x, y, W, metric))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        if metric == "euclidean":
            return np.where(D > 0, d * d / (2 * D), 0.0)
        d, u = (_about_mean(v, W) for v in (d, x + y))
        S_u = np.asarray(u**2 @ W)[..., None]
        return np.where(S_u > 0, (d * d - D * u * u) / S_u, 0.0)


def _about_mean(v: np.ndarray, W: np.ndarray) -> Any:
    v = v - v[..., :1]  # a mean that rounds must not make a constant v vary
    return v - (v @ W)[..., None] / (W.sum() or 1.0)


def probabilities(
    X: np.ndarray, W: np.ndarray, sigma: float = 1.0, metric: str = "manhattan"
) -> np.ndarray:
    """p (n, n)."""
    X, W = np.asarray(X, dtype=float), np.asarray(W, dtype=float)
    D = np.stack([distance(x, X, W, metric) for x in X])
    np.fill_diagonal(D, np.inf)
    nearest = D.min(axis=1, keepdims=True)
    alone = np.isinf(nearest)  # all others are infinitely far, and equally near
    E = np.exp(np.where(alone, 0.0, -(D - np.where(alone, 0.0, nearest)) / sigma))
    np.fill_diagonal(E, 0.0)
    return np.asarray(E / E.sum(axis=1, keepdims=True))


def objective(
    X: np.ndarray,
    W: np.ndarray,
    G: np.ndarray,
    a: np.ndarray,
    sigma: float = 1.0,
    alpha: float = 0.0,
    metric: str = "manhattan",
) -> float:
    q = (probabilities(X, W, sigma, metric) * G).sum(axis=1)
    return float(a @ q) - alpha * float(np.sum(W))


def slope(
    X: np.ndarray,
    W: np.ndarray,
    G: np.ndarray,
    a: np.ndarray,
    sigma: float = 1.0,
    alpha: float = 0.0,
    metric: str = "manhattan",
) -> np.ndarray:
    """∂F/∂W (P,)."""
    X, W = np.asarray(X, dtype=float), np.asarray(W, dtype=float)
    p = probabilities(X, W, sigma, metric)
    q = (p * G).sum(axis=1, keepdims=True)
    C = np.asarray(a)[:, None] * p * (q - G) / sigma
    return sum(c @ distance_slope(x, X, W, metric) for c, x in zip(C, X, strict=True)) - alpha


def violation(W: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """|∂F/∂W_l| where W_l > 0, max(∂F/∂W_l, 0) where W_l = 0."""
    return np.where(np.asarray(W) > 0, np.abs(slope), np.maximum(slope, 0.0))


def gains_of_classes(codes: np.ndarray, gains: np.ndarray | None = None) -> np.ndarray:
    """G (n, n) of classes numbered 0, 1, …: 1[y_i = y_j], or gains[y_i, y_j]."""
    codes = np.asarray(codes, dtype=int)
    return (np.eye(codes.max() + 1) if gains is None else np.asarray(gains))[codes][:, codes]


def weights_of_rows(
    s: np.ndarray,
    codes: np.ndarray | None = None,
    prior: str | np.ndarray | None = None,
    mean: bool = False,
) -> np.ndarray:
    """a: s_i; s_i/S_c with prior "balanced", S_c = Σ s of its class; S π_c s_i/S_c with shares π.

    ``mean``: divided by S = Σ s.
    """
    a, S = np.array(s, dtype=float), float(np.sum(s))
    if prior is not None:
        codes = np.asarray(codes, dtype=int)
        S_c = np.bincount(codes, s)
        a /= np.where(S_c > 0, S_c, 1.0)[codes]
        if not isinstance(prior, str):
            a *= S * np.asarray(prior)[codes]
    return a / S if mean else a


# --- what a model claims --------------------------------------------------------------------------


def check(
    data: TargetedRows,
    W: np.ndarray,
    sigma: float,
    alpha: float,
    metric: str = "manhattan",
    gains: np.ndarray | None = None,
    loss: str | PairFunction | None = None,
    epsilon: float | None = None,
    prior: str | np.ndarray | None = None,
    mean: bool = False,
    shift: np.ndarray | None = None,
    scale: np.ndarray | None = None,
    claims: dict[str, Any] | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Is W a stationary point of F on W ≥ 0?

    ``gains`` (K, K): G between classes, and data.y their numbers; else ``loss`` between values of
    y: "absolute", "squared", "epsilon_insensitive" with ``epsilon``, or a function of two arrays.
    ``prior``, ``mean``: a (see ``weights_of_rows``). ``shift``, ``scale``: x ← (x − shift)/scale.
    ``claims``: what else the model says, by name (see ``_claims.py``).

    ``residual`` is the largest violation (of KKT, above) in units of λ. Without λ, in units of
    Σ_i a_i (max_j G_ij − min_j G_ij)/2σ, the largest that Σ|C| can be, times the size of ∂D/∂W: R
    of L1, R² of L2², R/2 of L2 with R the widest column, and 1/P of Φ_s. What rounding can have
    done to a slope counts as part of the violation.

    O(n²·P) operations, O(n·P) memory. Most columns without weight are settled by sums in float32
    over the pairs that matter: their slope, with all that this can have lost, is below 0.
    """
    W, claims = np.array(W, dtype=float), claims or {}
    wrong = [f"the weight of column {l} is {W[l]:.6g}, below 0" for l in np.flatnonzero(W < 0)[:1]]
    W = np.maximum(W, 0.0)
    if metric == "phi_s" and np.count_nonzero(W) < 2:
        wrong.append("patterns of rows are compared, and fewer than two columns have weight")
    if metric == "phi_s" and not abs(W.sum() - len(W)) <= SUM * len(W):
        wrong.append(f"the weights sum to {W.sum():.9g}, not to {len(W)}")
    n, y = data.shape[0], data.y[:, 0]
    s = np.ones(n) if data.s is None else data.s
    G = OfValues(y, loss, epsilon) if gains is None else OfClasses(y.astype(np.intp), gains)
    a = weights_of_rows(s, y, prior, mean)
    view = Scaled.of(data, shift, scale)
    asked = Asked(view, W, a, G, float(sigma), metric)
    of_gains = asked.neighbours(data)
    lam = 0.0 if metric == "phi_s" else float(alpha)
    F = float(np.dot(a, asked.q)) - lam * float(W.sum())
    unit = lam or of_gains.span / (2 * sigma) * _size(view, metric) or 1.0
    value, violated, kink = slopes(data, asked, lam, of_gains, unit)
    worst = int(np.argmax(violated))
    score = score_of(asked.said, G, y, s)
    auto = G.mean_cost(of_gains.total) * float(a.sum()) / n
    size = of_gains.size + lam * float(W.sum())
    return {
        "objective": F, "bound": None, "gap": float("inf"), "kind": "local", "maximised": True,
        "residual": float(violated[worst]) / unit, "unit": unit, "penalised": lam > 0,
        "worst": worst, "slope": float(value[worst]), "weight": float(W[worst]),
        "kink": bool(kink[worst]), "used": int(np.count_nonzero(W)),
        "constant": int(np.count_nonzero(~view.varies)), "score": score, "degenerate": None,
        "wrong": wrong + other_claims(claims, view, W, F, size, score, auto, y),
    }  # fmt: skip


def _size(view: Scaled, metric: str) -> float:
    """Of ∂D/∂W, for the widest column."""
    R = float(view.reach.max())
    return {"manhattan": R, "sqeuclidean": R * R, "euclidean": R / 2}.get(metric, 1 / len(view.low))
