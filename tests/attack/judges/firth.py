"""Firth's logistic regression: the gain of one more scoring step in high precision.

    F = −Σ s log P(y|x) − ½ log det I        I = Σ s p(1 − p) x̃x̃ᵀ
    ∇F = Σ s (p − y + h(p − ½)) x̃            h = p(1 − p) x̃ᵀI⁻¹x̃

The gain is ½ ∇FᵀI⁻¹∇F, as a share of what the intercept alone leaves.
"""

from typing import Any

import numpy as np
from flint import arb, arb_mat

from ..precise.balls import balls, column, matrix, scaled_rows, total
from ..precise.losses import Logistic
from .left_out import choices, not_negligible
from .linear_problems import Rows, with_constant
from .verdict import Fault, NotJudged, above


def judge(c: Any, _model: Any, rows: Rows) -> list[Fault]:
    if not c.certified:
        return []
    P, y = c.parameters, rows.y
    assert y is not None
    used = np.ones(len(y), bool) if rows.s is None else rows.s > 0
    A = with_constant(rows.X, P["fit_intercept"])[used]
    left_out = c._finding.left_out
    columns = independent(A)
    if not left_out:
        return _stationary(c, rows, used, A, columns)
    if len(columns) < A.shape[1]:
        raise NotJudged("Firth with directions left out, and others that are none")
    found: list[Fault] = []
    for held in choices(left_out, rows):
        found = _stationary(c, rows, used, A, [j for j in columns if j not in held])
        if not found:
            break
    return found + not_negligible(left_out, P, rows)


def _stationary(c: Any, rows: Rows, used: Any, A: np.ndarray, columns: list[int]) -> list[Fault]:
    """What is false of the objective, and of a step in the coefficients of ``columns``."""
    P, y = c.parameters, rows.y
    assert y is not None
    theta = balls(P["w"]) + (balls(P["b"]) if P["fit_intercept"] else [])
    omega = balls(np.ones(used.sum()) if rows.s is None else rows.s[used])
    z = (matrix(A) * column(theta)).entries()
    B = matrix(A[:, columns])
    p = [(1 / (1 + (-v).exp())) for v in z]
    bend = [w * v * (1 - v) for w, v in zip(omega, p, strict=True)]
    information: arb_mat = B.transpose() * scaled_rows(B, bend)
    inverse = information.inv()
    rows_of = B.tolist()
    slope = []
    for x, w, v, k in zip(rows_of, omega, p, y[used].tolist(), strict=True):
        u = column(x)
        h = v * (1 - v) * (u.transpose() * inverse * u)[0, 0]
        slope.append(w * (v - int(k) + h * (v - arb(0.5))))
    g = B.transpose() * column(slope)
    gain = (g.transpose() * inverse * g)[0, 0] / 2
    f0 = arb(c._finding.null_objective)
    faults = above("gain of a scoring step, as a share", gain / f0, c.residual)
    if len(columns) == A.shape[1]:
        losses = [Logistic(1 if k else -1)(v).value for k, v in zip(y[used], z, strict=True)]
        F = total(w * v for w, v in zip(omega, losses, strict=True)) - information.det().log() / 2
        faults += above(
            "objective is off by", abs(F - arb(c.objective)), c._finding.facts.objective_error
        )
    return faults


def independent(A: np.ndarray) -> list[int]:
    """Columns that are no combination of those before, exactly."""
    from .kmeans import fractions

    rows = fractions(A.T)
    basis: list[tuple[int, Any]] = []
    kept = []
    for j, v in enumerate(rows):
        for pivot, b in basis:
            v = v - b * (v[pivot] / b[pivot])
        nonzero = [i for i, value in enumerate(v) if value != 0]
        if nonzero:
            basis.append((nonzero[0], v))
            kept.append(j)
    return kept
