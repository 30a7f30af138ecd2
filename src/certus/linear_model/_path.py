"""Regularisation paths with warm starts, under the names of scikit-learn's path functions."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..certificate import TOL
from ..data.types import Seed
from ..data.validation import (
    as_numbers,
    boolean,
    data_for_fit,
    not_negative,
    one_of,
    positive_whole,
)
from ..solvers.lasso.coordinate_penalty import L1_L2, NON_NEGATIVE, CoordinatePenalty
from ..solvers.lasso.elastic_net_path import Regression, path, regressions
from ._solver_context import SolverContext


class PathModel(BaseEstimator):
    """Placeholder estimator: validation stores the columns' number and names on a model."""


def enet_path(
    X: object,
    y: object,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: object = "deprecated",
    alphas: object = 100,
    precompute: object = "auto",
    Xy: object = None,
    copy_X: bool = True,
    coef_init: object = None,
    verbose: object = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    sample_weight: object = None,
    random_state: Seed = None,
    selection: str = "cyclic",
    do_screening: bool = True,
) -> Any:
    """Compute coefficients at each α, from the largest to the smallest, without an intercept.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
    l1_ratio : float, default=0.5
        l, from 0 to 1; above 0, unless ``alphas`` are given.
    eps : float, default=1e-3
        Ratio of the smallest α to the largest, at which all coefficients are 0.
    alphas : int or array-like of shape (n_alphas,), default=100
        The number of α, or their values.
    coef_init : array-like of shape (n_features,) or (n_targets, n_features), default=None
        Initial coefficients at the largest α.
    return_n_iter : bool, default=False
    positive : bool, default=False
    tol, max_iter, sample_weight
        As in :class:`ElasticNet`.
    n_alphas
        The name of ``alphas`` in older versions of scikit-learn.
    precompute, Xy, copy_X, verbose, check_input, random_state, selection, do_screening
        Accepted for compatibility with scikit-learn; they do not affect the result.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
    dual_gaps : ndarray of shape (n_alphas,) or (n_targets, n_alphas)
        Upper bounds of the objective's distance to its minimum.
    n_iters : list of int of length n_alphas, or such a list for each target
        Number of working sets; only with ``return_n_iter``.
    """
    l1_ratio = l1_ratio_in_range("l1_ratio", l1_ratio)
    for name, value in (("positive", positive), ("return_n_iter", return_n_iter)):
        boolean(name, value)
    one_of("selection", selection, ("cyclic", "random"))
    tol, max_iter = float(not_negative("tol", tol)), positive_whole("max_iter", max_iter)
    model = PathModel()
    rows, flat = data_for_fit(model, X, y, sample_weight)
    n_or_alphas = alphas if n_alphas in ("deprecated", None) else n_alphas
    code = NON_NEGATIVE if positive else L1_L2
    assert rows.y is not None
    k, p = rows.y.shape[1], rows.shape[1]
    starts = [None] * k if coef_init is None else initial_coefs(coef_init, k, p, positive)
    with SolverContext(model, rows):
        problems = regressions(rows, False, rows.S)
        grid = alpha_grid(problems, n_or_alphas, l1_ratio, eps, positive)
        results = []
        for regression, w in zip(problems, starts, strict=True):
            start = None if w is None else regression.start(w)
            penalties = (elastic_net_penalty(alpha, l1_ratio, p, code) for alpha in grid)
            results.append(path(regression, penalties, min(tol, TOL), max_iter, start))
    coefs = np.stack([np.stack([fit.w for fit in fits], axis=1) for fits in results])
    gaps = np.array([[fit.gap for fit in fits] for fits in results])
    n_iters: list[Any] = [[fit.n_iter for fit in fits] for fits in results]
    if flat:
        coefs, gaps, n_iters = coefs[0], gaps[0], n_iters[0]
    return (grid, coefs, gaps, n_iters) if return_n_iter else (grid, coefs, gaps)


def lasso_path(X: object, y: object, **options: Any) -> Any:
    """Compute the lasso path: :func:`enet_path` with ``l1_ratio=1``."""
    return enet_path(X, y, l1_ratio=1.0, **options)


def l1_ratio_in_range(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name}={value!r}: give a number from 0 (ridge) to 1 (lasso)")
    return float(value)


def initial_coefs(coef_init: object, k: int, p: int, positive: bool) -> np.ndarray:
    """Initial coefficients of each target, (k, p); negative ones become 0 if ``positive``."""
    w = as_numbers(coef_init, "coef_init")
    if w.shape not in ((p,), (k, p)):
        raise ValueError(f"coef_init has shape {w.shape}: give ({p},), or ({k}, {p})")
    nonfinite = np.argwhere(~np.isfinite(np.atleast_2d(w)))
    if len(nonfinite):
        value, j = np.atleast_2d(w)[tuple(nonfinite[0])], nonfinite[0][1]
        raise ValueError(
            f"coef_init is {value} for column {j}: give finite numbers, 0 where you have none"
        )
    return np.broadcast_to(np.maximum(w, 0.0) if positive else w, (k, p)).copy()


def elastic_net_penalty(alpha: float, l1_ratio: float, p: int, code: int) -> CoordinatePenalty:
    return CoordinatePenalty(np.full(p, alpha * l1_ratio), np.full(p, alpha * (1 - l1_ratio)), code)


def alpha_grid(
    problems: list[Regression], alphas: object, l1_ratio: float, eps: float, positive: bool
) -> np.ndarray:
    """Descending values of α. For a number of α: geometric, starting at the smallest α at which all
    coefficients are 0."""
    if not isinstance(alphas, Integral) or isinstance(alphas, bool):
        return descending(alphas)
    if alphas < 1:
        raise ValueError(f"alphas={alphas!r}: give a whole number above 0, or values of alpha")
    if l1_ratio == 0:
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid "
            "by providing your estimator with the appropriate `alphas=` argument: no alpha sets "
            "all coefficients of ridge to 0. For ridge alone, RidgeCV needs no refits"
        )
    if not 0 < eps <= 1:
        raise ValueError(f"eps={eps!r}: give a number above 0, and 1 at most")
    largest = max(regression.largest(l1_ratio, positive) for regression in problems)
    if largest <= np.finfo(float).resolution:  # y is constant: every α gives w = 0
        return np.full(int(alphas), np.finfo(float).resolution)
    return np.geomspace(largest, largest * eps, int(alphas))


def descending(alphas: object) -> np.ndarray:
    values = as_numbers(alphas, "alphas")
    if values.ndim != 1 or not len(values) or not ((values >= 0) & np.isfinite(values)).all():
        raise ValueError(f"alphas={alphas!r}: give a whole number, or numbers that are 0 or above")
    return np.sort(values)[::-1].copy()
