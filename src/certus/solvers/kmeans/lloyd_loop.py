r"""Lloyd's iteration, to a fixed point.

    a_i = argmin_k ‖x_i − μ_k‖²        μ_k = Σ_{a_i = k} s_i x_i / Σ_{a_i = k} s_i

With z = x − c and the sums S_k = Σ s z, n_k = Σ s of a cluster,

    J(a, c + m) = Σ s‖z‖² − Σ_k (2m_kᵀS_k − n_k‖m_k‖²),        least at the means m = S/n

is known after each step without another pass over the rows: only the sums of rows that change
their cluster are updated.

This J is a difference of large numbers: one distant row, or a weight far above the others, can
exceed all that remains. Each step then makes a second pass, about the rows' own centres:

    m_k = μ_k + δ_k,  δ_k = Σ s(x − μ_k)/n_k        J(a, m) = Σ s‖x − μ‖² − Σ_k n_k‖δ_k‖²

At a fixed point J may still fall if a single row moves (``single_moves.py``): the iteration goes on
from the means after such moves, until they gain too little.
"""

from functools import partial
from typing import Any

import numpy as np

from ...data.rows import Rows, RowState
from ..progress import OnStep, Step, ignore
from .assigner import Assigner, assigner
from .fit import MIN_MOVES_GAIN, MIN_RELATIVE_GAIN, ROUNDING_GAIN, KMeansFit, center_dtype
from .label_sums import count_nonempty, masses, range_of_weights
from .refill import refill
from .single_moves import move_single_rows, weights_of_points
from .small import is_small, small

# Largest Σ s‖z‖² / J at which the rounding of Σ s‖z‖² (some 64 unit roundoffs) stays below a tenth
# of the gain that counts.
MAX_TOTAL_TO_OBJECTIVE = 0.1 * MIN_RELATIVE_GAIN / (64 * 2.0**-53)
# Beyond this ratio of weights, subtracting a heavy row from a sum leaves mostly rounding.
MAX_WEIGHT_RATIO = 1e6


def lloyd(
    rows: Rows,
    start: np.ndarray,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    on_step: OnStep = ignore,
    single_moves: bool = False,
) -> KMeansFit:
    """Run Lloyd's iteration from the centres ``start``.

    Stops when no label changes, or when the squared movement of the centres is at most ``tol``
    times the mean variance of the columns and the step gains less than ``MIN_RELATIVE_GAIN`` of J.
    ``single_moves``: go on from there as long as moves of single rows together gain more than
    ``MIN_MOVES_GAIN`` of J (``tol`` 0: more than rounding). O(n·k·p) for the first step and for
    each search for such moves, and less for each further step; memory as ``Bounds``.
    """
    C = before = start.astype(center_dtype(rows)).astype(float)
    least = MIN_MOVES_GAIN if tol > 0 else ROUNDING_GAIN
    if is_small(rows, len(C)):
        small_fit = small(rows, C, max_iter, tol, on_step, least if single_moves else None)
        if small_fit is not None:
            return small_fit
    bounds = assigner(rows, len(C))
    sums, mass = np.zeros(C.shape), np.zeros(len(C))
    total = J = settled = np.inf
    points = None
    rose, refilled, stop, n_iter, variance = 0.0, 0, False, 0, 0.0
    about_own_centers = _weights_differ(rows) or not bounds.tracks_sums
    while True:
        converged = False
        while n_iter < max_iter and not (converged or stop):
            n_iter += 1
            change = bounds.move_to(C)
            sums += change.sums
            mass += change.mass
            if n_iter == 1:
                total = change.total
                variance = mean_variance(rows, total, sums)
            refilled += refill(bounds, rows, sums, mass)
            before, last = C, J
            if not about_own_centers:
                C = means(sums, mass, before, bounds.c, rows)
                J = max(0.0, total - between_sum_of_squares(sums, mass, C - bounds.c))
                about_own_centers = not total <= MAX_TOTAL_TO_OBJECTIVE * J
                last = np.inf if about_own_centers else last  # the previous J was mostly rounding
            if about_own_centers:
                mass = masses(rows, bounds.labels, len(C))
                C, J = _step_about_own_centers(bounds, rows, mass)
            rose = max(rose, (J - last) / total if np.isfinite(last) and total > 0 else 0.0)
            stop = on_step(Step(n_iter, J, None, partial(_current_iterate, C, bounds)))
            # about their own centres, what the means still move by is rounding
            same = about_own_centers or np.array_equal(C, before)
            converged = n_iter > 1 and change.moved == 0 and same
            if not (converged or stop):
                shift = float(((C - before) ** 2).sum())
                little = last - J <= MIN_RELATIVE_GAIN * J
                converged = bool(np.isfinite(last) and shift <= tol * variance and little)
        if not np.array_equal(C, before):
            bounds.move_to(C)
        own = bounds.distances_to_own_center(keep=False)
        mass = masses(rows, bounds.labels, len(C))
        if converged:
            # the updated sums have accumulated rounding: recompute the means about the centres
            better = means(own.residual_sums, mass, C, C, rows)
            if not np.array_equal(better, C):
                C = better
                bounds.move_to(C)
                own = bounds.distances_to_own_center(keep=False)
                mass = masses(rows, bounds.labels, len(C))
        if not (single_moves and converged and n_iter < max_iter and own.objective < settled):
            break
        points = weights_of_points(rows) if settled == np.inf else points
        settled = own.objective
        moved = move_single_rows(
            rows, points, C, bounds.labels, mass, bounds.block, least * settled
        )
        if moved is None:
            break
        sums = own.residual_sums + mass[:, None] * (C - bounds.c)
        J = settled
        C = moved.astype(center_dtype(rows)).astype(float)
    effective = count_nonempty(rows, bounds.labels, len(C))
    return KMeansFit(C, bounds.labels, own.objective, n_iter, converged, refilled, effective, rose)


def _current_iterate(C: np.ndarray, bounds: Assigner) -> tuple[np.ndarray, RowState]:
    """Return (centres, labels) for a callback."""
    return C, bounds.labels


def _weights_differ(rows: Rows) -> bool:
    if rows.s is None:
        return False
    least, most = range_of_weights(rows)
    return most > MAX_WEIGHT_RATIO * least


def _step_about_own_centers(
    bounds: Assigner, rows: Rows, mass: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the means of the clusters in ``bounds.labels`` and J at these means."""
    own, C = bounds.distances_to_own_center(keep=False), bounds.C
    assert C is not None
    new = means(own.residual_sums, mass, C, C, rows)
    gain = between_sum_of_squares(own.residual_sums, mass, new - C)
    return new, max(0.0, own.objective - gain)


def means(sums: np.ndarray, mass: np.ndarray, C: np.ndarray, c: np.ndarray, rows: Rows) -> Any:
    """Return the means c + S/n, rounded to the stored dtype; empty clusters keep their centre.

    c is one origin for all clusters, or one for each.
    """
    nonempty = mass > 0
    new = C.copy()
    new[nonempty] = np.broadcast_to(c, C.shape)[nonempty] + sums[nonempty] / mass[nonempty, None]
    return new.astype(center_dtype(rows)).astype(float)


def between_sum_of_squares(sums: np.ndarray, mass: np.ndarray, m: np.ndarray) -> float:
    """Return Σ_k (2mᵀS − n‖m‖²), which at the means is Σ ‖S‖²/n."""
    return float(2 * np.vdot(m, sums) - mass @ np.einsum("ij,ij->i", m, m))


def mean_variance(rows: Rows, total: float, sums: np.ndarray) -> float:
    """Return the variance of the columns, averaged over columns."""
    S = sums.sum(axis=0)
    mass = rows.S
    return max(0.0, total / mass - float((S / mass) @ (S / mass))) / rows.shape[1]
