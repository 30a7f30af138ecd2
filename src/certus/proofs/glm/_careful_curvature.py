r"""The bound of ``_curvature`` where columns nearly repeat others and coefficients are large.

In the coordinates θ = Tη + Nc of ``orthogonal_coordinates`` gradient and curvature are

    g = Σ_i ω_i ∇ℓ(z_i) ⊗ Z_i        H = Σ_i ω_i ∇²ℓ(z_i) ⊗ Z_iZ_iᵀ        z = [X, 1]θ

and the bound (a + (1 − a) log(1 − a))/M², ν² = gᵀH⁻¹g, a = νM, holds in them as in any coordinates.
Scores are sums of large terms that cancel, and are computed in twice the precision. The excess is
proven over all models θ + Tη, which have the same part along N as θ; and likewise for θ − Nc, which
has none: its scores differ by [X, 1]Nc, which counts as an error of z.

Rows whose probabilities are nearly 0 or 1 are left out of H: M is the largest over the other rows
only. Both losses have ∇²ℓ(z + δ) ⪯ e^{2|δ|} ∇²ℓ(z), so that an error of such a row's score hardly
changes g.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.glm._curvature import excess_bound, of_loss
from certus.proofs.glm.duality import EVALUATION_ROUNDINGS
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, gamma
from certus.proofs.linalg.negligible_directions import LeftOutDirection
from certus.proofs.linalg.orthogonal_coordinates import (
    OrthogonalCoordinates,
    ScaledColumns,
    counted_rows,
    orthogonal_coordinates,
    scaled_columns,
)
from certus.proofs.types import Matrix, RowData

MAX_CAREFUL_WORK = 2**35  # multiplications of a factorisation of all rows
MIN_ROW_CURVATURE = 1e-10  # trace of ∇²ℓ relative to ω, below which a row is left out of H
MAX_ROUGH_STEP = 0.1  # a = νM up to which a rough M is good enough
UNRESOLVED_MESSAGE = (
    "directions whose curvature cannot be distinguished from rounding: columns nearly repeat "
    "others, or the classes are nearly separated"
)
TOO_MUCH_WORK_MESSAGE = (
    "columns that nearly repeat others, and too many rows to check them in higher precision"
)


class CarefulCurvature(NamedTuple):
    """Bound of the excess in higher precision; infinite where there is none."""

    objective: float
    error: float  # upper bound of the objective's rounding
    excess: float
    decrement: float  # ν²/2
    reach: np.ndarray | None  # upper bound of |θ_j − θ*_j|, (K, P), or None
    left_out: list[LeftOutDirection]
    unproven: str  # why there is no bound


class CarefulSums(NamedTuple):
    """Losses, gradient and curvature summed over rows, with their errors."""

    value: float  # Σ ω ℓ
    error: float  # upper bound of its error due to the scores' errors
    g: np.ndarray  # (K, r)
    g_error: np.ndarray  # (K, r), without the rounding of the sum itself
    g_size: np.ndarray  # (K, r): the sum of absolute values
    H: np.ndarray  # (K, r, K, r)
    Z_error: np.ndarray  # (K, r): Σ ω ∇²ℓ_kk (Ẑ − Z)²


class RowLoss(Protocol):
    """The loss of rows with its derivatives in z."""

    def weights(self, y: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return ω (n,)."""
        ...

    def __call__(
        self, y: np.ndarray, s: np.ndarray, z: np.ndarray, /
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ωℓ (n,), ω∇ℓ (n, K) and ω∇²ℓ (n, K, K)."""
        ...


class Model(NamedTuple):
    """θ for the scaled columns, and the loss of its scores."""

    theta: np.ndarray  # (P, K)
    columns: ScaledColumns
    loss: RowLoss

    def scores(self, A: np.ndarray) -> tuple[Any, Any]:
        """Return z of scaled rows, and a bound of |ẑ − z|."""
        high, low = accurate_product(A, self.theta)
        z = high + low
        size = np.dot(np.abs(A), np.abs(self.theta))
        return z, UNIT * np.abs(z) + product_error(A.shape[1]) * size

    def weights(self, X: Matrix, y: np.ndarray, s: np.ndarray) -> Any:
        """Return the trace of ω∇²ℓ of each row; 0 for rows left out of H."""
        _, _, h = self.loss(of_loss(y), s, self.scores(self.columns.of(X))[0])
        return np.einsum("ikk->i", h) * self.counts(y, s, h)

    def counts(self, y: np.ndarray, s: np.ndarray, h: np.ndarray) -> Any:
        """Return which rows are included in H."""
        return np.einsum("ikk->i", h) >= MIN_ROW_CURVATURE * self.loss.weights(of_loss(y), s)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # an overflow gives no bound
def careful_curvature(
    data: RowData,
    w: np.ndarray,
    b: np.ndarray,
    fit_intercept: bool,
    loss: RowLoss,
    kept: np.ndarray,
) -> CarefulCurvature:
    """Return the excess of w (p, K), b (K,) in the user's units, without a penalty.

    ``kept``: (K,) of bool, the classes whose scores are not fixed by an invariance of F. O(n·p²)
    operations a pass, up to eight passes.
    """
    P = len(w) + fit_intercept
    no_bound = CarefulCurvature(np.nan, np.inf, np.inf, np.inf, None, [], UNRESOLVED_MESSAGE)
    if data.shape[0] * (P * len(b)) ** 2 > MAX_CAREFUL_WORK:
        return no_bound._replace(unproven=TOO_MUCH_WORK_MESSAGE)
    columns = scaled_columns(data, 1.0 if fit_intercept else None)
    theta = np.vstack([w, b]) if fit_intercept else w
    model = Model(theta / columns.q[:, None], columns, loss)
    if not np.isfinite(model.theta).all():
        return no_bound
    at = orthogonal_coordinates(data, columns, model.weights)
    return no_bound if at is None else _in_coordinates(data, model, at, kept)


def _in_coordinates(
    data: RowData, model: Model, at: OrthogonalCoordinates, kept: np.ndarray
) -> CarefulCurvature:
    shift = _left_out_scores(model, at)
    sums, maxima = data.reduce(
        _careful_sums, model, at, shift, combine=_combine_careful, square=True
    )
    K, r = sums.g.shape
    rounding = gamma(data.depth + r + EVALUATION_ROUNDINGS)
    objective, error = float(sums.value), float(sums.error * 1.001 + rounding * sums.value)
    result = CarefulCurvature(
        objective, error, np.inf, np.inf, None, at.left_out, UNRESOLVED_MESSAGE
    )
    H = sums.H[kept][:, :, kept].reshape(kept.sum() * r, -1)
    d = np.sqrt(np.diagonal(H))
    hessian_change = np.expm1(2 * maxima.z_error)  # relative, of H at ẑ and z
    if not (np.isfinite(H).all() and (d > 0).all() and hessian_change < 0.1):
        return result
    lam, V = np.linalg.eigh(H / d / d[:, None])
    relative_error = float(np.max(np.sqrt(sums.Z_error[kept].ravel()) / d)) * 1.001
    slack = (rounding + 2 * gamma(8 * len(d) + 8) + (2 + relative_error) * relative_error) * len(d)
    if not lam[0] > 4 * slack:
        return result
    A = V / np.sqrt((lam - slack) * (1 - hessian_change)) / d[:, None]
    g = sums.g[kept].ravel()
    g_error = 1.001 * sums.g_error[kept].ravel() + rounding * sums.g_size[kept].ravel()
    g_error = g_error + gamma(2 * len(g) + 8) * np.abs(g)
    nu = float(np.linalg.norm(A.T @ g) + np.linalg.norm(np.abs(A).T @ g_error))
    all_classes = np.zeros((K, r, len(d)))
    all_classes[kept] = A.reshape(kept.sum(), r, len(d))
    # a difference of two classes is at most twice the larger
    M = float(maxima.row * np.linalg.norm(A, 2)) * (1 if K == 1 else 2)
    if nu * M > MAX_ROUGH_STEP:
        (M,) = data.reduce(_largest_row, model, at, all_classes, combine=_largest_of_both)
        M = float(M) * (1 + gamma(4 * len(d) + 8))
    M += 2 * float(np.linalg.norm(np.abs(all_classes).max(axis=0).T @ maxima.Z_error))
    excess, step = excess_bound(nu, M)
    reach = None
    if not at.N.shape[1]:
        moves = np.einsum("pr,krm->kpm", model.columns.q[:, None] * at.T, all_classes)
        reach = step * np.linalg.norm(moves, axis=2)
    return result._replace(excess=excess, decrement=nu**2 / 2, reach=reach, unproven="")


def _left_out_scores(model: Model, at: OrthogonalCoordinates) -> float:
    """Return a bound of the change of a score by the part of θ along N."""
    largest = np.array([one.largest for one in at.left_out])
    if not largest.any():
        return 0.0
    return float((largest @ at.left_out_part(model.theta)).max())


class RowMaxima(NamedTuple):
    """Maxima over the weighted rows."""

    z_error: float  # |ẑ − z|
    row: float  # ‖Z_i‖ of rows included in H
    Z_error: np.ndarray  # |Ẑ_ij − Z_ij|, (r,)


def _careful_sums(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    model: Model,
    at: OrthogonalCoordinates,
    shift: float,
) -> tuple[CarefulSums, RowMaxima]:
    """Gradient, curvature and score sums of one block of rows."""
    X, y, s = counted_rows(X, y, s)
    A = model.columns.of(X)
    z, z_error = model.scores(A)
    z_error = (z_error + shift).max(axis=1)
    value, slope, h = model.loss(of_loss(y), s, z)
    Z, Z_error = at.of(A)
    # bound of the effect of an error of z on the slopes, and so on the loss
    counts = np.abs(h).sum(axis=2) * (np.exp(2 * z_error) * z_error)[:, None]
    counts += np.finfo(float).tiny
    size, used = np.abs(slope), model.counts(y, s, h)
    h, U = h[used], Z[used]
    K, r = z.shape[1], Z.shape[1]
    H = np.empty((K, r, K, r))
    for k in range(K):
        for l in range(k, K):
            H[k, :, l, :] = np.dot(U.T, h[:, k, l, None] * U)
            H[l, :, k, :] = H[k, :, l, :].T
    sums = CarefulSums(
        value=value.sum(),
        error=np.dot((size + counts).sum(axis=1), z_error),
        g=np.dot(slope.T, Z),
        g_error=np.dot(size.T, Z_error) + np.dot(counts.T, np.abs(Z) + Z_error),
        g_size=np.dot(size.T, np.abs(Z)),
        H=H,
        Z_error=np.dot(np.einsum("ikk->ki", h), Z_error[used] ** 2),
    )
    maxima = RowMaxima(
        z_error=z_error.max(initial=0.0),
        row=np.sqrt(np.einsum("ij,ij->i", U, U).max(initial=0.0)),
        Z_error=Z_error[used].max(axis=0, initial=0.0),
    )
    return sums, maxima


def _combine_careful(left: np.ndarray, right: np.ndarray) -> tuple[CarefulSums, RowMaxima]:
    sums = CarefulSums(*(a + b for a, b in zip(left[0], right[0], strict=True)))
    return sums, RowMaxima(*(np.maximum(a, b) for a, b in zip(left[1], right[1], strict=True)))


def _largest_row(
    X: Matrix, y: np.ndarray, s: np.ndarray, model: Model, at: OrthogonalCoordinates, A: np.ndarray
) -> tuple[Any]:
    """Return the largest ‖(e_k − e_l)⊗Z_i‖ in A (K, r, m) of one block's rows included in H."""
    X, y, s = counted_rows(X, y, s)
    rows = model.columns.of(X)
    used = model.counts(y, s, model.loss(of_loss(y), s, model.scores(rows)[0])[2])
    Z, maxima = at.of(rows[used])[0], 0.0
    step = max(16, 2**20 // A[0].size)
    for start in range(0, len(Z), step):
        T = [np.dot(Z[start : start + step], directions) for directions in A]
        pairs = [T[k] - T[l] for k in range(len(T)) for l in range(k)] or T
        maxima = max(maxima, *(np.linalg.norm(d, axis=1).max() for d in pairs))
    return (maxima,)


def _largest_of_both(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (max(left[0], right[0]),)
