"""Normal components for fewer rows than columns, in the span of the rows and the means.

With columns in units of √d the prior is ε I, and C_k = (S_k + Ψ)/(n_k + ε) becomes

    C = QBQᵀ + b(I − QQᵀ),        Q (p, m) orthonormal, all rows and means in its span

so that log|C| = log|B| + (p − m) log b and (x − μ)ᵀC⁻¹(x − μ) = (y − ν)ᵀB⁻¹(y − ν), y = Qᵀx: m³
operations instead of p³. That a model's C has this form is verified. With B = QᵀCQ and b the mean
of the remaining trace, E = C − QBQᵀ − b(I − QQᵀ) has QᵀEQ = 0 and tr E = 0: its effect on log|C|
and on the squared distances is of second order, at most

    η² and (x − μ)ᵀC⁻¹(x − μ)·η_Q²,      η = ‖E‖/λ, η_Q² = ‖EQB^−½‖²/b, λ the least eigenvalue of C

which is added to the bound on a step's gain. If it is not far below that bound, all p columns are
used.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import gamma
from certus.proofs.mixture._gaussian_components import LOG_2PI, CovariancePrior, Moments, Normals
from certus.proofs.types import FunctionTo, Numbers, RowData

MIN_COLUMNS, MIN_COLUMNS_PER_ROW = 256, 2  # with fewer columns, p³ operations take little time
MAX_PROJECTION_ERROR_NATS = 1e-7  # of a log density, caused by E
N_PROBES = 16  # random directions in which precisions are compared with C⁻¹
STRIPE_ROWS = 512  # rows of C handled at a time


class RowSpan(NamedTuple):
    """Coordinates y = Qᵀ((x − c)/√d) in the span of the rows."""

    kept: np.ndarray  # columns
    c: np.ndarray
    root: np.ndarray  # √d
    Q: np.ndarray  # (p, m)

    def of(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(np.dot((X[:, self.kept] - self.c) / self.root, self.Q))

    @property
    def n_orthogonal(self) -> int:
        """Number of directions orthogonal to the span, p − m."""
        return int(self.Q.shape[0] - self.Q.shape[1])

    @property
    def log_unit(self) -> float:
        """Log of the units' volume, Σ ½ log d."""
        return float(np.log(self.root).sum())


class RowSpaceNormals(Normals):
    """Components with means ν_k and covariances B_k in the span, b_k in all other directions."""

    def __init__(
        self, shape: str, means: np.ndarray, covariances: np.ndarray, b: Numbers, span: RowSpan,
        error: float = 0.0, low: np.ndarray | None = None,
    ):  # fmt: skip
        super().__init__(shape, means, covariances, low=low)
        self.b, self.span = np.broadcast_to(np.asarray(b, dtype=float), (self.k,)), span
        self.error = error
        of_others = self.span.n_orthogonal * (LOG_2PI + np.log(self.b)) + 2 * self.span.log_unit
        self.log_constant = self.log_constant + of_others
        self.offset = self.offset + gamma(len(span.kept) + 8) * np.abs(of_others)

    def log_densities(self, X: np.ndarray) -> np.ndarray:
        of_others = self.span.n_orthogonal * (LOG_2PI + np.log(self.b)) / 2 + self.span.log_unit
        return super().log_densities(self.span.of(X)) - of_others[:, None]

    def moments(self, X: np.ndarray, w: np.ndarray, about: np.ndarray | None = None) -> Moments:
        return super().moments(self.span.of(X), w, about)

    def maximized(
        self, sums: Moments, prior: CovariancePrior, recompute: FunctionTo[Moments] | None = None
    ) -> "RowSpaceNormals":
        after = super().maximized(sums, prior, recompute)
        n = sums.n.sum() if self.shape == "tied" else sums.n
        b = prior.epsilon / (n + prior.epsilon)
        return RowSpaceNormals(self.shape, after.means, after.covariances, b, self.span)

    def with_covariances(self, covariances: np.ndarray, low: np.ndarray) -> "RowSpaceNormals":
        return RowSpaceNormals(self.shape, self.means, covariances, self.b, self.span, low=low)

    def coordinates(self, X: np.ndarray) -> Any:
        return self.span.of(X)

    def log_prior(self, prior: CovariancePrior) -> float:
        b = self.b[:1] if self.shape == "tied" else self.b
        of_others = self.span.n_orthogonal * (np.log(b) + 1 / b) + 2 * self.span.log_unit
        return super().log_prior(prior) - 0.5 * prior.epsilon * float(of_others.sum())

    def other_prior_terms(self, prior: CovariancePrior) -> float:
        b = self.b[:1] if self.shape == "tied" else self.b
        units = 2 * np.abs(np.log(self.span.root)).sum()
        sizes = self.span.n_orthogonal * np.abs(np.log(b)) + units
        return float(prior.epsilon * sizes.sum())

    def divergences(self, other: Any) -> np.ndarray:
        ratio = other.b / self.b - 1
        return super().divergences(other) + self.span.n_orthogonal / 2 * (ratio - np.log1p(ratio))

    def spreads(self, unit: np.ndarray) -> np.ndarray:
        """Eigenvalues in units of ``unit``, with b listed once for all orthogonal directions."""
        unit = np.broadcast_to(unit, self.means.shape)
        return np.sort(np.hstack([super().spreads(unit), (self.b / unit[:, 0])[:, None]]), axis=1)

    def precision_errors(self, given: object, k: int, rooted: bool) -> tuple[float, float]:
        """Distance of C^½ P C^½ from I in random directions; all of it would take p³ operations."""
        P = np.asarray(given, dtype=float)
        P = P if self.shape == "tied" else P[k]
        root, Q, kept = self.span.root, self.span.Q, self.span.kept
        P = P if len(kept) == len(P) else P[np.ix_(kept, kept)]
        lam, V = np.linalg.eigh(self.matrix(k))
        b, H = float(np.sqrt(self.b[k])), np.dot(V * np.sqrt(lam), V.T)
        H -= b * np.eye(len(H))

        def half(A: np.ndarray) -> Any:
            return b * A + np.dot(Q, np.dot(H, np.dot(Q.T, A)))

        probes = np.random.default_rng(0).standard_normal((len(Q), N_PROBES))
        A = root[:, None] * half(probes)
        A = np.dot(P, np.dot(P.T, A) if rooted else A)
        off = np.abs(half(root[:, None] * A) - probes).max()
        least = min(float(lam[0]), float(self.b[k]))
        return float(off), max(float(lam[-1]), float(self.b[k])) / least * len(Q)


def row_space_components(
    data: RowData, shape: str, theta: dict[str, Any], kept: np.ndarray, prior: CovariancePrior
) -> tuple[RowSpaceNormals, CovariancePrior] | None:
    """Components and prior of a model in the row space, or None where all columns are needed."""
    n, p = data.shape[0], len(kept)
    if shape not in ("full", "tied") or data.sparse:
        return None
    if p < MIN_COLUMNS or p < MIN_COLUMNS_PER_ROW * n:
        return None
    if not prior.epsilon or prior.added or prior.kind is not float or not (prior.d > 0).all():
        return None
    X = np.asarray(data.all_rows(), dtype=float)[:, kept]
    if not np.isfinite(X).all():
        return None
    means = np.asarray(theta["means"], dtype=float)[:, kept]
    c, root = X.mean(axis=0), np.sqrt(prior.d)
    Q = np.linalg.qr(np.vstack([X - c, means - c]).T / root[:, None])[0]
    span = RowSpan(kept, c, root, Q)
    C = np.asarray(theta["covariances"], dtype=float)
    parts = [_projected(one, span, n) for one in (C[None] if shape == "tied" else C)]
    if any(part is None for part in parts):
        return None
    B, b, error = (np.array([part[i] for part in parts if part is not None]) for i in range(3))
    nu = np.dot((means - c) / root, Q)
    components = RowSpaceNormals(
        shape, nu, B[0] if shape == "tied" else B, b, span, float(error.max())
    )
    return components, CovariancePrior(prior.epsilon, np.ones(Q.shape[1]))


def _projected(C: np.ndarray, span: RowSpan, n: int) -> tuple[np.ndarray, float, float] | None:
    """Return B, b and the error caused by E of C, in units of √d; None if it is too large."""
    kept, root, Q = span.kept, span.root, span.Q
    C = C if len(kept) == len(C) else C[np.ix_(kept, kept)]
    CQ = np.dot(C, Q / root[:, None]) / root[:, None]
    B = np.dot(Q.T, CQ)
    B = 0.5 * (B + B.T)
    b = float((np.diagonal(C) / root**2).sum() - np.trace(B)) / span.n_orthogonal
    if not np.isfinite(B).all():
        return None
    values, vectors = np.linalg.eigh(B)
    least = min(float(values[0]), b)
    if not least > 0:
        return None
    inner, square = B - b * np.eye(len(B)), 0.0
    for start in range(0, len(Q), STRIPE_ROWS):
        part = slice(start, start + STRIPE_ROWS)
        E = C[part] / (root[part, None] * root) - np.dot(np.dot(Q[part], inner), Q.T)
        E[np.arange(len(E)), np.arange(start, start + len(E))] -= b
        square += float(np.vdot(E, E))
    of_rows = np.dot(CQ - np.dot(Q, B), vectors / np.sqrt(values))
    error = square / least**2 + n * float(np.vdot(of_rows, of_rows)) / b
    return (B, b, error) if error <= MAX_PROJECTION_ERROR_NATS else None
