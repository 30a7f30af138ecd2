"""Optima of proportional odds and of Firth's logistic regression to 60 digits, by mpmath alone.

Newton's method with exact derivatives on the numbers as they are stored. Nothing is scaled, centred
or left out: 60 digits suffice for columns that differ in the fourteenth.
"""

from itertools import pairwise

import mpmath as mp
import numpy as np

DIGITS = 60
HALVINGS = 80


def _sigmoid(m):
    return 1 / (1 + mp.exp(-m)) if m >= 0 else mp.exp(m) / (1 + mp.exp(m))


def _softplus(m):
    """log(1 + eᵐ)."""
    return m + mp.log1p(mp.exp(-m)) if m > 0 else mp.log1p(mp.exp(m))


def _exact(values):
    return [mp.mpf(float(v)) for v in np.ravel(values)]


class Ordinal:
    """F(w, c) = −Σ s log P(y | x) + α/2 ‖w‖² with its derivatives in θ = (w, c).

    ``held``: {column: its coefficient}, which does not change and is no part of θ.
    """

    def __init__(self, X, y, s=None, alpha=0.0, held=()):
        X, held = np.asarray(X, dtype=float), dict(held)
        free = [j for j in range(X.shape[1]) if j not in held]
        self.rows = [_exact(x) for x in X[:, free]]
        fixed, times = X[:, list(held)], _exact(list(held.values()))
        self.offset = [mp.fdot(_exact(x), times) if held else mp.mpf(0) for x in fixed]
        self.y = [int(v) for v in y]
        self.s = _exact(np.ones(len(self.y)) if s is None else s)
        self.p, self.K, self.alpha = len(self.rows[0]), max(self.y) + 1, mp.mpf(float(alpha))

    def start(self):
        below = np.cumsum(np.bincount(self.y, [float(v) for v in self.s]))[:-1]
        total = float(mp.fsum(self.s))
        return [mp.mpf(0)] * self.p + _exact(np.log(below / (total - below)))

    def _terms(self, theta):
        """(weight, sparse derivative of m, m) of every log(1 + eᵐ), and the inner distances."""
        w, c = theta[: self.p], theta[self.p :]
        for x, k, s, offset in zip(self.rows, self.y, self.s, self.offset, strict=True):
            z = mp.fdot(x, w) + offset
            if k < self.K - 1:
                yield s, x, k, z - c[k], 1
            if k > 0:
                yield s, x, k - 1, c[k - 1] - z, -1

    def value(self, theta):
        c = theta[self.p :]
        if any(b <= a for a, b in pairwise(c)):
            return mp.inf
        total = self.alpha / 2 * mp.fsum(v * v for v in theta[: self.p])
        total += mp.fsum(s * _softplus(m) for s, _, _, m, _ in self._terms(theta))
        for k, s in zip(self.y, self.s, strict=True):
            if 0 < k < self.K - 1:
                total -= s * mp.log(-mp.expm1(c[k - 1] - c[k]))
        return total

    def derivatives(self, theta):
        p, c = self.p, theta[self.p :]
        m_all = len(theta)
        g, H = mp.zeros(m_all, 1), mp.zeros(m_all)
        for s, x, t, m, sign in self._terms(theta):
            a = _sigmoid(m)
            h = s * a * _sigmoid(-m)
            d = [*x, *(mp.mpf(-1 if j == t else 0) for j in range(self.K - 1))]
            used = [*range(p), p + t]
            for i in used:
                g[i] += sign * s * a * d[i]
                hd = h * d[i]
                for j in used:
                    if j <= i:
                        H[i, j] += hd * d[j]
        for k, s in zip(self.y, self.s, strict=True):
            if 0 < k < self.K - 1:
                d = c[k] - c[k - 1]
                slope, bend = -s / mp.expm1(d), s / (4 * mp.sinh(d / 2) ** 2)
                i, j = p + k, p + k - 1
                g[i] += slope
                g[j] -= slope
                H[i, i] += bend
                H[j, j] += bend
                H[i, j] -= bend
        for i in range(m_all):
            for j in range(i):
                H[j, i] = H[i, j]
        for i in range(p):
            g[i] += self.alpha * theta[i]
            H[i, i] += self.alpha
        return g, H


class Firth:
    """F = −log L − ½ log det I in θ = (w, b), with the gradient and the scoring matrix I."""

    def __init__(self, X, y, s=None, intercept=True):
        one = [mp.mpf(1)] * intercept
        self.rows = [_exact(x) + one for x in np.asarray(X, dtype=float)]
        self.y = [int(v) for v in y]
        self.s = _exact(np.ones(len(self.y)) if s is None else s)
        self.m = len(self.rows[0])

    def start(self):
        return [mp.mpf(0)] * self.m

    def _information(self, theta):
        scores = [mp.fdot(x, theta) for x in self.rows]
        I = mp.zeros(self.m)
        for x, z, s in zip(self.rows, scores, self.s, strict=True):
            v = s * _sigmoid(z) * _sigmoid(-z)
            for i in range(self.m):
                for j in range(i + 1):
                    I[i, j] += v * x[i] * x[j]
        for i in range(self.m):
            for j in range(i):
                I[j, i] = I[i, j]
        return scores, I

    def value(self, theta):
        scores, I = self._information(theta)
        loss = mp.fsum(
            s * _softplus(-z if y else z)
            for z, y, s in zip(scores, self.y, self.s, strict=True)
        )  # fmt: skip
        return loss - mp.log(mp.det(I)) / 2

    def derivatives(self, theta):
        """The gradient, and Σ s v(1 + vq) xxᵀ: steps converge linearly."""
        scores, I = self._information(theta)
        inverse = I**-1
        g, H = mp.zeros(self.m, 1), mp.zeros(self.m)
        for x, z, y, s in zip(self.rows, scores, self.y, self.s, strict=True):
            p, v = _sigmoid(z), _sigmoid(z) * _sigmoid(-z)
            column = mp.matrix(x)
            h = v * (column.T * inverse * column)[0]
            slope, bend = s * (p - y + h * (p - mp.mpf(1) / 2)), s * v * (1 + h)
            for i in range(self.m):
                g[i] += slope * x[i]
                for j in range(self.m):
                    H[i, j] += bend * x[i] * x[j]
        return g, H

    def gain(self, theta):
        """½ ∇FᵀI⁻¹∇F: what the certificate's scoring step would gain."""
        g, _ = self.derivatives(theta)
        _, I = self._information(theta)
        return (g.T * mp.lu_solve(I, g))[0] / 2


def optimum(problem, start=None, steps=200, digits=30):
    """(θ, F) at the optimum; (None, the last F) where F falls for ever. Call it in workdps."""
    theta = problem.start() if start is None else _exact(start)
    F = problem.value(theta)
    for _ in range(steps):
        g, H = problem.derivatives(theta)
        step = mp.lu_solve(H, -g)
        decrement = -mp.fdot(g, step)
        if decrement < mp.mpf(10) ** -digits * (1 + abs(F)):
            return theta, F
        t = mp.mpf(1)
        for _ in range(HALVINGS):
            there = [a + t * b for a, b in zip(theta, step, strict=True)]
            lower = problem.value(there)
            if lower <= F - t * decrement / 10**4:
                break
            t /= 2
        theta, F = there, lower
        if F < 1e-6:
            break
    return None, F
