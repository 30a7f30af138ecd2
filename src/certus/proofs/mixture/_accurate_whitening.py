r"""Whitening of a covariance matrix, and what rounding can have done to it.

With W the computed inverse of C's Cholesky factor,

    W C Wᵀ = I + R,      log|C| = −2 log|det W| + log|I + R|,      uᵀC⁻¹u = zᵀ(I + R)⁻¹z,   z = Wu

R would be 0 without rounding; it is measured. Where it is not small beside what is proven it is
measured in about twice the digits, W is replaced by (I + R)^−½ W, and measured again. What remains
is that of z itself,

    ‖ẑ − z‖ ≤ γ_p ‖|W||u|‖ ≤ γ_p κ ‖z‖,      κ = ‖|W||W⁻¹|‖

which grows like the root of C's condition number, where R grew like the condition number.

Products of twice the digits are sums of products of slices of 21 bits, each of which BLAS computes
without rounding (Ozaki, Ogita, Oishi and Rump 2012).
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, gamma

SLICES, BITS = 4, 21  # of each number; products of 2 · 21 bits, 2048 of them, are exact
NEGLECTED = 2.0**-78  # of the largest entries: products of slices that are left out
FINE = 1e-8  # nats of a log density: R is not measured again
ROUNDS = 2  # corrections of W
TWISTED = 1.25  # ‖M⁻¹‖ at most, with M of the next line
LARGEST = 0.1  # R of which the first terms of a series say enough


class Whitening(NamedTuple):
    """W, log|C|, and the bounds of the head comment."""

    W: np.ndarray
    log_det: float
    log_det_error: float
    R: float  # ‖R‖ at most
    kappa: float


def whiten(C: np.ndarray, low: np.ndarray | None = None) -> Whitening:
    """The whitening of C (or of C + low); LinAlgError if C is not positive definite.

    Powers of two make the diagonal about 1, which rounds nothing.
    """
    v = np.diagonal(C)
    if not (v > 0).all() or not np.isfinite(C).all():
        raise np.linalg.LinAlgError("not positive definite")
    q = np.exp2(-np.round(0.5 * np.log2(v)))
    C = C * q * q[:, None]
    low = None if low is None else low * q * q[:, None]
    L, p = np.linalg.cholesky(C), len(C)
    W = np.tril(np.linalg.solve(L, np.eye(p)))
    kappa = 1.1 * float(np.linalg.norm(np.dot(np.abs(W), np.abs(L))))
    logs = np.log(np.diagonal(W))
    of_logs = -2 * float(logs.sum()) - 2 * float(np.log(q).sum())
    lost = gamma(2 * p + 8) * float(np.abs(logs).sum() + np.abs(np.log(q)).sum() + 1)
    R, error = np.dot(np.dot(W, C), W.T) - np.eye(p), gamma(2 * p + 4) * kappa**2
    if low is None and p * (float(np.linalg.norm(R)) + error) <= FINE:
        size = float(np.linalg.norm(R)) + error
        return Whitening(
            W * q, of_logs + float(np.trace(R)), np.sqrt(p) * error + size**2 + lost, size, kappa
        )
    R, error = _departure_from_identity(W, C, low)
    size = float(np.linalg.norm(R)) + error
    if not size <= LARGEST:
        return Whitening(W * q, of_logs, np.inf, np.inf, kappa)
    log_det = of_logs + float(np.log1p(np.linalg.eigvalsh(R)).sum())
    lost += 2 * np.sqrt(p) * error + gamma(8 * p) * size
    for _ in range(ROUNDS):
        if p * size <= FINE:
            break
        RW = np.dot(R, W)
        W = W - 0.5 * RW + 0.375 * np.dot(R, RW)
        R, error = _departure_from_identity(W, C, low)
        size = float(np.linalg.norm(R)) + error
    return Whitening(W * q, log_det, lost, size, 1.2 * kappa)


def _departure_from_identity(
    W: np.ndarray, C: np.ndarray, low: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """W (C + low) Wᵀ − I, made symmetric, and a bound on the norm of its error.

    Covariances of other libraries can be rounded so that they are not symmetric. With M = I + R
    the symmetric part and A the other one, uᵀC⁻¹u = zᵀ(M + AᵀM⁻¹A)⁻¹z, and log|M + A| lies between
    log|M| and log|M + AᵀM⁻¹A|: A counts by its square.
    """
    p = len(C)
    T, T_low, of_T = accurate_matrix_product(W, C)
    if low is not None:
        T_low = T_low + np.dot(W, low)
        of_T = of_T + gamma(p + 2) * np.dot(np.abs(W), np.abs(low))
    of_T = of_T + gamma(2) * np.abs(T_low)
    high, rest, error = accurate_matrix_product(T, W.T)
    R = (high - np.eye(p)) + (rest + np.dot(T_low, W.T))
    V = np.abs(W.T)
    error = error + np.dot(of_T + gamma(p + 2) * np.abs(T_low), V) + 4 * UNIT * np.abs(R)
    off = float(np.linalg.norm(error))
    return 0.5 * (R + R.T), off + TWISTED * (0.5 * float(np.linalg.norm(R - R.T)) + off) ** 2


def accurate_matrix_product(
    A: np.ndarray, B: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """AB as an unevaluated sum of two matrices, and a bound on the error of each entry."""
    bits = BITS - max(0, (int(A.shape[1]).bit_length() - 10) // 2)
    a, of_a = _slices(A, 1, bits)
    b, of_b = _slices(B, 0, bits)
    high, low = np.zeros((2, A.shape[0], B.shape[1]))
    for i in range(SLICES):
        for j in range(SLICES - i):
            P = np.dot(a[i], b[j])
            total = high + P
            back = total - high
            low += (high - (total - back)) + (P - back)
            high = total
    left_out = NEGLECTED * 2.0 ** (4 * (BITS - bits)) * A.shape[1]
    return high, low, left_out * of_a * of_b + UNIT * 10 * np.abs(low)


def _slices(A: np.ndarray, axis: int, bits: int) -> tuple[list[np.ndarray], np.ndarray]:
    """A as a sum of matrices of so many bits each, counted from the largest entry along an axis
    (the last slice: all that is left); those entries, rounded up to powers of two."""
    top = np.abs(A).max(axis=axis, keepdims=True)
    top = np.exp2(np.ceil(np.log2(np.where(top > 0, top, 1.0))))
    out, rest = [], A
    for i in range(SLICES - 1):
        shift = 1.5 * top * 2.0 ** (52 - bits * (i + 1))
        part = (rest + shift) - shift
        out.append(part)
        rest = rest - part
    return [*out, rest], top
