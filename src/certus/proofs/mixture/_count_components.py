"""Bernoulli, Poisson and multinomial components.

    Bernoulli    log p(x|θ) = Σ_j x_j log θ_j + (1 − x_j) log(1 − θ_j)        0 ≤ θ_j ≤ 1
    Poisson      log p(x|λ) = Σ_j x_j log λ_j − λ_j − log x_j!                λ_j ≥ 0
    multinomial  log p(x|θ) = Σ_j x_j log θ_j + log m! − Σ_j log x_j!         Σθ_j = 1, m = Σx_j

All are xᵀη − A + h(x): with weights w_ik of rows, n_k = Σ_i w_ik and t_k = Σ_i w_ik x_i, the
likelihood is largest at θ_k = t_k/n_k (multinomial: t_k over its sum). The prior gives each
component ``a`` pseudo-rows at the data's mean row x̄:

    log prior = Σ_k a (x̄ᵀη_k − A_k),   so that   θ_k = (t_k + a x̄)/(n_k + a)
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import gamma
from certus.proofs.types import FunctionTo

SMALLEST_FLOAT = 5e-324  # in place of 0, so that 0·log 0 = 0 where the count is 0 too
STIRLING_SHIFT = 16  # the argument from which Stirling's series is exact up to rounding
STIRLING_COEFFICIENTS = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
MIN_TERM_SIZE = 100.0  # assumed of each term of log x! when bounding its error


def log_factorial(x: np.ndarray) -> np.ndarray:
    """Compute log x! by Stirling's series for x + 17 and x! = (x + 16)!/((x + 1)⋯(x + 16))."""
    z = np.asarray(x, dtype=float) + 1
    small = np.minimum(z, STIRLING_SHIFT)  # the product of larger ones could overflow
    product = np.prod([small + i for i in range(STIRLING_SHIFT)], axis=0)
    low = np.log(np.where(z < STIRLING_SHIFT, product, 1.0))
    z = np.where(z < STIRLING_SHIFT, z + STIRLING_SHIFT, z)
    capped = np.minimum(z, 1e30)  # beyond, the series is 0 to rounding, and z⁹ could overflow
    tail = sum(c / capped ** (2 * i + 1) for i, c in enumerate(STIRLING_COEFFICIENTS))
    return np.asarray((z - 0.5) * np.log(z) - z + 0.5 * np.log(2 * np.pi) + tail - low)


class CountMoments(NamedTuple):
    """Sums over rows with weights w_ik."""

    n: np.ndarray  # Σ w      (k,)
    t: np.ndarray  # Σ w x    (k, p)


class MeanRowPrior(NamedTuple):
    """Prior of ``a`` pseudo-rows at x̄."""

    a: float
    mean: np.ndarray
    added: float = 0.0


class CountComponents:
    """Bernoulli, Poisson or multinomial components, k of them."""

    sums = CountMoments

    def __init__(self, kind: str, theta: np.ndarray):
        self.kind, self.theta = kind, np.array(theta, dtype=float)
        self.k, self.p = self.theta.shape
        self.eta = np.log(np.maximum(self.theta, SMALLEST_FLOAT))
        self.A = np.zeros(self.k)
        if kind == "bernoulli":
            log_complement = np.log(np.maximum(1 - self.theta, SMALLEST_FLOAT))
            self.eta, self.A = self.eta - log_complement, -log_complement.sum(axis=1)
        elif kind == "poisson":
            self.A = self.theta.sum(axis=1)

    def require_parameters(self) -> None:
        """Raise ValueError for parameters outside their range."""
        theta = self.theta
        at_most = np.inf if self.kind == "poisson" else 1.0
        bad = np.argwhere(~((theta >= 0) & (theta <= at_most)))
        if len(bad):
            k, j = bad[0]
            raise ValueError(f"component {k} has {theta[k, j]:g} for column {j}")
        off = np.abs(theta.sum(axis=1) - 1)
        if self.kind == "multinomial" and off.max() > 1e-9:
            k = int(off.argmax())
            raise ValueError(f"probabilities_ of component {k} add up to {theta[k].sum():.9g}")

    def log_densities(self, X: np.ndarray) -> np.ndarray:
        """Log densities log p(x_i|θ_k), (k, rows)."""
        X = np.asarray(X, dtype=float)
        out = np.dot(self.eta, X.T) - self.A[:, None]
        if self.kind != "bernoulli":
            out -= log_factorial(X).sum(axis=1)
        if self.kind == "multinomial":
            out += log_factorial(X.sum(axis=1))
        return np.asarray(out)

    def density_errors(self, X: np.ndarray, _log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return m and bounds on the errors of the log densities, (k, rows) each.

        xᵀη is a sum of p rounded terms; h(x) is the same for all components, so that its error (at
        most γ_12 m, by Stirling's terms) affects the objective only. Bernoulli components have no
        h: their m is Σ_j (1 − x_j) θ_j/(1 − θ_j), which times the relative error of θ is the error
        of log(1 − θ).
        """
        X = np.asarray(X, dtype=float)
        delta = np.dot(np.abs(self.eta), X.T) + np.abs(self.A)[:, None]
        delta *= gamma(self.p + 12)
        delta += gamma(8) * 100.0  # log π_k of a component that has rows
        if self.kind == "bernoulli":
            odds = self.theta / np.where(self.theta < 1, 1 - self.theta, np.inf)
            return np.dot(odds, 1 - X.T), delta
        sizes = (2 * X * np.log(X + 2) + MIN_TERM_SIZE).sum(axis=1)
        if self.kind == "multinomial":
            sizes += 2 * X.sum(axis=1) * np.log(X.sum(axis=1) + 2) + 100.0
        return np.broadcast_to(sizes, delta.shape), delta + gamma(2) * sizes

    def largest_total(self, m: float) -> float:
        """Bound on the total N = Σ_j x_j of a row of counts with this m.

        2x log(x + 2) ≥ x, and for multinomial rows 2N log(N + 2) ≤ v gives N ≤ √v or
        N ≤ v/2 log(√v + 2).
        """
        v = max(0.0, m - MIN_TERM_SIZE * self.p)
        return v if self.kind == "poisson" else float(max(v**0.5, v / 2 / np.log(v**0.5 + 2)))

    def errors_by_sums(self, _X: np.ndarray, _log_p: np.ndarray, _w: np.ndarray) -> None:
        """Return None: the errors of counts do not follow from the log densities."""

    def supports_accurate_step(self, _data: np.ndarray) -> bool:
        """Return False: there are no sums of squares to lose digits."""
        return False

    def moments(
        self, X: np.ndarray, w: np.ndarray, about: np.ndarray | None = None
    ) -> CountMoments:
        """Sums over rows with weights w (k, rows); ``about`` is not needed for counts."""
        return CountMoments(w.sum(axis=1), np.dot(w, X))

    def maximized(
        self,
        sums: CountMoments,
        prior: MeanRowPrior,
        recompute: FunctionTo[CountMoments] | None = None,
    ) -> "CountComponents":
        """Components that maximise the expected log likelihood, unchanged without rows."""
        t = sums.t + prior.a * prior.mean
        n = t.sum(axis=1) if self.kind == "multinomial" else sums.n + prior.a
        is_empty = n <= 0
        theta = t / np.where(is_empty, 1.0, n)[:, None]
        theta[is_empty] = self.theta[is_empty]
        return CountComponents(self.kind, np.minimum(theta, 1) if self._at_most_one else theta)

    @property
    def _at_most_one(self) -> bool:
        return self.kind != "poisson"

    def log_prior(self, prior: MeanRowPrior) -> float:
        """Log prior Σ_k a (x̄ᵀη_k − A_k)."""
        if not prior.a:
            return 0.0
        return float(prior.a * (np.dot(self.eta, prior.mean) - self.A).sum())
