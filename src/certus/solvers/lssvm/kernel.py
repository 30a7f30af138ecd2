"""Kernel matrices, computed in tiles.

    rbf      exp(−γ‖a − b‖²)            γ = 1/μ² for a width μ
    linear   aᵀb
    poly     (γ aᵀb + coef0)^degree
    sigmoid  tanh(γ aᵀb + coef0)
    a user's function(A, B), all pairs of two blocks of rows
    precomputed: A is the matrix

The exponent of rbf is one product of matrices: with u = √(2γ)(a − c), c the mean of B,

    −γ‖a − b‖² = uᵀv − ‖u‖²/2 − ‖v‖²/2 = [u, −‖u‖²/2, 1]ᵀ[v, 1, −‖v‖²/2]

Where these squares are so large that their rounding matters, distances are sums of differences.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...distances import SquaredEuclidean
from ...kernels import compiled_or
from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads

TILE_ROWS, TILE_COLUMNS = 128, 512  # a tile stays in L2
MAX_CALL_PAIRS = 1 << 20  # pairs in one call of a user's function
MAX_PRODUCT_SQUARE = 2.0**14  # ‖u‖²; above, the exponent's error exceeds 1e-11
SYMMETRY_TOLERANCE = 1e-8  # relative to the largest value
MIN_COMPILED_PAIRS = 1 << 20  # with fewer, loading the compiler is not worth it


class Kernel(NamedTuple):
    """K(a, b), by name or as a function of two blocks of rows."""

    name: Any
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    @property
    def semidefinite(self) -> bool:
        """Whether K is positive semidefinite for all rows; False for a user's kernel."""
        natural = self.degree >= 0 and float(self.degree).is_integer() and self.gamma >= 0
        known = {"rbf": True, "linear": True, "poly": natural and self.coef0 >= 0}
        return not callable(self.name) and known.get(self.name, False)

    def between(self, A: np.ndarray, B: np.ndarray) -> "KernelTiles":
        """Return the kernel matrix of the rows of A and B, to be computed in tiles."""
        if self.name == "precomputed":
            return PrecomputedTiles(A)
        symmetric = A is B
        B = np.ascontiguousarray(B, dtype=np.float64)
        A = B if symmetric else np.ascontiguousarray(A, dtype=np.float64)
        if callable(self.name):
            return FunctionTiles(self.name, A, B)
        if self.name == "rbf":
            return exponents(A, B, self.gamma)
        return ProductTiles(A, B, PRODUCT_KERNELS[self.name], self)

    def gram(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        """Return K of all pairs, (m, n)."""
        pairs = self.between(A, B)
        K = np.empty(pairs.shape)

        def fill(rows: slice, columns: slice, tile: np.ndarray) -> None:
            K[rows, columns] = tile

        over_tiles(pairs, fill, threads)
        return K

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        """Return K of each row with itself, (n,)."""
        if self.name == "rbf":
            return np.ones(len(A))
        if self.name == "precomputed":
            return np.array(np.diagonal(A), dtype=np.float64)
        A = np.asarray(A, dtype=np.float64)
        if callable(self.name):
            parts = [A[i : i + TILE_ROWS] for i in range(0, len(A), TILE_ROWS)]
            return np.concatenate(
                [np.diagonal(FunctionTiles(self.name, a, a).whole()) for a in parts]
            )
        squares = np.einsum("ij,ij->i", A, A)
        return PRODUCT_KERNELS[self.name](squares, self)


class KernelTiles:
    """The kernel matrix between two sets of rows, computed in tiles."""

    shape: tuple[int, int]
    rows, columns = TILE_ROWS, TILE_COLUMNS
    max_threads = 1 << 20

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        """Return a tile as a new array, which the caller may modify."""
        raise NotImplementedError

    def require_symmetric(self, rows: slice, columns: slice, tile: np.ndarray) -> None:
        """Raise if a tile that contains the diagonal is not symmetric; named kernels always are."""


class ProductTiles(KernelTiles):
    """Kernels that are functions of aᵀb."""

    def __init__(self, A: np.ndarray, B: np.ndarray, function: Callable[..., Any], kernel: Kernel):
        self.A, self.B, self.function, self.kernel = A, B, function, kernel
        self.shape = len(A), len(B)

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        return self.function(np.dot(self.A[rows], self.B[columns].T), self.kernel)


class ExponentTiles(KernelTiles):
    """The rbf kernel by products of rows with two additional columns."""

    def __init__(self, A: np.ndarray, B: np.ndarray):
        self.A, self.B = A, B
        self.shape = len(A), len(B)
        large = len(A) * len(B) >= MIN_COMPILED_PAIRS
        self.exp = compiled_or(_compiled_exp, _exp) if large else _exp

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        T = np.dot(self.A[rows], self.B[columns].T)
        self.exp(T)
        return T


class DifferenceTiles(KernelTiles):
    """The rbf kernel by differences of rows multiplied by √γ."""

    def __init__(self, A: np.ndarray, B: np.ndarray):
        self.A, self.B = A, B
        self.shape = len(A), len(B)

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        D = SquaredEuclidean().compare(self.A[rows], self.B[columns], 1)
        return np.exp(np.negative(D, out=D), out=D)


class FunctionTiles(KernelTiles):
    """A user's function, called on one thread since it may not be thread-safe."""

    max_threads = 1

    def __init__(self, function: Callable[..., Any], A: np.ndarray, B: np.ndarray):
        self.function, self.A, self.B = function, A, B
        self.shape = len(A), len(B)
        self.columns = max(1, len(B))
        self.rows = max(1, MAX_CALL_PAIRS // self.columns)

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        A, B = self.A[rows], self.B[columns]
        K = np.array(self.function(A, B), dtype=np.float64)
        if K.shape != (len(A), len(B)):
            raise ValueError(
                f"the kernel returned shape {K.shape} for blocks of {len(A)} and {len(B)} rows: "
                f"kernel(A, B) must return all their pairs, {(len(A), len(B))}"
            )
        if not np.isfinite(K).all():
            raise ValueError("the kernel returned NaN or infinity: it must return finite numbers")
        return K

    def require_symmetric(self, rows: slice, columns: slice, tile: np.ndarray) -> None:
        square = tile[:, rows.start - columns.start : rows.stop - columns.start]
        if not np.allclose(
            square, square.T, rtol=0, atol=SYMMETRY_TOLERANCE * np.abs(square).max(initial=0.0)
        ):
            raise ValueError(
                "the kernel is not symmetric: kernel(A, B) must be the transpose of kernel(B, A)"
            )

    def whole(self) -> np.ndarray:
        return self.tile(slice(0, self.shape[0]), slice(0, self.shape[1]))


class PrecomputedTiles(KernelTiles):
    """A precomputed kernel matrix."""

    def __init__(self, K: np.ndarray):
        self.K, self.shape = K, K.shape

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        return np.array(self.K[rows, columns], dtype=np.float64)


def exponents(A: np.ndarray, B: np.ndarray, gamma: float) -> KernelTiles:
    """Return the rbf kernel matrix, by products where they are accurate enough."""
    center = B.mean(axis=0) if len(B) else 0.0
    symmetric = A is B
    V = (B - center) * np.sqrt(2 * gamma)
    U = V if symmetric else (A - center) * np.sqrt(2 * gamma)
    v = np.einsum("ij,ij->i", V, V)
    u = v if symmetric else np.einsum("ij,ij->i", U, U)
    if not max(u.max(initial=0.0), v.max(initial=0.0)) < MAX_PRODUCT_SQUARE:
        return DifferenceTiles(A * np.sqrt(gamma), B * np.sqrt(gamma))
    left = np.column_stack([U, -u / 2, np.ones(len(U))])
    return ExponentTiles(left, np.column_stack([V, np.ones(len(V)), -v / 2]))


def over_tiles(
    pairs: KernelTiles,
    use: Callable[[slice, slice, np.ndarray], Any],
    threads: int | None = None,
    below: bool = False,
) -> None:
    """Call ``use(rows, columns, tile)`` for all tiles on threads.

    ``below``: only for those of the lower triangle. The tiles of a band of rows are visited from
    left to right on one thread.
    """
    m, n = pairs.shape
    bands = [slice(i, min(i + pairs.rows, m)) for i in range(0, m, pairs.rows)]
    bands.reverse()  # the longest bands of the triangle come first

    def band(k: int) -> None:
        rows = bands[k]
        stop = rows.stop if below else n
        for j in range(0, stop, pairs.columns):
            columns = slice(j, min(j + pairs.columns, stop))
            use(rows, columns, pairs.tile(rows, columns))

    with blas_limiter.for_work((m, n)):
        run_on_threads(band, len(bands), min(threads or effective_threads(), pairs.max_threads))


def _compiled_exp(T: np.ndarray) -> None:
    from ...kernels.lssvm.tiles import exp_of_nonpositive

    exp_of_nonpositive(T)


def _exp(T: np.ndarray) -> None:
    np.minimum(T, 0.0, out=T)
    np.exp(T, out=T)


def _linear(products: np.ndarray, _: Kernel) -> np.ndarray:
    return products


def _poly(products: np.ndarray, kernel: Kernel) -> np.ndarray:
    products *= kernel.gamma
    products += kernel.coef0
    return np.power(products, kernel.degree, out=products)


def _sigmoid(products: np.ndarray, kernel: Kernel) -> np.ndarray:
    products *= kernel.gamma
    products += kernel.coef0
    return np.tanh(products, out=products)


PRODUCT_KERNELS = {"linear": _linear, "poly": _poly, "sigmoid": _sigmoid}
