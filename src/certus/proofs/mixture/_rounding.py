"""What rounding can have done to the gain of an EM step.

Written with hats, θ̂' is the step as computed, from responsibilities, sums and means that were
rounded; θ' is that of real numbers (means are floats in both: they are kept so). With r, r̂' the
responsibilities before the step and at θ̂', and Δ_ik = log π'_k p(x_i|θ'_k) − log π̂'_k p(x_i|θ̂'_k),

    L(θ') − L(θ̂') = F(r, θ') − F(r, θ̂') + Σ_i s_i (KL(r_i ‖ r'_i) − KL(r_i ‖ r̂'_i))
                  ≤ S (D + √(2KV) + V)

    D = Σ_k n_k KL(p(·|θ'_k) ‖ p(·|θ̂'_k))/S + KL(π' ‖ π̂')      (F(r, ·) is largest at θ')
    V = Σ_i s_i Σ_k (r_ik + r̂'_ik) Δ_ik²/S
    K = Σ_i s_i KL(r_i ‖ r̂'_i)/S ≤ gain/S + D                  (L = F + Σ s KL)

for Σ_k (r̂'_k − r_k)Δ_k ≤ √(Σ (r̂'_k − r_k)²/(r̂'_k + r_k)) √(Σ (r̂'_k + r_k)Δ_k²), the first root is
at most √(2 KL(r ‖ r̂')), and e^Δ − 1 − Δ ≤ Δ² up to Δ = 1. All of it is of second order, or times
the root of a gain that is itself next to nothing: errors of the step hardly count. What counts is
that both L are known.

How far the steps are apart: W'(C' − Ĉ')W'ᵀ is at most E in its largest eigenvalue and T in the sum
of all, ‖W'(μ' − μ̂')‖ ≤ M, |n_k − n̂_k| ≤ ν n_k. Weights that are off by shares η_ik of themselves
move C' by no more than Σ w η m'/n (m' = ‖W'(x − μ')‖²), whatever its condition number; sums that
are rounded by γ κ² m'.

A number added to the diagonal makes θ' no maximiser of F: its slope there is W'(added·I)W'ᵀ/2.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, gamma
from certus.proofs.mixture._accurate_scatter import OF_SLICES
from certus.proofs.mixture._count_components import CountComponents, MeanRow
from certus.proofs.mixture._gaussian_components import Moments, Normals, Prior
from certus.proofs.mixture._sums import Columns, rows_of_a_slice
from certus.proofs.types import RowData

INFINITE = float("inf")


class RowErrors(NamedTuple):
    """Sums of ``errors_of_rows``, a number for each component."""

    of_sums: np.ndarray  # Σ w δ
    sizes: np.ndarray  # Σ w |log p|
    m: np.ndarray  # Σ w m
    m2: np.ndarray  # Σ w m²
    eta2: np.ndarray  # Σ w η²
    eta_m: np.ndarray  # Σ w η m
    n: np.ndarray  # Σ w
    largest_m: np.ndarray
    largest_eta: np.ndarray

    def of_L(self, additions: float) -> float:
        """A bound on the error of Σ s log p."""
        return float(self.of_sums.sum() + gamma(additions) * self.sizes.sum())


def additions_of(data: RowData) -> float:
    """Additions in a row, at most, of sums over rows: within slices, of slices, of blocks."""
    rows = rows_of_a_slice(data.shape[1])
    return min(data.depth, rows) + data.depth / rows + 32.0


def of_prior(theta: Normals, prior: Prior, of_variances: float, log_prior: float) -> float:
    """The error of the log prior of normal components, −½ (ε log|C| + tr(ΨC⁻¹)) of each C.

    The traces follow from the log prior and log|C|, and are right to R and to what d is off by.
    """
    if not prior.epsilon:
        return 0.0
    each = slice(0, 1) if theta.shape == "tied" else slice(None)
    log_det, of_log_det = theta.log_det[each], float(theta.log_det_error[each].sum())
    sizes = prior.epsilon * float(np.abs(log_det).sum()) + 2 * abs(log_prior)
    off = gamma(2 * theta.p + 16) + 1.2 * (float(theta.R[each].max()) + of_variances)
    return prior.epsilon * of_log_det + off * (sizes + theta.others(prior))


class Distance(NamedTuple):
    """How far two components are from each other at most: the head comment's."""

    E: np.ndarray
    T: np.ndarray
    M: np.ndarray
    nu: np.ndarray

    def squares(self, n: np.ndarray, m: np.ndarray, m2: np.ndarray) -> float:
        """Σ w Δ² of rows with Σ w = n, Σ w m and Σ w m²: roots of sums of squares add up.

        |Δ| ≤ 0.53 (E m + T) + M √m + M² + 2ν as long as E ≤ 0.05.
        """
        root = 0.53 * (self.E * np.sqrt(m2) + self.T * np.sqrt(n)) + self.M * np.sqrt(m)
        root = root + (self.M**2 + 2 * self.nu) * np.sqrt(n)
        return float(np.sum(root**2))

    def small(self, m: np.ndarray) -> bool:
        """Whether the series that are used hold, for rows of at most so large an m."""
        largest = 0.53 * (self.E * m + self.T) + self.M * np.sqrt(m) + self.M**2 + 2 * self.nu
        return bool(self.E.max(initial=0.0) <= 0.05 and largest.max(initial=0.0) <= 1)


def of_normal_step(
    pi: np.ndarray, theta: Normals, after: Normals, prior: Prior, moments: Moments,
    before: RowErrors, later: RowErrors, gain: float, additions: float, of_variances: float,
    accurate: bool = False,
) -> float:  # fmt: skip
    """S (D + √(2KV) + V) of normal components; infinite where nothing can be said.

    ``accurate``: second moments were summed in twice the digits.
    """
    S, n = float(moments.n.sum()), np.asarray(moments.n)
    stretched, shifted = _stretch(theta, after), _shift(after, after.means - theta.means)
    # Σ w m' and Σ w m'² of r: ‖W'(x − μ̂')‖ ≤ ‖W'W⁻¹‖ ‖W(x − μ)‖ + ‖W'(μ − μ̂')‖
    m = (stretched * np.sqrt(before.m) + shifted * np.sqrt(n)) ** 2
    m2 = (stretched * before.m2**0.25 + shifted * n**0.25) ** 4
    if not np.isfinite(m2 + before.eta2).all():
        return INFINITE
    sums = gamma(additions) if not accurate else gamma(8 * additions) ** 2 + additions * OF_SLICES
    # Σ w η m', in the same way
    eta_m = 2 * stretched**2 * before.eta_m + 2 * shifted**2 * np.sqrt(before.eta2 * n)
    off = _distance(theta, after, prior, moments, before, m, eta_m, sums, of_variances, additions)
    if not off.small(later.largest_m):
        return INFINITE
    rows = np.full(theta.k, S) if theta.shape == "tied" else n
    D = float(np.sum((rows + prior.epsilon) * off.E * off.T + n * (3 * off.M**2 + 2 * off.nu**2)))
    V = off.squares(n, m, m2) + off.squares(later.n, later.m, later.m2)
    K = max(gain, 0.0) + before.of_L(additions) + later.of_L(additions) + D
    if prior.added:
        slope = np.minimum(1.0, prior.added * _largest_precision(after))
        D += float(np.sum(0.55 * n * off.T * slope))
        both = (n > 0) & (pi > 0)
        ways = np.abs(np.log(np.where(both, n, S) / np.where(both, S * pi, S)))
        K = _step_taken(theta, after, ways, before)
    K = min(K, S)  # Σ (r + r̂')|Δ| ≤ √(2SV) in any case
    return D + float(np.sqrt(2 * K * V)) + V


def _stretch(theta: Normals, after: Normals) -> np.ndarray:
    """‖W'W⁻¹‖ of each component, at most."""
    if theta.shape in ("full", "tied"):
        both = np.matmul(np.stack(after.W), np.linalg.inv(np.stack(theta.W)))
        return np.asarray(1.01 * np.linalg.norm(both, 2, axis=(1, 2)))
    ratio = (after.W / theta.W).reshape(theta.k, -1)
    return np.asarray(1.01 * ratio.max(axis=1))


def _shift(components: Normals, way: np.ndarray) -> np.ndarray:
    """‖W_k way_k‖ of each component."""
    W = np.stack(components.W)
    if W.ndim == 3:
        return np.asarray(1.1 * np.linalg.norm(np.matmul(W, way[:, :, None])[..., 0], axis=1))
    return np.asarray(1.1 * np.linalg.norm(W.reshape(len(W), -1) * way, axis=1))


def _shift_at_most(components: Normals, d: np.ndarray) -> np.ndarray:
    """‖|W_k| d_k‖ of each component."""
    W = np.abs(np.stack(components.W))
    if W.ndim == 3:
        return np.asarray(1.1 * np.linalg.norm(np.matmul(W, d[:, :, None])[..., 0], axis=1))
    return np.asarray(1.1 * np.linalg.norm(W.reshape(len(W), -1) * d, axis=1))


def _largest_precision(components: Normals) -> np.ndarray:
    """The largest eigenvalue of C_k⁻¹, at most."""
    return np.array([1.1 * np.sum(np.square(W)) for W in components.W])


def _distance(
    theta: Normals,
    after: Normals,
    prior: Prior,
    moments: Moments,
    before: RowErrors,
    m: np.ndarray,
    eta_m: np.ndarray,
    sums: float,
    of_variances: float,
    additions: float,
) -> Distance:
    n = np.where(moments.n > 0, moments.n, 1.0)
    used = moments.n > 0
    nu = np.where(used, np.sqrt(before.eta2 / n) + gamma(additions), 0.0)
    rows = n + prior.epsilon
    by_weights, by_sums, of_n = eta_m, 4 * sums * after.kappa**2 * m, nu
    if theta.shape == "tied":
        rows = np.full(theta.k, n.sum() + prior.epsilon)
        by_weights, by_sums = (np.full(theta.k, v.sum()) for v in (by_weights, by_sums))
        of_n = np.full(theta.k, float(np.dot(nu, moments.n)) / moments.n.sum())
    whole = by_sums / rows + 4 * sums * after.kappa**2 + of_n
    whole += of_variances if prior.epsilon else 0.0
    E, T = 1.1 * (by_weights / rows + whole), 1.1 * (by_weights / rows + theta.p * whole)
    way, root = moments.a / n[:, None], np.sqrt(before.eta2) + gamma(additions) * np.sqrt(n)
    spread = np.sqrt(theta.variances() * before.m[:, None])
    e = (root / n)[:, None] * spread + nu[:, None] * np.abs(way)
    each, apart = _floats(theta.means, way, e, prior)
    # either each coordinate by itself; or all before they are rounded, and then the rounding
    M = root * np.sqrt(m) / n + nu * _shift(after, way)
    M = 1.1 * (M + gamma(additions) * after.kappa * np.sqrt(m / n)) + _shift_at_most(after, each)
    M = np.where(used, np.minimum(_shift_at_most(after, apart), M), 0.0)
    if theta.shape != "tied" and not prior.epsilon:
        E, T = np.where(used, E, 0.0), np.where(used, T, 0.0)  # without rows they stay
    return Distance(E, T, M, nu)


def _floats(
    mean: np.ndarray, way: np.ndarray, e: np.ndarray, prior: Prior
) -> tuple[np.ndarray, np.ndarray]:
    """What rounding mean + way ± e to floats changes at most, and how far apart the ends are."""
    total = mean + way
    back = total - mean
    rest = (mean - (total - back)) + (way - back)
    e = 1.1 * e + (2 * UNIT * np.abs(total) if prior.kind is not float else 0.0)
    high, low = (total + (rest + e)).astype(prior.kind), (total + (rest - e)).astype(prior.kind)
    largest = np.maximum(np.abs(high), np.abs(low))
    each = np.where(high > low, np.spacing(largest).astype(float), e)
    return each, np.asarray(high.astype(float) - low.astype(float))


def _step_taken(theta: Normals, after: Normals, ways: np.ndarray, before: RowErrors) -> float:
    """Σ s KL(r ‖ r̂') of a step that is not one of ascent: at most Σ w Δ², Δ from θ to θ̂'.

    ``ways``: |log π̂'_k/π_k|.
    """
    E = np.empty(theta.k)
    for k in range(theta.k):
        way = theta._whitened(theta._whitened(after.matrix(k).copy(), k).T.copy(), k)
        E[k] = np.linalg.norm(way - np.eye(theta.p)) + 2 * theta.p * theta.slope[k]
    shift = _shift(theta, after.means - theta.means)
    taken = Distance(E, np.sqrt(theta.p) * E, shift, 0.5 * ways)
    if not taken.small(before.largest_m):
        return INFINITE
    return taken.squares(before.n, before.m, before.m2)


def of_count_step(
    after: CountComponents, prior: MeanRow, before: RowErrors, later: RowErrors, gain: float,
    additions: float, row_sum: float, of_mean: float,
) -> float:  # fmt: skip
    """S (D + √(2KV) + V) of counts; infinite where nothing can be said.

    All terms of θ' are positive, which leaves its shares exact to ``e``, and log(1 − θ') to
    e θ'/(1 − θ'). So KL(θ' ‖ θ̂') ≤ e² Σ_j θ'_j (Bernoulli: times 1 + the largest odds), and
    |Δ_ik| ≤ 1.1 e (Σ_j x_ij + A_k + 2), or with odds 1.1 e (p + m_ik + 2).
    """
    S, k = float(later.n.sum()), len(later.n)
    e = 2.2 * float(before.largest_eta.max(initial=0.0)) + gamma(additions + 8)
    e += of_mean if prior.a else 0.0
    largest_m = float(np.maximum(before.largest_m, later.largest_m).max(initial=0.0))
    odds = 0.0
    if after.kind == "bernoulli":
        odds, reach = largest_m, after.p + largest_m + 2
    else:
        reach = after.largest_total(largest_m) + float(np.abs(after.A).max(initial=0.0)) + 2
    delta = 1.1 * e * reach
    if not delta <= 0.1:
        return INFINITE
    D = 1.2 * e**2 * ((S + prior.a * k) * row_sum * (1 + odds) + S)
    V = 2 * S * delta**2
    K = max(gain, 0.0) + before.of_L(additions) + later.of_L(additions) + D
    return D + float(np.sqrt(2 * min(K, S) * V)) + V


def of_count_prior(components: CountComponents, prior: MeanRow, of_mean: float) -> float:
    """The error of the log prior of counts."""
    if not prior.a:
        return 0.0
    sizes = np.dot(np.abs(components.eta), prior.mean) + np.abs(components.A)
    return float(prior.a * (gamma(components.p + 12) + of_mean) * sizes.sum())


class Rounding(NamedTuple):
    """What is known of rounding before the step."""

    before: RowErrors
    additions: float
    columns: Columns  # of the data, with the errors of their means and variances
    of_prior: float  # of the log prior before the step, at most

    def of_objective(self, theta: Normals | CountComponents, log_prior: float, L: float) -> float:
        """|objective − that of real numbers| at most."""
        of_sum = 4 * UNIT * (abs(L) + abs(log_prior))
        if isinstance(theta, CountComponents) and theta.kind != "bernoulli":
            of_sum += gamma(12) * float(self.before.m.sum())
        return self.before.of_L(self.additions) + self.of_prior + of_sum

    def of_gain(
        self, pi: np.ndarray, theta: Any, after: Any, prior: Any, moments: Any, gain: float,
        later: RowErrors, log_prior: float, accurate: bool = False,
    ) -> float:  # fmt: skip
        """What the step of real numbers can gain more than the computed one seems to.

        ``log_prior``: after the step."""
        known = self.before.of_L(self.additions) + later.of_L(self.additions)
        known += self.of_prior + error_of_prior(after, prior, self.columns, log_prior)
        if isinstance(theta, CountComponents):
            row_sum = float(np.abs(self.columns.mean).sum())
            of_mean, steps = self.columns.mean_error, self.additions
            step = of_count_step(after, prior, self.before, later, gain, steps, row_sum, of_mean)
            return known + step
        return known + of_normal_step(
            pi, theta, after, prior, moments, self.before, later, gain, self.additions,
            self.columns.error, accurate,
        )  # fmt: skip


def error_of_prior(
    components: Normals | CountComponents, prior: Any, columns: Columns, log_prior: float
) -> float:
    """The error of the log prior at most."""
    if isinstance(components, CountComponents):
        return of_count_prior(components, prior, columns.mean_error)
    return of_prior(components, prior, columns.error, log_prior)
