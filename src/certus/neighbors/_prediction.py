"""Bases of the neighbour classifiers and regressors, for either way of finding the voters."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ..data.validation import require_target, weights
from ..exceptions import DegenerateWarning
from ..runtime.user_frame import warn_user
from ._abstention import Fallback, name_rows, value_fallbacks
from ._base import NeighborsModel
from ._input import read_classes, read_values
from ._votes import NeighborLists, means, shares, totals, votes, winners


class Voting(NeighborsModel, ABC):
    """Base of models whose neighbours vote on a target; a search mixin defines ``_voters``."""

    weights: str | Callable[..., Any] | None
    abstain: object
    _no_voters: str  # reason why a row may have no voters, for messages
    _remedy: str  # and what to do about it
    _sample_weight: np.ndarray | None

    @abstractmethod
    def _voters(self, X: object) -> NeighborLists:
        """Return the neighbours that vote on each row."""

    def _votes(self, neighbors: NeighborLists, *, signed: bool) -> np.ndarray:
        return votes(neighbors, self.weights, self._sample_weight, signed=signed)

    def _refuse(self, rows: np.ndarray) -> None:
        raise ValueError(
            f"No neighbors found for test samples, or all neighbors of some sample are getting "
            f"zero weights: {name_rows(rows)} ({self._no_voters}). {self._remedy}, or drop the "
            "rows"
        )


class NeighborsClassifier(ClassifierMixin, Voting):
    """Classifier by T_c = Σ v_j [y_j = c]: the class with the most votes."""

    classes_: Any
    outputs_2d_: bool
    _y: np.ndarray
    _fallback: list[Fallback] | None

    def _fit_classifier(self, X: object, y: object, sample_weight: object) -> None:
        data = self._read_for_fit(X)
        k, classes, several = read_classes(self, y, data.shape[0])
        s = weights(sample_weight, data.shape[0])
        self._store_rows(data, s)
        self.outputs_2d_ = several
        self.classes_ = classes if several else classes[0]
        self._y = k if several else k[:, 0]
        self._sample_weight = s
        prior = [np.bincount(k[:, t], s, len(c)) for t, c in enumerate(classes)]
        self._fallback = self._make_fallback(classes, prior)
        self._certify_neighbors(k.astype(float), s)

    @abstractmethod
    def _make_fallback(
        self, classes: list[np.ndarray], prior: list[np.ndarray]
    ) -> list[Fallback] | None:
        """Return the fallback of each output for rows without votes; None: raise."""

    def _outputs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (classes, y) of each output."""
        if not self.outputs_2d_:
            return [(self.classes_, self._y)]
        return [(classes, self._y[:, t]) for t, classes in enumerate(self.classes_)]

    def predict(self, X: object) -> np.ndarray:
        """Predict the class with the most votes.

        A tie goes to the class whose nearest voter is nearer; if they are equally near, to the
        smaller label.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or open_rows, (n_queries, n_features), or None
            None: the rows of the fit, each without itself. ``certus.open_rows``: block by block.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        neighbors = self._voters(X)
        v = self._votes(neighbors, signed=False)
        columns = []
        for t, (classes, y) in enumerate(self._outputs()):
            best = winners(neighbors, v, y, len(classes))
            voteless = np.flatnonzero(best < 0)
            labels = classes[best]
            if len(voteless):
                labels = _with(labels, voteless, self._fallback_of(t, voteless).label)
            columns.append(labels)
        return np.stack(columns, axis=1) if self.outputs_2d_ else columns[0]

    def predict_proba(self, X: object) -> Any:
        """Return each class's share of the votes, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or open_rows, (n_queries, n_features), or None
            None: the rows of the fit, each without itself. ``certus.open_rows``: block by block.

        Returns
        -------
        ndarray of shape (n_queries, n_classes), or a list of one for each output
        """
        neighbors = self._voters(X)
        v = self._votes(neighbors, signed=False)
        out = []
        for t, (classes, y) in enumerate(self._outputs()):
            T = totals(neighbors, v, y, len(classes))
            P = shares(T)
            voteless = np.flatnonzero(~(T.max(axis=1) > 0))
            if len(voteless):
                verdict = self._fallback_of(t, voteless)
                P[voteless] = verdict.shares
                if not verdict.known:
                    warn_user(
                        f"Outlier label {verdict.label} is not in training classes. All class "
                        f"probabilities of outliers will be assigned with 0: {name_rows(voteless)}",
                        UserWarning,
                    )
            out.append(P)
        return out if self.outputs_2d_ else out[0]

    def _fallback_of(self, output: int, voteless: np.ndarray) -> Fallback:
        if self._fallback is not None:
            return self._fallback[output]
        if not self._is_certifying:
            self._refuse(voteless)
        classes, _ = self._outputs()[output]
        return Fallback(classes[0], np.zeros(len(classes)), True)  # the certificate ignores it

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:
        """Return the share of rows whose class is predicted correctly.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or open_rows, (n_queries, n_features), or None
            None: the rows of the fit, each without itself, so that ``score(None, y)`` is the
            leave-one-out accuracy.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            None for ``certus.open_rows``, which brings targets and weights.
        sample_weight : array-like of shape (n_queries,), default=None

        Returns
        -------
        float
        """
        require_target(self, y)
        accuracy: float = super().score(X, y, sample_weight)
        return accuracy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class NeighborsRegressor(RegressorMixin, Voting):
    """Regressor by ŷ = Σ v_j y_j / Σ v_j."""

    _y: np.ndarray
    _fallback: np.ndarray | None

    def _fit_regressor(self, X: object, y: object, sample_weight: object) -> None:
        data = self._read_for_fit(X)
        values, flat = read_values(self, y, data.shape[0])
        s = weights(sample_weight, data.shape[0])
        self._store_rows(data, s)
        self._y = values[:, 0] if flat else values
        self._sample_weight = s
        n = len(values)
        all_rows = NeighborLists(np.zeros(n), np.arange(n), np.array([0, n]), None)
        mean = means(all_rows, np.ones(n) if s is None else s, values)[0]
        self._fallback = value_fallbacks("abstain", self.abstain, mean)
        self._certify_neighbors(values, s)

    def predict(self, X: object) -> np.ndarray:
        """Predict the mean of the neighbours' targets, weighted by their votes.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or open_rows, (n_queries, n_features), or None
            None: the rows of the fit, each without itself. ``certus.open_rows``: block by block.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_targets)
        """
        neighbors = self._voters(X)
        out = means(
            neighbors, self._votes(neighbors, signed=True), self._y.reshape(len(self._y), -1)
        )
        voteless = np.flatnonzero(np.isnan(out).any(axis=1))
        if len(voteless):
            self._apply_fallback(out, voteless)
        return out[:, 0] if self._y.ndim == 1 else out

    def _apply_fallback(self, out: np.ndarray, voteless: np.ndarray) -> None:
        """Fill the predictions of rows without votes, warn or raise."""
        if self._fallback is not None:
            out[voteless] = self._fallback
        elif self._is_certifying:
            return
        elif self.abstain is not None:
            self._refuse(voteless)
        else:
            warn_user(
                f"One or more samples have no neighbors ({self._no_voters}); predicting NaN: "
                f"{name_rows(voteless)}. {self._remedy}",
                DegenerateWarning,
            )


def _with(labels: np.ndarray, rows: np.ndarray, label: object) -> np.ndarray:
    """Return the labels with one assigned to ``rows``; a longer text is not truncated."""
    one = np.asarray(label, dtype=object if labels.dtype == object else None)
    out = labels.astype(np.promote_types(labels.dtype, one.dtype))
    out[rows] = label
    return out
