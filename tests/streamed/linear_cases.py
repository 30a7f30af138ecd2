"""Tables for the linear families: the arrays, and the table over them."""

import numpy as np

from tests.streams import ArrayTable

N, P = 6000, 6


def draw(seed=0, n=N, p=P, k=None, weights=False, dtype=float):
    """X, y and s of a linear model with noise; y (n,), or (n, k)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, size=p) + rng.normal(size=p) * 4
    w = rng.normal(size=(p, k or 1)) * (np.arange(p) % 3 > 0)[:, None]
    Y = X @ w + rng.normal(size=(n, k or 1)) + 2
    s = rng.integers(0, 4, size=n).astype(float) if weights else None
    return X.astype(dtype), Y if k else Y[:, 0], s


CASES = {
    "plain": lambda: draw(),
    "weights": lambda: draw(weights=True),
    "two targets": lambda: draw(k=2),
    "float32": lambda: draw(dtype=np.float32, weights=True),
    "aliased": lambda: _with_column(lambda X, rng: X[:, 0] + X[:, 1]),
    "nearly dependent": lambda: _with_column(lambda X, rng: X[:, 0] + 1e-9 * rng.normal(size=N)),
    "constant": lambda: _with_column(lambda X, rng: np.full(N, 3.0)),
    "far from 0": lambda: _moved(1e7),
    "fewer rows than columns": lambda: draw(n=40, p=70, weights=True),
}


def _with_column(column):
    X, y, s = draw()
    return np.column_stack([X, column(X, np.random.default_rng(1))]), y, s


def _moved(distance):
    X, y, s = draw()
    return X + distance, y, s


def table_of(X, y=None, s=None, **options):
    return ArrayTable(X, y, s, **options)


def attributes(model):
    """The public fitted numbers of a model."""
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name != "certificate_"
    }


def assert_equal_bits(streamed, model):
    ours, theirs = attributes(streamed), attributes(model)
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        np.testing.assert_array_equal(ours[name], value, err_msg=name)
    ours, theirs = streamed.certificate_, model.certificate_
    assert ours.status == theirs.status
    for name in ("objective", "bound", "gap", "residual", "coef_error"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.fingerprint.differs(theirs.fingerprint) is None
