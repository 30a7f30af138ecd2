r"""Lloyd's iteration, to a fixed point.

    a_i = argmin_k ‖x_i − μ_k‖²        μ_k = Σ_{a_i = k} s_i x_i / Σ_{a_i = k} s_i

With z = x − c and the sums S_k = Σ s z, n_k = Σ s of a cluster,

    J(a, c + m) = Σ s‖z‖² − Σ_k (2m_kᵀS_k − n_k‖m_k‖²),        least at the means m = S/n

is known after each step without a look at the rows. Sums follow the rows that move.

That J is a difference, and one far row, or a weight far above the others, can be larger than all
that is left of it. Then each step looks at the rows once more, about their own centres:

    m_k = μ_k + δ_k,  δ_k = Σ s(x − μ_k)/n_k        J(a, m) = Σ s‖x − μ‖² − Σ_k n_k‖δ_k‖²
"""

from functools import partial
from typing import Any

import numpy as np

from ...data.rows import Rows
from ..progress import OnStep, Step, ignore
from .assigner import Assigner, assigner
from .fit import GAIN, Fit, owners, stored
from .refill import refill
from .small import is_small, small

# Σ s‖z‖² beyond which its rounding, some sixty roundings, is not far below GAIN of J
MOST_TO_OBJECTIVE = 0.1 * GAIN / (64 * 2.0**-53)
MOST_TO_LEAST_WEIGHT = 1e6  # beyond: what a heavy row leaves of a sum when it goes is rounding


def lloyd(
    rows: Rows,
    start: np.ndarray,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    on_step: OnStep = ignore,
) -> Fit:
    """From the centres ``start`` until labels repeat, or centres move by no more than ``tol`` times
    the mean variance of the columns (Σ of squares) and a step gains next to nothing.

    O(n·k·p) for the first step and less for each further one; memory as ``Bounds``.
    """
    C = before = start.astype(stored(rows)).astype(float)
    if is_small(rows, len(C)):
        found = small(rows, C, max_iter, tol, on_step)
        if found is not None:
            return found
    bounds = assigner(rows, len(C))
    sums, mass = np.zeros(C.shape), np.zeros(len(C))
    total = J = np.inf
    rose, refilled, converged, n_iter, variance = 0.0, 0, False, 0, 0.0
    about_own = _weights_differ(rows) or not bounds.keeps_sums
    for n_iter in range(1, max_iter + 1):
        change = bounds.move_to(C)
        sums += change.sums
        mass += change.mass
        if n_iter == 1:
            total = change.total
            variance = mean_variance(rows, total, sums)
        refilled += refill(bounds, rows, sums, mass)
        before, last = C, J
        if not about_own:
            C = means(sums, mass, before, bounds.c, rows)
            J = max(0.0, total - spread_of_centres(sums, mass, C - bounds.c))
            about_own = not total <= MOST_TO_OBJECTIVE * J
            last = np.inf if about_own else last  # what was known of J is rounding
        if about_own:
            mass = masses(rows, bounds.labels, len(C))
            C, J = _step_about_own(bounds, rows, mass)
        rose = max(rose, (J - last) / total if np.isfinite(last) and total > 0 else 0.0)
        stop = on_step(Step(n_iter, J, None, partial(_so_far, C, bounds)))
        same = about_own or np.array_equal(C, before)  # about their own, what is left is rounding
        converged = n_iter > 1 and change.moved == 0 and same
        if converged or stop:
            break
        shift = float(((C - before) ** 2).sum())
        if np.isfinite(last) and shift <= tol * variance and last - J <= GAIN * J:
            converged = True
            break
    if not np.array_equal(C, before):
        bounds.move_to(C)
    own = bounds.own()
    if converged:
        # sums that followed the rows have gathered rounding: the means once more, about themselves
        better = means(own.rest, masses(rows, bounds.labels, len(C)), C, C, rows)
        if not np.array_equal(better, C):
            C = better
            bounds.move_to(C)
            own = bounds.own()
    effective = owners(rows, bounds.labels)
    return Fit(C, bounds.labels, own.objective, n_iter, converged, refilled, effective, rose)


def _so_far(C: np.ndarray, bounds: Assigner) -> tuple[np.ndarray, np.ndarray]:
    return C, bounds.labels


def masses(rows: Rows, labels: np.ndarray, k: int) -> np.ndarray:
    """Σ s of each cluster."""
    return np.bincount(labels, rows.s, k).astype(float)


def _weights_differ(rows: Rows) -> bool:
    if rows.s is None:
        return False
    least = rows.s[rows.s > 0].min(initial=np.inf)
    return bool(rows.s.max(initial=0.0) > MOST_TO_LEAST_WEIGHT * least)


def _step_about_own(bounds: Assigner, rows: Rows, mass: np.ndarray) -> tuple[np.ndarray, float]:
    """(means, J there) of the clusters that ``bounds.labels`` say."""
    own, C = bounds.own(), bounds.C
    assert C is not None
    new = means(own.rest, mass, C, C, rows)
    gain = spread_of_centres(own.rest, mass, new - C)
    return new, max(0.0, own.objective - gain)


def means(sums: np.ndarray, mass: np.ndarray, C: np.ndarray, c: np.ndarray, rows: Rows) -> Any:
    """c + S/n, as stored; c: one for all, or each its own. Centres of nothing stay."""
    some = mass > 0
    new = C.copy()
    new[some] = np.broadcast_to(c, C.shape)[some] + sums[some] / mass[some, None]
    return new.astype(stored(rows)).astype(float)


def spread_of_centres(sums: np.ndarray, mass: np.ndarray, m: np.ndarray) -> float:
    """Σ_k 2mᵀS − n‖m‖²; of means, Σ ‖S‖²/n."""
    return float(2 * np.vdot(m, sums) - mass @ np.einsum("ij,ij->i", m, m))


def mean_variance(rows: Rows, total: float, sums: np.ndarray) -> float:
    """Of the columns, on average."""
    S = sums.sum(axis=0)
    mass = rows.S
    return max(0.0, total / mass - float((S / mass) @ (S / mass))) / rows.shape[1]
