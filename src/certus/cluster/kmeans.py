"""k-means by Lloyd's steps: KMeans."""

from typing import Any, Literal

import numpy as np

from ..base.restarts import SAME_OBJECTIVE, Iterate, Restarts
from ..certificate import certify
from ..data.changed_rows import divided
from ..data.rows import Rows
from ..data.types import Seed
from ..data.validation import boolean, not_negative, one_of, positive_whole
from ..runtime.pool import blas_limiter
from ..runtime.progress import monitored
from ..solvers.kmeans import KMeansFit, lloyd, nearest_centers
from ..solvers.kmeans.fit import center_dtype
from ..solvers.kmeans.label_sums import count_nonempty, weighted_sum
from ..solvers.progress import OnStep, Step
from ._base import NearestCenter, stored
from ._init import SQUARES_OVERFLOW, Init, check_init, check_n_init, resolve_n_init, starts


class KMeans(NearestCenter):
    """k-means: minimise Σ sᵢ minₖ ‖xᵢ − μₖ‖² over k centres μ, from one start or several.

    A drop-in for scikit-learn's class. Rows are assigned to their nearest centre (of equally near
    ones the first) and centres moved to the weighted mean of their rows, until neither step lowers
    the objective, nor does the move of a single row to another cluster. That is a local optimum:
    ``certificate_`` proves it, and states how many of the restarts found the same one. ``predict``
    on the rows of the fit gives ``labels_``.

    Parameters
    ----------
    n_clusters : int, default=8
        k.
    init : {"k-means++", "random", "k-means||"}, array or callable, default="k-means++"
        How centres are initialised. "k-means++" draws rows one by one, far from those drawn before,
        taking the best of several candidates (greedy); "k-means||" draws many at once in a few
        passes, for large k; "random" draws rows. An array of shape (n_clusters, n_features) holds
        the centres; a function ``init(X, n_clusters, random_state=…)`` returns them.
    n_init : "auto" or int, default="auto"
        Number of starts; the best is kept. "auto": 10 for "random" and functions, 1 otherwise.
    max_iter : int, default=300
        Maximum number of steps of one start.
    tol : float, default=1e-4
        Stop when the squared movement of the centres, relative to the mean variance of the columns,
        is at most ``tol`` *and* the step gains less than 2.5e-7 of the objective; or when no row
        changes its cluster.
    verbose : int, default=0
        Above 0, a line is printed for each step.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.
    copy_x : bool, default=True
        Accepted for compatibility with scikit-learn; X is never changed.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Accepted for compatibility with scikit-learn: both run Lloyd's steps, skipping distances by
        exact bounds, and give the same labels.
    single_moves : bool, default=True
        Where Lloyd's steps end, move single rows whose move lowers the objective, the means of both
        clusters following (Hartigan), and go on, until such moves gain less than 1e-6 of the
        objective (``tol=0``: nothing). False: end there, at the fixed point that scikit-learn's
        iteration has.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        μ, in float32 where X is.
    labels_ : ndarray of shape (n_samples,), int32
    inertia_ : float
        The objective, in units of ``unit_``².
    unit_ : float
        1, unless squares of differences in X overflow or underflow: then the power of two by which
        X is divided, with a ``RangeWarning``. Centres and distances are in the units of X.
    n_iter_ : int
        Number of steps of the best start.
    restarts_ : ndarray of shape (n_init,)
        The objective that each start reached.
    n_clusters_effective_ : int
        Number of clusters with rows. Below ``n_clusters`` if there are fewer distinct rows.
    certificate_ : Certificate
        A local optimum, recomputed from the data: *one more step gains nothing*, every label is
        that of the nearest centre, and no move of a single row lowers the objective.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Set if X has column names.

    Notes
    -----
    At most O(n·k·p) operations a step, usually far fewer after the first, and memory for a few
    numbers a row besides X. Rows of weight 0 get a label but do not affect the fit.

    Of a table of ``certus.open_rows`` only ``labels_`` is in memory for every row. If it has many
    rows, starts are drawn from a sample of them (docs/kmeans.md).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.cluster import KMeans
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = KMeans(n_clusters=3, n_init=10, random_state=0).fit(X)
    >>> round(model.inertia_, 3), model.restarts_.shape
    (78.851, (10,))
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _reads_rows = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Seed = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        single_moves: bool = True,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.single_moves = single_moves

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "KMeans":
        """Find the centres.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings the weights.
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice. Given starts do not depend on it.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows, unit = self._rows_to_fit(X, sample_weight)
        fit = self._best_of_starts(rows, unit)
        unfinished = not fit.converged and fit.n_iter >= self.max_iter
        if self.n_clusters_effective_ < self.n_clusters:
            self._set_certificate(certify(self, rows))
            self._warn_of_empty_clusters(rows)
        else:
            self._conclude(certify(self, rows), self.max_iter if unfinished else None)
        return self

    def _check_parameters(self) -> None:
        positive_whole("n_clusters", self.n_clusters)
        check_init(self.init)
        check_n_init(self.n_init)
        positive_whole("max_iter", self.max_iter)
        if not_negative("tol", self.tol).ndim:
            raise ValueError(f"tol={self.tol!r}: give one number")
        if not isinstance(self.verbose, bool):
            not_negative("verbose", self.verbose)
        boolean("copy_x", self.copy_x)
        boolean("single_moves", self.single_moves)
        one_of("algorithm", self.algorithm, ("lloyd", "elkan"))

    def _best_of_starts(self, given: Rows, unit: float) -> KMeansFit:
        """Run all starts, set the fitted attributes, and return the best fit, of rows/unit."""
        count = resolve_n_init(type(self).__name__, self.init, self.n_init)
        rows = divided(given, unit)
        start = starts(
            self.init, rows, self.n_clusters, self.random_state, polish=float(self.tol), unit=unit
        )
        self._monitor.iterations(
            lambda iterate: _attributes_of_iterate(rows, iterate, unit),
            lambda: certify(self, given),
            count * self.max_iter,
        )
        every = 1 if self.verbose else 0
        restarts = Restarts(type(self).__name__, self._monitor, count, _is_lower, every)

        def solve(on_step: OnStep) -> KMeansFit:
            def report(step: Step) -> bool:
                return on_step(step._replace(parameters=lambda: step.parameters()[0]))  # centres

            begin, tol = start(), float(self.tol)
            with blas_limiter.for_work(rows.shape), np.errstate(over="ignore", invalid="ignore"):
                return lloyd(
                    rows, begin, max_iter=self.max_iter, tol=tol, on_step=report,
                    single_moves=self.single_moves,
                )  # fmt: skip

        fit = restarts.run(solve)
        if not np.isfinite(fit.objective):
            raise ValueError(f"{SQUARES_OVERFLOW}: give init in the units of X")
        for name, value in _attributes(rows, fit, restarts.objectives, unit).items():
            setattr(self, name, value)
        return fit


def _is_lower(fit: KMeansFit, best: KMeansFit) -> bool:
    """Whether J is lower by more than rounding."""
    return bool(fit.objective < (1 - SAME_OBJECTIVE) * best.objective)


def _attributes(
    rows: Rows, fit: KMeansFit, restarts: list[float], unit: float = 1.0
) -> dict[str, Any]:
    """Return the attributes of a fit of rows that are in units of ``unit``."""
    return {
        "cluster_centers_": stored(fit.centers, rows, unit),
        "labels_": np.asarray(fit.labels),
        "inertia_": float(fit.objective),
        "unit_": unit,
        "n_iter_": int(fit.n_iter),
        "restarts_": np.array(restarts),
        "n_clusters_effective_": fit.effective,
        "_rose": float(fit.rose),
    }


def _attributes_of_iterate(rows: Rows, iterate: Iterate, unit: float) -> dict[str, Any]:
    """Return the attributes of a fit that ends at an iterate, with labels of its stored centres."""
    centers = iterate.parameters.astype(center_dtype(rows)).astype(np.float64)
    labels, d2 = nearest_centers(rows, centers)
    J, formed = weighted_sum(rows, d2), count_nonempty(rows, labels, len(centers))
    fit = KMeansFit(centers, labels, J, iterate.n_iter, False, 0, formed, 0.0)
    return _attributes(rows, fit, iterate.restarts, unit)
