"""Ridge regression."""

from numbers import Integral
from typing import Any

import numpy.typing as npt

from ..certificate import certify
from ..data.types import Seed
from ..data.validation import boolean, data_for_fit, not_negative, one_of
from ..inference import Inference
from ..runtime.progress import monitored
from ._base import LinearRegressor
from ._inference import linear_inference
from ._unpenalized import warn_of_aliases

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")


class Ridge(LinearRegressor):
    r"""Ridge: minimise Σ sᵢ(yᵢ − xᵢᵀw − b)² + α‖w‖², s the sample weights.

    A drop-in replacement for scikit-learn's class. Columns are centred and scaled internally, but
    the penalty and the coefficients are in the original units. The intercept is not penalised.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        α ≥ 0. 0 is least squares.
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn; X is never changed.
    max_iter, tol
        For conjugate gradients, which only large sparse X needs: the maximum number of passes over
        X, and the accuracy √(excess/f₀) (values above 1e-6 are treated as 1e-6). The other solvers
        do not iterate and ignore both.
    random_state
        Accepted for compatibility with scikit-learn: all solvers are deterministic.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
        All of scikit-learn's names are accepted. On dense X each of them uses the factorisation
        that suits the problem, which ``solver_`` names. On sparse X "lsqr" and "sparse_cg" select
        conjugate gradients, "svd" and "cholesky" a factorisation.
    positive : bool, default=False
        Minimise over w ≥ 0.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    n_iter_ : int
        Passes of conjugate gradients over X; 1 for solvers that do not iterate.
    solver_ : str
        "cholesky", "qr", "dual" (fewer rows than columns), "svd" (likewise, with α = 0 or too small
        for the dual), "active set" (positive) or "conjugate gradients" (sparse X).
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have a penalised sum
        of squares that is smaller by more than the gap*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    O(n·p²) operations and O(p²) memory per thread for n > p, O(n²·p) and O(n²) for n ≤ p. Sparse X:
    O(entries) per pass of conjugate gradients and O(n + p) memory; see docs/sparse.md.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> Ridge(alpha=0.1).fit(X, y).certificate_
    Certificate(optimal: objective 1,341,506, at most ... above the best possible)
    """

    _reads_rows = True
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
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "Ridge":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings y and the weights.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A weight of 2 equals a repeated row.

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
            raise ValueError(f"solver={self.solver!r} cannot enforce w ≥ 0: use solver='auto'")
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
        self, X: object, y: object = None, sample_weight: object = None, cov: str = "classical",
        groups: object = None,
    ) -> Inference:  # fmt: skip
        """Compute covariance, effective degrees of freedom and intervals from the rows of the fit.

        Intervals ignore the bias of the penalty, and the summary says so: they cover the expected
        value of the penalised coefficients, which is shrunk towards 0. Tests, p-values, likelihood,
        AIC and BIC are therefore refused. ``alpha=0`` is least squares, and nothing is refused.

        ``alpha`` must have been fixed beforehand: if it was chosen on the same rows (by a grid
        search, for example) the errors are too small, which this method cannot detect.

        Parameters
        ----------
        X, y, sample_weight, cov
            As in :meth:`LinearRegression.inference`.
        groups : array-like of shape (n_samples,), optional
            With cov="cluster": the group of each row (a patient, a school), within which errors
            may be correlated.

        Returns
        -------
        certus.inference.Inference

        Notes
        -----
        cov ŵ = (G + αI)⁻¹X̃ᵀ diag(s²·var y) X̃(G + αI)⁻¹, which is σ²(G + αI)⁻¹G(G + αI)⁻¹ for
        "classical", with σ̂² = Σ s r²/ν, ν = tr (I − H)². Two passes over X: O(n·p² + p³)
        operations, O(p²) memory per thread and target, also for n < p.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from certus.linear_model import Ridge
        >>> X, y = load_diabetes(return_X_y=True)
        >>> found = Ridge(alpha=0.1).fit(X, y).inference(X, y)
        >>> round(found.effective_parameters, 2), len(found.standard_errors)
        (np.float64(8.64), 11)
        """
        return linear_inference(self, X, y, sample_weight, cov, groups)
