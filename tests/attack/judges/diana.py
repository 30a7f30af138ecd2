"""Divisive trees: diameters, and Kaufman and Rousseeuw's splits, in high precision."""

from typing import Any

import numpy as np
from flint import arb

from ..precise.balls import ZERO, total
from ..precise.metrics import distances
from .linear_problems import Rows
from .verdict import Fault, NotJudged


def judge(c: Any, _model: Any, rows: Rows) -> list[Fault]:
    if not c.certified:
        return []
    P, n = c.parameters, len(rows.X)
    if P["metric"] == "precomputed" or P.get("scale") is not None:
        raise NotJudged("DIANA of given distances, or of scaled columns")
    D = distances(rows.X, rows.X, P["metric"], P.get("metric_params"))
    if not all(D[i][j].is_finite() for i in range(n) for j in range(i)):
        raise NotJudged("distances that are not defined")
    last_digits = 0.0 if P["metric"] not in ("cosine", "correlation") else 1e-13
    members, faults = {i: [i] for i in range(n)}, []
    for t, merge in enumerate(np.asarray(P["merges"], dtype=float)):
        a, b = members[int(merge[0])], members[int(merge[1])]
        both = sorted(a + b)
        members[n + t] = both
        diameter = max((D[i][j] for i in both for j in both), key=lambda v: v.mid())
        lost = arb(c.tol) * diameter + last_digits
        if abs(diameter - arb(float(merge[2]))) > lost:
            faults.append(Fault(f"diameter at merge {t}", float(merge[2]), float(diameter.mid())))
        if not any(_follows(D, both, set(side), lost) for side in (a, b)):
            faults.append(Fault(f"split at merge {t}", 0.0, 1.0))
    return faults[:3]


def _follows(D: list[list[arb]], rows: list[int], splinter: set[int], lost: arb) -> bool:
    """Can the rule end with this splinter, where gains that differ by ``lost`` count as equal?

    The search is over the orders in which rows may leave; of equal gains, any.
    """
    return _ends(D, rows, frozenset(), frozenset(splinter), lost, set())


def _ends(
    D: list[list[arb]], rows: list[int], out: frozenset[int], splinter: frozenset[int], lost: arb,
    seen: set[frozenset[int]],
) -> bool:  # fmt: skip
    if out in seen:
        return False
    seen.add(out)
    rest = [i for i in rows if i not in out]
    gain = {i: _gain(D, i, rest, out) for i in rest}
    most = max(gain.values(), key=lambda v: v.mid()) if rest else ZERO
    if out == splinter and (len(rest) <= 1 or not most > lost):
        return True
    if len(rest) <= 1 or (out and most < -lost):
        return False
    near = [i for i in rest if i in splinter and not gain[i] < most - lost]
    return any(_ends(D, rows, out | {i}, splinter, lost, seen) for i in near)


def _gain(D: list[list[arb]], i: int, rest: list[int], out: frozenset[int]) -> arb:
    own = total(D[i][j] for j in rest) / max(1, len(rest) - 1)
    return own - (total(D[i][j] for j in out) / len(out) if out else ZERO)
