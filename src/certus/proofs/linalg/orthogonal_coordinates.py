r"""Coordinates in which columns that nearly repeat others are nearly orthonormal.

    θ = Tη + Nc        Z = [X, 1]T with nearly orthonormal columns (weighted by the rows' curvature)

The columns of T are computed by QR factorisations: Z = [X, 1]T, √h∘Z = QR, R = UΣVᵀ, T ← TVΣ⁻¹,
repeated, since the first factor has only a few digits of small singular values. Products that
cancel are computed in twice the working precision (``accurate_products``), so that the new Z is
accurate however much of [X, 1] cancels in it. A column t of T with ‖[X, 1]t‖ ≤ 4·eps·‖|[X, 1]||t|‖
is negligible (``negligible_directions``): it moves to N, if it is negligible in the form in which
several may be left out together. Each direction in N has a column of its own, its pivot, which T
does not use: models θ + Tη are those with the pivots' coefficients fixed. (Any other complement of
N would fix a mixture of coefficients, and its optimum would differ by the effect Xd of that.)

A proof may use any T and N, as long as the error of Z is bounded and [T, N] spans all directions.
Both are checked; the proof relies on nothing else in this file.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import (
    NEGLIGIBLE_ROUNDINGS,
    LeftOutDirection,
    split_span,
)
from certus.proofs.types import Matrix, RowData, RowWeights

MAX_ROUNDS = 8
MAX_CONDITION = 30.0  # of Z, at which it is orthonormal enough
MIN_SINGULAR_SHARE = 2.0**-60  # of the largest singular value: smaller ones are rounding
MAX_PLAIN_ERROR = 1e-9  # of a column of Z, up to which ordinary products are used
MIN_SPANNING_SINGULAR = 1e-4  # of [T, N] with columns of length 1


class ScaledColumns(NamedTuple):
    """[X, c]∘q: X with the constant column, scaled by powers of two to entries near 1."""

    q: np.ndarray  # (P,)
    constant: float | None

    def of(self, X: Matrix) -> np.ndarray:
        X = dense(X).astype(float, copy=False)
        if self.constant is not None:
            X = np.hstack([X, np.full((len(X), 1), self.constant)])
        return X * self.q


class OrthogonalCoordinates(NamedTuple):
    """T and N, for the scaled columns."""

    T: np.ndarray  # (P, r)
    N: np.ndarray  # (P, k)
    exact: np.ndarray  # (r,) of bool: columns of Z that need twice the working precision
    left_out: list[LeftOutDirection]  # N, in the user's units
    size: np.ndarray  # (P,): norms of the columns over the weighted rows

    def spanning(self) -> Any:
        """[T, N] with rows scaled by the columns' norms, and columns of length 1."""
        scaled_basis = self.size[:, None] * np.hstack([self.T, self.N])
        return scaled_basis / np.linalg.norm(scaled_basis, axis=0)

    def left_out_part(self, theta: np.ndarray) -> Any:
        """|c| for which θ − Nc, of the scaled θ (P, K), is shortest in units of the columns' norms:
        a model that does not use N. A proof about θ − Nc may use any c."""
        N = self.size[:, None] * self.N
        length = np.linalg.norm(N, axis=0)
        c = np.linalg.lstsq(N / length, self.size[:, None] * theta, rcond=None)[0]
        return np.abs(c) / length[:, None]

    def of(self, A: np.ndarray) -> tuple[Any, Any]:
        """Z of scaled rows A (n, P), and a bound of |Ẑ − Z|."""
        p = A.shape[1]
        Z, size = np.dot(A, self.T), np.dot(np.abs(A), np.abs(self.T))
        error = gamma(p + 2) * size
        if self.exact.any():
            high, low = accurate_product(A, self.T[:, self.exact])
            Z[:, self.exact] = high + low
            small = product_error(p) * size[:, self.exact]
            error[:, self.exact] = UNIT * np.abs(Z[:, self.exact]) + small
        return Z, error


def scaled_columns(data: RowData, constant: float | None) -> ScaledColumns:
    """Powers of two that bring the largest entry of each column near 1."""
    (peak,) = data.reduce(_largest_entries, combine=_maximum)
    if constant is not None:
        peak = np.append(peak, abs(constant))
    exponent = np.frexp(peak)[1]
    return ScaledColumns(np.exp2(np.clip(np.where(peak > 0, -exponent, 0), -1000, 1000)), constant)


def orthogonal_coordinates(
    data: RowData, columns: ScaledColumns, weigh: RowWeights
) -> OrthogonalCoordinates | None:
    """Compute the coordinates; None if a direction is neither negligible nor resolved.

    ``weigh(X, y, s)`` returns the weights (n,) of a block's rows in the factorisation.
    """
    P = len(columns.q)
    empty = np.zeros((P, 0))
    coordinates = OrthogonalCoordinates(np.eye(P), empty, np.zeros(P, dtype=bool), [], np.zeros(P))
    for _ in range(MAX_ROUNDS):
        R, norm, size = data.reduce(
            _factor_of_block, columns, coordinates, weigh, combine=_combine_factors, square=True
        )
        if not (np.isfinite(R).all() and np.isfinite(size).all()):
            return None
        if not coordinates.size.any():
            size_of = np.linalg.norm(R, axis=0)
            coordinates = coordinates._replace(size=np.where(size_of > 0, size_of, 1.0))
        negligible = norm * (1 + 1e-9) <= NEGLIGIBLE_ROUNDINGS * data.eps * size
        if negligible.any():
            coordinates = _with_left_out(data, columns, coordinates, negligible)
            if coordinates.T.shape[1] == 0:
                return None
            continue  # T has changed
        T, N = coordinates.T, coordinates.N
        length = np.linalg.norm(R, axis=0)
        length[length == 0] = 1.0
        _, sigma, Vt = np.linalg.svd(R / length, full_matrices=True)
        sigma = np.append(sigma, np.zeros(len(Vt) - len(sigma)))
        if sigma[0] <= MAX_CONDITION * sigma[-1]:
            return _checked_span(coordinates)
        T = (T / length) @ Vt.T / np.maximum(sigma, MIN_SINGULAR_SHARE * sigma[0])
        # error of ordinary products, relative to columns of norm 1
        exact = gamma(P + 2) * (coordinates.size @ np.abs(T)) > MAX_PLAIN_ERROR
        coordinates = coordinates._replace(T=T, N=N, exact=exact)
    return None


def _with_left_out(
    data: RowData, columns: ScaledColumns, at: OrthogonalCoordinates, negligible: np.ndarray
) -> OrthogonalCoordinates:
    """Move ``negligible`` columns of T to N, if they are negligible together with those in N."""
    q, T = columns.q[:, None], at.T[:, ~negligible]
    candidates = np.hstack([at.N, at.T[:, negligible]])
    candidates = candidates / np.linalg.norm(candidates, axis=0)
    left_out, others = split_span(data, q * candidates, 1 / columns.q, columns.constant)
    N = np.column_stack([direction.d for direction in left_out]) / q if left_out else at.N[:, :0]
    T = np.hstack([T, others / q])
    if left_out:
        T = _without_pivots(T, N, [direction.pivot for direction in left_out])
    # the subtraction may cancel
    return at._replace(T=T, N=N, exact=np.ones(T.shape[1], dtype=bool), left_out=left_out)


def _without_pivots(T: np.ndarray, N: np.ndarray, pivots: list[int]) -> Any:
    """Eliminate the rows ``pivots`` of T by multiples of N, which is diagonal in these rows."""
    T = T - N @ (T[pivots] / np.diagonal(N[pivots])[:, None])
    T[pivots] = 0.0
    return T


def _checked_span(coordinates: OrthogonalCoordinates) -> OrthogonalCoordinates | None:
    """Return the coordinates, or None if T and N do not span all directions."""
    scaled_basis = coordinates.spanning()
    smallest = (
        np.linalg.svd(scaled_basis, compute_uv=False)[-1]
        if scaled_basis.shape[0] == scaled_basis.shape[1]
        else 0.0
    )
    return coordinates if smallest > MIN_SPANNING_SINGULAR else None


def counted_rows(
    X: Matrix, y: np.ndarray, s: np.ndarray | None
) -> tuple[Matrix, np.ndarray, np.ndarray]:
    """Rows of positive weight, with their weights."""
    if s is None:
        return X, y, np.ones(len(y))
    return X[s > 0], y[s > 0], s[s > 0]


def _factor_of_block(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    columns: ScaledColumns,
    at: OrthogonalCoordinates,
    weigh: RowWeights,
) -> tuple[Any, Any, Any]:
    """R of √h∘Z, and ‖z_j‖ and ‖|X||t_j|‖ of each column."""
    X, y, s = counted_rows(X, y, s)
    A = columns.of(X)
    Z, _ = at.of(A)
    size = np.linalg.norm(np.dot(np.abs(A), np.abs(at.T)), axis=0)
    R = np.linalg.qr(np.sqrt(weigh(X, y, s))[:, None] * Z, mode="r")
    return R, np.linalg.norm(Z, axis=0), size


def _combine_factors(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    R = np.linalg.qr(np.vstack([left[0], right[0]]), mode="r")
    return R, np.hypot(left[1], right[1]), np.hypot(left[2], right[2])


def _largest_entries(X: Matrix, y: np.ndarray, s: np.ndarray | None) -> tuple[Any]:
    X, _, _ = counted_rows(X, y, s)
    return (np.abs(dense(X).astype(float, copy=False)).max(axis=0, initial=0.0),)


def _maximum(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.maximum(left[0], right[0]),)
