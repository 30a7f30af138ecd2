"""Squared loss with a penalty of each coefficient, on working sets of columns.

    F(w) = ½‖ŷ − X̂w‖² + Σ_j pen_j(w_j)                     (see ``squared_columns.py``)

A step takes the coefficients that are not 0 and those farthest from optimal, minimises F over
these by their sums of products (``quadratic_model.py``), and looks at all columns again. With
r = ŷ − X̂w and v = X̂ᵀr, every τ proves

    F* ≥ τ ŷᵀr − τ²/2 ‖r‖² − Σ_j [|τv_j| − l1]₊²/(2·l2),     l2 = 0: for τ with |τv_j| ≤ l1

(over w ≥ 0: v_j for |v_j|).

A penalty that is not convex has no bound; there steps end when no coefficient is far from where its
own slope is 0.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ...runtime.pool import blas_limiter
from ..progress import OnStep, Step, ignore
from .coordinate_penalty import NON_NEGATIVE, CoordinatePenalty
from .quadratic_model import minimise_model
from .squared_columns import Columns, Look

FIRST, FEW = 2.0, 10  # times √p columns are in the first working set; few of MCP and SCAD
SHARE = 0.1  # of the excess: the working set is left when its own excess is below …
LAST = 0.1  # … unless it is likely the last: it adds no more than this share of the support
NEXT, CLOSE = 0.5, 0.9  # of the support: columns that are close to l1, but not beyond
ENOUGH, ROUGHLY = 1e-12, 1e-7  # of what single coefficients could gain is left in any case
ROUNDING = 4e-15  # of F: a decrease below this is none
NOTHING = np.zeros(1)


class Found(NamedTuple):
    w: np.ndarray  # (p,)
    look: Look
    objective: float
    bound: float | None  # None where the penalty is not convex
    excess: float
    n_iter: int
    b: np.ndarray = NOTHING  # (1,)

    def step(self) -> Step:
        return Step(self.n_iter, self.objective, self.bound, lambda: self)

    @property
    def gap(self) -> float:
        return float("inf") if self.bound is None else max(self.objective - self.bound, 0.0)


def solve(
    columns: Columns,
    penalty: CoordinatePenalty,
    goal: float,
    start: tuple[np.ndarray, Look] | None = None,
    max_iter: int = 1000,
    on_step: OnStep = ignore,
) -> Found:
    """Steps until the excess is ``goal`` at most."""
    w, look = start or (np.zeros(columns.p), columns.look(np.zeros(columns.p)))
    size, stalled, iteration = first_size(columns.p, penalty), False, 0
    found = judged(columns, penalty, w, look)
    with blas_limiter:
        while True:
            told = Step(
                iteration, found.objective, found.bound, partial(_with_intercept, columns, found)
            )
            stopped = on_step(told) if iteration else False
            if found.excess <= goal or stalled or stopped or iteration >= max_iter:
                break
            found, size, stalled = advance(columns, penalty, found, size, goal)
            iteration += 1
            found = found._replace(n_iter=iteration)
    return _with_intercept(columns, found)


def advance(
    columns: Columns, penalty: CoordinatePenalty, found: Found, size: int, goal: float
) -> tuple[Found, int, bool]:
    """One working set: what it leads to, the size of the next, and whether no other would help."""
    A, all_of_them = _working_set(columns, penalty, found, size)
    new, stalled = _step(columns, penalty, found, A, goal), False
    # rounding is all that is left, or more columns are needed than were taken
    fell = found.objective - new.objective > ROUNDING * abs(found.objective)
    if not fell and new.excess > found.excess / 2:
        stalled, size = all_of_them, 2 * size
    return new, max(size, int(np.count_nonzero(new.w))), stalled


def _step(
    columns: Columns, penalty: CoordinatePenalty, found: Found, A: np.ndarray, goal: float
) -> Found:
    H, g, q = columns.near(A, found.look)
    own = penalty.take(A)
    own = own._replace(l1=own.l1 * q, l2=own.l2 * q**2)
    u0, look = found.w[A] / q, found.look
    Xy, enough = H @ u0 - g, goal / 2
    zero = A[found.w[A] == 0]
    away = penalty.take(zero).distances(found.w[zero], -look.v[zero])
    if np.count_nonzero(away) > LAST * (len(A) - len(zero)):
        enough = max(SHARE * found.excess, enough)

    def done(u: np.ndarray, slope: np.ndarray) -> bool:
        """Is the gap small enough, were there no other columns?"""
        move = u - u0
        here = Look(look.rr + float(move @ (g + slope)), look.yr - float(Xy @ move), -slope)
        return here.rr / 2 + own.value(u) - dual_bound(own, here) <= enough

    if penalty.convex:
        u = minimise_model(H, g, u0, own, ENOUGH, done)
    else:
        u = minimise_model(H, g, u0, own, ROUGHLY)
    w = found.w.copy()
    w[A] = q * u
    return judged(columns, penalty, w, columns.look(w))


def first_size(p: int, penalty: CoordinatePenalty) -> int:
    """Where there are many local optima, those found column by column are lower."""
    return max(64, int(FIRST * np.sqrt(p))) if penalty.convex else FEW


def judged(columns: Columns, penalty: CoordinatePenalty, w: np.ndarray, look: Look) -> Found:
    objective = look.rr / 2 + penalty.value(w)
    if penalty.convex:
        bound = dual_bound(penalty, look)
        return Found(w, look, objective, bound, max(objective - bound, 0.0), 0)
    away = penalty.distances(w, -look.v)
    worst = np.flatnonzero(away > 0)
    excess = 0.0
    if len(worst):  # cosines with ŷ, as a share of ‖ŷ‖²/2: no bound, but of the same scale
        cosine = float(np.max(away[worst] / columns.size(worst)))
        excess = cosine * columns.length / 2
    return Found(w, look, objective, None, excess, 0)


def dual_bound(penalty: CoordinatePenalty, look: Look) -> float:
    """The best of a few τ."""
    if look.rr == 0:
        return 0.0
    v = look.v if penalty.code == NON_NEGATIVE else np.abs(look.v)
    with np.errstate(divide="ignore", over="ignore"):
        reach = np.min(np.where(v > 0, penalty.l1 / np.maximum(v, 1e-300), np.inf), initial=np.inf)
    tau = min(max(look.yr / look.rr, 0.0), float(reach))
    best = tau * look.yr - tau**2 / 2 * look.rr
    if (penalty.l2 > 0).all() and len(penalty.l2):
        beyond = np.maximum(v - penalty.l1, 0.0)
        best = max(best, look.yr - look.rr / 2 - float(np.sum(beyond**2 / (2 * penalty.l2))))
    return best


def _working_set(
    columns: Columns, penalty: CoordinatePenalty, found: Found, size: int
) -> tuple[np.ndarray, bool]:
    """Columns, ascending; and are these all that are not optimal?"""
    if columns.at_once:
        return np.arange(columns.p), True
    support = np.flatnonzero(found.w)
    away = penalty.distances(found.w, -found.look.v)
    outside = np.flatnonzero((away > 0) & (found.w == 0))
    all_of_them = len(outside) <= size
    if not all_of_them:
        priority = away[outside] / columns.size(outside)
        outside = outside[np.argpartition(priority, -size)[-size:]]
    # those that are nearly there are likely to be next
    near = int(NEXT * len(support)) - len(outside)
    if near > 0:
        v = found.look.v if penalty.code == NON_NEGATIVE else np.abs(found.look.v)
        v = np.where((found.w == 0) & (away == 0), v, -np.inf)
        likely = np.argpartition(v, -near)[-near:]
        outside = np.append(outside, likely[v[likely] > CLOSE * penalty.l1[likely]])
    return np.union1d(support, outside), all_of_them


def _with_intercept(columns: Columns, found: Found) -> Found:
    return found._replace(b=np.array([columns.intercept(found.w)]))
