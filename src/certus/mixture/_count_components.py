"""Components of rows that count: Bernoulli, Poisson and multinomial."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..data.finite import column_name, require_finite
from ..data.rows import Rows
from ..solvers.mixture.counts import Bernoulli, CountFamily, Counts, Multinomial, Poisson
from ..solvers.mixture.starts import STARTS
from ._family import Names

if TYPE_CHECKING:
    from ._base import Mixture

ONE_ROW = 1.0  # imaginary rows that hold components at the start: no probability is 0


@dataclass(frozen=True, eq=False)
class _CountComponents(ABC):
    """log p(x | θ) = xᵀη(θ) − A(θ) + h(x)."""

    model: str  # the estimator's name, for messages
    n_components: int
    prior: float
    init_params: str

    kind: ClassVar[Bernoulli]  # η, A and h
    attribute: ClassVar[str]  # what θ is called
    most: ClassVar[float] = np.inf  # the largest entry allowed
    constraints: ClassVar[int] = 0  # equations that the values of one component satisfy

    def problem(self, rows: Rows, names: Names) -> CountFamily:
        self._refuse(rows, names)
        base, total = rows.reduce(self._sums)
        return CountFamily(rows, self.kind, float(self.prior), total / rows.S, float(base))

    def _sums(
        self, X: np.ndarray, _y: np.ndarray | None, s: np.ndarray | None
    ) -> tuple[float, np.ndarray]:
        X = np.asarray(X, dtype=float)
        s = np.ones(len(X)) if s is None else s
        return float(np.dot(s, self.kind.base(X))), np.dot(s, X)

    def _refuse(self, rows: Rows, names: Names) -> None:
        """Refuse entries that cannot be counted."""
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
                    f"{self.model} needs numbers from 0 {top}"
                )

    def starts(
        self, problem: CountFamily, draw: np.random.RandomState, fitted: "Mixture | None"
    ) -> Callable[[], Counts]:
        k = int(self.n_components)
        if fitted is not None and len(fitted.weights_) == k:
            return lambda: self._theta(fitted)

        def next_start() -> Counts:
            R = STARTS[self.init_params](problem.rows, k, draw)
            found = problem.maximise(problem.statistics_of(R, k), None, ONE_ROW)
            pi = np.maximum(found.pi, 1e-3 / problem.mass)
            return Counts(pi / pi.sum(), found.values)

        return next_start

    def _theta(self, fitted: "Mixture") -> Counts:
        return Counts(np.asarray(fitted.weights_), np.asarray(getattr(fitted, self.attribute)))

    def attributes(self, problem: CountFamily, theta: Counts) -> dict[str, Any]:
        return {"weights_": theta.pi, self.attribute: theta.values}

    def log_joint(self, rows: Rows, fitted: "Mixture", names: Names) -> Callable[..., np.ndarray]:
        self._refuse(rows, names)
        return CountFamily(rows, self.kind, 0.0, np.zeros(1), 0.0).log_joint(self._theta(fitted))

    @abstractmethod
    def draw_rows(
        self, draw: np.random.RandomState, y: np.ndarray, fitted: "Mixture"
    ) -> np.ndarray:
        """A row of each of the components y, which are sorted."""

    def n_parameters(self, fitted: "Mixture") -> int:
        k, p = getattr(fitted, self.attribute).shape
        return int(k * (p - self.constraints) + k - 1)


@dataclass(frozen=True, eq=False)
class BernoulliComponents(_CountComponents):
    """Independent columns of probability θ_j; entries in [0, 1]."""

    kind = Bernoulli()
    attribute = "probabilities_"
    most = 1.0

    def draw_rows(
        self, draw: np.random.RandomState, y: np.ndarray, fitted: "Mixture"
    ) -> np.ndarray:
        theta = fitted.probabilities_[y]
        return np.asarray(draw.uniform(size=theta.shape) < theta).astype(float)


@dataclass(frozen=True, eq=False)
class PoissonComponents(_CountComponents):
    """Independent columns of rate λ_j."""

    kind = Poisson()
    attribute = "rates_"

    def draw_rows(
        self, draw: np.random.RandomState, y: np.ndarray, fitted: "Mixture"
    ) -> np.ndarray:
        return draw.poisson(fitted.rates_[y]).astype(float)


@dataclass(frozen=True, eq=False)
class MultinomialComponents(_CountComponents):
    """Counts of which the shares in a row matter; probabilities add up to 1."""

    n_trials: int = 1  # of a row that is drawn

    kind = Multinomial()
    attribute = "probabilities_"
    constraints = 1

    def draw_rows(
        self, draw: np.random.RandomState, y: np.ndarray, fitted: "Mixture"
    ) -> np.ndarray:
        rows = [draw.multinomial(self.n_trials, fitted.probabilities_[k]) for k in y]
        return np.array(rows, dtype=float)
