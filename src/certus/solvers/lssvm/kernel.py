"""Kernels, a tile of pairs at a time.

    rbf      exp(−γ‖a − b‖²)            γ = 1/μ² for a width μ
    linear   aᵀb
    poly     (γ aᵀb + coef0)^degree
    sigmoid  tanh(γ aᵀb + coef0)
    your own function(A, B), all pairs of two blocks of rows
    precomputed: A is the matrix

The exponent of rbf is one product of matrices: with u = √(2γ)(a − c), c the mean of B,

    −γ‖a − b‖² = uᵀv − ‖u‖²/2 − ‖v‖²/2 = [u, −‖u‖²/2, 1]ᵀ[v, 1, −‖v‖²/2]

Where these squares are so large that rounding would show, distances are sums of differences.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...distances import SquaredEuclidean
from ...kernels import compiled_or
from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads

ROWS, COLUMNS = 128, 512  # a tile stays in the second cache
CALLED = 1 << 20  # pairs that a user's function gets at once
ROUNDED = 2.0**14  # ‖u‖² from which the exponent is off by 1e-11
SYMMETRIC = 1e-8  # of the largest value
COMPILED_FROM = 1 << 20  # pairs that are worth loading the compiler for


class Kernel(NamedTuple):
    """K(a, b), by name or as a function of two blocks of rows."""

    name: Any
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    @property
    def semidefinite(self) -> bool:
        """Is K positive semidefinite whatever the rows are? Of a user's kernel nobody knows."""
        natural = self.degree >= 0 and float(self.degree).is_integer() and self.gamma >= 0
        known = {"rbf": True, "linear": True, "poly": natural and self.coef0 >= 0}
        return not callable(self.name) and known.get(self.name, False)

    def between(self, A: np.ndarray, B: np.ndarray) -> "Pairs":
        """All pairs of rows of A and rows of B, to be asked for tile by tile."""
        if self.name == "precomputed":
            return Given(A)
        same = A is B
        B = np.ascontiguousarray(B, dtype=np.float64)
        A = B if same else np.ascontiguousarray(A, dtype=np.float64)
        if callable(self.name):
            return Called(self.name, A, B)
        if self.name == "rbf":
            return exponents(A, B, self.gamma)
        return Products(A, B, OF_PRODUCTS[self.name], self)

    def gram(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        """(m, n): K of all pairs."""
        pairs = self.between(A, B)
        K = np.empty(pairs.shape)

        def fill(rows: slice, columns: slice, tile: np.ndarray) -> None:
            K[rows, columns] = tile

        over_tiles(pairs, fill, threads)
        return K

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        """(n,): K of each row with itself."""
        if self.name == "rbf":
            return np.ones(len(A))
        if self.name == "precomputed":
            return np.array(np.diagonal(A), dtype=np.float64)
        A = np.asarray(A, dtype=np.float64)
        if callable(self.name):
            parts = [A[i : i + ROWS] for i in range(0, len(A), ROWS)]
            return np.concatenate([np.diagonal(Called(self.name, a, a).whole()) for a in parts])
        squares = np.einsum("ij,ij->i", A, A)
        return OF_PRODUCTS[self.name](squares, self)


class Pairs:
    """K between two sides; ``tile`` gives a new array, which the caller may change."""

    shape: tuple[int, int]
    rows, columns = ROWS, COLUMNS
    most_threads = 1 << 20

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        raise NotImplementedError

    def require_symmetric(self, rows: slice, columns: slice, tile: np.ndarray) -> None:
        """Of a tile that reaches the diagonal; the kernels above are symmetric as they stand."""


class Products(Pairs):
    """A function of aᵀb."""

    def __init__(self, A: np.ndarray, B: np.ndarray, function: Callable[..., Any], kernel: Kernel):
        self.A, self.B, self.function, self.kernel = A, B, function, kernel
        self.shape = len(A), len(B)

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        return self.function(np.dot(self.A[rows], self.B[columns].T), self.kernel)


class Exponents(Pairs):
    """rbf by products of rows with two columns more."""

    def __init__(self, A: np.ndarray, B: np.ndarray):
        self.A, self.B = A, B
        self.shape = len(A), len(B)
        large = len(A) * len(B) >= COMPILED_FROM
        self.exp = compiled_or(_compiled_exp, _exp) if large else _exp

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        T = np.dot(self.A[rows], self.B[columns].T)
        self.exp(T)
        return T


class Differences(Pairs):
    """rbf of rows already multiplied by √γ."""

    def __init__(self, A: np.ndarray, B: np.ndarray):
        self.A, self.B = A, B
        self.shape = len(A), len(B)

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        D = SquaredEuclidean().compare(self.A[rows], self.B[columns], 1)
        return np.exp(np.negative(D, out=D), out=D)


class Called(Pairs):
    """A user's function; called by one thread, as it may not expect several."""

    most_threads = 1

    def __init__(self, function: Callable[..., Any], A: np.ndarray, B: np.ndarray):
        self.function, self.A, self.B = function, A, B
        self.shape = len(A), len(B)
        self.columns = max(1, len(B))
        self.rows = max(1, CALLED // self.columns)

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        A, B = self.A[rows], self.B[columns]
        K = np.array(self.function(A, B), dtype=np.float64)
        if K.shape != (len(A), len(B)):
            raise ValueError(
                f"the kernel returned shape {K.shape} for blocks of {len(A)} and {len(B)} rows: "
                f"let kernel(A, B) return all their pairs, {(len(A), len(B))}"
            )
        if not np.isfinite(K).all():
            raise ValueError("the kernel returned NaN or infinity: let it return finite numbers")
        return K

    def require_symmetric(self, rows: slice, columns: slice, tile: np.ndarray) -> None:
        square = tile[:, rows.start - columns.start : rows.stop - columns.start]
        if not np.allclose(
            square, square.T, rtol=0, atol=SYMMETRIC * np.abs(square).max(initial=0.0)
        ):
            raise ValueError(
                "the kernel is not symmetric: let kernel(A, B) be the transpose of kernel(B, A)"
            )

    def whole(self) -> np.ndarray:
        return self.tile(slice(0, self.shape[0]), slice(0, self.shape[1]))


class Given(Pairs):
    """A matrix of kernel values."""

    def __init__(self, K: np.ndarray):
        self.K, self.shape = K, K.shape

    def tile(self, rows: slice, columns: slice) -> np.ndarray:
        return np.array(self.K[rows, columns], dtype=np.float64)


def exponents(A: np.ndarray, B: np.ndarray, gamma: float) -> Pairs:
    """rbf's pairs, by products where they are exact enough."""
    centre = B.mean(axis=0) if len(B) else 0.0
    same = A is B
    V = (B - centre) * np.sqrt(2 * gamma)
    U = V if same else (A - centre) * np.sqrt(2 * gamma)
    v = np.einsum("ij,ij->i", V, V)
    u = v if same else np.einsum("ij,ij->i", U, U)
    if not max(u.max(initial=0.0), v.max(initial=0.0)) < ROUNDED:
        return Differences(A * np.sqrt(gamma), B * np.sqrt(gamma))
    left = np.column_stack([U, -u / 2, np.ones(len(U))])
    return Exponents(left, np.column_stack([V, np.ones(len(V)), -v / 2]))


def over_tiles(
    pairs: Pairs,
    use: Callable[[slice, slice, np.ndarray], Any],
    threads: int | None = None,
    below: bool = False,
) -> None:
    """``use(rows, columns, tile)`` of all tiles on threads; below: of the lower triangle alone.

    The tiles of a band of rows come one after the other, from the left, on one thread.
    """
    m, n = pairs.shape
    bands = [slice(i, min(i + pairs.rows, m)) for i in range(0, m, pairs.rows)]
    bands.reverse()  # those of the triangle that take longest come first

    def band(k: int) -> None:
        rows = bands[k]
        stop = rows.stop if below else n
        for j in range(0, stop, pairs.columns):
            columns = slice(j, min(j + pairs.columns, stop))
            use(rows, columns, pairs.tile(rows, columns))

    with blas_limiter.for_work((m, n)):
        run_on_threads(band, len(bands), min(threads or effective_threads(), pairs.most_threads))


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


OF_PRODUCTS = {"linear": _linear, "poly": _poly, "sigmoid": _sigmoid}
