"""Ridge regression."""

from numbers import Integral
from typing import Any

import numpy.typing as npt

from ..certificate import certify
from ..data.types import Seed
from ..data.validation import boolean, data_for_fit, not_negative, one_of
from ..inference import Inference
from ..runtime.progress import monitored
from ._aliases import warn_of_aliases
from ._base import LinearRegressor
from ._inference import linear_inference

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")


class Ridge(LinearRegressor):
    r"""Ridge: minimise Σ sᵢ(yᵢ − xᵢᵀw − b)² + α‖w‖², s the sample weights.

    A drop-in for scikit-learn's class. Columns are centred and scaled inside, but the penalty and
    the coefficients are in your units. The intercept is not penalised.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        α ≥ 0. 0 is least squares.
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    max_iter, tol
        Of conjugate gradients, which only large sparse X calls for: passes over X at most, and the
        accuracy √(excess/f₀) asked for (at least 1e-6 in any case). Else accepted for
        scikit-learn's sake: nothing iterates.
    random_state
        Accepted for scikit-learn's sake: nothing draws.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
        Every name that scikit-learn takes is taken; all of them get the exact answer of the
        factorisation that fits the problem, and ``solver_`` says which. On sparse X "lsqr" and
        "sparse_cg" ask for conjugate gradients, "svd" and "cholesky" for a factorisation.
    positive : bool, default=False
        Minimise over w ≥ 0.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    n_iter_ : int
        Passes of conjugate gradients over X; 1 where nothing iterates.
    solver_ : str
        "cholesky", "qr", "dual" (fewer rows than columns), "svd" (the same with α = 0, or too small
        for the dual), "active set" (positive) or "conjugate gradients" (sparse X).
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have a smaller
        penalised sum of squares by more than the gap*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    O(n·p²) operations and O(p²) memory a thread for n > p, O(n²·p) and O(n²) for n ≤ p. Sparse X:
    O(entries) a pass of conjugate gradients and O(n + p) memory; see docs/sparse.md.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> Ridge(alpha=0.1).fit(X, y).certificate_
    Certificate(optimal: objective 1,341,506, at most ... above the best possible)
    """

    _one_target_is_flat = True
    _counts_iterations = True

    def __init__(
        self,
        alpha: npt.ArrayLike = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Seed = None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _iteration(self) -> dict[str, Any]:
        if not (
            self.max_iter is None or (isinstance(self.max_iter, Integral) and self.max_iter > 0)
        ):
            raise ValueError(f"max_iter={self.max_iter!r}: give a whole number above 0, or None")
        return {"solver": self.solver, "tol": float(self.tol), "max_iter": self.max_iter}

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "Ridge":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice.

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        boolean("copy_X", self.copy_X)
        positive = boolean("positive", self.positive)
        not_negative("tol", self.tol)
        one_of("solver", self.solver, SOLVERS)
        alpha = not_negative("alpha", self.alpha)
        if self.solver == "lbfgs" and not positive:
            raise ValueError("solver='lbfgs' is for positive=True: use solver='auto'")
        if positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(f"solver={self.solver!r} cannot hold w ≥ 0: use solver='auto'")
        rows, flat = data_for_fit(self, X, y, sample_weight)
        assert rows.y is not None
        k = rows.y.shape[1]
        if alpha.size not in (1, k):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {alpha.size} != {k}"
            )
        solution = self._solve(
            rows, flat, self._iteration, fit_intercept=fit_intercept, alpha=alpha.ravel(),
            positive=positive,
        )  # fmt: skip
        self._conclude(certify(self, rows), solution.stopped_at)
        warn_of_aliases(self, solution, rows.shape[0])
        return self

    def inference(
        self, X: object, y: object, sample_weight: object = None, cov: str = "classical"
    ) -> Inference:
        """Covariance, effective degrees of freedom and intervals, from the rows of the fit.

        Intervals ignore the bias of the penalty, and say so: they are for the coefficients' own
        expectation, which lies nearer to 0 than the truth. Tests, p-values, likelihood, AIC and
        BIC are refused for that reason. ``alpha=0`` is least squares, and nothing is refused.

        ``alpha`` must have been fixed beforehand: one that was chosen on the same rows (by a grid
        search, say) makes the errors too small, and this method cannot know.

        Parameters
        ----------
        X, y, sample_weight, cov
            As in :meth:`LinearRegression.inference`.

        Returns
        -------
        certus.inference.Inference

        Notes
        -----
        cov ŵ = (G + αI)⁻¹X̃ᵀ diag(s²·var y) X̃(G + αI)⁻¹, which is σ²(G + αI)⁻¹G(G + αI)⁻¹ for
        "classical", with σ̂² = Σ s r²/ν, ν = tr (I − H)². Two passes over X: O(n·p² + p³)
        operations, O(p²) memory a thread and target, also for n < p.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from certus.linear_model import Ridge
        >>> X, y = load_diabetes(return_X_y=True)
        >>> found = Ridge(alpha=0.1).fit(X, y).inference(X, y)
        >>> round(found.effective_parameters, 2), len(found.standard_errors)
        (np.float64(8.64), 11)
        """
        return linear_inference(self, X, y, sample_weight, cov)
