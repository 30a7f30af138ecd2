"""Passes over the rows that orthogonal directions are made of.

    X̂ = X∘2^−exponent,   Z = (X̂, 1)T

with extra digits (``sliced_products``) in the columns of Z in which digits cancel. A triangle R of
rows A is that of a QR decomposition, RᵀR = AᵀA; two are combined as [R₁; R₂] = QR.
"""

from typing import Any

import numpy as np

from ...data.types import Weights
from .sliced_products import product


def ranges_of(X: np.ndarray, _y: np.ndarray, s: Weights) -> tuple[Any, Any]:
    X = X if s is None else X[s > 0]
    if not len(X):
        return np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    return X.min(axis=0).astype(float), X.max(axis=0).astype(float)


def widened(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def _scaled(X: np.ndarray, s: Weights, exponent: np.ndarray) -> np.ndarray:
    X = np.asarray(X if s is None else X[s > 0], dtype=float)
    return np.ldexp(X, -exponent)


def sum_about(
    X: np.ndarray, _y: object, s: Weights, exponent: np.ndarray, first: np.ndarray
) -> tuple[Any, Any]:
    A = _scaled(X, s, exponent) - first
    return float(len(A)), A.sum(axis=0)


def triangle_of(
    X: np.ndarray, _: object, s: Weights, exponent: np.ndarray, center: np.ndarray, all_rows: bool
) -> tuple[Any]:
    A = _scaled(X, s, exponent) - center
    return (A if all_rows else np.linalg.qr(A, mode="r"),)


def stacked(a: tuple[Any], b: tuple[Any]) -> tuple[Any]:
    return (np.vstack([a[0], b[0]]),)


def stacked_triangle(a: tuple[Any], b: tuple[Any]) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([a[0], b[0]]), mode="r"),)


def sum_of_scores(
    X: np.ndarray, _: object, s: Weights, exponent: np.ndarray, w: np.ndarray, canceling: bool
) -> tuple[Any, Any]:
    A = _scaled(X, s, exponent)
    z = product(A, w) if canceling else np.dot(A, w)
    return z.sum(), len(z)


def products_with(
    X: np.ndarray, exponent: np.ndarray, T: np.ndarray, canceling: np.ndarray
) -> np.ndarray:
    """X̃T of a block, with extra digits where they cancel."""
    A = np.ldexp(np.asarray(X, dtype=float), -exponent)
    p = A.shape[1]
    if len(T) > p:
        A = np.hstack([A, np.ones((len(A), 1))])
    if canceling.all():
        return product(A, T)
    Z = np.dot(A[:, :p], T[:p])
    if len(T) > p:
        Z += T[p]
    if canceling.any():
        Z[:, canceling] = product(A, T[:, canceling])
    return Z


def direction_sums(
    X: np.ndarray, _: object, s: Weights, exponent: np.ndarray, T: np.ndarray,
    canceling: np.ndarray,
) -> tuple[Any, ...]:  # fmt: skip
    counted = slice(None) if s is None else s > 0
    X, weight = X[counted], None if s is None else s[counted]
    Z = products_with(X, exponent, T, canceling)
    A = np.abs(np.ldexp(np.asarray(X, dtype=float), -exponent))
    size = np.dot(A, np.abs(T[: A.shape[1]])) + np.abs(T[A.shape[1] :]).sum(axis=0)
    R = np.linalg.qr(Z, mode="r")
    weighted = R if weight is None else np.linalg.qr(np.sqrt(weight)[:, None] * Z, mode="r")
    mean = Z.mean(axis=0) if len(Z) else Z.sum(axis=0)
    return R, weighted, (size * size).sum(axis=0), mean, len(Z)


def add_direction_sums(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    n = max(a[4] + b[4], 1)
    return (
        *(np.linalg.qr(np.vstack([a[k], b[k]]), mode="r") for k in (0, 1)),
        a[2] + b[2], (a[4] * a[3] + b[4] * b[3]) / n, a[4] + b[4],
    )  # fmt: skip
