"""NCFS for regression: feature weights for which nearby rows have similar y."""

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ..data.rows import Rows
from ..data.validation import data_for_fit, warn_of_a_column
from ..runtime.progress import monitored
from ..solvers.ncfs import ValueGains, ValueTargets
from ._base import NCFS, AnyTask
from ._batches import (
    BatchTask,
    ReferenceRows,
    mean_loss,
    r_squared,
    remarks_on_order,
    require_mixed,
    share_between,
    survey_of,
)
from ._parameters import check_parameters
from ._priors_costs import check_alpha, loss_of_values
from ._scaling import blocks
from ._task import Task
from ._types import ValueLoss


class NCFSRegressor(RegressorMixin, NCFS):
    r"""Neighbourhood component feature selection for regression.

    Learns weights W ≥ 0 of the columns for which nearby rows have similar y: maximises

        F(W) = −Σᵢ aᵢ Σⱼ pᵢⱼ loss(yᵢ, yⱼ) − λ Σₗ Wₗ,     pᵢⱼ ∝ exp(−D_W(xᵢ, xⱼ)/σ),  j ≠ i

    pᵢⱼ is the probability that row i takes row j as its neighbour. Columns that gain less than λ
    costs get weight 0. W is w² of MATLAB's fsrnca. The fitted model selects columns (``transform``)
    and predicts new rows by their neighbours among the rows of the fit.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        λ: the cost of a weight of 1, in units of the loss. "auto": Σa/n times the mean loss of all
        pairs of rows, so that it does not depend on the unit of y. No effect with "phi_s".
    sigma : float, default=1.0
        σ: the width of the neighbourhood.
    metric : {"manhattan", "sqeuclidean", "euclidean", "phi_s"}, default="manhattan"
        D_W, as in :class:`NCFSClassifier`.
    loss : {"absolute", "squared", "epsilon_insensitive"} or callable, default="absolute"
        |yᵢ − yⱼ|, (yᵢ − yⱼ)², max(|yᵢ − yⱼ| − ε, 0), or a function of two arrays that broadcasts.
    epsilon : float or "auto", default="auto"
        ε. "auto": the interquartile range of y divided by 13.49, a tenth of the spread of normal y.
    form : {"sum", "mean"}, default="sum"
        aᵢ = sᵢ, or sᵢ/Σs.
    scale : {"minmax", "standard", None}, default="minmax"
        Scaling of the columns, x ← (x − shift)/scale: to [0, 1], to mean 0 and spread 1, or none. A
        constant column has weight 0.
    batch_size : int or None, default=None
        Rows are compared within batches of at most so many consecutive rows, at least 10. None: all
        rows of an array are compared with each other, and a table of ``open_rows`` or a Dask
        collection has batches of 1,024. See Notes.
    solver : {"lbfgs", "yang"}, default="lbfgs"
        "lbfgs": L-BFGS on W ≥ 0; only it ends at a local optimum. "yang": the gradient ascent of
        Yang, Wang and Zuo (2012), which ends where F hardly changes.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-6
        "lbfgs" ends when the slope violates the KKT conditions by at most min(``tol``, 1e-6)·λ;
        "yang" when F changes by less than ``tol``·Σa.
    step : float or "auto", default="auto"
        The first step of "yang"; "auto": 0.01.
    warm_start : bool, default=False
        Whether to start at ``weights_`` of the previous fit, if it had as many columns, instead of
        at W = 1. With "yang" a weight of 0 stays 0.
    threshold : float or str, default="0.01*max"
        Columns with a weight above 0 and of at least this are selected: a number, or "c*max",
        "c*mean", "c*median" of the weights.
    n_features_to_select : int, float or None, default=None
        Instead of ``threshold``: the number or share of columns to select, by the largest weights
        (ties go to the first). Columns of weight 0 are never selected.
    verbose : int, default=0
        If above 0, print a line for each step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights W of the scaled columns, which can be compared.
    weights_in_units_ : ndarray of shape (n_features,) or None
        Weights of the unscaled columns: D = Σ ``weights_in_units_``·|Δ| ("manhattan") or
        Σ ``weights_in_units_``·Δ². None for "phi_s".
    feature_importances_ : ndarray of shape (n_features,)
        W/ΣW.
    support_ : ndarray of shape (n_features,) of bool
        Mask of the selected columns.
    objective_ : float
        F at the fitted weights.
    alpha_ : float
        The λ used.
    loo_score_ : float
        R² of the predictions by the other rows, with rows weighted as in ``fit``.
    n_iter_, n_evaluations_ : int
        Number of steps, and of evaluations of F.
    solver_ : str
        The solver used.
    batch_size_ : int or None
        The ``batch_size`` used; None: all rows are compared with each other.
    shift_, scale_ : ndarray of shape (n_features,)
        Shift and scale of the columns.
    certificate_ : Certificate
        Recomputes F from the data, and shows that no small change of W raises it: ∂F/∂Wₗ = 0 where
        Wₗ > 0 and ∂F/∂Wₗ ≤ 0 where Wₗ = 0, up to 1e-6 λ. That is a local optimum: F may have
        others. The sign confirms that the dropped columns do not help. It does not say that the
        columns matter for other rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Column names of X, if it has any.
    epsilon_ : float or None
        ε, if the loss has one.

    Notes
    -----
    F and its slope take O(n²·P) operations with P active columns, and are computed some tens of
    times; memory for one scaled copy of X and a few million numbers. float32 stays float32. A new
    row costs O(n·p) with p nonzero weights.

    In batches j runs over the rows of i's batch, and F has 1/B Σᵢ for B batches in place of Σᵢ (the
    mean form stays the mean over all rows), so that λ has the meaning of a fit to one batch. A fit
    takes O(n·m·P) operations for m rows a batch, a pass over the rows for each evaluation of F and
    some before and after; the memory does not grow with n. The certificate is about this F,
    recomputed over all batches, and says nothing about pairs of rows in different batches.
    Predictions come from m rows spread over those of the fit, and ε="auto" from their y. The order
    of the rows must not depend on y: sorted rows are refused.

    ``sample_weight`` is the importance of predicting a row, not its influence on others: weight 2
    is not the row twice, since the copy would be its nearest neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.feature_selection import NCFSRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 6))
    >>> y = np.sin(6 * X[:, 1]) + X[:, 4]
    >>> model = NCFSRegressor().fit(X, y)
    >>> model.get_support(indices=True)
    array([1, 4])
    >>> bool(model.loo_score_ > 0.9)
    True
    """

    epsilon_: float | None
    _fit_y: np.ndarray
    _without_weights = "the mean of y"

    _reads_rows = True

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        sigma: float = 1.0,
        metric: str = "manhattan",
        loss: ValueLoss = "absolute",
        epsilon: float | str = "auto",
        form: str = "sum",
        scale: str | None = "minmax",
        batch_size: int | None = None,
        solver: str = "lbfgs",
        max_iter: int = 1000,
        tol: float = 1e-6,
        step: float | str = "auto",
        warm_start: bool = False,
        threshold: float | str = "0.01*max",
        n_features_to_select: int | float | None = None,
        verbose: int = 0,
    ):
        self.alpha = alpha
        self.sigma = sigma
        self.metric = metric
        self.loss = loss
        self.epsilon = epsilon
        self.form = form
        self.scale = scale
        self.batch_size = batch_size
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.step = step
        self.warm_start = warm_start
        self.threshold = threshold
        self.n_features_to_select = n_features_to_select
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "NCFSRegressor":
        """Fit the weights.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
        y : array-like of shape (n_samples,)
            A table of ``open_rows`` has its own.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s: how much the loss of a row counts. It does not change the row's influence on others,
            so weight 2 is not the row twice.

        Returns
        -------
        self
        """
        check_parameters(self)
        before = vars(self).get("weights_") if self.warm_start else None
        rows, flat = data_for_fit(self, X, y, sample_weight)
        _require_one_target(rows)
        if not flat:
            warn_of_a_column()
        batch_size = self._batch_rows(rows)
        if batch_size is None:
            task: AnyTask = self._prepare(rows)
        else:
            task = self._prepare_batches(rows, batch_size)
        self._fit_y = task.kept_y
        self.epsilon_ = loss_of_values(self.loss, self.epsilon, self._fit_y)[1]
        fit = self._maximize(task, self._start(task, before))
        self._warn_of_fit(fit, [*task.remarks])
        return self

    def _prepare(self, rows: Rows, alpha: float | None = None) -> Task:
        """Problem of rows; ``alpha`` overrides the parameter λ."""
        n = rows.shape[0]
        self._require_rows(n)
        self._dense(rows.X)
        y = _values(rows)
        loss, _ = loss_of_values(self.loss, self.epsilon, y)
        a = np.ones(n) if rows.s is None else rows.s
        a = a / a.sum() if self.form == "mean" else a
        G, scaling = ValueGains(y, loss), self._scaling(rows)
        if alpha is None:
            check_alpha(self.alpha)
            auto = isinstance(self.alpha, str)
            alpha = _mean_loss(G) * float(a.sum()) / n if auto else float(self.alpha)
        return self._task(rows, scaling, G, a, alpha)

    def _prepare_batches(self, rows: Rows, batch_size: int) -> BatchTask:
        """Problem of rows in batches."""
        n = rows.shape[0]
        self._require_rows(n)
        self._dense(rows.X)
        check_alpha(self.alpha)
        kept = ReferenceRows.of(rows, batch_size)
        loss, _ = loss_of_values(self.loss, self.epsilon, kept.y)
        survey = survey_of(rows, batch_size, None, float(kept.y.mean()))
        share = share_between(survey, n, are_classes=False)
        require_mixed(share, batch_size, "y")
        S = float(survey.weights[0])
        factor = 1 / S if self.form == "mean" else 1 / len(rows.edges(batch_size))
        targets = ValueTargets(loss, factor)
        unit = mean_loss(rows, batch_size, targets) if isinstance(self.alpha, str) else 1.0
        task = self._batch_task(rows, batch_size, survey, kept, targets, factor * S, unit)
        return task._replace(remarks=tuple(remarks_on_order(share, batch_size, "y")))

    def _batch_score(self, task: BatchTask, columns: np.ndarray, W: np.ndarray) -> float:
        return r_squared(task, columns, W, float(task.kept_y.mean()))

    def _loo_score(self, task: Task, X: np.ndarray, W: np.ndarray) -> float:
        """R² of the predictions by the other rows."""
        y, mean = self._fit_y, self._fit_y.mean()
        predicted = self._sums(None, (y - mean)[:, None], reference=(X, W))[:, 0] + mean
        return float(r2_score(y, predicted, sample_weight=task.rows.s))

    def predict(self, X: object) -> np.ndarray:
        """Weighted mean Σⱼ pⱼ(x) yⱼ of y in the neighbourhood of x.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._scaled(X)
        y, mean = self._fit_y, self._fit_y.mean()
        return self._sums(X, (y - mean)[:, None])[:, 0] + mean


def _values(rows: Rows) -> np.ndarray:
    _require_one_target(rows)
    assert rows.y is not None
    return np.asarray(rows.y[:, 0])


def _require_one_target(rows: Rows) -> None:
    assert rows.y is not None
    if rows.y.shape[1] != 1:
        raise ValueError(
            f"y should be a 1d array, got {rows.y.shape[1]} targets: each is a model of its own "
            "(sklearn.multioutput.MultiOutputRegressor)"
        )


def _mean_loss(G: ValueGains) -> float:
    """Mean loss over all pairs, the unit of λ; 1 if all y are equal."""
    n, total = len(G.y), 0.0
    for rows_of_block in blocks(n, max(1, n // 8)):
        total -= float(G.of(np.arange(rows_of_block.start, rows_of_block.stop)).sum())
    return total / (n * (n - 1)) or 1.0
