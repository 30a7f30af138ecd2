r"""Directions of the coefficients that the data do not determine: one rule for every proof.

Columns that repeat others up to rounding (``total = price + tax`` in floats) make the optimum of
the stored numbers meaningless: it would depend on the last digits of the columns, magnified 10¹⁶
times. A direction d of the coefficients may be left out of a proof if, and only if,

    ‖Xd‖ ≤ 4·eps·‖|X||d|‖        X: rows of positive weight, with a constant column if there is an
                                 intercept; eps of the data's float type

that is, if rounding of the columns could explain its whole effect. The claim is then "optimal among
models that do not use d". If Xd = 0 in every row, d changes nothing, and nothing is left out.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.accurate_products import accurate_product
from certus.proofs.linalg.linear_sums import dense
from certus.proofs.types import RowData

NEGLIGIBLE_ROUNDINGS = 4.0  # ‖Xd‖/(eps·‖|X||d|‖) up to which a direction is negligible
MAX_DENOMINATOR = 24  # of fractions tried as coefficients
CONSTANT_PIVOT_WEIGHT = 1e-3  # the constant column is a pivot only if the others are this small
FRACTION_RTOL = 1e-5  # between a coefficient and a fraction


class DirectionEffect(NamedTuple):
    """Effect of k directions on the rows."""

    norm: np.ndarray  # ‖Xd‖
    size: np.ndarray  # ‖|X||d|‖
    largest: np.ndarray  # max_i |x_iᵀd|

    def negligible(self, eps: float) -> Any:
        """Mask of the directions that may be left out."""
        return self.norm * (1 + 1e-9) <= NEGLIGIBLE_ROUNDINGS * eps * self.size


class LeftOutDirection(NamedTuple):
    """A direction that may be left out."""

    d: np.ndarray  # (P,) in the user's units, the constant's coefficient last
    pivot: int  # a column whose coefficient is 1, and 0 in all other directions left out
    largest: float  # max_i |x_iᵀd|; 0 if it changes no score


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not negligible
def effect_of(data: RowData, D: np.ndarray, constant: float | None) -> DirectionEffect:
    """Effect of the directions D (P, k) on all rows of positive weight.

    ``constant``: the value of the constant column, whose coefficients are the last row of D.
    """
    return DirectionEffect(
        *data.reduce(
            _effect_of_block, np.asarray(D, dtype=float), constant, combine=_combine_effects
        )
    )


def negligible_in_span(
    data: RowData, N: np.ndarray, size: np.ndarray, constant: float | None
) -> list[LeftOutDirection]:
    """Directions in the span of N (P, k) that may be left out; see ``split_span``."""
    return split_span(data, N, size, constant)[0]


def split_span(
    data: RowData, N: np.ndarray, size: np.ndarray, constant: float | None
) -> tuple[list[LeftOutDirection], Any]:
    """Basis of the span of N (P, k): directions that may be left out, and the others (P, m).

    ``size`` (P,): norms of the columns, which scale the coefficients. Each direction is expressed
    in few columns, its largest not used by the others, with simple fractions as coefficients if
    possible; this takes one or two passes. Only in this form may several be left out together:
    in a rotated basis each may be masked by a large column that they share, although what they
    leave out together is not negligible.
    """
    if N.shape[1] == 0:
        return [], N
    sparse_basis, pivots = _echelon(N * size[:, None], constant is not None)
    sparse_basis = sparse_basis / size[:, None]
    sparse_basis = sparse_basis / sparse_basis[pivots, np.arange(len(pivots))]
    left_out: dict[int, LeftOutDirection] = {}
    for candidates in (_simplified(sparse_basis, size), sparse_basis):
        if len(left_out) < len(pivots):
            effect = effect_of(data, candidates, constant)
            for t in np.flatnonzero(effect.negligible(data.eps)):
                direction = LeftOutDirection(
                    candidates[:, t], int(pivots[t]), float(effect.largest[t])
                )
                left_out.setdefault(int(t), direction)
    others = [t for t in range(len(pivots)) if t not in left_out]
    return [left_out[t] for t in sorted(left_out)], sparse_basis[:, others]


def left_out_findings(left_out: list[LeftOutDirection], columns: int) -> list[dict[str, Any]]:
    """Value of the key "left_out" of a result: {"columns", "times", "constant"} of each direction
    that changes a score. ``columns``: their number, without the constant."""
    findings = []
    for d, _, largest in left_out:
        if largest > 0:
            used = np.flatnonzero(d[:columns])
            level = float(d[columns]) if len(d) > columns else 0.0
            times = [float(c) for c in d[used]]
            findings.append({"columns": used.tolist(), "times": times, "constant": level})
    return findings


def _echelon(N: np.ndarray, constant: bool) -> tuple[Any, list[int]]:
    """Basis of the same span in which each vector has a 1 where the others have 0, and these
    pivots; the constant column is a pivot only if there is no other."""
    N = N / np.maximum(np.abs(N).max(axis=0), np.finfo(float).tiny)
    pivots: list[int] = []
    for t in range(N.shape[1]):
        free = np.abs(N[:, t:])
        free[pivots] = 0.0
        if constant:
            free[-1] *= CONSTANT_PIVOT_WEIGHT
        j, k = np.unravel_index(int(np.argmax(free)), free.shape)
        if not free[j, k] > 0:  # the remaining vectors are dependent
            return N[:, :t], pivots
        N[:, [t, t + int(k)]] = N[:, [t + int(k), t]]
        N[:, t] /= N[j, t]
        others = np.arange(N.shape[1]) != t
        N[:, others] -= np.multiply.outer(N[:, t], N[j, others])
        N[j, others] = 0.0
        pivots.append(int(j))
    return N, pivots


def _simplified(D: np.ndarray, size: np.ndarray) -> Any:
    """Round coefficients to nearby fractions of small denominator, and negligible ones to 0."""
    weight = np.abs(D) * size[:, None]
    out = np.where(weight > FRACTION_RTOL * weight.max(axis=0), D, 0.0)
    undecided = out != 0
    for denominator in range(1, MAX_DENOMINATOR + 1):
        ratio = np.round(D * denominator) / denominator
        is_near = undecided & (np.abs(ratio - D) <= FRACTION_RTOL * np.abs(D))
        out, undecided = np.where(is_near, ratio, out), undecided & ~is_near
    return out


def _effect_of_block(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, D: np.ndarray, constant: float | None
) -> tuple[Any, Any, Any]:
    """‖Xd‖, ‖|X||d|‖ and max |xᵀd| of one block."""
    X = dense(X if s is None else X[s > 0]).astype(float, copy=False)
    if constant is not None:
        X = np.hstack([X, np.full((len(X), 1), constant)])
    change = np.abs(sum(accurate_product(X, D)))
    size = np.dot(np.abs(X), np.abs(D))
    return _column_norms(change), _column_norms(size), change.max(axis=0, initial=0.0)


def _column_norms(A: np.ndarray) -> Any:
    """Return the norm of each column, without overflow of its squares."""
    largest = A.max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return largest * np.linalg.norm(A / unit, axis=0)


def _combine_effects(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    return np.hypot(left[0], right[0]), np.hypot(left[1], right[1]), np.maximum(left[2], right[2])
