"""Normal components: k means μ_k and covariances C_k of one of four shapes.

    log N(x; μ, C) = −½ (p log 2π + log|C| + (x − μ)ᵀC⁻¹(x − μ))

    full: C_k any      tied: C_k = C      diag: C_k = diag(v_k)      spherical: C_k = v_k I

With weights w_ik of rows, n_k = Σ_i w_ik and S_k = Σ_i w_ik (x_i − μ_k)(x_i − μ_k)ᵀ, the likelihood
Σ w_ik log N(x_i; μ_k, C_k) is largest at the mean of the rows and at C_k = S_k/n_k (tied:
ΣS_k/Σn_k; diag: its diagonal; spherical: the mean of that).

The prior gives each C (tied: the one C) ε pseudo-rows with the columns' variances d:

    log prior = −½ (ε log|C| + tr(ΨC⁻¹)),   Ψ = ε diag(d),   so that   C_k = (S_k + Ψ)/(n_k + ε)

It is an inverse Wishart density (for diag and spherical: inverse gamma) up to a constant. Without
rows its mode is diag(d), and it does not depend on units.

Log densities and moments use differences to the component's mean, so that an origin far away costs
no digits. Rows with NaN are handled in ``_missing_entries.py``.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.mixture._accurate_whitening import (
    NEGLECTED_PRODUCT_RATIO,
    Whitening,
    accurate_matrix_product,
    whiten,
)
from certus.proofs.mixture._missing_entries import (
    Normal,
    complete,
    expected_moments,
    grouped,
    observed_log_density,
)
from certus.proofs.types import FunctionTo, RowData

LOG_2PI = 1.8378770664093453
NEGLIGIBLE_WEIGHT = 1e-30  # of a row in a component: it changes no digit of a sum
# of m κ², m = (x − μ)ᵀC⁻¹(x − μ): times the rounding error of a sum this is still small
MAX_SCALED_DISTANCE = 1e9
MAX_ROUGH_ERROR = 1e-4  # nats of a log density times m, up to which the rough bound is enough
MAX_PLAIN_KAPPA = 100.0  # up to which whitening in plain digits costs two of them, no more
MAX_MEAN_SHIFT_SD = 1e3  # if a mean moves farther, its moments are recomputed


class Moments(NamedTuple):
    """Sums over rows with weights w_ik, about a point c of each component."""

    n: np.ndarray  # Σ w             (k,)
    a: np.ndarray  # Σ w (x − c)     (k, p)
    B: np.ndarray  # Σ w (x − c)(x − c)ᵀ in the shape of the covariances


class CovariancePrior(NamedTuple):
    """Prior of ε pseudo-rows with variances d; or ``added`` to the diagonal, not a prior."""

    epsilon: float
    d: np.ndarray
    added: float = 0.0
    kind: type = float  # the type in which means are stored


class Normals:
    """k normal components of one shape, in the columns ``kept`` of the rows."""

    sums = Moments
    accurate: np.ndarray | None = None  # which components whiten rows with twice the digits
    units: np.ndarray  # of the columns there, (k, p), powers of two
    error = 0.0  # nats per unit of weight, from a projection onto fewer coordinates

    def __init__(
        self,
        shape: str,
        means: np.ndarray,
        covariances: np.ndarray,
        kept: slice | np.ndarray = slice(None),
        low: np.ndarray | None = None,
    ):
        """``low``: low-order part of the covariances, which are ``covariances`` + ``low``."""
        self.shape, self.kept, self.low = shape, kept, low
        self.means = np.array(means, dtype=float)
        self.covariances = np.array(covariances, dtype=float)
        self.k, self.p = self.means.shape
        self.W, self.log_det = self._whitening()

    def _whitening(self) -> tuple[Any, np.ndarray]:
        """Return W and log|C|, and set ``kappa``, ``slope`` and ``offset``."""
        C, k = self.covariances, self.k
        if self.shape in ("full", "tied"):
            each: list[Whitening] = []
            low = self.low
            if low is not None and self.shape == "tied":
                low = low[None]
            for i, one in enumerate([C] if self.shape == "tied" else C):
                try:
                    each.append(whiten(one, None if low is None else low[i]))
                except np.linalg.LinAlgError:
                    which = "" if self.shape == "tied" else f" of component {i}"
                    raise ValueError(f"covariances_{which} is not positive definite") from None
            each = each * (k if self.shape == "tied" else 1)
            log_det = np.array([one.log_det for one in each])
            self.kappa = np.array([one.kappa for one in each])
            R = np.array([one.R for one in each])
            self._set_errors(log_det, R, np.array([one.log_det_error for one in each]))
            return [one.W for one in each], log_det
        if not ((C > 0) & np.isfinite(C)).all():
            i = int(np.argwhere(~((C > 0) & np.isfinite(C)))[0][0])
            raise ValueError(f"covariances_ of component {i} is not positive definite")
        log_det = np.log(C) * self.p if C.ndim == 1 else np.log(C).sum(axis=1)
        log_sizes = np.abs(np.log(C)) * self.p if C.ndim == 1 else np.abs(np.log(C)).sum(axis=1)
        self.kappa = np.ones(k)
        self._set_errors(log_det, np.full(k, 8 * UNIT), gamma(self.p + 4) * log_sizes)
        return 1 / np.sqrt(C), log_det

    def _set_errors(self, log_det: np.ndarray, R: np.ndarray, log_det_error: np.ndarray) -> None:
        """Set the bound |error of log N| ≤ slope·m + offset, m = (x − μ)ᵀC⁻¹(x − μ)."""
        self.R = R
        self.slope = R + 1.1 * gamma(self.p + 8) * self.kappa
        self.log_det_error = log_det_error
        sizes = np.abs(log_det) + self.p * LOG_2PI + self.k + 1000.0  # log π_k is above −745
        self.offset = log_det_error / 2 + gamma(8) * sizes
        self.log_constant = log_det + self.p * LOG_2PI  # −2 log N − m

    # --- rows -------------------------------------------------------------------------------------

    def log_densities(self, X: np.ndarray) -> np.ndarray:
        """Log densities log N(x_i; μ_k, C_k), (k, rows)."""
        X = X[:, self.kept]
        out = np.empty((self.k, len(X)))
        complete_index, incomplete = complete(X)
        complete_rows, gaps = X[complete_index], grouped(X[incomplete])
        for k in range(self.k):
            Z = self._whitened_rows(complete_rows, k)
            squares = np.einsum("ij,ij->i", Z, Z)
            out[k, complete_index] = squares + self.log_det[k] + self.p * LOG_2PI
            if len(incomplete):
                out[k, incomplete] = -2 * observed_log_density(gaps, self.normal(k))
        out *= -0.5
        return out

    def density_errors(self, X: np.ndarray, log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return m and bounds on the errors of the log densities, (k, rows) each."""
        m = -2 * log_p
        m -= self.log_constant[:, None]
        if not isinstance(complete(X[:, self.kept])[0], slice):
            # factors of submatrices of C, whose R is not computed: an error of γ_p κ² (Cholesky)
            m = np.abs(m) + 2 * np.abs(self.log_constant)[:, None] + self.p
            unmeasured_slope = self.slope + gamma(4 * self.p + 8) * self.kappa**2
            offset = self.offset + self.p * unmeasured_slope
            return m, m * unmeasured_slope[:, None] + offset[:, None]
        np.maximum(m, 0.0, out=m)
        return m, m * self.slope[:, None] + self.offset[:, None]

    def errors_by_sums(self, X: np.ndarray, log_p: np.ndarray, w: np.ndarray) -> np.ndarray | None:
        """Bound ``row_error_sums`` from Σ w, Σ w m and Σ w m² only.

        δ = slope·m + offset, and by Jensen's inequality Σ_i w_ik η_ik² ≤ 2 Σ_i w_ik δ_ik² +
        2 Σ_l Σ_i w_il δ_il² (since η_ik ≤ δ_ik + Σ_l r_il δ_il), plus the rounding of r itself.

        Return None where a row is so far from a component that this might be much too large, or
        where entries are missing. The largest m is over all rows, also those of weight 0.
        """
        largest = np.maximum(-2 * log_p.min(axis=1, initial=0.0) - self.log_constant, 0.0)
        largest = np.maximum(largest, 1.0)
        delta = 1.1 * (self.slope * largest + self.offset)
        if not (largest * self.kappa**2 <= MAX_SCALED_DISTANCE).all():
            return None  # before the product below can overflow
        is_small = (largest * delta <= MAX_ROUGH_ERROR).all()
        if not is_small or not isinstance(complete(X[:, self.kept])[0], slice):
            return None
        half = log_p + 0.5 * self.log_constant[:, None]  # −m/2
        weighted = w * half
        n = w.sum(axis=1)
        m = np.maximum(-2 * weighted.sum(axis=1), 0.0)
        m2 = 4 * np.einsum("ij,ij->i", weighted, half)
        squares = 2 * 1.1**2 * (self.slope**2 * m2 + self.offset**2 * n)  # bounds Σ w δ²
        likelihood_errors = 1.1 * (self.slope * m + self.offset * n)
        eta = np.full(self.k, 2 * delta.max() + gamma(self.k + 16))
        eta2 = 4 * (squares + squares.sum()) + 2 * gamma(self.k + 16) ** 2 * n
        eta2 = np.minimum(eta2, eta**2 * n)
        eta_m = np.minimum(np.sqrt(eta2 * m2), eta * m)
        return np.stack([likelihood_errors, np.zeros(self.k), m, m2, eta2, eta_m, n, largest, eta])

    def whitened_accurately(self) -> "Normals":
        """Return components that whiten rows with twice the digits where κ is large, so that it no
        longer matters."""
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        variances = np.array([np.diagonal(self.matrix(k)) for k in range(self.k)])
        other.units = np.exp2(-np.round(0.5 * np.log2(variances)))
        sizes = [np.linalg.norm(W / q) for W, q in zip(self.W, other.units, strict=True)]
        left_out = 4 * NEGLECTED_PRODUCT_RATIO * self.p**1.5 * np.array(sizes)
        other.accurate = np.asarray(self.kappa > MAX_PLAIN_KAPPA)
        accurate_slope = self.R + 1.1 * (gamma(self.p + 8) + left_out)
        other.slope = np.where(other.accurate, accurate_slope, self.slope)
        return other

    def _whitened_rows(self, X: np.ndarray, k: int) -> Any:
        """Whitened differences W_k(x − μ_k) of each row."""
        D = X - self.means[k]
        if self.accurate is None or not self.accurate[k]:
            return self._whitened(D, k)
        back = D - X
        low_part = (X - (D - back)) - (self.means[k] + back)
        q = self.units[k]  # powers of two: entries of about the same size
        high, low, _ = accurate_matrix_product(D * q, (self.W[k] / q).T)
        return high + (low + np.dot(low_part, self.W[k].T))

    def _whitened(self, D: np.ndarray, k: int) -> Any:
        if self.shape in ("full", "tied"):
            return np.dot(D, self.W[k].T)
        D *= self.W[k]
        return D

    def moments(self, X: np.ndarray, w: np.ndarray, about: np.ndarray | None = None) -> Moments:
        """Moments of rows with weights w (k, rows); missing entries enter by their expectation."""
        X = X[:, self.kept]
        about = self.means if about is None else about
        a, B = np.zeros(self.means.shape), np.zeros(self.covariances.shape)
        complete_index, incomplete = complete(X)
        complete_rows, gaps = X[complete_index], grouped(X[incomplete])
        for k in range(self.k):
            v = w[k, complete_index]
            used = np.flatnonzero(v > NEGLIGIBLE_WEIGHT)
            sparse_weights = 2 * len(used) < len(v)
            D = complete_rows[used] - about[k] if sparse_weights else complete_rows - about[k]
            v = v[used] if sparse_weights else v
            a[k] = np.dot(v, D)
            self._add_scatter(B, k, D, v)
            if len(incomplete):
                v = w[k, incomplete]
                D, extra = expected_moments(gaps, v, self.normal(k))
                D += self.means[k] - about[k]
                a[k] += np.dot(v, D)
                self._add_scatter(B, k, D, v)
                self._add_matrix(B, k, extra)
        return Moments(w.sum(axis=1), a, B)

    def _add_scatter(self, B: np.ndarray, k: int, D: np.ndarray, v: np.ndarray) -> None:
        """Add Σ v (x − c)(x − c)ᵀ, reduced to the shape, to B_k."""
        if self.shape in ("full", "tied"):
            E = D * np.sqrt(v)[:, None]
            self._add_matrix(B, k, np.dot(E.T, E))  # symmetric: half of the products
        elif self.shape == "diag":
            B[k] += np.dot(v, D * D)
        else:
            B[k] += np.dot(v, np.einsum("ij,ij->i", D, D))

    def _add_matrix(self, B: np.ndarray, k: int, M: np.ndarray) -> None:
        """Add M, reduced to the shape, to B_k."""
        if self.shape == "tied":
            B += M
        else:
            B[k] += {"full": M, "diag": np.diagonal(M), "spherical": np.trace(M)}[self.shape]

    def normal(self, k: int) -> Normal:
        return Normal(self.means[k], self.matrix(k))

    def matrix(self, k: int) -> np.ndarray:
        """Covariance C_k as a matrix."""
        C = self.covariances if self.shape == "tied" else self.covariances[k]
        return C if np.ndim(C) == 2 else C * np.eye(self.p)

    def variances(self) -> np.ndarray:
        """Diagonals of the C_k, (k, p)."""
        C = self.covariances
        if self.shape in ("full", "tied"):
            C = np.diagonal(C, axis1=-2, axis2=-1)
        elif self.shape == "spherical":
            C = C[:, None]
        return np.broadcast_to(C, self.means.shape)

    # --- the maximiser ----------------------------------------------------------------------------

    def maximized(
        self, sums: Moments, prior: CovariancePrior, recompute: FunctionTo[Moments] | None = None
    ) -> "Normals":
        """Components that maximise the expected log likelihood plus log prior.

        Means are rounded to the type in which they are stored, and unchanged without rows.
        ``recompute(about)`` returns the moments about other points, for means that move far.
        """
        shift, about, n = sums.a / _positive(sums.n)[:, None], self.means, sums.n
        means = np.asarray((about + shift).astype(prior.kind).astype(float))
        if recompute is not None and self._longest_shift(means - about) > MAX_MEAN_SHIFT_SD:
            sums, about = recompute(means), means
        S = sums.B.copy()
        for k in range(self.k):  # convert moments about a point to moments about the mean
            u, a = means[k] - about[k], sums.a[k]
            self._add_matrix(S, k, n[k] * np.outer(u, u) - np.outer(a, u) - np.outer(u, a))
        psi = prior.epsilon * prior.d
        if self.shape == "full":
            C = (S + np.diag(psi)) / _positive(n + prior.epsilon)[:, None, None]
        elif self.shape == "tied":
            C = (S + np.diag(psi)) / (n.sum() + prior.epsilon)
        elif self.shape == "diag":
            C = (S + psi) / _positive(n + prior.epsilon)[:, None]
        else:
            C = (S + psi.sum()) / (self.p * _positive(n + prior.epsilon))
        if self.shape != "tied" and prior.epsilon == 0:
            C[n == 0] = self.covariances[n == 0]
        C += prior.added * np.eye(self.p) if self.shape in ("full", "tied") else prior.added
        return Normals(self.shape, means, C, self.kept)

    def with_covariances(self, covariances: np.ndarray, low: np.ndarray) -> "Normals":
        """Return these components with covariances as sums of two arrays."""
        return Normals(self.shape, self.means, covariances, self.kept, low)

    def supports_accurate_step(self, data: RowData) -> bool:
        """Return whether covariances are matrices and no entry is missing."""
        return self.shape in ("full", "tied") and not data.reduce(_missing)[0]

    def coordinates(self, X: np.ndarray) -> Any:
        """Coordinates of the rows in which moments are computed."""
        return X[:, self.kept]

    def _longest_shift(self, shift: np.ndarray) -> float:
        """Largest shift of a mean, in standard deviations."""
        return max(
            float(np.abs(self._whitened(shift[k : k + 1] + 0.0, k)).max()) for k in range(self.k)
        )

    def log_prior(self, prior: CovariancePrior) -> float:
        """Log prior, the sum of −½ (ε log|C| + tr(ΨC⁻¹)) over all C."""
        if not prior.epsilon:
            return 0.0
        total = 0.0
        for k in range(1 if self.shape == "tied" else self.k):
            W = self._whitened(np.diag(np.sqrt(prior.d)), k)
            trace = float((W * W).sum(axis=1).sum())
            total -= 0.5 * prior.epsilon * (float(self.log_det[k]) + trace)
        return total

    def other_prior_terms(self, _prior: CovariancePrior) -> float:
        """Absolute value of the log prior's terms other than log|C| and tr(ΨC⁻¹)."""
        return 0.0

    def divergences(self, other: "Normals") -> np.ndarray:
        """Divergences KL(N(μ'_k, C'_k) ‖ N(μ_k, C_k)), with primes for ``other``."""
        out = np.empty(self.k)
        for k in range(self.k):
            E = self._whitened(self._whitened(other.matrix(k).copy(), k).T.copy(), k)
            lam = np.maximum(np.linalg.eigvalsh(0.5 * (E + E.T)) - 1, -1 + 1e-300)
            shift = self._whitened((other.means[k] - self.means[k])[None].copy(), k)
            out[k] = 0.5 * float((lam - np.log1p(lam)).sum() + np.vdot(shift, shift))
        return out

    def precision_errors(self, given: object, k: int, rooted: bool) -> tuple[float, float]:
        """Distance of Lᵀ P L from I, and the factor by which rounding is amplified.

        C_k = LLᵀ, and P are the given precisions (``rooted``: PPᵀ of their roots). The factor is
        the condition number of C_k times the number of columns.
        """
        M = np.asarray(given, dtype=float)
        M = M if self.shape == "tied" else M[k]
        if M.ndim < 2:
            M = (M[self.kept] if M.ndim else M) / self.W[k] ** (1 if rooted else 2)
            return float(np.abs(M - 1).max(initial=0.0)), float(self.p)
        M, L = M[self.kept][:, self.kept], np.linalg.inv(self.W[k])
        M = L.T @ M @ (M.T @ L if rooted else L)
        condition = float(np.linalg.norm(L) * np.linalg.norm(self.W[k])) ** 2
        return float(np.abs(M - np.eye(self.p)).max(initial=0.0)), condition * self.p

    def spreads(self, unit: np.ndarray) -> np.ndarray:
        """Eigenvalues of C_k with column j in units of √unit_kj, ascending, (k, p)."""
        unit = np.broadcast_to(unit, self.means.shape)
        if self.shape in ("diag", "spherical"):
            v = self.covariances if self.shape == "diag" else self.covariances[:, None]
            return np.sort(v / unit, axis=1)
        q = 1 / np.sqrt(unit)
        return np.stack(
            [np.linalg.eigvalsh(self.matrix(k) * q[k] * q[k][:, None]) for k in range(self.k)]
        )


def column_components(shape: str, theta: dict[str, Any], kept: np.ndarray) -> Normals:
    """Components of a model, in the columns that vary."""
    C = np.asarray(theta["covariances"], dtype=float)
    if shape in ("full", "tied"):
        C = C[..., kept, :][..., kept]
    elif shape == "diag":
        C = C[:, kept]
    means = np.asarray(theta["means"], dtype=float)
    all_kept = len(kept) == means.shape[1]  # a slice avoids copying the rows
    return Normals(shape, means[:, kept], C, slice(None) if all_kept else kept)


def _missing(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> tuple[int]:
    return (len(complete(dense(X))[1]),)


def _positive(n: np.ndarray) -> Any:
    return np.where(n > 0, n, 1.0)
