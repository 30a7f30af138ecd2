"""Distances between two rows in high precision, by their definitions."""

from typing import Any

import numpy as np
from flint import arb

from ..judges.verdict import NotJudged
from .balls import ZERO, balls, dot, total

Row = list[arb]


def _differences(x: Row, z: Row) -> Row:
    return [abs(a - b) for a, b in zip(x, z, strict=True)]


def _largest(values: Row) -> arb:
    return max(values, key=lambda v: v.mid(), default=ZERO)


def _cosine(x: Row, z: Row, _: Any = None) -> arb:
    length = (dot(x, x) * dot(z, z)).sqrt()
    return 1 - dot(x, z) / length if length > 0 else arb("nan")


def _correlation(x: Row, z: Row, _: Any = None) -> arb:
    means = [total(v) / len(v) for v in (x, z)]
    return _cosine([v - means[0] for v in x], [v - means[1] for v in z])


def _minkowski(x: Row, z: Row, params: dict[str, Any]) -> arb:
    p = arb(float(params.get("p", 2)))
    return total(d**p for d in _differences(x, z) if d > 0) ** (1 / p)


METRICS: dict[str, Any] = {
    "euclidean": lambda x, z, _: total(d * d for d in _differences(x, z)).sqrt(),
    "l2": lambda x, z, _: total(d * d for d in _differences(x, z)).sqrt(),
    "sqeuclidean": lambda x, z, _: total(d * d for d in _differences(x, z)),
    "manhattan": lambda x, z, _: total(_differences(x, z)),
    "cityblock": lambda x, z, _: total(_differences(x, z)),
    "l1": lambda x, z, _: total(_differences(x, z)),
    "chebyshev": lambda x, z, _: _largest(_differences(x, z)),
    "minkowski": _minkowski,
    "cosine": _cosine,
    "correlation": _correlation,
}


def distances(X: np.ndarray, Q: np.ndarray, metric: Any, params: Any) -> list[list[arb]]:
    """d(q, x) for each query, a list of all rows."""
    if not isinstance(metric, str) or metric not in METRICS:
        raise NotJudged(f"metric {metric}")
    d, rows = METRICS[metric], [balls(x) for x in X]
    return [[d(balls(q), x, params or {}) for x in rows] for q in Q]
