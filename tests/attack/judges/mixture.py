"""Mixtures: the gain of one more EM step in high precision.

    L(π, θ) = Σ_i s_i log Σ_k π_k p(x_i|θ_k) + log prior

Parameters are floats before the step. After it means are, since they are kept so, and covariances
are those about these means; all else is of real numbers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from ..precise.balls import ZERO, balls, column, matrix, total
from .linear_problems import Rows
from .verdict import Fault, above

LOG_2PI = (2 * arb.pi()).log()
NORMAL = ("full", "tied", "diag", "spherical")


def judge(c: Any, model: Any, rows: Rows) -> list[Fault]:
    if not c.certified or np.isnan(rows.X).any():
        return []
    P = c.parameters
    constant = list(P.get("constant", ()))
    X = np.delete(rows.X, constant, axis=1)
    used = np.ones(len(X), bool) if rows.s is None else rows.s > 0
    X, s = X[used], balls(np.ones(used.sum()) if rows.s is None else rows.s[used])
    kind = Normals if P["family"] in NORMAL else Counts
    before = kind.of(P, X, s)
    L, q = before.expected(balls(P["weights"]))
    objective = L + before.log_prior()
    off = abs(objective - arb(c.objective))
    faults = above("objective is off by", off, c._finding.objective_error)
    shares, after = before.maximized(q, np.float32 if P.get("single") else np.float64)
    gain = after.expected(shares)[0] + after.log_prior() - objective
    share = gain / total(s)
    if P.get("added"):
        share = abs(share)
    return faults + above("gain of an EM step, a unit of weight", share, c.residual)


def expected(log_p: list[list[arb]], pi: list[arb], s: list[arb]) -> tuple[arb, list[list[arb]]]:
    """Σ s log Σ π p, and s_i r_ik, a list for each component."""
    L, q = ZERO, [[] for _ in pi]
    for i in range(len(s)):
        terms = [(p.log() + log_p[k][i]) if p > 0 else None for k, p in enumerate(pi)]
        top = max((t for t in terms if t is not None), key=lambda v: v.mid())
        e = [ZERO if t is None else (t - top).exp() for t in terms]
        S = total(e)
        L += s[i] * (top + S.log())
        for k, v in enumerate(e):
            q[k].append(s[i] * v / S)
    return L, q


def weighted_mean(values: list[arb], s: list[arb]) -> arb:
    return total(a * b for a, b in zip(values, s, strict=True)) / total(s)


@dataclass
class Normals:
    X: list[list[arb]]
    s: list[arb]
    shape: str
    means: list[list[arb]]
    C: list[arb_mat]  # one for each component; tied: the same
    epsilon: arb
    added: arb
    d: list[arb]  # variances of the columns

    @classmethod
    def of(cls, P: dict[str, Any], X: np.ndarray, s: list[arb]) -> "Normals":
        means, cov = np.asarray(P["theta"]["means"]), np.asarray(P["theta"]["covariances"])
        kept = np.setdiff1d(np.arange(means.shape[1]), list(P.get("constant", ())))
        means, p, k = means[:, kept], len(kept), len(means)
        each = []
        for i in range(k):
            one = cov if P["family"] == "tied" else cov[i]
            if np.ndim(one) == 2:
                one = one[np.ix_(kept, kept)]
            elif np.ndim(one) == 1:
                one = np.diag(one[kept])
            each.append(matrix(one if np.ndim(one) == 2 else one * np.eye(p)))
        columns = [balls(X[:, j]) for j in range(p)]
        d = []
        for values in columns:
            mean = weighted_mean(values, s)
            d.append(weighted_mean([(v - mean) ** 2 for v in values], s))
        return cls(
            [balls(x) for x in X], s, P["family"], [balls(m) for m in means], each,
            arb(float(P["epsilon"])), arb(float(P.get("added", 0.0))), d,
        )  # fmt: skip

    def expected(self, pi: list[arb]) -> tuple[arb, list[list[arb]]]:
        return expected([self._log_density(k) for k in range(len(pi))], pi, self.s)

    def _log_density(self, k: int) -> list[arb]:
        p, inverse = len(self.d), self.C[k].inv()
        constant = p * LOG_2PI + self.C[k].det().log()
        found = []
        for x in self.X:
            u = column([a - b for a, b in zip(x, self.means[k], strict=True)])
            found.append(-((u.transpose() * inverse * u)[0, 0] + constant) / 2)
        return found

    def log_prior(self) -> arb:
        if self.epsilon == 0:
            return ZERO
        distinct = self.C[:1] if self.shape == "tied" else self.C
        value = ZERO
        for C in distinct:
            inverse = C.inv()
            trace = total(v * inverse[j, j] for j, v in enumerate(self.d))
            value -= self.epsilon * (C.det().log() + trace) / 2
        return value

    def maximized(self, q: list[list[arb]], kind: Any) -> tuple[list[arb], "Normals"]:
        """(π, θ) of the largest expected likelihood and prior, means of a kind of floats."""
        p, k = len(self.d), len(q)
        n = [total(w) for w in q]
        means, scatter = [], []
        for w, size, old in zip(q, n, self.means, strict=True):
            mean = [
                total(v * x[j] for v, x in zip(w, self.X, strict=True)) / size for j in range(p)
            ] if size > 0 else old  # fmt: skip
            mean = balls(kind([float(v.mid()) for v in mean]))
            S = arb_mat(p, p)
            for v, x in zip(w, self.X, strict=True):
                u = [a - b for a, b in zip(x, mean, strict=True)]
                for i in range(p):
                    for j in range(p):
                        S[i, j] += v * u[i] * u[j]
            means.append(mean)
            scatter.append(S)
        prior = arb_mat(p, p)
        for j in range(p):
            prior[j, j] = self.epsilon * self.d[j]
        if self.shape == "tied":
            whole = sum(scatter, prior)
            C = [self._shaped(whole, total(n) + self.epsilon)] * k
        else:
            C = [
                self._shaped(S + prior, size + self.epsilon) if size + self.epsilon > 0 else old
                for S, size, old in zip(scatter, n, self.C, strict=True)  # a component without rows
            ]
        weights = [v / total(n) for v in n]
        more = (self.X, self.s, self.shape, means, C, self.epsilon, self.added, self.d)
        return weights, Normals(*more)

    def _shaped(self, S: arb_mat, size: arb) -> arb_mat:
        p = len(self.d)
        C = arb_mat(p, p)
        for i in range(p):
            for j in range(p):
                if self.shape in ("full", "tied") or i == j:
                    C[i, j] = S[i, j] / size
        if self.shape == "spherical":
            mean = C.trace() / p
            for j in range(p):
                C[j, j] = mean
        for j in range(p):
            C[j, j] += self.added
        return C


@dataclass
class Counts:
    """Bernoulli, Poisson and multinomial components."""

    X: list[list[arb]]
    s: list[arb]
    kind: str
    theta: list[list[arb]]
    a: arb
    mean: list[arb]

    @classmethod
    def of(cls, P: dict[str, Any], X: np.ndarray, s: list[arb]) -> "Counts":
        mean = [weighted_mean(balls(X[:, j]), s) for j in range(X.shape[1])]
        theta = [balls(t) for t in np.asarray(P["theta"]["values"])]
        return cls([balls(x) for x in X], s, P["family"], theta, arb(float(P["epsilon"])), mean)

    def expected(self, pi: list[arb]) -> tuple[arb, list[list[arb]]]:
        log_p = [[self._log(x, t) + self._base(x) for x in self.X] for t in self.theta]
        return expected(log_p, pi, self.s)

    def _log(self, x: list[arb], theta: list[arb]) -> arb:
        """Without what does not depend on θ."""
        value = ZERO
        for a, t in zip(x, theta, strict=True):
            if a != 0:
                value += a * (t if t > 0 else arb(5e-324)).log()
            if self.kind == "bernoulli" and a != 1:
                value += (1 - a) * ((1 - t) if t < 1 else arb(5e-324)).log()
            if self.kind == "poisson":
                value -= t
        return value

    def _base(self, x: list[arb]) -> arb:
        if self.kind == "bernoulli":
            return ZERO
        value = -total((a + 1).lgamma() for a in x)
        return value + ((total(x) + 1).lgamma() if self.kind == "multinomial" else ZERO)

    def log_prior(self) -> arb:
        if self.a == 0:
            return ZERO
        return self.a * total(self._log(self.mean, t) for t in self.theta)

    def maximized(self, q: list[list[arb]], _kind: Any) -> tuple[list[arb], "Counts"]:
        theta, n = [], [total(w) for w in q]
        for w, size, old in zip(q, n, self.theta, strict=True):
            t = [
                total(v * x[j] for v, x in zip(w, self.X, strict=True)) + self.a * self.mean[j]
                for j in range(len(self.mean))
            ]
            below = total(t) if self.kind == "multinomial" else size + self.a
            theta.append([v / below for v in t] if below > 0 else old)
        weights = [v / total(n) for v in n]
        return weights, Counts(self.X, self.s, self.kind, theta, self.a, self.mean)
