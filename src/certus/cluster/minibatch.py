"""k-means by mini-batches, and on a stream."""

from math import ceil
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from ..certificate import certify
from ..data.changed_rows import divided
from ..data.rows import Rows, RowState
from ..data.streamed import StreamedTable
from ..data.types import Seed
from ..data.validation import boolean, data_for_search, not_negative, positive_whole, weights
from ..runtime.pool import blas_limiter
from ..runtime.progress import monitored
from ..runtime.user_frame import warn_user
from ..solvers.kmeans.fit import center_dtype
from ..solvers.kmeans.minibatch import (
    DrawStart,
    MiniBatchState,
    assign,
    begin,
    best_start,
    minibatch,
    step,
)
from ..solvers.kmeans.squares import unit_of_squares
from ..solvers.progress import OnStep, Step
from ..text.format import number, printable
from ._base import NearestCenter
from ._init import SQUARES_OVERFLOW, Init, check_init, check_n_init, resolve_n_init, starts

N_INIT_AUTO = 3  # starts of n_init="auto" for random ones; batches correct much of a bad start
FIT_ONLY_ATTRIBUTES = (
    "certificate_",
    "labels_",
    "n_iter_",
    "n_clusters_effective_",
    "_random_state",
)


class MiniBatchKMeans(NearestCenter):
    """k-means on small random batches: approximately minimise J = Σ sᵢ minₖ ‖xᵢ − μₖ‖².

    A drop-in for scikit-learn's class. Every centre is the running mean of the rows assigned to it,
    batch by batch; with ``partial_fit`` you supply the batches, and the data need not fit in
    memory. Labels and objective are those of the final centres, for all rows. Mini-batches approach
    an optimum without reaching it: the certificate states how much one more step of
    :class:`KMeans` would gain.

    Parameters
    ----------
    n_clusters : int, default=8
        k.
    init : {"k-means++", "k-means||", "random"}, callable or array-like, default="k-means++"
        How centres are initialised: as in :class:`KMeans`, from ``init_size`` random rows.
    max_iter : int, default=100
        Maximum number of epochs; an epoch draws as many rows as X has.
    batch_size : int, default=1024
        Rows of a batch, drawn with replacement and in proportion to their weights.
    verbose : int, default=0
        Above 0, a line is printed for every batch.
    compute_labels : bool, default=True
        If False, ``labels_`` is not stored. ``inertia_`` is exact in any case.
    random_state : int, RandomState instance or None, default=None
        Draws starts, batches and reassigned centres.
    tol : float, default=0.0
        Stop when the squared movement of the centres in a batch, relative to the mean variance of
        the columns, is at most ``tol``. 0: never.
    max_no_improvement : int or None, default=10
        Stop after this many batches in which the smoothed objective did not fall. None: never.
    init_size : int, default=None
        Number of rows that a start is drawn from: by default three batches, or 3k if that is more
        than they hold.
    n_init : "auto" or int, default="auto"
        Number of starts that are tried; the best on ``init_size`` other rows is used. "auto": 3 for
        "random" and functions, 1 otherwise.
    reassignment_ratio : float, default=0.01
        Centres with less than this share of the largest centre's weight are moved to random rows of
        a batch. 0: never.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,) of int32
        The nearest centre of every row; after ``partial_fit``, of the rows of that batch.
    inertia_ : float
        J of the final centres, in units of ``unit_``²; after ``partial_fit``, of that batch.
    unit_ : float
        1, unless squares of differences in X overflow or underflow: then the power of two by which
        X is divided, with a ``RangeWarning``. Centres and distances are in the units of X. Batches
        of ``partial_fit`` have the unit of the first.
    n_iter_ : int
        Number of epochs.
    n_steps_ : int
        Number of batches, of ``fit`` and ``partial_fit``.
    counts_ : ndarray of shape (n_clusters,)
        The weight of the rows that each centre is the running mean of.
    n_clusters_effective_ : int
        Number of clusters with rows. Below k if there are fewer distinct points; not set by
        ``partial_fit``.
    certificate_ : Certificate
        J, recomputed from the data, and the share of it that one more step over all rows would
        gain. ``partial_fit`` sets none, since it does not have the earlier rows; ``certus.verify``
        makes one for the rows you give.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Set if X has column names.

    Notes
    -----
    O(batch_size·k·p) operations a batch, and two passes over all rows at the end, in which an empty
    cluster takes the row farthest from its centre. Batches of a table of ``certus.open_rows`` are
    those of an array; several are read at once.

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

    _reads_rows = True

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
        """Fit on random batches until the objective stops falling.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings the weights.
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row is drawn in proportion to its weight.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows, unit = self._rows_to_fit(X, sample_weight)
        self._run_batches(rows, unit)
        # no optimum is claimed, so no warning: the certificate states the remaining gain
        self._set_certificate(certify(self, rows))
        if self.n_clusters_effective_ < self.n_clusters:
            self._warn_of_empty_clusters(rows)
        return self

    def _run_batches(self, given: Rows, unit: float) -> None:
        """Choose a start, run the batches of rows/unit, and set the fitted attributes."""
        rows = divided(given, unit)
        name, n = type(self).__name__, rows.shape[0]
        tries = resolve_n_init(name, self.init, self.n_init, N_INIT_AUTO)
        size, init_size = min(int(self.batch_size), n), self._init_size(n)
        random_state, max_steps = check_random_state(self.random_state), self.max_iter * n // size
        on_step: OnStep = self._monitor.iterations(
            lambda state: self._fitted_attributes(rows, state, size, unit),
            lambda: certify(self, given),
            max_steps,
        )
        if self.verbose:
            on_step = _print_steps(on_step, name, max_steps)
        with blas_limiter.for_work(rows.shape), np.errstate(over="ignore", invalid="ignore"):
            start = best_start(rows, self._start(unit), tries, init_size, random_state)
            state = minibatch(
                rows, start, random_state, batch_size=size, max_steps=max_steps,
                tol=float(self.tol),
                max_no_improvement=self.max_no_improvement,
                reassignment_ratio=self.reassignment_ratio, on_step=on_step,
            )  # fmt: skip
            attributes = self._fitted_attributes(rows, state, size, unit, refill=True)
        if not np.isfinite(attributes["inertia_"]):
            raise ValueError(f"{SQUARES_OVERFLOW}: give init in the units of X")
        self._set(attributes)

    def partial_fit(
        self, X: object, y: object = None, sample_weight: object = None
    ) -> "MiniBatchKMeans":
        """Make one step on the given rows, so that each centre is the running mean of its rows.

        The first batch initialises the centres and must hold at least k rows.

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
        if isinstance(X, StreamedTable):
            raise TypeError(
                "partial_fit takes one batch as an array, and this is a whole table: use fit, or "
                "partial_fit(batch.X, sample_weight=batch.s) for each batch of table.batches()"
            )
        self._check_parameters()
        has_centers = "cluster_centers_" in vars(self)
        if has_centers:
            rows, unit = self._next_rows(X, sample_weight), self._unit
        else:
            given, unit = self._rows_to_fit(X, sample_weight)
            rows = divided(given, unit)
        random_state = vars(self).get("_random_state") or check_random_state(self.random_state)
        with blas_limiter.for_work(rows.shape):
            if has_centers:
                state, dtype = self._stored_state(unit), self.cluster_centers_.dtype
            else:
                size = self._init_size(rows.shape[0])
                state = begin(best_start(rows, self._start(unit), 1, size, random_state))
                dtype = np.dtype(center_dtype(rows))
            step(rows, state, random_state, self.reassignment_ratio)
            _, labels, J, _ = assign(rows, state, dtype)
        attributes = {
            "inertia_": J,
            "_random_state": random_state,
            **self._label_attributes(labels),
        }
        self._set({**_state_attributes(state, dtype, unit), **attributes})
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

    def _start(self, unit: float) -> DrawStart:
        return lambda rows, draw: starts(self.init, rows, self.n_clusters, draw, unit=unit)()

    def _next_rows(self, X: object, sample_weight: object) -> Rows:
        data = data_for_search(self, X, reset=False)
        rows = self._in_unit(Rows(data, None, weights(sample_weight, data.shape[0])))
        unit = unit_of_squares(rows, vars(self).get("feature_names_in_"))
        if unit is None:
            self._raise_not_finite(rows)
        if unit != 1.0:
            raise ValueError(
                "the differences in this batch are so much "
                f"{'larger' if unit > 1 else 'smaller'} than those in the first that their squares "
                f"{'overflow' if unit > 1 else 'underflow'}: fit all rows at once"
            )
        return rows

    def _stored_state(self, unit: float) -> MiniBatchState:
        """Return the state after the previous batches; ``cluster_centers_`` wins if it was set."""
        centers: np.ndarray = self._means / unit
        if not np.array_equal(
            self._means.astype(self.cluster_centers_.dtype), self.cluster_centers_
        ):
            centers = self._centers
        return MiniBatchState(
            centers, self.counts_.copy(), self.n_steps_, self._rows_since_reassignment
        )

    def _fitted_attributes(
        self,
        rows: Rows,
        state: MiniBatchState,
        batch_size: int,
        unit: float,
        refill: bool = False,
    ) -> dict[str, Any]:
        """Return the attributes of a fit, with all rows assigned to the final centres."""
        dtype = np.dtype(center_dtype(rows))
        assignment = assign(rows, state, dtype, refill)
        return {
            **_state_attributes(state, dtype, unit),
            **self._label_attributes(assignment.labels),
            "inertia_": assignment.objective,
            "n_iter_": ceil(state.steps * batch_size / rows.shape[0]),
            "n_clusters_effective_": assignment.effective,
        }

    def _set(self, attributes: dict[str, Any]) -> None:
        self._forget(*FIT_ONLY_ATTRIBUTES)  # fit and partial_fit set different ones
        self.__dict__.update(attributes)

    def _label_attributes(self, labels: RowState) -> dict[str, Any]:
        return {"labels_": np.asarray(labels)} if self.compute_labels else {}


def _state_attributes(state: MiniBatchState, dtype: np.dtype, unit: float) -> dict[str, Any]:
    means = state.centers * unit
    return {
        "cluster_centers_": means.astype(dtype),
        "unit_": unit,
        "counts_": state.counts,
        "n_steps_": state.steps,
        "_means": means,  # in float64: small steps would be lost in float32
        "_rows_since_reassignment": state.rows_since_reassignment,
    }


def _print_steps(on_step: OnStep, name: str, max_steps: int) -> OnStep:
    """Wrap ``on_step`` to print a line for every batch."""

    def report(step: Step) -> bool:
        objective = number(step.objective, 10)
        print(
            printable(
                f"{name}: batch {step.iteration:,} of at most {max_steps:,}, smoothed objective "
                f"{objective}"
            )
        )
        return bool(on_step(step))

    return report
