"""Step lengths: a number, 1/L, or the result of a line search.

Fixed          α
Lipschitz      share/L,   L the largest curvature of Q = F/S
Backtracking   the first of t, t/2, t/4, … with Q(θ + tV) ≤ Q(θ) + c₁·t⟨∇Q, V⟩ (Armijo)
Wolfe          some t with that and ⟨∇Q(θ + tV), V⟩ ≥ c₂·⟨∇Q, V⟩: neither too long nor short
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..problem import Problem
from .base import number_above_zero, share_below_one
from .stochastic import finite_squares

MAX_TRIALS = 200  # doublings or halvings: columns of size 1e20 need some 130 before the first step
OBJECTIVE_ROUNDING = 1e-15  # relative: a predicted decrease of F below this is rounding
MAX_GRAM_COLUMNS = 512  # up to which XᵀSX is formed; beyond, Lanczos iterations find λ_max
LANCZOS_TOL = 1e-3  # relative error of that eigenvalue
LANCZOS_SAFETY_FACTOR = 1.01  # Lanczos approaches λ_max from below


class Trial(NamedTuple):
    """Evaluation at a distance t along the direction."""

    value: float
    slope: float  # along the direction
    result: Any  # the caller's own evaluation, passed through


class Line(NamedTuple):
    """A descent direction, with the function along it and its value and slope at t = 0."""

    value: float
    slope: float  # at 0; below 0
    first: float  # the first t to try
    trial: Callable[[float], Trial]  # costs one pass over X
    lipschitz: Callable[[], float] | None = None  # () → L


class StepRule(Protocol):
    searches: bool  # needs a descent direction

    def find(self, line: Line) -> tuple[float, Trial] | None:
        """Return the step length and its trial; None where no step lowers the objective."""


class Fixed:
    """A constant step, t = alpha.

    Parameters
    ----------
    alpha : float
    """

    searches = False

    def __init__(self, alpha: float):
        self.alpha = number_above_zero("step", alpha)

    def find(self, line: Line) -> tuple[float, Trial] | None:
        return self.alpha, line.trial(self.alpha)

    def __repr__(self) -> str:
        return f"Fixed({self.alpha!r})"


class Lipschitz:
    """The step t = share/L with L an upper bound of the curvature of Q.

    For share ≤ 1 a step of gradient descent never raises Q. L takes one pass over X, O(n·p²), for
    up to 512 columns; beyond, some tens of passes.

    Parameters
    ----------
    share : float, default=1.0
    """

    searches = False

    def __init__(self, share: float = 1.0):
        self.share = number_above_zero("share", share)

    def find(self, line: Line) -> tuple[float, Trial] | None:
        assert line.lipschitz is not None
        t = self.share / line.lipschitz()
        return t, line.trial(t)

    def __repr__(self) -> str:
        return f"Lipschitz({self.share!r})"


class Backtracking:
    """Armijo's rule.

    Parameters
    ----------
    sufficient_decrease : float, default=1e-4
        c₁: the share of the decrease predicted by the slope that Q must reach.
    shrink : float, default=0.5
        Factor by which t is multiplied until it does. The next search begins at t/shrink.
    """

    searches = True

    def __init__(self, sufficient_decrease: float = 1e-4, shrink: float = 0.5):
        self.sufficient_decrease = share_below_one("sufficient_decrease", sufficient_decrease)
        self.shrink = number_above_zero("shrink", share_below_one("shrink", shrink))

    def find(self, line: Line) -> tuple[float, Trial] | None:
        t = line.first / self.shrink
        while -t * line.slope > OBJECTIVE_ROUNDING * abs(line.value):
            candidate = line.trial(t)
            if candidate.value <= line.value + self.sufficient_decrease * t * line.slope:
                return t, candidate
            t *= self.shrink
        return None

    def __repr__(self) -> str:
        return f"Backtracking({self.sufficient_decrease!r}, {self.shrink!r})"


class Wolfe:
    """The weak Wolfe conditions, by halving and doubling.

    Parameters
    ----------
    sufficient_decrease : float, default=1e-4
        c₁: the share of the decrease predicted by the slope that Q must reach.
    curvature : float, default=0.9
        c₂: the share of the initial slope that may remain.
    """

    searches = True

    def __init__(self, sufficient_decrease: float = 1e-4, curvature: float = 0.9):
        self.sufficient_decrease, self.curvature = (
            share_below_one("sufficient_decrease", sufficient_decrease),
            share_below_one("curvature", curvature),
        )
        if not sufficient_decrease < curvature:
            raise ValueError(
                f"sufficient_decrease={sufficient_decrease!r}, curvature={curvature!r}: "
                "give sufficient_decrease < curvature"
            )

    def find(self, line: Line) -> tuple[float, Trial] | None:
        low, high, t = 0.0, np.inf, line.first
        for _ in range(MAX_TRIALS):
            if -t * line.slope <= OBJECTIVE_ROUNDING * abs(line.value):
                return None
            candidate = line.trial(t)
            if not candidate.value <= line.value + self.sufficient_decrease * t * line.slope:
                high = t
            elif candidate.slope < self.curvature * line.slope:
                low = t
            else:
                return t, candidate
            t = 2 * t if high == np.inf else (low + high) / 2
        return None

    def __repr__(self) -> str:
        return f"Wolfe({self.sufficient_decrease!r}, {self.curvature!r})"


STEP_RULES: dict[str, Any] = {"lipschitz": Lipschitz, "backtracking": Backtracking, "wolfe": Wolfe}


def make_step_rule(given: object, known: tuple[str, ...] = tuple(STEP_RULES)) -> StepRule:
    """Return the step rule that is given by name, as a number, or as an object."""
    rule: Any
    if isinstance(given, str) and given in known:
        rule = STEP_RULES[given]()
        return rule
    if isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
        return Fixed(float(given))
    allowed = tuple(STEP_RULES[name] for name in known)
    if isinstance(given, (Fixed, *allowed)):
        rule = given
        return rule
    names = ", ".join(map(repr, known))
    raise ValueError(
        f"step={given!r}: give a number, {names}, or "
        f"{', '.join(rule.__name__ for rule in (Fixed, *allowed))} of certus.solvers"
    )


def largest_curvature(problem: Problem) -> float:
    """Return L ≥ the largest eigenvalue of ∇²Q: ℓ″·λ_max(Σ s x̂x̂ᵀ)/S + l2/S, x̂ = (x, 1)."""
    if "curvature" not in problem.cache:
        with np.errstate(over="ignore", invalid="ignore"):
            problem.cache["curvature"] = finite_squares(_largest_eigenvalue(problem))
    result: float = problem.cache["curvature"]
    rows = problem.rows
    return float(problem.loss.curvature_bound * result + problem.l2 / rows.S) or 1.0


def _largest_eigenvalue(problem: Problem) -> float:
    rows, free = problem.rows, problem.fit_intercept
    p = rows.shape[1]
    if p <= MAX_GRAM_COLUMNS:
        total, cross, S = rows.dense().reduce(_squares, square=True)
        M = np.block([[total, cross[:, None]], [cross[None], np.array([[S]])]])
        M = M if free else total
        return float(np.linalg.eigvalsh(M / S)[-1]) if np.isfinite(M).all() else np.inf
    from scipy.sparse.linalg import LinearOperator, eigsh

    def times(v: np.ndarray) -> np.ndarray:
        Xt, st, S = rows.reduce(_twice, v[:p], v[p] if free else 0.0)
        return np.append(Xt, st if free else 0.0) / S

    operator = LinearOperator((p + 1, p + 1), matvec=times, dtype=float)
    start = np.random.default_rng(0).normal(size=p + 1)  # orthogonal to no eigenvector
    image = times(start)
    if not image.any() or not np.isfinite(image).all():
        return float(np.abs(image).sum())  # 0, or not finite
    (result,) = eigsh(operator, 1, v0=start, tol=LANCZOS_TOL, return_eigenvectors=False)
    return LANCZOS_SAFETY_FACTOR * float(result)


def _squares(X: np.ndarray, _y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any, Any]:
    X = X.astype(float, copy=False)
    weight = np.ones(len(X)) if s is None else s
    return np.dot(X.T, X if s is None else weight[:, None] * X), np.dot(weight, X), weight.sum()


def _twice(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, u: np.ndarray, v: np.ndarray
) -> tuple[Any, Any, Any]:
    t = X @ u + v
    S = float(len(t)) if s is None else float(s.sum())
    t = t if s is None else s * t
    return X.T @ t, t.sum(), S
