"""What every mixture shares: rows, restarts, soft assignments, a certificate.

p(x) = Σ_k π_k p(x | θ_k)        r_k(x) = π_k p(x | θ_k) / p(x)
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from .._explain import not_certified
from .._pool import blas_limiter
from .._validation import (
    data_for_search,
    not_negative,
    not_negative_whole,
    one_of,
    positive_whole,
    weights,
)
from .._watching import CALLER, Watching
from ..certificate import Certificate, certify
from ..csr import CSR
from ..exceptions import DegenerateWarning, NotCertifiedWarning
from ..rows import Rows
from ..solvers.em import Collapsed, Found, anneal, em
from ..solvers.em_lbfgs import ascend
from ._restarts import Iterate, Restarts
from ._telling import collapsed
from ._temperatures import temperatures


class _Mixture(CallbackSupportMixin, DensityMixin, BaseEstimator):
    """Fitted components. ``fit`` is @watched; a family says the rest."""

    n_components: Any
    tol: Any
    max_iter: Any
    n_init: Any
    init_params: Any
    random_state: Any
    warm_start: Any
    verbose: Any
    verbose_interval: Any
    solver: Any
    annealing: Any
    weights_: np.ndarray
    lower_bound_: float
    certificate_: Certificate
    _watching: Watching  # during fit

    # --- what a family says ---

    def _family(self, rows: Rows) -> Any:
        """The family for EM on these rows."""
        raise NotImplementedError

    def _start(self, family: Any, draw: np.random.RandomState) -> Callable[[], Any]:
        """A function that gives the next start."""
        raise NotImplementedError

    def _attributes_of(self, family: Any, theta: Any) -> dict[str, Any]:
        """Fitted attributes of the components."""
        raise NotImplementedError

    def _log_joint(self, rows: Rows) -> Any:
        """A function of blocks: log π_k p(x | θ_k) of the fitted model, (rows, k)."""
        raise NotImplementedError

    def _drawn(self, draw: np.random.RandomState, y: np.ndarray) -> np.ndarray:
        """A row of each of these components, which are sorted."""
        raise NotImplementedError

    def _n_parameters(self) -> int:
        """Numbers that were fitted."""
        raise NotImplementedError

    # --- fit ---

    def _check_common(self, starts: Any) -> None:
        positive_whole("n_components", self.n_components)
        not_negative_whole("max_iter", self.max_iter)
        positive_whole("n_init", self.n_init)
        if not_negative("tol", self.tol).ndim:
            raise ValueError(f"tol={self.tol!r}: give one number")
        one_of("init_params", self.init_params, starts)
        one_of("solver", self.solver, ("em", "lbfgs"))
        if not isinstance(self.verbose, bool):
            not_negative("verbose", self.verbose)
        positive_whole("verbose_interval", self.verbose_interval)
        temperatures(self.annealing)

    def _dense(self, X: Any, reset: bool) -> Any:
        X = data_for_search(self, X, reset=reset)
        if isinstance(X, CSR):
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} needs a dense array: use "
                "X.toarray()"
            )
        return X

    def _rows_to_fit(self, X: Any, sample_weight: Any) -> Rows:
        X = self._dense(X, reset=True)
        n, s = X.shape[0], weights(sample_weight, X.shape[0])
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
        return Rows(X, None, s)

    def _fit(self, rows: Rows) -> Found:
        """Run the starts, and set the fitted attributes."""
        family = self._family(rows)
        again = self.warm_start and "weights_" in vars(self)
        count = 1 if again else int(self.n_init)
        draw = check_random_state(self.random_state)
        start = self._start(family, draw)
        watching = self._watching
        watching.iterations(
            lambda at: self._attributes(family, _of_iterate(family, at), at.restarts),
            lambda: certify(self, rows),
            count * self.max_iter,
            maximised=True,
        )
        every = self.verbose_interval if self.verbose else 0
        restarts = Restarts(type(self).__name__, watching, count, every)
        solve = partial(self._solve, family, draw)
        with blas_limiter.for_work(rows.shape), np.errstate(under="ignore"):
            try:
                found = restarts.run(start, solve)
            except Collapsed as error:
                raise ValueError(
                    "Fitting the mixture model failed because some components have ill-defined "
                    f"empirical covariance: component {error.component} of {self.n_components} has "
                    "no spread at the start. Decrease n_components, increase reg_covar, or leave "
                    "it at 'relative'"
                ) from None
        for name, value in self._attributes(family, found, restarts.objectives).items():
            setattr(self, name, value)
        return found

    def _solve(self, family: Any, draw: Any, theta: Any, on_step: Any) -> Found:
        theta = anneal(family, theta, temperatures(self.annealing), draw)
        # max_iter=0: the start itself
        solve = {"em": em, "lbfgs": ascend}[self.solver if self.max_iter else "em"]
        return solve(family, theta, max_iter=self.max_iter, tol=float(self.tol), on_step=on_step)

    def _attributes(self, family: Any, found: Found, restarts: list[float]) -> dict[str, Any]:
        return {
            **self._attributes_of(family, found.theta),
            "converged_": bool(found.converged),
            "n_iter_": int(found.n_iter),
            "lower_bound_": float(found.objective / family.mass),
            "lower_bounds_": np.array(found.trace) / family.mass,
            "restarts_": np.array(restarts) / family.mass,
            "_fell": float(found.fell),
        }

    def _conclude(self, rows: Rows, found: Found) -> None:
        """Set certificate_, and warn of what does not hold: once.

        ``fit`` calls it, and no helper between them: warnings count their way up.
        """
        self.certificate_ = c = self._watching.label(certify(self, rows))
        said = collapsed(c.found.get("degenerate"), found.collapsed, int(self.n_components))
        if said is not None:
            warnings.warn(said, DegenerateWarning, stacklevel=CALLER)
        elif not c.certified:
            unfinished = not found.converged and found.n_iter >= self.max_iter
            told = not_certified(c, self.max_iter if unfinished else None)
            warnings.warn(told, NotCertifiedWarning, stacklevel=CALLER)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
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
        return self._sample(n_samples, self._drawn)

    def _sample(
        self, n_samples: Any, drawn: Callable[[Any, np.ndarray], np.ndarray]
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
        return drawn(draw, y), y

    # --- new rows ---

    def _joint(self, X: Any) -> np.ndarray:
        rows = Rows(self._dense(X, reset=False))
        of_block = self._log_joint(rows)
        out = np.empty((rows.shape[0], len(self.weights_)))
        with blas_limiter.for_work(rows.shape):
            return rows.map(of_block, out)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest component of each row; of equally likely ones the first.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._joint(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """r_k(x): the probability of each component, given the row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return np.asarray(softmax(self._joint(X), axis=1))

    def score_samples(self, X: Any) -> np.ndarray:
        """log p(x) of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.asarray(logsumexp(self._joint(X), axis=1))

    def score(self, X: Any, y: Any = None) -> float:
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

    def bic(self, X: Any) -> float:
        """−2 L + (numbers that were fitted) log n: lower is better.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        float
        """
        L = self.score_samples(X)
        return float(-2 * L.sum() + self._n_parameters() * np.log(len(L)))

    def aic(self, X: Any) -> float:
        """−2 L + 2 (numbers that were fitted): lower is better.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        float
        """
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())

    # --- for scikit-learn ---

    def _html_repr(self) -> str:
        shown: str = estimator_html_repr(self)
        certificate = vars(self).get("certificate_")
        return shown if certificate is None else shown + certificate._repr_html_()


def _of_iterate(family: Any, at: Iterate) -> Found:
    """A fit that ends here."""
    return Found(at.theta, at.trace[-1], at.n_iter, False, at.trace, 0.0)
