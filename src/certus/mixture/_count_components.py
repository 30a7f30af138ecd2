"""Bernoulli, Poisson and multinomial components."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..data.entries import first_outside
from ..data.finite import column_name, require_finite
from ..data.rows import Rows
from ..solvers.mixture.counts import (
    Bernoulli,
    CountFamily,
    CountParameters,
    Multinomial,
    Poisson,
    base_sums,
)
from ..solvers.mixture.starts import assignments
from ._family import LogJoint, Names

if TYPE_CHECKING:
    from ._base import Mixture

START_PRIOR_ROWS = 1.0  # pseudo-rows in each component at the start: no probability is 0
MIN_START_WEIGHT = 1e-3  # of a component at the start, in rows: an empty one can still gain rows


@dataclass(frozen=True, eq=False)
class _CountComponents(ABC):
    """Components with log p(x | θ) = xᵀη(θ) − A(θ) + h(x)."""

    model: str  # the estimator's name, for messages
    n_components: int
    prior: float
    init_params: str

    kind: ClassVar[Bernoulli]  # η, A and h
    attribute: ClassVar[str]  # the fitted attribute that holds θ
    max_entry: ClassVar[float] = np.inf  # the largest entry allowed
    constraints: ClassVar[int] = 0  # equations that the values of one component satisfy

    def problem(self, rows: Rows, names: Names) -> CountFamily:
        self._validate(rows, names)
        base, total = rows.reduce(base_sums, self.kind)
        return CountFamily(rows, self.kind, float(self.prior), total / rows.S, float(base))

    def _validate(self, rows: Rows, names: Names) -> None:
        """Raise ValueError for entries outside the distribution's support."""
        require_finite(rows.X, names)
        bad = first_outside(rows, 0.0, self.max_entry)
        if bad is not None:
            top = "or more" if np.isinf(self.max_entry) else f"to {self.max_entry:g}"
            negative = "Negative values in data: " if bad.value < 0 else ""
            raise ValueError(
                f"{negative}{column_name(bad.column, names)} holds {bad.value:g} (row {bad.row}): "
                f"{self.model} needs numbers from 0 {top}"
            )

    def starts(
        self, problem: CountFamily, rng: np.random.RandomState, fitted: "Mixture | None"
    ) -> Callable[[], CountParameters]:
        k = int(self.n_components)
        if fitted is not None and len(fitted.weights_) == k:
            return lambda: self._theta(fitted)
        next_assignment = assignments(problem.rows, self.init_params, k, rng)

        def next_start() -> CountParameters:
            statistics = problem.statistics_of(next_assignment())
            theta = problem.maximize(statistics, None, START_PRIOR_ROWS)
            pi = np.maximum(theta.pi, MIN_START_WEIGHT / problem.mass)
            return CountParameters(pi / pi.sum(), theta.values)

        return next_start

    def _theta(self, fitted: "Mixture") -> CountParameters:
        return CountParameters(
            np.asarray(fitted.weights_), np.asarray(getattr(fitted, self.attribute))
        )

    def attributes(self, problem: CountFamily, theta: CountParameters) -> dict[str, Any]:
        return {"weights_": theta.pi, self.attribute: theta.values}

    def log_joint(self, rows: Rows, fitted: "Mixture", names: Names) -> LogJoint:
        self._validate(rows, names)
        return CountFamily(rows, self.kind, 0.0, np.zeros(1), 0.0).log_joint(self._theta(fitted))

    @abstractmethod
    def draw_rows(self, rng: np.random.RandomState, y: np.ndarray, fitted: "Mixture") -> np.ndarray:
        """Draw one row from each of the components y, which are sorted."""

    def n_parameters(self, fitted: "Mixture") -> int:
        k, p = getattr(fitted, self.attribute).shape
        return int(k * (p - self.constraints) + k - 1)


@dataclass(frozen=True, eq=False)
class BernoulliComponents(_CountComponents):
    """Independent columns with probability θ_j; entries in [0, 1]."""

    kind = Bernoulli()
    attribute = "probabilities_"
    max_entry = 1.0

    def draw_rows(self, rng: np.random.RandomState, y: np.ndarray, fitted: "Mixture") -> np.ndarray:
        theta = fitted.probabilities_[y]
        return np.asarray(rng.uniform(size=theta.shape) < theta).astype(float)


@dataclass(frozen=True, eq=False)
class PoissonComponents(_CountComponents):
    """Independent columns with rate λ_j."""

    kind = Poisson()
    attribute = "rates_"

    def draw_rows(self, rng: np.random.RandomState, y: np.ndarray, fitted: "Mixture") -> np.ndarray:
        return rng.poisson(fitted.rates_[y]).astype(float)


@dataclass(frozen=True, eq=False)
class MultinomialComponents(_CountComponents):
    """Counts compared by their proportions within a row; probabilities add up to 1."""

    n_trials: int = 1  # total of each row drawn

    kind = Multinomial()
    attribute = "probabilities_"
    constraints = 1

    def draw_rows(self, rng: np.random.RandomState, y: np.ndarray, fitted: "Mixture") -> np.ndarray:
        rows = [rng.multinomial(self.n_trials, fitted.probabilities_[k]) for k in y]
        return np.array(rows, dtype=float)
