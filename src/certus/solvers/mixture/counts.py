r"""Components of rows that count, as a family for EM.

    Bernoulli    η = log θ/(1 − θ)   A = −Σ_j log(1 − θ_j)      h = 0
    Poisson      η = log λ           A = Σ_j λ_j                h = −Σ_j log x_j!
    multinomial  η = log θ           A = 0                      h = log (Σ_j x_j)! − Σ_j log x_j!

All are log p(x | θ) = xᵀη − A + h(x), with statistics N = Σ s r and T = Σ s r x. A prior of a
imaginary rows at the data's mean row m̄ adds a·m̄ to T and a to N: θ = (T + a m̄)/(N + a), of the
multinomial (T + a m̄) over its sum. A row's h changes neither r nor θ and is added up once.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from ...data.rows import Rows
from .em import Look, shares_of

BLOCK = 1 << 17  # numbers in a block of rows
TINY = 5e-324  # for 0: where the count is 0 too, 0·log 0 = 0


class Counts(NamedTuple):
    """θ: π and, of each component, probabilities or rates."""

    pi: np.ndarray  # (k,)
    values: np.ndarray  # (k, p)


class Sums(NamedTuple):
    N: np.ndarray
    T: np.ndarray


class Bernoulli:
    """Entries in [0, 1]."""

    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(η, A)."""
        no = np.log(np.maximum(1 - theta, TINY))
        return np.log(np.maximum(theta, TINY)) - no, -no.sum(axis=1)

    def base(self, X: np.ndarray) -> np.ndarray:
        """h(x)."""
        return np.zeros(len(X))

    def maximiser(self, N: np.ndarray, T: np.ndarray) -> np.ndarray:
        return np.clip(T / N[:, None], 0.0, 1.0)

    def moved(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        """θ whose η is larger by x."""
        odds = theta / np.maximum(1 - theta, TINY) * np.exp(x)
        return np.asarray(odds / (1 + odds))

    def expected(self, N: np.ndarray, _T: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """What T would be: the slope in η is T minus this."""
        return N[:, None] * theta


class Poisson(Bernoulli):
    """Entries from 0 on."""

    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.log(np.maximum(theta, TINY)), theta.sum(axis=1)

    def base(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(-gammaln(X + 1.0).sum(axis=1))

    def maximiser(self, N: np.ndarray, T: np.ndarray) -> np.ndarray:
        return T / N[:, None]

    def moved(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.asarray(theta * np.exp(x))


class Multinomial(Poisson):
    """Entries from 0 on, of which the shares in a row matter."""

    def natural(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.log(np.maximum(theta, TINY)), np.zeros(len(theta))

    def base(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(super().base(X) + gammaln(X.sum(axis=1) + 1.0))

    def maximiser(self, N: np.ndarray, T: np.ndarray) -> np.ndarray:
        total = T.sum(axis=1, keepdims=True)
        even = np.full_like(T, 1 / T.shape[1])
        return np.where(total > 0, T / np.where(total > 0, total, 1.0), even)

    def moved(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        values = theta * np.exp(x - x.max(axis=1, keepdims=True))
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    def expected(self, _N: np.ndarray, T: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return T.sum(axis=1, keepdims=True) * theta


class CountFamily:
    """Rows, their kind, and the a imaginary rows at their mean."""

    def __init__(self, rows: Rows, kind: Any, prior: float, mean: np.ndarray, base: float):
        self.rows, self.kind, self.prior, self.mean, self.base = rows, kind, prior, mean, base
        self.mass = rows.S

    def look(self, theta: Counts, beta: float = 1.0) -> Look:
        log_joint, shares = self._linear(theta), shares_of(self.rows, len(theta.pi))

        def of_block(X: np.ndarray, _y: np.ndarray, s: np.ndarray) -> tuple[Any, ...]:
            X = np.asarray(X, dtype=float)
            F, R = shares(log_joint(X), s, beta)
            return F, R.sum(axis=1), np.dot(R, X)

        F, N, T = self._over_rows(of_block)
        return Look(float(F + self.base), Sums(N, T))

    def _linear(self, theta: Counts) -> Any:
        eta, A = self.kind.natural(theta.values)
        with np.errstate(divide="ignore"):
            const = (np.log(theta.pi) - A)[:, None]

        def of(X: np.ndarray) -> np.ndarray:
            a = np.dot(eta, X.T)
            a += const
            return a

        return of

    def log_joint(self, theta: Counts) -> Any:
        """A function of blocks of rows: log π_k p(x | θ_k), (rows, k)."""
        linear = self._linear(theta)

        def of_block(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> np.ndarray:
            X = np.asarray(X, dtype=float)
            out: np.ndarray = linear(X).T + self.kind.base(X)[:, None]
            return out

        return of_block

    def statistics_of(self, R: np.ndarray, k: int) -> Sums:
        """Of labels (n,) or responsibilities (n, k) that are given."""
        every = np.arange(k)[:, None]

        def of_block(
            X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, R: np.ndarray
        ) -> tuple[Any, ...]:
            R = np.ascontiguousarray(R.T, dtype=float) if R.ndim == 2 else 1.0 * (every == R)
            R = R if s is None else R * s
            return R.sum(axis=1), np.dot(R, np.asarray(X, dtype=float))

        return Sums(*self._over_rows(of_block, (R,)))

    def _over_rows(self, of_block: Any, beside: Any = ()) -> Any:
        block = max(128, BLOCK // self.rows.shape[1])
        return self.rows.reduce(of_block, beside=beside, block_rows=block, times=8)

    def maximise(self, sums: Sums, theta: Counts | None, prior: float | None = None) -> Counts:
        a = self.prior if prior is None else prior
        N, T = sums.N + a, sums.T + a * self.mean
        values = self.kind.maximiser(np.where(N > 0, N, 1.0), T)
        if theta is not None:  # a component of nothing stays what it is
            values = np.where(N[:, None] > 0, values, theta.values)
        return Counts(sums.N / sums.N.sum(), values)

    def log_prior(self, theta: Counts) -> float:
        if not self.prior:
            return 0.0
        eta, A = self.kind.natural(theta.values)
        return float(self.prior * (np.dot(eta, self.mean) - A).sum())

    def stir(self, theta: Counts, draw: np.random.RandomState, by: float) -> Counts:
        """Components a little apart."""
        x = by * draw.standard_normal(theta.values.shape)
        return theta._replace(values=self.kind.moved(theta.values, x))

    def chart(self, theta: Counts) -> "_Chart":
        return _Chart(self, theta)


class _Chart:
    """π = softmax(log π⁰ + a), η = η⁰ + x, both in units of 1/√π⁰."""

    def __init__(self, family: CountFamily, theta: Counts):
        self.family, self.at = family, theta
        self.k = len(theta.pi)
        self.root = np.sqrt(np.maximum(theta.pi, 1 / family.mass))
        self.start = np.zeros(self.k * (1 + theta.values.shape[1]))

    def theta(self, x: np.ndarray) -> Counts:
        e = np.maximum(self.at.pi, np.finfo(float).tiny) * np.exp(x[: self.k] / self.root)
        step = x[self.k :].reshape(self.k, -1) / self.root[:, None]
        return Counts(e / e.sum(), self.family.kind.moved(self.at.values, step))

    def slope(self, _x: np.ndarray, theta: Counts, sums: Sums) -> np.ndarray:
        a, mean = self.family.prior, self.family.mean
        N, T = sums.N + a, sums.T + a * mean
        eta = T - self.family.kind.expected(N, T, theta.values)
        pi = (sums.N - sums.N.sum() * theta.pi) / self.root
        return np.concatenate([pi, (eta / self.root[:, None]).ravel()])
