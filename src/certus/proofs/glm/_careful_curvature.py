r"""The bound of ``curvature`` where columns nearly repeat others and coefficients are large.

In the coordinates θ = Tη + Nc of ``orthogonal_coordinates`` gradient and curvature are

    g = Σ_i ω_i ∇ℓ(z_i) ⊗ Z_i        H = Σ_i ω_i ∇²ℓ(z_i) ⊗ Z_iZ_iᵀ        z = [X, 1]θ

and the bound (a + (1 − a) log(1 − a))/M², ν² = gᵀH⁻¹g, a = νM, holds in them as in any. Scores are
sums of large terms that cancel, and are taken in twice the digits. What is proven is the excess
over all models θ + Tη, which use no more of N than θ does; and the same of θ − Nc, which uses
nothing of it: its scores differ by [X, 1]Nc, which counts as an error of z.

Rows whose probabilities are all but 0 and 1 are left out of H: M is the largest over the other rows
alone. Both losses have ∇²ℓ(z + δ) ⪯ e^{2|δ|} ∇²ℓ(z), so that an error of such a row's score does
next to nothing to g.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.glm._curvature import excess_of
from certus.proofs.glm.duality import EVALUATION
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, gamma
from certus.proofs.linalg.negligible_directions import LeftOutDirection
from certus.proofs.linalg.orthogonal_coordinates import (
    Coordinates,
    ScaledColumns,
    counted_rows,
    orthogonal_coordinates,
    scaled_columns,
)
from certus.proofs.types import Matrix, RowData

CAREFUL_WORK = 2**35  # multiplications of a factorisation of all rows
LEAST_BEND = 1e-10  # trace of ∇²ℓ below which a row does not count for H
CAREFUL_STEP = 0.1  # a = νM up to which a rough M is good enough
UNRESOLVED = (
    "directions along which the curvature cannot be told from rounding: columns nearly repeat "
    "others, or the classes are all but separated"
)
TOO_MUCH_WORK = (
    "columns that nearly repeat others, and too many rows to look at them in more digits"
)


class Careful(NamedTuple):
    """What was found; inf where nothing was."""

    objective: float
    error: float  # of the objective, at most
    excess: float
    decrement: float  # ν²/2
    reach: np.ndarray | None  # |θ_j − θ*_j| at most, (K, P), or None
    left_out: list[LeftOutDirection]
    unproven: str  # why nothing more is known


class CarefulSums(NamedTuple):
    value: float  # Σ ω ℓ
    error: float  # Σ of what the scores' error does to that, at most
    g: np.ndarray  # (K, r)
    g_error: np.ndarray  # (K, r), without that of the sum's own rounding
    g_size: np.ndarray  # (K, r): the same sum of absolute values
    H: np.ndarray  # (K, r, K, r)
    Z_error: np.ndarray  # (K, r): Σ ω ∇²ℓ_kk (Ẑ − Z)²


class RowLoss(Protocol):
    """The loss of rows with its derivatives in z."""

    def weights(self, y: np.ndarray, s: np.ndarray) -> np.ndarray:
        """ω (n,)."""
        ...

    def __call__(
        self, y: np.ndarray, s: np.ndarray, z: np.ndarray, /
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ωℓ (n,), ω∇ℓ (n, K) and ω∇²ℓ (n, K, K)."""
        ...


class Model(NamedTuple):
    """θ of the columns as scaled, and the loss of its scores."""

    theta: np.ndarray  # (P, K)
    columns: ScaledColumns
    loss: RowLoss

    def scores(self, A: np.ndarray) -> tuple[Any, Any]:
        """z of rows as scaled, and |ẑ − z| at most."""
        high, low = accurate_product(A, self.theta)
        z = high + low
        size = np.dot(np.abs(A), np.abs(self.theta))
        return z, UNIT * np.abs(z) + product_error(A.shape[1]) * size

    def weights(self, X: Matrix, y: np.ndarray, s: np.ndarray) -> Any:
        """The trace of ω∇²ℓ, row by row; 0 for rows that do not count for H."""
        _, _, h = self.loss(y[:, 0], s, self.scores(self.columns.of(X))[0])
        return np.einsum("ikk->i", h) * self.bent(y, s, h)

    def bent(self, y: np.ndarray, s: np.ndarray, h: np.ndarray) -> Any:
        """Which rows count for H."""
        return np.einsum("ikk->i", h) >= LEAST_BEND * self.loss.weights(y[:, 0], s)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what overflows proves nothing
def careful_curvature(
    data: RowData,
    w: np.ndarray,
    b: np.ndarray,
    fit_intercept: bool,
    loss: RowLoss,
    kept: np.ndarray,
) -> Careful:
    """The excess of w (p, K), b (K,) in the user's units, without a penalty.

    ``kept``: (K,) of bool, the classes whose scores no invariance of F can fix. O(n·p²) operations
    a pass, up to eight passes.
    """
    P = len(w) + fit_intercept
    nothing = Careful(np.nan, np.inf, np.inf, np.inf, None, [], UNRESOLVED)
    if data.shape[0] * (P * len(b)) ** 2 > CAREFUL_WORK:
        return nothing._replace(unproven=TOO_MUCH_WORK)
    columns = scaled_columns(data, 1.0 if fit_intercept else None)
    theta = np.vstack([w, b]) if fit_intercept else w
    model = Model(theta / columns.q[:, None], columns, loss)
    if not np.isfinite(model.theta).all():
        return nothing
    at = orthogonal_coordinates(data, columns, model.weights)
    return nothing if at is None else _in_coordinates(data, model, at, kept)


def _in_coordinates(data: RowData, model: Model, at: Coordinates, kept: np.ndarray) -> Careful:
    shift = _left_out_scores(model, at)
    sums, most = data.reduce(_careful_sums, model, at, shift, combine=_careful_both, square=True)
    K, r = sums.g.shape
    rounding = gamma(data.depth + r + EVALUATION)
    objective, error = float(sums.value), float(sums.error * 1.001 + rounding * sums.value)
    found = Careful(objective, error, np.inf, np.inf, None, at.left_out, UNRESOLVED)
    H = sums.H[kept][:, :, kept].reshape(kept.sum() * r, -1)
    d = np.sqrt(np.diagonal(H))
    moved = np.expm1(2 * most.z_error)  # H at ẑ is that at z, up to this share
    if not (np.isfinite(H).all() and (d > 0).all() and moved < 0.1):
        return found
    lam, V = np.linalg.eigh(H / d / d[:, None])
    off = float(np.max(np.sqrt(sums.Z_error[kept].ravel()) / d)) * 1.001
    slack = (rounding + 2 * gamma(8 * len(d) + 8) + (2 + off) * off) * len(d)
    if not lam[0] > 4 * slack:
        return found
    A = V / np.sqrt((lam - slack) * (1 - moved)) / d[:, None]
    g = sums.g[kept].ravel()
    g_error = 1.001 * sums.g_error[kept].ravel() + rounding * sums.g_size[kept].ravel()
    g_error = g_error + gamma(2 * len(g) + 8) * np.abs(g)
    nu = float(np.linalg.norm(A.T @ g) + np.linalg.norm(np.abs(A).T @ g_error))
    every = np.zeros((K, r, len(d)))
    every[kept] = A.reshape(kept.sum(), r, len(d))
    # a difference of two classes is at most twice the larger
    M = float(most.row * np.linalg.norm(A, 2)) * (1 if K == 1 else 2)
    if nu * M > CAREFUL_STEP:
        (M,) = data.reduce(_largest_row, model, at, every, combine=_largest_of_both)
        M = float(M) * (1 + gamma(4 * len(d) + 8))
    M += 2 * float(np.linalg.norm(np.abs(every).max(axis=0).T @ most.Z_error))
    excess, step = excess_of(nu, M)
    reach = None
    if not at.N.shape[1]:
        moves = np.einsum("pr,krm->kpm", model.columns.q[:, None] * at.T, every)
        reach = step * np.linalg.norm(moves, axis=2)
    return found._replace(excess=excess, decrement=nu**2 / 2, reach=reach, unproven="")


def _left_out_scores(model: Model, at: Coordinates) -> float:
    """The most by which the part of θ along N changes a score."""
    largest = np.array([one.largest for one in at.left_out])
    if not largest.any():
        return 0.0
    return float((largest @ at.left_out_part(model.theta)).max())


class Largest(NamedTuple):
    """Over the rows that count."""

    z_error: float  # |ẑ − z|
    row: float  # ‖Z_i‖ of rows that count for H
    Z_error: np.ndarray  # |Ẑ_ij − Z_ij|, (r,)


def _careful_sums(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, model: Model, at: Coordinates, shift: float
) -> tuple[CarefulSums, Largest]:
    """Gradient, curvature and score sums of one block of rows."""
    X, y, s = counted_rows(X, y, s)
    A = model.columns.of(X)
    z, z_error = model.scores(A)
    z_error = (z_error + shift).max(axis=1)
    value, slope, h = model.loss(y[:, 0], s, z)
    Z, Z_error = at.of(A)
    # what an error of z does to the slopes, at most, and so to the loss
    bent = np.abs(h).sum(axis=2) * (np.exp(2 * z_error) * z_error)[:, None]
    bent += np.finfo(float).tiny
    size, use = np.abs(slope), model.bent(y, s, h)
    h, U = h[use], Z[use]
    K, r = z.shape[1], Z.shape[1]
    H = np.empty((K, r, K, r))
    for k in range(K):
        for l in range(k, K):
            H[k, :, l, :] = np.dot(U.T, h[:, k, l, None] * U)
            H[l, :, k, :] = H[k, :, l, :].T
    sums = CarefulSums(
        value=value.sum(),
        error=np.dot((size + bent).sum(axis=1), z_error),
        g=np.dot(slope.T, Z),
        g_error=np.dot(size.T, Z_error) + np.dot(bent.T, np.abs(Z) + Z_error),
        g_size=np.dot(size.T, np.abs(Z)),
        H=H,
        Z_error=np.dot(np.einsum("ikk->ki", h), Z_error[use] ** 2),
    )
    most = Largest(
        z_error=z_error.max(initial=0.0),
        row=np.sqrt(np.einsum("ij,ij->i", U, U).max(initial=0.0)),
        Z_error=Z_error[use].max(axis=0, initial=0.0),
    )
    return sums, most


def _careful_both(left: np.ndarray, right: np.ndarray) -> tuple[CarefulSums, Largest]:
    sums = CarefulSums(*(a + b for a, b in zip(left[0], right[0], strict=True)))
    return sums, Largest(*(np.maximum(a, b) for a, b in zip(left[1], right[1], strict=True)))


def _largest_row(
    X: Matrix, y: np.ndarray, s: np.ndarray, model: Model, at: Coordinates, A: np.ndarray
) -> tuple[Any]:
    """The largest ‖(e_k − e_l)⊗Z_i‖ in A (K, r, m) of one block's rows that count for H."""
    X, y, s = counted_rows(X, y, s)
    rows = model.columns.of(X)
    use = model.bent(y, s, model.loss(y[:, 0], s, model.scores(rows)[0])[2])
    Z, most = at.of(rows[use])[0], 0.0
    step = max(16, 2**20 // A[0].size)
    for start in range(0, len(Z), step):
        T = [np.dot(Z[start : start + step], directions) for directions in A]
        pairs = [T[k] - T[l] for k in range(len(T)) for l in range(k)] or T
        most = max(most, *(np.linalg.norm(d, axis=1).max() for d in pairs))
    return (most,)


def _largest_of_both(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (max(left[0], right[0]),)
