"""Regression with a log link: Poisson for counts, Gamma for positive amounts."""

from ..losses import Gamma, Poisson
from ._log_link import LogLinkRegressor


class PoissonRegressor(LogLinkRegressor):
    r"""Poisson regression: minimise 1/S Σ sᵢ ½d(yᵢ, exp(xᵢᵀw + b)) + αl‖w‖₁ + α(1−l)/2 ‖w‖².

    d(y, μ) = 2(y log(y/μ) − y + μ) is the deviance of a count y ≥ 0 of mean μ, s the sample
    weights, S their sum, l = ``l1_ratio``. With an offset o, or an exposure e = exp(o), the mean is
    exp(o + xᵀw + b) = e·exp(xᵀw + b).

    A drop-in replacement for scikit-learn's class, with an L1 part, offsets and exposures. Columns
    are centred and scaled internally, but the penalty and the coefficients are in your units. The
    intercept is not penalised.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0: none.
    fit_intercept : bool, default=True
    solver : {"lbfgs", "newton-cholesky", "newton-cg", "auto"}, default="lbfgs"
        "newton-cholesky" and "newton-cg" run as named where l is 0; the others run whatever suits
        the shape and the penalty. ``solver_`` says what ran.
    max_iter : int, default=100
    tol : float, default=1e-4
        Largest residual (gap relative to the deviance of the intercept alone) of a certified fit;
        values above 1e-6 count as 1e-6. A fit that misses it is not certified, and warns.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.
    verbose : int, default=0
        Above 0: print a line for each iteration.
    l1_ratio : float, default=0.0
        l, from 0 (ridge) to 1 (lasso).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    solver_ : str
        "newton", "newton-cg" or "cd" (coordinate descent).
    has_offset_ : bool
        Whether the fit was given an offset or an exposure; ``verify`` then needs it, too.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have an objective
        smaller by more than the gap*. Without a penalty, also that a finite optimum exists.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    Few columns: O(np²) operations a step, O(p²) memory a thread. Many columns, or sparse X: O(np)
    operations a pass (sparse: the entries), O(n + p) memory.

    Without a penalty, counts may have no finite optimum: where every row of a category has count 0,
    its coefficient falls without limit. The fit then warns, and names the column.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.linear_model import PoissonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, years = rng.normal(size=(200, 2)), rng.uniform(1, 5, size=200)
    >>> y = rng.poisson(years * np.exp(0.5 * X[:, 0] - 1))
    >>> model = PoissonRegressor(alpha=0).fit(X, y, exposure=years)
    >>> model.certificate_
    Certificate(optimal: objective ..., at most ... above the best possible)
    >>> model.predict(X[:1], exposure=10).shape
    (1,)
    """

    _loss = Poisson()
    _mean_has_weight = True


class GammaRegressor(LogLinkRegressor):
    r"""Gamma regression: minimise 1/S Σ sᵢ ½d(yᵢ, exp(xᵢᵀw + b)) + αl‖w‖₁ + α(1−l)/2 ‖w‖².

    d(y, μ) = 2(log(μ/y) + y/μ − 1) is the deviance of an amount y > 0 of mean μ, s the sample
    weights, S their sum, l = ``l1_ratio``. With an offset o, or an exposure e = exp(o), the mean is
    exp(o + xᵀw + b) = e·exp(xᵀw + b).

    A drop-in replacement for scikit-learn's class, with an L1 part, offsets and exposures. Columns
    are centred and scaled internally, but the penalty and the coefficients are in your units. The
    intercept is not penalised.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0: none.
    fit_intercept : bool, default=True
    solver : {"lbfgs", "newton-cholesky", "newton-cg", "auto"}, default="lbfgs"
        "newton-cholesky" and "newton-cg" run as named where l is 0; the others run whatever suits
        the shape and the penalty. ``solver_`` says what ran.
    max_iter : int, default=100
    tol : float, default=1e-4
        Largest residual (gap relative to the deviance of the intercept alone) of a certified fit;
        values above 1e-6 count as 1e-6. A fit that misses it is not certified, and warns.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.
    verbose : int, default=0
        Above 0: print a line for each iteration.
    l1_ratio : float, default=0.0
        l, from 0 (ridge) to 1 (lasso).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_iter_ : int
    solver_ : str
        "newton", "newton-cg" or "cd" (coordinate descent).
    has_offset_ : bool
        Whether the fit was given an offset or an exposure; ``verify`` then needs it, too.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have an objective
        smaller by more than the gap*. Without a penalty, also that a finite optimum exists.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    Few columns: O(np²) operations a step, O(p²) memory a thread. Many columns, or sparse X: O(np)
    operations a pass (sparse: the entries), O(n + p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.linear_model import GammaRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.exp(0.5 * X[:, 0]) * rng.gamma(3, 1 / 3, size=200)
    >>> model = GammaRegressor(alpha=0.1).fit(X, y)
    >>> model.certificate_
    Certificate(optimal: objective ..., at most ... above the best possible)
    """

    _loss = Gamma()
    _mean_has_weight = False
