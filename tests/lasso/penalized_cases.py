"""Penalised regressions with their optima to 50 digits.

    F(w, b) = (1/D) Σ_i s_i ℓ(y_i − x_iᵀw − b) + pen(w)

Proximal gradient steps in mpmath, on columns that are centred there, each with a step of its own
where the penalty allows it. Slow, short, and without any guess of what is 0.
"""

from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest

from certus.certificate.data import Data as _Data
from certus.data.rows import Rows
from certus.proofs.lasso import penalized

DIGITS = 50
STEPS = 6000
exact = np.vectorize(mp.mpf, otypes=[object])
SQUARED, HUBER = {"name": "squared"}, {"name": "huber", "delta": 0.7}
NET = {"name": "elastic_net", "l1": 0.3, "l2": 0.0, "positive": False}
LOSSES = {"squared": SQUARED, "huber": HUBER}
each_loss = pytest.mark.parametrize("loss", LOSSES)


def rows(X: Any, y: Any, s: Any = None, threads: int = 1) -> _Data:
    """What a definition is given."""
    y = np.asarray(y, dtype=float).reshape(X.shape[0], -1)
    return _Data(Rows(X, y, None if s is None else np.asarray(s, dtype=float), threads=threads))


class Case(NamedTuple):
    X: Any
    y: Any
    s: Any
    loss: dict[str, Any]
    penalty: dict[str, Any]
    divisor: str | None = None
    fit_intercept: bool = True

    @property
    def D(self) -> Any:
        s = self.weight
        return {None: mp.mpf(1), "rows": mp.mpf(len(s)), "weights": mp.fsum(s)}[self.divisor]

    @property
    def weight(self) -> Any:
        return exact(np.ones(len(self.y)) if self.s is None else np.asarray(self.s, dtype=float))

    def how(self) -> dict[str, Any]:
        """The arguments of the definition's ``check``."""
        names = ("loss", "penalty", "divisor", "fit_intercept")
        return {name: getattr(self, name) for name in names}

    def data(self) -> _Data:
        return rows(self.X, self.y, self.s)


def loss_of(case: Case, r: Any) -> tuple[Any, Any]:
    """ℓ(r) and ℓ'(r)."""
    if case.loss["name"] == "squared":
        return r * r / 2, r
    delta = mp.mpf(case.loss["delta"])
    a = np.array([min(max(v, -delta), delta) for v in r], dtype=object)
    return a * (r - a / 2), a


def groups_of(case: Case) -> Any:
    return [list(g) for g in case.penalty["groups"]]


def make_penalty(case: Case, w: Any) -> Any:
    p = case.penalty
    if p["name"] == "elastic_net":
        l1, l2 = mp.mpf(p["l1"]), mp.mpf(p["l2"])
        return l1 * mp.fsum(abs(v) for v in w) + l2 / 2 * mp.fsum(v * v for v in w)
    if p["name"] == "group_l2":
        norms = (mp.sqrt(len(g)) * mp.sqrt(mp.fsum(w[j] ** 2 for j in g)) for g in groups_of(case))
        return mp.mpf(p["strength"]) * mp.fsum(norms)
    return mp.mpf(0)


def prox(case: Case, u: Any, step: Any) -> Any:
    """argmin_w Σ_j (w_j − u_j)²/(2 step_j) + pen(w)."""
    p = case.penalty
    if p["name"] == "elastic_net":
        l1, l2 = mp.mpf(p["l1"]), mp.mpf(p["l2"])
        size = [
            max(abs(v) - t * l1, mp.mpf(0)) / (1 + t * l2) for v, t in zip(u, step, strict=True)
        ]
        sign = [0 if p.get("positive") and v < 0 else mp.sign(v) for v in u]
        return np.array([a * b for a, b in zip(size, sign, strict=True)], dtype=object)
    if p["name"] == "box":
        low, high = (np.broadcast_to(p[k], len(u)) for k in ("low", "high"))
        pairs = zip(u, low, high, strict=True)
        return np.array([min(max(v, mp.mpf(a)), mp.mpf(b)) for v, a, b in pairs], dtype=object)
    if p["name"] == "simplex":
        total, best = mp.mpf(p["total"]), None
        down = sorted(u, reverse=True)
        for m in range(1, len(u) + 1):  # the projection has m coefficients above 0
            level = (mp.fsum(down[:m]) - total) / m
            if down[m - 1] > level:
                best = level
        return np.array([max(v - best, mp.mpf(0)) for v in u], dtype=object)
    out = u.copy()
    for g in groups_of(case):
        size = mp.sqrt(mp.fsum(u[j] ** 2 for j in g))
        radius = step[g[0]] * mp.mpf(p["strength"]) * mp.sqrt(len(g))
        keep = 1 - radius / size if size > radius else mp.mpf(0)
        for j in g:
            out[j] = keep * u[j]
    return out


def exact_objective(case: Case, w: Any, b: Any) -> Any:
    with mp.workdps(DIGITS):
        r = exact(case.y) - exact(np.asarray(case.X, dtype=float)) @ exact(w) - mp.mpf(b)
        value, _ = loss_of(case, r)
        return mp.fsum(case.weight * value) / case.D + make_penalty(case, exact(w))


def optimum(case: Case) -> tuple[Any, Any, Any]:
    """(F*, w*, b*): F* in full, w* and b* as floats."""
    with mp.workdps(DIGITS):
        X, y, s, D = exact(np.asarray(case.X, dtype=float)), exact(case.y), case.weight, case.D
        p = X.shape[1]
        mean = s @ X / mp.fsum(s) if case.fit_intercept else 0 * X[0]
        Z = X - mean
        size = [mp.fsum(s * Z[:, j] ** 2) for j in range(p)]
        unit = exact(np.ones(p))
        if case.penalty["name"] in ("elastic_net", "box"):  # coordinates by themselves
            unit = np.array([1 / mp.sqrt(v) if v > 0 else mp.mpf(1) for v in size], dtype=object)
        scaled = np.asarray(Z * unit, dtype=float) * np.sqrt(np.asarray(s, dtype=float))[:, None]
        L = mp.mpf(float(np.linalg.norm(scaled, 2)) ** 2 * 1.01 + 1e-9) / D
        step = unit**2 / L
        w, b = prox(case, exact(np.zeros(p)), step), mp.mpf(0)
        weight = mp.fsum(s)
        for _ in range(STEPS):
            _, a = loss_of(case, y - Z @ w - b)
            sa = s * a
            new = prox(case, w + step * (Z.T @ sa) / D, step)
            b_new = b + mp.fsum(sa) / weight if case.fit_intercept else b
            moved = max([abs(v) for v in (new - w) / unit] + [abs(b_new - b)])
            w, b = new, b_new
            if moved < mp.mpf(10) ** -27:
                break
        # F is flat there: its excess is of the order of the square
        assert moved < mp.mpf(10) ** -27, "the steps did not converge"
        b = b - mp.fdot(mean, w)
        best = mp.fsum(s * loss_of(case, y - X @ w - b)[0]) / D + make_penalty(case, w)
    return best, np.asarray(w, dtype=float), float(b)


def problem(seed=0, n=18, p=4):
    """Two coefficients that matter, one of them negative."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X @ np.array([1.0, -0.8, 0.1, 0.0])[:p] + 0.5 + 0.4 * rng.normal(size=n)
    y[:3] += 4.0  # beyond δ
    return X, y


def checked(case, w, b, **more):
    b = np.array([b]) if case.fit_intercept else np.zeros(1)
    return penalized.check(case.data(), w=np.asarray(w)[:, None], b=b, **case.how(), **more)
