"""NCFS: the slopes of the objective in high precision, against the printed residual."""

from typing import Any

import numpy as np
from flint import arb

from ..precise.balls import ONE, ZERO, balls, dot, total
from .linear_problems import Rows
from .verdict import Fault, NotJudged, above


def judge(c: Any, _model: Any, rows: Rows) -> list[Fault]:
    """∂F/∂W_l = Σ_ij a_i p_ij (q_i − G_ij)/σ ∂D_ij/∂W_l − λ is 0 where W_l > 0, ≤ 0 elsewhere."""
    P = c.parameters
    if not c.certified:
        return []
    if P["metric"] not in ("manhattan", "sqeuclidean") or rows.y is None:
        raise NotJudged(f"NCFS with {P['metric']}")
    n, p = rows.X.shape
    varies = [j for j in range(p) if len(set(rows.X[:, j].tolist())) > 1]
    W, sigma, lam = balls(P["W"]), arb(P["sigma"]), arb(P["alpha"])
    shift, scale = balls(P["shift"]), balls(P["scale"])
    X = [[(arb(float(x)) - shift[j]) / scale[j] for j, x in enumerate(row)] for row in rows.X]
    G = _gains(P, rows)
    a = _weights(P, rows)
    square = P["metric"] == "sqeuclidean"
    slope, F, size = [-lam] * p, -lam * total(W), ZERO
    batches = -(-n // (P["batch_size"] or n))  # a row has its neighbours in its batch
    if not P.get("mean"):
        a = [v / batches for v in a]
    for i in range(n):
        b = (batches * (i + 1) - 1) // n
        batch = range(b * n // batches, (b + 1) * n // batches)
        far: dict[int, list[arb]] = {}
        for j in batch:
            d = [ZERO] * p
            for l in varies:
                u = abs(X[i][l] - X[j][l])
                d[l] = u * u if square else u
            far[j] = d
        D = {j: dot(W, d) / sigma for j, d in far.items()}
        least = min((D[j] for j in batch if j != i), key=lambda v: v.mid())
        e = {j: (least - v).exp() if j != i else ZERO for j, v in D.items()}
        S = total(e.values())
        q = dot([*e.values()], [G[i][j] for j in batch]) / S
        F += a[i] * q
        size += a[i] * abs(q)
        for j in batch:
            if j != i:
                weight = a[i] * e[j] / S * (q - G[i][j]) / sigma
                for l in varies:
                    slope[l] += weight * far[j][l]
    unit = arb(c._finding.unit)
    worst = ZERO
    for w, g in zip(W, slope, strict=True):
        violated = abs(g) if w > 0 else (g if g > 0 else ZERO)
        worst = max([worst, violated], key=lambda v: v.mid())
    faults = above("largest slope, in units of α", worst / unit, c.residual)
    most = 1e-7 * (float(size) + 1)
    return faults + above("objective is off by", abs(F - arb(c.objective)), most)


def _gains(P: dict[str, Any], rows: Rows) -> list[list[arb]]:
    assert rows.y is not None
    if P.get("gains") is not None:
        gains, y = np.asarray(P["gains"]), rows.y.astype(int)
        return [balls(gains[k][y]) for k in y]
    y = balls(rows.y[:, 0])
    loss = {"absolute": lambda d: abs(d), "squared": lambda d: d * d}.get(str(P["loss"]))
    if P["loss"] == "epsilon_insensitive":
        epsilon = arb(P["epsilon"])

        def loss(d: arb) -> arb:
            return abs(d) - epsilon if abs(d) > epsilon else ZERO

    if loss is None:
        raise NotJudged("NCFS with a loss of the user's")
    return [[-loss(u - v) for v in y] for u in y]


def _weights(P: dict[str, Any], rows: Rows) -> list[arb]:
    s = rows.weights()
    S, prior = total(s), P.get("prior")
    a = s
    if prior is not None:
        assert rows.y is not None
        y = rows.y.astype(int)
        mass = [total(s[i] for i in np.flatnonzero(y == k)) for k in range(y.max() + 1)]
        share = [ONE] * len(mass) if isinstance(prior, str) else [S * v for v in balls(prior)]
        a = [v / mass[k] * share[k] if mass[k] > 0 else ZERO for v, k in zip(s, y, strict=True)]
    return [v / S for v in a] if P.get("mean") else a
