r"""Sums over rows of a model with a log link, and the terms of its two families.

Both families are losses of one form. With an offset o (0 where there is none), z = xᵀw + b and

    ℓ = c(eᵗ − 1 − t),   t = log μ − log c;   where c = 0: ℓ = μ

    Poisson   c = y    log μ = o + z         (μ is the mean of the count)
    Gamma     c = 1    log μ = log y − o − z (μ is y divided by its mean)

In short, log μ = κ + σz with κ free of w and b and σ = ±1; ∂ℓ/∂z = σ(μ − c), ∂²ℓ/∂z² = μ.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.duality import product, slices, transposed
from certus.proofs.linalg.linear_sums import View
from certus.proofs.types import Matrix, RowData

SIGN = {"poisson": 1.0, "gamma": -1.0}


class CountTerms(NamedTuple):
    """c and κ of each row, with log c (0 where c = 0)."""

    c: np.ndarray
    kappa: np.ndarray
    log_c: np.ndarray


def row_terms(family: str, y: np.ndarray) -> CountTerms:
    """Return the terms of rows with targets y (n, 1), or (n, 2) with the offset beside them."""
    target = y[:, 0]
    offset = y[:, 1] if y.shape[1] > 1 else np.zeros(len(y))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_y = np.log(target)
    if family == "gamma":
        return CountTerms(np.ones(len(y)), log_y - offset, np.zeros(len(y)))
    return CountTerms(target, offset, np.where(target > 0, log_y, 0.0))


class RowLosses(NamedTuple):
    """Numbers of each row at its score z."""

    value: np.ndarray  # ℓ
    a: np.ndarray  # c − μ
    mu: np.ndarray
    ct: np.ndarray  # c|t|


def row_losses(terms: CountTerms, sign: float, z: np.ndarray) -> RowLosses:
    counted = terms.c > 0
    eta = terms.kappa + sign * z
    t = np.where(counted, eta - terms.log_c, 0.0)
    with np.errstate(over="ignore"):
        mu, change = np.exp(eta), np.expm1(t)
    return RowLosses(
        np.where(counted, terms.c * (change - t), mu),
        np.where(counted, -terms.c * change, -mu),
        mu,
        terms.c * np.abs(t),
    )


class LogLinkSums(NamedTuple):
    """Weighted sums over rows; products with x are of columns as viewed."""

    S: float  # Σ s
    c: float
    value: float
    a: float  # Σ s(c − μ)
    a_size: float  # Σ s|c − μ|
    ct: float  # Σ s c|t|
    mu: float
    az: float  # Σ s(c − μ)z
    az_size: float
    muz: float  # Σ s μ z
    muz_size: float
    aa: float  # Σ s (c − μ)²/μ
    V: np.ndarray  # Σ s(c − μ)x and Σ s μ x, (p, 2)


class LogLinkMaxima(NamedTuple):
    """Largest numbers over the rows of positive weight."""

    peak: np.ndarray  # |x_j| as viewed, (p,)
    logs: float  # |κ| + |log c|
    kappa: float
    score: float  # |z|
    refused: float  # 1 where a target is outside the family's range, else 0


def log_link_sums(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    b: np.ndarray,
    view: View,
    family: str,
) -> tuple[LogLinkSums, LogLinkMaxima]:
    """Return sums and maxima of one block."""
    sign, p = SIGN[family], len(w)
    total, V, peak = np.zeros(len(LogLinkSums._fields) - 1), np.zeros((p, 2)), np.zeros(p)
    logs, largest, score, refused = 0.0, -np.inf, 0.0, 0.0
    for part, Z in slices(X, view):
        targets = y[part]
        weight = np.ones(len(targets)) if s is None else s[part]
        if not weight.all():  # a row of weight 0 may have any target
            counted = np.flatnonzero(weight)
            Z, targets, weight = Z[counted], targets[counted], weight[counted]
        z = np.asarray(product(Z, w))[:, 0] + b[0]
        terms = row_terms(family, targets)
        row = row_losses(terms, sign, z)
        low = targets[:, 0] <= 0 if family == "gamma" else targets[:, 0] < 0
        refused = max(refused, float(low.any()))
        with np.errstate(divide="ignore", invalid="ignore"):
            aa = np.where(row.a == 0, 0.0, row.a / row.mu * row.a)
        az, muz = row.a * z, row.mu * z
        numbers = (
            np.ones(len(z)), terms.c, row.value, row.a, np.abs(row.a), row.ct, row.mu, az,
            np.abs(az), muz, np.abs(muz), aa,
        )  # fmt: skip
        total += [np.dot(weight, one) for one in numbers]
        V += transposed(Z, np.column_stack([weight * row.a, weight * row.mu]))
        np.maximum(peak, largest_entries(Z, p), out=peak)
        sizes = np.abs(terms.kappa) + np.abs(terms.log_c)
        logs = max(logs, float(sizes.max(initial=0.0)))
        largest = max(largest, float(terms.kappa.max(initial=-np.inf)))
        score = max(score, float(np.abs(z).max(initial=0.0)))
    sums: Any = LogLinkSums(*total.tolist(), V)  # type: ignore[call-arg,arg-type]
    return sums, LogLinkMaxima(peak, logs, largest, score, refused)


def largest_entries(Z: Matrix, p: int) -> Any:
    """Return an upper bound of each column's |entries|."""
    if not isinstance(Z, np.ndarray):
        return np.full(p, np.abs(Z.data).max(initial=0.0))
    return np.maximum(Z.max(axis=0, initial=0.0), -Z.min(axis=0, initial=0.0))


def combine(
    left: tuple[LogLinkSums, LogLinkMaxima], right: tuple[LogLinkSums, LogLinkMaxima]
) -> tuple[LogLinkSums, LogLinkMaxima]:
    pairs: Any = zip(left[0], right[0], strict=True)
    maxima: Any = zip(left[1], right[1], strict=True)
    sums = LogLinkSums(*(one + other for one, other in pairs))
    return sums, LogLinkMaxima(*(np.maximum(one, other) for one, other in maxima))


def null_loss(data: RowData, family: str, fit_intercept: bool, highest: float) -> float:
    """Return Σ s ℓ of the intercept alone, or of z = 0; two passes over the targets.

    With log ρ = log(Σ s c / Σ s e^κ), the best constant gives every row log μ = κ + log ρ.
    ``highest``: the largest κ.
    """
    log_rho = 0.0
    if fit_intercept:
        c, mu = data.reduce_targets(_constant_sums, family, highest)
        if c == 0:  # every count is 0: the intercept takes the loss to 0
            return 0.0
        log_rho = float(np.log(c / mu) - highest)
    (value,) = data.reduce_targets(_constant_loss, family, log_rho)
    return float(value)


def _constant_sums(
    y: np.ndarray, s: np.ndarray | None, family: str, highest: float
) -> tuple[float, float]:
    y, weight = _counted(y, s)
    terms = row_terms(family, y)
    return float(weight @ terms.c), float(weight @ np.exp(terms.kappa - highest))


def _constant_loss(
    y: np.ndarray, s: np.ndarray | None, family: str, log_rho: float
) -> tuple[float]:
    y, weight = _counted(y, s)
    return (float(weight @ row_losses(row_terms(family, y), 1.0, np.full(len(y), log_rho)).value),)


def _counted(y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any]:
    return (y, np.ones(len(y))) if s is None else (y[s > 0], s[s > 0])


# --- losses of single rows, for bounds by curvature


class LogLinkCurvature(NamedTuple):
    """Curvature sμ of rows."""

    family: str

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> Any:
        y = y.reshape(len(s), -1)
        row = row_losses(row_terms(self.family, y), SIGN[self.family], z[:, 0])
        return np.where(s > 0, s * row.mu, 0.0)[:, None, None]


class LogLinkRows(NamedTuple):
    """Loss sℓ of rows, with its derivatives in z."""

    family: str

    def weights(self, y: np.ndarray, s: np.ndarray) -> Any:
        """Return s times the larger of c and 1e-300, to which a row's curvature is compared."""
        return s * np.maximum(row_terms(self.family, y.reshape(len(s), -1)).c, 1e-300)

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        y, sign = y.reshape(len(s), -1), SIGN[self.family]
        row = row_losses(row_terms(self.family, y), sign, z[:, 0])
        return s * row.value, (-sign * s * row.a)[:, None], (s * row.mu)[:, None, None]
