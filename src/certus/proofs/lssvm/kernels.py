r"""Kernels K(x, z) between rows, and products Kβ over all pairs of them.

    linear      xᵀz                      rbf         exp(−γ‖x − z‖²)
    poly        (γxᵀz + c)^degree        laplacian   exp(−γ Σ_l |x_l − z_l|)
    sigmoid     tanh(γxᵀz + c)           cosine      xᵀz/(‖x‖‖z‖)
    precomputed: X is K itself           a function of two blocks of rows: all their pairs

‖x − z‖² = ‖x‖² + ‖z‖² − 2xᵀz for centred rows has an error of at most 4R²·γ_{p+10}, R the length of
the longest row. Where γ amplifies that too much, differences are summed instead.

No n × n matrix is stored: K is symmetric, and each tile serves Kβ for its rows and for its columns.
Rounding leaves |K̂_ij − K_ij| ≤ κ h_i h_j, and |K_ij| ≤ h_i h_j, so that

    |(K̂β)_i − (Kβ)_i| ≤ (κ + γ_depth) h_i Σ_j h_j |β_j|
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.types import Matrix, PairFunction, RowData

TILE_ROWS = TILE_COLUMNS = 256  # a tile stays in cache, and its sums are short
MAX_PRODUCT_ERROR = 1e-9  # of K, up to which products may replace differences
ELEMENTARY_ROUNDINGS = 8  # error of exp, tanh and powers, in roundings
SYMMETRY_TOLERANCE = 1e-10  # relative to the largest entry
RBF_BY_PRODUCTS = "rbf by products"
SEMIDEFINITE_KERNELS = ("linear", "rbf", RBF_BY_PRODUCTS, "laplacian", "cosine")
MAX_SPECTRUM_ROWS = 2000  # with more, the least eigenvalue is bounded, not computed
EPS = 2.0**-52
WIDE_FLOAT = np.longdouble
KernelName = str | PairFunction  # or a function of all pairs


def rounded(steps: float, unit: float = UNIT) -> float:
    """Return a bound on the relative error of ``steps`` consecutive operations."""
    return steps * unit / (1 - steps * unit)


def gram(
    A: np.ndarray,
    B: np.ndarray,
    kernel: KernelName = "rbf",
    gamma: float = 1.0,
    degree: float = 3,
    coef0: float = 0.0,
) -> np.ndarray:
    """Return K(a, b) for rows a of A (m, p) and b of B (n, p), (m, n)."""
    A, B = np.asarray(A), np.asarray(B)
    if callable(kernel):
        return np.asarray(kernel(A, B), dtype=float)
    if kernel == "precomputed":
        return np.asarray(A, dtype=float)
    A, B, kernel_error = _transformed_rows(A, B, kernel, gamma)
    kernel = RBF_BY_PRODUCTS if kernel_error is not None else kernel
    return _tile(A, B, _squares(A), _squares(B), kernel, gamma, degree, coef0)


def _transformed_rows(
    A: np.ndarray, B: np.ndarray, kernel: str, gamma: float
) -> tuple[Any, Any, float | None]:
    """Return the rows that the kernel is computed from, and the error of K by products.

    For rbf these are centred rows, if products are accurate enough (else the error is None); for
    cosine, rows of length 1.
    """
    A, B = A.astype(float), B.astype(float)
    if kernel == "rbf":
        center = B.mean(axis=0)
        centered = A - center, B - center
        longest = sum(float(np.sqrt(_squares(Z).max(initial=0.0))) for Z in centered)
        kernel_error = 2 * abs(gamma) * longest**2 * rounded(A.shape[1] + 10)  # of e^{−t}
        return (*centered, kernel_error) if kernel_error <= MAX_PRODUCT_ERROR else (A, B, None)
    if kernel == "cosine":
        lengths = [np.sqrt(_squares(Z))[:, None] for Z in (A, B)]
        A, B = (Z / np.where(l > 0, l, 1.0) for Z, l in zip((A, B), lengths, strict=True))
    return A, B, None


def _squares(Z: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", Z, Z)


def _tile(
    A: np.ndarray, B: np.ndarray, a2: np.ndarray, b2: np.ndarray, kernel: str, gamma: float,
    degree: float, coef0: float,
) -> np.ndarray:  # fmt: skip
    if kernel == RBF_BY_PRODUCTS:
        D = np.dot(A, B.T)
        D *= -2.0
        D += a2[:, None]
        D += b2
        np.maximum(D, 0.0, out=D)
        D *= -gamma
        return np.exp(D, out=D)
    if kernel in ("rbf", "laplacian"):
        D = np.zeros((len(A), len(B)))
        for l in range(A.shape[1]):
            difference = A[:, l, None] - B[:, l]
            D += difference * difference if kernel == "rbf" else np.abs(difference)
        return np.exp(-gamma * D)
    K = np.dot(A, B.T)
    if kernel in ("poly", "sigmoid"):
        K *= gamma
        K += coef0
        return K**degree if kernel == "poly" else np.tanh(K)
    return K


class KernelMatrix(NamedTuple):
    """The kernel matrix of the rows of a data set, with bounds on its rounding errors."""

    Z: np.ndarray  # transformed rows; K itself if precomputed or from a function
    z2: np.ndarray
    name: str  # "given" where Z is K
    gamma: float
    degree: float
    coef0: float
    h: np.ndarray
    kappa: float
    eps: float = EPS  # of the floats in which K was given

    @classmethod
    def of(
        cls, X: np.ndarray, kernel: KernelName, gamma: float, degree: float = 3, coef0: float = 0.0
    ) -> "KernelMatrix":
        """Prepare the kernel of the rows X."""
        n, p = X.shape
        if callable(kernel) or kernel == "precomputed":
            K, eps = np.empty((n, n)), EPS
            if not callable(kernel):
                K[:], eps = X, float(np.finfo(X.dtype).eps)
            else:
                X = X.astype(float)
                for i in range(0, n, TILE_ROWS):
                    K[i : i + TILE_ROWS] = kernel(X[i : i + TILE_ROWS], X)
            h = np.sqrt(np.maximum(K.max(axis=1, initial=0.0), -K.min(axis=1, initial=0.0)))
            return cls(K, np.empty(0), "given", gamma, degree, coef0, h, 0.0, eps)
        Z, _, kernel_error = _transformed_rows(X, X, kernel, gamma)
        z2 = _squares(Z)
        one, steps = np.ones(n), p + 6
        if kernel in ("rbf", "laplacian"):
            name = kernel if kernel_error is None else RBF_BY_PRODUCTS
            kappa = rounded(steps) if kernel_error is None else kernel_error  # since e^{−t} t ≤ 1/e
            return cls(
                Z, z2, name, gamma, degree, coef0, one, kappa + rounded(ELEMENTARY_ROUNDINGS)
            )
        h, kappa = np.sqrt(z2), rounded(steps)
        if kernel in ("poly", "sigmoid"):
            t = abs(gamma) * z2 + abs(coef0)  # |γxᵀz + c|² ≤ t_x t_z
            h = np.sqrt(t) ** degree if kernel == "poly" else np.sqrt(1 + t)
            kappa = max(1.0, degree) * rounded(steps) + rounded(ELEMENTARY_ROUNDINGS)
        if kernel == "cosine":
            h, kappa = one, rounded(2 * steps)
        return cls(Z, z2, kernel, gamma, degree, coef0, h, kappa)

    def tile(self, i: slice, j: slice) -> np.ndarray:
        """Return K of rows i and columns j."""
        if self.name == "given":
            return self.Z[i, j]
        parameters = self.name, self.gamma, self.degree, self.coef0
        return _tile(self.Z[i], self.Z[j], self.z2[i], self.z2[j], *parameters)

    def whole(self) -> np.ndarray:
        """Return K (n, n)."""
        n = len(self.h)
        K = np.empty((n, n))
        for i in range(0, n, TILE_ROWS):
            K[i : i + TILE_ROWS] = self.tile(slice(i, i + TILE_ROWS), slice(0, n))
        return K

    def times(self, data: RowData, B: np.ndarray) -> np.ndarray:
        """Return KB, tile by tile; for the linear kernel X(XᵀB) in the widest available floats."""
        if self.name == "linear":
            X = self.Z.astype(WIDE_FLOAT)
            return np.dot(X, np.dot(X.T, B.astype(WIDE_FLOAT))).astype(float)
        rows = np.arange(len(B))
        return data.reduce(
            kernel_products, self, B, beside=(rows,), most=TILE_ROWS, times=max(1, len(B) // 8)
        )[0]

    def products_error(self, B: np.ndarray) -> np.ndarray:
        """Return a bound on |K̂B − KB| for each entry."""
        n = len(B)
        if self.name == "linear":  # without the final rounding to float64
            unit = float(np.finfo(WIDE_FLOAT).eps)
            return np.outer(self.h, rounded(n + len(self.Z.T) + 2, unit) * (self.h @ np.abs(B)))
        steps = (
            TILE_COLUMNS + 2 * (n // TILE_COLUMNS) + 40
        )  # within a tile, over tiles, over blocks
        return np.outer(self.h, (self.kappa + rounded(steps)) * (self.h @ np.abs(B)))

    def asymmetry(self) -> tuple[int, int] | None:
        """Return the pair of rows for which K(x, z) and K(z, x) differ most, or None."""
        if self.name != "given":
            return None
        K, n = self.Z, len(self.Z)
        least, worst = SYMMETRY_TOLERANCE * float(self.h.max(initial=0.0)) ** 2, None
        for i in range(0, n, TILE_ROWS):
            difference = np.abs(K[i : i + TILE_ROWS] - K[:, i : i + TILE_ROWS].T)
            if difference.max(initial=0.0) > least:
                least = float(difference.max())
                row, column = np.unravel_index(np.argmax(difference), difference.shape)
                worst = i + int(row), int(column)
        return worst

    def least_eigenvalue(self) -> tuple[float, bool]:
        """Return a lower bound on the eigenvalues of K, and whether K is positive semidefinite.

        Some kernels are by definition. Others are if K + τI has a Cholesky factor with τ of about
        n·ε times the largest row sum: smaller eigenvalues are indistinguishable from rounding. For
        K given in float32, that precision's ε is used.
        """
        polynomial = self.coef0 >= 0 and float(self.degree).is_integer()
        if self.gamma >= 0 and (
            self.name in SEMIDEFINITE_KERNELS or (self.name == "poly" and polynomial)
        ):
            return 0.0, True
        K = self.whole()
        n, size = len(K), float(np.abs(K).sum(axis=1).max(initial=0.0))
        if not np.isfinite(size):
            return -np.inf, False
        tau = 4 * n * EPS * size
        if _has_cholesky(K, tau):
            return -tau, True
        max_shift = 4 * self.eps * size  # effect of rounding its entries
        if n <= MAX_SPECTRUM_ROWS:
            least = float(np.linalg.eigvalsh(K)[0]) - tau
            return least, least >= -max_shift and self.eps > EPS
        while tau < size and not _has_cholesky(K, tau):
            tau *= 10
        return -min(tau, size), tau <= max_shift and self.eps > EPS


def _has_cholesky(K: np.ndarray, tau: float) -> bool:
    shifted = K.copy()
    shifted.flat[:: len(K) + 1] += tau
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True


def kernel_products(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    rows: np.ndarray,
    kernel: KernelMatrix,
    B: np.ndarray,
) -> tuple[Any]:
    """Return (KB,), the contribution of the tiles of these rows and, transposed, to later rows."""
    n, out = len(B), np.zeros_like(B)
    for first in range(int(rows[0]), int(rows[-1]) + 1, TILE_ROWS):
        i = slice(first, min(first + TILE_ROWS, int(rows[-1]) + 1))
        for start in range(first, n, TILE_COLUMNS):
            j = slice(start, min(start + TILE_COLUMNS, n))
            K = kernel.tile(i, j)
            out[i] += np.dot(K, B[j])
            later = slice(max(i.stop, start), j.stop)
            if later.start < later.stop:
                out[later] += np.dot(K[:, later.start - start :].T, B[i])
    return (out,)


def gamma_of(X: np.ndarray, s: np.ndarray | None = None, gamma: str | float = "scale") -> float:
    """Return γ: "scale" is 1/(p·Var X), Var over all entries, weighted by s; "auto" is 1/p."""
    p = X.shape[1]
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / p
    weight = np.ones(len(X)) if s is None else np.asarray(s)
    center = X[int(np.argmax(weight))].astype(float).mean()
    Z = X.astype(float) - center
    mean = float(weight @ Z.mean(axis=1)) / float(weight.sum())
    Z -= mean
    spread = float(weight @ (Z * Z).mean(axis=1)) / float(weight.sum())
    return 1.0 / (p * spread) if spread > 0 else 1.0
