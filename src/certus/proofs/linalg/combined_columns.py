r"""Many columns that repeat others: each as a combination of a few that are kept.

    ρ_j = x_j − Σ_{k kept} c_kj x_k − c_j,     left out where ‖ρ_j‖ ≤ 4·eps·‖x_j‖

That is the rule of ``negligible_directions``, more strictly: ‖|X||d|‖ ≥ ‖x_j‖, so that no other
column that is larger can hide what x_j holds. The coefficients are those of least squares,
corrected once from residuals in twice the digits; whatever they are, ρ is computed from the data.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.accurate_products import accurate_product
from certus.proofs.linalg.linear_sums import dense
from certus.proofs.linalg.negligible_directions import NEGLIGIBLE_ROUNDINGS, LeftOut

MAX_COMBINED_WORK = 2**27  # n·kept·others, in twice the digits
MAX_NAMED_ENTRIES = 2**23  # of all directions together


def combined_columns(
    given: Any, A: np.ndarray, scale: np.ndarray, kept: np.ndarray, rank: int
) -> list[LeftOut] | None:
    """Of the columns of ``given`` (``orthogonal_directions``) with centred rows, or their triangle,
    A: those that ``rank`` others make up. None where that is too much work.

    ``scale``: brings columns of A to norm 1; ``kept``: the columns that are looked at, of bool.
    """
    data, e, centre = given.data, given.exponent, given.centre
    n, p = data.shape
    at = np.flatnonzero(kept)
    others = len(at) - rank
    if n * rank * others > MAX_COMBINED_WORK or others * (p + 1) > MAX_NAMED_ENTRIES:
        return None
    B = A[:, at] * scale[at]
    chosen = pivot_columns(B, rank)
    rest = np.setdiff1d(np.arange(len(at)), chosen)
    C = np.linalg.lstsq(B[:, chosen], B[:, rest], rcond=None)[0]
    k, j = at[chosen], at[rest]
    W = scale[k][:, None] * C / scale[j]
    W = np.vstack([W, centre[j] - centre[k] @ W]) if given.constant else W
    args = e, centre, scale, k, j, given.constant
    for last in (False, True):
        norm, largest, size, G, right = data.reduce(residual_columns, W, *args, combine=combined)
        if last:
            break
        delta = np.linalg.lstsq(G, right, rcond=None)[0]
        more = scale[k][:, None] * delta[: len(k)]
        W[: len(k)] += more
        W[len(k) :] += delta[len(k) :] - centre[k] @ more
    negligible = norm * (1 + 1e-9) <= NEGLIGIBLE_ROUNDINGS * data.eps * size
    found = []
    for t in np.flatnonzero(negligible):
        d = np.zeros(p + given.constant)
        d[j[t]] = 1.0
        d[k] = -np.ldexp(W[: len(k), t], e[j[t]] - e[k])
        d[p:] = -np.ldexp(W[len(k) :, t], e[j[t]])
        found.append(LeftOut(d, int(j[t]), float(np.ldexp(largest[t], e[j[t]]))))
    return found


def pivot_columns(B: np.ndarray, rank: int) -> Any:
    """The columns of B that Gram-Schmidt orthogonalisation takes, the largest left first."""
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
    centre: np.ndarray,
    scale: np.ndarray,
    k: np.ndarray,
    j: np.ndarray,
    constant: bool,
) -> tuple[Any, ...]:
    """‖ρ‖, max |ρ|, ‖x̂_j‖ of one block; and GδC = right, which corrects the coefficients."""
    A = np.ldexp(dense(X if s is None else X[s > 0]).astype(float), -e)
    ones = np.ones((len(A), int(constant)))
    high, low = accurate_product(np.hstack([A[:, k], ones]), W)
    rho = (A[:, j] - high) - low
    Z = np.hstack([(A[:, k] - centre[k]) * scale[k], ones])
    norms = [np.linalg.norm(part, axis=0) for part in (rho, A[:, j])]
    largest = np.abs(rho).max(axis=0, initial=0.0)
    return norms[0], largest, norms[1], np.dot(Z.T, Z), np.dot(Z.T, rho)


def combined(left: np.ndarray, right: np.ndarray) -> tuple[Any, ...]:
    return (
        np.hypot(left[0], right[0]), np.maximum(left[1], right[1]), np.hypot(left[2], right[2]),
        left[3] + right[3], left[4] + right[4],
    )  # fmt: skip
