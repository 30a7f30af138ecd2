r"""Likelihood of logistic and softmax models, with coefficients relative to the first class.

    log L = Σ s_i log p_i,y_i,   p_ik = exp(z_ik)/Σ_l exp(z_il),   z_i0 = 0,  z_ik = x_iᵀw_k + b_k

The information (minus the second derivative of log L) has for classes k, l = 1 … K − 1 the block

    Σ s p_k([k = l] − p_l) φφᵀ,   φ = (1/√S, unscale∘(x − centre))

in columns centred and scaled to norm 1 with weights s·Σ_k p_k(1 − p_k), so that offsets and units
cost no digits. θ_k are the coefficients of φ for class k; (b_k, w_k) = Tθ_k.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.csr import Block
from ...data.rows import Rows
from ...exceptions import InferenceError
from ...losses import Softmax
from ...text.format import count
from ..glm.linear_problem import scaled
from ..linalg.gram import gram
from ..problem import weights_of_classes
from .clusters import Clusters, ClusterSums, cluster_sums, merged_sums
from .leverage import LEVERAGE_POWERS, MeatSums, first_row, is_one, meat, refuse_leverage_one

MIN_TOTAL_WEIGHT = 1e-290  # Σ s·Σ_k p_k(1 − p_k) below which all probabilities are 0 or 1


class LikelihoodPoint(NamedTuple):
    """Loss and derivatives at θ; d = m(K − 1)."""

    loss: float  # −log L
    gradient: np.ndarray  # (d,), of the loss
    information: np.ndarray  # (d, d)


class LikelihoodColumns(NamedTuple):
    """φ of a block of rows."""

    intercept: bool
    unit_column: float
    center: np.ndarray
    shrink: np.ndarray

    def phi(self, X: np.ndarray) -> np.ndarray:
        first = int(self.intercept)
        Phi = np.empty((X.shape[0], first + len(self.center)))
        Phi[:, :first] = self.unit_column
        columns = Phi[:, first:]
        np.subtract(X, self.center, out=columns)
        columns *= self.shrink
        return Phi


class Likelihood:
    """−log L of rows whose y (n, 1) is the class index, in columns scaled at the given (w, b)."""

    def __init__(self, rows: Rows, n_classes: int, w: np.ndarray, b: np.ndarray, intercept: bool):
        """Scale the columns at w (p, K − 1) and b (K − 1,), relative to class 0."""
        self.rows, self.n_classes, self.intercept = rows, n_classes, intercept
        weight = rows.allocate()
        (total,) = rows.reduce(_fill_curvature, w, b, beside=(weight,))
        if not total > MIN_TOTAL_WEIGHT:
            raise InferenceError(
                "every probability is 0 or 1: the classes are separated, and the likelihood has "
                "no maximum"
            )
        zeros = rows.recoded(_zero_targets).y
        sums = gram(rows.with_targets(zeros, weight), intercept)
        problem = scaled(sums, intercept)
        self.center, self.unscale = problem.mean, problem.unscale
        # a constant column becomes exactly 0, not the rounding of its mean
        shrink = np.where(problem.norm > 0, problem.unscale, 0.0)
        # columns are accurate to ε‖x_j‖ only
        eps = np.finfo(np.float32 if rows.X.dtype == np.float32 else float).eps
        column = 4 * eps * sums.size / problem.scale
        self.noise = np.tile(np.concatenate([[0.0] * intercept, column]), n_classes - 1)
        self.unit_column = 1 / np.sqrt(sums.S)
        self.m = len(w) + intercept
        self.columns = LikelihoodColumns(intercept, self.unit_column, self.center, shrink)
        self.dense = rows.dense()

    @property
    def T(self) -> np.ndarray:
        """T, (m, m), with (b, w) = Tθ for one class."""
        T = np.diag(np.concatenate([[self.unit_column] * self.intercept, self.unscale]))
        if self.intercept:
            T[0, 1:] = -self.center * self.unscale
        return T

    def theta(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        v = w / self.unscale[:, None]
        if not self.intercept:
            return v.T.ravel()
        wide = np.longdouble  # b and centreᵀw cancel if columns are far from 0
        middle = (b.astype(wide) + self.center.astype(wide) @ w.astype(wide)).astype(float)
        return np.vstack([middle / self.unit_column, v]).T.ravel()

    def at(self, theta: np.ndarray) -> LikelihoodPoint:
        """Loss, gradient and information at θ, in one pass: O(n·m²·K²) operations."""
        result: LikelihoodPoint = self.dense.reduce(
            _point,
            self.columns,
            self._blocks(theta),
            square=True,
            result_bytes=self._result_bytes,
        )
        return result

    def root(self, theta: np.ndarray) -> np.ndarray:
        """R with RᵀR the information, from the rows, if squaring would cost digits."""
        (R,) = self.dense.reduce(
            _root,
            self.columns,
            self._blocks(theta),
            combine=_stack,
            square=True,
            result_bytes=self._result_bytes,
        )
        return R

    def squared_gradients(self, theta: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Σ s Bᵀg gᵀB over the gradients g of single rows."""
        (result,) = self.dense.reduce(
            _squared_gradients,
            self.columns,
            self._blocks(theta),
            B,
            square=True,
            result_bytes=self._result_bytes,
        )
        return result

    def leveraged_gradients(self, theta: np.ndarray, B: np.ndarray, cov: str) -> np.ndarray:
        """Σ s Bᵀg gᵀB/(1 − h)^d of two classes; refuses rows of leverage 1."""
        blocks = self._blocks(theta)
        M, n_leverage_one = self.dense.reduce(
            _leveraged_gradients,
            self.columns,
            blocks,
            B,
            LEVERAGE_POWERS[cov],
            square=True,
            result_bytes=self._result_bytes,
        )
        if n_leverage_one:
            first = first_row(self.dense, _leverage_one, self.columns, blocks, B)
            refuse_leverage_one(first, n_leverage_one, cov)
        result: np.ndarray = M
        return result

    def cluster_gradients(self, theta: np.ndarray, B: np.ndarray, clusters: Clusters) -> np.ndarray:
        """Σ s Bᵀg of each cluster, (G, r)."""
        result: np.ndarray = self.dense.reduce(
            _cluster_gradients,
            self.columns,
            self._blocks(theta),
            B,
            beside=(clusters.codes,),
            combine=merged_sums,
            square=True,
        )[1]
        return result

    @property
    def _result_bytes(self) -> int:
        """Bytes of a d × d matrix, d = m(K − 1)."""
        return 8 * (self.m * (self.n_classes - 1)) ** 2

    def _blocks(self, theta: np.ndarray) -> np.ndarray:
        return theta.reshape(self.n_classes - 1, self.m).T

    def null(self) -> float:
        """log L of the intercepts alone, or of equal probabilities without intercepts."""
        counts = self.counts()
        if not self.intercept:
            return -float(counts.sum()) * float(np.log(self.n_classes))
        nonzero = counts[counts > 0]
        return float(nonzero @ np.log(nonzero / counts.sum()))

    def counts(self) -> np.ndarray:
        """Σ s of each class."""
        (counts,) = self.rows.reduce_targets(weights_of_classes, self.n_classes)
        result: np.ndarray = counts
        return result


def _scores(X: Block, w: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    z = X @ w + b
    return np.column_stack([np.zeros(len(z)), z])


def _zero_targets(y: np.ndarray, s: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    return np.zeros_like(y), s


def _fill_curvature(
    X: Block, y: np.ndarray, s: np.ndarray | None, out: np.ndarray, w: np.ndarray, b: np.ndarray
) -> tuple[float]:
    """Fill s·Σ_k p_k(1 − p_k), without cancellation in 1 − p_k, and return its sum."""
    P = Softmax().evaluate(y[:, 0], _scores(X, w, b))[2]
    total = np.zeros(len(P))
    for k in range(P.shape[1]):
        total += P[:, k] * _others(P, k)
    out[:] = total if s is None else s * total
    return (float(out.sum()),)


def _others(P: np.ndarray, k: int) -> np.ndarray:
    """1 − p_k."""
    return P[:, :k].sum(axis=1) + P[:, k + 1 :].sum(axis=1)


def _point(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, of: LikelihoodColumns, theta: np.ndarray
) -> LikelihoodPoint:
    Phi = of.phi(X)
    m, blocks = theta.shape
    value, slope, P = Softmax().evaluate(y[:, 0], _scores(Phi, theta, 0.0))
    weight = np.ones(len(P)) if s is None else s
    information = np.empty((blocks, m, blocks, m))
    for k in range(blocks):
        for l in range(k, blocks):
            h = P[:, k + 1] * (_others(P, k + 1) if k == l else -P[:, l + 1])
            information[k, :, l] = np.dot(Phi.T, (weight * h)[:, None] * Phi)
            information[l, :, k] = information[k, :, l].T
    gradient = np.dot(Phi.T, weight[:, None] * slope[:, 1:]).T.ravel()
    d = m * blocks
    return LikelihoodPoint(float(weight @ value), gradient, information.reshape(d, d))


def _root(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, of: LikelihoodColumns, theta: np.ndarray
) -> tuple[Any]:
    """R of a block: diag p − ppᵀ = Σ_k p_k (e_k − p)(e_k − p)ᵀ gives K rows √p_k (e_k − p) ⊗ φ for
    each row."""
    Phi = of.phi(X)
    P = Softmax().evaluate(y[:, 0], _scores(Phi, theta, 0.0))[2]
    parts = []
    for k in range(P.shape[1]):
        e = -P
        e[:, k] = _others(P, k)
        e *= np.sqrt(P[:, k] if s is None else s * P[:, k])[:, None]
        parts.append(_kronecker(e[:, 1:], Phi))
    return (np.linalg.qr(np.concatenate(parts), mode="r"),)


def _stack(a: tuple[Any], b: tuple[Any]) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([a[0], b[0]]), mode="r"),)


def _squared_gradients(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    of: LikelihoodColumns,
    theta: np.ndarray,
    B: np.ndarray,
) -> tuple[Any]:
    Phi = of.phi(X)
    r = Softmax().slope(y[:, 0], _scores(Phi, theta, 0.0))[:, 1:]
    g = np.dot(_kronecker(r, Phi), B)
    return (np.dot(g.T, g if s is None else s[:, None] * g),)


def _leveraged_gradients(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    of: LikelihoodColumns,
    theta: np.ndarray,
    B: np.ndarray,
    power: int,
) -> MeatSums:
    if s is not None:
        X, y, s = X[s > 0], y[s > 0], s[s > 0]
    Phi = of.phi(X)
    _, slope, P = Softmax().evaluate(y[:, 0], _scores(Phi, theta, 0.0))
    return meat(np.dot(Phi, B), slope[:, 1], P[:, 0] * P[:, 1], s, power)


def _leverage_one(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    of: LikelihoodColumns,
    theta: np.ndarray,
    B: np.ndarray,
) -> np.ndarray:
    """Mask of the rows of leverage 1 within a block."""
    Phi = of.phi(X)
    P = Softmax().evaluate(y[:, 0], _scores(Phi, theta, 0.0))[2]
    at_one = is_one(np.dot(Phi, B), P[:, 0] * P[:, 1])
    return at_one if s is None else at_one & (s > 0)


def _cluster_gradients(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    codes: np.ndarray,
    of: LikelihoodColumns,
    theta: np.ndarray,
    B: np.ndarray,
) -> ClusterSums:
    Phi = of.phi(X)
    r = Softmax().slope(y[:, 0], _scores(Phi, theta, 0.0))[:, 1:]
    g = np.dot(_kronecker(r, Phi), B)
    return cluster_sums(codes, g if s is None else s[:, None] * g)


def _kronecker(r: np.ndarray, Phi: np.ndarray) -> np.ndarray:
    """r_i ⊗ φ_i, row by row."""
    return (r[:, :, None] * Phi[:, None, :]).reshape(len(Phi), -1)


class SpectralInverse(NamedTuple):
    """Pseudoinverse BBᵀ of a positive semidefinite matrix: B = V/σ, without what is rounding."""

    V: np.ndarray  # (d, rank), orthonormal
    sigma: np.ndarray  # (rank,): roots of the eigenvalues
    condition: float  # of the matrix; ∞ if a direction is dropped

    @classmethod
    def of(cls, A: np.ndarray, noise: np.ndarray | float = 0.0) -> "SpectralInverse":
        """Pseudoinverse of A. ``noise`` (d,): rounding error of each coordinate, as a root."""
        square, V = np.linalg.eigh((A + A.T) / 2)
        largest = max(float(square[-1]), 0.0)
        rounding = (np.abs(V) * np.reshape(noise, (-1, 1))).sum(axis=0)
        retained = square > max(len(A), 64) * np.finfo(float).eps * largest + rounding**2
        condition = largest / square[0] if retained.all() else np.inf
        return cls(V[:, retained], np.sqrt(square[retained]), condition)

    @classmethod
    def of_root(cls, R: np.ndarray, noise: np.ndarray) -> "SpectralInverse":
        """Pseudoinverse of RᵀR."""
        _, sigma, Vt = np.linalg.svd(R, full_matrices=False)
        rounding = max(R.shape[1], 64) * np.finfo(float).eps * sigma[0]
        retained = sigma > rounding + np.abs(Vt) @ noise
        whole = retained.all() and len(sigma) == R.shape[1]
        condition = (sigma[0] / sigma[-1]) ** 2 if whole else np.inf
        return cls(Vt[retained].T, sigma[retained], condition)

    @property
    def B(self) -> np.ndarray:
        return self.V / self.sigma

    def times(self, right: np.ndarray) -> np.ndarray:
        B = self.B
        return B @ (B.T @ right)


def require_rows(n: float, parameters: int) -> None:
    if n <= parameters:
        raise InferenceError(
            f"{count(int(n), 'row')} and {count(parameters, 'coefficient')}: large-sample errors "
            "need more rows than coefficients"
        )
