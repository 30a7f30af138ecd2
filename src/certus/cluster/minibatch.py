"""k-means by mini-batches, and on a stream."""

from math import ceil
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from ..certificate import certify
from ..data.rows import Rows
from ..data.types import Seed
from ..data.validation import boolean, data_for_search, not_negative, positive_whole, weights
from ..runtime.pool import blas_limiter
from ..runtime.progress import monitored
from ..runtime.user_frame import warn_user
from ..solvers.kmeans.fit import stored
from ..solvers.kmeans.minibatch import Running, assign, begin, best_start, minibatch, step
from ..solvers.kmeans.squares import squares_are_held
from ..solvers.progress import OnStep, Step
from ..text.format import number, printable
from ._base import TOO_FAR, NearestCenter
from ._init import Init, check_init, check_n_init, starts, starts_of

STARTS = 3  # for n_init="auto", where a start is often a bad one: the batches mend much of it
FITTED = ("certificate_", "labels_", "n_iter_", "n_clusters_effective_", "_random_state")


class MiniBatchKMeans(NearestCenter):
    """k-means on small random batches: minimise J = Σ sᵢ minₖ ‖xᵢ − μₖ‖², nearly.

    A drop-in for scikit-learn's class. Every centre is the running mean of the rows that came to
    it, batch by batch; with ``partial_fit`` the batches are yours, and data need not be held as a
    whole. Labels and objective are those of the final centres, for all rows. Mini-batches approach
    an optimum, they do not reach it: the certificate says how much one more step of
    :class:`KMeans` would gain.

    Parameters
    ----------
    n_clusters : int, default=8
        k.
    init : {"k-means++", "k-means||", "random"}, callable or array-like, default="k-means++"
        How centres start: as in :class:`KMeans`, from ``init_size`` random rows.
    max_iter : int, default=100
        How often, at most, as many rows are drawn as there are.
    batch_size : int, default=1024
        Rows of a batch, drawn with replacement, each in proportion to its weight.
    verbose : int, default=0
        1: a line for every batch.
    compute_labels : bool, default=True
        False: ``labels_`` is not kept. ``inertia_`` is exact in any case.
    random_state : int, RandomState instance or None, default=None
        Of starts, batches and centres that are drawn anew.
    tol : float, default=0.0
        Stop where the centres moved by less in a batch: a sum of squares, relative to the mean
        variance of the columns. 0: never.
    max_no_improvement : int or None, default=10
        Stop after so many batches in which the smoothed objective did not fall. None: never.
    init_size : int, default=None
        Rows that a start is drawn from: by default three batches, or 3k if that is more than they
        hold.
    n_init : "auto" or int, default="auto"
        Starts that are tried: the best on ``init_size`` other rows goes on. "auto": 3 for "random"
        and functions, else 1.
    reassignment_ratio : float, default=0.01
        Centres with a smaller share than this of the largest centre's rows are drawn anew from a
        batch. 0: never.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,) of int32
        The nearest centre of every row; after ``partial_fit``, of the rows of that batch.
    inertia_ : float
        J of the final centres; after ``partial_fit``, of that batch.
    n_iter_ : int
        How often as many rows were drawn as there are.
    n_steps_ : int
        Batches, of ``fit`` and ``partial_fit``.
    counts_ : ndarray of shape (n_clusters,)
        The weight of the rows that each centre is the running mean of.
    n_clusters_effective_ : int
        Clusters that own rows. Fewer than k where there are fewer distinct points; not set by
        ``partial_fit``.
    certificate_ : Certificate
        J, recomputed from the data, and the share of it that one more step over all rows would
        gain. ``partial_fit`` leaves none: it does not have the rows before. ``certus.verify`` makes
        one for the rows you give.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    O(batch_size·k·p) operations a batch, and two passes over all rows at the end. A cluster that
    owns no row then takes the row farthest from its centre.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import MiniBatchKMeans
    >>> X = np.repeat([[1.0, 1.0], [9.0, 9.0]], 500, axis=0)
    >>> X += np.random.default_rng(0).normal(size=X.shape)
    >>> model = MiniBatchKMeans(n_clusters=2, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round()
    array([1., 9.])
    >>> bool(model.certificate_.residual < 1e-3)  # one more step would gain less than 0.1 %
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: Seed = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int | Literal["auto"] = "auto",
        reassignment_ratio: float = 0.01,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "MiniBatchKMeans":
        """Draw batches until the objective falls no more.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row is drawn in proportion to its weight.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = self._rows_to_fit(X, sample_weight)
        self._run_batches(rows)
        # no optimum is claimed, so none is missed: the certificate says how far it is
        self._set_certificate(certify(self, rows))
        if self.n_clusters_effective_ < self.n_clusters:
            self._warn_of_fewer(rows)
        return self

    def _run_batches(self, rows: Rows) -> None:
        """Draw, step, and set the fitted attributes."""
        name, n = type(self).__name__, rows.shape[0]
        tries = starts_of(name, self.init, self.n_init, STARTS)
        size, init_size = min(int(self.batch_size), n), self._init_size(n)
        random_state, max_steps = check_random_state(self.random_state), self.max_iter * n // size
        on_step: OnStep = self._monitor.iterations(
            lambda running: self._of_all(rows, running, size),
            lambda: certify(self, rows),
            max_steps,
        )
        if self.verbose:
            on_step = _aloud(on_step, name, max_steps)
        with blas_limiter.for_work(rows.shape), np.errstate(over="ignore", invalid="ignore"):
            start = best_start(rows, self._start, tries, init_size, random_state)
            running = minibatch(
                rows, start, random_state, batch_size=size, max_steps=max_steps,
                tol=float(self.tol),
                max_no_improvement=self.max_no_improvement,
                reassignment_ratio=self.reassignment_ratio, on_step=on_step,
            )  # fmt: skip
            attributes = self._of_all(rows, running, size, refill=True)
        if not np.isfinite(attributes["inertia_"]):
            raise ValueError(f"{TOO_FAR}: give init in the units of X")
        self._set(attributes)

    def partial_fit(
        self, X: object, y: object = None, sample_weight: object = None
    ) -> "MiniBatchKMeans":
        """One step on the rows given: every centre is the running mean of all rows so far.

        The centres start from the first batch, which must hold at least k rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        goes_on = "cluster_centers_" in vars(self)
        rows = self._next_rows(X, sample_weight) if goes_on else self._rows_to_fit(X, sample_weight)
        random_state = vars(self).get("_random_state") or check_random_state(self.random_state)
        with blas_limiter.for_work(rows.shape):
            if goes_on:
                running, dtype = self._running(), self.cluster_centers_.dtype
            else:
                size = self._init_size(rows.shape[0])
                running = begin(best_start(rows, self._start, 1, size, random_state))
                dtype = np.dtype(stored(rows))
            step(rows, running, random_state, self.reassignment_ratio)
            _, labels, J, _ = assign(rows, running, dtype)
        found = {"inertia_": J, "_random_state": random_state, **self._kept_labels(labels)}
        self._set({**_state(running, dtype), **found})
        return self

    def _check_parameters(self) -> None:
        for name in ("n_clusters", "max_iter", "batch_size"):
            positive_whole(name, getattr(self, name))
        check_init(self.init)
        check_n_init(self.n_init)
        boolean("compute_labels", self.compute_labels)
        for name in ("tol", "reassignment_ratio"):
            if not_negative(name, getattr(self, name)).ndim:
                raise ValueError(f"{name}={getattr(self, name)!r}: give one number")
        if not isinstance(self.verbose, bool):
            not_negative("verbose", self.verbose)
        patience = self.max_no_improvement
        if patience is not None and (not isinstance(patience, Integral) or patience < 0):
            raise ValueError(f"max_no_improvement={patience!r}: give a whole number, or None")
        if self.init_size is not None:
            positive_whole("init_size", self.init_size)

    def _init_size(self, n: int) -> int:
        k, size = int(self.n_clusters), self.init_size
        if size is None:
            size = 3 * min(int(self.batch_size), n)
        elif size < k:
            warn_user(
                f"init_size={size} should be larger than n_clusters={k}. Setting it to "
                "min(3*n_clusters, n_samples)",
                RuntimeWarning,
            )
        return min(int(size) if size >= k else 3 * k, n)

    def _start(self, rows: Rows, random_state: Seed) -> np.ndarray:
        return starts(self.init, rows, self.n_clusters, random_state)()

    def _next_rows(self, X: object, sample_weight: object) -> Rows:
        data = data_for_search(self, X, reset=False)
        rows = Rows(data, None, weights(sample_weight, data.shape[0]))
        if not squares_are_held(rows):
            self._name_what_is_not_finite(rows)
        return rows

    def _running(self) -> Running:
        """Where the batches before have led, also if somebody has moved the centres since."""
        centers: np.ndarray = self._means
        if not np.array_equal(centers.astype(self.cluster_centers_.dtype), self.cluster_centers_):
            centers = self._centers
        return Running(centers.copy(), self.counts_.copy(), self.n_steps_, self._unlooked)

    def _of_all(
        self, rows: Rows, running: Running, batch_size: int, refill: bool = False
    ) -> dict[str, Any]:
        """The attributes of a fit."""
        dtype = np.dtype(stored(rows))
        found = assign(rows, running, dtype, refill)
        return {
            **_state(running, dtype),
            **self._kept_labels(found.labels),
            "inertia_": found.objective,
            "n_iter_": ceil(running.steps * batch_size / rows.shape[0]),
            "n_clusters_effective_": found.effective,
        }

    def _set(self, attributes: dict[str, Any]) -> None:
        self._forget(*FITTED)  # of a fit before, which may be of another kind
        self.__dict__.update(attributes)

    def _kept_labels(self, labels: np.ndarray) -> dict[str, Any]:
        return {"labels_": labels} if self.compute_labels else {}


def _state(running: Running, dtype: np.dtype) -> dict[str, Any]:
    return {
        "cluster_centers_": running.centers.astype(dtype),
        "counts_": running.counts,
        "n_steps_": running.steps,
        "_means": running.centers,  # in float64: small steps would vanish in float32
        "_unlooked": running.unlooked,
    }


def _aloud(on_step: OnStep, name: str, max_steps: int) -> OnStep:
    def told(step: Step) -> bool:
        objective = number(step.objective, 10)
        print(
            printable(
                f"{name}: batch {step.iteration:,} of at most {max_steps:,}, smoothed objective "
                f"{objective}"
            )
        )
        return bool(on_step(step))

    return told
