"""Rows in clusters, as arrays and as tables, and the comparison of two fits to them."""

from typing import Any

import numpy as np

from tests.streamed.linear_cases import attributes

N, P, K = 6000, 5, 7


def draw(seed=0, n=N, p=P, k=K, weights=None, dtype=float):
    """X and s of k blobs that overlap; weights "whole" (some are 0) or "real"."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2 * rng.normal(size=(k, p))[rng.integers(k, size=n)] + 3
    s = None
    if weights is not None:
        s = rng.integers(0, 4, size=n).astype(float) if weights == "whole" else rng.uniform(size=n)
    return X.astype(dtype), s


def _with_outliers(size):
    X, s = draw()
    X[100:103] *= size
    return X, s


def _uneven():
    X, s = draw(weights="real")
    s[::1000] *= 1e9
    return X, s


def _few_points():
    return np.random.default_rng(0).integers(0, 2, size=(N, 2)).astype(float), None


CASES = {
    "plain": lambda: draw(),
    "weights, some 0": lambda: draw(weights="whole"),
    "real weights": lambda: draw(weights="real"),
    "float32": lambda: draw(weights="real", dtype=np.float32),
    "far from 0": lambda: (draw()[0] + 1e8, None),
    "outliers": lambda: _with_outliers(1e14),
    "weights that differ by 1e9": _uneven,
    "long rows": lambda: draw(p=40),
    "fewer points than clusters": _few_points,
    "few rows": lambda: draw(n=300),
}


def assert_equal_fits(streamed: Any, arrays: Any) -> None:
    """Assert that two fits and their certificates have the same bits."""
    ours, theirs = attributes(streamed), attributes(arrays)
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        np.testing.assert_array_equal(ours[name], value, err_msg=name)
        assert getattr(ours[name], "dtype", None) == getattr(value, "dtype", None), name
    ours, theirs = streamed.certificate_, arrays.certificate_
    assert ours.status == theirs.status
    for name in ("objective", "bound", "gap", "residual"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.fingerprint.differs(theirs.fingerprint) is None
    np.testing.assert_array_equal(ours._finding.ties, theirs._finding.ties)
    for name in ("movable", "effective", "degenerate", "untested", "moves_at_most", "labels_cost"):
        assert getattr(ours._finding, name) == getattr(theirs._finding, name), name
