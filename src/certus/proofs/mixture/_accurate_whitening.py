r"""Whitening of a covariance matrix with bounds on its rounding errors.

With W the computed inverse of C's Cholesky factor,

    W C Wᵀ = I + R,      log|C| = −2 log|det W| + log|I + R|,      uᵀC⁻¹u = zᵀ(I + R)⁻¹z,   z = Wu

R would be 0 without rounding, and is computed. If it is too large for what is to be proven, it is
computed with about twice the digits, W is replaced by (I + R)^−½ W, and R is computed again. The
remaining error is that of z,

    ‖ẑ − z‖ ≤ γ_p ‖|W||u|‖ ≤ γ_p κ ‖z‖,      κ = ‖|W||W⁻¹|‖

which grows like the square root of C's condition number, while R grew like the condition number.

Products with twice the digits are sums of products of slices of 21 bits, each of which BLAS
computes without rounding (Ozaki, Ogita, Oishi and Rump 2012).
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, gamma

N_SLICES, SLICE_BITS = 4, 21  # sums of 2048 products of two slices, 42 bits each, are exact
NEGLECTED_PRODUCT_RATIO = 2.0**-78  # of the omitted slice products to the largest entries
MAX_UNCORRECTED_ERROR_NATS = 1e-8  # of a log density, up to which W is not corrected
MAX_CORRECTIONS = 2  # of W
MAX_DEPARTURE = 0.1  # ‖R‖ up to which the first terms of the series are enough
MAX_INVERSE_NORM = 1.25  # bound on ‖(I + R)⁻¹‖ for such R


class Whitening(NamedTuple):
    """W and log|C|, with the bounds of the module's docstring."""

    W: np.ndarray
    log_det: float
    log_det_error: float
    R: float  # ‖R‖ at most
    kappa: float


def whiten(C: np.ndarray, low: np.ndarray | None = None) -> Whitening:
    """Whitening of C (or of C + low); raise LinAlgError if C is not positive definite.

    C is first scaled by powers of two to a diagonal of about 1, which is exact.
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
    log_det_of_W = -2 * float(logs.sum()) - 2 * float(np.log(q).sum())
    log_det_error = gamma(2 * p + 8) * float(np.abs(logs).sum() + np.abs(np.log(q)).sum() + 1)
    R, error = np.dot(np.dot(W, C), W.T) - np.eye(p), gamma(2 * p + 4) * kappa**2
    if low is None and p * (float(np.linalg.norm(R)) + error) <= MAX_UNCORRECTED_ERROR_NATS:
        size = float(np.linalg.norm(R)) + error
        log_det_error = np.sqrt(p) * error + size**2 + log_det_error
        return Whitening(W * q, log_det_of_W + float(np.trace(R)), log_det_error, size, kappa)
    R, error = _departure_from_identity(W, C, low)
    size = float(np.linalg.norm(R)) + error
    if not size <= MAX_DEPARTURE:
        return Whitening(W * q, log_det_of_W, np.inf, np.inf, kappa)
    log_det = log_det_of_W + float(np.log1p(np.linalg.eigvalsh(R)).sum())
    log_det_error += 2 * np.sqrt(p) * error + gamma(8 * p) * size
    for _ in range(MAX_CORRECTIONS):
        if p * size <= MAX_UNCORRECTED_ERROR_NATS:
            break
        RW = np.dot(R, W)
        W = W - 0.5 * RW + 0.375 * np.dot(R, RW)
        R, error = _departure_from_identity(W, C, low)
        size = float(np.linalg.norm(R)) + error
    return Whitening(W * q, log_det, log_det_error, size, 1.2 * kappa)


def _departure_from_identity(
    W: np.ndarray, C: np.ndarray, low: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """Symmetric part of W (C + low) Wᵀ − I, and a bound on the norm of its error.

    Covariances of other libraries can be slightly asymmetric. With M = I + R the symmetric part and
    A the antisymmetric one, uᵀC⁻¹u = zᵀ(M + AᵀM⁻¹A)⁻¹z, and log|M + A| lies between log|M| and
    log|M + AᵀM⁻¹A|: A enters by its square.
    """
    p = len(C)
    T, T_low, T_error = accurate_matrix_product(W, C)
    if low is not None:
        T_low = T_low + np.dot(W, low)
        T_error = T_error + gamma(p + 2) * np.dot(np.abs(W), np.abs(low))
    T_error = T_error + gamma(2) * np.abs(T_low)
    high, remainder, error = accurate_matrix_product(T, W.T)
    R = (high - np.eye(p)) + (remainder + np.dot(T_low, W.T))
    V = np.abs(W.T)
    error = error + np.dot(T_error + gamma(p + 2) * np.abs(T_low), V) + 4 * UNIT * np.abs(R)
    error_norm = float(np.linalg.norm(error))
    asymmetry = 0.5 * float(np.linalg.norm(R - R.T)) + error_norm
    return 0.5 * (R + R.T), error_norm + MAX_INVERSE_NORM * asymmetry**2


def accurate_matrix_product(
    A: np.ndarray, B: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return AB as an unevaluated sum of two matrices, and a bound on the error of each entry."""
    bits = SLICE_BITS - max(0, (int(A.shape[1]).bit_length() - 10) // 2)
    a, a_scale = _slices(A, 1, bits)
    b, b_scale = _slices(B, 0, bits)
    high, low = np.zeros((2, A.shape[0], B.shape[1]))
    for i in range(N_SLICES):
        for j in range(N_SLICES - i):
            P = np.dot(a[i], b[j])
            total = high + P
            back = total - high
            low += (high - (total - back)) + (P - back)
            high = total
    neglected = NEGLECTED_PRODUCT_RATIO * 2.0 ** (4 * (SLICE_BITS - bits)) * A.shape[1]
    return high, low, neglected * a_scale * b_scale + UNIT * 10 * np.abs(low)


def _slices(A: np.ndarray, axis: int, bits: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Split A into matrices of ``bits`` bits each, from the largest entry along the axis down.

    The last slice is the remainder. The largest entries, rounded up to powers of two, come second.
    """
    top = np.abs(A).max(axis=axis, keepdims=True)
    top = np.exp2(np.ceil(np.log2(np.where(top > 0, top, 1.0))))
    out, remainder = [], A
    for i in range(N_SLICES - 1):
        shift = 1.5 * top * 2.0 ** (52 - bits * (i + 1))
        part = (remainder + shift) - shift
        out.append(part)
        remainder = remainder - part
    return [*out, remainder], top
