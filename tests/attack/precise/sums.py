"""Sums over rows of losses of linear scores, with gradient and Hessian, in high precision."""

from collections.abc import Callable, Sequence

from flint import arb, arb_mat

from .balls import ZERO, column, scaled_rows, total
from .losses import Term

Loss = Callable[[arb], Term]


class RowSum:
    """f(θ) = Σ_i ω_i ℓ_i(a_iᵀθ)."""

    def __init__(self, A: arb_mat, omega: Sequence[arb], losses: Sequence[Loss]):
        used = [i for i, weight in enumerate(omega) if weight != 0]
        rows = A.tolist()
        self.A = arb_mat(len(used), A.ncols(), [a for i in used for a in rows[i]])
        self.omega = [omega[i] for i in used]
        self.losses = [losses[i] for i in used]
        self.At = self.A.transpose()

    def terms(self, theta: Sequence[arb]) -> list[Term]:
        z = (self.A * column(theta)).entries()
        return [loss(score) for loss, score in zip(self.losses, z, strict=True)]

    def value(self, theta: Sequence[arb]) -> arb:
        terms = self.terms(theta)
        return total(w * t.value for w, t in zip(self.omega, terms, strict=True))

    def expand(self, theta: Sequence[arb]) -> tuple[arb, list[arb], arb_mat]:
        terms = self.terms(theta)
        pairs = list(zip(self.omega, terms, strict=True))
        gradient = (self.At * column([w * t.slope for w, t in pairs])).entries()
        H = self.At * scaled_rows(self.A, [w * t.bend for w, t in pairs])
        return total(w * t.value for w, t in pairs), gradient, H


class SoftmaxSum:
    """Σ_i ω_i (log Σ_k exp z_ik − z_{i,y_i}), θ the classes' coefficients one after another."""

    def __init__(self, A: arb_mat, omega: Sequence[arb], y: Sequence[int], classes: int):
        self.A, self.At, self.omega, self.y, self.K = A, A.transpose(), omega, y, classes
        self.m = A.ncols()

    def scores(self, theta: Sequence[arb]) -> list[list[arb]]:
        m = self.m
        of_class = [
            (self.A * column(theta[k * m : (k + 1) * m])).entries() for k in range(self.K)
        ]  # fmt: skip
        return [list(row) for row in zip(*of_class, strict=True)]

    def _row(self, z: list[arb], y: int) -> tuple[arb, list[arb]]:
        top = max(z, key=lambda v: v.mid())
        e = [(v - top).exp() for v in z]
        S = total(e)
        others = total(e[k] for k in range(self.K) if k != y)
        # −log q_y = log(1 + Σ_{k≠y} e^{z_k − z_y}): no cancellation where q_y is nearly 1
        return (others / e[y]).log1p(), [v / S for v in e]

    def value(self, theta: Sequence[arb]) -> arb:
        rows = zip(self.omega, self.scores(theta), self.y, strict=True)
        return total(w * self._row(z, y)[0] for w, z, y in rows)

    def expand(self, theta: Sequence[arb]) -> tuple[arb, list[arb], arb_mat]:
        m, K = self.m, self.K
        value, Q = ZERO, []
        for w, z, y in zip(self.omega, self.scores(theta), self.y, strict=True):
            loss, q = self._row(z, y)
            value += w * loss
            Q.append(q)
        g: list[arb] = []
        for k in range(K):
            slope = [
                w * (q[k] - (1 if y == k else 0))
                for w, q, y in zip(self.omega, Q, self.y, strict=True)
            ]
            g += (self.At * column(slope)).entries()
        H = [[ZERO] * (K * m) for _ in range(K * m)]
        for k in range(K):
            for l in range(k, K):
                if k == l:  # q(1 − q), all its digits
                    bend = [
                        w * q[k] * total(v for i, v in enumerate(q) if i != k)
                        for w, q in zip(self.omega, Q, strict=True)
                    ]
                else:
                    bend = [-w * q[k] * q[l] for w, q in zip(self.omega, Q, strict=True)]
                block = (self.At * scaled_rows(self.A, bend)).tolist()
                for i in range(m):
                    for j in range(m):
                        H[k * m + i][l * m + j] = block[i][j]
                        H[l * m + j][k * m + i] = block[i][j]
        return value, g, arb_mat(H)


class ScaledHuberSum:
    """Σ s (σ + σ H(r/σ)), θ = (w, b, σ); H(z) = z² up to ε and 2ε|z| − ε² beyond."""

    def __init__(self, A: arb_mat, s: Sequence[arb], y: Sequence[arb], epsilon: arb):
        self.A, self.At, self.s, self.y, self.epsilon = A, A.transpose(), s, y, epsilon

    def _terms(self, theta: Sequence[arb]) -> list[tuple[arb, ...]]:
        """Value, slopes in r and σ, and the bends rr, rσ, σσ."""
        sigma, eps = theta[-1], self.epsilon
        z = (self.A * column(theta[:-1])).entries()
        found = []
        for y, score in zip(self.y, z, strict=True):
            r = y - score
            if abs(r) <= eps * sigma:
                q = r / sigma
                found.append(
                    (sigma + r * q, 2 * q, 1 - q * q, 2 / sigma, -2 * q / sigma, 2 * q * q / sigma)
                )
            else:
                sign = 1 if r > 0 else -1
                value = sigma + 2 * eps * abs(r) - eps * eps * sigma
                found.append((value, sign * 2 * eps, 1 - eps * eps, ZERO, ZERO, ZERO))
        return found

    def value(self, theta: Sequence[arb]) -> arb:
        if not theta[-1] > 0:
            return arb("+inf")
        return total(s * t[0] for s, t in zip(self.s, self._terms(theta), strict=True))

    def expand(self, theta: Sequence[arb]) -> tuple[arb, list[arb], arb_mat]:
        terms = list(zip(self.s, self._terms(theta), strict=True))
        m = len(theta) - 1
        g = [-v for v in (self.At * column([s * t[1] for s, t in terms])).entries()]
        g.append(total(s * t[2] for s, t in terms))
        H = (self.At * scaled_rows(self.A, [s * t[3] for s, t in terms])).tolist()
        mixed = [-v for v in (self.At * column([s * t[4] for s, t in terms])).entries()]
        rows = [[*H[i], mixed[i]] for i in range(m)]
        rows.append([*mixed, total(s * t[5] for s, t in terms)])
        return total(s * t[0] for s, t in terms), g, arb_mat(rows)
