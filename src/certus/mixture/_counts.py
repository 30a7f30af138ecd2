"""Base class of the Bernoulli, Poisson and multinomial mixtures."""

from typing import Any, Self, TypeVar

from ..data.types import Seed
from ..data.validation import not_negative
from ..runtime.progress import monitored
from ._base import Mixture
from ._count_components import BernoulliComponents, MultinomialComponents, PoissonComponents
from ._temperatures import Annealing

C = TypeVar("C", BernoulliComponents, MultinomialComponents, PoissonComponents)


class CountMixture(Mixture):
    """Mixture of components with probabilities or rates."""

    prior: float

    def __init__(
        self,
        n_components: int = 1,
        *,
        prior: float = 1e-6,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        solver: str = "em",
        annealing: Annealing = None,
    ):
        self.n_components = n_components
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.solver = solver
        self.annealing = annealing

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Fit the components.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
            Numbers of at least 0, for Bernoulli components at most 1 (fractions are allowed). A
            table of ``certus.open_rows`` is read block by block and brings the weights.
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            A weight of 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        return self._fit(X, sample_weight)

    def _check_parameters(self) -> None:
        self._check_common()
        if not_negative("prior", self.prior).ndim:
            raise ValueError(f"prior={self.prior!r}: give one number")

    def _family_of(self, components: type[C]) -> C:
        """Family of these components with the estimator's parameters."""
        return components(type(self).__name__, self.n_components, self.prior, self.init_params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
