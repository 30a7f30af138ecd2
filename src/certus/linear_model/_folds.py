"""Parts of cross-validated classifiers: the grid, the folds' paths, and scores on left-out rows."""

from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..data.rows import Rows

if TYPE_CHECKING:
    from ._classifier import LinearClassifier


class Grid(NamedTuple):
    """Values of C and l."""

    Cs: np.ndarray  # (A,)
    ratios: np.ndarray  # (L,): values of l that are fitted
    given: npt.ArrayLike | None  # l1_ratios as passed; None: not passed


class Paths(NamedTuple):
    """Fits and scores of every fold, l and C."""

    coefs: np.ndarray  # (folds, L, A, K, p or p + 1): the intercept is the last
    scores: np.ndarray  # (folds, L, A)
    n_iter: np.ndarray  # (folds, L, A)

    def best(self) -> tuple[int, int]:
        """Return (a, l) of the best mean score; among equals the first C."""
        return _largest(self.scores.swapaxes(1, 2).sum(axis=0))

    def best_of_each(self) -> list[tuple[int, int]]:
        """Return (a, l) of the best score in each fold."""
        return [_largest(scores.T) for scores in self.scores]

    def by_class(self, classes: np.ndarray, several_ratios: bool) -> tuple[Any, Any, Any]:
        """Return coefs, scores and n_iter in scikit-learn 1.9's shapes, axes of C and l swapped."""
        coefs = self.coefs.transpose(3, 0, 2, 1, 4)
        scores, n_iter = self.scores.swapaxes(1, 2), self.n_iter.swapaxes(1, 2)
        if not several_ratios:
            coefs, scores, n_iter = coefs[:, :, :, 0], scores[:, :, 0], n_iter[:, :, 0]
        shown = classes if len(coefs) > 1 else classes[1:]
        by_label = dict(zip(shown, coefs, strict=True))
        return by_label, {label: scores.copy() for label in shown}, n_iter[None]


def _largest(scores: np.ndarray) -> tuple[int, int]:
    a, l = np.unravel_index(np.argmax(scores), scores.shape)
    return int(a), int(l)


# --- parameters -----------------------------------------------------------------------------------


def values_of_C(Cs: object) -> np.ndarray:
    if isinstance(Cs, Integral) and not isinstance(Cs, bool):
        if Cs < 1:
            raise ValueError(f"Cs={Cs!r}: give a whole number above 0, or values of C")
        return np.logspace(-4, 4, int(Cs))
    try:
        values = np.array(Cs, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not (values > 0).all():
        raise ValueError(f"Cs={Cs!r}: give a whole number, or numbers above 0 (inf: no penalty)")
    return values


def values_of_l(given: object) -> np.ndarray:
    message = f"l1_ratios={given!r}: give at least one number from 0 (ridge) to 1 (lasso)"
    try:
        values = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if values.ndim != 1 or not len(values) or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(message)
    return values


# --- scores ---------------------------------------------------------------------------------------


def fold_score(
    model: "LinearClassifier",
    rows: Rows,
    scorer: Callable[..., float] | None,
    params: dict[str, Any],
) -> float:
    """Return the score of a classifier; NaN where a fit failed. No scorer: weighted accuracy."""
    if not (np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()):
        return np.nan
    assert rows.y is not None
    X = rows.X[:] if rows.sparse else rows.X
    y = model.classes_[rows.y[:, 0].astype(np.intp)]
    if scorer is None:
        return float(model.score(X, y, sample_weight=rows.s))
    return float(scorer(model, X, y, **params))
