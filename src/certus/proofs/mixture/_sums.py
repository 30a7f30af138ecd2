"""Sums over rows for one EM step of a mixture, block by block.

    Σ_i s_i log p(x_i)      Σ_i s_i r_ik      Σ_i s_i r_ik x_i      Σ_i s_i r_ik x_i x_iᵀ = …

with p(x) = Σ_k π_k p(x|θ_k) and r_ik = π_k p(x_i|θ_k)/p(x_i). The components define which moments
are summed, and about which point.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.types import Matrix, RowData

# elements of X handled at a time; a quarter of it, with many more calls, took 1.5 times as long
SLICE_ELEMENTS = 2**17
SAMPLE_ROWS = 256  # their mean is usually near that of all rows
MAX_LINEAR_ERROR_NATS = 0.1  # δ up to which e^δ − 1 ≤ 1.1 δ
# of a mean square about c to the squared mean: if smaller, a variance loses digits
MIN_MEAN_SQUARE_RATIO = 1e2


class Components(Protocol):
    """Interface of the k components of a mixture to sums over rows."""

    def log_densities(self, X: np.ndarray, /) -> np.ndarray:
        """Log densities log p(x_i|θ_k), (k, rows)."""
        ...

    def moments(
        self, X: np.ndarray, w: np.ndarray, about: np.ndarray | None = None, /
    ) -> tuple[np.ndarray, ...]:
        """Sums over rows with weights w (k, rows)."""
        ...

    def density_errors(self, X: np.ndarray, log_p: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
        """Return m and bounds on the errors of the log densities, (k, rows) each."""
        ...

    def errors_by_sums(
        self, X: np.ndarray, log_p: np.ndarray, w: np.ndarray, /
    ) -> np.ndarray | None:
        """Bound ``row_error_sums`` from sums over rows, or return None."""
        ...


def log_joint(X: np.ndarray, pi: np.ndarray, theta: Components) -> np.ndarray:
    """Joint log densities log π_k + log p(x_i|θ_k), (k, rows)."""
    with np.errstate(divide="ignore"):  # log 0 = −∞ for a component without weight
        return np.asarray(theta.log_densities(X) + np.log(pi)[:, None])


def log_sum_exp(J: np.ndarray) -> np.ndarray:
    """Compute log Σ_k exp(J_k) of each row."""
    top = J.max(axis=0)
    return np.asarray(top + np.log(np.exp(J - top).sum(axis=0)))


class ColumnMoments(NamedTuple):
    """Moments of the columns, over observed entries of rows with weight."""

    mean: np.ndarray
    variance: np.ndarray
    varies: np.ndarray
    error: float = 0.0  # bound on the relative error of the variances
    mean_error: float = 0.0  # bound on the relative error of the means


def column_moments(data: RowData) -> ColumnMoments:
    """Means and variances of the columns, with bounds on their errors."""
    X, _, s = data.sample_block(SAMPLE_ROWS)
    X = np.asarray(dense(X), dtype=float)
    observed = np.isfinite(X) & (True if s is None else (s > 0)[:, None])
    c = np.where(observed, X, 0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    n, a, b, low, high = data.reduce(_column_sums, c, combine=_add_column_sums)
    n = np.where(n > 0, n, 1.0)
    # the sample's mean is not near that of all rows: weights differ, or rows are sorted
    if ((a / n) ** 2 * MIN_MEAN_SQUARE_RATIO > b / n).any():
        c = c + a / n
        _, a, b, _, _ = data.reduce(_column_sums, c, combine=_add_column_sums)
    a = a / n
    variance = np.maximum(b / n - a * a, 0)
    varies = low < high
    rounding = gamma(data.depth + 16.0)
    error = rounding * _largest_ratio((b / n + a * a)[varies], variance[varies])
    mean_error = rounding * _largest_ratio(
        (np.abs(c) + np.abs(a) + np.sqrt(b / n))[varies], (c + a)[varies]
    )
    return ColumnMoments(c + a, variance, varies, error, mean_error)


def _largest_ratio(lost: np.ndarray, of: np.ndarray) -> float:
    """Largest ratio, infinite where a divisor is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(of == 0, np.inf, lost / np.abs(of)).max(initial=0.0))


def _column_sums(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, c: np.ndarray
) -> tuple[Any, ...]:
    """Sums Σ s, Σ s (x − c), Σ s (x − c)², minima and maxima over rows with weight of a block."""
    p = len(c)
    n, a, b = np.zeros(p), np.zeros(p), np.zeros(p)
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    for part in slices(X):
        x = np.asarray(dense(X[part]), dtype=float)
        v = np.ones(len(x)) if s is None else s[part]
        observed = ~np.isnan(x) & (v > 0)[:, None]
        low = np.minimum(low, np.where(observed, x, np.inf).min(axis=0))
        high = np.maximum(high, np.where(observed, x, -np.inf).max(axis=0))
        x = np.where(observed, x - c, 0)
        n, a, b = n + np.dot(v, observed), a + np.dot(v, x), b + np.dot(v, x * x)
    return n, a, b, low, high


def _add_column_sums(one: np.ndarray, other: np.ndarray) -> tuple[Any, ...]:
    sums = tuple(one[i] + other[i] for i in range(3))
    return (*sums, np.minimum(one[3], other[3]), np.maximum(one[4], other[4]))


def slice_rows(p: int) -> int:
    """Number of rows in a slice of p columns."""
    return max(64, SLICE_ELEMENTS // p)


def slices(X: Matrix) -> list[slice]:
    n, p = X.shape
    step = slice_rows(p)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def expectation_sums(
    X: Matrix,
    _y: np.ndarray | None,
    s: np.ndarray | None,
    log_p: np.ndarray,
    pi: np.ndarray,
    theta: Components,
    about: np.ndarray | None,
) -> tuple[Any, ...]:
    """Return L, its ``row_error_sums`` and the moments of a block, with weights s_i r_ik.

    Writes log p(x_i) of each row to ``log_p``.
    """
    L, errors = 0.0, zero_error_sums(len(pi))
    total: tuple[np.ndarray, ...] = ()
    for part in slices(X):
        x, v = dense(X[part]), None if s is None else s[part]
        p, each, w = _log_sums(x, v, pi, theta)
        log_p[part] = each
        L += float(each.sum() if v is None else np.dot(v, each))
        errors = add_error_sums(errors, row_error_sums(x, v, p, each, w, pi, theta))
        sums = theta.moments(x, w, about)
        total = tuple(a + b for a, b in zip(total, sums, strict=True)) if total else tuple(sums)
    return (L, errors, *total)


def add_expectations(one: np.ndarray, other: np.ndarray) -> tuple[Any, ...]:
    """Combine the results of two blocks."""
    (L, errors, *sums), (L2, errors2, *sums2) = one, other
    total = (a + b for a, b in zip(sums, sums2, strict=True))
    return (L + L2, add_error_sums(errors, errors2), *total)


def gain_sums(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    log_p: np.ndarray,
    pi: np.ndarray,
    theta: Components,
) -> tuple[Any, ...]:
    """Sum s (log p(x_i) − its previous value) over a block, with its ``row_error_sums``."""
    gain, errors = 0.0, zero_error_sums(len(pi))
    for part in slices(X):
        x, v = dense(X[part]), None if s is None else s[part]
        p, each, w = _log_sums(x, v, pi, theta)
        errors = add_error_sums(errors, row_error_sums(x, v, p, each, w, pi, theta))
        each -= log_p[part]
        gain += float(each.sum() if v is None else np.dot(v, each))
    return gain, errors


def add_gains(one: np.ndarray, other: np.ndarray) -> tuple[Any, ...]:
    """Combine the results of two blocks."""
    return one[0] + other[0], add_error_sums(one[1], other[1])


def _log_sums(
    x: np.ndarray, s: np.ndarray | None, pi: np.ndarray, theta: Components
) -> tuple[Any, Any, Any]:
    """Return log p(x_i|θ_k), log p(x_i) and s_i r_ik, taking exponentials once.

    For a row of weight 0 the last two are 0, however far away it lies.
    """
    p = theta.log_densities(x)
    with np.errstate(divide="ignore"):
        w = p + np.log(pi)[:, None]
    top = w.max(axis=0)
    w -= top
    np.exp(w, out=w)
    total = w.sum(axis=0)
    w *= (1.0 if s is None else s) / total
    each = top + np.log(total)
    if s is not None and not s.all():
        absent = s == 0
        each[absent], w[:, absent] = 0.0, 0.0
    return p, each, w


def zero_error_sums(k: int) -> np.ndarray:
    """Return ``row_error_sums`` of no rows."""
    return np.zeros((9, k))


def add_error_sums(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Combine ``row_error_sums`` of two sets of rows: seven sums and two maxima."""
    return np.vstack([one[:7] + other[:7], np.maximum(one[7:], other[7:])])


def row_error_sums(
    x: np.ndarray,
    s: np.ndarray | None,
    p: np.ndarray,
    each: np.ndarray,
    w: np.ndarray,
    pi: np.ndarray,
    theta: Components,
) -> np.ndarray:
    """Bounds on the rounding errors of a block's sums, (9, k).

    With δ_ik a bound on the error of log p(x_i|θ_k), and m_ik = (x_i − μ_k)ᵀC_k⁻¹(x_i − μ_k) for
    normal components: Σ w δ, Σ w |log p(x_i)|, Σ w m, Σ w m², Σ w η², Σ w ηm and Σ w with w_ik =
    s_i r_ik and η_ik the relative error of r_ik; then the largest m and η of rows with w > 0.

    |log Σ_k e^(J_k + δ_k) − log Σ_k e^J_k| ≤ Σ_k r_k (e^δ_k − 1), where e^δ − 1 ≤ 1.1 δ up to 0.1.
    η_k ≤ 1.5 Σ_{l≠k} r_l (δ_k + δ_l) as long as δ_k and Σ_{l≠k} r_l e^δ_l are small: a row with
    r_k near 1 keeps it, however inaccurate its density. The rounding of r itself is included.
    """
    bounds = theta.errors_by_sums(x, p, w)
    if bounds is not None:
        size = np.abs(each).sum() if s is None else np.dot(s, np.abs(each))
        bounds[1] = size / len(p)  # only the sum over components is used
        return np.asarray(bounds)
    m, delta = theta.density_errors(x, p)
    weight = w.sum(axis=0)
    positive = np.where(weight > 0, weight, 1.0)
    if delta.max(initial=0.0) <= MAX_LINEAR_ERROR_NATS:
        delta *= 1.1
        likelihood_errors = w * delta
    else:  # for components far from a row, e^δ is not linear
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            grown = np.exp(np.minimum(p + np.log(pi)[:, None] - each + delta, 700.0)) * delta
            grown = np.where(delta > MAX_LINEAR_ERROR_NATS, grown, 1.1 * (w / positive) * delta)
            likelihood_errors = weight * np.where(np.isnan(grown), np.inf, grown)
            # a row without weight would give 0·∞
            likelihood_errors = np.where(weight == 0, 0.0, likelihood_errors)
    has_weight, each_of = w > 0, likelihood_errors / positive
    total = each_of.sum(axis=0)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ where a bound is infinite
        others = np.maximum(total - each_of, 0.0) + 4 * UNIT * total
    others = np.where(np.isnan(others), np.inf, others)
    complement = np.maximum(1 - w / positive, 0.0) + 4 * UNIT  # 1 − r
    with np.errstate(over="ignore", invalid="ignore"):
        eta = np.where(
            (delta <= 1.1 * MAX_LINEAR_ERROR_NATS) & (others <= MAX_LINEAR_ERROR_NATS),
            1.5 * complement * delta + 3 * others,
            np.expm1(np.minimum(delta + total, 700.0)),
        )
    eta = np.where(has_weight, eta + gamma(len(p) + 16), 0.0)
    m = np.where(has_weight, m, 0.0)
    wm = w * m
    return np.stack(
        [
            likelihood_errors.sum(axis=1),
            np.dot(w, np.abs(each)),
            wm.sum(axis=1),
            np.einsum("ij,ij->i", wm, m),
            np.einsum("ij,ij->i", w * eta, eta),
            np.einsum("ij,ij->i", wm, eta),
            w.sum(axis=1),
            m.max(axis=1, initial=0.0),
            eta.max(axis=1, initial=0.0),
        ]
    )


def majority_rows(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    pi: np.ndarray,
    theta: Components,
) -> tuple[int, np.ndarray, np.ndarray]:
    """Number of rows of a block, of those with r_k > ½ for each component, and the first of them.

    Where there is none, the first is −1.
    """
    count, first = np.zeros(len(pi), dtype=np.intp), np.full(len(pi), -1, dtype=np.intp)
    for part in slices(X):
        J = log_joint(dense(X[part]), pi, theta)
        is_majority = J - log_sum_exp(J) > np.log(0.5)
        if s is not None:
            is_majority &= s[part] > 0
        new = (count == 0) & is_majority.any(axis=1)
        first[new] = part.start + is_majority[new].argmax(axis=1)
        count += is_majority.sum(axis=1)
    return X.shape[0], count, first


def add_majority_rows(
    one: tuple[int, np.ndarray, np.ndarray], other: tuple[int, np.ndarray, np.ndarray]
) -> tuple[int, np.ndarray, np.ndarray]:
    """Combine the results of a block and of the one behind it."""
    of_other = np.where(other[2] < 0, -1, one[0] + other[2])
    return one[0] + other[0], one[1] + other[1], np.where(one[2] < 0, of_other, one[2])
