"""Base class of all bases: functions φ of single columns, set at fit and applied row by row.

    Φ = [φ_1(x_1) … φ_k(x_1)  φ_1(x_2) …]

ordered by column of X. Φ is computed block by block, both for a dense and for a lazy result.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from ..base.collections import accept_collections
from ..data.lazy import LazyRows
from ..data.rows import Rows
from ..data.validation import boolean, data_for_transform


class Basis(TransformerMixin, BaseEstimator, ABC):
    """Transformer of X (n, p) to Φ (n, n_functions)."""

    lazy: bool
    n_features_in_: int

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        accept_collections(cls)

    @abstractmethod
    def _fit_functions(self, X: np.ndarray, names: Sequence[str] | None) -> None:
        """Check the parameters and set the fitted attributes; ``names``: those of the columns."""

    @abstractmethod
    def _functions(self) -> Callable[[np.ndarray], np.ndarray]:
        """Function from a block of rows to Φ in float64; a later fit does not change it."""

    @abstractmethod
    def _function_names(self, name: str, j: int) -> list[str]:
        """Names of the functions of column j."""

    @abstractmethod
    def _require_finite(self, X: np.ndarray) -> None:
        """Raise ValueError if a value of Φ would not be finite."""

    def fit(self, X: object, y: object = None) -> "Basis":
        """Place the functions according to the columns of X.

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
        self._fit_functions(X, vars(self).get("feature_names_in_"))
        return self

    def transform(self, X: object) -> Any:
        """Compute Φ, the functions of every column.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
            Of the latter Φ is computed block by block, and is an array in memory.

        Returns
        -------
        ndarray of shape (n_samples, n_functions), float32 for float32 X, else float64
            With ``lazy=True``, rows that are computed when they are read: certus estimators accept
            them as X, and NumPy converts them to an array, but they cannot be a frame. X must not
            be modified in the meantime.
        """
        if self.lazy:
            self._refuse_frames()
        X = data_for_transform(self, X, reset=False)
        self._require_finite(X)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        Phi = LazyRows(X, len(self.get_feature_names_out()), dtype, self._functions())
        return Phi if self.lazy else Rows(Phi).map(_identity, np.empty(Phi.shape, Phi.dtype))

    def _refuse_frames(self) -> None:
        """Raise ValueError before scikit-learn converts lazy rows to a frame."""
        config = vars(self).get("_sklearn_output_config", {})  # set by set_output
        output = config.get("transform", get_config()["transform_output"])
        if output != "default":
            raise ValueError(
                f"transform output {output!r} with lazy=True: lazy rows are computed when they are "
                "read, and cannot be a frame. Use lazy=False, or set_output(transform='default')"
            )

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the columns of Φ.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X; None: those of the fit, or x0, x1, …

        Returns
        -------
        ndarray of str
        """
        given = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        names = [
            function for j, name in enumerate(given) for function in self._function_names(name, j)
        ]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _identity(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> np.ndarray:
    return X
