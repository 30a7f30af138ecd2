"""Compare the other claims of a k-means model with the rows: labels, predictions, sums.

A label of a certus model may be off by the rounding of ‖x − μ‖² alone. Other libraries compute
‖x‖² − 2xᵀμ + ‖μ‖² on centred data, in their precision, and a label may be off by its rounding,

    ‖x − μ_label‖² − min_k ‖x − μ_k‖² ≤ 8(p + 8) eps (‖x − μ‖ + max_k ‖μ_k − μ̄‖)²

as long as all such labels together cost no more than tol of the objective. So a distant row, which
makes the right side larger than the clusters, does not excuse wrong labels.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense
from certus.proofs.types import Matrix, RowData, RowValues

RESTART_TOLERANCE = 1e-6  # relative: restarts this close to the best found the same optimum
MAX_REPORTED = 3  # contradictions of each kind that are reported
BLOCK_ELEMENTS = 2**20  # elements of rows that are compared at a time
LABELS_AT_A_TIME = 2**20  # labels of a model that are read at a time
MAX_RELATIVE_RISE = 1e-9  # rise of the objective that the order of sums can cause
MAX_INERTIA_ERROR = 0.1  # largest relative error of inertia_ that rounding may excuse


class LabelTolerance(NamedTuple):
    """Tolerances for labels and predictions."""

    share: float  # for each row, relative to (‖x − μ‖ + max ‖μ − μ̄‖)²
    cost: float  # for all rows together, Σ s (‖x − μ_label‖² − min_k ‖x − μ_k‖²)


class WrongRow(NamedTuple):
    """A row with a nearer centre than that of its label."""

    row: int
    claimed: int
    true: int
    far: float  # ‖x − μ_claimed‖
    near: float  # ‖x − μ_true‖


class LabelExcess(NamedTuple):
    """Rows with a nearer centre than that of their label: how many, and the first of them."""

    rows: int  # rows that were looked at
    wrong: int
    beyond: int  # rows whose excess is more than rounding
    cost: float  # Σ s (far² − near²)
    first: tuple[WrongRow, ...]
    first_beyond: tuple[WrongRow, ...]

    def contradicting(self, tolerance: LabelTolerance) -> tuple[int, tuple[WrongRow, ...]]:
        """Return how many rows contradict the model, and the first: all if they cost too much."""
        if self.cost <= tolerance.cost:
            return self.beyond, self.first_beyond
        return self.wrong, self.first


def claimed_labels(data: RowData, labels: np.ndarray, k: int) -> tuple[RowValues, list[str]]:
    """Return the labels of a model, 0 for those without a centre, and what is wrong with these."""
    claimed, messages, n = data.allocate((), np.intp), [], len(labels)
    for start in range(0, n, LABELS_AT_A_TIME):
        part = np.array(labels[start : start + LABELS_AT_A_TIME], dtype=np.intp)
        bad = np.flatnonzero((part < 0) | (part >= k))
        messages += [
            f"row {start + i} is labelled {part[i]}, and there are {k} centres"
            for i in bad[:MAX_REPORTED]
        ]
        part[bad] = 0
        claimed[start : start + LABELS_AT_A_TIME] = part
    return claimed, messages[:MAX_REPORTED]


def label_excess(
    data: RowData, mu: np.ndarray, claimed: RowValues, true: RowValues, share: float
) -> LabelExcess:
    """Compare the labels ``claimed`` for all rows with the nearest centres ``true``."""
    (count,) = data.reduce_beside(_count_different, claimed, true)
    if not count:
        return LabelExcess(data.shape[0], 0, 0, 0.0, (), ())
    return data.reduce(_excess_of_block, mu, share, combine=_joined, beside=(claimed, true))


def _count_different(claimed: np.ndarray, true: np.ndarray) -> tuple[int]:
    return (int(np.count_nonzero(claimed != true)),)


def _excess_of_block(
    X: Matrix,
    _y: object,
    s: np.ndarray | None,
    claimed: np.ndarray,
    true: np.ndarray,
    mu: np.ndarray,
    share: float,
) -> LabelExcess:
    off = np.flatnonzero(claimed != true)
    far, near = np.empty(len(off)), np.empty(len(off))
    step = max(1, BLOCK_ELEMENTS // mu.shape[1])
    for start in range(0, len(off), step):
        part = off[start : start + step]
        x = np.asarray(dense(X[part]), dtype=float)
        far[start : start + step] = ((x - mu[claimed[part]]) ** 2).sum(axis=1)
        near[start : start + step] = ((x - mu[true[part]]) ** 2).sum(axis=1)
    weight = np.ones(len(off)) if s is None else s[off]
    reach = np.sqrt(((mu - mu.mean(axis=0)) ** 2).sum(axis=1).max())
    beyond = np.flatnonzero(~(far - near <= share * (np.sqrt(near) + reach) ** 2))

    def first(which: np.ndarray) -> tuple[WrongRow, ...]:
        return tuple(
            WrongRow(int(i), int(claimed[i]), int(true[i]), float(a), float(b))
            for i, a, b in zip(off[which], np.sqrt(far[which]), np.sqrt(near[which]), strict=True)
        )

    return LabelExcess(
        len(claimed), len(off), len(beyond), float(weight @ (far - near)),
        first(np.arange(len(off))[:MAX_REPORTED]), first(beyond[:MAX_REPORTED]),
    )  # fmt: skip


def _joined(left: LabelExcess, right: LabelExcess) -> LabelExcess:
    first, first_beyond = (
        (*a, *(wrong._replace(row=wrong.row + left.rows) for wrong in b))[:MAX_REPORTED]
        for a, b in ((left.first, right.first), (left.first_beyond, right.first_beyond))
    )
    return LabelExcess(
        left.rows + right.rows, left.wrong + right.wrong, left.beyond + right.beyond,
        left.cost + right.cost, first, first_beyond,
    )  # fmt: skip


def label_errors(excess: LabelExcess, tolerance: LabelTolerance) -> list[str]:
    """Report rows whose label is not the nearest centre."""
    count, first = excess.contradicting(tolerance)
    messages = [
        f"row {wrong.row} is labelled {wrong.claimed}, whose centre is {wrong.far:.6g} away; that "
        f"of {wrong.true} is {wrong.near:.6g} away"
        for wrong in first
    ]
    if count > 1:
        messages[0] += f" ({count:,} such rows)"
    return messages


def prediction_errors(
    data: RowData,
    mu: np.ndarray,
    true: RowValues,
    predicted: tuple[np.ndarray, np.ndarray],
    tolerance: LabelTolerance,
    by_tree: bool,
) -> list[str]:
    """Report rows for which ``predict`` disagrees with ``labels_`` or with the definition."""
    rows, answers = predicted
    own = true[rows]
    if by_tree:
        off = np.flatnonzero(answers != own)
        return [
            f"predict puts row {rows[i]} in cluster {answers[i]}, labels_ in {own[i]}"
            for i in off[:MAX_REPORTED]
        ]
    X = data.take(rows)[0]
    excess = _excess_of_block(X, None, None, np.asarray(answers), own, mu, tolerance.share)
    count, first = excess.contradicting(tolerance)
    messages = [
        f"predict puts row {rows[wrong.row]} in cluster {wrong.claimed}, whose centre is "
        f"{wrong.far:.6g} away; that of {wrong.true} is {wrong.near:.6g} away"
        for wrong in first
    ]
    if count > 1:
        messages[0] += f" ({count:,} such rows of {len(rows):,} compared)"
    return messages


def sum_errors(
    data: RowData,
    J: float,
    rounding: float,
    inertia: float | None,
    restarts: np.ndarray | None,
    rose: float,
    ours: bool,
) -> list[str]:
    """Report values of ``inertia_``, restarts and steps that disagree with the rows.

    ``rounding``: how much the rounding of stored centres may have changed these sums.
    """
    single = data.eps > 2 * UNIT  # other libraries sum in float32
    max_error = (
        1e-9
        if not single
        else 1e-6
        if ours
        else min(MAX_INERTIA_ERROR, 1e-4 + data.shape[0] * data.eps)
    )
    messages = []
    if inertia is not None and not abs(inertia - J) <= max_error * J + rounding:
        messages.append(f"inertia_ is {inertia:.9g}, the rows say {J:.9g}")
    if restarts is not None and min(restarts) < J * (1 - RESTART_TOLERANCE) - rounding:
        messages.append(f"a restart reached {min(restarts):.9g}, the model has {J:.9g}")
    if rose > (MAX_RELATIVE_RISE if not single else max_error):
        messages.append(f"the objective rose by a share of {rose:.1g} between two steps")
    return messages


def lost_by_storing(J: float, stored: float) -> float:
    """Bound the change of J if centres are rounded after it was computed: 2√(J·R) + R, with
    R = Σ s‖δ‖² = ``stored``; at most MAX_INERTIA_ERROR of J, so that the check keeps its force."""
    return min(2 * float(np.sqrt(J) * np.sqrt(stored)) + stored, MAX_INERTIA_ERROR * J)


def agreement(restarts: np.ndarray | None) -> tuple[int, int, float] | None:
    """Return how many of how many starts found the best J, and the relative excess of the worst."""
    if restarts is None:
        return None
    restarts = np.asarray(restarts, dtype=float)
    best, worst = restarts.min(), restarts.max()
    same = int((restarts <= best + RESTART_TOLERANCE * abs(best)).sum())
    return same, len(restarts), float((worst - best) / best) if best > 0 else 0.0
