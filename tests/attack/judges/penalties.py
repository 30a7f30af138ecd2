"""Regression with weights on a simplex, or penalised by groups: the optimum face by face."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from flint import arb, arb_mat

from ..precise.balls import ONE, ZERO, balls, matrix, total
from ..precise.losses import Huber, Squares
from ..precise.minimize import Problem, minimize
from ..precise.sums import RowSum
from .linear_problems import Rows, divided, with_constant
from .verdict import Fault, above

FEW_COLUMNS = 8


def judge(c: Any, rows: Rows) -> list[Fault]:
    """The excess over the lowest objective found on any face, against the gap."""
    assert rows.y is not None
    P = c.parameters
    if not np.isfinite(c.gap):
        return []
    objective, least = ZERO, ZERO
    for t in range(P["w"].shape[1]):
        w, b = balls(P["w"][:, t]), balls(P["b"][t : t + 1]) if P["fit_intercept"] else []
        omega = [v / divided(rows, P["divisor"]) for v in rows.weights()]
        losses = [_loss(P["loss"], y) for y in balls(rows.y[:, t])]
        find = {"simplex": _on_simplex, "group_l2": _by_groups}[P["penalty"]["name"]]
        here, best = find(rows, P, omega, losses, w, b)
        objective, least = objective + here, least + best
    faults = above("objective is off by", abs(objective - arb(c.objective)), c.gap)
    faults += above("excess over the optimum", objective - least, c.gap)
    if c.bound is not None and arb(c.bound) > least:
        faults.append(Fault("bound", c.bound, float(least.mid())))
    return faults


def _loss(loss: dict[str, Any], y: arb) -> Any:
    return Squares(y, ONE / 2) if loss["name"] == "squared" else Huber(y, arb(loss["delta"]))


def _on_simplex(
    rows: Rows, P: Any, omega: list[arb], losses: list[Any], w: list[arb], b: list[arb]
) -> tuple[arb, arb]:
    """w_j = t − Σ of the others, which are ≥ 0; at the optimum some w_j > 0 may play this part."""
    t, p = arb(P["penalty"]["total"]), len(w)
    A = matrix(with_constant(rows.X, P["fit_intercept"]))
    here = RowSum(A, omega, losses).value([*w, *b])
    best = here
    X = [balls(x) for x in rows.X]
    order = sorted(range(p), key=lambda j: -float(w[j].mid()))
    for j in order[:FEW_COLUMNS]:
        others = [k for k in range(p) if k != j]
        entries = [[x[k] - x[j] for k in others] + [x[j] * t] + [ONE] * len(b) for x in X]
        f = RowSum(arb_mat(entries), omega, losses)
        low = [ZERO] * len(others) + [ONE] + [None] * len(b)
        high = [None] * len(others) + [ONE] + [None] * len(b)
        nothing = [ZERO] * len(low)
        start = [max(w[k], ZERO, key=lambda v: v.mid()) for k in others] + [ONE] + b
        found = minimize(Problem(f, nothing, nothing, low, high), start)
        if t - total(found.theta[: len(others)]) >= 0:
            return here, min(best, found.value, key=lambda v: v.mid())
    return here, best


class WithNorms:
    """A sum over rows plus Σ_g radius_g ‖w_g‖, over groups that are not 0."""

    def __init__(self, rows: RowSum, groups: list[tuple[list[int], arb]]):
        self.rows, self.groups = rows, groups

    def value(self, theta: Sequence[arb]) -> arb:
        norms = (r * total(theta[j] ** 2 for j in g).sqrt() for g, r in self.groups)
        return self.rows.value(theta) + total(norms)

    def expand(self, theta: Sequence[arb]) -> tuple[arb, list[arb], arb_mat]:
        value, slope, H = self.rows.expand(theta)
        for g, r in self.groups:
            norm = total(theta[j] ** 2 for j in g).sqrt()
            if not norm > 0:
                continue
            value += r * norm
            for i in g:
                slope[i] += r * theta[i] / norm
                for j in g:
                    bend = (ONE if i == j else ZERO) - theta[i] * theta[j] / (norm * norm)
                    H[i, j] += r * bend / norm
        return value, slope, H


def _by_groups(
    rows: Rows, P: Any, omega: list[arb], losses: list[Any], w: list[arb], b: list[arb]
) -> tuple[arb, arb]:
    """For each choice of groups that are not 0 the problem is smooth."""
    A = matrix(with_constant(rows.X, P["fit_intercept"]))
    f = RowSum(A, omega, losses)
    strength = arb(P["penalty"]["strength"])
    groups = [(list(g), strength * arb(len(g)).sqrt()) for g in P["penalty"]["groups"]]
    smooth = WithNorms(f, groups)
    here = smooth.value([*w, *b])
    best, nothing = here, [ZERO] * (len(w) + len(b))
    for active in product((True, False), repeat=len(groups)):
        theta, held = [*w, *b], set()
        for on, (g, _) in zip(active, groups, strict=True):
            held |= set() if on else set(g)
            if on and all(theta[j] == 0 for j in g):
                slope = f.expand(theta)[1]
                size = max(abs(slope[j]).mid() for j in g)
                for j in g:
                    theta[j] = (-slope[j] * arb(2) ** -20 / size).mid() if size > 0 else ONE
        theta = [ZERO if j in held else v for j, v in enumerate(theta)]
        ends = [ZERO if j in held else None for j in range(len(theta))]
        found = minimize(Problem(smooth, nothing, nothing, ends, list(ends)), theta)
        best = min(best, found.value, key=lambda v: v.mid())
    return here, best
