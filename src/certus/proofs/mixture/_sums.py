"""Sums over rows that a mixture's next step needs, block by block.

    Σ_i s_i log p(x_i)      Σ_i s_i r_ik      Σ_i s_i r_ik x_i      Σ_i s_i r_ik x_i x_iᵀ = …

with p(x) = Σ_k π_k p(x|θ_k) and r_ik = π_k p(x_i|θ_k)/p(x_i). What is summed besides r is the
components' own (``moments``); so is the point that moments are about.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.types import Matrix, RowData

ELEMENTS = (
    2**17
)  # of X worked on at a time; a fourth of it, in many more calls, took 1.5 times as long
FEW = 256  # rows whose mean is near that of all
ALMOST_LINEAR = 0.1  # nats up to which e^δ − 1 ≤ 1.1 δ
CANCELLED = 1e2  # times a variance: a mean of squares that loses two digits


class Components(Protocol):
    """k components of a mixture, as sums over rows know them."""

    def log_densities(self, X: np.ndarray, /) -> np.ndarray:
        """log p(x_i|θ_k), (k, rows)."""
        ...

    def moments(
        self, X: np.ndarray, w: np.ndarray, about: np.ndarray | None = None, /
    ) -> tuple[np.ndarray, ...]:
        """Sums over rows with weights w (k, rows)."""
        ...

    def density_errors(self, X: np.ndarray, log_p: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
        """(m, bounds on the errors of the log densities), (k, rows) each."""
        ...

    def errors_by_sums(
        self, X: np.ndarray, log_p: np.ndarray, w: np.ndarray, /
    ) -> np.ndarray | None:
        """``errors_of_rows`` at most, where sums are enough to know them."""
        ...


def log_joint(X: np.ndarray, pi: np.ndarray, theta: Components) -> np.ndarray:
    """log π_k + log p(x_i|θ_k), (k, rows)."""
    with np.errstate(divide="ignore"):  # log 0 = −∞ of a component without a share
        return np.asarray(theta.log_densities(X) + np.log(pi)[:, None])


def log_sum_exp(J: np.ndarray) -> np.ndarray:
    top = J.max(axis=0)
    return np.asarray(top + np.log(np.exp(J - top).sum(axis=0)))


class Columns(NamedTuple):
    """Of entries that are there, of rows with weight."""

    mean: np.ndarray
    variance: np.ndarray
    varies: np.ndarray
    error: float = 0.0  # of variances, relative; of means:
    mean_error: float = 0.0


def columns(data: RowData) -> Columns:
    X, _, s = data.sample_block(FEW)
    X = np.asarray(dense(X), dtype=float)
    there = np.isfinite(X) & (True if s is None else (s > 0)[:, None])
    c = np.where(there, X, 0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)  # near the rows
    n, a, b, low, high = data.reduce(_column_sums, c, combine=_add_columns)
    n = np.where(n > 0, n, 1.0)
    if ((a / n) ** 2 * CANCELLED > b / n).any():  # c is not near: weights, rows in order
        c = c + a / n
        _, a, b, _, _ = data.reduce(_column_sums, c, combine=_add_columns)
    a = a / n
    variance = np.maximum(b / n - a * a, 0)
    varies = low < high
    rounding = gamma(data.depth + 16.0)
    error = rounding * _ratio((b / n + a * a)[varies], variance[varies])
    of_mean = rounding * _ratio((np.abs(c) + np.abs(a) + np.sqrt(b / n))[varies], (c + a)[varies])
    return Columns(c + a, variance, varies, error, of_mean)


def _ratio(lost: np.ndarray, of: np.ndarray) -> float:
    """The largest, infinite where something is divided by 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(of == 0, np.inf, lost / np.abs(of)).max(initial=0.0))


def _column_sums(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, c: np.ndarray
) -> tuple[Any, ...]:
    """Σ s, Σ s (x − c), Σ s (x − c)², min and max of a block, rows without weight left out."""
    p = len(c)
    n, a, b = np.zeros(p), np.zeros(p), np.zeros(p)
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    for part in slices(X):
        x = np.asarray(dense(X[part]), dtype=float)
        v = np.ones(len(x)) if s is None else s[part]
        there = ~np.isnan(x) & (v > 0)[:, None]
        low = np.minimum(low, np.where(there, x, np.inf).min(axis=0))
        high = np.maximum(high, np.where(there, x, -np.inf).max(axis=0))
        x = np.where(there, x - c, 0)
        n, a, b = n + np.dot(v, there), a + np.dot(v, x), b + np.dot(v, x * x)
    return n, a, b, low, high


def _add_columns(one: np.ndarray, other: np.ndarray) -> tuple[Any, ...]:
    sums = tuple(one[i] + other[i] for i in range(3))
    return (*sums, np.minimum(one[3], other[3]), np.maximum(one[4], other[4]))


def rows_of_a_slice(p: int) -> int:
    return max(64, ELEMENTS // p)


def slices(X: Matrix) -> list[slice]:
    n, p = X.shape
    step = rows_of_a_slice(p)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def expected(
    X: Matrix,
    _y: np.ndarray | None,
    s: np.ndarray | None,
    log_p: np.ndarray,
    pi: np.ndarray,
    theta: Components,
    about: np.ndarray | None,
) -> tuple[Any, ...]:
    """L, what rounding does to it (``errors_of_rows``) and the moments of a block, rows weighted by
    s_i r_ik; log p(x_i) goes beside."""
    L, errors = 0.0, no_errors(len(pi))
    total: tuple[np.ndarray, ...] = ()
    for part in slices(X):
        x, v = dense(X[part]), None if s is None else s[part]
        p, each, w = _log_sums(x, v, pi, theta)
        log_p[part] = each
        L += float(each.sum() if v is None else np.dot(v, each))
        errors = add_errors(errors, errors_of_rows(x, v, p, each, w, pi, theta))
        sums = theta.moments(x, w, about)
        total = tuple(a + b for a, b in zip(total, sums, strict=True)) if total else tuple(sums)
    return (L, errors, *total)


def add_expected(one: np.ndarray, other: np.ndarray) -> tuple[Any, ...]:
    """The results of two blocks as one."""
    (L, errors, *sums), (L2, errors2, *sums2) = one, other
    return (L + L2, add_errors(errors, errors2), *(a + b for a, b in zip(sums, sums2, strict=True)))


def gained(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    log_p: np.ndarray,
    pi: np.ndarray,
    theta: Components,
) -> tuple[Any, ...]:
    """Σ s (log p(x_i) − what it was) of a block, and what rounding does to it."""
    gain, errors = 0.0, no_errors(len(pi))
    for part in slices(X):
        x, v = dense(X[part]), None if s is None else s[part]
        p, each, w = _log_sums(x, v, pi, theta)
        errors = add_errors(errors, errors_of_rows(x, v, p, each, w, pi, theta))
        each -= log_p[part]
        gain += float(each.sum() if v is None else np.dot(v, each))
    return gain, errors


def add_gained(one: np.ndarray, other: np.ndarray) -> tuple[Any, ...]:
    """The results of two blocks as one."""
    return one[0] + other[0], add_errors(one[1], other[1])


def _log_sums(
    x: np.ndarray, s: np.ndarray | None, pi: np.ndarray, theta: Components
) -> tuple[Any, Any, Any]:
    """log p(x_i|θ_k), log p(x_i), s_i r_ik: exponentials are taken once.

    A row of weight 0 has neither log p(x_i) nor r_ik: however far away it lies, it counts nothing.
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


def no_errors(k: int) -> np.ndarray:
    """``errors_of_rows`` of no rows."""
    return np.zeros((9, k))


def add_errors(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """``errors_of_rows`` of two sets of rows as one: seven sums, two maxima."""
    return np.vstack([one[:7] + other[:7], np.maximum(one[7:], other[7:])])


def errors_of_rows(
    x: np.ndarray,
    s: np.ndarray | None,
    p: np.ndarray,
    each: np.ndarray,
    w: np.ndarray,
    pi: np.ndarray,
    theta: Components,
) -> np.ndarray:
    """Bounds on what rounding does to a block's sums, (9, k).

    With δ_ik a bound on the error of log p(x_i|θ_k), and m_ik = (x_i − μ_k)ᵀC_k⁻¹(x_i − μ_k) of
    normal components: Σ w δ, Σ w |log p(x_i)|, Σ w m, Σ w m², Σ w η², Σ w ηm and Σ w with w_ik =
    s_i r_ik and η_ik the relative error of r_ik; the largest m and η of rows with w > 0.

    |log Σ_k e^(J_k + δ_k) − log Σ_k e^J_k| ≤ Σ_k r_k (e^δ_k − 1), where e^δ − 1 ≤ 1.1 δ up to 0.1.
    η_k ≤ 1.5 Σ_{l≠k} r_l (δ_k + δ_l) as long as δ_k and Σ_{l≠k} r_l e^δ_l are small: a row that is
    all one component's stays so, however little is known of its density. r is rounded itself too.
    """
    rough = theta.errors_by_sums(x, p, w)
    if rough is not None:
        size = np.abs(each).sum() if s is None else np.dot(s, np.abs(each))
        rough[1] = size / len(p)  # their sum over components is all that counts
        return np.asarray(rough)
    m, delta = theta.density_errors(x, p)
    weight = w.sum(axis=0)
    positive = np.where(weight > 0, weight, 1.0)
    if delta.max(initial=0.0) <= ALMOST_LINEAR:
        delta *= 1.1
        of_sums = w * delta
    else:  # components that are far from a row: they count where r e^δ does
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            grown = np.exp(np.minimum(p + np.log(pi)[:, None] - each + delta, 700.0)) * delta
            grown = np.where(delta > ALMOST_LINEAR, grown, 1.1 * (w / positive) * delta)
            of_sums = weight * np.where(np.isnan(grown), np.inf, grown)
            of_sums = np.where(weight == 0, 0.0, of_sums)  # 0·∞ of a row without weight
    some, each_of = w > 0, of_sums / positive
    total = each_of.sum(axis=0)
    with np.errstate(invalid="ignore"):  # ∞ − ∞: nothing is known of the others
        others = np.maximum(total - each_of, 0.0) + 4 * UNIT * total
    others = np.where(np.isnan(others), np.inf, others)
    beside = np.maximum(1 - w / positive, 0.0) + 4 * UNIT  # 1 − r
    with np.errstate(over="ignore", invalid="ignore"):
        eta = np.where(
            (delta <= 1.1 * ALMOST_LINEAR) & (others <= ALMOST_LINEAR),
            1.5 * beside * delta + 3 * others,
            np.expm1(np.minimum(delta + total, 700.0)),
        )
    eta = np.where(some, eta + gamma(len(p) + 16), 0.0)
    m = np.where(some, m, 0.0)
    wm = w * m
    return np.stack(
        [
            of_sums.sum(axis=1),
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


def owned(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    row: np.ndarray,
    pi: np.ndarray,
    theta: Components,
) -> tuple[np.ndarray, np.ndarray]:
    """How many rows of a block are more a component's than all others', and the first of them."""
    count, first = np.zeros(len(pi), dtype=np.intp), np.full(len(pi), np.iinfo(np.intp).max)
    for part in slices(X):
        J = log_joint(dense(X[part]), pi, theta)
        mine = J - log_sum_exp(J) > np.log(0.5)
        if s is not None:
            mine &= s[part] > 0
        count += mine.sum(axis=1)
        first = np.minimum(first, np.where(mine, row[part], first[:, None]).min(axis=1))
    return count, first


def add_owned(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return one[0] + other[0], np.minimum(one[1], other[1])
