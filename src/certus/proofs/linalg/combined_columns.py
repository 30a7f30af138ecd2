r"""Many repeated columns, each expressed as a combination of a few retained ones.

    ρ_j = x_j − Σ_{k retained} c_kj x_k − c_j,     left out if ‖ρ_j‖ ≤ 4·eps·‖x_j‖

This is stricter than the rule of ``negligible_directions``: ‖|X||d|‖ ≥ ‖x_j‖, so no larger column
can mask the contribution of x_j. The coefficients are those of least squares, corrected once from
residuals in twice the working precision; ρ is computed from the data whatever they are.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.accurate_products import accurate_product
from certus.proofs.linalg.linear_sums import dense
from certus.proofs.linalg.negligible_directions import NEGLIGIBLE_ROUNDINGS, LeftOutDirection

MAX_COMBINED_WORK = 2**27  # n·retained·others, in twice the working precision
MAX_NAMED_ENTRIES = 2**23  # coefficients of all directions together


def combined_columns(
    columns: Any, A: np.ndarray, scale: np.ndarray, retained: np.ndarray, rank: int
) -> list[LeftOutDirection] | None:
    """Columns that are combinations of ``rank`` others, as directions; None if too much work.

    ``columns``: those of ``orthogonal_directions``. A: their centred rows, or the triangle of
    these. ``scale`` brings columns of A to norm 1; ``retained`` (p,): mask of the columns to use.
    """
    data, e, center = columns.data, columns.exponent, columns.center
    n, p = data.shape
    at = np.flatnonzero(retained)
    others = len(at) - rank
    if n * rank * others > MAX_COMBINED_WORK or others * (p + 1) > MAX_NAMED_ENTRIES:
        return None
    B = A[:, at] * scale[at]
    chosen = pivot_columns(B, rank)
    remaining = np.setdiff1d(np.arange(len(at)), chosen)
    C = np.linalg.lstsq(B[:, chosen], B[:, remaining], rcond=None)[0]
    k, j = at[chosen], at[remaining]
    W = scale[k][:, None] * C / scale[j]
    W = np.vstack([W, center[j] - center[k] @ W]) if columns.constant else W
    args = e, center, scale, k, j, columns.constant
    for last in (False, True):
        norm, largest, size, G, right = data.reduce(residual_columns, W, *args, combine=combined)
        if last:
            break
        delta = np.linalg.lstsq(G, right, rcond=None)[0]
        correction = scale[k][:, None] * delta[: len(k)]
        W[: len(k)] += correction
        W[len(k) :] += delta[len(k) :] - center[k] @ correction
    negligible = norm * (1 + 1e-9) <= NEGLIGIBLE_ROUNDINGS * data.eps * size
    left_out = []
    for t in np.flatnonzero(negligible):
        d = np.zeros(p + columns.constant)
        d[j[t]] = 1.0
        d[k] = -np.ldexp(W[: len(k), t], e[j[t]] - e[k])
        d[p:] = -np.ldexp(W[len(k) :, t], e[j[t]])
        left_out.append(LeftOutDirection(d, int(j[t]), float(np.ldexp(largest[t], e[j[t]]))))
    return left_out


def pivot_columns(B: np.ndarray, rank: int) -> Any:
    """Columns of B chosen by Gram–Schmidt orthogonalisation, the largest residual first."""
    B, chosen = B.copy(), []
    for _ in range(rank):
        square = np.einsum("ij,ij->j", B, B)
        j = int(square.argmax())
        q = B[:, j] / np.sqrt(square[j]) if square[j] > 0 else B[:, j]
        B -= np.multiply.outer(q, q @ B)
        B[:, j] = 0.0
        chosen.append(j)
    return np.array(chosen, dtype=np.intp)


def residual_columns(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    W: np.ndarray,
    e: np.ndarray,
    center: np.ndarray,
    scale: np.ndarray,
    k: np.ndarray,
    j: np.ndarray,
    constant: bool,
) -> tuple[Any, ...]:
    """‖ρ‖, max |ρ| and ‖x̂_j‖ of one block; and G, right of GδC = right for the correction."""
    A = np.ldexp(dense(X if s is None else X[s > 0]).astype(float), -e)
    ones = np.ones((len(A), int(constant)))
    high, low = accurate_product(np.hstack([A[:, k], ones]), W)
    rho = (A[:, j] - high) - low
    Z = np.hstack([(A[:, k] - center[k]) * scale[k], ones])
    norms = [np.linalg.norm(part, axis=0) for part in (rho, A[:, j])]
    largest = np.abs(rho).max(axis=0, initial=0.0)
    return norms[0], largest, norms[1], np.dot(Z.T, Z), np.dot(Z.T, rho)


def combined(left: np.ndarray, right: np.ndarray) -> tuple[Any, ...]:
    return (
        np.hypot(left[0], right[0]), np.maximum(left[1], right[1]), np.hypot(left[2], right[2]),
        left[3] + right[3], left[4] + right[4],
    )  # fmt: skip
