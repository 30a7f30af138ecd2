"""Answers for a row q of a model that stores its rows, recomputed from the certified parameters.

    kernel machine    f(q) = Σ_j β_j K(q, x_j) + b
    C-SVC             a score f and a vote for each pair of classes
    NCFS              p_j(q) = e^{−D_W(q, x_j)/σ} / Σ_l e^{−D_W(q, x_l)/σ},   P(c) = Σ_{y_j = c} p_j
    k-means           the nearest centre, by ‖q − μ_k‖
    tree              the cluster A of the cut with the smallest linkage distance to q:

        single    min_{i∈A} d(q, x_i)        average, diana    Σ_{i∈A} d(q, x_i)/|A|
        complete  max_{i∈A} d(q, x_i)        weighted          Σ_{i∈A} ω_i d(q, x_i)
        centroid  ‖q − c_A‖                  ward              √(2|A|/(|A|+1)) ‖q − c_A‖

with ω_i = ½ for each merge above i inside A.
"""

from typing import Any

import numpy as np

from certus.proofs.answers import Expected
from certus.proofs.distances import paired
from certus.proofs.lssvm.kernels import gram

KERNEL_RTOL = 1e-7  # relative to the sum of absolute values, for kernels in float64
SUM_ROUNDINGS = 8  # times that of a sum of p terms
TIE_RTOL = 1e-6  # relative to the largest distance: closer clusters count as ties
MAX_EXPONENT = 700.0  # exp(−700) is not yet 0


def kernel_scores(
    Q: np.ndarray, X: np.ndarray, beta: np.ndarray, b: np.ndarray, kernel: dict[str, Any],
    eps: float,
) -> Expected:  # fmt: skip
    """Scores f of rows Q, (m, k)."""
    K = gram(Q, X, **kernel)
    p, name, gamma = X.shape[1], kernel["kernel"], abs(float(kernel["gamma"]))
    # rounding of a distance or a scalar product, however a model computes it
    lengths = [np.sqrt(np.einsum("ij,ij->i", Z, Z, dtype=float)) for Z in (Q, X)]
    rounding = SUM_ROUNDINGS * (p + 8) * eps
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(K)
        if name in ("rbf", "laplacian"):
            reach = np.add.outer(*lengths)
            error = K * rounding * gamma * (reach**2 if name == "rbf" else p * reach)
        elif name in ("linear", "poly", "sigmoid"):
            size = np.multiply.outer(*lengths)
            if name != "linear":
                size = gamma * size + abs(float(kernel["coef0"]))
                size = size ** float(kernel["degree"]) if name == "poly" else 1 + size
            error = rounding * float(kernel["degree"]) * size
        else:
            error = rounding * size
        error = (error + KERNEL_RTOL * np.sqrt(eps / 2.0**-52) * size) @ np.abs(beta)
        return Expected(np.asarray(K @ beta) + b, error + rounding * np.abs(b))


def pair_votes(
    scores: Expected, pairs: np.ndarray, K: int, break_ties: bool
) -> tuple[Expected, Expected]:
    """Scores of classes from those of pairs, by votes, then sums; and the values whose maximum
    decides the class."""
    f, e = scores
    votes, sums = np.zeros((2, len(f), K))
    for t, (k, l) in enumerate(pairs.tolist()):
        votes[np.arange(len(f)), np.where(f[:, t] >= 0, k, l)] += 1
        sums[:, k] += f[:, t]
        sums[:, l] -= f[:, t]
    doubt = (np.abs(f) <= e).any(axis=1, keepdims=True)
    error = np.where(doubt, np.inf, e.sum(axis=1, keepdims=True) + 1e-12) * np.ones(K)
    class_scores = Expected(votes + sums / (3 * (np.abs(sums) + 1)), error)
    # ties go to the first class
    first_of_ties = Expected(
        votes - np.arange(K) / (2.0 * K), np.where(doubt, np.inf, 0.0) * np.ones(K)
    )
    return class_scores, class_scores if break_ties else first_of_ties


def soft_neighbors(
    Q: np.ndarray, X: np.ndarray, W: np.ndarray, sigma: float, metric: str, eps: float
) -> tuple[np.ndarray, float]:
    """p_j(q) of rows Q (m, n), and a bound of the rounding of a sum of them."""
    used = np.flatnonzero(W)
    D = np.zeros((len(Q), len(X)))
    if len(used):
        # Φ_s compares whole rows
        columns = slice(None) if metric == "phi_s" else used
        for i, q in enumerate(Q):
            A = np.broadcast_to(q[columns], X[:, columns].shape)
            D[i] = paired(A, X[:, columns], metric, w=np.sqrt(W[columns])) / sigma
    E = np.exp(-np.minimum(D - D.min(axis=1, keepdims=True), MAX_EXPONENT))
    P = E / E.sum(axis=1, keepdims=True)
    error = float(D.max(initial=0.0)) * SUM_ROUNDINGS * (X.shape[1] + 8) * eps
    return P, KERNEL_RTOL * np.sqrt(eps / 2.0**-52) + error


def center_distances(Q: np.ndarray, centers: np.ndarray, eps: float, by_products: bool) -> Expected:
    """‖q − μ_k‖ (m, k). ``by_products``: the model computes them from squares and products."""
    Q = Q.astype(float)
    D = np.empty((len(Q), len(centers)))
    with np.errstate(over="ignore"):
        for k, center in enumerate(centers):
            D[:, k] = np.sqrt(((Q - center) ** 2).sum(axis=1))
        rounding = SUM_ROUNDINGS * (Q.shape[1] + 8) * eps
        error = rounding * D
        if by_products:
            lengths = [np.sqrt((Z**2).sum(axis=1)) for Z in (Q, centers)]
            error = error + np.sqrt(rounding) * np.add.outer(*lengths)
    return Expected(D, error)


# --- trees ----------------------------------------------------------------------------------------


def linkage_distances(
    Q: np.ndarray, X: np.ndarray, labels: np.ndarray, merges: np.ndarray, method: str, metric: str,
    params: dict[str, Any],
) -> Expected:  # fmt: skip
    """Linkage distances from rows Q to each cluster of a cut, (m, k)."""
    order = np.argsort(labels, kind="stable")  # rows of a cluster are contiguous
    sizes = np.bincount(labels)
    start, w = np.cumsum(sizes) - sizes, _member_weights(merges, labels, method)[order]
    X = X if metric == "precomputed" else X[order]
    distances = np.empty((len(Q), len(sizes)))
    if method in ("centroid", "ward", "median"):
        # relative to the first row, so that a distant origin costs no digits
        centers = X[0] + np.add.reduceat((X - X[0]) * w[:, None], start, axis=0)
        times = 2 * sizes / (sizes + 1) if method == "ward" else 1.0
        for i, q in enumerate(Q):
            distances[i] = np.sqrt(times * ((q - centers) ** 2).sum(axis=1))
    else:
        for i, q in enumerate(Q):
            if metric == "precomputed":
                d = q[order]
            else:
                d = paired(np.broadcast_to(q, X.shape), X, metric, **params)
            distances[i] = _reduce_members(d, w, start, method)
    return Expected(
        distances, np.broadcast_to(TIE_RTOL * distances.max(axis=1, keepdims=True), distances.shape)
    )


def _reduce_members(d: np.ndarray, w: np.ndarray, start: np.ndarray, method: str) -> np.ndarray:
    if method == "single":
        return np.asarray(np.minimum.reduceat(d, start))
    if method == "complete":
        return np.asarray(np.maximum.reduceat(d, start))
    return np.asarray(np.add.reduceat(d * w, start))


def _member_weights(merges: np.ndarray, labels: np.ndarray, method: str) -> np.ndarray:
    """ω of each row: 1/|A|, or ½ for each merge above it inside its cluster."""
    if method not in ("weighted", "median"):
        return np.asarray(1.0 / np.bincount(labels)[labels])
    n = len(merges) + 1
    pairs = merges[:, :2].astype(np.intp)
    cluster_of = np.concatenate([labels, np.full(n - 1, -1)])  # −1: of several clusters
    for t, (a, b) in enumerate(pairs.tolist()):
        cluster_of[n + t] = cluster_of[a] if cluster_of[a] == cluster_of[b] else -1
    share = np.ones(2 * n - 1)
    for t in range(n - 2, -1, -1):
        if cluster_of[n + t] >= 0:
            share[pairs[t]] = share[n + t] / 2
    return share[:n]


def column_means(
    Q: np.ndarray, X: np.ndarray, labels: np.ndarray, representatives: np.ndarray, centered: bool,
    absolute: bool,
) -> Expected:  # fmt: skip
    """Mean of each cluster's columns in units of their spread √Σx²/n, (m, clusters).

    ``centered``: columns are centred. ``absolute``: columns negatively correlated with the
    representative of their cluster change sign.
    """
    center = X.mean(axis=0) if centered else np.zeros(X.shape[1])
    centered_X = X - center
    spread = np.sqrt((centered_X**2).mean(axis=0))
    unit = np.where(spread > 0, spread, 1.0)
    products = (centered_X * centered_X[:, representatives[labels]]).sum(axis=0)
    aligned = (Q - center) / unit * np.where(absolute & (products < 0), -1.0, 1.0)
    k = int(labels.max()) + 1
    value = np.column_stack([aligned[:, labels == c].mean(axis=1) for c in range(k)])
    size = ((np.abs(Q) + np.abs(center)) / unit).max(axis=1, keepdims=True)
    return Expected(value, np.broadcast_to(KERNEL_RTOL * size, value.shape))


def is_binary_tree(children: np.ndarray, leaves: int) -> bool:
    """Return whether the splits, each into two later splits c ≥ 0 or leaves −1 − c, reach every
    leaf once."""
    children = np.asarray(children)
    if leaves == 1:  # nothing was split
        return len(children) == 0
    if children.shape != (max(leaves - 1, 0), 2) or children.dtype.kind != "i":
        return False
    inner = children >= 0
    later = (children > np.arange(len(children))[:, None])[inner].all()
    ends = sorted((-1 - children[~inner]).tolist())
    splits = sorted(children[inner].tolist())
    return bool(later and ends == list(range(leaves)) and splits == list(range(1, len(children))))
