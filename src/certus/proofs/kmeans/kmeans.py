"""k-means: k centres, each row assigned to its nearest.

    J(μ) = Σ_i s_i min_k ‖x_i − μ_k‖²

A Lloyd step assigns each row to its nearest centre and moves each centre to the mean m_k of its
rows, which lowers J by Σ_k n_k ‖μ_k − m_k‖² (n_k the weight of cluster k), and by more if rows then
change their centre. Centres that no step improves are a local optimum. Hartigan's test is stronger:
would J fall if one row moved, and the means of its old and its new cluster with it?

``check`` recomputes J, proves for every row that its label is the nearest centre (see
``_assignment.py``), makes one more Lloyd step and Hartigan's test for every row. A label may be off
by rounding; the step is not (see ``_ties.py``).
"""

from typing import Any

import numpy as np

from certus.proofs.kmeans._assignment import (
    AssignmentSums,
    ProvenAssignment,
    approximate_labels,
    prove_labels,
)
from certus.proofs.kmeans._claims import (
    LabelTolerance,
    agreement,
    claimed_labels,
    label_errors,
    label_excess,
    lost_by_storing,
    prediction_errors,
    sum_errors,
)
from certus.proofs.kmeans._single_moves import SPARSE_ROUNDING_FACTOR, single_moves
from certus.proofs.kmeans._single_points import distinct_points, storage_rounding
from certus.proofs.kmeans._spectral_bound import spectral_bound
from certus.proofs.kmeans._ties import labels_of_nearest
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.types import Matrix, RowData, RowValues

MIN_USEFUL_BOUND = 0.5  # share of the objective below which a bound is not reported
MIN_PROBE_WORK = 2**22  # labels times centres, from which a sample of labels is checked first
BLOCK_ROWS = 512  # rows processed at a time
MIN_ROWS_PER_CHANGE = 4  # if at most one row in four may change its centre, only these are compared
MAX_ROUNDING_SHARE = 1e-2  # of tol·J: rounding that may be added to a gain
DIFFERENCE_ROUNDING = 1e-12  # of ‖x − μ‖²: exceeds the rounding of differences
MIN_TERM = 1e10 * 2.0**-1074  # a smaller J for each term has lost digits to underflow


# --- the definition, plain ------------------------------------------------------------------------


def nearest(X: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (labels, squared distances) of the nearest centres; of equally near ones the first."""
    X, mu = np.asarray(X, dtype=float), np.asarray(mu, dtype=float)
    D = np.stack([((X - m) ** 2).sum(axis=1) for m in mu])
    return D.argmin(axis=0), D.min(axis=0)


def objective(X: np.ndarray, mu: np.ndarray, s: np.ndarray | None = None) -> float:
    d2 = nearest(X, mu)[1]
    return float(d2.sum() if s is None else s @ d2)


def lloyd_step(X: np.ndarray, mu: np.ndarray, s: np.ndarray | None = None) -> np.ndarray:
    """Return the means of the clusters; a centre without rows stays where it is."""
    X, m = np.asarray(X, dtype=float), np.array(mu, dtype=float)
    labels, s = nearest(X, mu)[0], np.ones(len(X)) if s is None else s
    for k in range(len(m)):
        members = labels == k
        if s[members].sum() > 0:
            m[k] = s[members] @ X[members] / s[members].sum()
    return m


def gain_of_move(
    X: np.ndarray, labels: np.ndarray, i: int, b: int, s: np.ndarray | None = None
) -> float:
    """Return by how much Σ_k Σ_{i in k} s_i ‖x_i − m_k‖², m the means, falls if i moves to b."""
    moved = np.array(labels)
    moved[i] = b
    return _within(X, labels, s) - _within(X, moved, s)


def _within(X: np.ndarray, labels: np.ndarray, s: np.ndarray | None) -> float:
    X, s = np.asarray(X, dtype=float), np.ones(len(X)) if s is None else s
    total = 0.0
    for k in np.unique(labels[s > 0]):
        members = labels == k
        mean = s[members] @ X[members] / s[members].sum()
        total += s[members] @ ((X[members] - mean) ** 2).sum(axis=1)
    return total


# --- what a model claims --------------------------------------------------------------------------


def check(
    data: RowData,
    centers: np.ndarray,
    labels: np.ndarray | None = None,
    inertia: float | None = None,
    restarts: np.ndarray | None = None,
    rose: float = 0.0,
    predicted: tuple[np.ndarray, np.ndarray] | None = None,
    ties: np.ndarray | None = None,
    by_tree: bool = False,
    ours: bool = False,
    bound: bool = False,
    unit: float = 1.0,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Check whether the centres are a local optimum of J.

    ``unit``: a power of two, where float64 cannot hold J. X and the centres are divided by it, and
    every sum of squares, J and ``inertia`` among them, is in units of its square.
    ``labels``, ``inertia``: the model's labels and J. ``restarts``: J of each start. ``rose``: the
    largest relative increase of J between two steps. ``predicted``: numbers of some rows, and the
    model's predictions for them. ``ties``: rows with several nearest centres, and the label of
    each. ``by_tree``: labels are not claimed to be nearest. ``bound``: compute the spectral bound
    too.

    ``residual`` is the share of J that one more Lloyd step would gain; an empty cluster takes the
    row that gains most by it. Centres are as the model stores them, in float32 if X is: the step
    ends at such numbers, and ``unrounded`` is what exact means would gain. ``unproven`` states why
    nothing could be shown. O(n·k·p) operations; two such passes if the centres are not the means of
    their rows.
    """
    with np.errstate(over="ignore"):
        mu = np.array(centers, dtype=float) / unit
    data = data if unit == 1.0 else data.divided(unit)
    k, S = len(mu), data.S
    wrong: list[str] = []
    J, claimed = None, None
    if labels is not None:
        claimed, wrong = claimed_labels(data, labels, k)
    if by_tree:
        assert claimed is not None
        (J,) = data.reduce(_at_labels, mu, beside=(claimed,))
    true = _initial_labels(data, mu, claimed)
    proven = prove_labels(data, mu, true, strict=labels is None)
    if ties is not None and np.size(ties):
        true[ties[0]] = ties[1]
        proven = prove_labels(data, mu, true)
    sums, weight, _ = proven
    own = claimed if by_tree and claimed is not None else true
    J = sums.J if J is None else J
    stored = storage_rounding(data, mu)
    points = distinct_points(data, mu, own) if stored >= J else None
    zero, used = points is not None, mu[weight > 0]
    share, cost = 0.0 if ours else 8 * (data.shape[1] + 8) * data.eps, 0.0
    tolerance = LabelTolerance(share, tol * J + (stored if zero else 0.0))
    if claimed is not None and not by_tree:
        off = label_excess(data, mu, claimed, true, share)
        wrong += label_errors(off, tolerance)
        cost = off.cost
    if predicted is not None:
        wrong += prediction_errors(data, mu, own, predicted, tolerance, by_tree)
    lost = stored if zero else 0.0 if ours else lost_by_storing(J, stored)
    wrong += sum_errors(data, J, lost, inertia, restarts, rose, ours)
    rounding = (
        (data.depth + (data.shape[1] + 8) * (SPARSE_ROUNDING_FACTOR if data.sparse else 1))
        * UNIT
        * J
    )
    why, gain = None if zero else _why_unproven(data, S, sums, J), 0.0
    if why is not None:
        gain = float("inf")
    elif not zero:
        gain = _gain(data, mu, true, proven, J, tol, ours)
        first = labels is None and ties is None
        others = labels_of_nearest(data, mu, true, sums.ties, first)
        if others is not None:  # an exact step assigns these rows to another centre
            again = prove_labels(data, mu, others)
            gain = max(gain, _gain(data, mu, others, again, J, tol, ours))
        if gain <= tol * J:
            gain += 4 * rounding * (1 + gain / J)  # J is rounded too
    spread = float(np.sqrt(J / S))
    result = {
        "objective": J, "bound": None, "gap": float("inf"), "kind": "local", "wrong": wrong,
        "residual": gain / J if J > 0 else gain, "gain": gain, "clusters": k,
        "at_least": ours and why is None and gain > tol * J,  # the step may gain more
        "effective": len(used), "degenerate": points if points is not None and points < k else None,
        "restarts": agreement(restarts), "rose": rose, "by_tree": by_tree,
        "movable": sums.movable, "move": None, "labels_cost": cost / J if J > 0 else 0.0,
        "ties": np.stack([sums.ties[0], true[sums.ties[0]]]),
        "far": float(np.abs(mu).max()) / spread if spread > 0 else 0.0,
    }  # fmt: skip
    if why is not None:
        return result | {"unproven": why}
    if not zero:
        result |= single_moves(data, true, proven, gain, J, tol)
        result["unrounded"] = float(sums.exact(weight)) / J
    if zero:
        result |= {"bound": 0.0, "gap": J}
    elif k == 1:  # the mean is the global optimum
        excess_of_mean = float(sums.shift[0] @ sums.shift[0]) / S
        result |= {
            "bound": max(0.0, J - excess_of_mean - 4 * rounding),
            "gap": excess_of_mean + 5 * rounding,
        }
    elif bound:
        value, why = spectral_bound(data, k, weight @ mu / S)
        result |= {"spectral": value, "no_bound": why}
        if value is not None and value >= MIN_USEFUL_BOUND * J:
            result |= {"bound": value, "gap": max(0.0, J - value) + rounding}
    return result


def _why_unproven(data: RowData, S: float, sums: AssignmentSums, J: float) -> str | None:
    """Return why J and the gain of a step are lost in rounding, or None if they are not."""
    if not MIN_TERM * (S + data.shape[0]) * data.shape[1] < J:
        return (
            f"the objective is {J:.3g}, and squares of differences so small underflow: multiply X "
            "by a power of 10"
        )
    if sums.moved:
        return "rounding leaves open which centres are nearest"
    return None


def _initial_labels(data: RowData, mu: np.ndarray, labels: RowValues | None) -> RowValues:
    """Return the model's labels, or approximately nearest centres if there are none or many are
    wrong, since wrong labels are corrected one by one."""
    n, k = data.shape[0], len(mu)
    true: RowValues = data.allocate((), np.intp) if labels is None else labels.copy()
    if labels is None or (n * k > MIN_PROBE_WORK and _mostly_wrong(data, mu, true)):
        data.reduce(approximate_labels, mu, beside=(true,), times=k)
    return true


def _mostly_wrong(data: RowData, mu: np.ndarray, labels: RowValues) -> bool:
    n = data.shape[0]
    i = np.unique((np.arange(BLOCK_ROWS) * 0.6180339887498949 % 1.0 * n).astype(np.intp))
    nearest_labels = np.empty(len(i), dtype=np.intp)
    approximate_labels(data.take(i)[0], None, None, nearest_labels, mu)
    return bool(np.mean(nearest_labels != labels[i]) > 0.1)


def _at_labels(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, mu: np.ndarray
) -> tuple[float]:
    """Return Σ s ‖x − μ_label‖² of a block."""
    total = 0.0
    for start in range(0, len(labels), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        d2 = ((dense(X[part]) - mu[labels[part]]) ** 2).sum(axis=1)
        total += float(d2.sum() if s is None else np.dot(s[part], d2))
    return (total,)


def _gain(
    data: RowData,
    mu: np.ndarray,
    labels: RowValues,
    proven: ProvenAssignment,
    J: float,
    tol: float,
    ours: bool,
) -> float:
    """Return by how much one more Lloyd step lowers J.

    This is an upper bound if that is below tol·J; for a model of certus, which reports itself that
    it was stopped, a lower bound if that is above tol·J; otherwise the gain itself.

    The step to the means alone gains Σ_k n_k ‖μ_k − m_k‖². With δ the largest movement of a centre,
    ‖x − m‖ differs from ‖x − μ‖ by at most δ: rows that then change their centre gain at most
    4δ Σ s‖x − μ‖ ≤ 4δ √(Σs·J). Only rows with ‖x − μ_b‖ − ‖x − μ_a‖ ≤ δ_a + δ can change it: if
    these are few, only they are compared.
    """
    sums, weight, margins = proven
    shift_to_mean = sums.shift / np.where(weight > 0, weight, 1.0)[:, None]
    kind = np.float32 if data.eps > 2 * UNIT else float  # centres are stored in this type
    moved = (mu + shift_to_mean).astype(kind).astype(float) - mu
    unreached = shift_to_mean - moved
    of_means = max(
        0.0,
        float(
            weight
            @ ((shift_to_mean * shift_to_mean).sum(axis=1) - (unreached * unreached).sum(axis=1))
        ),
    )
    of_means += J - sums.J  # if labels were not the nearest centres
    refilled = sums.split_off.gain if (weight == 0).any() else 0.0
    longest = float(np.sqrt((moved * moved).sum(axis=1).max()))
    of_means += _rounding_of_means(data, mu, labels, moved, float(weight.sum()), J)
    at_most = of_means + 4 * longest * float(np.sqrt(weight.sum()) * np.sqrt(J))
    if at_most <= tol * J and not refilled:
        return at_most
    if ours and of_means + refilled > tol * J:
        return of_means + refilled
    if margins is not None:
        reach = np.sqrt((moved * moved).sum(axis=1)) + longest
        (count,) = data.reduce_beside(_count_may_change, margins, labels, reach)
        if count * MIN_ROWS_PER_CHANGE <= data.shape[0]:
            of_changes, off = 0.0, 0.0
            if count:
                of_changes, off = data.reduce(
                    _gain_of_changes, mu + moved, reach, beside=(margins, labels)
                )
            if off <= MAX_ROUNDING_SHARE * tol * J:
                return of_means + of_changes + off + refilled
    after = prove_labels(data, mu + moved, labels.copy()).sums.J
    return max(of_means, J - after) + refilled


def _rounding_of_means(
    data: RowData, mu: np.ndarray, labels: RowValues, moved: np.ndarray, S: float, J: float
) -> float:
    """Bound the rounding error of Σ_k n_k (‖m_k − μ_k‖² − ‖m_k − m̂_k‖²), m̂_k the stored mean.

    Σ s(x − μ_k) of cluster k is off by γ Σ s‖x − μ_k‖, which enters with twice ‖m̂_k − μ_k‖; and m̂_k
    may be the neighbouring float instead.
    """
    shift_to_mean = np.sqrt((moved * moved).sum(axis=1)) + 2 * data.eps * np.sqrt(
        (mu * mu).sum(axis=1)
    )
    share = 2 * gamma(data.depth + 16)
    most = (
        share * float(shift_to_mean.max()) * float(np.sqrt(S) * np.sqrt(J))
    )  # Σ s‖x − μ‖ ≤ √(S·J)
    if most <= UNIT * J:
        return most
    (far,) = data.reduce(_sums_of_distances, mu, beside=(labels,))
    return share * float(far @ shift_to_mean)


def _sums_of_distances(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, mu: np.ndarray
) -> tuple[Any]:
    """Return Σ s ‖x − μ‖ over each cluster of a block."""
    total = np.zeros(len(mu))
    for start in range(0, len(labels), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        far = np.sqrt(((dense(X[part]) - mu[labels[part]]) ** 2).sum(axis=1))
        total += np.bincount(labels[part], far if s is None else s[part] * far, len(mu))
    return (total,)


def _may_change(margins: np.ndarray, labels: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return the rows of a block that can change their centre if it moves; see ``_gain``."""
    d2, far = margins[:, 0], reach[labels]
    limit = (2 * np.sqrt(d2) + far) * far + DIFFERENCE_ROUNDING * d2
    return np.flatnonzero(margins[:, 1] <= limit)


def _count_may_change(margins: np.ndarray, labels: np.ndarray, reach: np.ndarray) -> tuple[int]:
    return (len(_may_change(margins, labels, reach)),)


def _gain_of_changes(
    X: Matrix,
    _y: object,
    s: np.ndarray | None,
    margins: np.ndarray,
    labels: np.ndarray,
    mu: np.ndarray,
    reach: np.ndarray,
) -> tuple[float, float]:
    """Return Σ s (‖x − μ_a‖² − min_b ‖x − μ_b‖²) over the rows of a block that may change their
    centre, and a bound of its rounding error.

    Computed by ‖x − μ‖² = ‖u‖² − 2uᵀv + ‖v‖² about the mean of the centres.
    """
    total, off, o, rows = 0.0, 0.0, mu.mean(axis=0), _may_change(margins, labels, reach)
    v = mu - o
    vv = (v * v).sum(axis=1)
    for start in range(0, len(rows), BLOCK_ROWS):
        part = rows[start : start + BLOCK_ROWS]
        u, weight = dense(X[part]) - o, np.ones(len(part)) if s is None else s[part]
        nearness = np.dot(u, 2 * v.T) - vv
        own = nearness[np.arange(len(part)), labels[part]]
        total += float(weight @ (nearness.max(axis=1) - own))
        length = np.sqrt((u * u).sum(axis=1)) + np.sqrt(vv.max())
        off += 4 * (mu.shape[1] + 8) * UNIT * float(weight @ (length * length))
    return total, off
