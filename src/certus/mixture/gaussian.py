"""GaussianMixture: components with a mean and a covariance matrix each."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Rows
from ..data.types import Seed
from ..data.validation import not_negative, one_of
from ..runtime.pool import blas_limiter
from ..runtime.progress import monitored
from ..solvers.mixture.covariances import COVARIANCES
from ._answers import block_rows
from ._base import Mixture, Sampling
from ._gaussian_components import GaussianComponents
from ._gaussian_init import GaussianInit
from ._temperatures import Annealing


class GaussianMixture(Sampling, Mixture):
    """Gaussian mixture: soft clusters with a mean and a covariance matrix each.

    Maximises, over the mixing weights π, the means μ and the covariances Σ,

        Σ sᵢ log Σₖ πₖ N(xᵢ | μₖ, Σₖ) − ½ε Σₖ [log|Σₖ| + tr(DΣₖ⁻¹)]

    by expectation-maximisation: responsibilities of the components for each row, then the means and
    covariances weighted by them, until a step gains next to nothing. The result is a local optimum:
    ``certificate_`` says so, and how many restarts reached the same one. The second term acts as
    ε = 10⁻⁶ pseudo-rows in each component with the variances D of the columns: no component can
    collapse, and the result does not depend on units.

    Missing entries (NaN) are allowed: the likelihood is that of the observed entries, and
    ``impute`` fills the others.

    Parameters
    ----------
    n_components : int, default=1
        Number of components, k.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Any Σₖ; one Σ for all components; diagonal Σₖ; multiples of I.
    tol : float, default=1e-3
        EM stops when a step gains at most this in ``lower_bound_`` *and* at most 2.5e-7.
    reg_covar : "relative" or float, default="relative"
        "relative": the second term above. A number is added to the variances in each step, as in
        scikit-learn: EM then has no objective that never decreases. 0 or None: maximum likelihood.
    max_iter : int, default=1000
        Most steps of one start.
    n_init : int, default=1
        Number of starts; the best result is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How EM starts: from the clusters of k-means; from each row's nearest of k rows drawn by
        k-means++; from random responsibilities; from each row's nearest of k random rows. For
        ``open_rows``, centres come from a sample of at most 8,192 rows (16 for each component, if
        that is more), and every row starts in the component of the nearest.
    weights_init : array-like of shape (n_components,), default=None
    means_init : array-like of shape (n_components, n_features), default=None
    precisions_init : array-like, default=None
        Starting values that replace those of ``init_params``; Σ⁻¹ in the shape of
        ``precisions_``.
    random_state : int, RandomState instance or None, default=None
        Source of randomness of the starts and of ``sample``.
    warm_start : bool, default=False
        Whether to start where the last fit ended.
    verbose : int, default=0
        If above 0, print a line every ``verbose_interval`` steps.
    verbose_interval : int, default=10
    solver : {"em", "lbfgs"}, default="em"
        "lbfgs" maximises the same objective by its gradient, and EM finishes the fit.
    annealing : bool or sequence of floats, default=None
        Temperatures of the first steps, falling towards 1; True means 8, 4, 2, 1.4. They even out
        the responsibilities at first, so that a poor start matters less.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Mixing weights π.
    means_ : ndarray of shape (n_components, n_features)
        Means μ.
    covariances_ : ndarray
        Covariances Σ: (n_components, n_features, n_features) if "full", (n_features, n_features)
        if "tied", (n_components, n_features) if "diag", (n_components,) if "spherical".
    precisions_ : ndarray
        Σ⁻¹, in the shape of ``covariances_``.
    precisions_cholesky_ : ndarray
        U, upper triangular, with UUᵀ = Σ⁻¹.
    constant_columns_ : ndarray of int
        Columns with a single value. They have no density and are left out: 0 in the covariances
        and precisions.
    converged_ : bool
    n_iter_ : int
        Steps of the start that was kept.
    lower_bound_ : float
        The objective at the fitted parameters, divided by Σ sᵢ.
    lower_bounds_ : ndarray of shape (n_iter_ + 1,)
        ``lower_bound_`` at the start and after each step; it never decreases.
    restarts_ : ndarray of shape (n_init,)
        ``lower_bound_`` reached from each start.
    certificate_ : Certificate
        Shows a local optimum, recomputed from the data: *one more EM step gains nothing*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Column names of X, if it has any.

    Notes
    -----
    O(n·k·p²) operations for each step (diagonal and spherical: O(n·k·p)); besides X, memory for
    O(k·p²) numbers and a block of rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.mixture import GaussianMixture
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = GaussianMixture(3, random_state=0).fit(X)
    >>> round(model.score(X), 2), model.predict_proba(X).shape
    (-1.2, (150, 3))
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float | str | None = "relative",
        max_iter: int = 1000,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: npt.ArrayLike | None = None,
        means_init: npt.ArrayLike | None = None,
        precisions_init: npt.ArrayLike | None = None,
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        solver: str = "em",
        annealing: Annealing = None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.solver = solver
        self.annealing = annealing

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "GaussianMixture":
        """Fit the components.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
            NaN marks a missing entry. A table of ``certus.open_rows`` is read block by block and
            brings the weights; with missing entries, open it with ``missing=True``.
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            A weight of 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        return self._fit(X, sample_weight)

    def impute(self, X: object) -> np.ndarray:
        """Return X with each missing entry replaced by its expectation given the row's others.

            E[x_m | x_o] = Σₖ rₖ(x_o) (μₖ + Σₖ_mo Σₖ_oo⁻¹ (x_o − μₖ))_m

        Of all fillings it has the least expected squared error under the mixture. A row without any
        observed entry gets the mean of the mixture; observed entries do not change.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
            NaN marks a missing entry. A table is read block by block; open it with
            ``missing=True``.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            float32 if X is, else float64.
        """
        check_is_fitted(self)
        data = self._dense(X, reset=False)
        rows = Rows(data, None, None)
        fill = self._family.imputer(rows, self, self._names)
        dtype = np.float32 if data.dtype == np.float32 else float
        with blas_limiter.for_work(rows.shape):
            size = block_rows(rows, len(self.weights_))
            return rows.map(fill, np.empty(rows.shape, dtype=dtype), block_rows=size)

    def _check_parameters(self) -> None:
        self._check_common()
        one_of("covariance_type", self.covariance_type, COVARIANCES)
        if isinstance(self.reg_covar, str):
            one_of("reg_covar", self.reg_covar, ("relative",))
        elif self.reg_covar is not None and not_negative("reg_covar", self.reg_covar).ndim:
            raise ValueError(f"reg_covar={self.reg_covar!r}: give one number or 'relative'")
        adds = not isinstance(self.reg_covar, str) and self.reg_covar
        if self.solver == "lbfgs" and adds:
            raise ValueError(
                f"solver='lbfgs' maximises an objective, and reg_covar={self.reg_covar!r} is part "
                "of none: use reg_covar='relative' or 0"
            )

    @property
    def _family(self) -> GaussianComponents:
        init = GaussianInit(
            self.n_components, self.init_params, self.weights_init, self.means_init,
            self.precisions_init,
        )  # fmt: skip
        row_space = self.solver == "em" and not self.warm_start
        return GaussianComponents(self.covariance_type, self.reg_covar, init, row_space)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
