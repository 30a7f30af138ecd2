"""Nearest rows: the sampled answers against distances in high precision."""

from typing import Any

import numpy as np
from flint import arb

from ..precise.metrics import distances
from .linear_problems import Rows
from .verdict import Fault

EXACT = ("euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "chebyshev")
LEAST = 1e-12  # relative: by how much a sum of powers of differences may be off
ROUNDED = 1e-6  # of others, and of other libraries' models: the certificate's tol


def judge(c: Any, _model: Any, rows: Rows) -> list[Fault]:
    """No row that was not named is nearer than the farthest named; stated distances are true."""
    if not c.certified:
        return []
    P = c.parameters
    pairs = np.asarray(P["query_pairs"])
    kind = np.float32 if rows.eps > 1e-10 else np.float64  # queries are floats as the rows are
    a, b = (rows.X[side].astype(kind) for side in pairs.T)
    with np.errstate(over="ignore"):
        Q = np.where(a == b, a, a + (b - a) / 2).astype(float)
    X = rows.X
    present = np.ones(len(X), bool) if rows.s is None else rows.s > 0
    exact = P["metric"] in EXACT and P["ours"]
    share = max(LEAST, 8 * (X.shape[1] + 4) * rows.eps) if exact else ROUNDED
    # 1 less a cosine is known to the last digits of 1
    flat = (X.shape[1] + 64) * 2.0**-52 if P["metric"] in ("cosine", "correlation") else 0.0
    D, faults = distances(X, Q, P["metric"], P["metric_params"]), []
    spread = max((float(v.mid()) for d in D for v in d if v.is_finite()), default=0.0)
    for t, d in enumerate(D):
        at = slice(P["start"][t], P["start"][t + 1])
        named, stated = P["indices"][at].tolist(), P["distances"][at].tolist()
        off = 0.0 if exact else share * spread + flat
        for i, value in zip(named, stated, strict=True):
            true = d[i]
            if not true.is_finite() or not np.isfinite(value):
                continue
            if abs(true - arb(value)) > share * true + off:
                faults.append(Fault(f"distance of row {i}", value, float(true.mid())))
        faults += _left_out(P, d, named, present, share, off)
    return faults[:3]


def _left_out(
    P: Any, d: list[arb], named: list[int], present: np.ndarray, share: float, off: float
) -> list[Fault]:
    if P.get("radius") is not None:
        reach = arb(float(P["radius"]))
    else:
        reach = max((d[i] for i in named if d[i].is_finite()), key=lambda v: v.mid(), default=None)
        if reach is None:
            return []
    others = set(range(len(d))) - set(named)
    return [
        Fault(f"row {i}, which was not named, is nearer than", float(reach), float(d[i].mid()))
        for i in others
        if present[i] and d[i].is_finite() and d[i] + off < reach * (1 - share)
    ]
