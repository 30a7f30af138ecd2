"""Losses of one row as functions of its score z: value, slope and bend, in high precision."""

from typing import NamedTuple

from flint import arb

from .balls import ONE, ZERO


class Term(NamedTuple):
    value: arb
    slope: arb
    bend: arb


class Squares:
    """c(y − z)²."""

    def __init__(self, y: arb, factor: arb = ONE):
        self.y, self.c = y, factor

    def __call__(self, z: arb) -> Term:
        r = self.y - z
        return Term(self.c * r * r, -2 * self.c * r, 2 * self.c)


class Logistic:
    """log(1 + exp(−yz)), y = ±1."""

    def __init__(self, y: int):
        self.y = y

    def __call__(self, z: arb) -> Term:
        m = self.y * z
        e = (-abs(m)).exp()
        value = e.log1p() - (m if m < 0 else ZERO)
        a = (e if m > 0 else ONE) / (1 + e)  # σ(−m)
        return Term(value, -self.y * a, e / (1 + e) ** 2)


class Between:
    """−log(1 − exp(−z)), infinite at z ≤ 0: thresholds that rise."""

    def __call__(self, z: arb) -> Term:
        if not z > 0:
            return Term(arb("+inf"), ZERO, ZERO)
        e = z.expm1()
        return Term(-(-((-z).expm1())).log(), -1 / e, (e + 1) / (e * e))


class SquaredHinge:
    """[1 − yz]₊²."""

    def __init__(self, y: int):
        self.y = y

    def __call__(self, z: arb) -> Term:
        t = 1 - self.y * z
        if not t > 0:
            return Term(ZERO, ZERO, ZERO)
        return Term(t * t, -2 * self.y * t, arb(2))


class Huber:
    """½r² up to δ, δ|r| − ½δ² beyond; r = y − z."""

    def __init__(self, y: arb, delta: arb):
        self.y, self.delta = y, delta

    def __call__(self, z: arb) -> Term:
        r, delta = self.y - z, self.delta
        if abs(r) <= delta:
            return Term(r * r / 2, -r, ONE)
        sign = 1 if r > 0 else -1
        return Term(delta * abs(r) - delta * delta / 2, -sign * delta, ZERO)


class Poisson:
    """Half the deviance of a count y: μ − y + y log(y/μ), μ = exp(z + o)."""

    def __init__(self, y: arb, offset: arb = ZERO):
        self.y, self.o = y, offset
        self.constant = y * y.log() - y if y > 0 else ZERO

    def __call__(self, z: arb) -> Term:
        t = z + self.o
        mean = t.exp()
        return Term(mean - self.y * t + self.constant, mean - self.y, mean)


class Gamma:
    """Half the deviance of an amount y > 0: y/μ − 1 − log(y/μ), μ = exp(z + o)."""

    def __init__(self, y: arb, offset: arb = ZERO):
        self.y, self.o, self.constant = y, offset, y.log() + 1

    def __call__(self, z: arb) -> Term:
        t = z + self.o
        ratio = self.y * (-t).exp()
        return Term(ratio + t - self.constant, 1 - ratio, ratio)


class Hinge:
    """[1 − yz]₊, its corner rounded off over a width μ: t²/2μ for t = 1 − yz between 0 and μ."""

    def __init__(self, y: int, width: arb = ZERO):
        self.y, self.width = y, width

    def __call__(self, z: arb) -> Term:
        t, mu = 1 - self.y * z, self.width
        if not t > 0:
            return Term(ZERO, ZERO, ZERO)
        if t >= mu:
            return Term(t - mu / 2, arb(-self.y), ZERO)
        return Term(t * t / (2 * mu), -self.y * t / mu, 1 / mu)
