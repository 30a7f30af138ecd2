"""What every mixture shares: rows, restarts, soft assignments, a certificate.

p(x) = Σ_k π_k p(x | θ_k)        r_k(x) = π_k p(x | θ_k) / p(x)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp, softmax
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
from ..solvers.mixture.em import Collapsed, Found, anneal, em
from ..solvers.mixture.lbfgs import ascend
from ..solvers.mixture.starts import STARTS
from ..solvers.progress import OnStep
from ._family import ComponentFamily, Names
from ._messages import collapsed
from ._temperatures import Annealing, temperatures


class Mixture(DensityMixin, CertifiedEstimator, ABC):
    """Fitted components, of the distributions that ``_family`` names."""

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
        """Which distributions the components have, by the estimator's parameters."""

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

    def _dense(self, X: object, reset: bool) -> np.ndarray | LazyRows:
        data: np.ndarray | CSR | LazyRows = data_for_search(self, X, reset=reset)
        if isinstance(data, CSR):
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} needs a dense array: use "
                "X.toarray()"
            )
        return data

    def _rows_to_fit(self, X: object, sample_weight: object) -> Rows:
        data = self._dense(X, reset=True)
        n, s = data.shape[0], weights(sample_weight, data.shape[0])
        counted = n if s is None else int(np.count_nonzero(s))
        of = "" if s is None else " with a weight above 0"
        if counted < 2:
            raise ValueError(
                f"n_samples = {counted}{of}, while a minimum of 2 is required by "
                f"{type(self).__name__}: one row has no spread"
            )
        if counted < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {counted}{of}"
            )
        return Rows(data, None, s)

    def _fit(self, X: object, sample_weight: object) -> Self:
        """Run the starts, set the fitted attributes and the certificate, and warn: once."""
        rows = self._rows_to_fit(X, sample_weight)
        found = self._best_of_starts(rows)
        self._set_certificate(certify(self, rows))
        degenerate = finding_of(self.certificate_, MixtureFinding).degenerate
        said = collapsed(degenerate, found.collapsed, int(self.n_components))
        if said is not None:
            warn_user(said, DegenerateWarning)
        else:
            unfinished = not found.converged and found.n_iter >= self.max_iter
            self._warn_of_certificate(self.max_iter if unfinished else None)
        return self

    def _best_of_starts(self, rows: Rows) -> Found:
        """Run the starts, and set the fitted attributes."""
        family = self._family
        problem = family.problem(rows, self._names)
        again = self.warm_start and "weights_" in vars(self)
        count = 1 if again else int(self.n_init)
        draw = check_random_state(self.random_state)
        start = family.starts(problem, draw, self if again else None)

        def attributes(found: Found, restarts: list[float]) -> dict[str, Any]:
            return {
                **family.attributes(problem, found.theta),
                "converged_": bool(found.converged),
                "n_iter_": int(found.n_iter),
                "lower_bound_": float(found.objective / problem.mass),
                "lower_bounds_": np.array(found.trace) / problem.mass,
                "restarts_": np.array(restarts) / problem.mass,
                "_fell": float(found.fell),
            }

        self._monitor.iterations(
            lambda at: attributes(_of_iterate(at), at.restarts),
            lambda: certify(self, rows),
            count * self.max_iter,
            maximised=True,
        )
        every = self.verbose_interval if self.verbose else 0
        restarts = Restarts(type(self).__name__, self._monitor, count, _better, every)
        with blas_limiter.for_work(rows.shape), np.errstate(under="ignore"):
            try:
                found = restarts.run(partial(self._solve, problem, draw, start))
            except Collapsed as error:
                raise ValueError(
                    "Fitting the mixture model failed because some components have ill-defined "
                    f"empirical covariance: component {error.component} of {self.n_components} has "
                    "no spread at the start. Decrease n_components, increase reg_covar, or leave "
                    "it at 'relative'"
                ) from None
        for name, value in attributes(found, restarts.objectives).items():
            setattr(self, name, value)
        return found

    def _solve(
        self, problem: Any, draw: np.random.RandomState, start: Callable[[], Any], on_step: OnStep
    ) -> Found:
        """EM or L-BFGS from the next start."""
        theta = anneal(problem, start(), temperatures(self.annealing), draw)
        # max_iter=0: the start itself
        solve = {"em": em, "lbfgs": ascend}[self.solver if self.max_iter else "em"]
        return solve(problem, theta, max_iter=self.max_iter, tol=float(self.tol), on_step=on_step)

    @property
    def _names(self) -> Names:
        names: Names = vars(self).get("feature_names_in_")
        return names

    def fit_predict(self, X: object, y: object = None, sample_weight: object = None) -> np.ndarray:
        """Fit, and give the likeliest component of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        labels: np.ndarray = self.fit(X, sample_weight=sample_weight).predict(X)
        return labels

    # --- drawn rows ---

    def _sample(
        self, n_samples: int, family: ComponentFamily[Any, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        if isinstance(n_samples, bool) or n_samples != int(n_samples) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples!r}. The sampling requires at least "
                "one sample"
            )
        draw = check_random_state(self.random_state)
        counts = draw.multinomial(n_samples, self.weights_ / self.weights_.sum())
        y = np.repeat(np.arange(len(counts)), counts)
        return family.draw_rows(draw, y, self), y

    # --- new rows ---

    def _joint(self, X: object) -> np.ndarray:
        rows = Rows(self._dense(X, reset=False))
        of_block = self._family.log_joint(rows, self, self._names)
        out = np.empty((rows.shape[0], len(self.weights_)))
        with blas_limiter.for_work(rows.shape):
            return rows.map(of_block, out)

    def predict(self, X: object) -> np.ndarray:
        """The likeliest component of each row; of equally likely ones the first.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._joint(X).argmax(axis=1)

    def predict_proba(self, X: object) -> np.ndarray:
        """r_k(x): the probability of each component, given the row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return np.asarray(softmax(self._joint(X), axis=1))

    def score_samples(self, X: object) -> np.ndarray:
        """log p(x) of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.asarray(logsumexp(self._joint(X), axis=1))

    def score(self, X: object, y: object = None) -> float:
        """The mean of log p(x).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    def bic(self, X: object) -> float:
        """−2 L + (numbers that were fitted) log n: lower is better.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        float
        """
        L = self.score_samples(X)
        return float(-2 * L.sum() + self._family.n_parameters(self) * np.log(len(L)))

    def aic(self, X: object) -> float:
        """−2 L + 2 (numbers that were fitted): lower is better.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        float
        """
        return float(-2 * self.score_samples(X).sum() + 2 * self._family.n_parameters(self))


class Sampling:
    """``sample`` of mixtures whose rows need nothing more to be drawn."""

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
        drawn: tuple[np.ndarray, np.ndarray] = self._sample(n_samples, self._family)  # type: ignore[attr-defined]
        return drawn


def _better(found: Found, best: Found) -> bool:
    """Of fits in which no component collapsed, the best; else the best of the others."""
    if (found.collapsed is None) != (best.collapsed is None):
        return found.collapsed is None
    return bool(found.objective > best.objective + SAME_OBJECTIVE * np.abs(best.objective))


def _of_iterate(at: Iterate) -> Found:
    """A fit that ends here."""
    return Found(at.parameters, at.objectives[-1], at.n_iter, False, at.objectives, 0.0)
