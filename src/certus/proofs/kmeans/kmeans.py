"""k-means: k centres, each row served by its nearest.

    J(μ) = Σ_i s_i min_k ‖x_i − μ_k‖²

A Lloyd step gives each row to its nearest centre and moves each centre to the mean m_k of its rows,
by which J falls by Σ_k n_k ‖μ_k − m_k‖² (n_k the weight of cluster k), and by more where rows then
change their centre. What no step lowers is a local optimum. Hartigan's test is stronger: would J
fall if one row moved, and the means of its old and its new cluster with it?

``check`` recomputes J, proves of every row that its label is that of the nearest centre (see
``_assignment.py``), takes one more Lloyd step and makes Hartigan's test of every row. A label
may be off by rounding; the step is not (see ``_ties.py``).
"""

from typing import Any

import numpy as np

from certus.proofs.kmeans._assignment import Seen, Settled, guess, leaving, settle
from certus.proofs.kmeans._claims import (
    Allowed,
    agreement,
    excess,
    lost_by_storing,
    no_clusters,
    other_answers,
    other_centers,
    other_sums,
)
from certus.proofs.kmeans._single_points import distinct_points, of_stored_centers
from certus.proofs.kmeans._spectral_bound import spectral_bound
from certus.proofs.kmeans._ties import labels_of_nearest
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.types import RowData

USEFUL = 0.5  # of the objective: what a weaker bound says is not worth saying
WORTH_A_LOOK = 2**22  # labels times centres from which a few labels are looked at first
ROWS = 512  # rows at a time
ONE_IN = 4  # rows: if no more may change their centre, they alone are looked at
NOTHING = 1e-2  # of tol·J, which rounding may add to a gain
FORGOTTEN = 1e-12  # of ‖x − μ‖²: more than differences round
SPARSE = 1e3  # times the rounding of differences is what sums over entries may lose
VANISH = 1e10 * 2.0**-1074  # a J of fewer such units a term has lost its digits to underflow


# --- the definition, plain ------------------------------------------------------------------------


def nearest(X: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(labels, squared distances); of equally near centres the first."""
    X, mu = np.asarray(X, dtype=float), np.asarray(mu, dtype=float)
    D = np.stack([((X - m) ** 2).sum(axis=1) for m in mu])
    return D.argmin(axis=0), D.min(axis=0)


def objective(X: np.ndarray, mu: np.ndarray, s: np.ndarray | None = None) -> float:
    d2 = nearest(X, mu)[1]
    return float(d2.sum() if s is None else s @ d2)


def lloyd_step(X: np.ndarray, mu: np.ndarray, s: np.ndarray | None = None) -> np.ndarray:
    """Each centre at the mean of its rows; one without rows stays."""
    X, m = np.asarray(X, dtype=float), np.array(mu, dtype=float)
    labels, s = nearest(X, mu)[0], np.ones(len(X)) if s is None else s
    for k in range(len(m)):
        mine = labels == k
        if s[mine].sum() > 0:
            m[k] = s[mine] @ X[mine] / s[mine].sum()
    return m


def gain_of_move(
    X: np.ndarray, labels: np.ndarray, i: int, b: int, s: np.ndarray | None = None
) -> float:
    """By how much Σ_k Σ_{i in k} s_i ‖x_i − m_k‖², m the clusters' means, falls if i moves to b."""
    moved = np.array(labels)
    moved[i] = b
    return _within(X, labels, s) - _within(X, moved, s)


def _within(X: np.ndarray, labels: np.ndarray, s: np.ndarray | None) -> float:
    X, s = np.asarray(X, dtype=float), np.ones(len(X)) if s is None else s
    total = 0.0
    for k in np.unique(labels[s > 0]):
        mine = labels == k
        mean = s[mine] @ X[mine] / s[mine].sum()
        total += s[mine] @ ((X[mine] - mean) ** 2).sum(axis=1)
    return total


# --- what a model claims --------------------------------------------------------------------------


def check(
    data: RowData,
    centers: np.ndarray,
    labels: np.ndarray | None = None,
    inertia: float | None = None,
    restarts: np.ndarray | None = None,
    rose: float = 0.0,
    predicted: np.ndarray | None = None,
    ties: np.ndarray | None = None,
    by_tree: bool = False,
    ours: bool = False,
    bound: bool = False,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Is J at a local optimum at these centres?

    ``labels``, ``inertia``: what the model says of each row and of J. ``restarts``: J of each
    start. ``rose``: the most by which J rose between two steps, as a share. ``predicted``: some
    rows, and what the model answers for them. ``ties``: rows with several nearest centres, and the
    label of each. ``by_tree``: labels are not
    claimed to be nearest. ``bound``: compute the spectral bound too.

    ``residual`` is what one more Lloyd step would take from J, as a share of it; an empty cluster
    takes the row that gains most by it. Centres are numbers as the model stores them, float32
    where X is: the step ends at such numbers, and ``unrounded`` is what exact means would gain.
    ``unproven`` says why nothing could be shown. O(n·k·p) operations; two such passes where the
    centres are not the means of their rows.
    """
    mu = np.array(centers, dtype=float)
    k, S = len(mu), float(data.shape[0] if data.s is None else data.s.sum())
    wrong, J = [], None
    if labels is not None:
        labels = np.array(labels, dtype=np.intp)
        wrong += no_clusters(labels, k)
    if by_tree:
        assert labels is not None
        (J,) = data.reduce(_at_labels, mu, beside=(labels,))
    true = _labels_to_begin_with(data, mu, labels)
    settled = settle(data, mu, true, strict=labels is None)
    if ties is not None and np.size(ties):
        true[ties[0]] = ties[1]
        settled = settle(data, mu, true)
    seen, weight, _ = settled
    own = labels if by_tree and labels is not None else true
    J = seen.J if J is None else J
    stored = of_stored_centers(data, mu)
    points = distinct_points(data, mu, own) if stored >= J else None
    zero, used = points is not None, mu[weight > 0]
    share, cost = 0.0 if ours else 8 * (data.shape[1] + 8) * data.eps, 0.0
    allowed = Allowed(share, tol * J + (stored if zero else 0.0))
    if labels is not None and not by_tree:
        off = excess(data, mu, np.arange(len(true)), labels, true, share)
        wrong += other_centers(off, allowed, labels, true)
        cost = off.cost
    if predicted is not None:
        wrong += other_answers(data, mu, own, predicted, allowed, by_tree)
    lost = stored if zero else 0.0 if ours else lost_by_storing(J, stored)
    wrong += other_sums(data, J, lost, inertia, restarts, rose, ours)
    rounding = (data.depth + (data.shape[1] + 8) * (SPARSE if data.sparse else 1)) * UNIT * J
    why, gain = None if zero else _not_shown(data, S, seen, J), 0.0
    if why is not None:
        gain = float("inf")
    elif not zero:
        gain = _gain(data, mu, true, settled, J, tol, ours)
        first = labels is None and ties is None
        others = labels_of_nearest(data, mu, true, seen.ties, first)
        if others is not None:  # a step gives these rows to the centre that is nearer after all
            again = settle(data, mu, others)
            gain = max(gain, _gain(data, mu, others, again, J, tol, ours))
        if gain <= tol * J:
            gain += 4 * rounding * (1 + gain / J)  # J is rounded too
    spread = float(np.sqrt(J / S))
    found = {
        "objective": J, "bound": None, "gap": float("inf"), "kind": "local", "wrong": wrong,
        "residual": gain / J if J > 0 else gain, "gain": gain, "clusters": k,
        "at_least": ours and why is None and gain > tol * J,  # the step may gain more
        "effective": len(used), "degenerate": points if points is not None and points < k else None,
        "restarts": agreement(restarts), "rose": rose, "by_tree": by_tree,
        "movable": seen.movable, "move": None, "labels_cost": cost / J if J > 0 else 0.0,
        "ties": np.stack([seen.ties[0], true[seen.ties[0]]]),
        "far": float(np.abs(mu).max()) / spread if spread > 0 else 0.0,
    }  # fmt: skip
    if why is not None:
        return found | {"unproven": why}
    if not zero:
        found |= _single_moves(data, true, settled, gain, J)
        found["unrounded"] = float(seen.exact(weight)) / J
    if zero:
        found |= {"bound": 0.0, "gap": J}
    elif k == 1:  # there is one mean
        excess_of_mean = float(seen.shift[0] @ seen.shift[0]) / S
        found |= {
            "bound": max(0.0, J - excess_of_mean - 4 * rounding),
            "gap": excess_of_mean + 5 * rounding,
        }
    elif bound:
        value, why = spectral_bound(data, k, weight @ mu / S)
        found |= {"spectral": value, "no_bound": why}
        if value is not None and value >= USEFUL * J:
            found |= {"bound": value, "gap": max(0.0, J - value) + rounding}
    return found


def _not_shown(data: RowData, S: float, seen: Seen, J: float) -> str | None:
    """Why J and what steps do to it cannot be told from rounding; None if they can."""
    if not VANISH * (S + data.shape[0]) * data.shape[1] < J:
        return (
            f"the objective is {J:.3g}, and squares of differences so small vanish: multiply X by "
            "a power of 10"
        )
    if seen.moved:
        return "rounding leaves open which centres are nearest"
    return None


def _single_moves(
    data: RowData, labels: np.ndarray, settled: Settled, gain: float, J: float
) -> dict[str, Any]:
    """Hartigan's test: the best move of one row, and the most that any move can gain.

    The test is made at the centres μ. At the means, δ away at most, each distance differs by δ: of
    a row that gains nothing at μ, the move gains at most σ·2δ(2d + 2δ) there. A row that holds
    nearly all weight of its cluster is not tested: the weight of the others is lost in its own.
    """
    seen, weight, _ = settled
    way = seen.shift / np.where(weight > 0, weight, 1.0)[:, None]
    longest = float(np.sqrt((way * way).sum(axis=1).max()))
    s = np.ones(len(labels)) if data.s is None else data.s
    sigma = leaving(s, weight[labels])
    some = sigma > 0
    most, ratio = (float(x.max(initial=0.0)) for x in (sigma, sigma[some] / s[some]))
    off = 48 * (data.shape[1] + 8) * UNIT * (SPARSE if data.sparse else 1)
    off += 0.0 if data.s is None else data.depth * UNIT * ratio
    limit = 4 * longest * (float(np.sqrt(most * seen.apart.gain)) + most * longest)
    limit += off * seen.apart.gain
    others = np.bincount(labels[s > 0], minlength=len(weight)) > 1
    untested = int(np.count_nonzero((sigma == 0) & (s > 0) & others[labels]))
    found: dict[str, Any] = {"moves_at_most": (seen.most + limit) / J, "untested": untested}
    if seen.best.gain > max(gain, limit):
        row, to = seen.best.row, seen.best.to
        found["move"] = {"gain": seen.best.gain, "row": row, "from": int(labels[row]), "to": to}
    return found


def _labels_to_begin_with(data: RowData, mu: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    """Those of the model, or nearest centres up to rounding where there are none or where many are
    wrong: labels are put right one by one."""
    n, k = data.shape[0], len(mu)
    true = np.zeros(n, dtype=np.intp) if labels is None else labels.copy()
    if labels is None or (n * k > WORTH_A_LOOK and _many_are_wrong(data, mu, true)):
        data.reduce(guess, mu, beside=(true,), times=k)
    return true


def _many_are_wrong(data: RowData, mu: np.ndarray, labels: np.ndarray) -> bool:
    i = np.unique((np.arange(ROWS) * 0.6180339887498949 % 1.0 * len(labels)).astype(np.intp))
    seem = np.empty(len(i), dtype=np.intp)
    guess(data.take(i)[0], None, None, seem, mu)
    return bool(np.mean(seem != labels[i]) > 0.1)


def _at_labels(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, mu: np.ndarray
) -> tuple[float]:
    """Σ s ‖x − μ_label‖² of a block."""
    total = 0.0
    for start in range(0, len(labels), ROWS):
        part = slice(start, start + ROWS)
        d2 = ((dense(X[part]) - mu[labels[part]]) ** 2).sum(axis=1)
        total += float(d2.sum() if s is None else np.dot(s[part], d2))
    return (total,)


def _gain(
    data: RowData,
    mu: np.ndarray,
    labels: np.ndarray,
    settled: Settled,
    J: float,
    tol: float,
    ours: bool,
) -> float:
    """By how much one more Lloyd step lowers J: a limit from above if that is below tol·J; of a
    model of ours, which has told that it was stopped, from below if that is above; else the fall.

    The step to the means alone gains Σ_k n_k ‖μ_k − m_k‖². With δ the longest way of a centre,
    ‖x − m‖ differs from ‖x − μ‖ by δ at most: rows that then change their centre gain at most
    4δ Σ s‖x − μ‖ ≤ 4δ √(Σs·J). Only rows with ‖x − μ_b‖ − ‖x − μ_a‖ ≤ δ_a + δ can change it: where
    they are few, they alone are looked at.
    """
    seen, weight, known = settled
    way = seen.shift / np.where(weight > 0, weight, 1.0)[:, None]
    kind = np.float32 if data.eps > 2 * UNIT else float  # no centre can be where no number is
    moved = (mu + way).astype(kind).astype(float) - mu
    left = way - moved
    of_means = max(0.0, float(weight @ ((way * way).sum(axis=1) - (left * left).sum(axis=1))))
    of_means += J - seen.J  # where labels were not those of nearest centres
    refilled = seen.apart.gain if (weight == 0).any() else 0.0
    longest = float(np.sqrt((moved * moved).sum(axis=1).max()))
    of_means += _lost_of_means(data, mu, labels, moved, float(weight.sum()), J)
    at_most = of_means + 4 * longest * float(np.sqrt(weight.sum()) * np.sqrt(J))
    if at_most <= tol * J and not refilled:
        return at_most
    if ours and of_means + refilled > tol * J:
        return of_means + refilled
    if known is not None:
        d2, far = known[:, 0], np.sqrt((moved * moved).sum(axis=1))[labels] + longest
        limit = (2 * np.sqrt(d2) + far) * far + FORGOTTEN * d2
        may_change = np.flatnonzero(known[:, 1] <= limit)
        if len(may_change) * ONE_IN <= len(labels):
            of_changes, off = _of_changes(data, mu + moved, labels, may_change)
            if off <= NOTHING * tol * J:
                return of_means + of_changes + off + refilled
    after = settle(data, mu + moved, labels.copy()).seen.J
    return max(of_means, J - after) + refilled


def _lost_of_means(
    data: RowData, mu: np.ndarray, labels: np.ndarray, moved: np.ndarray, S: float, J: float
) -> float:
    """By how much rounding can have made Σ_k n_k (‖m_k − μ_k‖² − ‖m_k − m̂_k‖²) too small, with m̂_k
    the number that is stored for the mean m_k. Σ s(x − μ_k) of cluster k is off by γ Σ s‖x − μ_k‖,
    which counts twice the way μ_k → m̂_k; and m̂_k may be the next number instead."""
    way = np.sqrt((moved * moved).sum(axis=1)) + 2 * data.eps * np.sqrt((mu * mu).sum(axis=1))
    share = 2 * gamma(data.depth + 16)
    most = share * float(way.max()) * float(np.sqrt(S) * np.sqrt(J))  # Σ s‖x − μ‖ ≤ √(S·J)
    if most <= UNIT * J:
        return most
    (far,) = data.reduce(_sums_of_distances, mu, beside=(labels,))
    return share * float(far @ way)


def _sums_of_distances(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, mu: np.ndarray
) -> tuple[Any]:
    """Σ s ‖x − μ‖ over each cluster of a block."""
    total = np.zeros(len(mu))
    for start in range(0, len(labels), ROWS):
        part = slice(start, start + ROWS)
        far = np.sqrt(((dense(X[part]) - mu[labels[part]]) ** 2).sum(axis=1))
        total += np.bincount(labels[part], far if s is None else s[part] * far, len(mu))
    return (total,)


def _of_changes(
    data: RowData, mu: np.ndarray, labels: np.ndarray, rows: np.ndarray
) -> tuple[float, float]:
    """Σ s (‖x − μ_a‖² − min_b ‖x − μ_b‖²) of some rows, and by how much it may be off: by
    ‖x − μ‖² = ‖u‖² − 2uᵀv + ‖v‖² about the centres' mean."""
    total, off, o = 0.0, 0.0, mu.mean(axis=0)
    v = mu - o
    vv = (v * v).sum(axis=1)
    for start in range(0, len(rows), ROWS):
        some = rows[start : start + ROWS]
        X, _, s = data.take(some)
        u, s = dense(X) - o, np.ones(len(some)) if s is None else s
        nearness = np.dot(u, 2 * v.T) - vv
        total += float(s @ (nearness.max(axis=1) - nearness[np.arange(len(some)), labels[some]]))
        length = np.sqrt((u * u).sum(axis=1)) + np.sqrt(vv.max())
        off += 4 * (mu.shape[1] + 8) * UNIT * float(s @ (length * length))
    return total, off
