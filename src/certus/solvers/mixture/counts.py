r"""Bernoulli, Poisson and multinomial components as a family for EM.

    Bernoulli    η = log θ/(1 − θ)   A = −Σ_j log(1 − θ_j)      h = 0
    Poisson      η = log λ           A = Σ_j λ_j                h = −Σ_j log x_j!
    multinomial  η = log θ           A = 0                      h = log (Σ_j x_j)! − Σ_j log x_j!

All are log p(x | θ) = xᵀη − A + h(x), with statistics N = Σ s r and T = Σ s r x. A prior of ``a``
pseudo-rows at the data's mean row m̄ adds a·m̄ to T and a to N: θ = (T + a m̄)/(N + a), and for the
multinomial (T + a m̄) over its sum. h(x) changes neither r nor θ and is summed once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from ...data.rows import Rows
from .em import EMEvaluation, ResponsibilityFunction, responsibility_function
from .starts import Assignment, AssignmentRule

BLOCK_ELEMENTS = 1 << 17  # numbers in a block of rows
SMALLEST_FLOAT = 5e-324  # in place of 0, so that 0·log 0 = 0 where the count is 0 too


class CountParameters(NamedTuple):
    """θ: mixing weights π, and probabilities or rates of each component."""

    pi: np.ndarray  # (k,)
    values: np.ndarray  # (k, p)


class CountStatistics(NamedTuple):
    """Sufficient statistics of count components."""

    N: np.ndarray  # Σ s r
    T: np.ndarray  # Σ s r x


class Bernoulli:
    """Entries in [0, 1]."""

    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Natural parameters η and log normalisers A."""
        log_complement = np.log(np.maximum(1 - theta, SMALLEST_FLOAT))
        eta = np.log(np.maximum(theta, SMALLEST_FLOAT)) - log_complement
        return eta, -log_complement.sum(axis=1)

    def base(self, X: np.ndarray) -> np.ndarray:
        """Log base measure h(x) of each row."""
        return np.zeros(len(X))

    def maximizer(self, N: np.ndarray, T: np.ndarray) -> np.ndarray:
        return np.clip(T / N[:, None], 0.0, 1.0)

    def shifted(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the θ whose η is larger by x."""
        odds = theta / np.maximum(1 - theta, SMALLEST_FLOAT) * np.exp(x)
        return np.asarray(odds / (1 + odds))

    def expected(self, N: np.ndarray, _T: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Expected T under θ: the gradient in η is T minus this."""
        return N[:, None] * theta


class Poisson(Bernoulli):
    """Entries of at least 0."""

    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.log(np.maximum(theta, SMALLEST_FLOAT)), theta.sum(axis=1)

    def base(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(-gammaln(X + 1.0).sum(axis=1))

    def maximizer(self, N: np.ndarray, T: np.ndarray) -> np.ndarray:
        return T / N[:, None]

    def shifted(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.asarray(theta * np.exp(x))


class Multinomial(Poisson):
    """Entries of at least 0, compared by their proportions within a row."""

    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.log(np.maximum(theta, SMALLEST_FLOAT)), np.zeros(len(theta))

    def base(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(super().base(X) + gammaln(X.sum(axis=1) + 1.0))

    def maximizer(self, N: np.ndarray, T: np.ndarray) -> np.ndarray:
        total = T.sum(axis=1, keepdims=True)
        even = np.full_like(T, 1 / T.shape[1])
        return np.where(total > 0, T / np.where(total > 0, total, 1.0), even)

    def shifted(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        values = theta * np.exp(x - x.max(axis=1, keepdims=True))
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    def expected(self, _N: np.ndarray, T: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return T.sum(axis=1, keepdims=True) * theta


@dataclass(frozen=True, eq=False)
class LinearLogJoint:
    """Joint log densities of a block without h(x), (k, rows): log π − A + xᵀη."""

    eta: np.ndarray
    const: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        a = np.dot(self.eta, X.T)
        a += self.const
        return np.asarray(a)


@dataclass(frozen=True, eq=False)
class CountLogJoint:
    """Joint log densities log π_k p(x | θ_k) of a block of rows, (rows, k)."""

    linear: LinearLogJoint
    kind: Any

    def __call__(self, X: np.ndarray, _y: object, _s: object) -> np.ndarray:
        X = np.asarray(X, dtype=float)
        return np.asarray(self.linear(X).T + self.kind.base(X)[:, None])


def expected_sums(
    X: np.ndarray,
    _y: object,
    s: np.ndarray | None,
    log_joint: LinearLogJoint,
    responsibilities: ResponsibilityFunction,
    beta: float,
) -> tuple[Any, ...]:
    """Return Σ s (1/β) log Σ (πp)^β without h(x), N and T of one block."""
    X = np.asarray(X, dtype=float)
    F, R = responsibilities(log_joint(X), s, beta)
    return F, R.sum(axis=1), np.dot(R, X)


def assigned_sums(X: np.ndarray, _y: object, s: np.ndarray | None, *given: Any) -> tuple[Any, ...]:
    """Return N and T of one block for the responsibilities of a start."""
    rule: AssignmentRule
    *kept, rule = given
    R = rule(X, *kept)
    R = R if s is None else R * s
    return R.sum(axis=1), np.dot(R, np.asarray(X, dtype=float))


def base_sums(X: np.ndarray, _y: object, s: np.ndarray | None, kind: Any) -> tuple[Any, ...]:
    """Return Σ s h(x) and Σ s x of one block."""
    X = np.asarray(X, dtype=float)
    s = np.ones(len(X)) if s is None else s
    return float(np.dot(s, kind.base(X))), np.dot(s, X)


class CountFamily:
    """Count components of given rows, with a prior of ``prior`` pseudo-rows at ``mean``."""

    def __init__(self, rows: Rows, kind: Any, prior: float, mean: np.ndarray, base: float):
        self.rows, self.kind, self.prior, self.mean, self.base = rows, kind, prior, mean, base
        self.mass = rows.S

    def evaluate(self, theta: CountParameters, beta: float = 1.0) -> EMEvaluation:
        responsibilities = responsibility_function(self.rows, len(theta.pi))
        args = self._linear(theta), responsibilities, beta
        F, N, T = self._over_rows(expected_sums, args)
        return EMEvaluation(float(F + self.base), CountStatistics(N, T))

    def _linear(self, theta: CountParameters) -> "LinearLogJoint":
        eta, A = self.kind.natural(theta.values)
        with np.errstate(divide="ignore"):
            return LinearLogJoint(eta, (np.log(theta.pi) - A)[:, None])

    def log_joint(self, theta: CountParameters) -> "CountLogJoint":
        """Return the function from a block of rows to log π_k p(x | θ_k), (rows, k)."""
        return CountLogJoint(self._linear(theta), self.kind)

    def statistics_of(self, assignment: Assignment) -> CountStatistics:
        """Statistics for the responsibilities of a start."""
        sums = self._over_rows(assigned_sums, (assignment.rule,), assignment.beside)
        return CountStatistics(*sums)

    def _over_rows(self, sums: Callable[..., Any], args: tuple[Any, ...], beside: Any = ()) -> Any:
        block = max(128, BLOCK_ELEMENTS // self.rows.shape[1])
        return self.rows.reduce(sums, *args, beside=beside, block_rows=block, times=8)

    def maximize(
        self, sums: CountStatistics, theta: CountParameters | None, prior: float | None = None
    ) -> CountParameters:
        a = self.prior if prior is None else prior
        N, T = sums.N + a, sums.T + a * self.mean
        values = self.kind.maximizer(np.where(N > 0, N, 1.0), T)
        if theta is not None:  # a component without rows keeps its parameters
            values = np.where(N[:, None] > 0, values, theta.values)
        return CountParameters(sums.N / sums.N.sum(), values)

    def log_prior(self, theta: CountParameters) -> float:
        if not self.prior:
            return 0.0
        eta, A = self.kind.natural(theta.values)
        return float(self.prior * (np.dot(eta, self.mean) - A).sum())

    def perturb(
        self, theta: CountParameters, rng: np.random.RandomState, by: float
    ) -> CountParameters:
        """Move the natural parameters at random by ``by``."""
        x = by * rng.standard_normal(theta.values.shape)
        return theta._replace(values=self.kind.shifted(theta.values, x))

    def parametrization(self, theta: CountParameters) -> "_CountParametrization":
        return _CountParametrization(self, theta)


class _CountParametrization:
    """Unconstrained parameters: π = softmax(log π⁰ + a), η = η⁰ + x, both in units of 1/√π⁰."""

    def __init__(self, family: CountFamily, theta: CountParameters):
        self.family, self.center = family, theta
        self.k = len(theta.pi)
        self.root = np.sqrt(np.maximum(theta.pi, 1 / family.mass))
        self.start = np.zeros(self.k * (1 + theta.values.shape[1]))

    def theta(self, x: np.ndarray) -> CountParameters:
        e = np.maximum(self.center.pi, np.finfo(float).tiny) * np.exp(x[: self.k] / self.root)
        step = x[self.k :].reshape(self.k, -1) / self.root[:, None]
        return CountParameters(e / e.sum(), self.family.kind.shifted(self.center.values, step))

    def slope(self, _x: np.ndarray, theta: CountParameters, sums: CountStatistics) -> np.ndarray:
        a, mean = self.family.prior, self.family.mean
        N, T = sums.N + a, sums.T + a * mean
        eta = T - self.family.kind.expected(N, T, theta.values)
        pi = (sums.N - sums.N.sum() * theta.pi) / self.root
        return np.concatenate([pi, (eta / self.root[:, None]).ravel()])
