"""Base class of the linear regressors: solving and prediction."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from ..base.certified import CertifiedEstimator
from ..certificate import certify
from ..data.memory import memory_for_gram, memory_for_streamed
from ..data.rows import Rows
from ..data.streamed import StreamedTable
from ..data.streamed_scores import r_squared
from ..data.validation import require_target
from ..runtime.pool import interruptible, long_enough_to_listen
from ..solvers.glm.linear_problem import Solution
from ..solvers.least_squares.least_squares import solve
from ..solvers.least_squares.sparse import solve_sparse
from ._scores import scores
from ._solver_context import SolverContext


class LinearRegressor(MultiOutputMixin, RegressorMixin, CertifiedEstimator):
    """Linear regressor with coefficients w and intercept b."""

    coef_: np.ndarray
    intercept_: float | np.ndarray
    # scikit-learn's Ridge has n_iter_, its LinearRegression has not
    _counts_iterations = False
    # scikit-learn's Ridge has (p,) coefficients also for y of shape (n, 1)
    _one_target_is_flat = False

    def _solve(
        self, rows: Rows, flat: bool, iteration: Callable[[], dict[str, Any]] = dict, **problem: Any
    ) -> Solution:
        """Solve, and set coef_, intercept_ and solver_; ``flat``: y was 1d, so coef_ is, too.

        ``iteration()`` returns the settings of conjugate gradients on sparse rows.
        """

        def attributes(solution: Solution) -> dict[str, Any]:
            one = flat or (self._one_target_is_flat and solution.w.shape[1] == 1)
            b = (solution.b[0] if flat else solution.b) if problem["fit_intercept"] else 0.0
            w = solution.w[:, 0].copy() if one else solution.w.T.copy()
            fitted = {"coef_": w, "intercept_": b, "solver_": solution.solver}
            return fitted | ({"n_iter_": solution.n_iter} if self._counts_iterations else {})

        solve_rows: Callable[..., Solution] = solve
        if rows.sparse:
            settings = iteration()
            on_step = self._monitor.iterations(
                attributes, lambda: certify(self, rows), settings.get("max_iter")
            )
            solve_rows = partial(solve_sparse, on_step=on_step, **settings)
        else:
            (memory_for_streamed if rows.streamed else memory_for_gram)(*rows.shape, rows.threads)
            self._monitor.begin()
        with SolverContext(self, rows):
            if rows.sparse or not long_enough_to_listen(rows.shape):
                solution = solve_rows(rows, **problem)
            else:
                solution = interruptible(partial(solve_rows, rows, **problem))
        for name, value in attributes(solution).items():
            setattr(self, name, value)
        return solution

    def predict(self, X: object) -> np.ndarray:
        """Predict Xw + b, in float64.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return scores(self, X)

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:
        """Return R², the share of the variance of y that is explained; the mean over targets.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            None for ``certus.open_rows``, which brings targets and weights.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        if isinstance(X, StreamedTable):
            return r_squared(self, X, y, sample_weight)
        require_target(self, y)
        share: float = super().score(X, y, sample_weight)
        return share

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
