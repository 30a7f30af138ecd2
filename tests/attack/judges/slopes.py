"""Regression where no bound is known: the true slopes against the printed residual.

    residual ≥ max_j h_j D / (‖x̃_j‖ · steepest),   |Σ s a|/(√S · steepest)

h_j is the distance of v_j = (1/D) Σ s a x̃_j to the penalty's subdifferential at w_j, a the slope of
the loss, and steepest the smaller of ‖ỹ‖ and δ√S.
"""

from typing import Any

from flint import arb

from ..precise.balls import ONE, ZERO, balls, column, dot, matrix, total
from ..precise.losses import Huber, Squares
from .linear_problems import Rows, divided, with_constant
from .verdict import Fault, NotJudged, above

LAST_DIGITS = arb(2) ** -40  # of y, as a share: a constant y is fitted to this, not to 0


def judge(c: Any, rows: Rows) -> list[Fault]:
    if not c.certified:
        return []
    assert rows.y is not None
    P, s, worst = c.parameters, rows.weights(), ZERO
    X = [balls(rows.X[:, j]) for j in range(rows.X.shape[1])]
    S, D, intercept = total(s), divided(rows, P["divisor"]), P["fit_intercept"]
    for t in range(P["w"].shape[1]):
        y, w = balls(rows.y[:, t]), balls(P["w"][:, t])
        theta = w + (balls(P["b"][t : t + 1]) if intercept else [])
        z = (matrix(with_constant(rows.X, intercept)) * column(theta)).entries()
        plain, delta = P["loss"]["name"] == "squared", arb(P["loss"].get("delta", 0.0))
        losses = [Squares(v, ONE / 2) if plain else Huber(v, delta) for v in y]
        a = [-loss(score).slope for loss, score in zip(losses, z, strict=True)]
        sa = [u * v for u, v in zip(s, a, strict=True)]
        steepest = _norm(y, s, intercept)
        least = LAST_DIGITS * _norm(y, s, False)
        steepest = max(steepest, least, key=lambda v: v.mid())
        if not plain:
            steepest = min(steepest, delta * S.sqrt(), key=lambda v: v.mid())
        shares = [abs(total(sa)) / (S.sqrt() * steepest)] if intercept else []
        for x, u in zip(X, w, strict=True):
            size = _norm(x, s, intercept)
            if not size > arb(2) ** -45 * _norm(x, s, False):
                continue  # a column that never changes
            mean = dot(s, x) / S if intercept else ZERO
            v = total(k * (value - mean) for k, value in zip(sa, x, strict=True)) / D
            shares.append(_distance(P["penalty"], u, v) * D / (size * steepest))
        worst = max([worst, *shares], key=lambda v: v.mid())
    return above("largest slope, as a share", worst, c.residual)


def _norm(x: list[arb], s: list[arb], about_mean: bool) -> arb:
    mean = dot(s, x) / total(s) if about_mean else ZERO
    return total(w * (v - mean) ** 2 for w, v in zip(s, x, strict=True)).sqrt()


def _distance(penalty: dict[str, Any], w: arb, v: arb) -> arb:
    """Distance of v to the subdifferential at w."""
    name = penalty["name"]
    if name == "elastic_net":
        l1, l2 = arb(penalty["l1"]), arb(penalty["l2"])
        if w == 0:
            beyond = (v if penalty["positive"] else abs(v)) - l1
            return beyond if beyond > 0 else ZERO
        return abs(v - l1 * (1 if w > 0 else -1) - l2 * w)
    if name not in ("mcp", "scad"):
        raise NotJudged(f"slopes of the penalty {name}")
    lam, gamma, u = arb(penalty["strength"]), arb(penalty["gamma"]), abs(w)
    if w == 0:
        return abs(v) - lam if abs(v) > lam else ZERO
    if name == "mcp":
        pull = lam - u / gamma if u < gamma * lam else ZERO
    else:
        bent = (gamma * lam - u) / (gamma - 1)
        pull = lam if u <= lam else bent if u < gamma * lam else ZERO
    return abs(v - pull * (1 if w > 0 else -1))
