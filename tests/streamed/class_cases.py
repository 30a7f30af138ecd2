"""Tables for classifiers: the arrays, and the table over them with its labels."""

import numpy as np

from tests.streams import ArrayTable

N, P = 6000, 6
LABELS = np.array(["high", "low", "middle", "none"])  # ascending


def draw(K=2, seed=0, n=N, p=P, weights=False, dtype=float):
    """X, class indices and s: K overlapping classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, size=p) + rng.normal(size=p) * 4
    z = (X - X.mean(axis=0)) @ rng.normal(size=(p, K)) + 2 * rng.gumbel(size=(n, K))
    s = rng.integers(0, 4, size=n).astype(float) if weights else None
    return X.astype(dtype), z.argmax(axis=1), s


def _with_column(column, **options):
    def make(K):
        X, k, s = draw(K, **options)
        return np.column_stack([X, column(X, k, K, np.random.default_rng(1))]), k, s

    return make


def _separated(K):
    X, _, s = draw(K, weights=True)
    z = X @ np.arange(1.0, P + 1)
    return X, np.digitize(z, np.quantile(z, np.linspace(0, 1, K + 1)[1:-1])), s


def _moved(K):
    X, k, s = draw(K)
    return X + 1e7, k, s


CASES = {
    "plain": draw,
    "weights": lambda K: draw(K, weights=True),
    "float32": lambda K: draw(K, weights=True, dtype=np.float32),
    "aliased": _with_column(lambda X, k, K, rng: X[:, 0] + X[:, 1]),
    "nearly dependent": _with_column(lambda X, k, K, rng: X[:, 0] + 1e-9 * rng.normal(size=N)),
    "constant": _with_column(lambda X, k, K, rng: np.full(N, 3.0), weights=True),
    "far from 0": _moved,
    "fewer rows than columns": lambda K: draw(K, n=40, p=70, weights=True),
    "separated": _separated,
    "separated by a column": _with_column(lambda X, k, K, rng: k + 0.5 * rng.uniform(size=N)),
    "quasi-separated": _with_column(
        lambda X, k, K, rng: (k == K - 1) & (rng.uniform(size=N) < 0.3)
    ),
}
SEPARATED = ("separated", "separated by a column", "quasi-separated", "fewer rows than columns")


def table_of(X, k, s=None, **options):
    """A table whose target holds labels; LABELS[k] are those of the arrays."""
    return ArrayTable(X, k, s, classes=LABELS[: k.max() + 1], **options)
