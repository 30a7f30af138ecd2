"""Kernel machines: the true excess over the optimum against the printed gap.

    least squares   ½βᵀKβ + Σ_i C ω_i/2 (y_i − (Kβ)_i − b)²       (with the intercept penalised:
                    λ/2 (‖β‖² + b²) + ½ Σ_i ω_i (y_i − (Kβ)_i − b)²)
    C-SVC           ½βᵀKβ + Σ_i C_i [1 − y_i((Kβ)_i + b)]₊         for each pair of classes

Weights of density are taken as the model states them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb, arb_mat

from ..precise.balls import ONE, ZERO, balls, column, dot, total
from ..precise.kernels import gram
from ..precise.losses import Hinge, Squares
from ..precise.minimize import Minimum, Problem, minimize
from ..precise.sums import RowSum
from .linear_problems import Posed, Rows
from .verdict import Fault, NotJudged, above

WIDTHS = [arb(10) ** -k for k in (2, 4, 7, 10, 13)]


class WithNorm:
    """A sum over rows plus ½βᵀKβ, β the first coordinates."""

    def __init__(self, rows: RowSum, K: arb_mat):
        self.rows, self.K, self.n = rows, K, K.nrows()

    def value(self, theta: Sequence[arb]) -> arb:
        beta = list(theta[: self.n])
        return self.rows.value(theta) + dot(beta, (self.K * column(beta)).entries()) / 2

    def expand(self, theta: Sequence[arb]) -> tuple[arb, list[arb], arb_mat]:
        value, g, H = self.rows.expand(theta)
        Kb = (self.K * column(theta[: self.n])).entries()
        for i in range(self.n):
            g[i] += Kb[i]
            for j in range(self.n):
                H[i, j] += self.K[i, j]
        return value + dot(theta[: self.n], Kb) / 2, g, H


def judge(c: Any, model: Any, rows: Rows) -> list[Fault]:
    if not np.isfinite(c.gap):
        return []
    P, name = c.parameters, c.definition.rpartition(".")[2]
    gamma = P["gamma"]
    if isinstance(gamma, str):
        gamma = float(model._gamma)
    K = gram(rows.X, P["kernel"], gamma, P["degree"], P["coef0"])
    problems = {"lssvm": _least_squares, "primal": _primal, "svc": _pairs}[name](
        K, P, rows, _row_weights(P, model, rows, 1 if name == "svc" else 2)
    )
    objectives = [p.problem.value(p.theta) for p in problems]
    objective = total(objectives)
    faults = above("objective is off by", abs(objective - arb(c.objective)), c.gap)
    best = [_best(p, value, arb(c.gap)) for p, value in zip(problems, objectives, strict=True)]
    least = total(m.value for m in best)
    faults += above("excess over the optimum", objective - least, c.gap)
    if c.bound is not None and arb(c.bound) > least:
        faults.append(Fault("bound", c.bound, float(least.mid())))
    return faults


def _row_weights(P: dict[str, Any], model: Any, rows: Rows, power: int) -> list[arb]:
    """s·c·d^power."""
    weights = rows.weights()
    if P.get("class_weight") is not None:
        assert rows.y is not None
        y = rows.y
        if y.ndim == 2:
            y = (y[:, 0] > 0 if y.shape[1] == 1 else y.argmax(axis=1)).astype(int)
        c = balls(P["class_weight"])
        weights = [w * c[int(k)] for w, k in zip(weights, y, strict=True)]
    if P.get("density") is not None:
        d = balls(model.density_weights_)
        weights = [w * v**power for w, v in zip(weights, d, strict=True)]
    return weights


def _with_constant(K: arb_mat, intercept: bool) -> arb_mat:
    rows = K.tolist()
    return arb_mat([[*row, ONE] if intercept else row for row in rows])


def _least_squares(K: arb_mat, P: Any, rows: Rows, omega: list[arb]) -> list[Posed]:
    assert rows.y is not None
    n, k = P["beta"].shape
    C, intercept = np.broadcast_to(np.asarray(P["C"], dtype=float), (k,)), P["fit_intercept"]
    A, found = _with_constant(K, intercept), []
    for t in range(k):
        half = arb(float(C[t])) / 2
        f = RowSum(A, omega, [Squares(v, half) for v in balls(rows.y[:, t])])
        nothing = [ZERO] * (n + intercept)
        theta = balls(P["beta"][:, t]) + (balls(P["b"][t : t + 1]) if intercept else [])
        found.append(Posed(Problem(WithNorm(f, K), nothing, nothing), theta, []))
    return found


def _primal(K: arb_mat, P: Any, rows: Rows, omega: list[arb]) -> list[Posed]:
    assert rows.y is not None
    n, k = P["beta"].shape
    lam = 1 / arb(float(P["C"])) + arb(float(P["epsilon"]))
    A, found = _with_constant(K, True), []
    for t in range(k):
        f = RowSum(A, omega, [Squares(v, ONE / 2) for v in balls(rows.y[:, t])])
        theta = balls(P["beta"][:, t]) + balls(P["b"][t : t + 1])
        found.append(Posed(Problem(f, [ZERO] * (n + 1), [lam] * (n + 1)), theta, []))
    return found


def _pairs(K: arb_mat, P: Any, rows: Rows, weights: list[arb]) -> list[Posed]:
    assert rows.y is not None
    n, C, found = K.nrows(), arb(float(P["C"])), []
    if n > 30:
        raise NotJudged("C-SVC of more than 30 rows")
    A = _with_constant(K, True)
    for t, (first, second) in enumerate(np.asarray(P["pairs"]).tolist()):
        inside = [k in (first, second) for k in rows.y.tolist()]
        omega = [C * w if on else ZERO for w, on in zip(weights, inside, strict=True)]
        f = RowSum(A, omega, [Hinge(1 if k == first else -1) for k in rows.y.tolist()])
        nothing = [ZERO] * (n + 1)
        theta = balls(P["beta"][:, t]) + balls(P["b"][t : t + 1])
        found.append(Posed(Problem(WithNorm(f, K), nothing, nothing), theta, []))
    return found


def _best(p: Posed, value: arb, gap: arb) -> Minimum:
    smooth = p.problem.smooth
    sums = getattr(smooth, "rows", smooth)
    if not any(isinstance(loss, Hinge) for loss in sums.losses):
        return minimize(p.problem, p.theta, value - 2 * gap)
    best, theta = Minimum(p.theta, value, ZERO, False), p.theta
    for width in WIDTHS:
        rounded = [Hinge(l.y, width) for l in sums.losses]
        f = WithNorm(RowSum(sums.A, sums.omega, rounded), smooth.K)
        theta = minimize(Problem(f, p.problem.l1, p.problem.l2), theta).theta
        found = p.problem.value(theta)
        if found < best.value:
            best = Minimum(theta, found, ZERO, False)
        if best.value < value - 2 * gap or width * total(sums.omega) < gap / 16:
            break
    return best
