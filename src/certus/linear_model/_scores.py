"""Scores Xw + b of new rows."""

from typing import Any

import numpy as np
from scipy import sparse

from ..data.finite import require_finite
from ..data.rows import Rows
from ..data.validation import data_for_predict


def scores(model: Any, X: Any) -> np.ndarray:
    """Return Xw + b in float64: (n,) for a 1-D ``coef_``, else (n, k), k scores or intercepts."""
    X = data_for_predict(model, X)
    w = (model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_).T
    several = np.broadcast_shapes(w.shape[1:], np.shape(model.intercept_)) if w.ndim > 1 else ()
    out = np.empty((X.shape[0], *several))
    Rows(X).map(_linear, out, w, model.intercept_)
    if not np.isfinite(out.sum()):
        require_finite(X, vars(model).get("feature_names_in_"))
    return out


def _linear(X: object, _y: np.ndarray, _s: np.ndarray, w: np.ndarray, b: np.ndarray) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite values are reported afterwards
        return X @ w + b
