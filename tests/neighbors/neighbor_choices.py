"""Nearest neighbours in plain NumPy, one row at a time: the reference for choices of k."""

import numpy as np

DISTANCES = {
    "euclidean": lambda a, B: np.sqrt(((a - B) ** 2).sum(axis=1)),
    "manhattan": lambda a, B: np.abs(a - B).sum(axis=1),
    "chebyshev": lambda a, B: np.abs(a - B).max(axis=1),
}


def nearest(X, q, k, metric="euclidean"):
    """Return (distances, rows); ties go to the smallest index."""
    d = DISTANCES[metric](q, X)
    rows = np.lexsort((np.arange(len(X)), d))[:k]
    return d[rows], rows


def votes(weights, d, s):
    """A row with s = 0 has no vote, not even at distance 0."""
    if callable(weights):
        return weights(d[None])[0] * s
    if weights == "distance":
        exact = (d == 0) & (s > 0)
        return s * exact if exact.any() else s / np.where(d == 0, 1, d)
    return 1.0 * s


def vote(X, y, s, q, k, weights, metric="euclidean"):
    """Return (class or None, shares of the classes); ties go to the class with the nearer voter."""
    d, rows = nearest(X, q, k, metric)
    v = votes(weights, d, s[rows])
    classes = np.unique(y)
    V = np.array([v[y[rows] == c].sum() for c in classes])
    if not V.any():
        return None, dict.fromkeys(classes.tolist(), 0.0)
    near = [min(d[(y[rows] == c) & (v > 0)], default=np.inf) for c in classes]
    best = max(
        range(len(classes)),
        key=lambda c: (V[c] >= V.max() * (1 - 1e-12), -near[c], -c),
    )
    return classes[best], dict(zip(classes.tolist(), V / V.sum(), strict=True))


def mean(X, y, s, q, k, weights, metric="euclidean"):
    d, rows = nearest(X, q, k, metric)
    v = votes(weights, d, s[rows])
    return v @ y[rows] / v.sum()


def loss(scoring, X, y, s, q, truth, k, weights="uniform", metric="euclidean"):
    """Loss of one prediction by a fit on X, y, s."""
    if scoring in ("squared_error", "absolute_error"):
        error = mean(X, y, s, q, k, weights, metric) - truth
        return np.mean(np.abs(error) if scoring == "absolute_error" else error**2)
    predicted, shares = vote(X, y, s, q, k, weights, metric)
    if scoring == "brier":
        other = 0.0 if truth in shares else 1.0
        return other + sum((p - (c == truth)) ** 2 for c, p in shares.items())
    return float(predicted != truth)


def left_out_losses(scoring, X, y, splits, ks, s=None, **options):
    """Return (m, len(ks)) losses for each (train, test), by separate fits and predictions."""
    s = np.ones(len(X)) if s is None else s
    return [
        np.array(
            [[loss(scoring, X[tr], y[tr], s[tr], X[i], y[i], k, **options) for k in ks] for i in te]
        )
        for tr, te in splits
    ]


def one_at_a_time(n):
    return [(np.delete(np.arange(n), i), np.array([i])) for i in range(n)]


def blobs(seed, n=40, p=3, classes=3, grid=False):
    """Return overlapping classes; ``grid``: on few points, with many ties and copies."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    X = rng.normal(size=(n, p)) + y[:, None]
    return (np.round(X) if grid else X), y
