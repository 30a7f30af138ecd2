r"""Base of the kernel machines: validated rows, one kernel, scores of new rows.

f(x) = Σ_j β_j K(x_j, x) + b
"""

from typing import Any

import numpy as np

from ..base.certified import CertifiedEstimator
from ..data.csr import CSR
from ..data.finite import require_finite
from ..data.lazy import LazyRows
from ..data.rows import Rows
from ..data.validation import data_for_predict
from ..solvers.lssvm import predict
from ..text.format import printable
from ._kernels import KernelOrName, kernel_of, require_kernel_matrix


class KernelMachine(CertifiedEstimator):
    """Base class of models with a kernel between the rows of their fit."""

    C: float
    kernel: KernelOrName
    degree: int
    gamma: float | str
    coef0: float
    verbose: int

    X_fit_: np.ndarray
    gamma_: float
    dual_coef_: np.ndarray
    intercept_: np.ndarray

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    # --- rows ---

    def _dense(self, X: np.ndarray | CSR | LazyRows) -> np.ndarray:
        """Return X as a dense array of floats; no copy where it is one already."""
        if isinstance(X, CSR):
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} needs dense rows: use "
                "X.toarray(), or kernel='precomputed' with a kernel of "
                "sklearn.metrics.pairwise, which takes sparse X"
            )
        dense = X if isinstance(X, np.ndarray) else X[: X.shape[0]]  # reads lazy rows
        return dense if dense.dtype in (np.float32, np.float64) else dense.astype(float)

    def _finite(self, X: np.ndarray) -> np.ndarray:
        require_finite(X, vars(self).get("feature_names_in_"))
        return X

    def _validate_rows(self, rows: Rows) -> Rows:
        """Return the rows of a fit, dense and finite; with a precomputed kernel also symmetric."""
        X = self._finite(self._dense(rows.X))
        require_kernel_matrix(self, X)
        return Rows(X, rows.y, rows.s, threads=rows.threads)

    def _store_rows(self, X: np.ndarray) -> None:
        """Store a copy of the rows."""
        self._forget("X_fit_")
        if not self._precomputed:
            self.X_fit_ = np.array(X, order="C")

    def _scores(self, X: object) -> np.ndarray:
        """Return f of new rows, (m, q)."""
        new = self._finite(self._dense(data_for_predict(self, X)))
        rows = new if self._precomputed else self.X_fit_
        kernel = kernel_of(self, float(self.gamma_))
        return predict(new, rows, self.dual_coef_.T, self.intercept_, kernel)

    # --- messages ---

    def _print(self, message: str) -> None:
        if self.verbose:
            print(printable(f"{type(self).__name__}: {message}"))

    # --- for scikit-learn ---

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags
