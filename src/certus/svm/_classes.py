r"""Base of the least-squares classifiers: classes as signs, weights of rows, predicted labels.

y_ik = 1 if row i is of class k, else −1: a column for each class; with two classes, for the second

ω_i = d_i² s_i c_i:  density (if any), weight of the row, weight of its class
"""

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import ClassifierMixin

from ..data.labels import class_weights
from ..data.rows import Rows
from ..data.types import ClassWeight
from ..solvers.lssvm import Kernel
from ._least_squares import LeastSquares

if TYPE_CHECKING:
    from .density_svc import DensityWeightedSVC


class LeastSquaresClassifier(ClassifierMixin, LeastSquares):
    """Base class of classifiers with scores by least squares."""

    class_weight: ClassWeight
    classes_: np.ndarray
    class_weight_: np.ndarray
    loo_accuracy_: float | None

    def _weights(
        self, rows: Rows, classes: np.ndarray, density: np.ndarray | None = None
    ) -> np.ndarray:
        """Return ω; sets classes_ and class_weight_."""
        k = codes(rows)
        self.classes_, self.class_weight_ = classes, weights_of_classes(self, classes, rows)
        omega = self.class_weight_[k]
        if rows.s is not None:
            omega = omega * rows.s
        return omega if density is None else density**2 * omega

    def _fit_classes(
        self, rows: Rows, omega: np.ndarray, C: float, kernel: Kernel, left_out: bool
    ) -> list[str]:
        """Solve, certify and return remarks. ``left_out``: also compute leave-one-out scores."""
        k = codes(rows)
        fit = self._solve_and_set(rows, signs(k, len(self.classes_)), omega, C, kernel, left_out)
        self._set_accuracy(rows)
        return self._certify(rows, fit, kernel)

    def _set_accuracy(self, rows: Rows) -> None:
        f, k = self.loo_scores_, codes(rows)
        is_correct = None if f is None else predicted_codes(f) == k
        self.loo_accuracy_ = (
            None if is_correct is None else float(np.average(is_correct, weights=rows.s))
        )

    # --- new rows ---

    def decision_function(self, X: object) -> np.ndarray:
        """Return f(x) = Σ β_j K(x_j, x) + b in float64.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
            With kernel="precomputed" K(new rows, rows of the fit).

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: above 0 is ``classes_[1]``.
        """
        f = self._scores(X)
        return f[:, 0] if f.shape[1] == 1 else f

    def predict(self, X: object) -> np.ndarray:
        """Predict the class with the largest score.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
            With kernel="precomputed" K(new rows, rows of the fit).

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        which = predicted_codes(self.decision_function(X))
        return self.classes_[which]


def codes(rows: Rows) -> np.ndarray:
    """Return the index of each row's class, (n,)."""
    assert rows.y is not None
    return rows.y[:, 0].astype(np.intp)


def signs(k: np.ndarray, K: int) -> np.ndarray:
    """Return classes k of K as signs ±1, (n, q), q = 1 for two classes."""
    return np.where(k[:, None] == np.arange(1 if K == 2 else 0, K), 1.0, -1.0)


def predicted_codes(f: np.ndarray) -> np.ndarray:
    """Return the index of the predicted class; ties go to the first."""
    return (f > 0).astype(np.intp) if f.ndim == 1 else np.asarray(f.argmax(axis=1))


def weights_of_classes(
    model: "LeastSquaresClassifier | DensityWeightedSVC", classes: np.ndarray, rows: Rows
) -> np.ndarray:
    """Return the weight c of each class."""
    c = class_weights(model.class_weight, classes, codes(rows), rows.s)
    return np.ones(len(classes)) if c is None else c
