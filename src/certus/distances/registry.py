"""Distances by name, and all pairs in one call."""

import difflib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Distance
from .boolean import FORMULAS, Boolean
from .directions import Correlation, Cosine, Spearman
from .gower import Gower
from .haversine import Haversine
from .mahalanobis import Mahalanobis, StandardizedEuclidean
from .minkowski import Chebyshev, Euclidean, Manhattan, Minkowski, SquaredEuclidean
from .missing import NanEuclidean
from .phi_s import PhiS
from .shares import BrayCurtis, Canberra, Hamming
from .user import UserDistance

ALIASES = {
    "l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean", "p": "minkowski",
    "infinity": "chebyshev", "matching": "hamming", "sokalmichener": "rogerstanimoto",
}  # fmt: skip

CLASSES: dict[str, Callable[..., Distance]] = {
    cls.name: cls
    for cls in (
        Manhattan, Euclidean, SquaredEuclidean, Chebyshev, Minkowski, StandardizedEuclidean,
        Mahalanobis, Cosine, Correlation, Spearman, PhiS, Hamming, Canberra, BrayCurtis, Haversine,
        NanEuclidean, Gower,
    )
}  # fmt: skip


def names() -> list[str]:
    """Every metric that ``get_distance`` knows by name, without aliases.

    Examples
    --------
    >>> from certus.distances import names
    >>> "gower" in names() and "euclidean" in names()
    True
    """
    return sorted([*CLASSES, *FORMULAS])


def get_distance(metric: object = "euclidean", **metric_params: object) -> Distance:
    """The distance of a name, a function, or a distance as it is.

    Parameters
    ----------
    metric : str, callable or Distance
        scikit-learn's name or alias of a metric, "gower", "phi_s" or "spearman"; a function of two
        blocks of rows that returns all their distances (or, slowly, of two rows); or a Distance.
    **metric_params
        What its constructor takes: ``p``, ``w``, ``V``, ``VI``, …

    Returns
    -------
    Distance

    Examples
    --------
    >>> from certus.distances import get_distance
    >>> get_distance("l1"), get_distance("minkowski", p=3)
    (Manhattan(), Minkowski(p=3.0))
    """
    if isinstance(metric, Distance):
        if metric_params:
            raise TypeError(
                f"{metric!r} is a distance already: give {', '.join(metric_params)} to its "
                "constructor"
            )
        return metric
    if callable(metric):
        return UserDistance(metric, **metric_params)
    name = ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    if not isinstance(name, str) or name not in names():
        raise ValueError(_unknown(metric))
    if name in FORMULAS:
        return _made(lambda **params: Boolean(name, **params), Boolean, name, metric_params)
    return _made(CLASSES[name], CLASSES[name], name, metric_params)


def _made(
    make: Callable[..., Distance], signed: Callable[..., Any], name: str, params: dict[str, Any]
) -> Distance:
    takes = [k for k in inspect.signature(signed).parameters if k != "name"]
    extra = [k for k in params if k not in takes]
    if extra:
        known = f"it takes {', '.join(takes)}" if takes else "it takes no parameters"
        raise TypeError(f"metric {name!r} got {', '.join(map(repr, extra))}: {known}")
    return make(**params)


def _unknown(metric: object) -> str:
    every = [*names(), *ALIASES]
    close = difflib.get_close_matches(str(metric), every, 1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return (
        f"metric={metric!r}: give one of {', '.join(map(repr, sorted(every)))}, a Distance, or a "
        f"function of two blocks of rows.{hint}"
    )


def pairwise_distances(
    X: np.ndarray,
    Y: np.ndarray | None = None,
    metric: object = "euclidean",
    *,
    w: np.ndarray | None = None,
    threads: int | None = None,
    **params: object,
) -> np.ndarray:
    """d(x_i, y_j) of all pairs of rows.

    Exact far from the origin: computed from differences, not from ‖x‖² + ‖y‖² − 2xᵀy. The same
    bits on any number of threads.

    Parameters
    ----------
    X : array-like or data frame of shape (n, p)
    Y : array-like or data frame of shape (m, p), optional
        None: the rows of X among themselves.
    metric : str, callable or Distance, default="euclidean"
        See ``get_distance``.
    w : array-like of shape (p,), optional
        Feature weights, for metrics that take them.
    threads : int, optional
        At most so many; None: as ``certus.set_config`` says.
    **params
        More parameters of the metric.

    Returns
    -------
    D : ndarray of shape (n, m), float64

    Examples
    --------
    >>> from certus.distances import pairwise_distances
    >>> pairwise_distances([[1e8, 0.0], [1e8 + 0.5, 0.0]], metric="euclidean")
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    if w is not None:
        params["w"] = w
    return get_distance(metric, **params).pairwise(X, Y, threads=threads)
