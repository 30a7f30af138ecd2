"""What the classifiers and the regressors of neighbours share, whoever the voters are."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ..data.validation import weights
from ..exceptions import DegenerateWarning
from ..runtime.user_frame import warn_user
from ._abstention import Verdict, numbers, rows_named
from ._base import NeighborsModel
from ._input import classes_given, numbers_given
from ._votes import Neighbours, means, shares, totals, votes, winners


class Voting(NeighborsModel, ABC):
    """A target that neighbours vote on. ``_voters(X)`` are found by a mixin."""

    weights: str | Callable[..., Any] | None
    abstain: object
    _no_voters: str  # why a row may have none
    _remedy: str
    _sample_weight: np.ndarray | None

    @abstractmethod
    def _voters(self, X: object) -> Neighbours:
        """The neighbours that vote on each row."""

    def _votes(self, found: Neighbours, *, signed: bool) -> np.ndarray:
        return votes(found, self.weights, self._sample_weight, signed=signed)

    def _refuse(self, rows: np.ndarray) -> None:
        raise ValueError(
            f"No neighbors found for test samples, or all neighbors of some sample are getting "
            f"zero weights: {rows_named(rows)} ({self._no_voters}). {self._remedy}, or drop the "
            "rows"
        )


class NeighborsClassifier(ClassifierMixin, Voting):
    """T_c = Σ v_j [y_j = c]; the class with the most votes."""

    classes_: Any
    outputs_2d_: bool
    _y: np.ndarray
    _instead: list[Verdict] | None

    def _fit_classifier(self, X: object, y: object, sample_weight: object) -> None:
        data = self._take(X)
        k, classes, several = classes_given(self, y, data.shape[0])
        s = weights(sample_weight, data.shape[0])
        self._keep(data, s)
        self.outputs_2d_ = several
        self.classes_ = classes if several else classes[0]
        self._y = k if several else k[:, 0]
        self._sample_weight = s
        prior = [np.bincount(k[:, t], s, len(c)) for t, c in enumerate(classes)]
        self._instead = self._say_instead(classes, prior)
        self._certify_neighbors(k.astype(float), s)

    @abstractmethod
    def _say_instead(
        self, classes: list[np.ndarray], prior: list[np.ndarray]
    ) -> list[Verdict] | None:
        """What is said of each output where nobody votes; None: the row is refused."""

    def _outputs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(classes, y) of each output."""
        if not self.outputs_2d_:
            return [(self.classes_, self._y)]
        return [(classes, self._y[:, t]) for t, classes in enumerate(self.classes_)]

    def predict(self, X: object) -> np.ndarray:
        """The class with the most votes.

        Of several, the one whose nearest voter is nearer; if they are equally near, the smaller
        label.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_queries, n_features), or None
            None: the rows of the fit, each without itself.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        found = self._voters(X)
        v = self._votes(found, signed=False)
        columns = []
        for t, (classes, y) in enumerate(self._outputs()):
            best = winners(found, v, y, len(classes))
            nobody = np.flatnonzero(best < 0)
            said = classes[best]
            if len(nobody):
                said = _with(said, nobody, self._verdict(t, nobody).label)
            columns.append(said)
        return np.stack(columns, axis=1) if self.outputs_2d_ else columns[0]

    def predict_proba(self, X: object) -> Any:
        """Shares of the votes, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_queries, n_features), or None
            None: the rows of the fit, each without itself.

        Returns
        -------
        ndarray of shape (n_queries, n_classes), or a list of one for each output
        """
        found = self._voters(X)
        v = self._votes(found, signed=False)
        out = []
        for t, (classes, y) in enumerate(self._outputs()):
            T = totals(found, v, y, len(classes))
            P = shares(T)
            nobody = np.flatnonzero(~(T.max(axis=1) > 0))
            if len(nobody):
                verdict = self._verdict(t, nobody)
                P[nobody] = verdict.shares
                if not verdict.known:
                    warn_user(
                        f"Outlier label {verdict.label} is not in training classes. All class "
                        f"probabilities of outliers will be assigned with 0: {rows_named(nobody)}",
                        UserWarning,
                    )
            out.append(P)
        return out if self.outputs_2d_ else out[0]

    def _verdict(self, output: int, nobody: np.ndarray) -> Verdict:
        if self._instead is not None:
            return self._instead[output]
        if not self._asks_itself:
            self._refuse(nobody)
        classes, _ = self._outputs()[output]
        return Verdict(classes[0], np.zeros(len(classes)), True)  # of which nobody will hear

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """The share of rows whose class is predicted.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_queries, n_features), or None
            None: the rows of the fit, each without itself, so that ``score(None, y)`` is the
            leave-one-out accuracy.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
        sample_weight : array-like of shape (n_queries,), default=None

        Returns
        -------
        float
        """
        accuracy: float = super().score(X, y, sample_weight)
        return accuracy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class NeighborsRegressor(RegressorMixin, Voting):
    """ŷ = Σ v_j y_j / Σ v_j."""

    _y: np.ndarray
    _instead: np.ndarray | None

    def _fit_regressor(self, X: object, y: object, sample_weight: object) -> None:
        data = self._take(X)
        values, flat = numbers_given(self, y, data.shape[0])
        s = weights(sample_weight, data.shape[0])
        self._keep(data, s)
        self._y = values[:, 0] if flat else values
        self._sample_weight = s
        everybody = np.arange(len(values))
        all_rows = Neighbours(np.zeros(len(values)), everybody, np.array([0, len(values)]), None)
        mean = means(all_rows, np.ones(len(values)) if s is None else s, values)[0]
        self._instead = numbers("abstain", self.abstain, mean)
        self._certify_neighbors(values, s)

    def predict(self, X: object) -> np.ndarray:
        """The mean of the neighbours' targets, weighted by their votes.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_queries, n_features), or None
            None: the rows of the fit, each without itself.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_targets)
        """
        found = self._voters(X)
        out = means(found, self._votes(found, signed=True), self._y.reshape(len(self._y), -1))
        nobody = np.flatnonzero(np.isnan(out).any(axis=1))
        if len(nobody):
            self._say(out, nobody)
        return out[:, 0] if self._y.ndim == 1 else out

    def _say(self, out: np.ndarray, nobody: np.ndarray) -> None:
        if self._instead is not None:
            out[nobody] = self._instead
        elif self._asks_itself:
            return
        elif self.abstain is not None:
            self._refuse(nobody)
        else:
            warn_user(
                f"One or more samples have no neighbors ({self._no_voters}); predicting NaN: "
                f"{rows_named(nobody)}. {self._remedy}",
                DegenerateWarning,
            )


def _with(labels: np.ndarray, rows: np.ndarray, label: object) -> np.ndarray:
    """The same labels but for some rows; long text is not cut to the length of the others."""
    one = np.asarray(label, dtype=object if labels.dtype == object else None)
    out = labels.astype(np.promote_types(labels.dtype, one.dtype))
    out[rows] = label
    return out
