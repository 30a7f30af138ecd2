"""Density estimates from the distance to the k-th neighbour.

    p̂(z) = K/(N·V(r)),      p̂_c(z) = K_c/(N_c·V(r)),      V_p(r) = (2r)^d Γ(1 + 1/p)^d / Γ(1 + d/p)

r is the distance from z to its K-th nearest row, V the volume of a ball of that radius in d
columns, K_c and N_c the numbers of rows of class c in the ball and in all. K_c/K = (N_c/N)·p̂_c/p̂:
the votes of nearest neighbours are Bayes' rule with these densities. Results are logarithms, since
V under- and overflows.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from ..data.labels import encode, read_labels
from ..data.types import Metric
from ..data.validation import positive_whole
from ..exceptions import DegenerateWarning
from ..runtime.refusals import refuses_in_one_frame
from ..runtime.user_frame import warn_user
from ..text.format import count, listed
from ._left_out_neighbors import (
    NeighborSearch,
    blocks,
    checked_threads,
    dummy_estimator,
    read_points,
)

MINKOWSKI_P = {
    "euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "l1": 1.0, "cityblock": 1.0,
    "chebyshev": math.inf, "infinity": math.inf, "linf": math.inf,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Density:
    """Density estimates at m points, made by ``certus.neighbors.density``.

    Attributes
    ----------
    log_density : (m,) array
        log K/(N·V); +inf at points that coincide with K rows.
    log_class_density : (m, classes) array or None
        log K_c/(N_c·V); −inf where none of the K rows is of the class, NaN for a class without
        rows.
    radius : (m,) array
        The distance to the K-th row.
    log_volume : (m,) array
        Logarithm of the ball's volume; −inf for radius 0.
    class_counts : (m, classes) array of int or None
        K_c.
    classes : array or None
        The labels, ascending.
    k, n : int
        K; and N, the number of rows searched.
    infinite : array of int
        Indices of the points whose density is infinite.

    Examples
    --------
    >>> from certus.neighbors import density
    >>> density([[0.0], [1.0], [2.0], [3.0]], [[1.5]], k=2)
    Density(1 point, the 2 nearest of 4 rows)
    """

    log_density: np.ndarray
    log_class_density: np.ndarray | None
    radius: np.ndarray
    log_volume: np.ndarray
    class_counts: np.ndarray | None
    classes: np.ndarray | None
    k: int
    n: int
    infinite: np.ndarray

    def __repr__(self) -> str:
        several = f"{count(len(self.radius), 'point')}, the {self.k} nearest of {self.n:,} rows"
        flag = f"; infinite at {len(self.infinite):,}" if len(self.infinite) else ""
        return f"Density({several}{flag})"


@refuses_in_one_frame
def density(
    X: object,
    Q: object = None,
    *,
    k: int | None = None,
    y: object = None,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    threads: int | None = None,
) -> Density:
    """Estimate the density of the rows, and that of each class, at given points.

    Parameters
    ----------
    X : array or frame of shape (n, p)
    Q : array or frame of shape (m, p), optional
        The points; if not given the rows, each without itself (N = n − 1).
    k : int, optional
        K, the number of rows in the ball; if not given √n, rounded up.
    y : array of shape (n,), optional
        Classes of the rows.
    metric, metric_params
        "euclidean", "manhattan", "chebyshev", or "minkowski" with ``{"p": …}``, whose balls have a
        known volume.
    threads : int, optional

    Returns
    -------
    Density

    Notes
    -----
    The estimate is too high by a factor of about K/(K − 1), is not smooth, and does not integrate
    to 1, since its tails decay like 1/r. It is meant for comparing points. Scale columns in
    different units first.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.neighbors import density
    >>> X = np.arange(100.0)[:, None]  # density 1/100 on [0, 100)
    >>> np.exp(density(X, [[50.25]], k=11).log_density).round(4)
    array([0.0105])
    """
    p = _p_of(metric, metric_params)
    caller = dummy_estimator("density")
    X = read_points(X, metric, caller)
    n, d = X.shape
    leave_self_out = Q is None
    N = n - 1 if leave_self_out else n
    k = math.isqrt(max(N, 1) - 1) + 1 if k is None else positive_whole("k", k)
    if k > N:
        others = f"{count(n, 'row')} without the query" if leave_self_out else count(n, "row")
        raise ValueError(f"k={k}, but there are only {N:,} possible neighbours ({others}): lower k")
    classes = codes = None
    if y is not None:
        classes, codes = encode(read_labels(y, n)[0])
    Z = X if leave_self_out else read_points(Q, metric, caller)
    search = NeighborSearch(X, metric, metric_params, checked_threads(threads))
    radius = np.empty(len(Z))
    counts = None if classes is None else np.zeros((len(Z), len(classes)), dtype=np.intp)
    for part in blocks(np.arange(len(Z)), k):
        distances, rows = search.others(part, k) if leave_self_out else search.at(Z[part], k)
        radius[part] = distances[:, -1]
        if counts is not None:
            assert codes is not None
            np.add.at(counts, (part[:, None], codes[rows]), 1)
    log_volume = log_ball_volume(radius, d, p)
    infinite = np.flatnonzero(radius == 0)
    _warn_of(infinite, len(Z), k)
    by_class = None
    if counts is not None:
        by_class = _class_densities(counts, codes, log_volume, leave_self_out)
    return Density(
        math.log(k) - math.log(N) - log_volume, by_class, radius, log_volume, counts, classes, k, N,
        infinite,
    )  # fmt: skip


def log_ball_volume(r: np.ndarray, d: int, p: float = 2.0) -> Any:
    """Return log V_p(r), the logarithm of the volume of {x : ‖x‖_p ≤ r} in d dimensions.

    Parameters
    ----------
    r : float or array
    d : int
    p : float
        From 1 to infinity.

    Examples
    --------
    >>> import math
    >>> from certus.neighbors.ball_density import log_ball_volume
    >>> [round(math.exp(log_ball_volume(1.0, 2, p)), 4) for p in (1, 2, math.inf)]
    [2.0, 3.1416, 4.0]
    """
    with np.errstate(divide="ignore"):
        log_r = np.log(r)
    return d * (math.log(2) + log_r) + d * gammaln(1 + 1 / p) - gammaln(1 + d / p)


def _class_densities(
    counts: np.ndarray, codes: np.ndarray | None, log_volume: np.ndarray, leave_self_out: bool
) -> np.ndarray:
    assert codes is not None
    total = np.broadcast_to(np.bincount(codes), counts.shape).astype(float)
    if leave_self_out:
        total = total - (codes[:, None] == np.arange(counts.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(counts) - np.log(total) - log_volume[:, None]
    return np.where(total == 0, np.nan, np.where(counts == 0, -np.inf, logs))


def _p_of(metric: object, metric_params: dict[str, Any] | None) -> float:
    params = dict(metric_params or {})
    given = params.pop("p", 2.0)
    if params.get("w") is None:
        params.pop("w", None)
    name = metric if isinstance(metric, str) else getattr(metric, "name", None)
    if not params and name in ("minkowski", "p"):
        return float(given)
    if not params and name in MINKOWSKI_P:
        return MINKOWSKI_P[name]
    which = f"with {listed(sorted(params))}" if params else "of that metric"
    raise ValueError(
        f"metric={metric!r}: the volume of a ball {which} is not implemented. Give 'euclidean', "
        "'manhattan', 'chebyshev' or 'minkowski'; for Mahalanobis, whiten the columns first"
    )


def _warn_of(infinite: np.ndarray, m: int, k: int) -> None:
    if len(infinite):
        which = listed([str(i) for i in infinite], 5)
        warn_user(
            f"{len(infinite):,} of {count(m, 'point')} coincide with {k} or more rows (point "
            f"{which}): their density is infinite. Raise k, or drop copies.",
            DegenerateWarning,
        )
