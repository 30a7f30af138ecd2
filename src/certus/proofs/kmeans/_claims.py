"""What a model of k-means says besides its centres, against the rows: labels, answers, sums.

Of a model of certus a label may be off by the rounding of ‖x − μ‖² alone. Others compute
‖x‖² − 2xᵀμ + ‖μ‖² on centred data, in their precision, and a label may be off by what that loses,

    ‖x − μ_label‖² − min_k ‖x − μ_k‖² ≤ 8(p + 8) eps (‖x − μ‖ + max_k ‖μ_k − μ̄‖)²

as long as all such labels together cost no more than tol of the objective: where one far row makes
the right side larger than the clusters, it excuses nothing.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense
from certus.proofs.types import RowData

AGREE = 1e-6  # restarts so close to the best, relative, found the same
NAMED = 3  # contradictions told of each kind
AT_A_TIME = 2**20  # elements of rows whose distances are compared
ROSE = 1e-9  # by which sums in another order may make the objective seem to rise
LOOSE = 0.1  # share of J within which any inertia_ must be


class Allowed(NamedTuple):
    """What labels and answers may be off by."""

    share: float  # of (‖x − μ‖ + max ‖μ − μ̄‖)², each
    cost: float  # Σ s (‖x − μ_label‖² − min_k ‖x − μ_k‖²), all together


class Excess(NamedTuple):
    """Rows with a nearer centre than that of their label."""

    rows: np.ndarray
    far: np.ndarray  # ‖x − μ_label‖
    near: np.ndarray  # min_k ‖x − μ_k‖
    cost: float  # Σ s (far² − near²)
    forgiven: np.ndarray  # whether it is each row's rounding

    def named(self, allowed: Allowed) -> np.ndarray:
        """Those that contradict the model: all, where they cost too much together."""
        every = np.arange(len(self.rows))
        return every[~self.forgiven] if self.cost <= allowed.cost else every


def no_clusters(labels: np.ndarray, k: int) -> list[str]:
    """Labels of no centre, which are then set to 0."""
    bad = np.flatnonzero((labels < 0) | (labels >= k))
    said = [f"row {i} is labelled {labels[i]}, and there are {k} centres" for i in bad[:NAMED]]
    labels[bad] = 0
    return said


def excess(
    data: RowData,
    mu: np.ndarray,
    rows: np.ndarray,
    claimed: np.ndarray,
    true: np.ndarray,
    share: float,
    weighted: bool = True,
) -> Excess:
    """What the labels ``claimed`` for ``rows`` cost, beside those of their nearest centres."""
    off = np.flatnonzero(claimed != true)
    i, far, near = rows[off], np.empty(len(off)), np.empty(len(off))
    step = max(1, AT_A_TIME // mu.shape[1])
    for start in range(0, len(off), step):
        part = slice(start, start + step)
        X = np.asarray(dense(data.take(i[part])[0]), dtype=float)
        far[part] = ((X - mu[claimed[off[part]]]) ** 2).sum(axis=1)
        near[part] = ((X - mu[true[off[part]]]) ** 2).sum(axis=1)
    s = np.ones(len(off)) if data.s is None or not weighted else data.s[i]
    reach = np.sqrt(((mu - mu.mean(axis=0)) ** 2).sum(axis=1).max())
    lost = share * (np.sqrt(near) + reach) ** 2
    return Excess(i, np.sqrt(far), np.sqrt(near), float(s @ (far - near)), far - near <= lost)


def other_centers(
    found: Excess, allowed: Allowed, claimed: np.ndarray, true: np.ndarray
) -> list[str]:
    """Rows whose label is not that of their nearest centre."""
    named = found.named(allowed)
    said = [
        f"row {i} is labelled {claimed[i]}, whose centre is {a:.6g} away; that of {true[i]} is "
        f"{b:.6g} away"
        for i, a, b in zip(*(x[named[:NAMED]] for x in found[:3]), strict=True)
    ]
    if len(named) > 1:
        said[0] += f" ({len(named):,} such rows)"
    return said


def other_answers(
    data: RowData,
    mu: np.ndarray,
    true: np.ndarray,
    predicted: np.ndarray,
    allowed: Allowed,
    by_tree: bool,
) -> list[str]:
    """Rows that ``predict`` puts where ``labels_``, or the definition, do not."""
    rows, answers = predicted
    if by_tree:
        off = np.flatnonzero(answers != true[rows])
        return [
            f"predict puts row {rows[i]} in cluster {answers[i]}, labels_ in {true[rows[i]]}"
            for i in off[:NAMED]
        ]
    found = excess(data, mu, rows, answers, true[rows], allowed.share, weighted=False)
    answer = dict(zip(rows.tolist(), np.asarray(answers).tolist(), strict=True))
    named = found.named(allowed)
    said = [
        f"predict puts row {i} in cluster {answer[int(i)]}, whose centre is {a:.6g} away; that of "
        f"{true[i]} is {b:.6g} away"
        for i, a, b in zip(*(x[named[:NAMED]] for x in found[:3]), strict=True)
    ]
    if len(named) > 1:
        said[0] += f" ({len(named):,} such rows of {len(rows):,} that were asked)"
    return said


def other_sums(
    data: RowData,
    J: float,
    lost: float,
    inertia: float | None,
    restarts: np.ndarray | None,
    rose: float,
    ours: bool,
) -> list[str]:
    """``inertia_``, restarts and steps that the rows do not bear out. ``lost``: what rounding of
    the centres may have changed since these sums were taken."""
    single = data.eps > 2 * UNIT  # float32: others add up in it
    loose = 1e-9 if not single else 1e-6 if ours else min(LOOSE, 1e-4 + data.shape[0] * data.eps)
    said = []
    if inertia is not None and not abs(inertia - J) <= loose * J + lost:
        said.append(f"inertia_ is {inertia:.9g}, the rows say {J:.9g}")
    if restarts is not None and min(restarts) < J * (1 - AGREE) - lost:
        said.append(f"a restart reached {min(restarts):.9g}, the model has {J:.9g}")
    if rose > (ROSE if not single else loose):
        said.append(f"the objective rose by a share of {rose:.1g} between two steps")
    return said


def lost_by_storing(J: float, stored: float) -> float:
    """The most by which J changes where centres are rounded after it was computed: 2√(J·R) + R,
    with R = Σ s‖δ‖² = ``stored``; but never so much that any number would do."""
    return min(2 * float(np.sqrt(J) * np.sqrt(stored)) + stored, LOOSE * J)


def agreement(restarts: np.ndarray | None) -> tuple[int, int, float] | None:
    """How many of how many starts found the best, and how far above it the worst is, relative."""
    if restarts is None:
        return None
    restarts = np.asarray(restarts, dtype=float)
    best, worst = restarts.min(), restarts.max()
    same = int((restarts <= best + AGREE * abs(best)).sum())
    return same, len(restarts), float((worst - best) / best) if best > 0 else 0.0
