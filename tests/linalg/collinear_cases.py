"""Columns that nearly repeat others, labels that depend on what is left of them, and optima in 60
digits."""

import mpmath
import numpy as np


def _pair(eps, rng, n):
    a, b, u, v = rng.normal(size=(4, n))
    return np.column_stack([a, a + eps * u, b, b + 1e-3 * v]), u


def _triple(eps, rng, n):
    a, b, u = rng.normal(size=(3, n))
    return np.column_stack([a, b, a + b + eps * u]), u


def _offset(eps, rng, n):
    a, b, u = rng.normal(size=(3, n))
    return np.column_stack([a + 1e3, a + 1e3 + 1e3 * eps * u, b]), u


def _scales(eps, rng, n):
    a, b, u = rng.normal(size=(3, n))
    return np.column_stack([1e8 * a, 1e8 * (a + eps * u), 1e-5 * b]), u


def _low_rank(eps, rng, n):
    B = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 4))
    X = B + eps * rng.normal(size=(n, 4))
    null = np.linalg.svd(B)[2][2]
    return X, X @ null / eps


def _powers(eps, rng, n):
    """Columns of condition number about 1/eps."""
    x = rng.uniform(1, 2, n)
    return np.vander(x, round(-np.log10(eps) / 2) + 1)[:, :-1], np.cos(9 * x)


def _hilbert(eps, rng, n):
    x = rng.permutation(n)[:, None] / 4
    X = 1.0 / (x + np.arange(1, round(-np.log10(eps) / 2) + 2))
    return X, np.cos(x[:, 0])


KINDS = {
    "pair": _pair, "triple": _triple, "offset": _offset, "scales": _scales, "low rank": _low_rank,
    "powers": _powers, "Hilbert": _hilbert,
}  # fmt: skip


def collinear(kind, eps, seed, n=40, classes=2):
    """X and labels that follow the direction in which columns nearly cancel."""
    rng = np.random.default_rng([seed, round(-np.log10(eps)), len(kind)])
    X, t = KINDS[kind](eps, rng, n)
    scores = np.column_stack([np.zeros(n), 1.5 * t, -t][:classes])
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def exact_loss(X, y, s, w, b):
    """Σ s (log Σ_k e^{z_k} − z_y) in 60 digits; w (p, K), b (K,), of two classes one column."""
    with mpmath.workdps(60):
        theta = [[mpmath.mpf(v) for v in column] for column in np.vstack([w, b]).T.tolist()]
        return _Loss(X, y, s, True).value(theta)


def exact_optimum(X, y, s, fit_intercept, classes=2):
    """The least loss, by Newton's method in 60 digits."""
    with mpmath.workdps(60):
        loss = _Loss(X, y, s, fit_intercept)
        theta = [[mpmath.mpf(0)] * loss.P for _ in range(classes - 1)]
        F = loss.value(theta)
        for _ in range(100):
            step, decrement = loss.newton(theta)
            if decrement < mpmath.mpf(10) ** -40:
                return F
            t = mpmath.mpf(1)
            while True:
                new = [
                    [a - t * d for a, d in zip(*pair, strict=True)]
                    for pair in zip(theta, step, strict=True)
                ]
                F_new = loss.value(new)
                if F_new <= F - t * decrement / 10:
                    break
                t /= 2
            theta, F = new, F_new
    raise AssertionError("no optimum: separated?")


class _Loss:
    """Softmax loss in high precision, of K scores or of K − 1 beside a first one that is 0."""

    def __init__(self, X, y, s, fit_intercept):
        one = [mpmath.mpf(1)] if fit_intercept else []
        self.rows = [[mpmath.mpf(v) for v in row] + one for row in X.tolist()]
        self.P = len(self.rows[0])
        self.y, self.s = [int(k) for k in y], [mpmath.mpf(float(v)) for v in s]

    def probabilities(self, row, theta):
        z = [mpmath.fdot(row, column) for column in theta]
        if len(z) <= max(self.y):
            z = [mpmath.mpf(0), *z]
        top = max(z)
        e = [mpmath.exp(v - top) for v in z]
        total = mpmath.fsum(e)
        return z, top + mpmath.log(total), [v / total for v in e]

    def value(self, theta):
        terms = []
        for row, k, s in zip(self.rows, self.y, self.s, strict=True):
            z, total, _ = self.probabilities(row, theta)
            terms.append(s * (total - z[k]))
        return mpmath.fsum(terms)

    def newton(self, theta):
        """H⁻¹g as theta is shaped, and gᵀH⁻¹g."""
        K, P = len(theta), self.P
        g, H = mpmath.zeros(K * P, 1), mpmath.zeros(K * P, K * P)
        for row, k, s in zip(self.rows, self.y, self.s, strict=True):
            _, _, q = self.probabilities(row, theta)
            q = q[-K:]
            for i in range(K):
                r = s * (q[i] - (k == i + 1))
                for a in range(P):
                    g[i * P + a] += r * row[a]
                for j in range(K):
                    h = s * (q[i] * (i == j) - q[i] * q[j])
                    for a in range(P):
                        for c in range(P):
                            H[i * P + a, j * P + c] += h * row[a] * row[c]
        step = mpmath.lu_solve(H, g)
        decrement = mpmath.fdot(g, step)
        return [[step[i * P + a] for a in range(P)] for i in range(K)], decrement
