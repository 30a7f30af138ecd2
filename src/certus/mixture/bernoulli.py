"""BernoulliMixture: components of columns that are 0 or 1."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._watching import watched
from ..solvers.count_mixture import Bernoulli
from ._counts import _CountMixture


class BernoulliMixture(_CountMixture):
    """Soft clusters of rows of zeros and ones: in each component, columns are independent.

    Maximises, over the shares π and the probabilities θ of the components,

        Σ sᵢ log Σₖ πₖ p(xᵢ | θₖ) + a Σₖ log p(x̄ | θₖ)

        log p(x | θ) = Σⱼ xⱼ log θⱼ + (1 − xⱼ) log(1 − θⱼ)

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
    probabilities_ : ndarray of shape (n_components, n_features)
        θ: the probability of 1, in each column.
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
    >>> from certus.mixture import BernoulliMixture
    >>> X = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]])
    >>> BernoulliMixture(2, random_state=0).fit(X).probabilities_.round(2)
    array([[0., 0., 1.],
           [1., 1., 0.]])
    """

    kind = Bernoulli()
    attribute = "probabilities_"
    most = 1.0

    @watched
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "BernoulliMixture":
        """Find the components.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            0 and 1 (shares between them count as such).
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = self._rows_to_fit(X, sample_weight)
        found = self._fit(rows)
        self._conclude(rows, found)
        return self

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Rows drawn from the mixture.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            The component of each.
        """
        self._require_fitted(n_samples)
        draw = check_random_state(self.random_state)
        counts = draw.multinomial(n_samples, self.weights_ / self.weights_.sum())
        y = np.repeat(np.arange(len(counts)), counts)
        return (
            draw.uniform(size=(len(y), self.probabilities_.shape[1])) < self.probabilities_[y]
        ) * 1.0, y
