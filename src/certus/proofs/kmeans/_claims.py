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
from certus.proofs.types import RowData

RESTART_TOLERANCE = 1e-6  # relative: restarts this close to the best found the same optimum
MAX_REPORTED = 3  # contradictions of each kind that are reported
BLOCK_ELEMENTS = 2**20  # elements of rows that are compared at a time
MAX_RELATIVE_RISE = 1e-9  # rise of the objective that the order of sums can cause
MAX_INERTIA_ERROR = 0.1  # largest relative error of inertia_ that rounding may excuse


class LabelTolerance(NamedTuple):
    """Tolerances for labels and predictions."""

    share: float  # for each row, relative to (‖x − μ‖ + max ‖μ − μ̄‖)²
    cost: float  # for all rows together, Σ s (‖x − μ_label‖² − min_k ‖x − μ_k‖²)


class LabelExcess(NamedTuple):
    """Rows with a nearer centre than that of their label."""

    rows: np.ndarray
    far: np.ndarray  # ‖x − μ_label‖
    near: np.ndarray  # min_k ‖x − μ_k‖
    cost: float  # Σ s (far² − near²)
    within_rounding: np.ndarray  # whether each row's excess is within rounding

    def contradicting(self, tolerance: LabelTolerance) -> np.ndarray:
        """Return the rows that contradict the model: all of them if they cost too much together."""
        every = np.arange(len(self.rows))
        return every[~self.within_rounding] if self.cost <= tolerance.cost else every


def invalid_label_errors(labels: np.ndarray, k: int) -> list[str]:
    """Report labels without a centre, and set them to 0."""
    bad = np.flatnonzero((labels < 0) | (labels >= k))
    messages = [
        f"row {i} is labelled {labels[i]}, and there are {k} centres" for i in bad[:MAX_REPORTED]
    ]
    labels[bad] = 0
    return messages


def label_excess(
    data: RowData,
    mu: np.ndarray,
    rows: np.ndarray,
    claimed: np.ndarray,
    true: np.ndarray,
    share: float,
    weighted: bool = True,
) -> LabelExcess:
    """Compare the labels ``claimed`` for ``rows`` with the nearest centres ``true``."""
    off = np.flatnonzero(claimed != true)
    i, far, near = rows[off], np.empty(len(off)), np.empty(len(off))
    step = max(1, BLOCK_ELEMENTS // mu.shape[1])
    for start in range(0, len(off), step):
        part = slice(start, start + step)
        X = np.asarray(dense(data.take(i[part])[0]), dtype=float)
        far[part] = ((X - mu[claimed[off[part]]]) ** 2).sum(axis=1)
        near[part] = ((X - mu[true[off[part]]]) ** 2).sum(axis=1)
    s = np.ones(len(off)) if data.s is None or not weighted else data.s[i]
    reach = np.sqrt(((mu - mu.mean(axis=0)) ** 2).sum(axis=1).max())
    rounding = share * (np.sqrt(near) + reach) ** 2
    return LabelExcess(
        i, np.sqrt(far), np.sqrt(near), float(s @ (far - near)), far - near <= rounding
    )


def label_errors(
    excess: LabelExcess, tolerance: LabelTolerance, claimed: np.ndarray, true: np.ndarray
) -> list[str]:
    """Report rows whose label is not the nearest centre."""
    contradicting = excess.contradicting(tolerance)
    messages = [
        f"row {i} is labelled {claimed[i]}, whose centre is {a:.6g} away; that of {true[i]} is "
        f"{b:.6g} away"
        for i, a, b in zip(*(x[contradicting[:MAX_REPORTED]] for x in excess[:3]), strict=True)
    ]
    if len(contradicting) > 1:
        messages[0] += f" ({len(contradicting):,} such rows)"
    return messages


def prediction_errors(
    data: RowData,
    mu: np.ndarray,
    true: np.ndarray,
    predicted: np.ndarray,
    tolerance: LabelTolerance,
    by_tree: bool,
) -> list[str]:
    """Report rows for which ``predict`` disagrees with ``labels_`` or with the definition."""
    rows, answers = predicted
    if by_tree:
        off = np.flatnonzero(answers != true[rows])
        return [
            f"predict puts row {rows[i]} in cluster {answers[i]}, labels_ in {true[rows[i]]}"
            for i in off[:MAX_REPORTED]
        ]
    excess = label_excess(data, mu, rows, answers, true[rows], tolerance.share, weighted=False)
    answer = dict(zip(rows.tolist(), np.asarray(answers).tolist(), strict=True))
    contradicting = excess.contradicting(tolerance)
    messages = [
        f"predict puts row {i} in cluster {answer[int(i)]}, whose centre is {a:.6g} away; that of "
        f"{true[i]} is {b:.6g} away"
        for i, a, b in zip(*(x[contradicting[:MAX_REPORTED]] for x in excess[:3]), strict=True)
    ]
    if len(contradicting) > 1:
        messages[0] += f" ({len(contradicting):,} such rows of {len(rows):,} compared)"
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
