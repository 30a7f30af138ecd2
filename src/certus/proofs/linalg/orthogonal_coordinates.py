r"""Coordinates in which columns that nearly repeat others are as plain to see as any.

    θ = Tη + Nc        Z = [X, 1]T of about orthonormal columns (weighted by the curvature of rows)

The columns of T are found by QR factorisations: Z = [X, 1]T, √h∘Z = QR, R = UΣVᵀ, T ← TVΣ⁻¹, and
again, since the first factor shows small singular values to a few digits only. Products that cancel
are taken in twice the digits (``accurate_products``), so that the new Z is known however much of
[X, 1] cancels in it. A column t of T with ‖[X, 1]t‖ ≤ 4·eps·‖|[X, 1]||t|‖ is negligible
(``negligible_directions``): it moves to N, if it is so in the form in which several may be left out
together. Each direction in N has a column of its own, its pivot, and T does not use these: models
θ + Tη are those with the pivots' coefficients held. (Any other complement of N would hold some
mixture of coefficients, and its optimum differs by what Xd makes of that.)

Any T and N will do for a proof, as long as Z is known and [T, N] spans all directions; that is
checked, and nothing else of this file has to be believed.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import NEGLIGIBLE_ROUNDINGS, LeftOut, split_span
from certus.proofs.types import Matrix, RowData, RowWeights

MAX_ROUNDS = 8
ROUND_CONDITION = 30.0  # of Z, which is then orthonormal enough
LEAST_SINGULAR = 2.0**-60  # of the largest singular value: below is nothing but rounding
PLAIN_ERROR = 1e-9  # of a column of Z: where ordinary products are as exact, they are taken
SPANNING = 1e-4  # least singular value of [T, N] with columns of length 1


class ScaledColumns(NamedTuple):
    """[X, c]∘q: rows that count, with the constant column, in powers of two near 1."""

    q: np.ndarray  # (P,)
    constant: float | None

    def of(self, X: Matrix) -> np.ndarray:
        X = dense(X).astype(float, copy=False)
        if self.constant is not None:
            X = np.hstack([X, np.full((len(X), 1), self.constant)])
        return X * self.q


class Coordinates(NamedTuple):
    T: np.ndarray  # (P, r), of the columns as scaled
    N: np.ndarray  # (P, k)
    exact: np.ndarray  # (r,) of bool: columns of Z that ask for twice the digits
    left_out: list[LeftOut]  # N, in the user's units
    size: np.ndarray  # (P,): norms of the columns, as the rows are weighted

    def spanning(self) -> Any:
        """[T, N] with rows in proportion to the columns' norms and columns of length 1."""
        every = self.size[:, None] * np.hstack([self.T, self.N])
        return every / np.linalg.norm(every, axis=0)

    def left_out_part(self, theta: np.ndarray) -> Any:
        """|c| for which θ − Nc, of θ (P, K) as scaled, is shortest beside the columns' norms: that
        model uses nothing of N. Any c will do for a proof about θ − Nc."""
        N = self.size[:, None] * self.N
        length = np.linalg.norm(N, axis=0)
        c = np.linalg.lstsq(N / length, self.size[:, None] * theta, rcond=None)[0]
        return np.abs(c) / length[:, None]

    def of(self, A: np.ndarray) -> tuple[Any, Any]:
        """Z of rows A (n, P) as scaled, and |Ẑ − Z| at most."""
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
    (peak,) = data.reduce(_largest_entries, combine=_larger_of_both)
    if constant is not None:
        peak = np.append(peak, abs(constant))
    exponent = np.frexp(peak)[1]
    return ScaledColumns(np.exp2(np.clip(np.where(peak > 0, -exponent, 0), -1000, 1000)), constant)


def orthogonal_coordinates(
    data: RowData, columns: ScaledColumns, weigh: RowWeights
) -> Coordinates | None:
    """None where a direction is neither negligible nor seen clearly enough.

    ``weigh(X, y, s)``: the weights of a block's rows in the factorisation, (n,).
    """
    P = len(columns.q)
    nothing = np.zeros((P, 0))
    found = Coordinates(np.eye(P), nothing, np.zeros(P, dtype=bool), [], np.zeros(P))
    for _ in range(MAX_ROUNDS):
        R, norm, size = data.reduce(
            _factor_of_block, columns, found, weigh, combine=_factor_of_both, square=True
        )
        if not (np.isfinite(R).all() and np.isfinite(size).all()):
            return None
        if not found.size.any():
            size_of = np.linalg.norm(R, axis=0)
            found = found._replace(size=np.where(size_of > 0, size_of, 1.0))
        gone = norm * (1 + 1e-9) <= NEGLIGIBLE_ROUNDINGS * data.eps * size
        if gone.any():
            found = _with_left_out(data, columns, found, gone)
            if found.T.shape[1] == 0:
                return None
            continue  # T without the pivots is another one
        T, N = found.T, found.N
        length = np.linalg.norm(R, axis=0)
        length[length == 0] = 1.0
        _, sigma, Vt = np.linalg.svd(R / length, full_matrices=True)
        sigma = np.append(sigma, np.zeros(len(Vt) - len(sigma)))
        if sigma[0] <= ROUND_CONDITION * sigma[-1]:
            return _if_spanning(found)
        T = (T / length) @ Vt.T / np.maximum(sigma, LEAST_SINGULAR * sigma[0])
        # what ordinary products lose, beside columns of norm 1
        exact = gamma(P + 2) * (found.size @ np.abs(T)) > PLAIN_ERROR
        found = found._replace(T=T, N=N, exact=exact)
    return None


def _with_left_out(
    data: RowData, columns: ScaledColumns, at: Coordinates, gone: np.ndarray
) -> Coordinates:
    """The columns ``gone`` of T in N, as far as they are negligible together with those there."""
    q, T = columns.q[:, None], at.T[:, ~gone]
    candidates = np.hstack([at.N, at.T[:, gone]])
    candidates = candidates / np.linalg.norm(candidates, axis=0)
    left_out, rest = split_span(data, q * candidates, 1 / columns.q, columns.constant)
    N = np.column_stack([one.d for one in left_out]) / q if left_out else at.N[:, :0]
    T = np.hstack([T, rest / q])
    if left_out:
        T = _without_pivots(T, N, [one.pivot for one in left_out])
    # what is left after such a subtraction may be a small part of what was there
    return at._replace(T=T, N=N, exact=np.ones(T.shape[1], dtype=bool), left_out=left_out)


def _without_pivots(T: np.ndarray, N: np.ndarray, pivots: list[int]) -> Any:
    """T less what of N takes its rows ``pivots`` to 0; N is diagonal in these rows."""
    T = T - N @ (T[pivots] / np.diagonal(N[pivots])[:, None])
    T[pivots] = 0.0
    return T


def _if_spanning(found: Coordinates) -> Coordinates | None:
    """None where T and N do not span all directions."""
    every = found.spanning()
    least = np.linalg.svd(every, compute_uv=False)[-1] if every.shape[0] == every.shape[1] else 0.0
    return found if least > SPANNING else None


def counted_rows(
    X: Matrix, y: np.ndarray, s: np.ndarray | None
) -> tuple[Matrix, np.ndarray, np.ndarray]:
    """Rows of weight above 0, with their weights."""
    if s is None:
        return X, y, np.ones(len(y))
    return X[s > 0], y[s > 0], s[s > 0]


def _factor_of_block(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    columns: ScaledColumns,
    at: Coordinates,
    weigh: RowWeights,
) -> tuple[Any, Any, Any]:
    """R of √h∘Z, and ‖z_j‖ and ‖|X||t_j|‖ of each column."""
    X, y, s = counted_rows(X, y, s)
    A = columns.of(X)
    Z, _ = at.of(A)
    size = np.linalg.norm(np.dot(np.abs(A), np.abs(at.T)), axis=0)
    R = np.linalg.qr(np.sqrt(weigh(X, y, s))[:, None] * Z, mode="r")
    return R, np.linalg.norm(Z, axis=0), size


def _factor_of_both(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    R = np.linalg.qr(np.vstack([left[0], right[0]]), mode="r")
    return R, np.hypot(left[1], right[1]), np.hypot(left[2], right[2])


def _largest_entries(X: Matrix, y: np.ndarray, s: np.ndarray | None) -> tuple[Any]:
    X, _, _ = counted_rows(X, y, s)
    return (np.abs(dense(X).astype(float, copy=False)).max(axis=0, initial=0.0),)


def _larger_of_both(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.maximum(left[0], right[0]),)
