"""Ordinary least squares."""

from numbers import Integral
from typing import Any

import numpy as np

from ..certificate import certify
from ..data.validation import boolean, data_for_fit, not_negative
from ..inference import Inference
from ..runtime.config import effective_threads
from ..runtime.progress import monitored
from ._base import LinearRegressor
from ._inference import linear_inference
from ._unpenalized import warn_of_aliases


class LinearRegression(LinearRegressor):
    r"""Least squares: minimise Σ sᵢ(yᵢ − xᵢᵀw − b)², s the sample weights.

    A drop-in replacement for scikit-learn's class, accurate at any column scale and offset. Columns
    are centred and scaled internally, and the rank is decided on scaled columns. If the rank is
    deficient, the coefficients of least norm in the original units are returned and an
    ``AliasWarning`` names the columns that repeat others.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit b. If False, b = 0 and columns are not centred.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn; X is never changed.
    tol : float, default=1e-6
        Accepted for compatibility with scikit-learn. There it is the cut-off for singular values
        of unscaled columns; here the rank does not depend on units.
    n_jobs : int, default=None
        Maximum number of threads; None and −1 mean as many as ``certus.get_config()`` allows. The
        result is bitwise the same for any number.
    positive : bool, default=False
        Minimise over w ≥ 0.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    rank_ : int
        Rank of the centred X, decided on columns scaled to norm 1. This and the next three are not
        set with ``positive`` or by conjugate gradients.
    singular_ : ndarray of shape (min(n_samples, n_features),)
        Singular values of the centred X (rows multiplied by √s), in the original units.
    condition_ : float
        Condition number of the scaled columns, over the directions within the rank.
    aliased_ : ndarray of int
        Columns that repeat others; empty if the coefficients are unique.
    solver_ : str
        The solver that ran: "cholesky", "qr", "svd" (fewer rows than columns), "active set"
        (positive) or "conjugate gradients" (large sparse X).
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have a sum of squares
        that is smaller by more than the gap*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    O(n·p²) operations in one pass over X and O(p²) memory per thread; one more pass for the
    certificate. Nearly collinear columns (condition above 3e5) need a QR factorisation. Sparse X
    with many columns is solved by conjugate gradients and may not be certified: see docs/sparse.md.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.linear_model import LinearRegression
    >>> X = np.array([[1.0, 1], [1, 2], [2, 2], [2, 3]])
    >>> model = LinearRegression().fit(X, X @ [1, 2] + 3)
    >>> model.coef_.round(12), round(model.intercept_, 12)
    (array([1., 2.]), np.float64(3.0))
    >>> model.certificate_.certified
    True
    """

    _reads_rows = True

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ):
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "LinearRegression":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings y and the weights.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 equals a repeated row.

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        boolean("copy_X", self.copy_X)
        positive = boolean("positive", self.positive)
        not_negative("tol", self.tol)
        if not (self.n_jobs is None or isinstance(self.n_jobs, Integral)):
            raise ValueError(f"n_jobs={self.n_jobs!r}: give a whole number or None")
        rows, flat = data_for_fit(self, X, y, sample_weight, effective_threads(self.n_jobs))
        solution = self._solve(
            rows, flat, lambda: {"tol": float(self.tol)}, fit_intercept=fit_intercept, alpha=0.0,
            positive=positive,
        )  # fmt: skip
        self._forget("singular_", "rank_", "condition_", "aliased_", "_triangle")
        if solution.rank is not None:
            self.rank_ = solution.rank
            aliases = solution.aliases
            self.aliased_ = np.empty(0, np.intp) if aliases is None else aliases.columns
            self._triangle = solution.triangle
        self._conclude(certify(self, rows), solution.stopped_at)
        warn_of_aliases(self, solution, rows.shape[0])
        return self

    def inference(
        self, X: object, y: object = None, sample_weight: object = None, cov: str = "classical",
        groups: object = None,
    ) -> Inference:  # fmt: skip
        """Compute standard errors, tests and intervals from the rows of the fit.

        Raises ``InferenceError`` for rows other than those of the fit, with ``positive=True``, for
        a fit that is not certified, and if no degrees of freedom are left.

        Parameters
        ----------
        X, y, sample_weight : array-like
            The rows of the fit, in the same order, with their weights. Weights are treated as
            inverse variances, var yᵢ = σ²/sᵢ, as in statsmodels' WLS: only their ratios matter, and
            a weight of 2 is *not* a repeated row. Rows of weight 0 do not count.
        cov : {"classical", "HC0", "HC1", "HC2", "HC3", "cluster"}, default="classical"
            "classical": all rows have the same noise variance σ². HC0 … HC3 allow each row its own;
            HC3 is the conservative choice for few rows.
        groups : array-like of shape (n_samples,), optional
            With cov="cluster": the group of each row (a patient, a school), within which errors
            may be correlated.

        Returns
        -------
        certus.inference.Inference
            Arrays of shape (m,) for a 1d y, else (m, n_targets); the intercept comes first.

        Notes
        -----
        Two passes over X: O(n·p²) operations, O(p²) memory per thread and target.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from certus.linear_model import LinearRegression
        >>> X, y = load_diabetes(return_X_y=True)
        >>> found = LinearRegression().fit(X[:, 2:4], y).inference(X[:, 2:4], y, cov="HC3")
        >>> print(found.summary())
        Least squares, 442 rows, HC3 standard errors
        name         coef  std error      t        p  95 % low    high
        intercept  152.13       2.87  53.09  < 0.001    146.50  157.77
        x0         790.4       67.1   11.78  < 0.001    658.5   922.3
        x1         402.2       69.0    5.83  < 0.001    266.6   537.8
        sigma² 3,606.16; degrees of freedom 439; effective parameters 3
        R² 0.395994; adjusted 0.393242
        log-likelihood -2,435.74; AIC 4,877.49; BIC 4,889.76
        """
        return linear_inference(self, X, y, sample_weight, cov, groups)

    def __getattr__(self, name: str) -> Any:
        # singular values cost O(p³) and are rarely used: computed from R, X̃ = QR, on first access
        if name in ("singular_", "condition_") and "_triangle" in vars(self):
            R = vars(self)["_triangle"]
            if name == "condition_":
                norm = np.linalg.norm(R, axis=0)
                R = R / np.where(norm > 0, norm, 1.0)
            sigma = np.linalg.svd(R, compute_uv=False)
            ratio = float(sigma[0] / sigma[self.rank_ - 1]) if self.rank_ else 1.0
            self.__dict__[name] = sigma if name == "singular_" else ratio
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
