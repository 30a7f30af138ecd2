"""Bounds on the effect of rounding on the gain of an EM step.

θ̂' is the step as computed, from rounded responsibilities, sums and means; θ' is the step in real
arithmetic (means are floats in both, since they are stored as floats). With r, r̂' the
responsibilities before the step and at θ̂', and Δ_ik = log π'_k p(x_i|θ'_k) − log π̂'_k p(x_i|θ̂'_k),

    L(θ') − L(θ̂') = F(r, θ') − F(r, θ̂') + Σ_i s_i (KL(r_i ‖ r'_i) − KL(r_i ‖ r̂'_i))
                  ≤ S (D + √(2KV) + V)

    D = Σ_k n_k KL(p(·|θ'_k) ‖ p(·|θ̂'_k))/S + KL(π' ‖ π̂')      (F(r, ·) is largest at θ')
    V = Σ_i s_i Σ_k (r_ik + r̂'_ik) Δ_ik²/S
    K = Σ_i s_i KL(r_i ‖ r̂'_i)/S ≤ gain/S + D                  (L = F + Σ s KL)

because Σ_k (r̂'_k − r_k)Δ_k ≤ √(Σ (r̂'_k − r_k)²/(r̂'_k + r_k)) √(Σ (r̂'_k + r_k)Δ_k²), the first root
is at most √(2 KL(r ‖ r̂')), and e^Δ − 1 − Δ ≤ Δ² up to Δ = 1. Every term is of second order, or
multiplied by the root of a gain that is itself tiny: errors of the step hardly matter. The errors
of the two values of L do.

Distance of the two steps: W'(C' − Ĉ')W'ᵀ has eigenvalues of at most E and a trace norm of at most
T, ‖W'(μ' − μ̂')‖ ≤ M, |n_k − n̂_k| ≤ ν n_k. Weights with relative errors η_ik move C' by at most
Σ w η m'/n (m' = ‖W'(x − μ')‖²), whatever its condition number; rounded sums move it by γ κ² m'.

With a number added to the diagonal, θ' does not maximise F: the slope there is W'(added·I)W'ᵀ/2.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, gamma
from certus.proofs.mixture._accurate_scatter import SLICE_TRUNCATION
from certus.proofs.mixture._count_components import CountComponents, MeanRowPrior
from certus.proofs.mixture._gaussian_components import CovariancePrior, Moments, Normals
from certus.proofs.mixture._sums import ColumnMoments, slice_rows
from certus.proofs.types import RowData

INFINITY = float("inf")


class RowErrors(NamedTuple):
    """Sums computed by ``row_error_sums``, one number for each component."""

    likelihood_errors: np.ndarray  # Σ w δ
    sizes: np.ndarray  # Σ w |log p|
    m: np.ndarray  # Σ w m
    m2: np.ndarray  # Σ w m²
    eta2: np.ndarray  # Σ w η²
    eta_m: np.ndarray  # Σ w η m
    n: np.ndarray  # Σ w
    largest_m: np.ndarray
    largest_eta: np.ndarray

    def likelihood_error(self, additions: float) -> float:
        """Bound on the error of Σ s log p."""
        return float(self.likelihood_errors.sum() + gamma(additions) * self.sizes.sum())


def chained_additions(data: RowData) -> float:
    """Longest chain of additions in a sum over rows: within slices, of slices, of blocks."""
    rows = slice_rows(data.shape[1])
    return min(data.depth, rows) + data.depth / rows + 32.0


def normal_prior_error(
    theta: Normals, prior: CovariancePrior, variance_error: float, log_prior: float
) -> float:
    """Bound on the error of the log prior of normal components, Σ −½ (ε log|C| + tr(ΨC⁻¹)).

    The traces follow from the log prior and log|C|; their relative error is that of R and of d.
    """
    if not prior.epsilon:
        return 0.0
    each = slice(0, 1) if theta.shape == "tied" else slice(None)
    log_det, log_det_error = theta.log_det[each], float(theta.log_det_error[each].sum())
    sizes = prior.epsilon * float(np.abs(log_det).sum()) + 2 * abs(log_prior)
    relative = gamma(2 * theta.p + 16) + 1.2 * (float(theta.R[each].max()) + variance_error)
    return prior.epsilon * log_det_error + relative * (sizes + theta.other_prior_terms(prior))


class StepDistance(NamedTuple):
    """Bounds on the distance of two steps: E, T, M and ν of the module's docstring."""

    E: np.ndarray
    T: np.ndarray
    M: np.ndarray
    nu: np.ndarray

    def squares(self, n: np.ndarray, m: np.ndarray, m2: np.ndarray) -> float:
        """Bound on Σ w Δ² from Σ w = n, Σ w m and Σ w m², by the triangle inequality.

        |Δ| ≤ 0.53 (E m + T) + M √m + M² + 2ν as long as E ≤ 0.05.
        """
        root = 0.53 * (self.E * np.sqrt(m2) + self.T * np.sqrt(n)) + self.M * np.sqrt(m)
        root = root + (self.M**2 + 2 * self.nu) * np.sqrt(n)
        return float(np.sum(root**2))

    def is_small(self, m: np.ndarray) -> bool:
        """Return whether the expansions above hold for rows with m up to this."""
        largest = 0.53 * (self.E * m + self.T) + self.M * np.sqrt(m) + self.M**2 + 2 * self.nu
        return bool(self.E.max(initial=0.0) <= 0.05 and largest.max(initial=0.0) <= 1)


def normal_step_error(
    pi: np.ndarray, theta: Normals, after: Normals, prior: CovariancePrior, moments: Moments,
    before: RowErrors, later: RowErrors, gain: float, additions: float, variance_error: float,
    accurate: bool = False,
) -> float:  # fmt: skip
    """Bound S (D + √(2KV) + V) for normal components; infinite where no bound holds.

    ``accurate``: second moments were summed in twice the digits.
    """
    S, n = float(moments.n.sum()), np.asarray(moments.n)
    stretched, shifted = _stretch(theta, after), _shift(after, after.means - theta.means)
    # Σ w m' and Σ w m'² of r: ‖W'(x − μ̂')‖ ≤ ‖W'W⁻¹‖ ‖W(x − μ)‖ + ‖W'(μ − μ̂')‖
    m = (stretched * np.sqrt(before.m) + shifted * np.sqrt(n)) ** 2
    m2 = (stretched * before.m2**0.25 + shifted * n**0.25) ** 4
    if not np.isfinite(m2 + before.eta2).all():
        return INFINITY
    sums = gamma(additions)
    if accurate:
        sums = gamma(8 * additions) ** 2 + additions * SLICE_TRUNCATION
    # Σ w η m', by the same inequality
    eta_m = 2 * stretched**2 * before.eta_m + 2 * shifted**2 * np.sqrt(before.eta2 * n)
    distance = _step_distance(
        theta, after, prior, moments, before, m, eta_m, sums, variance_error, additions
    )
    if not distance.is_small(later.largest_m):
        return INFINITY
    rows = np.full(theta.k, S) if theta.shape == "tied" else n
    E, T, M, nu = distance
    D = float(np.sum((rows + prior.epsilon) * E * T + n * (3 * M**2 + 2 * nu**2)))
    V = distance.squares(n, m, m2) + distance.squares(later.n, later.m, later.m2)
    K = max(gain, 0.0) + before.likelihood_error(additions) + later.likelihood_error(additions) + D
    if prior.added:
        slope = np.minimum(1.0, prior.added * _largest_precision(after))
        D += float(np.sum(0.55 * n * T * slope))
        both = (n > 0) & (pi > 0)
        log_ratios = np.abs(np.log(np.where(both, n, S) / np.where(both, S * pi, S)))
        K = _divergence_of_step(theta, after, log_ratios, before)
    K = min(K, S)  # Σ (r + r̂')|Δ| ≤ √(2SV) in any case
    return D + float(np.sqrt(2 * K * V)) + V


def _stretch(theta: Normals, after: Normals) -> np.ndarray:
    """Bound on ‖W'W⁻¹‖ of each component."""
    if theta.shape in ("full", "tied"):
        both = np.matmul(np.stack(after.W), np.linalg.inv(np.stack(theta.W)))
        return np.asarray(1.01 * np.linalg.norm(both, 2, axis=(1, 2)))
    ratio = (after.W / theta.W).reshape(theta.k, -1)
    return np.asarray(1.01 * ratio.max(axis=1))


def _shift(components: Normals, shift: np.ndarray) -> np.ndarray:
    """Bound on ‖W_k shift_k‖ of each component."""
    W = np.stack(components.W)
    if W.ndim == 3:
        return np.asarray(1.1 * np.linalg.norm(np.matmul(W, shift[:, :, None])[..., 0], axis=1))
    return np.asarray(1.1 * np.linalg.norm(W.reshape(len(W), -1) * shift, axis=1))


def _shift_bound(components: Normals, d: np.ndarray) -> np.ndarray:
    """Bound on ‖|W_k| d_k‖ of each component."""
    W = np.abs(np.stack(components.W))
    if W.ndim == 3:
        return np.asarray(1.1 * np.linalg.norm(np.matmul(W, d[:, :, None])[..., 0], axis=1))
    return np.asarray(1.1 * np.linalg.norm(W.reshape(len(W), -1) * d, axis=1))


def _largest_precision(components: Normals) -> np.ndarray:
    """Bound on the largest eigenvalue of each C_k⁻¹."""
    return np.array([1.1 * np.sum(np.square(W)) for W in components.W])


def _step_distance(
    theta: Normals,
    after: Normals,
    prior: CovariancePrior,
    moments: Moments,
    before: RowErrors,
    m: np.ndarray,
    eta_m: np.ndarray,
    sums: float,
    variance_error: float,
    additions: float,
) -> StepDistance:
    """Bound the distance between the computed step and the step in real arithmetic."""
    n = np.where(moments.n > 0, moments.n, 1.0)
    used = moments.n > 0
    nu = np.where(used, np.sqrt(before.eta2 / n) + gamma(additions), 0.0)
    rows = n + prior.epsilon
    by_weights, by_sums, count_error = eta_m, 4 * sums * after.kappa**2 * m, nu
    if theta.shape == "tied":
        rows = np.full(theta.k, n.sum() + prior.epsilon)
        by_weights, by_sums = (np.full(theta.k, v.sum()) for v in (by_weights, by_sums))
        count_error = np.full(theta.k, float(np.dot(nu, moments.n)) / moments.n.sum())
    common_error = by_sums / rows + 4 * sums * after.kappa**2 + count_error
    common_error += variance_error if prior.epsilon else 0.0
    E = 1.1 * (by_weights / rows + common_error)
    T = 1.1 * (by_weights / rows + theta.p * common_error)
    shift, root = moments.a / n[:, None], np.sqrt(before.eta2) + gamma(additions) * np.sqrt(n)
    spread = np.sqrt(theta.variances() * before.m[:, None])
    e = (root / n)[:, None] * spread + nu[:, None] * np.abs(shift)
    spacing, width = _mean_rounding(theta.means, shift, e, prior)
    # the smaller of two bounds: coordinate by coordinate, or unrounded means plus their rounding
    M = root * np.sqrt(m) / n + nu * _shift(after, shift)
    M = 1.1 * (M + gamma(additions) * after.kappa * np.sqrt(m / n)) + _shift_bound(after, spacing)
    M = np.where(used, np.minimum(_shift_bound(after, width), M), 0.0)
    if theta.shape != "tied" and not prior.epsilon:
        E, T = np.where(used, E, 0.0), np.where(used, T, 0.0)  # unchanged without rows
    return StepDistance(E, T, M, nu)


def _mean_rounding(
    mean: np.ndarray, shift: np.ndarray, e: np.ndarray, prior: CovariancePrior
) -> tuple[np.ndarray, np.ndarray]:
    """Bound on the rounding of mean + shift ± e to floats, and the width of that interval."""
    total = mean + shift
    back = total - mean
    low_part = (mean - (total - back)) + (shift - back)
    e = 1.1 * e + (2 * UNIT * np.abs(total) if prior.kind is not float else 0.0)
    high = (total + (low_part + e)).astype(prior.kind)
    low = (total + (low_part - e)).astype(prior.kind)
    largest = np.maximum(np.abs(high), np.abs(low))
    spacing = np.where(high > low, np.spacing(largest).astype(float), e)
    return spacing, np.asarray(high.astype(float) - low.astype(float))


def _divergence_of_step(
    theta: Normals, after: Normals, log_ratios: np.ndarray, before: RowErrors
) -> float:
    """Bound on Σ s KL(r ‖ r̂') for a step that may lower L: Σ w Δ² with Δ from θ to θ̂'.

    ``log_ratios``: |log π̂'_k/π_k|.
    """
    E = np.empty(theta.k)
    for k in range(theta.k):
        ratio = theta._whitened(theta._whitened(after.matrix(k).copy(), k).T.copy(), k)
        E[k] = np.linalg.norm(ratio - np.eye(theta.p)) + 2 * theta.p * theta.slope[k]
    shift = _shift(theta, after.means - theta.means)
    step = StepDistance(E, np.sqrt(theta.p) * E, shift, 0.5 * log_ratios)
    if not step.is_small(before.largest_m):
        return INFINITY
    return step.squares(before.n, before.m, before.m2)


def count_step_error(
    after: CountComponents, prior: MeanRowPrior, before: RowErrors, later: RowErrors, gain: float,
    additions: float, row_sum: float, mean_error: float,
) -> float:  # fmt: skip
    """Bound S (D + √(2KV) + V) for counts; infinite where no bound holds.

    All terms of θ' are positive, so that its relative error is at most e, and that of log(1 − θ')
    at most e θ'/(1 − θ'). So KL(θ' ‖ θ̂') ≤ e² Σ_j θ'_j (Bernoulli: times 1 + the largest odds), and
    |Δ_ik| ≤ 1.1 e (Σ_j x_ij + A_k + 2), or with odds 1.1 e (p + m_ik + 2).
    """
    S, k = float(later.n.sum()), len(later.n)
    e = 2.2 * float(before.largest_eta.max(initial=0.0)) + gamma(additions + 8)
    e += mean_error if prior.a else 0.0
    largest_m = float(np.maximum(before.largest_m, later.largest_m).max(initial=0.0))
    odds = 0.0
    if after.kind == "bernoulli":
        odds, reach = largest_m, after.p + largest_m + 2
    else:
        reach = after.largest_total(largest_m) + float(np.abs(after.A).max(initial=0.0)) + 2
    delta = 1.1 * e * reach
    if not delta <= 0.1:
        return INFINITY
    D = 1.2 * e**2 * ((S + prior.a * k) * row_sum * (1 + odds) + S)
    V = 2 * S * delta**2
    K = max(gain, 0.0) + before.likelihood_error(additions) + later.likelihood_error(additions) + D
    return D + float(np.sqrt(2 * min(K, S) * V)) + V


def count_prior_error(components: CountComponents, prior: MeanRowPrior, mean_error: float) -> float:
    """Bound on the error of the log prior of counts."""
    if not prior.a:
        return 0.0
    sizes = np.dot(np.abs(components.eta), prior.mean) + np.abs(components.A)
    return float(prior.a * (gamma(components.p + 12) + mean_error) * sizes.sum())


class Rounding(NamedTuple):
    """Bounds on rounding that are known before the step."""

    before: RowErrors
    additions: float
    column_moments: ColumnMoments  # of the data, with the errors of their means and variances
    prior_error: float  # bound on the error of the log prior before the step

    def objective_error(
        self, theta: Normals | CountComponents, log_prior: float, L: float
    ) -> float:
        """Bound on the error of the objective."""
        sum_error = 4 * UNIT * (abs(L) + abs(log_prior))
        if isinstance(theta, CountComponents) and theta.kind != "bernoulli":
            sum_error += gamma(12) * float(self.before.m.sum())
        return self.before.likelihood_error(self.additions) + self.prior_error + sum_error

    def gain_error(
        self, pi: np.ndarray, theta: Any, after: Any, prior: Any, moments: Any, gain: float,
        later: RowErrors, log_prior: float, accurate: bool = False,
    ) -> float:  # fmt: skip
        """Bound on the exact step's gain minus the computed one.

        ``log_prior``: after the step.
        """
        values = self.before.likelihood_error(self.additions)
        values += later.likelihood_error(self.additions)
        values += self.prior_error + prior_error(after, prior, self.column_moments, log_prior)
        if isinstance(theta, CountComponents):
            row_sum = float(np.abs(self.column_moments.mean).sum())
            return values + count_step_error(
                after, prior, self.before, later, gain, self.additions, row_sum,
                self.column_moments.mean_error,
            )  # fmt: skip
        return values + normal_step_error(
            pi, theta, after, prior, moments, self.before, later, gain, self.additions,
            self.column_moments.error, accurate,
        )  # fmt: skip


def prior_error(
    components: Normals | CountComponents,
    prior: Any,
    column_moments: ColumnMoments,
    log_prior: float,
) -> float:
    """Bound on the error of the log prior."""
    if isinstance(components, CountComponents):
        return count_prior_error(components, prior, column_moments.mean_error)
    return normal_prior_error(components, prior, column_moments.error, log_prior)
