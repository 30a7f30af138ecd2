"""Components of rows that count: yes or no, how many, which share.

    Bernoulli    log p(x|θ) = Σ_j x_j log θ_j + (1 − x_j) log(1 − θ_j)        0 ≤ θ_j ≤ 1
    Poisson      log p(x|λ) = Σ_j x_j log λ_j − λ_j − log x_j!                λ_j ≥ 0
    multinomial  log p(x|θ) = Σ_j x_j log θ_j + log m! − Σ_j log x_j!         Σθ_j = 1, m = Σx_j

All are xᵀη − A + h(x): with weights w_ik of rows, n_k = Σ_i w_ik and t_k = Σ_i w_ik x_i, likeliest
is θ_k = t_k/n_k (multinomial: t_k over its sum). The prior gives each component ``a`` rows at the
data's mean row x̄:

    log prior = Σ_k a (x̄ᵀη_k − A_k),   so that   θ_k = (t_k + a x̄)/(n_k + a)
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import gamma
from certus.proofs.types import FunctionTo

LEAST = 5e-324  # for 0: where a count is 0 too, 0·log 0 = 0
SHIFT = 16  # Stirling's series is exact to rounding from here
SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
LEAST_SIZE = 100.0  # of a term of log x!, as its error is counted


def log_factorial(x: np.ndarray) -> np.ndarray:
    """log x!, by Stirling's series for x + 17 and x! = (x + 16)!/((x + 1)⋯(x + 16))."""
    z = np.asarray(x, dtype=float) + 1
    few = np.minimum(z, SHIFT)  # the product of larger ones could overflow
    low = np.log(np.where(z < SHIFT, np.prod([few + i for i in range(SHIFT)], axis=0), 1.0))
    z = np.where(z < SHIFT, z + SHIFT, z)
    large = np.minimum(z, 1e30)  # beyond, no power of it counts, and z⁹ could overflow
    tail = sum(c / large ** (2 * i + 1) for i, c in enumerate(SERIES))
    return np.asarray((z - 0.5) * np.log(z) - z + 0.5 * np.log(2 * np.pi) + tail - low)


class Counts(NamedTuple):
    """Of rows with weights w_ik."""

    n: np.ndarray  # Σ w      (k,)
    t: np.ndarray  # Σ w x    (k, p)


class MeanRow(NamedTuple):
    """``a`` rows at x̄."""

    a: float
    mean: np.ndarray
    added: float = 0.0


class CountComponents:
    """k components of one of the three kinds."""

    sums = Counts

    def __init__(self, kind: str, theta: np.ndarray):
        self.kind, self.theta = kind, np.array(theta, dtype=float)
        self.k, self.p = self.theta.shape
        self.eta = np.log(np.maximum(self.theta, LEAST))
        self.A = np.zeros(self.k)
        if kind == "bernoulli":
            no = np.log(np.maximum(1 - self.theta, LEAST))
            self.eta, self.A = self.eta - no, -no.sum(axis=1)
        elif kind == "poisson":
            self.A = self.theta.sum(axis=1)

    def require_parameters(self) -> None:
        """Within what is allowed, or a ValueError."""
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
        """log p(x_i|θ_k), (k, rows)."""
        X = np.asarray(X, dtype=float)
        out = np.dot(self.eta, X.T) - self.A[:, None]
        if self.kind != "bernoulli":
            out -= log_factorial(X).sum(axis=1)
        if self.kind == "multinomial":
            out += log_factorial(X.sum(axis=1))
        return np.asarray(out)

    def density_errors(self, X: np.ndarray, _log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m, bounds on the errors of the log densities), (k, rows) each.

        xᵀη is a sum of p terms, each rounded; h(x) is the same for all components, so that its own
        error (γ_12 m at most, by Stirling's terms) is the objective's alone. Of Bernoulli
        components, which have none, m is Σ_j (1 − x_j) θ_j/(1 − θ_j): times a relative error of θ,
        what it does to log(1 − θ).
        """
        X = np.asarray(X, dtype=float)
        delta = np.dot(np.abs(self.eta), X.T) + np.abs(self.A)[:, None]
        delta *= gamma(self.p + 12)
        delta += gamma(8) * 100.0  # log π_k of a component that has rows
        if self.kind == "bernoulli":
            odds = self.theta / np.where(self.theta < 1, 1 - self.theta, np.inf)
            return np.dot(odds, 1 - X.T), delta
        sizes = (2 * X * np.log(X + 2) + LEAST_SIZE).sum(axis=1)
        if self.kind == "multinomial":
            sizes += 2 * X.sum(axis=1) * np.log(X.sum(axis=1) + 2) + 100.0
        return np.broadcast_to(sizes, delta.shape), delta + gamma(2) * sizes

    def largest_total(self, m: float) -> float:
        """N = Σ_j x_j at most, of a row of counts whose m is this: 2x log(x + 2) ≥ x, and of
        multinomial rows 2N log(N + 2) ≤ v gives N ≤ √v or N ≤ v/2 log(√v + 2)."""
        v = max(0.0, m - LEAST_SIZE * self.p)
        return v if self.kind == "poisson" else float(max(v**0.5, v / 2 / np.log(v**0.5 + 2)))

    def errors_by_sums(self, _X: np.ndarray, _log_p: np.ndarray, _w: np.ndarray) -> None:
        """Returns None: errors of counts are no function of the log density."""

    def whole_matrices(self, _data: np.ndarray) -> bool:
        """Whether sums of squares may lose digits: there are none."""
        return False

    def moments(self, X: np.ndarray, w: np.ndarray, about: np.ndarray | None = None) -> Counts:
        """Counts need no point to be about."""
        return Counts(w.sum(axis=1), np.dot(w, X))

    def maximised(
        self, sums: Counts, prior: MeanRow, again: FunctionTo[Counts] | None = None
    ) -> "CountComponents":
        """The components that these rows and the prior make likeliest; without any, as before."""
        t = sums.t + prior.a * prior.mean
        n = t.sum(axis=1) if self.kind == "multinomial" else sums.n + prior.a
        none = n <= 0
        theta = t / np.where(none, 1.0, n)[:, None]
        theta[none] = self.theta[none]
        return CountComponents(self.kind, np.minimum(theta, 1) if self._shares else theta)

    @property
    def _shares(self) -> bool:
        return self.kind != "poisson"

    def log_prior(self, prior: MeanRow) -> float:
        """Σ_k a (x̄ᵀη_k − A_k)."""
        if not prior.a:
            return 0.0
        return float(prior.a * (np.dot(self.eta, prior.mean) - self.A).sum())
