"""Functions that return graphs of neighbours."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..data.validation import one_of
from ..runtime.refusals import refuses_in_one_frame
from ._base import NeighborsModel
from ._search import NearestMixin, WithinRadiusMixin
from .nearest import NearestNeighbors

INCLUDE_SELF_VALUES = (True, False, "auto")


@refuses_in_one_frame
def kneighbors_graph(
    X: object,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: str | Callable[..., Any] = "minkowski",
    p: float = 2,
    metric_params: dict[str, Any] | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> Any:
    """Return the k nearest rows of each row as a sparse matrix.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, or a fitted estimator of neighbours
    n_neighbors : int
        k.
    mode : {"connectivity", "distance"}, default="connectivity"
        The entry at (i, j), if j is among the k nearest of i: 1, or the distance.
    metric, p, metric_params, n_jobs
        As in ``NearestNeighbors``.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbour. "auto": only with mode="connectivity".

    Returns
    -------
    CSR matrix of shape (n_samples, n_samples)

    Examples
    --------
    >>> from certus.neighbors import kneighbors_graph
    >>> kneighbors_graph([[0.0], [3.0], [1.0]], 1).toarray()
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    given: dict[str, Any] = {"metric": metric, "p": p, "metric_params": metric_params}
    model: NearestMixin
    if not isinstance(X, NearestMixin):
        model = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs, **given).fit(X)
    else:
        model = X
        _require_same(model, given)
    return model._nearest_graph(_queries(model, include_self, mode), n_neighbors, mode)


@refuses_in_one_frame
def radius_neighbors_graph(
    X: object,
    radius: float,
    *,
    mode: str = "connectivity",
    metric: str | Callable[..., Any] = "minkowski",
    p: float = 2,
    metric_params: dict[str, Any] | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> Any:
    """Return all rows within a radius of each row as a sparse matrix.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, or a fitted estimator of neighbours
    radius : float
        The largest distance of a neighbour.
    mode : {"connectivity", "distance"}, default="connectivity"
        The entry at (i, j), if j is within the radius of i: 1, or the distance.
    metric, p, metric_params, n_jobs
        As in ``NearestNeighbors``.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbour. "auto": only with mode="connectivity".

    Returns
    -------
    CSR matrix of shape (n_samples, n_samples)

    Examples
    --------
    >>> from certus.neighbors import radius_neighbors_graph
    >>> radius_neighbors_graph([[0.0], [3.0], [1.0]], 1.5, mode="distance").toarray()
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    given: dict[str, Any] = {"metric": metric, "p": p, "metric_params": metric_params}
    model: WithinRadiusMixin
    if not isinstance(X, WithinRadiusMixin):
        model = NearestNeighbors(radius=radius, n_jobs=n_jobs, **given).fit(X)
    else:
        model = X
        _require_same(model, given)
    return model._within_graph(_queries(model, include_self, mode), radius, mode)


def _queries(model: NeighborsModel, include_self: object, mode: str) -> Any:
    """Return the rows of the fit, or None for the same rows, each without itself."""
    one_of("include_self", include_self, INCLUDE_SELF_VALUES)
    check_is_fitted(model)
    include = mode == "connectivity" if include_self == "auto" else include_self
    return model._fit_X if include else None


def _require_same(model: NeighborsModel, given: dict[str, Any]) -> None:
    """Raise where a parameter differs from that of a fitted estimator."""
    for name, value in given.items():
        fitted = model.get_params()[name]
        if value is not fitted and value != fitted:
            raise ValueError(
                f"Got {value} for {name}, while the estimator has {fitted} for the same parameter."
            )
