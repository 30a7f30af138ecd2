r"""Expectation-maximisation for any family with sufficient statistics and a maximiser.

    L(θ) = Σ_i s_i log Σ_k π_k p(x_i | θ_k)
    E    r_ik ∝ π_k p(x_i | θ_k)                          T = Σ_i s_i r_i t(x_i)
    M    θ ← argmax Σ_i s_i Σ_k r_ik log π_k p(x_i | θ_k) + log prior(θ)

One pass over the rows gives L at θ and the statistics of the next θ. For any distribution q over
components, L(θ) = F(q, θ) + KL(q ‖ r): E makes the second term 0 and M raises the first, so
L + log prior never falls. At an inverse temperature β the same holds for

    F_β(θ) = Σ_i s_i (1/β) log Σ_k (π_k p(x_i | θ_k))^β + log prior(θ),        r_ik ∝ (π_k p)^β

which is flat for small β and equals L at β = 1. Annealing raises β in steps (Ueda & Nakano 1998).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data.rows import Rows
from ...kernels import compiled_or
from ..progress import OnStep, Step, constant_parameters, ignore

# nats a row in a step: a smaller gain is what a certificate calls a local optimum
MIN_GAIN_PER_ROW = 2.5e-7
# at temperatures above 1, where the next temperature moves everything again
ANNEALING_MIN_GAIN_PER_ROW = 1e-4
MAX_ANNEALING_STEPS = 50  # at each temperature
PERTURBATION_SD = 0.3  # after each temperature; with 0.1, merged components stayed together
MIN_COMPILED_RESPONSIBILITIES = 1 << 19  # compiled code saves 5 ns for each r_ik in every step
NO_ROW_WEIGHTS = np.empty(0)


ResponsibilityFunction = Callable[[np.ndarray, np.ndarray | None, float], tuple[float, np.ndarray]]


class Collapsed(ValueError):
    """A component has a singular covariance: the likelihood grows without limit."""

    def __init__(self, component: int):
        super().__init__(f"component {component} has collapsed")
        self.component = component


class EMEvaluation(NamedTuple):
    """Result of one pass over the rows."""

    F: float  # Σ s (1/β) log Σ (πp)^β
    statistics: Any


class Family(Protocol):
    """Component distributions together with the rows they are fitted to."""

    mass: float  # Σ s

    def evaluate(self, theta: np.ndarray, beta: float = 1.0) -> EMEvaluation: ...

    def maximize(self, statistics: np.ndarray, theta: Any) -> Any: ...

    def log_prior(self, theta: np.ndarray) -> float: ...

    def perturb(self, theta: np.ndarray, rng: np.random.RandomState, by: float) -> Any: ...

    def parametrization(self, theta: np.ndarray) -> Any: ...


class MixtureResult(NamedTuple):
    """Parameters found from one start."""

    theta: np.ndarray
    objective: float  # L + log prior, at theta
    n_iter: int
    converged: bool
    trace: list[float]  # the objective at the start and after each step
    largest_decrease: float  # of the objective in one step, a row: rounding
    collapsed: int | None = None  # the component whose likelihood has no maximum


def em(
    family: Family,
    theta: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    gain: float = MIN_GAIN_PER_ROW,
    beta: float = 1.0,
    on_step: OnStep = ignore,
) -> MixtureResult:
    """Iterate EM from theta until a step gains at most ``min(tol, gain)`` a row.

    A step takes one pass over the rows, and one more pass ends the loop: the objective is that of
    the theta returned.
    """
    trace: list[float] = []
    n_iter, converged, collapsed = 0, False, None
    while True:
        evaluation = family.evaluate(theta, beta)
        F = evaluation.F + family.log_prior(theta)
        trace.append(F)
        stop = on_step(Step(n_iter, F, None, constant_parameters(theta)))
        if n_iter > 0:
            converged = abs(F - trace[-2]) <= min(tol, gain) * family.mass
        if stop or converged or n_iter >= max_iter or not np.isfinite(F):
            break
        try:
            theta = family.maximize(evaluation.statistics, theta)
        except Collapsed as error:
            collapsed = error.component
            break
        n_iter += 1
    return MixtureResult(
        theta, F, n_iter, converged, trace, largest_decrease(trace) / family.mass, collapsed
    )


def largest_decrease(trace: Sequence[float]) -> float:
    """Largest decrease of a sequence from one entry to the next."""
    return max([0.0, *(a - b for a, b in pairwise(trace))])


def anneal(
    family: Family, theta: np.ndarray, temperatures: Sequence[float], rng: np.random.RandomState
) -> Any:
    """Run EM at each temperature in turn and return the last theta.

    Identical components would stay identical for ever, so they are perturbed after each one.
    """
    for T in temperatures:
        theta = em(
            family,
            theta,
            max_iter=MAX_ANNEALING_STEPS,
            gain=ANNEALING_MIN_GAIN_PER_ROW,
            beta=1.0 / T,
        ).theta
        theta = family.perturb(theta, rng, PERTURBATION_SD)
    return theta


def responsibility_function(rows: Rows, k: int) -> ResponsibilityFunction:
    """Choose the compiled function for many rows, where it repays loading the compiler's cache."""
    if rows.shape[0] * k < MIN_COMPILED_RESPONSIBILITIES:
        return responsibilities
    return compiled_or(_compiled_responsibilities, responsibilities)


def _compiled_responsibilities(
    a: np.ndarray, s: np.ndarray | None, beta: float
) -> tuple[float, np.ndarray]:
    from ...kernels.mixture.responsibilities import responsibilities

    return responsibilities(a, NO_ROW_WEIGHTS if s is None else s, beta), a


def responsibilities(a: np.ndarray, s: np.ndarray | None, beta: float) -> tuple[float, np.ndarray]:
    """Return Σ s (1/β) log Σ exp(βa) and s·r from a = log πp (k, rows), which is overwritten."""
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
