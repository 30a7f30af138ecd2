"""Distances by name, and the distances of all pairs of rows."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.refusals import refuses_in_one_frame
from ..text.suggestions import did_you_mean
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
    """Return the names of all metrics that ``get_distance`` takes, without aliases.

    Examples
    --------
    >>> from certus.distances import names
    >>> "gower" in names() and "euclidean" in names()
    True
    """
    return sorted([*CLASSES, *FORMULAS])


@refuses_in_one_frame
def get_distance(metric: object = "euclidean", **metric_params: object) -> Distance:
    """Return the distance of a name or a function; a Distance is returned unchanged.

    Parameters
    ----------
    metric : str, callable or Distance
        scikit-learn's name or alias of a metric, "gower", "phi_s" or "spearman"; a function of two
        blocks of rows that returns all their distances (or, slower, of two rows); or a Distance.
    **metric_params
        Arguments of its constructor: ``p``, ``w``, ``V``, ``VI``, …

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
        return _construct(lambda **params: Boolean(name, **params), Boolean, name, metric_params)
    return _construct(CLASSES[name], CLASSES[name], name, metric_params)


def _construct(
    make: Callable[..., Distance],
    signature_of: Callable[..., Any],
    name: str,
    params: dict[str, Any],
) -> Distance:
    takes = [k for k in inspect.signature(signature_of).parameters if k != "name"]
    extra = [k for k in params if k not in takes]
    if extra:
        accepted = f"it takes {', '.join(takes)}" if takes else "it takes no parameters"
        raise TypeError(f"metric {name!r} got {', '.join(map(repr, extra))}: {accepted}")
    return make(**params)


def _unknown(metric: object) -> str:
    all_names = [*names(), *ALIASES]
    close = did_you_mean(metric, all_names)
    hint = f" Did you mean {close!r}?" if close else ""
    return (
        f"metric={metric!r}: give one of {', '.join(map(repr, sorted(all_names)))}, a Distance, or "
        f"a function of two blocks of rows.{hint}"
    )


@refuses_in_one_frame
def pairwise_distances(
    X: np.ndarray,
    Y: np.ndarray | None = None,
    metric: object = "euclidean",
    *,
    w: np.ndarray | None = None,
    threads: int | None = None,
    **params: object,
) -> np.ndarray:
    """Return d(x_i, y_j) of all pairs of rows.

    Accurate far from the origin: computed from differences, not from ‖x‖² + ‖y‖² − 2xᵀy. The result
    is the same bit for bit on any number of threads.

    Parameters
    ----------
    X : array-like or data frame of shape (n, p)
    Y : array-like or data frame of shape (m, p), optional
        None: distances between the rows of X.
    metric : str, callable or Distance, default="euclidean"
        See ``get_distance``.
    w : array-like of shape (p,), optional
        Feature weights, for metrics that take them.
    threads : int, optional
        Maximal number of threads; None: as set by ``certus.set_config``.
    **params
        Further parameters of the metric.

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
