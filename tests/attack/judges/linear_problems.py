"""The optimisation problem that a certificate of a linear model is about, in high precision.

A problem is read from the words of the certificate: its definition's name and its parameters. The
formulas are written out here once more; no code of certus is used.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from ..precise.balls import ONE, ZERO, balls, matrix, total
from ..precise.losses import (
    Between,
    Gamma,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    SquaredHinge,
    Squares,
)
from ..precise.minimize import Problem
from ..precise.sums import RowSum, ScaledHuberSum, SoftmaxSum
from .verdict import NotJudged


@dataclass(frozen=True)
class Rows:
    """The stored floats: X (n×p), y (n×k, or (n,) indices of classes), weights s."""

    X: np.ndarray
    y: np.ndarray | None = None
    s: np.ndarray | None = None
    eps: float = 2.0**-52  # of the floats that X is stored in

    def weights(self) -> list[arb]:
        return [ONE] * len(self.X) if self.s is None else balls(self.s)


@dataclass
class Posed:
    """A problem, the point that the model claims to be its optimum, and where w is in it."""

    problem: Problem
    theta: list[arb]
    coefficients: list[int]
    penalized: bool = True


def with_constant(X: np.ndarray, intercept: bool) -> np.ndarray:
    return np.column_stack([X, np.ones(len(X))]) if intercept else X


def posed(definition: str, parameters: dict[str, Any], rows: Rows) -> list[Posed]:
    """One problem a target (or class against the rest)."""
    if definition not in READERS:
        raise NotJudged(definition)
    return READERS[definition](rows, **parameters)


def _point(w: np.ndarray, b: np.ndarray, t: int, intercept: bool) -> list[arb]:
    return balls(w[:, t]) + (balls(b[t : t + 1]) if intercept else [])


def _least_squares(
    rows: Rows, w: Any, b: Any, alpha: Any, fit_intercept: bool = True, positive: bool = False,
    **_: Any,
) -> list[Posed]:  # fmt: skip
    assert rows.y is not None
    p, k = w.shape
    alpha = np.broadcast_to(np.asarray(alpha, dtype=float), (k,))
    A, s = matrix(with_constant(rows.X, fit_intercept)), rows.weights()
    found = []
    for t in range(k):
        f = RowSum(A, s, [Squares(v) for v in balls(rows.y[:, t])])
        l2 = [2 * arb(float(alpha[t]))] * p + [ZERO] * fit_intercept
        low = [ZERO if positive else None] * p + [None] * fit_intercept
        problem = Problem(f, [ZERO] * len(l2), l2, low)
        found.append(
            Posed(problem, _point(w, b, t, fit_intercept), list(range(p)), alpha[t] > 0)
        )  # fmt: skip
    return found


def class_factors(class_weight: Any, y: np.ndarray, s: list[arb], classes: int) -> list[arb]:
    """c_k: 1, as given, or S/(K S_k)."""
    if class_weight is None:
        return [ONE] * classes
    if isinstance(class_weight, str):
        mass = [total(s[i] for i in np.flatnonzero(y == k)) for k in range(classes)]
        return [total(mass) / (classes * m) if m != 0 else ZERO for m in mass]
    return balls(class_weight)


def _margins(loss: Any) -> Any:
    def read(
        rows: Rows, w: Any, b: Any, C: float, l1: float, l2: float, fit_intercept: bool = True,
        class_weight: Any = None, intercept_scaling: float | None = None,
        one_vs_rest: bool = False, delta: float | None = None, **_: Any,
    ) -> list[Posed]:  # fmt: skip
        assert rows.y is not None
        p, k = w.shape
        s, y = rows.weights(), rows.y.astype(int)
        K = k if one_vs_rest else 2
        c = class_factors(class_weight, y, s, K)
        A = matrix(with_constant(rows.X, fit_intercept))
        found = []
        for t in range(k):
            plus = y == (t if one_vs_rest else 1)
            factor = (c[t], ONE) if one_vs_rest else (c[1], c[0])
            omega = [arb(C) * v * factor[0 if on else 1] for v, on in zip(s, plus, strict=True)]
            losses = [loss(1 if on else -1, delta) for on in plus]
            n1, n2 = [arb(l1)] * p, [arb(l2)] * p
            if fit_intercept:
                scale = None if intercept_scaling is None else arb(intercept_scaling)
                n1.append(ZERO if scale is None else arb(l1) / scale)
                n2.append(ZERO if scale is None else arb(l2) / (scale * scale))
            problem = Problem(RowSum(A, omega, losses), n1, n2)
            theta = _point(w, b, t, fit_intercept)
            found.append(Posed(problem, theta, list(range(p)), l1 > 0 or l2 > 0))
        return found

    return read


def _softmax(
    rows: Rows, w: Any, b: Any, C: float, l1: float, l2: float, fit_intercept: bool = True,
    class_weight: Any = None, intercept_scaling: float | None = None, **_: Any,
) -> list[Posed]:  # fmt: skip
    assert rows.y is not None
    if intercept_scaling is not None:
        raise NotJudged("softmax with a penalised intercept")
    p, K = w.shape
    s, y = rows.weights(), rows.y.astype(int)
    c = class_factors(class_weight, y, s, K)
    omega = [arb(C) * v * c[k] for v, k in zip(s, y, strict=True)]
    A = matrix(with_constant(rows.X, fit_intercept))
    m = p + fit_intercept
    n1 = ([arb(l1)] * p + [ZERO] * fit_intercept) * K
    n2 = ([arb(l2)] * p + [ZERO] * fit_intercept) * K
    theta = [v for k in range(K) for v in _point(w, b, k, fit_intercept)]
    where = [k * m + j for k in range(K) for j in range(p)]
    problem = Problem(SoftmaxSum(A, omega, y.tolist(), K), n1, n2)
    return [Posed(problem, theta, where, l1 > 0 or l2 > 0)]


def _ordinal(rows: Rows, w: Any, thresholds: Any, alpha: float, **_: Any) -> list[Posed]:
    """−log P(y = k) = log(1 + e^{−(c_k − xᵀw)}) + log(1 + e^{c_{k−1} − xᵀw}) − log(1 − e^{−d})."""
    assert rows.y is not None
    p, K = len(w), len(thresholds) + 1
    y, s = rows.y.astype(int), rows.weights()
    entries, omega, losses = [], [], []
    for x, k, weight in zip(rows.X.tolist(), y.tolist(), s, strict=True):
        for upper, sign in ((k, 1), (k - 1, -1)):
            if 0 <= upper < K - 1:
                entries.append([-v for v in x] + [float(j == upper) for j in range(K - 1)])
                omega.append(weight)
                losses.append(Logistic(sign))
        if 0 < k < K - 1:
            entries.append([0.0] * p + [float(j == k) - float(j == k - 1) for j in range(K - 1)])
            omega.append(weight)
            losses.append(Between())
    problem = Problem(
        RowSum(matrix(entries), omega, losses), [ZERO] * (p + K - 1),
        [arb(float(alpha))] * p + [ZERO] * (K - 1),
    )  # fmt: skip
    theta = balls(w) + balls(thresholds)
    return [Posed(problem, theta, list(range(p)), alpha > 0)]


def divided(rows: Rows, divisor: str | None) -> arb:
    if divisor is None:
        return ONE
    return total(rows.weights()) if divisor == "weights" else arb(len(rows.X))


def _penalized(
    rows: Rows, w: Any, b: Any, loss: dict[str, Any], penalty: dict[str, Any],
    divisor: str | None = None, fit_intercept: bool = True, **_: Any,
) -> list[Posed]:  # fmt: skip
    assert rows.y is not None
    p, k = w.shape
    A, D = matrix(with_constant(rows.X, fit_intercept)), divided(rows, divisor)
    omega = [v / D for v in rows.weights()]
    l1 = l2 = ZERO
    low: list[arb | None] = [None] * p
    high: list[arb | None] = [None] * p
    if penalty["name"] == "elastic_net":
        l1, l2 = arb(penalty["l1"]), arb(penalty["l2"])
        low = [ZERO if penalty["positive"] else None] * p
    elif penalty["name"] == "box":
        low = [None if v == -np.inf else arb(float(v)) for v in np.broadcast_to(penalty["low"], p)]
        high = [None if v == np.inf else arb(float(v)) for v in np.broadcast_to(penalty["high"], p)]
    else:
        raise NotJudged(f"penalty {penalty['name']}")
    found = []
    for t in range(k):
        y = balls(rows.y[:, t])
        if loss["name"] == "squared":
            losses: list[Any] = [Squares(v, ONE / 2) for v in y]
        else:
            losses = [Huber(v, arb(float(loss["delta"]))) for v in y]
        more = [None] * fit_intercept
        problem = Problem(
            RowSum(A, omega, losses), [l1] * p + [ZERO] * fit_intercept,
            [l2] * p + [ZERO] * fit_intercept, [*low, *more], [*high, *more],
        )  # fmt: skip
        theta = _point(w, b, t, fit_intercept)
        found.append(Posed(problem, theta, list(range(p)), l1 > 0 or l2 > 0))
    return found


def _huber_regression(
    rows: Rows, w: Any, b: Any, scale: float, epsilon: float, alpha: float,
    fit_intercept: bool = True, **_: Any,
) -> list[Posed]:  # fmt: skip
    assert rows.y is not None
    p = len(w)
    A: arb_mat = matrix(with_constant(rows.X, fit_intercept))
    f = ScaledHuberSum(A, rows.weights(), balls(rows.y[:, 0]), arb(epsilon))
    l2 = [2 * arb(alpha)] * p + [ZERO] * (fit_intercept + 1)
    theta = [*_point(w, b, 0, fit_intercept), arb(scale)]
    return [Posed(Problem(f, [ZERO] * len(l2), l2), theta, list(range(p)), alpha > 0)]


def _log_link(
    rows: Rows, w: Any, b: Any, family: str, l1: float, l2: float, fit_intercept: bool = True,
    **_: Any,
) -> list[Posed]:  # fmt: skip
    """Targets are in the first column of y; offsets in a second one, if there is one."""
    assert rows.y is not None
    p, S = len(w), total(rows.weights())
    y, loss = balls(rows.y[:, 0]), {"poisson": Poisson, "gamma": Gamma}[family]
    offsets = balls(rows.y[:, 1]) if rows.y.shape[1] > 1 else [ZERO] * len(y)
    f = RowSum(
        matrix(with_constant(rows.X, fit_intercept)), [v / S for v in rows.weights()],
        [loss(v, o) for v, o in zip(y, offsets, strict=True)],
    )  # fmt: skip
    more = [ZERO] * fit_intercept
    problem = Problem(f, [arb(l1)] * p + more, [arb(l2)] * p + more)
    theta = _point(w, b, 0, fit_intercept)
    return [Posed(problem, theta, list(range(p)), l1 > 0 or l2 > 0)]


READERS: dict[str, Any] = {
    "least_squares": _least_squares,
    "logistic": _margins(lambda y, _: Logistic(y)),
    "squared_hinge": _margins(lambda y, _: SquaredHinge(y)),
    "hinge": _margins(lambda y, _: Hinge(y)),
    "huber": _margins(lambda y, delta: Huber(arb(y), arb(delta))),
    "softmax": _softmax,
    "ordinal": _ordinal,
    "penalized": _penalized,
    "huber_regression": _huber_regression,
    "log_link": _log_link,
}
