"""Mixtures of rows that count: what Bernoulli, Poisson and multinomial components share."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .._finite import column_name, require_finite
from .._validation import not_negative
from .._watching import watched
from ..rows import Rows
from ..solvers.count_mixture import CountFamily, Counts
from ..solvers.mixture_starts import STARTS
from ._base import _Mixture

ONE_ROW = 1.0  # imaginary rows that hold components at the start: no probability is 0


class _CountMixture(_Mixture):
    """Fitted probabilities or rates."""

    kind: Any
    attribute: str  # what θ is called
    most: float = np.inf  # the largest entry allowed
    prior: Any

    def __init__(
        self,
        n_components: int = 1,
        *,
        prior: float = 1e-6,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        solver: str = "em",
        annealing: Any = None,
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

    @watched
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Numbers from 0 on, of Bernoulli components up to 1 (shares count as such).
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

    def _check_parameters(self) -> None:
        self._check_common(STARTS)
        if not_negative("prior", self.prior).ndim:
            raise ValueError(f"prior={self.prior!r}: give one number")

    def _family(self, rows: Rows) -> CountFamily:
        self._refuse(rows)
        base, total = rows.reduce(self._sums)
        return CountFamily(rows, self.kind, float(self.prior), total / rows.S, float(base))

    def _sums(self, X: Any, _y: Any, s: Any) -> tuple[float, np.ndarray]:
        X = np.asarray(X, dtype=float)
        s = np.ones(len(X)) if s is None else s
        return float(np.dot(s, self.kind.base(X))), np.dot(s, X)

    def _refuse(self, rows: Rows) -> None:
        """Entries that cannot be counted."""
        names = vars(self).get("feature_names_in_")
        require_finite(rows.X, names)
        for start, stop in rows.edges():
            X, _, _ = rows.block(start, stop)
            bad = np.argwhere((X < 0) | (self.most < X))
            if len(bad):
                i, j = bad[0]
                top = "or more" if np.isinf(self.most) else f"to {self.most:g}"
                negative = "Negative values in data: " if X[i, j] < 0 else ""
                raise ValueError(
                    f"{negative}{column_name(j, names)} holds {X[i, j]:g} (row {start + i}): "
                    f"{type(self).__name__} needs numbers from 0 {top}"
                )

    def _start(self, family: CountFamily, draw: Any) -> Callable[[], Counts]:
        k = int(self.n_components)
        if self.warm_start and "weights_" in vars(self) and len(self.weights_) == k:
            return self._theta

        def next_start() -> Counts:
            R = STARTS[self.init_params](family.rows, k, draw)
            found = family.maximise(family.statistics_of(R, k), None, ONE_ROW)
            pi = np.maximum(found.pi, 1e-3 / family.mass)
            return Counts(pi / pi.sum(), found.values)

        return next_start

    def _theta(self) -> Counts:
        return Counts(np.asarray(self.weights_), np.asarray(getattr(self, self.attribute)))

    def _attributes_of(self, family: CountFamily, theta: Counts) -> dict[str, Any]:
        return {"weights_": theta.pi, self.attribute: theta.values}

    def _log_joint(self, rows: Rows) -> Any:
        self._refuse(rows)
        return CountFamily(rows, self.kind, 0.0, np.zeros(1), 0.0).log_joint(self._theta())

    def _n_parameters(self) -> int:
        k, p = getattr(self, self.attribute).shape
        return int(k * p + k - 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
