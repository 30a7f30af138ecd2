"""scikit-learn's ``metric``, ``p`` and ``metric_params`` as one distance.

minkowski, p = 1, 2, ∞ without weights  →  manhattan, euclidean, chebyshev
"""

from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import DistanceMetric

from ..distances import Distance, get_distance
from ..runtime.user_frame import warn_user

MINKOWSKI_NAMES = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}


def effective_metric(
    metric: object, p: object, metric_params: object
) -> tuple[Any, dict[str, Any]]:
    """Return scikit-learn's ``effective_metric_`` and ``effective_metric_params_``."""
    if not (p is None or (isinstance(p, Real) and not isinstance(p, bool) and float(p) > 0)):
        raise ValueError(f"p={p!r}: give a number above 0, e.g. 1 (sums of differences) or 2")
    if not (metric_params is None or isinstance(metric_params, dict)):
        raise ValueError(f"metric_params={metric_params!r}: give a dict, or None")
    params = dict(metric_params or {})
    if "p" in params and p is not None:
        warn_user(
            "Parameter p is found in metric_params. The corresponding parameter from __init__ is "
            "ignored.",
            SyntaxWarning,
        )
    if not (isinstance(metric, str) and metric == "minkowski"):
        return metric, params
    p, w = params.pop("p", p), params.pop("w", None)
    if p is None:
        raise ValueError("metric='minkowski' needs p: give e.g. p=2, the Euclidean distance")
    if w is None and p in MINKOWSKI_NAMES:
        return MINKOWSKI_NAMES[p], params
    return metric, {**params, "p": p, "w": w}


def distance_of(metric: object, params: dict[str, Any]) -> Distance:
    """Return the distance object of an effective metric."""
    if isinstance(metric, DistanceMetric):  # an object of scikit-learn's
        return get_distance(metric.pairwise, **params)
    given = {name: value for name, value in params.items() if name != "w" or value is not None}
    if metric == "minkowski" and given["p"] < 1:
        warn_user(
            "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics: they violate the "
            "triangle inequality. Every pair of rows is compared.",
            UserWarning,
        )
        return get_distance(partial(cdist, metric="minkowski", **given))
    return get_distance(metric, **given)


class ReadDistance(Distance):
    """A distance between rows that its ``read`` has converted already.

    A search compares each row many times, but should convert it once.
    """

    def __init__(self, distance: Distance):
        self.distance, self.name, self.missing = distance, distance.name, distance.missing

    def read(self, X: object) -> np.ndarray:
        """Return X unchanged."""
        return np.asarray(X)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        """Return d(A_i, B_j) of all pairs."""
        return self.distance.compare(A, B, threads)


class EncodedGower(ReadDistance):
    """Gower's distance between rows that were encoded as numbers once, and are split later."""

    def prepare(self, X: object) -> ReadDistance:
        """Return the distance with the ranges of these rows."""
        return ReadDistance(self.distance.prepare(X))
