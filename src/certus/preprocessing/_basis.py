"""What all bases share: functions φ of one column at a time, learned once, applied row by row.

    Φ = [φ_1(x_1) … φ_k(x_1)  φ_1(x_2) …]

column after column of X. One path makes Φ, block by block, whether all of it is kept or none.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from ..data.lazy import LazyRows
from ..data.rows import Rows
from ..data.validation import boolean, data_for_transform


class Basis(TransformerMixin, BaseEstimator, ABC):
    """A transformer of X (n, p) to Φ (n, functions of all columns)."""

    lazy: bool
    n_features_in_: int

    @abstractmethod
    def _learn(self, X: np.ndarray, names: Sequence[str] | None) -> None:
        """Check the parameters and set the fitted attributes; names: of the columns of X."""

    @abstractmethod
    def _functions(self) -> Callable[[np.ndarray], np.ndarray]:
        """Φ of a block of rows, in float64. It keeps what it needs: a later fit changes nothing."""

    @abstractmethod
    def _called(self, name: str, j: int) -> list[str]:
        """Names of the functions of column j."""

    @abstractmethod
    def _require_reach(self, X: np.ndarray) -> None:
        """Refuse X where a value of Φ would not be finite."""

    def fit(self, X: object, y: object = None) -> "Basis":
        """Learn from X where the functions lie.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        boolean("lazy", self.lazy)
        X = data_for_transform(self, X, reset=True)
        self._learn(X, vars(self).get("feature_names_in_"))
        return self

    def transform(self, X: object) -> Any:
        """Φ, the functions of every column.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_functions), float32 for float32 X, else float64
            With ``lazy=True`` rows that are made when they are read: certus estimators take them as
            X, NumPy and others as an array, but not as a frame. X must stay as it is meanwhile.
        """
        if self.lazy:
            self._refuse_frames()
        X = data_for_transform(self, X, reset=False)
        self._require_reach(X)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        Phi = LazyRows(X, len(self.get_feature_names_out()), dtype, self._functions())
        return Phi if self.lazy else Rows(Phi).map(_as_made, np.empty(Phi.shape, Phi.dtype))

    def _refuse_frames(self) -> None:
        """Before scikit-learn hands lazy rows to a library of frames."""
        asked = vars(self).get("_sklearn_output_config", {})  # what set_output leaves
        output = asked.get("transform", get_config()["transform_output"])
        if output != "default":
            raise ValueError(
                f"transform output {output!r} with lazy=True: lazy rows are made when they are "
                "read, and cannot be a frame. Use lazy=False, or set_output(transform='default')"
            )

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Names of the columns of Φ.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X; None: those of the fit, or x0, x1, …

        Returns
        -------
        ndarray of str
        """
        given = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        names = [called for j, name in enumerate(given) for called in self._called(name, j)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _as_made(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> np.ndarray:
    return X
