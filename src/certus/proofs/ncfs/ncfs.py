r"""NCFS: feature weights for which nearby rows agree best.

    p_ij = exp(−D_W(x_i, x_j)/σ) / Σ_{k≠i} exp(−D_W(x_i, x_k)/σ),  p_ii = 0
    q_i  = Σ_j p_ij G_ij
    F(W) = Σ_i a_i q_i − λ Σ_l W_l,  W ≥ 0                                            (maximised)

G_ij is the gain of row i if row j is its neighbour: 1[y_i = y_j], or minus a loss. Rows are scaled,
x ← (x − shift)/scale; constant columns are left out. With C_ij = a_i p_ij (q_i − G_ij)/σ the slope
is ∂F/∂W_l = Σ_ij C_ij ∂D_ij/∂W_l − λ, and

    D     L1 Σ W|Δ|    L2² Σ WΔ²    L2 √(Σ WΔ²)    Φ_s S_δ/S_u
    ∂D    |Δ|          Δ²           Δ²/2D          [(δ_l − μ_δ)² − D(u_l − μ_u)²]/S_u

δ = x_i − x_j, u = x_i + x_j, μ their means and S their sums of squares about these, weighted by W.

F is not concave. ``check`` recomputes F and shows that W is a stationary point of F on W ≥ 0: in
units of λ, ∂F/∂W_l is 0 where W_l > 0, and not above 0 where W_l = 0. (In w = √W the slope is 0
wherever w_l = 0, for any data, and proves nothing.) Two metrics need special treatment.

Φ_s is the same for W and cW, and ΣW = P fixes the factor. Then λ has no effect and is left out, and
Σ W_l ∂F/∂W_l = 0 everywhere: the slope lies in the plane ΣW = P.

L2 has no slope where D = 0. Rows that differ only in columns of weight 0 move apart by |w_l||Δ_l|
as such a weight grows, so that F rises by |w_l| Σ C_ij|Δ_l|: at W_l = 0 this sum must not be above
0 either.

With ``batch_size`` m, rows are compared within B = ⌈n/m⌉ batches of consecutive rows: p_ij is 0 for
rows of different batches, and a_i is divided by B, unless it is divided by Σs. F and its slopes are
sums over batches (``_batches.py``), and nothing is claimed about pairs of different batches.
"""

from typing import Any

import numpy as np

from certus.proofs.ncfs._batches import (
    BatchModel,
    factors_of,
    kept_rows_of,
    mean_and_spread,
    score_of_sums,
    slope_errors,
    sums_of,
    totals_of,
)
from certus.proofs.ncfs._claims import ScaledRows, claim_contradictions, score_of
from certus.proofs.ncfs._sums import ClassGains, SoftNeighbors, ValueGains, slopes
from certus.proofs.types import PairFunction, TargetedRows

WEIGHT_SUM_RTOL = 1e-9  # of ΣW = P


# --- the definition in plain NumPy ----------------------------------------------------------------


def distance(x: np.ndarray, y: np.ndarray, W: np.ndarray, metric: str = "manhattan") -> Any:
    """Distances D_W(x, y); rows are along the last axis but one."""
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
    """Slopes ∂D/∂W_l, 0 where they do not exist."""
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
    v = v - v[..., :1]  # so that a constant v stays constant whatever its mean rounds to
    return v - (v @ W)[..., None] / (W.sum() or 1.0)


def probabilities(
    X: np.ndarray, W: np.ndarray, sigma: float = 1.0, metric: str = "manhattan"
) -> np.ndarray:
    """Neighbour probabilities p (n, n)."""
    X, W = np.asarray(X, dtype=float), np.asarray(W, dtype=float)
    D = np.stack([distance(x, X, W, metric) for x in X])
    np.fill_diagonal(D, np.inf)
    nearest = D.min(axis=1, keepdims=True)
    isolated = np.isinf(nearest)  # all others are infinitely far, so equally near
    E = np.exp(np.where(isolated, 0.0, -(D - np.where(isolated, 0.0, nearest)) / sigma))
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
    """Objective F(W)."""
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
    """Slope ∂F/∂W (P,)."""
    X, W = np.asarray(X, dtype=float), np.asarray(W, dtype=float)
    p = probabilities(X, W, sigma, metric)
    q = (p * G).sum(axis=1, keepdims=True)
    C = np.asarray(a)[:, None] * p * (q - G) / sigma
    return sum(c @ distance_slope(x, X, W, metric) for c, x in zip(C, X, strict=True)) - alpha


def violation(W: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Violation of KKT: |∂F/∂W_l| where W_l > 0, max(∂F/∂W_l, 0) where W_l = 0."""
    return np.where(np.asarray(W) > 0, np.abs(slope), np.maximum(slope, 0.0))


def gains_of_classes(codes: np.ndarray, gains: np.ndarray | None = None) -> np.ndarray:
    """Gains G (n, n) of classes numbered 0, 1, …: 1[y_i = y_j], or gains[y_i, y_j]."""
    codes = np.asarray(codes, dtype=int)
    return (np.eye(codes.max() + 1) if gains is None else np.asarray(gains))[codes][:, codes]


def weights_of_rows(
    s: np.ndarray,
    codes: np.ndarray | None = None,
    prior: str | np.ndarray | None = None,
    mean: bool = False,
) -> np.ndarray:
    """Row weights a: s_i, or with a prior s_i/S_c ("balanced") or S π_c s_i/S_c (shares π).

    S_c is Σ s over the class of row i; ``mean``: all are divided by S = Σ s.
    """
    a, S = np.array(s, dtype=float), float(np.sum(s))
    if prior is not None:
        codes = np.asarray(codes, dtype=int)
        S_c = np.bincount(codes, s)
        a /= np.where(S_c > 0, S_c, 1.0)[codes]
        if not isinstance(prior, str):
            a *= S * np.asarray(prior)[codes]
    return a / S if mean else a


# --- the claims of a model ------------------------------------------------------------------------


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
    batch_size: int | None = None,
    claims: dict[str, Any] | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Check whether W is a stationary point of F on W ≥ 0.

    ``gains`` (K, K): G between classes, with data.y the class numbers; else ``loss`` between values
    of y: "absolute", "squared", "epsilon_insensitive" with ``epsilon``, or a function of two
    arrays. ``prior``, ``mean``: see ``weights_of_rows``. ``shift``, ``scale``: x ← (x −
    shift)/scale. ``batch_size``: rows are compared within batches. ``claims``: other statements of
    the model, by name (see ``_claims.py``).

    ``residual`` is the largest violation of KKT in units of λ. Without λ, it is in units of
    Σ_i a_i (max_j G_ij − min_j G_ij)/2σ, an upper bound on Σ|C|, times one on ∂D/∂W: R for L1, R²
    for L2², R/2 for L2 with R the range of the widest column, and 1/P for Φ_s. Bounds on the
    rounding errors of slopes are part of the violation.

    O(n²·P) operations, O(n·P) memory; for batches of m rows O(n·m·P) operations, and memory that
    does not depend on n. Without batches, most columns without weight are decided by sums in
    float32 over the pairs with the largest weights: their slope plus all errors is below 0.
    """
    W, claims = np.array(W, dtype=float), claims or {}
    contradictions, W = _infeasibilities(W, metric), np.maximum(W, 0.0)
    if batch_size is not None:
        shift = np.zeros(len(W)) if shift is None else shift
        scale = np.ones(len(W)) if scale is None else scale
        model = BatchModel(
            W, float(sigma), metric, gains, loss, epsilon, np.zeros(0), shift, scale,
            np.zeros(0, dtype=np.intp), 0.0,
        )  # fmt: skip
        return _check_batches(
            data, model, float(alpha), prior, mean, batch_size, claims, contradictions
        )
    n, y = data.shape[0], data.y[:, 0]
    s = np.ones(n) if data.s is None else data.s
    G = ValueGains(y, loss, epsilon) if gains is None else ClassGains(y.astype(np.intp), gains)
    a = weights_of_rows(s, y, prior, mean)
    scaled_rows = ScaledRows.of(data, shift, scale)
    neighbors = SoftNeighbors(scaled_rows, W, a, G, float(sigma), metric)
    gain_sums = neighbors.evaluate(data)
    lam = 0.0 if metric == "phi_s" else float(alpha)
    F = float(np.dot(a, neighbors.q)) - lam * float(W.sum())
    unit = lam or gain_sums.span / (2 * sigma) * _slope_bound(scaled_rows, metric) or 1.0
    value, violations, kink = slopes(data, neighbors, lam, gain_sums, unit)
    worst = int(np.argmax(violations))
    score = score_of(neighbors.votes, G, y, s)
    auto = G.mean_cost(gain_sums.total) * float(a.sum()) / n
    size = gain_sums.size + lam * float(W.sum())
    return {
        "objective": F, "bound": None, "gap": float("inf"), "kind": "local", "maximized": True,
        "residual": float(violations[worst]) / unit, "unit": unit, "penalized": lam > 0,
        "worst": worst, "slope": float(value[worst]), "weight": float(W[worst]),
        "kink": bool(kink[worst]), "used": int(np.count_nonzero(W)),
        "constant": int(np.count_nonzero(~scaled_rows.varies)), "score": score, "degenerate": None,
        "batches": None, "selected": (claims or {}).get("selected"),
        "wrong": contradictions
        + claim_contradictions(claims, scaled_rows, W, F, size, score, auto, y),
    }  # fmt: skip


def _slope_bound(scaled_rows: ScaledRows, metric: str) -> float:
    """Upper bound on ∂D/∂W, for the widest column."""
    return _largest_slope(float(scaled_rows.ranges.max()), len(scaled_rows.low), metric)


def _largest_slope(R: float, P: int, metric: str) -> float:
    return {"manhattan": R, "sqeuclidean": R * R, "euclidean": R / 2}.get(metric, 1 / P)


def _infeasibilities(W: np.ndarray, metric: str) -> list[str]:
    negative = np.flatnonzero(W < 0)[:1]
    messages = [f"the weight of column {l} is {W[l]:.6g}, below 0" for l in negative]
    W = np.maximum(W, 0.0)
    if metric == "phi_s" and np.count_nonzero(W) < 2:
        messages.append(
            "the metric compares patterns of rows, but fewer than two columns have weight"
        )
    if metric == "phi_s" and not abs(W.sum() - len(W)) <= WEIGHT_SUM_RTOL * len(W):
        messages.append(f"the weights sum to {W.sum():.9g}, not to {len(W)}")
    return messages


def _check_batches(
    data: TargetedRows, model: BatchModel, alpha: float, prior: str | np.ndarray | None,
    mean: bool, batch_size: int, claims: dict[str, Any], contradictions: list[str],
) -> dict[str, Any]:  # fmt: skip
    """``check`` for rows in batches; the model's factors, columns and mean of y are found here."""
    W, n = model.W, data.shape[0]
    totals = totals_of(data, batch_size, None if model.gains is None else len(model.gains))
    S = float(totals.weights.sum())
    varies = totals.high > totals.low
    model = model._replace(
        factors=factors_of(totals, prior, mean), varies=np.flatnonzero(varies),
        mean=totals.y_sum / S,
    )  # fmt: skip
    sums = sums_of(data, model, batch_size)
    lam = 0.0 if model.metric == "phi_s" else alpha
    widest = float(((totals.high - totals.low) / model.scale).max())
    slope_bound = _largest_slope(widest, len(W), model.metric)
    unit = lam or sums.span / (2 * model.sigma) * slope_bound or 1.0
    value, errors = sums.slopes - lam, slope_errors(sums, data)
    violations = np.where(W > 0, np.abs(value) + errors, np.maximum(value + errors, 0.0))
    kink = (W == 0) & (sums.kinks > violations)
    violations = np.where(varies, np.where(kink, sums.kinks, violations), 0.0)
    worst = int(np.argmax(violations))
    F = sums.gain - lam * float(W.sum())
    score = score_of_sums(sums, model, totals)
    wrong = list(contradictions)
    if model.gains is None:
        mean_cost = -sums.pair_gain / sums.pairs or 1.0
    else:
        mean_cost = ClassGains(np.zeros(0, dtype=np.intp), model.gains).mean_cost(0.0)
    auto = mean_cost * float(model.factors @ totals.weights) * totals.batches / n
    if claims:
        rows = kept_rows_of(data, np.asarray(claims["kept_rows"]), totals, model.shift, model.scale)
        if isinstance(rows, str):
            wrong.append(rows)
        else:
            standard = claims.get("scaling") == "standard"
            spread = mean_and_spread(data, totals, batch_size) if standard else None
            size = sums.size + lam * float(W.sum())
            wrong += claim_contradictions(claims, rows[0], W, F, size, score, auto, rows[1], spread)
    return {
        "objective": F, "bound": None, "gap": float("inf"), "kind": "local", "maximized": True,
        "residual": float(violations[worst]) / unit, "unit": unit, "penalized": lam > 0,
        "worst": worst, "slope": float(value[worst]), "weight": float(W[worst]),
        "kink": bool(kink[worst]), "used": int(np.count_nonzero(W)),
        "constant": int(np.count_nonzero(~varies)), "score": score, "degenerate": None,
        "batches": totals.batches, "selected": (claims or {}).get("selected"), "wrong": wrong,
    }  # fmt: skip
