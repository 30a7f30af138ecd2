"""NCFS by the shortest programs there are, and data that it is tried on. Slow on purpose.

p_j(x) = exp(−D_W(x, x_j)/σ) / Σ_k exp(−D_W(x, x_k)/σ)
"""

import numpy as np

METRICS = ["manhattan", "sqeuclidean", "euclidean", "phi_s"]


def minmax(X):
    X = np.asarray(X, dtype=float)
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))


def pair(metric, x, y, W):
    """D_W(x, y), as printed."""
    d = x - y
    if metric == "manhattan":
        return (W * abs(d)).sum()
    if metric == "phi_s":
        u = x + y
        S_d = (W * (d - (W * d).sum() / W.sum()) ** 2).sum()
        S_u = (W * (u - (W * u).sum() / W.sum()) ** 2).sum()
        return S_d / S_u if S_u > 0 else (np.inf if S_d > 0 else 0.0)
    D = (W * d * d).sum()
    return np.sqrt(D) if metric == "euclidean" else D


def chances(X, W, sigma, metric, new=None):
    """p (rows, n); new None: of the rows themselves, each without itself."""
    queries = X if new is None else new
    p = np.zeros((len(queries), len(X)))
    for i, x in enumerate(queries):
        D = np.array([pair(metric, x, other, W) for other in X])
        if new is None:
            D[i] = np.inf
        E = np.exp(-(D - D.min()) / sigma)
        p[i] = E / E.sum()
    return p


def objective(X, W, G, a, sigma, alpha, metric):
    q = (chances(X, W, sigma, metric) * G).sum(axis=1)
    return a @ q - alpha * W.sum()


def signal(seed, n=60, P=5, classes=3, informative=2):
    """Classes that the first columns tell apart, on a grid of 1/64."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, P))
    X[:, :informative] += 1.5 * rng.normal(size=(classes, informative))[y]
    return np.round(64 * X) / 64, y


def curve(seed, n=80, P=6):
    """y that the columns 1 and 4 tell."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, P))
    return X, np.sin(5 * X[:, 1]) + 1.5 * X[:, 4] + 0.1 * rng.normal(size=n)


def yangs_toy(seed):
    """Two classes, each of two clouds, in two columns; and 100 columns of noise."""
    rng = np.random.default_rng(seed)
    middles = np.array([[-0.75, -3], [0.75, 3], [3, -3], [-3, 3]])
    X = np.repeat(middles, 50, axis=0) + rng.normal(size=(200, 2))
    noise = rng.normal(scale=np.sqrt(20), size=(200, 100))
    return np.hstack([X, noise]), np.repeat([0, 0, 1, 1], 50)
