r"""What chance alone gives: the gain of a refit where nothing has changed.

Let θ be the parameters of both populations, I the information of one row, θ_old the optimum of
n_old rows and θ_new that of n other rows. They are independent, with variances I⁻¹/n_old and I⁻¹/n,
so θ_old − θ_new has the variance (1 + r) I⁻¹/n, r = n/n_old, and

    D = 2(ℓ(θ_new) − ℓ(θ_old)) ≈ n (θ_old − θ_new)ᵀ I (θ_old − θ_new) ~ (1 + r) χ²_p,

ℓ the log-likelihood of the new rows: p(1 + r)/(2n) nats a row on average. r = 0: the old parameters
are exact. The information of n_old rows is itself drawn, and the mean of its inverse is larger than
the inverse of its mean: with normal columns I⁻¹/(n_old − p − 1), so r = n/(n_old − p − 1) here.

Where a scale φ is estimated as well, on n − p degrees of freedom,

    D/(p (1 + r) φ̂) ~ F_{p, n−p},     D = Σ r_old² − Σ r_new²,   φ̂ = Σ r_new²/(n − p)

of least squares, or D the difference of two deviances and φ̂ = Σ (y − μ)²/V(μ)/(n − p), which
allows for counts that vary more than Poisson's. For least squares F is exact where r = 0.

Assumed: the model is right (but for φ), without penalty, the rows are independent, and the columns
are distributed as those of the fit: else I is not the same for both.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Chance:
    """The gain by chance alone, in units of the mean loss, and the probability of a larger one."""

    mean: float
    high: float  # a larger one has the probability ``level``
    pvalue: float
    statistic: float | None = None  # D/(1 + r), or F
    max_ratio: float | None = None  # D is too large for chance only where n/n_old is below this


def by_chi_squared(D: float, n: int, p: int, r: float, level: float) -> Chance:
    """Return the reference of a log-likelihood; D in nats, twice."""
    x = max(D, 0.0) / (1 + r)
    limit = float(stats.chi2.isf(level, p))
    unit = (1 + r) / (2 * n)
    return Chance(
        mean=p * unit, high=limit * unit, pvalue=float(stats.chi2.sf(x, p)), statistic=x,
        max_ratio=D / limit - 1,
    )  # fmt: skip


def by_f(D: float, phi: float, n: int, p: int, r: float, level: float, per_row: float) -> Chance:
    """Return the reference of squares or deviances; the mean loss is ``per_row`` · D/n."""
    limit = float(stats.f.isf(level, p, n - p))
    unit = per_row * phi * p * (1 + r) / n
    if not phi > 0:  # a perfect fit
        F = np.inf if D > 0 else 0.0
    else:
        F = max(D, 0.0) / (p * (1 + r) * phi)
    ratio = D / (p * phi * limit) - 1 if phi > 0 else np.inf
    return Chance(
        mean=unit, high=limit * unit, pvalue=float(stats.f.sf(F, p, n - p)), statistic=float(F),
        max_ratio=float(ratio),
    )  # fmt: skip


def by_resamples(gain: float, gains: np.ndarray, level: float) -> Chance:
    """Return the reference of gains that arose by chance, of resampled rows."""
    return Chance(
        mean=float(gains.mean()),
        high=float(np.quantile(gains, 1 - level, method="higher")),
        pvalue=float((1 + np.sum(gains >= gain)) / (1 + len(gains))),
    )
