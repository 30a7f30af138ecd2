"""NCFS for numbers: weights of columns by which the nearest rows have nearly the same y."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from .._validation import data_for_fit, warn_of_a_column
from .._watching import watched
from ..rows import Rows
from ..solvers.ncfs import OfValues
from ._asking import loss_of_values
from ._base import NCFS, Task
from ._scaling import blocks


class NCFSRegressor(RegressorMixin, NCFS):
    r"""Weights W ≥ 0 of columns: maximise F(W) = −Σ aᵢ Σ_{j≠i} pᵢⱼ loss(yᵢ, yⱼ) − λ Σ Wₗ.

    Parameters
    ----------
    TODO
    """

    epsilon_: float | None
    _fit_y: np.ndarray
    _without_weights = "the mean of y"

    def __init__(
        self,
        alpha: Any = "auto",
        *,
        sigma: float = 1.0,
        metric: str = "manhattan",
        loss: Any = "absolute",
        epsilon: Any = "auto",
        form: str = "sum",
        scale: str | None = "minmax",
        solver: str = "lbfgs",
        max_iter: int = 1000,
        tol: float = 1e-6,
        batch_size: Any = "auto",
        step: Any = "auto",
        n_partitions: int = 1,
        warm_start: bool = False,
        threshold: Any = "0.01*max",
        n_features_to_select: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.alpha = alpha
        self.sigma = sigma
        self.metric = metric
        self.loss = loss
        self.epsilon = epsilon
        self.form = form
        self.scale = scale
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.step = step
        self.n_partitions = n_partitions
        self.warm_start = warm_start
        self.threshold = threshold
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.verbose = verbose

    @watched
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NCFSRegressor":
        """Find the weights.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            s: how much the loss of a row counts. It does not change what the row says of others, so
            weight 2 is not the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        before = vars(self).get("weights_") if self.warm_start else None
        rows, flat = data_for_fit(self, X, y, sample_weight)
        if not flat:
            warn_of_a_column()
        task = self._prepare(rows)
        self._fit_y = _values(rows)
        self.epsilon_ = loss_of_values(self.loss, self.epsilon, self._fit_y)[1]
        fit = self._maximise(task, self._start(task, before))
        self._tell(fit, [])
        return self

    def _prepare(self, rows: Rows, alpha: float | None = None) -> Task:
        """The problem of rows; ``alpha``: λ, if not the parameter's."""
        n = rows.shape[0]
        self._require_rows(n)
        self._dense(rows.X)
        y = _values(rows)
        loss, _ = loss_of_values(self.loss, self.epsilon, y)
        a = np.ones(n) if rows.s is None else rows.s
        a = a / a.sum() if self.form == "mean" else a
        G = OfValues(y, loss)
        if alpha is None:
            auto = isinstance(self.alpha, str)
            alpha = _mean_loss(G) * float(a.sum()) / n if auto else float(self.alpha)
        return self._task(rows, G, a, alpha)

    def _left_out_score(self, task: Task, X: np.ndarray, W: np.ndarray) -> float:
        """R² of what the other rows say."""
        y, mean = self._fit_y, self._fit_y.mean()
        said = self._sums(None, (y - mean)[:, None], own=(X, W))[:, 0] + mean
        return float(r2_score(y, said, sample_weight=task.rows.s))

    def predict(self, X: Any) -> np.ndarray:
        """Σⱼ pⱼ(x) yⱼ: the mean of y in the neighbourhood.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._scaled(X)
        y, mean = self._fit_y, self._fit_y.mean()
        return self._sums(X, (y - mean)[:, None])[:, 0] + mean


def _values(rows: Rows) -> np.ndarray:
    assert rows.y is not None
    if rows.y.shape[1] != 1:
        raise ValueError(
            f"y should be a 1d array, got {rows.y.shape[1]} targets: each is a model of its own "
            "(sklearn.multioutput.MultiOutputRegressor)"
        )
    return rows.y[:, 0]


def _mean_loss(G: OfValues) -> float:
    """Over all pairs, so that λ is in the units of the loss; 1 where all y are equal."""
    n, total = len(G.y), 0.0
    for some in blocks(n, n):
        total -= float(G.of(np.arange(some.start, some.stop)).sum())
    return total / (n * (n - 1)) or 1.0
