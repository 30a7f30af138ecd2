"""LinearRegression, Ridge and RidgeCV of certus and scikit-learn alike: attributes are shared."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ..types import FittedModel

if TYPE_CHECKING:
    from ...data.rows import Rows


SQUARES = "Σ sᵢ(yᵢ − xᵢᵀw − b)²"
RIDGE = "Σ sᵢ(yᵢ − xᵢᵀw − b)² + α‖w‖²"


def _weights(model: FittedModel) -> np.ndarray:
    """Return w as (p, k), for any shape of coef_."""
    coef = model.coef_.toarray() if issparse(model.coef_) else model.coef_
    return np.atleast_2d(np.asarray(coef, dtype=float)).T


def _coefficients(model: FittedModel) -> dict[str, Any]:
    """Return w (p, k), b (k,) and fit_intercept."""
    w = _weights(model)
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=float).ravel(), w.shape[1:]).copy()
    return {"w": w, "b": b, "fit_intercept": bool(model.fit_intercept)}


def read_least_squares(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    attributes = vars(model)
    rank = attributes.get("rank_")
    positive = bool(model.positive)
    return {
        "definition": "least_squares",
        "formula": SQUARES + (" over w ≥ 0" if positive else ""),
        "parameters": {**_coefficients(model), "alpha": 0.0, "positive": positive},
        "rank": None if rank is None else int(rank),
        "spectrum": {k: attributes[k] for k in ("singular_", "condition_") if k in attributes},
    }


def read_ridge(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    positive = bool(model.positive)
    alpha = np.asarray(model.alpha, dtype=float)
    return {
        "definition": "least_squares",
        "formula": RIDGE + (" over w ≥ 0" if positive else ""),
        "parameters": {**_coefficients(model), "alpha": alpha, "positive": positive},
    }


def read_ridge_cv(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    choice: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    if model.cv is None and model.scoring is None:
        results = vars(model).get("cv_results_")
        if results is not None:  # (n, A) or (n, k, A)
            results = np.mean(
                np.reshape(results, (len(results), -1, np.shape(results)[-1])), axis=0
            )
        choice = {
            "alphas": np.atleast_1d(np.asarray(model.alphas, dtype=float)),
            "alpha": model.alpha_,
            "best_score": model.best_score_,
            "mean_results": results,
            "fit_intercept": bool(model.fit_intercept),
            "per_target": bool(model.alpha_per_target),
        }
    else:
        choice = {"alphas": np.atleast_1d(model.alphas), "alpha": model.alpha_}
        notes = ("the choice of alpha_ (by cv or scoring) was not recomputed, the fit at it was",)
    return {
        "definition": "least_squares",
        "formula": RIDGE,
        "parameters": {**_coefficients(model), "alpha": np.asarray(model.alpha_, dtype=float)},
        "cv_claim": choice,
        "notes": notes,
    }
