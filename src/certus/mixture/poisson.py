"""PoissonMixture: components of columns that count."""

from ._base import Sampling
from ._count_components import PoissonComponents
from ._counts import CountMixture


class PoissonMixture(Sampling, CountMixture):
    """Soft clusters of rows of counts: in each component, columns are independent Poisson counts.

    Maximises, over the shares π and the rates λ of the components,

        Σ sᵢ log Σₖ πₖ p(xᵢ | λₖ) + a Σₖ log p(x̄ | λₖ)

        log p(x | λ) = Σⱼ xⱼ log λⱼ − λⱼ − log xⱼ!

    by expectation-maximisation, until a step gains nothing that counts. That is a local optimum:
    ``certificate_`` says so, and how many of the restarts found the same one. The second term is
    that of a imaginary rows in each component, at the mean row x̄ of the data.

    Parameters
    ----------
    n_components : int, default=1
        k.
    prior : float, default=1e-6
        a. 0: maximum likelihood.
    tol : float, default=1e-3
        Steps end when one gains at most this in ``lower_bound_`` *and* next to nothing.
    max_iter : int, default=1000
        Steps of one start at most.
    n_init : int, default=1
        Starts, of which the best is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Where steps begin: clusters of k-means; each row with the nearest of k rows that k-means++
        draws, or that are drawn at random; random shares.
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
        Temperatures at which the steps begin, falling towards 1; True: 8, 4, 2, 1.4.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        π.
    rates_ : ndarray of shape (n_components, n_features)
        λ: the mean count of each column.
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
    O(n·k·p) operations a step, and memory for a block of rows besides X.

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
