"""NCFS for classes: weights of columns by which the nearest rows are of the same class."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from .._validation import data_for_classification
from .._watching import watched
from ..rows import Rows
from ..solvers.ncfs import OfClasses
from ._asking import asked, costs, unit_of_costs
from ._base import NCFS, Task
from ._telling import alone


class NCFSClassifier(ClassifierMixin, NCFS):
    r"""Weights W ≥ 0 of columns: maximise F(W) = Σ aᵢ Σ_{j≠i} pᵢⱼ Gᵢⱼ − λ Σ Wₗ.

    Parameters
    ----------
    TODO
    """

    _costs: np.ndarray | None
    _fit_y: np.ndarray
    _without_weights = "the shares of the classes"

    def __init__(
        self,
        alpha: Any = "auto",
        *,
        sigma: float = 1.0,
        metric: str = "manhattan",
        prior: Any = "empirical",
        loss: Any = None,
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
        self.prior = prior
        self.loss = loss
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NCFSClassifier":
        """Find the weights.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s: how much it counts that a row is answered rightly. It does not change what the row
            says of others, so weight 2 is not the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        before = vars(self).get("weights_") if self.warm_start else None
        rows, classes = data_for_classification(self, X, y, sample_weight)
        task = self._prepare(rows, classes)
        self._keep_classes(task, classes)
        fit = self._maximise(task, self._start(task, before))
        self._tell(fit, [] if self._costs is not None else alone(classes, self._fit_y))
        return self

    def _prepare(self, rows: Rows, classes: np.ndarray, alpha: float | None = None) -> Task:
        """The problem of rows, y the indices of classes; ``alpha``: λ, if not the parameter's."""
        self._require_rows(rows.shape[0])
        self._dense(rows.X)
        k = _codes(rows)
        a = asked(self.prior, self.form, classes, k, rows.s)
        L = None if self.loss is None else costs(self.loss, classes)
        if alpha is None:
            unit = 1.0 if L is None else unit_of_costs(L)
            auto = isinstance(self.alpha, str)
            alpha = unit * float(a.sum()) / len(k) if auto else float(self.alpha)
        gains = np.eye(len(classes)) if L is None else -L
        return self._task(rows, OfClasses(k, gains), a, alpha)

    def _keep_classes(self, task: Task, classes: np.ndarray) -> None:
        self.classes_, self._fit_y = classes, _codes(task.rows)
        self._costs = None if self.loss is None else costs(self.loss, classes)

    def _left_out_score(self, task: Task, X: np.ndarray, W: np.ndarray) -> float:
        """The share of the rows, by weight, whose class the others say."""
        k, K = self._fit_y, len(self.classes_)
        P = self._sums(None, np.eye(K)[k], own=(X, W))
        return float(np.average(self._choice(P) == k, weights=task.rows.s))

    def _choice(self, P: np.ndarray) -> np.ndarray:
        """The likeliest class, or that of the least expected cost; of equal ones the first."""
        if self._costs is None:
            return np.asarray(P.argmax(axis=1))
        return np.asarray((P @ self._costs).argmin(axis=1))

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(c | x) = Σⱼ pⱼ(x) [yⱼ = c]: how much of the neighbourhood is of each class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        X = self._scaled(X)
        return self._sums(X, np.eye(len(self.classes_))[self._fit_y])

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class; with ``loss`` the class of the least expected cost.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.classes_[self._choice(self.predict_proba(X))]


def _codes(rows: Rows) -> np.ndarray:
    assert rows.y is not None
    return rows.y[:, 0].astype(np.intp)
