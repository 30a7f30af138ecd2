r"""Expectation and maximisation, for any family with statistics and a maximiser.

    L(θ) = Σ_i s_i log Σ_k π_k p(x_i | θ_k)
    E    r_ik ∝ π_k p(x_i | θ_k)                          T = Σ_i s_i r_i t(x_i)
    M    θ ← argmax Σ_i s_i Σ_k r_ik log π_k p(x_i | θ_k) + log prior(θ)

One look at the rows gives L at θ and, with it, the statistics of the next θ. For any shares q,
L(θ) = F(q, θ) + KL(q ‖ r): E makes the second term 0 and M raises the first, so L + log prior never
falls. At an inverse temperature β the same holds of

    F_β(θ) = Σ_i s_i (1/β) log Σ_k (π_k p(x_i | θ_k))^β + log prior(θ),        r_ik ∝ (π_k p)^β

which is flat for small β and L at β = 1. Annealing raises β in steps (Ueda & Nakano 1998).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data.rows import Rows
from ...kernels import compiled_or
from ..progress import OnStep, Step, constant_parameters, ignore

GAIN = 2.5e-7  # nats a row in a step: less is what a certificate calls a local optimum
WARM = 1e-4  # nats a row in a step, at temperatures above 1: what follows moves it all again
STIR = 0.3  # standard deviations by which centres are then moved; 0.1 left groups together
NONE = np.empty(0)
COMPILED = 1 << 19  # shares r_ik: 5 ns each are saved in every step
WARM_STEPS = 50  # … and at most so many


Shares = Callable[[np.ndarray, np.ndarray | None, float], tuple[float, np.ndarray]]


class Collapsed(ValueError):
    """A component has no density any more: its likelihood grows without limit."""

    def __init__(self, component: int):
        super().__init__(f"component {component} has collapsed")
        self.component = component


class Look(NamedTuple):
    """What one look at the rows finds."""

    F: float  # Σ s (1/β) log Σ (πp)^β
    statistics: Any


class Family(Protocol):
    """Distributions of components, together with the rows that they are fitted to."""

    mass: float  # Σ s

    def look(self, theta: np.ndarray, beta: float = 1.0) -> Look: ...

    def maximise(self, statistics: np.ndarray, theta: Any) -> Any: ...

    def log_prior(self, theta: np.ndarray) -> float: ...

    def stir(self, theta: np.ndarray, draw: np.random.RandomState, by: float) -> Any: ...

    def chart(self, theta: np.ndarray) -> Any: ...


class Found(NamedTuple):
    theta: np.ndarray
    objective: float  # L + log prior, at theta
    n_iter: int
    converged: bool
    trace: list[float]  # the objective from the start on
    fell: float  # the most that it fell in a step, a row: rounding
    collapsed: int | None = None  # a component whose likelihood has no maximum


def em(
    family: Family,
    theta: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    gain: float = GAIN,
    beta: float = 1.0,
    on_step: OnStep = ignore,
) -> Found:
    """From theta until a step gains at most ``min(tol, gain)`` a row.

    One look at the rows a step, and one more at the end: the objective is that of the theta that
    is returned.
    """
    trace: list[float] = []
    n_iter, converged, collapsed = 0, False, None
    while True:
        look = family.look(theta, beta)
        F = look.F + family.log_prior(theta)
        trace.append(F)
        stop = on_step(Step(n_iter, F, None, constant_parameters(theta)))
        if n_iter > 0:
            converged = abs(F - trace[-2]) <= min(tol, gain) * family.mass
        if stop or converged or n_iter >= max_iter or not np.isfinite(F):
            break
        try:
            theta = family.maximise(look.statistics, theta)
        except Collapsed as error:
            collapsed = error.component
            break
        n_iter += 1
    return Found(theta, F, n_iter, converged, trace, fall(trace) / family.mass, collapsed)


def fall(trace: Sequence[float]) -> float:
    """The most that a sequence falls from one entry to the next."""
    return max([0.0, *(a - b for a, b in pairwise(trace))])


def anneal(
    family: Family, theta: np.ndarray, temperatures: Sequence[float], draw: np.random.RandomState
) -> Any:
    """Where EM at these temperatures, one after the other, leads.

    Components that have become one would stay one for ever: they are stirred before the next.
    """
    for T in temperatures:
        theta = em(family, theta, max_iter=WARM_STEPS, gain=WARM, beta=1.0 / T).theta
        theta = family.stir(theta, draw, STIR)
    return theta


def shares_of(rows: Rows, k: int) -> Shares:
    """How shares are computed: compiled where that is worth loading the compiler's cache."""
    if rows.shape[0] * k < COMPILED:
        return responsibilities
    return compiled_or(_compiled_shares, responsibilities)


def _compiled_shares(a: np.ndarray, s: np.ndarray | None, beta: float) -> tuple[float, np.ndarray]:
    from ...kernels.mixture.responsibilities import shares

    return shares(a, NONE if s is None else s, beta), a


def responsibilities(a: np.ndarray, s: np.ndarray | None, beta: float) -> tuple[float, np.ndarray]:
    """(Σ s (1/β) log Σ exp(βa), s·r) from a = log πp, of shape (k, rows), which it overwrites."""
    if beta != 1.0:
        a *= beta
    top = a.max(axis=0)
    np.subtract(a, top, out=a)
    np.exp(a, out=a)
    total = a.sum(axis=0)
    level = np.log(total)
    level += top
    if s is None:
        F = float(level.sum())
        np.divide(a, total, out=a)
    else:
        F = float(np.dot(s, level))
        np.multiply(a, s / total, out=a)
    return F / beta, a
