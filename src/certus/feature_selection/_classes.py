"""Base class of the NCFS classifiers: class gains, neighbour probabilities, prediction."""

import numpy as np
from sklearn.base import ClassifierMixin

from ..data.rows import Rows
from ..solvers.ncfs import ClassGains, ClassTargets
from ._base import NCFS, AnyTask
from ._batches import (
    BatchTask,
    ReferenceRows,
    accuracy,
    classes_without_pairs,
    remarks_on_order,
    require_mixed,
    require_weights_of_classes,
    share_between,
    survey_of,
)
from ._priors_costs import check_alpha, class_factors, costs, mean_cost, row_weights
from ._task import Task
from ._types import Costs, Prior


class NCFSClassifierBase(ClassifierMixin, NCFS):
    """Classifier with feature weights for which nearby rows are of the same class."""

    prior: Prior
    loss: Costs
    classes_: np.ndarray
    _every_class_has_weight = True

    _costs: np.ndarray | None
    _fit_y: np.ndarray
    _without_weights = "the shares of the classes"

    def _prepare(self, rows: Rows, classes: np.ndarray, alpha: float | None = None) -> Task:
        """Problem of rows whose y are class indices; ``alpha`` overrides the parameter λ."""
        self._require_rows(rows.shape[0])
        self._dense(rows.X)
        k = _class_codes(rows)
        a = row_weights(self.prior, self.form, classes, k, rows.s)
        L = None if self.loss is None else costs(self.loss, classes)
        if alpha is None:
            check_alpha(self.alpha)
            unit = 1.0 if L is None else mean_cost(L)
            auto = isinstance(self.alpha, str)
            alpha = unit * float(a.sum()) / len(k) if auto else float(self.alpha)
        gains = np.eye(len(classes)) if L is None else -L
        return self._task(rows, self._scaling(rows), ClassGains(k, gains), a, alpha)

    def _prepare_batches(self, rows: Rows, classes: np.ndarray, batch_size: int) -> BatchTask:
        """Problem of rows in batches."""
        self._require_rows(rows.shape[0])
        self._dense(rows.X)
        check_alpha(self.alpha)
        L = None if self.loss is None else costs(self.loss, classes)
        survey = survey_of(rows, batch_size, len(classes), 0.0)
        require_weights_of_classes(classes, survey)
        share = share_between(survey, rows.shape[0], are_classes=True)
        require_mixed(share, batch_size, "the class")
        batches = len(rows.edges(batch_size))
        factors = class_factors(self.prior, self.form, classes, survey.weights, batches)
        targets = ClassTargets(np.eye(len(classes)) if L is None else -L, factors)
        remarks = classes_without_pairs(classes, survey, batch_size) if L is None else []
        remarks += remarks_on_order(share, batch_size, "the class")
        a_total, unit = float(factors @ survey.weights), 1.0 if L is None else mean_cost(L)
        kept = ReferenceRows.of(rows, batch_size)
        task = self._batch_task(rows, batch_size, survey, kept, targets, a_total, unit)
        return task._replace(remarks=tuple(remarks))

    def _batch_score(self, task: BatchTask, columns: np.ndarray, W: np.ndarray) -> float:
        return accuracy(task, columns, W)

    def _set_classes(self, task: AnyTask, classes: np.ndarray) -> None:
        self.classes_, self._fit_y = classes, task.kept_y.astype(np.intp)
        self._costs = None if self.loss is None else costs(self.loss, classes)

    def _loo_score(self, task: Task, X: np.ndarray, W: np.ndarray) -> float:
        """Weighted share of rows whose class the other rows predict."""
        k, K = self._fit_y, len(self.classes_)
        P = self._sums(None, np.eye(K)[k], reference=(X, W))
        return float(np.average(self._choice(P) == k, weights=task.rows.s))

    def _choice(self, P: np.ndarray) -> np.ndarray:
        """Most likely class, or the class of the smallest expected cost; ties go to the first."""
        if self._costs is None:
            return np.asarray(P.argmax(axis=1))
        return np.asarray((P @ self._costs).argmin(axis=1))

    def predict_proba(self, X: object) -> np.ndarray:
        """Class probabilities P(c | x) = Σⱼ pⱼ(x) [yⱼ = c] in the neighbourhood of x.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        X = self._scaled(X)
        return self._sums(X, np.eye(len(self.classes_))[self._fit_y])

    def predict(self, X: object) -> np.ndarray:
        """Most likely class; with ``loss``, the class of the smallest expected cost.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        chosen = self._choice(self.predict_proba(X))
        return self.classes_[chosen]


def _class_codes(rows: Rows) -> np.ndarray:
    assert rows.y is not None
    return rows.y[:, 0].astype(np.intp)
