"""Base class of all mixtures: validation, restarts, soft assignments, certificate.

p(x) = Σ_k π_k p(x | θ_k)        r_k(x) = π_k p(x | θ_k) / p(x)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..base.certified import CertifiedEstimator
from ..base.restarts import SAME_OBJECTIVE, Iterate, Restarts
from ..certificate import certify
from ..certificate.findings import MixtureFinding, finding_of
from ..data.csr import CSR
from ..data.lazy import LazyRows
from ..data.rows import Rows
from ..data.streamed import StreamedColumn, StreamedTable, StreamedX
from ..data.streamed_input import require_no_arrays_beside
from ..data.types import Seed
from ..data.validation import (
    data_for_search,
    not_negative,
    not_negative_whole,
    one_of,
    positive_whole,
    weights,
)
from ..exceptions import DegenerateWarning
from ..runtime.pool import blas_limiter
from ..runtime.user_frame import warn_user
from ..solvers.mixture.em import Collapsed, MixtureResult, anneal, em
from ..solvers.mixture.lbfgs import ascend
from ..solvers.mixture.starts import STARTS
from ..solvers.progress import OnStep
from ._answers import (
    DensitySums,
    block_rows,
    density_sums,
    log_densities,
    most_likely,
    probabilities,
)
from ._family import ComponentFamily, LogJoint, Names
from ._messages import collapse_message
from ._temperatures import Annealing, temperatures


class Mixture(DensityMixin, CertifiedEstimator, ABC):
    """Mixture of the distributions given by ``_family``."""

    _reads_rows = True  # of open_rows, block by block

    n_components: int
    tol: float
    max_iter: int
    n_init: int
    init_params: str
    random_state: Seed
    warm_start: bool
    verbose: int
    verbose_interval: int
    solver: str
    annealing: Annealing
    weights_: np.ndarray
    lower_bound_: float

    @property
    @abstractmethod
    def _family(self) -> ComponentFamily[Any, Any]:
        """Distributions of the components, from the estimator's parameters."""

    # --- fit ---

    def _check_common(self) -> None:
        positive_whole("n_components", self.n_components)
        not_negative_whole("max_iter", self.max_iter)
        positive_whole("n_init", self.n_init)
        if not_negative("tol", self.tol).ndim:
            raise ValueError(f"tol={self.tol!r}: give one number")
        one_of("init_params", self.init_params, STARTS)
        one_of("solver", self.solver, ("em", "lbfgs"))
        if not isinstance(self.verbose, bool):
            not_negative("verbose", self.verbose)
        positive_whole("verbose_interval", self.verbose_interval)
        temperatures(self.annealing)

    def _dense(self, X: object, reset: bool) -> np.ndarray | LazyRows | StreamedX:
        data: np.ndarray | CSR | LazyRows | StreamedX = data_for_search(self, X, reset=reset)
        if isinstance(data, CSR):
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} needs a dense array: use "
                "X.toarray()"
            )
        return data

    def _rows_to_fit(self, X: object, sample_weight: object) -> Rows:
        data = self._dense(X, reset=True)
        n, s = data.shape[0], _weights(data, sample_weight)
        rows = Rows(data, None, s)
        counted = n if s is None else int(rows.reduce_targets(_count_weights)[0])
        qualifier = "" if s is None else " with a weight above 0"
        if counted < 2:
            raise ValueError(
                f"n_samples = {counted}{qualifier}, while a minimum of 2 is required by "
                f"{type(self).__name__}: one row has no spread"
            )
        if counted < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {counted}{qualifier}"
            )
        return rows

    def _fit(self, X: object, sample_weight: object) -> Self:
        """Run the starts, set the fitted attributes and the certificate, and warn at most once."""
        rows = self._rows_to_fit(X, sample_weight)
        result = self._best_of_starts(rows)
        self._set_certificate(certify(self, rows))
        degenerate = finding_of(self.certificate_, MixtureFinding).degenerate
        message = collapse_message(degenerate, result.collapsed, int(self.n_components))
        if message is not None:
            warn_user(message, DegenerateWarning)
        else:
            unfinished = not result.converged and result.n_iter >= self.max_iter
            self._warn_of_certificate(self.max_iter if unfinished else None)
        return self

    def _best_of_starts(self, rows: Rows) -> MixtureResult:
        """Run the starts and set the fitted attributes of the best."""
        family = self._family
        with blas_limiter.for_work(rows.shape):
            problem = family.problem(rows, self._names)
        warm = self.warm_start and "weights_" in vars(self)
        count = 1 if warm else int(self.n_init)
        rng = check_random_state(self.random_state)
        start = family.starts(problem, rng, self if warm else None)

        def attributes(result: MixtureResult, restarts: list[float]) -> dict[str, Any]:
            return {
                **family.attributes(problem, result.theta),
                "converged_": bool(result.converged),
                "n_iter_": int(result.n_iter),
                "lower_bound_": float(result.objective / problem.mass),
                "lower_bounds_": np.array(result.trace) / problem.mass,
                "restarts_": np.array(restarts) / problem.mass,
                "_largest_decrease": float(result.largest_decrease),
            }

        self._monitor.iterations(
            lambda iterate: attributes(_result_at(iterate), iterate.restarts),
            lambda: certify(self, rows),
            count * self.max_iter,
            maximized=True,
        )
        every = self.verbose_interval if self.verbose else 0
        restarts = Restarts(type(self).__name__, self._monitor, count, _better, every)
        with blas_limiter.for_work(rows.shape), np.errstate(under="ignore"):
            try:
                result = restarts.run(partial(self._solve, problem, rng, start))
            except Collapsed as error:
                raise ValueError(
                    "Fitting the mixture model failed because some components have ill-defined "
                    f"empirical covariance: component {error.component} of {self.n_components} has "
                    "no spread at the start. Decrease n_components, increase reg_covar, or leave "
                    "it at 'relative'"
                ) from None
        for name, value in attributes(result, restarts.objectives).items():
            setattr(self, name, value)
        return result

    def _solve(
        self, problem: Any, rng: np.random.RandomState, start: Callable[[], Any], on_step: OnStep
    ) -> MixtureResult:
        """Run EM or L-BFGS from the next start."""
        theta = anneal(problem, start(), temperatures(self.annealing), rng)
        # max_iter=0 returns the start itself
        solve = {"em": em, "lbfgs": ascend}[self.solver if self.max_iter else "em"]
        return solve(problem, theta, max_iter=self.max_iter, tol=float(self.tol), on_step=on_step)

    @property
    def _names(self) -> Names:
        names: Names = vars(self).get("feature_names_in_")
        return names

    def fit_predict(self, X: object, y: object = None, sample_weight: object = None) -> np.ndarray:
        """Fit the mixture and return the most likely component of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        labels: np.ndarray = self.fit(X, sample_weight=sample_weight).predict(X)
        return labels

    # --- sampling ---

    def _sample(
        self, n_samples: int, family: ComponentFamily[Any, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        if isinstance(n_samples, bool) or n_samples != int(n_samples) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples!r}. The sampling requires at least "
                "one sample"
            )
        rng = check_random_state(self.random_state)
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        y = np.repeat(np.arange(len(counts)), counts)
        return family.draw_rows(rng, y, self), y

    # --- new rows ---

    def _densities(self, X: object) -> tuple[Rows, LogJoint]:
        """Return new rows and the function from a block of them to log π_k p(x | θ_k)."""
        data = self._dense(X, reset=False)
        rows = Rows(data, None, _weights(data, None))
        return rows, self._family.log_joint(rows, self, self._names)

    def _answers(
        self, X: object, answer: Callable[..., np.ndarray], columns: tuple[int, ...], dtype: Any
    ) -> np.ndarray:
        """Return ``answer`` for every row of X."""
        rows, log_joint = self._densities(X)
        out = np.empty((rows.shape[0], *columns), dtype=dtype)
        with blas_limiter.for_work(rows.shape):
            size = block_rows(rows, len(self.weights_))
            return rows.map(answer, out, log_joint, block_rows=size)

    def _density_sums(self, X: object) -> DensitySums:
        """Return Σ s log p(x) and Σ s; the weights s of a table, or ones."""
        if isinstance(X, StreamedTable):
            rows, log_joint = self._densities(X)
            with blas_limiter.for_work(rows.shape):
                size = block_rows(rows, len(self.weights_))
                sums: DensitySums = rows.reduce(density_sums, log_joint, block_rows=size)
                return sums
        each = self.score_samples(X)
        return DensitySums(each.sum(), len(each))

    def predict(self, X: object) -> np.ndarray:
        """Most likely component of each row; ties go to the first.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._answers(X, most_likely, (), np.intp)

    def predict_proba(self, X: object) -> np.ndarray:
        """Probability r_k(x) of each component given the row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._answers(X, probabilities, (len(self.weights_),), float)

    def score_samples(self, X: object) -> np.ndarray:
        """Log density log p(x) of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._answers(X, log_densities, (), float)

    def score(self, X: object, y: object = None) -> float:
        """Mean log density of the rows; of a table, weighted by its weights.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
        y : ignored

        Returns
        -------
        float
        """
        sums = self._density_sums(X)
        return float(sums.L / sums.S)

    def bic(self, X: object) -> float:
        """Bayesian information criterion, −2 L + (number of parameters) log n: lower is better.

        L and n count a row of a table by its weight.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        float
        """
        sums = self._density_sums(X)
        return float(-2 * sums.L + self._family.n_parameters(self) * np.log(sums.S))

    def aic(self, X: object) -> float:
        """Akaike information criterion, −2 L + 2 (number of parameters): lower is better.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        float
        """
        return float(-2 * self._density_sums(X).L + 2 * self._family.n_parameters(self))


def _weights(
    data: np.ndarray | LazyRows | StreamedX, sample_weight: object
) -> np.ndarray | StreamedColumn | None:
    """Return the weights of the rows: those of a table, or the ones given."""
    if isinstance(data, StreamedX):
        require_no_arrays_beside(None, sample_weight)
        return data.table.s
    return weights(sample_weight, data.shape[0])


def _count_weights(_y: object, s: np.ndarray) -> tuple[int]:
    return (int(np.count_nonzero(s)),)


class Sampling:
    """Mixin with ``sample``, for mixtures whose rows need no further parameter."""

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            The component of each row.
        """
        drawn: tuple[np.ndarray, np.ndarray] = self._sample(n_samples, self._family)  # type: ignore[attr-defined]
        return drawn


def _better(result: MixtureResult, best: MixtureResult) -> bool:
    """Prefer results without a collapsed component, then the larger objective."""
    if (result.collapsed is None) != (best.collapsed is None):
        return result.collapsed is None
    return bool(result.objective > best.objective + SAME_OBJECTIVE * np.abs(best.objective))


def _result_at(iterate: Iterate) -> MixtureResult:
    """Result of a fit that ends at this iterate."""
    objectives = iterate.objectives
    return MixtureResult(iterate.parameters, objectives[-1], iterate.n_iter, False, objectives, 0.0)
