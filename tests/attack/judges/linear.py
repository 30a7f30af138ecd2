"""Certificates of linear models: the true excess over the optimum against the printed gap."""

from typing import Any

import numpy as np
from flint import arb

from ..precise.balls import ZERO, total
from ..precise.losses import Hinge
from ..precise.minimize import CONVERGED, Minimum, Problem, minimize, newton_step
from .left_out import limited_to, not_negligible
from .linear_problems import Posed, Rows, posed
from .separation import falling, separated
from .verdict import Fault, above

FLAT = arb(2) ** -120  # a pivot that is not above this is 0: floats have 53 bits
WIDTHS = [arb(10) ** -k for k in (2, 4, 7, 11, 16, 22)]  # over which hinges are rounded off


def judge(certificate: Any, _model: Any, rows: Rows) -> list[Fault]:
    c = certificate
    name = c.definition.rpartition(".")[2]
    problems = posed(name, c.parameters, rows)
    if c.status == "no finite optimum":
        return falling(c, rows) if name == "log_link" else separated(c, rows)
    objectives = [p.problem.value(p.theta) for p in problems]
    objective = total(objectives)
    faults: list[Fault] = []
    claimed = c.certified or np.isfinite(c.gap)
    if not claimed:
        return faults
    if not all(p.problem.allows(p.theta) for p in problems):
        return [Fault("allowed coefficients", 0.0, 1.0)] if c.certified else faults
    if not objective.is_finite():
        return [Fault("objective", c.objective, float("inf"))]
    slack = c.gap
    if not np.isfinite(c.gap):  # shares are of what the intercept alone leaves
        slack = 1e-9 * abs(c.objective) + 1e-3 * c.tol * c._finding.null_objective
    faults += above("objective is off by", abs(objective - arb(c.objective)), slack)
    left_out = c._finding.left_out
    found: list[Fault] = []
    for limited in limited_to(name, problems, left_out, rows) if left_out else [problems]:
        found = _optimum(c, limited, objectives)
        if not found:
            break
    if left_out:
        found += not_negligible(left_out, c.parameters, rows)
    return faults + found


def _optimum(c: Any, problems: list[Posed], objectives: list[arb]) -> list[Fault]:
    """What is false of the distance to the optimum."""
    if not np.isfinite(c.gap):
        return _stationary(c, problems) if c.certified else []
    best = [_best(p, value, arb(c.gap)) for p, value in zip(problems, objectives, strict=True)]
    least, objective = total(m.value for m in best), total(objectives)
    faults = above("excess over the optimum", objective - least, c.gap)
    if c.bound is not None and arb(c.bound) > least:
        faults.append(Fault("bound", c.bound, float(least.mid())))
    if c.coef_error is not None and np.isfinite(c.coef_error):
        faults += _coefficients(c, problems, best)
    return faults


def _best(p: Posed, value: arb, gap: arb) -> Minimum:
    """The lowest point found; a search ends as soon as the gap is disproven."""
    sharp = p.problem.smooth
    if not any(isinstance(loss, Hinge) for loss in getattr(sharp, "losses", ())):
        return minimize(p.problem, p.theta, value - 2 * gap - 1e-6 * abs(value))
    best, theta = Minimum(p.theta, value, ZERO, False), p.theta
    for width in WIDTHS:
        smooth = type(sharp)(sharp.A, sharp.omega, [Hinge(l.y, width) for l in sharp.losses])
        theta = minimize(Problem(smooth, p.problem.l1, p.problem.l2), theta).theta
        found = p.problem.value(theta)
        if found < best.value:
            best = Minimum(theta, found, ZERO, False)
        if best.value < value - 2 * gap or width * total(sharp.omega) < gap / 16:
            break
    return best


def _coefficients(c: Any, problems: list[Posed], best: list[Minimum]) -> list[Fault]:
    """No coefficient is farther from the optimum's than coef_error, where there is one optimum."""
    if not all(m.converged and unique(p, m) for p, m in zip(problems, best, strict=True)):
        return []
    off = ZERO
    for p, m in zip(problems, best, strict=True):
        off = max([off, *(abs(p.theta[j] - m.theta[j]) - _own_error(p, m, j)
                          for j in p.coefficients)], key=lambda v: v.mid())  # fmt: skip
    return above("distance of a coefficient", off, c.coef_error)


def unique(p: Posed, m: Minimum) -> bool:
    """Is F curved along every direction at the optimum? By elimination with diagonal pivots."""
    H = p.problem.smooth.expand(m.theta)[2].tolist()
    left = list(range(len(H)))
    for j in left:
        H[j][j] += p.problem.l2[j]
    size = [H[j][j] for j in left]
    if not all(v > 0 for v in size):
        return False
    while left:
        k = max(left, key=lambda j: (H[j][j] / size[j]).mid())
        if not H[k][k] / size[k] > FLAT:
            return False
        left.remove(k)
        for i in left:
            times = H[i][k] / H[k][k]
            for j in left:
                H[i][j] -= times * H[k][j]
    return True


def _stationary(c: Any, problems: list[Posed]) -> list[Fault]:
    """The decrease that a Newton step predicts, as a share of f₀, against the residual.

    Of Huber's loss the residual is a slope, which is compared in ``judge_slopes``.
    """
    if c.definition.rpartition(".")[2] in ("penalized", "huber_regression"):
        return []
    gain, f0 = ZERO, arb(c._finding.null_objective)
    for p in problems:
        _, g, H = p.problem.smooth.expand(p.theta)
        gain += newton_step(p.problem, p.theta, g, H)[1]
    return above("gain of a Newton step, as a share", gain / f0, c.residual)


def _own_error(p: Posed, m: Minimum, j: int) -> arb:
    """How far a penalised coefficient of the judge's own optimum can be off: its search ends where
    a step gains CONVERGED of F, and F is curved by l2 at least."""
    l2 = p.problem.l2[j]
    return (2 * CONVERGED * abs(m.value) / l2).sqrt() if l2 > 0 else ZERO
