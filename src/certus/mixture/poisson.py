"""PoissonMixture: mixtures of columns of counts."""

from ._base import Sampling
from ._count_components import PoissonComponents
from ._counts import CountMixture


class PoissonMixture(Sampling, CountMixture):
    """Mixture of Poisson components: soft clusters of rows of counts.

    Within a component, columns are independent.

    Maximises, over the mixing weights π and the rates λ of the components,

        Σ sᵢ log Σₖ πₖ p(xᵢ | λₖ) + a Σₖ log p(x̄ | λₖ)

        log p(x | λ) = Σⱼ xⱼ log λⱼ − λⱼ − log xⱼ!

    by expectation-maximisation, until a step gains next to nothing. The result is a local optimum:
    ``certificate_`` says so, and how many restarts reached the same one. The second term is the log
    likelihood of a pseudo-rows in each component, at the mean row x̄ of the data.

    Parameters
    ----------
    n_components : int, default=1
        Number of components, k.
    prior : float, default=1e-6
        Number of pseudo-rows a in each component; 0 gives maximum likelihood.
    tol : float, default=1e-3
        EM stops when a step gains at most this in ``lower_bound_`` *and* at most 2.5e-7.
    max_iter : int, default=1000
        Most steps of one start.
    n_init : int, default=1
        Number of starts; the best result is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How EM starts: from the clusters of k-means; from each row's nearest of k rows drawn by
        k-means++; from random responsibilities; from each row's nearest of k random rows. For
        ``open_rows``, centres come from a sample of at most 8,192 rows (16 for each component, if
        that is more), and every row starts in the component of the nearest.
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
        Temperatures of the first steps, falling towards 1; True means 8, 4, 2, 1.4.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Mixing weights π.
    rates_ : ndarray of shape (n_components, n_features)
        Mean count λ of each column.
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
    O(n·k·p) operations for each step; besides X, memory for a block of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.mixture import PoissonMixture
    >>> X = np.array([[9, 1], [8, 0], [1, 5], [0, 6]])
    >>> PoissonMixture(2, random_state=0).fit(X).rates_.round(2)
    array([[0.5, 5.5],
           [8.5, 0.5]])
    """

    @property
    def _family(self) -> PoissonComponents:
        return self._family_of(PoissonComponents)
