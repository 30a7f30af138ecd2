r"""Which directions of the coefficients the data do not hold: one rule for every definition.

Columns that repeat others up to rounding (``total = price + tax`` in floats) make the optimum of
the stored numbers meaningless: it would use the last digits of the columns, 10¹⁶ times enlarged. A
direction d of the coefficients may be left out of a proof if, and only if,

    ‖Xd‖ ≤ 4·eps·‖|X||d|‖        X: rows of weight above 0, with a constant column if w has an
                                 intercept; eps: that of the data's own floats

that is, if one rounding of the columns could have made all that is seen of it. The claim is then
"optimal among models that do not use d". Where Xd = 0 in every row, d changes nothing, and nothing
is left out.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.accurate_products import accurate_product
from certus.proofs.linalg.linear_sums import dense
from certus.proofs.types import RowData

NEGLIGIBLE_ROUNDINGS = 4.0  # of the columns, within which a direction is negligible
LARGEST_DENOMINATOR = 24  # of coefficients that are tried as simple fractions
LAST_CHOICE = 1e-3  # of the constant column's coefficient, beside the others
SIMPLE_SHARE = 1e-5  # how far a coefficient may be from such a fraction


class Effect(NamedTuple):
    """What the rows show of directions; k of them."""

    norm: np.ndarray  # ‖Xd‖
    size: np.ndarray  # ‖|X||d|‖
    largest: np.ndarray  # max_i |x_iᵀd|

    def negligible(self, eps: float) -> Any:
        """Which directions the rule allows to leave out."""
        return self.norm * (1 + 1e-9) <= NEGLIGIBLE_ROUNDINGS * eps * self.size


class LeftOut(NamedTuple):
    """A direction that the rule allows to leave out."""

    d: np.ndarray  # (P,) in the user's units, the constant's coefficient last
    pivot: int  # a column whose coefficient is 1, and 0 in all other directions left out
    largest: float  # max_i |x_iᵀd|; 0: it changes no score at all


@np.errstate(over="ignore", invalid="ignore")  # what overflows is not negligible
def effect_of(data: RowData, D: np.ndarray, constant: float | None) -> Effect:
    """What all rows of weight above 0 show of the directions D (P, k).

    ``constant``: the value of the constant column, whose coefficients are the last row of D.
    """
    return Effect(
        *data.reduce(
            _effect_of_block, np.asarray(D, dtype=float), constant, combine=_effect_of_both
        )
    )


def negligible_in_span(
    data: RowData, N: np.ndarray, size: np.ndarray, constant: float | None
) -> list[LeftOut]:
    """Directions in the span of N (P, k) that the rule allows to leave out, as ``split_span``."""
    return split_span(data, N, size, constant)[0]


def split_span(
    data: RowData, N: np.ndarray, size: np.ndarray, constant: float | None
) -> tuple[list[LeftOut], Any]:
    """A basis of the span of N (P, k): directions that the rule allows to leave out, and the others
    (P, m).

    ``size``: of each column, (P,), which says which coefficients are large. Each direction is
    written in few columns, one of them its own and the largest, with small fractions for
    coefficients if these do: a pass, or two. Only so may several be left out together. Rotated,
    each may hide behind a large column that they share, and what they leave out together is not
    negligible.
    """
    if N.shape[1] == 0:
        return [], N
    few, pivots = _echelon(N * size[:, None], constant is not None)
    few = few / size[:, None]
    few = few / few[pivots, np.arange(len(pivots))]
    found: dict[int, LeftOut] = {}
    for tried in (_simplified(few, size), few):
        if len(found) < len(pivots):
            effect = effect_of(data, tried, constant)
            for t in np.flatnonzero(effect.negligible(data.eps)):
                one = LeftOut(tried[:, t], int(pivots[t]), float(effect.largest[t]))
                found.setdefault(int(t), one)
    rest = [t for t in range(len(pivots)) if t not in found]
    return [found[t] for t in sorted(found)], few[:, rest]


def left_out_of(found: list[LeftOut], columns: int) -> list[dict[str, Any]]:
    """For the key "left_out" of a finding: {"columns", "times", "constant"} of each direction that
    changes some score. ``columns``: how many there are, without the constant."""
    told = []
    for d, _, largest in found:
        if largest > 0:
            used = np.flatnonzero(d[:columns])
            level = float(d[columns]) if len(d) > columns else 0.0
            times = [float(c) for c in d[used]]
            told.append({"columns": used.tolist(), "times": times, "constant": level})
    return told


def _echelon(N: np.ndarray, constant: bool) -> tuple[Any, list[int]]:
    """A basis of the same span, each vector with a 1 where all others have a 0; and where: at the
    constant column only if there is no other place."""
    N = N / np.maximum(np.abs(N).max(axis=0), np.finfo(float).tiny)
    pivots: list[int] = []
    for t in range(N.shape[1]):
        free = np.abs(N[:, t:])
        free[pivots] = 0.0
        if constant:
            free[-1] *= LAST_CHOICE
        j, k = np.unravel_index(int(np.argmax(free)), free.shape)
        if not free[j, k] > 0:  # the vectors that are left add nothing
            return N[:, :t], pivots
        N[:, [t, t + int(k)]] = N[:, [t + int(k), t]]
        N[:, t] /= N[j, t]
        rest = np.arange(N.shape[1]) != t
        N[:, rest] -= np.multiply.outer(N[:, t], N[j, rest])
        N[j, rest] = 0.0
        pivots.append(int(j))
    return N, pivots


def _simplified(D: np.ndarray, size: np.ndarray) -> Any:
    """The same directions with small fractions for coefficients near them, and 0 for those that
    move scores by next to nothing."""
    weight = np.abs(D) * size[:, None]
    out = np.where(weight > SIMPLE_SHARE * weight.max(axis=0), D, 0.0)
    open_ = out != 0
    for denominator in range(1, LARGEST_DENOMINATOR + 1):
        ratio = np.round(D * denominator) / denominator
        near = open_ & (np.abs(ratio - D) <= SIMPLE_SHARE * np.abs(D))
        out, open_ = np.where(near, ratio, out), open_ & ~near
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


def _effect_of_both(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    return np.hypot(left[0], right[0]), np.hypot(left[1], right[1]), np.maximum(left[2], right[2])
