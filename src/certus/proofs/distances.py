"""Distances between rows, computed by their definitions.

    d(a, b) = √Σ (a_l − b_l)²,   Σ |a_l − b_l|,   1 − cos(a, b),   …

Always by differences of the rows, never by ‖a‖² + ‖b‖² − 2aᵀb, which is 0 for rows .5 apart at 1e8.
Features are on the last axis, and A and B are broadcast: one row against many is `paired(a, B)`.

Conventions for undefined cases. Cosine: a row of zeros is at 0 from another one and at 1 from all
other rows; correlation and spearman: so is a constant row; 0/0 = 0 in boolean distances, braycurtis
and canberra; NaN where too few features are known in both rows.
"""

from typing import Any

import numpy as np

from certus.proofs.types import FunctionTo


def paired(A: np.ndarray, B: np.ndarray, metric: str = "euclidean", **params: Any) -> np.ndarray:
    """Return d(A_i, B_i) for scikit-learn's name of a metric, "gower", "phi_s" or "spearman".

    Feature weights `w`: w_l² multiplies |Δ_l| in manhattan (l1, cityblock) and Δ_l² in euclidean
    (l2), sqeuclidean and phi_s; in the other metrics w_l itself does, as in SciPy.
    """
    name = ALIASES.get(metric, metric)
    if name not in METRICS:
        raise ValueError(f"metric={metric!r} has no definition here; available: {sorted(METRICS)}")
    if name != "gower":
        A, B = (np.asarray(a, dtype=np.float64) for a in (A, B))
    return METRICS[name](A, B, **params)


def _weights(w: np.ndarray | None, A: np.ndarray) -> np.ndarray:
    return np.ones(np.shape(A)[-1]) if w is None else np.asarray(w, dtype=np.float64)


# --- Minkowski ------------------------------------------------------------------------------------


def manhattan(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return Σ w²|Δ|."""
    return (_weights(w, A) ** 2 * np.abs(A - B)).sum(axis=-1)


def sqeuclidean(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return Σ w²Δ²."""
    return ((_weights(w, A) * (A - B)) ** 2).sum(axis=-1)


def euclidean(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return √Σ w²Δ²."""
    return _norm(_weights(w, A) * (A - B))


def chebyshev(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return max |Δ| over the features with w > 0."""
    return np.max(np.abs(A - B) * (_weights(w, A) > 0), axis=-1)


def minkowski(
    A: np.ndarray, B: np.ndarray, p: float = 2, w: np.ndarray | None = None
) -> np.ndarray:
    """Return (Σ w|Δ|^p)^(1/p), p ≥ 1."""
    if np.isinf(p):
        return chebyshev(A, B, w)
    if not p >= 1:
        raise ValueError(f"p={p!r}: below 1 it is not a metric")
    size = _weights(w, A) ** (1 / p) * np.abs(A - B)
    most = _largest(size)  # scaled so that no power overflows
    return most[..., 0] * ((size / most) ** p).sum(axis=-1) ** (1 / p)


def seuclidean(A: np.ndarray, B: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return √Σ Δ²/V."""
    return _norm((A - B) / np.sqrt(np.asarray(V, dtype=np.float64)))


def mahalanobis(
    A: np.ndarray, B: np.ndarray, V: np.ndarray | None = None, VI: np.ndarray | None = None
) -> np.ndarray:
    """Return √(Δᵀ V⁻¹ Δ), with VI for V⁻¹ if given."""
    D = A - B
    if VI is None:
        rows = np.atleast_2d(D)
        solved = np.linalg.solve(np.asarray(V, dtype=np.float64), rows.reshape(-1, D.shape[-1]).T)
        square = (rows * solved.T.reshape(rows.shape)).sum(axis=-1).reshape(D.shape[:-1])
    else:
        square = ((D @ np.asarray(VI, dtype=np.float64)) * D).sum(axis=-1)
    return np.sqrt(np.maximum(square, 0.0))


def _largest(D: np.ndarray) -> np.ndarray:
    """Return the largest |D| of each row, 1 where all are 0."""
    most = np.max(np.abs(D), axis=-1, keepdims=True)
    return np.where(most == 0, 1.0, most)


def _norm(D: np.ndarray) -> np.ndarray:
    """Return ‖D‖, also where squares would overflow."""
    most = _largest(D)
    return most[..., 0] * np.sqrt(((D / most) ** 2).sum(axis=-1))


# --- directions -----------------------------------------------------------------------------------


def cosine(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return 1 − cos(a, b) = ½‖a/‖a‖ − b/‖b‖‖², accurate for small angles."""
    root = np.sqrt(_weights(w, A))
    return _between_directions(root * A, root * B)


def correlation(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return 1 − Pearson's correlation of the two rows: the cosine of the centred rows."""
    w = _weights(w, A)
    return _between_directions(_centered(A, w), _centered(B, w))


def spearman(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return 1 − Spearman's correlation: the correlation of the midranks."""
    return correlation(midranks(A), midranks(B))


def midranks(A: np.ndarray) -> np.ndarray:
    """Return ranks from 1 within each row; equal values get the mean of their ranks."""
    A = np.asarray(A, dtype=np.float64)
    rows = A.reshape(-1, A.shape[-1])
    ranks = np.empty(rows.shape)
    for i, row in enumerate(rows):
        below = np.searchsorted(np.sort(row), row, side="left")
        not_above = np.searchsorted(np.sort(row), row, side="right")
        ranks[i] = (below + 1 + not_above) / 2
    return ranks.reshape(A.shape)


def _centered(A: np.ndarray, w: np.ndarray) -> np.ndarray:
    # a constant row becomes exactly 0, however its mean rounds
    first = A[..., :1]
    shifted = A - first
    mean = (w * shifted).sum(axis=-1, keepdims=True) / w.sum()
    centered = np.where((shifted == 0).all(axis=-1, keepdims=True), 0.0, shifted - mean)
    return np.sqrt(w) * centered


def _between_directions(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return between_units(_unit(A), _unit(B))


def between_units(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return 1 − cos of rows of length 1, or 0 where a row has no direction."""
    half = 0.5 * ((a - b) ** 2).sum(axis=-1)
    none_a, none_b = (~np.any(x, axis=-1) for x in (a, b))
    return np.where(none_a & none_b, 0.0, np.where(none_a | none_b, 1.0, half))


def units(
    A: np.ndarray, metric: str, w: np.ndarray | None = None, **_: object
) -> np.ndarray | None:
    """Return rows u with d(a, b) = ``between_units``(u_a, u_b); None for other metrics."""
    if metric not in ("cosine", "correlation", "spearman"):
        return None
    w = _weights(w, A)
    if metric == "cosine":
        return _unit(np.sqrt(w) * A)
    return _unit(_centered(midranks(A) if metric == "spearman" else A, w))


def _unit(A: np.ndarray) -> np.ndarray:
    A = A / _largest(A)
    length = np.sqrt((A**2).sum(axis=-1, keepdims=True))
    return A / np.where(length == 0, 1.0, length)


def phi_s(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return Var_w(a − b) / Var_w(a + b) with weights w²; 0/0 = 0, x/0 = ∞."""
    W = _weights(w, A) ** 2

    def spread(v: np.ndarray) -> np.ndarray:
        # the rounding of the mean must not make a constant v vary
        v = v - v[..., :1]
        return (W * (v - (W * v).sum(axis=-1, keepdims=True) / W.sum()) ** 2).sum(axis=-1)

    above, below = spread(A - B), spread(A + B)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above == 0, 0.0, above / below)


# --- shares ---------------------------------------------------------------------------------------


def hamming(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return the share of features that differ."""
    w = _weights(w, A)
    return (w * (A != B)).sum(axis=-1) / w.sum()


def canberra(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return Σ w|Δ| / (|a| + |b|)."""
    return (_weights(w, A) * _share(np.abs(A - B), np.abs(A) + np.abs(B))).sum(axis=-1)


def braycurtis(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Return Σ w|a − b| / Σ w|a + b|."""
    w = _weights(w, A)
    return _share((w * np.abs(A - B)).sum(axis=-1), (w * np.abs(A + B)).sum(axis=-1))


def _share(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return above/below; 0/0 = 0."""
    below = np.asarray(below)
    with np.errstate(divide="ignore"):
        return np.where(np.asarray(above) == 0, 0.0, above / np.where(above == 0, 1.0, below))


def _boolean(formula: FunctionTo[np.ndarray]) -> FunctionTo[np.ndarray]:
    """Return a metric of the counts: both true (tt), one of them (tf, ft), neither (ff)."""

    def distance(A: np.ndarray, B: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
        w, a, b = _weights(w, A), A != 0, B != 0
        tt, tf, ft, ff = ((w * x).sum(axis=-1) for x in (a & b, a & ~b, ~a & b, ~a & ~b))
        return formula(tt, tf, ft, ff)

    return distance


# --- missing values and mixed columns -------------------------------------------------------------


def nan_euclidean(A: np.ndarray, B: np.ndarray, min_overlap: float = 1) -> np.ndarray:
    """Return √(p/m · Σ Δ²) over the m of p features that are known in both rows."""
    D, p = A - B, np.shape(A)[-1]
    known = ~np.isnan(D)
    m = known.sum(axis=-1)
    square = (np.where(known, D, 0.0) ** 2).sum(axis=-1)
    return np.where(
        m < least_overlap(min_overlap, p), np.nan, np.sqrt(square * p / np.maximum(m, 1))
    )


def least_overlap(min_overlap: float, p: int) -> float:
    """Return how many of p features must be known in both rows: a count, or a share if below 1."""
    return max(1.0, min_overlap * p if min_overlap < 1 else min_overlap)


def gower(
    A: np.ndarray,
    B: np.ndarray,
    ranges: np.ndarray,
    categorical: np.ndarray | None = None,
    w: np.ndarray | None = None,
    min_overlap: float = 1,
) -> np.ndarray:
    """Return the w-weighted mean of |Δ|/range, or 1[a ≠ b] for categorical features (a mask), over
    the features known in both rows. Features of range 0 differ by 0 or, for rows other than those
    that gave the range, by 1."""
    A, B = np.asarray(A), np.asarray(B)
    p = A.shape[-1]
    categorical = np.zeros(p, dtype=bool) if categorical is None else np.asarray(categorical)
    total: float | np.ndarray = 0.0
    weight: float | np.ndarray = 0.0
    known_in_both: int | np.ndarray = 0
    for l, w_l in enumerate(_weights(w, A)):
        a, b = A[..., l], B[..., l]
        if categorical[l]:
            known = ~(_missing(a) | _missing(b))
            differs = a != b
        else:
            a, b = a.astype(np.float64), b.astype(np.float64)
            known = ~np.isnan(a - b)
            with np.errstate(divide="ignore"):
                differs = np.where(a == b, 0.0, np.abs(a - b) / ranges[l])
            differs = np.minimum(differs, 1.0) if ranges[l] == 0 else differs
        total = total + np.where(known, w_l * differs, 0.0)
        weight, known_in_both = weight + w_l * known, known_in_both + known
    weight = np.where(known_in_both < least_overlap(min_overlap, p), np.nan, weight)
    return np.asarray(total / np.where(weight == 0, np.nan, weight), dtype=np.float64)


def _missing(a: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(lambda v: v is None or v != v, 1, 1)(a), dtype=bool)


def haversine(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the angle between (latitude, longitude) in radians; times 6,371 km on earth."""
    half = np.sin((A - B) / 2) ** 2
    inside = half[..., 0] + np.cos(A[..., 0]) * np.cos(B[..., 0]) * half[..., 1]
    return 2 * np.arcsin(np.sqrt(np.minimum(inside, 1.0)))


ALIASES = {
    "l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean", "p": "minkowski",
    "infinity": "chebyshev", "matching": "hamming", "sokalmichener": "rogerstanimoto",
}  # fmt: skip

METRICS: dict[str, FunctionTo[np.ndarray]] = {
    "manhattan": manhattan, "euclidean": euclidean, "sqeuclidean": sqeuclidean,
    "chebyshev": chebyshev, "minkowski": minkowski, "seuclidean": seuclidean,
    "mahalanobis": mahalanobis, "cosine": cosine, "correlation": correlation,
    "spearman": spearman, "phi_s": phi_s, "hamming": hamming, "canberra": canberra,
    "braycurtis": braycurtis, "nan_euclidean": nan_euclidean, "gower": gower,
    "haversine": haversine,
    "dice": _boolean(lambda tt, tf, ft, ff: _share(tf + ft, 2 * tt + tf + ft)),
    "jaccard": _boolean(lambda tt, tf, ft, ff: _share(tf + ft, tt + tf + ft)),
    "rogerstanimoto": _boolean(
        lambda tt, tf, ft, ff: _share(2 * (tf + ft), tt + ff + 2 * (tf + ft))
    ),
    "russellrao": _boolean(lambda tt, tf, ft, ff: _share(tf + ft + ff, tt + tf + ft + ff)),
    "sokalsneath": _boolean(lambda tt, tf, ft, ff: _share(2 * (tf + ft), tt + 2 * (tf + ft))),
    "yule": _boolean(lambda tt, tf, ft, ff: _share(2 * tf * ft, tt * ff + tf * ft)),
}  # fmt: skip
