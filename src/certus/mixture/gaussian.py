"""GaussianMixture: components with a mean and a covariance each."""

from typing import Any

import numpy.typing as npt

from ..data.types import Seed
from ..data.validation import not_negative, one_of
from ..runtime.progress import monitored
from ..solvers.mixture.covariances import COVARIANCES
from ._base import Mixture, Sampling
from ._gaussian_components import GaussianComponents
from ._gaussian_init import Init
from ._temperatures import Annealing


class GaussianMixture(Sampling, Mixture):
    """Soft clusters: each component is a Gaussian, and a row belongs to all of them in shares.

    Maximises, over the shares π, the means μ and the covariances Σ,

        Σ sᵢ log Σₖ πₖ N(xᵢ | μₖ, Σₖ) − ½ε Σₖ [log|Σₖ| + tr(DΣₖ⁻¹)]

    by expectation-maximisation: shares of each row in the components, then means and covariances
    with these shares, until a step gains nothing that counts. That is a local optimum:
    ``certificate_`` says so, and how many of the restarts found the same one. The second term is
    that of ε = 10⁻⁶ imaginary rows in each component, with the variances D of the data's columns: a
    component cannot collapse, and units do not matter.

    Missing entries (NaN) are allowed: the likelihood is that of what was observed.

    Parameters
    ----------
    n_components : int, default=1
        k.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Any Σₖ; one Σ for all; diagonal Σₖ; multiples of I.
    tol : float, default=1e-3
        Steps end when one gains at most this in ``lower_bound_`` *and* next to nothing.
    reg_covar : "relative" or float, default="relative"
        "relative": as above. A number is added to the variances in each step, as scikit-learn does:
        then no quantity is known that never falls. 0 or None: maximum likelihood.
    max_iter : int, default=1000
        Steps of one start at most.
    n_init : int, default=1
        Starts, of which the best is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Where steps begin: clusters of k-means; each row with the nearest of k rows that k-means++
        draws, or that are drawn at random; random shares.
    weights_init : array-like of shape (n_components,), default=None
    means_init : array-like of shape (n_components, n_features), default=None
    precisions_init : array-like, default=None
        Where steps begin, in place of what ``init_params`` gives; Σ⁻¹ in the shape of
        ``precisions_``.
    random_state : int, RandomState instance or None, default=None
        What draws the starts, and ``sample``.
    warm_start : bool, default=False
        Begin where the last fit ended.
    verbose : int, default=0
        Above 0, a line is printed every ``verbose_interval`` steps.
    verbose_interval : int, default=10
    solver : {"em", "lbfgs"}, default="em"
        "lbfgs" climbs the same objective by its slope; EM ends it.
    annealing : bool or sequence of floats, default=None
        Temperatures at which the steps begin, falling towards 1; True: 8, 4, 2, 1.4. Shares are
        then evened out at first, so that a poor start matters less.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        π.
    means_ : ndarray of shape (n_components, n_features)
        μ.
    covariances_ : ndarray
        Σ: (n_components, n_features, n_features) if "full", (n_features, n_features) if "tied",
        (n_components, n_features) if "diag", (n_components,) if "spherical".
    precisions_ : ndarray
        Σ⁻¹, in the same shape.
    precisions_cholesky_ : ndarray
        U, upper triangular, with UUᵀ = Σ⁻¹.
    constant_columns_ : ndarray of int
        Columns that hold one value only. They have no density and are left out: 0 in the
        covariances and precisions.
    converged_ : bool
    n_iter_ : int
        Steps of the start that was kept.
    lower_bound_ : float
        The objective at the fitted parameters, divided by Σ sᵢ.
    lower_bounds_ : ndarray of shape (n_iter_ + 1,)
        The same after each step, from the start on. It never falls.
    restarts_ : ndarray of shape (n_init,)
        The same of each start.
    certificate_ : Certificate
        A local optimum, recomputed from the data: *one more step gains nothing*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    O(n·k·p²) operations a step (diagonal and spherical: O(n·k·p)), and memory for
    O(k·p²) numbers and a block of rows besides X.

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
        """Find the components.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            NaN is a missing entry.
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        return self._fit(X, sample_weight)

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
                f"solver='lbfgs' climbs an objective, and reg_covar={self.reg_covar!r} is part of "
                "none: use reg_covar='relative' or 0"
            )

    @property
    def _family(self) -> GaussianComponents:
        init = Init(
            self.n_components, self.init_params, self.weights_init, self.means_init,
            self.precisions_init,
        )  # fmt: skip
        row_space = self.solver == "em" and not self.warm_start
        return GaussianComponents(self.covariance_type, self.reg_covar, init, row_space)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
