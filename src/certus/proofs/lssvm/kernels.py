r"""Kernels K(x, z) between rows, and products Kβ over all pairs of them.

    linear      xᵀz                      rbf         exp(−γ‖x − z‖²)
    poly        (γxᵀz + c)^degree        laplacian   exp(−γ Σ_l |x_l − z_l|)
    sigmoid     tanh(γxᵀz + c)           cosine      xᵀz/(‖x‖‖z‖)
    precomputed: X is K itself           a function of two blocks of rows: their kernels

‖x − z‖² = ‖x‖² + ‖z‖² − 2xᵀz for rows about their mean, which rounds by 4R²·γ_{p+10} at most, R
the length of the longest row. Where γ makes too much of that, differences are added up instead.

No n×n table exists: K is symmetric, and each tile of it serves Kβ for its rows and for its columns.
Rounding leaves |K̂_ij − K_ij| ≤ κ h_i h_j, and |K_ij| ≤ h_i h_j, so that

    |(K̂β)_i − (Kβ)_i| ≤ (κ + γ_depth) h_i Σ_j h_j |β_j|
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.types import Matrix, PairFunction, RowData

ROWS = COLUMNS = 256  # of a tile: it stays near the core, and few numbers are added in a row
BLUR = 1e-9  # of K, up to which products may stand for differences
ELEMENTARY = 8  # roundings of exp, tanh and powers
SYMMETRIC = 1e-10  # of the largest entry
PRODUCTS = "rbf by products"
PSD = ("linear", "rbf", PRODUCTS, "laplacian", "cosine")
EXACT_SPECTRUM = 2000  # rows up to which the least eigenvalue is computed
EPS = 2.0**-52
WIDE_FLOAT = np.longdouble
KernelName = str | PairFunction  # or a function of all pairs


def rounded(steps: float, unit: float = UNIT) -> float:
    """The relative error of so many operations in a row, at most."""
    return steps * unit / (1 - steps * unit)


def gram(
    A: np.ndarray,
    B: np.ndarray,
    kernel: KernelName = "rbf",
    gamma: float = 1.0,
    degree: float = 3,
    coef0: float = 0.0,
) -> np.ndarray:
    """K(a, b) for rows a of A (m, p) and b of B (n, p): (m, n)."""
    A, B = np.asarray(A), np.asarray(B)
    if callable(kernel):
        return np.asarray(kernel(A, B), dtype=float)
    if kernel == "precomputed":
        return np.asarray(A, dtype=float)
    A, B, blur = _seen(A, B, kernel, gamma)
    kernel = PRODUCTS if blur is not None else kernel
    return _tile(A, B, _squares(A), _squares(B), kernel, gamma, degree, coef0)


def _seen(A: np.ndarray, B: np.ndarray, kernel: str, gamma: float) -> tuple[Any, Any, float | None]:
    """Rows as the kernel sees them: about a mean for the products of rbf, with what these can do
    to K, if that is little; of length 1 where only angles count."""
    A, B = A.astype(float), B.astype(float)
    if kernel == "rbf":
        centre = B.mean(axis=0)
        about = A - centre, B - centre
        longest = sum(float(np.sqrt(_squares(Z).max(initial=0.0))) for Z in about)
        blur = 2 * abs(gamma) * longest**2 * rounded(A.shape[1] + 10)  # e^{−t}, t wrong by half
        return (*about, blur) if blur <= BLUR else (A, B, None)
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
    if kernel == PRODUCTS:
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


class Kernel(NamedTuple):
    """Of the rows of one data set, with what rounding can do to it."""

    Z: np.ndarray  # rows as the kernel sees them; K itself where it is given or a function's
    z2: np.ndarray
    name: str  # "given" where Z is K
    gamma: float
    degree: float
    coef0: float
    h: np.ndarray
    kappa: float
    eps: float = EPS  # to which K was given

    @classmethod
    def of(
        cls, X: np.ndarray, kernel: KernelName, gamma: float, degree: float = 3, coef0: float = 0.0
    ) -> "Kernel":
        n, p = X.shape
        if callable(kernel) or kernel == "precomputed":
            K, eps = np.empty((n, n)), EPS
            if not callable(kernel):
                K[:], eps = X, float(np.finfo(X.dtype).eps)
            else:
                X = X.astype(float)
                for i in range(0, n, ROWS):
                    K[i : i + ROWS] = kernel(X[i : i + ROWS], X)
            h = np.sqrt(np.maximum(K.max(axis=1, initial=0.0), -K.min(axis=1, initial=0.0)))
            return cls(K, np.empty(0), "given", gamma, degree, coef0, h, 0.0, eps)
        Z, _, blur = _seen(X, X, kernel, gamma)
        z2 = _squares(Z)
        one, steps = np.ones(n), p + 6
        if kernel in ("rbf", "laplacian"):
            name = kernel if blur is None else PRODUCTS
            kappa = rounded(steps) if blur is None else blur  # e^{−t} t is never above 1/e
            return cls(Z, z2, name, gamma, degree, coef0, one, kappa + rounded(ELEMENTARY))
        h, kappa = np.sqrt(z2), rounded(steps)
        if kernel in ("poly", "sigmoid"):
            t = abs(gamma) * z2 + abs(coef0)  # |γxᵀz + c|² ≤ t_x t_z
            h = np.sqrt(t) ** degree if kernel == "poly" else np.sqrt(1 + t)
            kappa = max(1.0, degree) * rounded(steps) + rounded(ELEMENTARY)
        if kernel == "cosine":
            h, kappa = one, rounded(2 * steps)
        return cls(Z, z2, kernel, gamma, degree, coef0, h, kappa)

    def tile(self, i: slice, j: slice) -> np.ndarray:
        if self.name == "given":
            return self.Z[i, j]
        how = self.name, self.gamma, self.degree, self.coef0
        return _tile(self.Z[i], self.Z[j], self.z2[i], self.z2[j], *how)

    def whole(self) -> np.ndarray:
        """K (n, n)."""
        n = len(self.h)
        K = np.empty((n, n))
        for i in range(0, n, ROWS):
            K[i : i + ROWS] = self.tile(slice(i, i + ROWS), slice(0, n))
        return K

    def times(self, data: RowData, B: np.ndarray) -> np.ndarray:
        """KB, tile by tile; of the linear kernel X(XᵀB), in the widest floats there are."""
        if self.name == "linear":
            X = self.Z.astype(WIDE_FLOAT)
            return np.dot(X, np.dot(X.T, B.astype(WIDE_FLOAT))).astype(float)
        rows = np.arange(len(B))
        return data.reduce(
            kernel_products, self, B, beside=(rows,), most=ROWS, times=max(1, len(B) // 8)
        )[0]

    def products_error(self, B: np.ndarray) -> np.ndarray:
        """Bound on |K̂B − KB|, entry by entry."""
        n = len(B)
        if self.name == "linear":  # but for the last rounding, to float64
            unit = float(np.finfo(WIDE_FLOAT).eps)
            return np.outer(self.h, rounded(n + len(self.Z.T) + 2, unit) * (self.h @ np.abs(B)))
        steps = COLUMNS + 2 * (n // COLUMNS) + 40  # a tile, those in a row, and the blocks
        return np.outer(self.h, (self.kappa + rounded(steps)) * (self.h @ np.abs(B)))

    def asymmetry(self) -> tuple[int, int] | None:
        """The pair of rows for which K(x, z) and K(z, x) differ most, if they do."""
        if self.name != "given":
            return None
        K, n = self.Z, len(self.Z)
        least, worst = SYMMETRIC * float(self.h.max(initial=0.0)) ** 2, None
        for i in range(0, n, ROWS):
            off = np.abs(K[i : i + ROWS] - K[:, i : i + ROWS].T)
            if off.max(initial=0.0) > least:
                least = float(off.max())
                row, column = np.unravel_index(np.argmax(off), off.shape)
                worst = i + int(row), int(column)
        return worst

    def least_eigenvalue(self) -> tuple[float, bool]:
        """A number that no eigenvalue of K is below, and is K positive semidefinite?

        Kernels that are so by what they are need no look. Others are if K + τI has a Cholesky
        factor, for τ that is n·ε of the largest row sum: less cannot be told from rounding. Where
        K was given in float32, ε of that is allowed.
        """
        polynomial = self.coef0 >= 0 and float(self.degree).is_integer()
        if self.gamma >= 0 and (self.name in PSD or (self.name == "poly" and polynomial)):
            return 0.0, True
        K = self.whole()
        n, size = len(K), float(np.abs(K).sum(axis=1).max(initial=0.0))
        if not np.isfinite(size):
            return -np.inf, False
        tau = 4 * n * EPS * size
        if _has_a_factor(K, tau):
            return -tau, True
        most = 4 * self.eps * size  # what rounding of its entries can have done
        if n <= EXACT_SPECTRUM:
            least = float(np.linalg.eigvalsh(K)[0]) - tau
            return least, least >= -most and self.eps > EPS
        while tau < size and not _has_a_factor(K, tau):
            tau *= 10
        return -min(tau, size), tau <= most and self.eps > EPS


def _has_a_factor(K: np.ndarray, tau: float) -> bool:
    shifted = K.copy()
    shifted.flat[:: len(K) + 1] += tau
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True


def kernel_products(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, rows: np.ndarray, kernel: Kernel, B: np.ndarray
) -> tuple[Any]:
    """(KB,), the part of it that these rows bring: their own, and for later rows theirs."""
    n, out = len(B), np.zeros_like(B)
    for first in range(int(rows[0]), int(rows[-1]) + 1, ROWS):
        i = slice(first, min(first + ROWS, int(rows[-1]) + 1))
        for start in range(first, n, COLUMNS):
            j = slice(start, min(start + COLUMNS, n))
            K = kernel.tile(i, j)
            out[i] += np.dot(K, B[j])
            later = slice(max(i.stop, start), j.stop)
            if later.start < later.stop:
                out[later] += np.dot(K[:, later.start - start :].T, B[i])
    return (out,)


def gamma_of(X: np.ndarray, s: np.ndarray | None = None, gamma: str | float = "scale") -> float:
    """γ as a number: "scale" is 1/(p·Var X), Var over all entries, weighted by s; "auto" 1/p."""
    p = X.shape[1]
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / p
    weight = np.ones(len(X)) if s is None else np.asarray(s)
    centre = X[int(np.argmax(weight))].astype(float).mean()
    Z = X.astype(float) - centre
    mean = float(weight @ Z.mean(axis=1)) / float(weight.sum())
    Z -= mean
    spread = float(weight @ (Z * Z).mean(axis=1)) / float(weight.sum())
    return 1.0 / (p * spread) if spread > 0 else 1.0
