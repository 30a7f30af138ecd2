r"""Lower bounds from dual points, for the losses of linear classifiers.

    F(w, b) = Σ_i ω_i ℓ_i(x_iᵀw + b) + l1‖w‖₁ + l2/2 ‖w‖²        ω_i = C s_i c_{y_i}

A convex loss lies above each of its tangents: ℓ_i(z) ≥ −a_i z + G_i(a_i) for every z and every a_i
in the domain of G_i(a) = −ℓ_i*(−a). Summed, with v = Σ_i ω_i a_i x_i, and the least of −vᵀw plus
the penalty:

    F(w, b) ≥ Σ_i ω_i G_i(a_i) − Σ_j [|v_j| − l1]₊² / (2 l2)        for every (w, b)

where a free intercept requires Σ_i ω_i a_i = 0, and l2 = 0 requires |v_j| ≤ l1 (the last sum is
then 0). Any such a is a proof, wherever it came from; that of the optimum gives the highest bound.
A penalised intercept is a constant column c with the coefficient b/c.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import (
    View,
    by_columns,
    choose_view,
    column_statistics,
    column_tiles,
    gamma,
    is_sparse,
    view_sample_rows,
    viewed_intercept,
)
from certus.proofs.types import FunctionTo, Matrix, RowData

MAX_SLICE_ROWS = 2**14  # more rows mean fewer calls, and threads wait less for each other
SLICE_ELEMENTS = 2**19  # of X in a slice
EVALUATION_ROUNDINGS = 40  # of a term: exp, log1p (a few units each), its products, its weight


class ElasticNetPenalty(NamedTuple):
    """The penalty l1‖w‖₁ + l2/2 ‖w‖², one number for each column of w."""

    l1: float
    l2: float

    def value(self, w: np.ndarray) -> Any:
        value = self.l1 * np.abs(w).sum(axis=0)
        if self.l2 == 0:
            return value
        with np.errstate(over="ignore"):
            return value + self.l2 / 2 * (w * w).sum(axis=0)

    def conjugate(self, v: np.ndarray, error: np.ndarray) -> Any:
        """Return an upper bound of Σ_j [|v_j| − l1]₊²/(2 l2) for all v within ``error`` (norm)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            size = np.linalg.norm(np.maximum(np.abs(v) - self.l1, 0.0), axis=0) + error
            most = np.where(size > 0, size**2 / (2 * self.l2), 0.0)
        return most * (1 + gamma(len(v) + 8))

    def feasible(self, v: np.ndarray, error: np.ndarray) -> Any:
        """Return the largest τ ≤ 1 with τ|v_j| ≤ l1."""
        largest = (np.abs(v).max(axis=0, initial=0.0) + error) * (1 + gamma(4))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(largest > self.l1, self.l1 / largest, 1.0)

    def best(
        self, dual: FunctionTo[np.ndarray], v: np.ndarray, error: np.ndarray
    ) -> tuple[Any, Any]:
        """Return the higher bound of a scaled by τ = 1 or by the feasible τ, and that τ.

        ``dual(τ)``: lower bound of Σ ω G(τa).
        """
        tau = self.feasible(v, error)
        value = dual(tau)
        if self.l2 == 0:
            return value, tau
        value = value - self.conjugate(v * tau, error * tau)
        unscaled = dual(np.ones_like(tau)) - self.conjugate(v, error)
        return np.fmax(value, unscaled), np.where(unscaled >= value, 1.0, tau)


class Fitted:
    """A model (w, b) on one data set, in centred and scaled columns, with its penalty."""

    def __init__(
        self, data: RowData, w: np.ndarray, b: np.ndarray, C: float, l1: float, l2: float,
        fit_intercept: bool, intercept_scaling: float | None,
    ):  # fmt: skip
        w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
        self.data, self.C, self.penalty = data, float(C), ElasticNetPenalty(float(l1), float(l2))
        self.free = fit_intercept and intercept_scaling is None
        self.scaling = intercept_scaling if fit_intercept and intercept_scaling else None
        X, y, s = data.sample_block(view_sample_rows(data.shape[1]))
        view = choose_view(X, y, s, center=self.free)
        self.view = view._replace(c_y=np.zeros(len(b)))
        self.q = np.ones(len(w)) if view.q is None else view.q
        self.w, (self.b, self.b_error) = w / self.q[:, None], viewed_intercept(w, b, self.view)
        self.infeasible = ""
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            self.infeasible = "a coefficient is not a finite number"
        elif not fit_intercept and b.any():
            self.infeasible = "there is an intercept, which fit_intercept=False excludes"
        self.user_b = b
        # all penalised coefficients, in the user's units
        self.penalized = w if self.scaling is None else np.vstack([w, b / self.scaling])
        self.rounding = gamma(data.depth + EVALUATION_ROUNDINGS)

    def score_error(self, XX: np.ndarray, W: np.ndarray) -> Any:
        """Return a bound of √Σ ω (ẑ − z)², for XX ≥ Σ ω‖x‖² and W = Σ ω.

        |ẑ_i − z_i| ≤ γ_{p+6} (|x_i|ᵀ|w| + |b|) + error of b, and the norm of |X||w| is at most
        Σ_j ‖x_j‖ |w_j| ≤ √XX ‖w‖.
        """
        total = np.sqrt(XX) * np.linalg.norm(self.w, axis=0) + np.sqrt(W) * np.abs(self.b)
        return gamma(len(self.w) + 6) * total + np.sqrt(W) * self.b_error

    def column_sizes(self) -> Any:
        """Return √Σ s x_j² of each column, by one more pass."""
        return np.sqrt(1.001 * self.data.reduce(column_statistics, self.view)[1])

    def penalized_sums(
        self, v: np.ndarray, error: np.ndarray, v_b: np.ndarray, v_b_error: np.ndarray
    ) -> tuple[Any, Any]:
        """Return v in the user's units, a penalised intercept's below it, and its error's norm."""
        v, error = v / self.q[:, None], error / self.q.min()
        if self.scaling is None:
            return v, error
        return np.vstack([v, self.scaling * v_b]), error + abs(self.scaling) * v_b_error


def class_factors(C: float, class_weight: object, mass: np.ndarray) -> Any:
    """Return C c_k of each class, from Σ s of its rows; "balanced": c_k = Σ s/(K · mass_k)."""
    if class_weight is None:
        return np.full(len(mass), C)
    if isinstance(class_weight, str):
        total = mass.sum() / len(mass)
        return C * np.divide(total, mass, out=np.zeros(len(mass)), where=mass > 0)
    return C * np.asarray(class_weight, dtype=float)


def class_mass(y: np.ndarray, s: np.ndarray | None, classes: int) -> tuple[Any]:
    """Return Σ s of each class."""
    return (np.bincount(y[:, 0].astype(np.intp), s, classes).astype(float),)


def slice_rows(X: Matrix) -> int:
    """Return how many rows of a block are processed at a time; for sparse rows, all."""
    n, p = X.shape
    if is_sparse(X):
        return n
    if by_columns(X) and X.dtype == float and n <= MAX_SLICE_ROWS:
        return n
    return min(n, max(1, min(MAX_SLICE_ROWS, SLICE_ELEMENTS // max(p, 1))))


def slices(X: Matrix, view: View) -> Any:
    """Yield a block's rows as viewed, in slices that stay in cache for all products with them."""
    n, p = X.shape
    if not isinstance(X, np.ndarray):
        yield slice(0, n), view.of_sparse(X)
        return
    step, buffer = slice_rows(X), None
    plain = view.plain and X.dtype == float
    if not plain:
        step = min(step, max(1, SLICE_ELEMENTS // max(p, 1)))
        buffer = np.empty((step, p))
    for start in range(0, n, step):
        part = slice(start, start + step)
        yield part, X[part] if plain else view.of(X[part], float, buffer)


def is_strided(Z: Matrix) -> bool:
    """Return whether rows are sparse, or strided as in an array in column order."""
    return not isinstance(Z, np.ndarray) or not Z.flags.c_contiguous


def product(Z: Matrix, w: np.ndarray) -> Any:
    """Return Zw. Columns are skipped where most coefficients are 0.

    np.dot is used rather than @, which holds the GIL where its result is short; but np.dot would
    copy strided rows.
    """
    if isinstance(Z, np.ndarray):
        if not is_strided(Z):
            return np.dot(Z, w)
        used = np.flatnonzero(w.any(axis=1))
        if 4 * len(used) < len(w):  # as rows of Zᵀ: contiguous where columns are
            return np.dot(w[used].T, Z.T[used]).T
    return Z @ w


def transposed(Z: Matrix, G: np.ndarray) -> np.ndarray:
    """Return ZᵀG."""
    if isinstance(Z, np.ndarray) and not is_strided(Z):
        return np.dot(G.T, Z).T
    return Z.T @ G


def norms_and_transposed(Z: Matrix, s: np.ndarray | None, G: np.ndarray) -> tuple[Any, Any]:
    """Return Σ s ‖x‖² and ZᵀG; contiguous columns are read once for both."""
    if not isinstance(Z, np.ndarray) or not by_columns(Z):
        return squared_norms(Z, s), transposed(Z, G)
    total, ZtG = 0.0, np.empty((Z.shape[1], G.shape[1]))
    for part in column_tiles(Z):
        total += squared_norms(Z[:, part], s)
        ZtG[part] = transposed(Z[:, part], G)
    return total, ZtG


def squared_norms(Z: Matrix, s: np.ndarray | None) -> Any:
    """Return Σ s ‖x‖² over the rows of Z."""
    if s is None:
        if not isinstance(Z, np.ndarray):
            return np.dot(Z.data, Z.data)
        Z = Z.T if by_columns(Z) else Z
        return np.vdot(Z, Z) if Z.flags.c_contiguous else np.vecdot(Z, Z).sum()
    if not isinstance(Z, np.ndarray):
        return np.dot(Z.power(2).sum(axis=1), s)
    if by_columns(Z):
        return np.dot(Z.T * Z.T, s).sum()
    return np.dot(s, np.einsum("ij,ij->i", Z, Z))
