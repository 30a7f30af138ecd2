r"""Logistic loss of two classes: how far a given (w, b) is from the optimum.

    F(w, b) = C Σ_i s_i c_{y_i} log(1 + exp(−y_i(x_iᵀw + b))) + l1‖w‖₁ + l2/2 ‖w‖²      y = ±1

The dual point is a = σ(−m), m = y(xᵀw + b), and G(a) = H(a) = −a log a − (1 − a) log(1 − a), which
is log(1 + e^{−m}) + a·m there. Scaled by ρ = 1 − δ, with log(1 + x) ≤ x,

    H(ρa) ≥ H(a) − δ a m − δ² e^{−m},

and H(ρa) ≥ ρH(a) = H(a) − δ a m − δ log(1 + e^{−m}) by concavity, for rows where e^{−m} is large.

Where that proves too little (no penalty, or one that is weak beside the rows), gradient and
curvature do (``curvature``); without a penalty, data that (w, b) separates have no finite optimum,
and columns that nearly repeat others are looked at in more digits (``_careful_curvature``).
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm._careful_curvature import Careful, careful_curvature
from certus.proofs.glm._curvature import Curvature, from_curvature, local_of
from certus.proofs.glm.margins import FAR, MarginProblem, Terms, shares
from certus.proofs.glm.separation import separates
from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.linalg.negligible_directions import LeftOutDirection, left_out_findings
from certus.proofs.linalg.repeated_columns import repeated_columns
from certus.proofs.types import RowData


class LogisticMargin:
    """φ(m) = log(1 + e^{−m}) and its entropy."""

    curvature = 0.25  # at most

    @staticmethod
    def terms(m: np.ndarray, out: Terms) -> None:
        e = np.exp(-np.abs(m))  # never overflows
        np.less_equal(m, 0.0, out=out.wrong, casting="unsafe")
        near = m > -FAR
        np.log1p(e, out=out.value)
        np.subtract(out.value, np.minimum(m, 0.0), out=out.value)
        # a = e/(1 + e) where m > 0, else 1/(1 + e); e^{−m} = e, else 1/e
        np.divide(e + out.wrong * (1.0 - e), 1.0 + e, out=out.a)
        np.multiply(out.a, out.a, out=out.aa)
        np.multiply(out.a, m, out=out.am)
        np.exp(-np.maximum(m, -FAR), out=out.odds)
        np.multiply(out.odds, near, out=out.odds)
        np.multiply(out.value, ~near, out=out.far)

    @staticmethod
    def dual(sums: Terms, rho: np.ndarray, error: np.ndarray) -> Any:
        """Σ ω H(ρa), at least, for every ρ within ``error``."""
        H, delta = sums.value + sums.am, 1 - rho + error
        second = H - (1 - rho) * sums.am - error * np.abs(sums.am)
        second = second - delta**2 * sums.odds - delta * sums.far
        return np.maximum(np.maximum(rho - error, 0.0) * H, second)

    @staticmethod
    def null(plus: np.ndarray, minus: np.ndarray, intercept: bool) -> Any:
        """Σ ω φ of the best constant: the entropy of the two classes' weights."""
        total = plus + minus
        if not intercept:
            return total * np.log(2)
        share = np.stack([plus, minus]) / total
        return -total * (share * np.log(np.where(share > 0, share, 1.0))).sum(axis=0)


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
def check(
    data: RowData,
    *,
    w: np.ndarray,
    b: np.ndarray,
    C: float = 1.0,
    l1: float = 0.0,
    l2: float = 1.0,
    fit_intercept: bool = True,
    class_weight: object = None,
    intercept_scaling: float | None = None,
    one_vs_rest: bool = False,
    direction: tuple[np.ndarray, np.ndarray] | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p×k), b (k,).

    One pass of O(n·p·k) operations.
    """
    problem = MarginProblem(
        data, LogisticMargin, w, b, C, l1, l2, fit_intercept, class_weight, intercept_scaling,
        one_vs_rest,
    )  # fmt: skip
    f0, penalised = problem.null_objective, l1 > 0 or l2 > 0
    bound, gap = problem.gaps() if penalised else (0 * f0, np.full_like(f0, np.inf))
    proof, coef_error, decrement = "a dual point", None, 0.0
    unresolved: dict[int, Curvature] = {}
    alone = problem.one_class_alone & problem.free
    if alone.any():  # no loss is below 0, and b → ±∞ makes it 0
        most = problem.objective + problem.evaluation(problem.score_error(problem.XXw, problem.W))
        bound, gap = np.where(alone, 0.0, bound), np.where(alone, most, gap)
    for glance in (True, False) if penalised else (False,):
        missed = np.flatnonzero(shares(gap, f0) > tol)
        if not len(missed):
            break
        # for a glance, no column is longer than all of them
        rough = np.full(len(problem.w), np.sqrt(1.001 * problem.XX))
        size = rough if glance else problem.column_sizes()
        for t in map(int, missed):
            found, error = by_curvature(problem, t, size, tol, glance)
            decrement = max(decrement, float(shares(found.decrement, f0[t])))
            if take_excess(problem, t, found, error, bound, gap):
                proof = "gradient and curvature"
                if found.reach is not None and len(gap) == 1:
                    coef_error = float(np.max(found.reach[: len(problem.q)] * problem.q))
            open_to_rounding = found.unresolved or found.excess <= tol * f0[t]
            if not penalised and gap[t] > tol * f0[t] and open_to_rounding:
                unresolved[t] = found
    separated = None
    if not penalised and np.isinf(gap).any():
        if not fit_intercept and direction is not None and np.any(direction[1]):
            direction = None  # it would need an intercept
        separated = separation(problem, w, b, direction)
    more: dict[str, Any] = {}
    if unresolved and not separated and not problem.infeasible:
        w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
        more = of_unresolved(problem, w, b, fit_intercept, unresolved, bound, gap, tol)
        coef_error, decrement = more.pop("coef_error"), more.pop("decrement")
        proof = "gradient and curvature"
    answer = problem.verdict(bound, gap, coef_error)
    answer |= {"proof": proof, "mean_probability": problem.mean_probability(), **more}
    if not penalised and np.isinf(gap).any():
        answer["separated"] = separated
        nothing = answer["separated"] or problem.infeasible
        answer |= {"bound": None, "gap": float("inf"), "kind": "stationary"}
        answer["residual"] = float("inf") if nothing else float(decrement)
    return answer


def take_excess(
    problem: MarginProblem,
    t: int,
    found: Curvature,
    error: float,
    bound: np.ndarray,
    gap: np.ndarray,
) -> bool:
    """Set bound and gap of column t where the excess proves more than what is known."""
    least = (found.excess + 2 * error) * (1 + 8 * UNIT)
    if not least < gap[t]:
        return False
    gap[t], bound[t] = least, max(problem.objective[t] - error - found.excess, 0.0)
    return True


def of_unresolved(
    problem: MarginProblem,
    w: np.ndarray,
    b: np.ndarray,
    fit_intercept: bool,
    columns: dict[int, Curvature],
    bound: np.ndarray,
    gap: np.ndarray,
    tol: float,
) -> dict[str, Any]:
    """Columns t that rounding left open: without those of X that repeat others, or in more digits.
    ``bound`` and ``gap`` are set, and the objective with them."""
    f0 = problem.null_objective
    answer: dict[str, Any] = {"coef_error": None, "decrement": 0.0, "left_out": []}
    for t, before in columns.items():
        left_out = without_repeats(problem, t, w, before, bound, gap, tol)
        if left_out is not None:
            answer["left_out"] += left_out_findings(left_out, len(w))
            continue
        at, rows = slice(t, t + 1), row_losses(problem, t)
        one = np.ones(1, dtype=bool)
        found = careful_curvature(problem.data, w[:, at], b[at], fit_intercept, rows, one)
        take_careful(problem, t, found, bound, gap)
        answer["decrement"] = max(answer["decrement"], float(shares(found.decrement, f0[t])))
        answer["left_out"] += left_out_findings(found.left_out, len(w))
        if found.unproven:
            # the intercept alone has f0
            gain = max(before.gain, problem.objective[t] - f0[t])
            answer |= {"unproven": found.unproven, "at_least": float(shares(gain, f0[t]))}
        if found.reach is not None and len(gap) == 1:
            answer["coef_error"] = float(np.max(found.reach[:, : len(w)]))
    return answer


def without_repeats(
    problem: MarginProblem,
    t: int,
    w: np.ndarray,
    before: Curvature,
    bound: np.ndarray,
    gap: np.ndarray,
    tol: float,
) -> list[LeftOutDirection] | None:
    """What is left out, where the columns that do not repeat others prove enough; else None."""
    constant, size = 1.0 if problem.free else None, problem.column_sizes()
    at = slice(t, t + 1)
    repeats = repeated_columns(problem.data, problem.view, before.dark, size, constant, w[:, at])
    if repeats is None:
        return None
    exact, problem.b_error = problem.b_error, problem.b_error + repeats.shift
    found, error = by_curvature(problem, t, size, tol, False, repeats.columns)
    problem.b_error = exact
    proven = found.excess + 2 * error <= tol * problem.null_objective[t]
    if not proven or not take_excess(problem, t, found, error, bound, gap):
        return None
    return repeats.left_out


def take_careful(
    problem: MarginProblem, t: int, found: Careful, bound: np.ndarray, gap: np.ndarray
) -> None:
    """Where nothing was found, what was known stays."""
    if not np.isfinite(found.objective):
        return
    least = (found.excess + 2 * found.error) * (1 + 8 * UNIT)
    problem.both.value[t] = found.objective
    gap[t] = least
    bound[t] = max(found.objective - found.error - found.excess, 0.0)


def row_losses(problem: MarginProblem, t: int) -> "LogisticRows":
    return LogisticRows(t if problem.one_vs_rest else 1, problem.factor[:, t])


class LogisticRows(NamedTuple):
    """ω log(1 + e^{−yz}) of rows of class ``plus`` and of the others, with its derivatives."""

    plus: int
    factor: np.ndarray

    def weights(self, y: np.ndarray, s: np.ndarray) -> Any:
        return s * np.where(y == self.plus, self.factor[0], self.factor[1])

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        sign = np.where(y == self.plus, 1.0, -1.0)
        m, omega = sign * z[:, 0], self.weights(y, s)
        e = np.exp(-np.abs(m))
        a = np.where(m > 0, e, 1.0) / (1 + e)
        value = omega * (np.log1p(e) - np.minimum(m, 0.0))
        return value, (-omega * sign * a)[:, None], (omega * e / (1 + e) ** 2)[:, None, None]


class LogisticBend(NamedTuple):
    """ω σ(z)σ(−z) of rows of class ``plus`` and of the others."""

    plus: int
    factor: np.ndarray | tuple[float, float]

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> Any:
        e = np.exp(-np.abs(z[:, 0]))
        omega = s * np.where(y == self.plus, self.factor[0], self.factor[1])
        return (omega * e / (1 + e) ** 2)[:, None, None]


def by_curvature(
    problem: MarginProblem,
    t: int,
    size: np.ndarray,
    tol: float,
    glance: bool,
    without: tuple[int, ...] | list[int] = (),
) -> tuple[Curvature, float]:
    """The excess of column t, and what rounding did to its F. ``size``: √Σ s x_j²; ``without``:
    columns that repeat others."""
    at, factor = slice(t, t + 1), problem.factor[:, t]
    bend = LogisticBend(t if problem.one_vs_rest else 1, factor)
    sums = (
        problem.V[0, :, at] - problem.V[1, :, at],
        problem.sides.a[0, at] - problem.sides.a[1, at],
    )
    size = np.sqrt(factor.max()) * size
    local = local_of(
        problem, at, sums, problem.slope[at], problem.W[at], size, bend, problem.loss.curvature
    )
    local.kept[:, list(without)] = False
    found = from_curvature(problem.data, local, tol * problem.null_objective[t] / 4, glance)
    return found, float(problem.evaluation(local.z_error)[t])


def separation(
    problem: MarginProblem,
    w: np.ndarray,
    b: np.ndarray,
    direction: tuple[np.ndarray, np.ndarray] | None,
) -> dict[str, Any] | None:
    """Proof that some column's classes are separated, by (w, b) itself or by ``direction``."""
    tried = [(np.asarray(w, dtype=float), np.asarray(b, dtype=float), problem.both.wrong == 0)]
    if direction is not None:  # what was looked for says more than what the solver stumbled on
        u, c = (np.asarray(part, dtype=float) for part in direction)
        every = np.ones(len(b), dtype=bool)
        tried.insert(0, (u.reshape(len(problem.w), -1), np.atleast_1d(c), every))
    for u, c, worth in tried:
        for t in np.flatnonzero(worth[: len(c)]):
            rest = int(t) if problem.one_vs_rest else None
            weight = problem.factor[::-1, t]
            found = separates(problem.data, u[:, t], c[t], weight, rest)
            if found is not None:
                return found
    return None
