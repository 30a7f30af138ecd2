r"""Logistic loss of two classes: bound of the excess of a given (w, b).

    F(w, b) = C Σ_i s_i c_{y_i} log(1 + exp(−y_i(x_iᵀw + b))) + l1‖w‖₁ + l2/2 ‖w‖²      y = ±1

The dual point is a = σ(−m), m = y(xᵀw + b), and G(a) = H(a) = −a log a − (1 − a) log(1 − a), which
is log(1 + e^{−m}) + a·m there. Scaled by ρ = 1 − δ, with log(1 + x) ≤ x,

    H(ρa) ≥ H(a) − δ a m − δ² e^{−m},

and H(ρa) ≥ ρH(a) = H(a) − δ a m − δ log(1 + e^{−m}) by concavity, for rows where e^{−m} is large.

Where that proves too little (no penalty, or one that is weak relative to the losses), gradient and
curvature are used (``_curvature``). Without a penalty, data that (w, b) separates have no finite
optimum, and columns that nearly repeat others are treated in higher precision
(``_careful_curvature``).
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm._careful_curvature import CarefulCurvature, careful_curvature
from certus.proofs.glm._curvature import CurvatureBound, curvature_bound, local_model
from certus.proofs.glm.margins import FAR_MARGIN, MarginProblem, Terms, shares
from certus.proofs.glm.separation import separates
from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.linalg.negligible_directions import LeftOutDirection, left_out_findings
from certus.proofs.linalg.repeated_columns import repeated_columns
from certus.proofs.types import RowData


class LogisticMargin:
    """The loss φ(m) = log(1 + e^{−m}) and its entropy."""

    curvature = 0.25  # upper bound

    @staticmethod
    def terms(m: np.ndarray, out: Terms) -> None:
        e = np.exp(-np.abs(m))  # never overflows
        np.less_equal(m, 0.0, out=out.wrong, casting="unsafe")
        is_near = m > -FAR_MARGIN
        np.log1p(e, out=out.value)
        np.subtract(out.value, np.minimum(m, 0.0), out=out.value)
        # a = e/(1 + e) where m > 0, else 1/(1 + e); e^{−m} = e, else 1/e
        np.divide(e + out.wrong * (1.0 - e), 1.0 + e, out=out.a)
        np.multiply(out.a, out.a, out=out.aa)
        np.multiply(out.a, m, out=out.am)
        np.exp(-np.maximum(m, -FAR_MARGIN), out=out.odds)
        np.multiply(out.odds, is_near, out=out.odds)
        np.multiply(out.value, ~is_near, out=out.far)

    @staticmethod
    def dual(sums: Terms, rho: np.ndarray, error: np.ndarray) -> Any:
        """Lower bound of Σ ω H(ρa) for every ρ within ``error``."""
        H, delta = sums.value + sums.am, 1 - rho + error
        second = H - (1 - rho) * sums.am - error * np.abs(sums.am)
        second = second - delta**2 * sums.odds - delta * sums.far
        return np.maximum(np.maximum(rho - error, 0.0) * H, second)

    @staticmethod
    def null(plus: np.ndarray, minus: np.ndarray, intercept: bool) -> Any:
        """Loss Σ ω φ of the best constant: the entropy of the two classes' weights."""
        total = plus + minus
        if not intercept:
            return total * np.log(2)
        share = np.stack([plus, minus]) / total
        return -total * (share * np.log(np.where(share > 0, share, 1.0))).sum(axis=0)


@np.errstate(over="ignore", invalid="ignore")  # an overflow gives no bound, and no certificate
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
    f0, penalized = problem.null_objective, l1 > 0 or l2 > 0
    bound, gap = problem.gaps() if penalized else (0 * f0, np.full_like(f0, np.inf))
    proof, coef_error, decrement = "a dual point", None, 0.0
    unresolved: dict[int, CurvatureBound] = {}
    only_one_class = problem.one_class_alone & problem.free
    if only_one_class.any():  # no loss is below 0, and b → ±∞ makes it 0
        upper = problem.objective + problem.evaluation(problem.score_error(problem.XXw, problem.W))
        bound, gap = np.where(only_one_class, 0.0, bound), np.where(only_one_class, upper, gap)
    for quick in (True, False) if penalized else (False,):
        missed = np.flatnonzero(shares(gap, f0) > tol)
        if not len(missed):
            break
        # quick: bound the norm of each column by that of all
        rough = np.full(len(problem.w), np.sqrt(1.001 * problem.XX))
        size = rough if quick else problem.column_sizes()
        for t in map(int, missed):
            result, error = by_curvature(problem, t, size, tol, quick)
            decrement = max(decrement, float(shares(result.decrement, f0[t])))
            if set_excess_bound(problem, t, result, error, bound, gap):
                proof = "gradient and curvature"
                if result.reach is not None and len(gap) == 1:
                    coef_error = float(np.max(result.reach[: len(problem.q)] * problem.q))
            open_to_rounding = result.unresolved or result.excess <= tol * f0[t]
            if not penalized and gap[t] > tol * f0[t] and open_to_rounding:
                unresolved[t] = result
    separated = None
    if not penalized and np.isinf(gap).any():
        if not fit_intercept and direction is not None and np.any(direction[1]):
            direction = None  # it would need an intercept
        separated = separation(problem, w, b, direction)
    extra: dict[str, Any] = {}
    if unresolved and not separated and not problem.infeasible:
        w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
        extra = resolve_columns(problem, w, b, fit_intercept, unresolved, bound, gap, tol)
        coef_error, decrement = extra.pop("coef_error"), extra.pop("decrement")
        proof = "gradient and curvature"
    answer = problem.verdict(bound, gap, coef_error)
    answer |= {"proof": proof, "mean_probability": problem.mean_probability(), **extra}
    if not penalized and np.isinf(gap).any():
        answer["separated"] = separated
        without_residual = answer["separated"] or problem.infeasible
        answer |= {"bound": None, "gap": float("inf"), "kind": "stationary"}
        answer["residual"] = float("inf") if without_residual else float(decrement)
    return answer


def set_excess_bound(
    problem: MarginProblem,
    t: int,
    result: CurvatureBound,
    error: float,
    bound: np.ndarray,
    gap: np.ndarray,
) -> bool:
    """Set bound and gap of column t where the excess improves them; return whether it did."""
    new_gap = (result.excess + 2 * error) * (1 + 8 * UNIT)
    if not new_gap < gap[t]:
        return False
    gap[t], bound[t] = new_gap, max(problem.objective[t] - error - result.excess, 0.0)
    return True


def resolve_columns(
    problem: MarginProblem,
    w: np.ndarray,
    b: np.ndarray,
    fit_intercept: bool,
    columns: dict[int, CurvatureBound],
    bound: np.ndarray,
    gap: np.ndarray,
    tol: float,
) -> dict[str, Any]:
    """Bound the columns t that rounding left undecided, and return the additional results.

    Columns of X that repeat others are excluded; where that is not enough, higher precision is
    used. ``bound``, ``gap`` and the objective are set in place.
    """
    f0 = problem.null_objective
    answer: dict[str, Any] = {"coef_error": None, "decrement": 0.0, "left_out": []}
    for t, before in columns.items():
        left_out = exclude_repeated_columns(problem, t, w, before, bound, gap, tol)
        if left_out is not None:
            answer["left_out"] += left_out_findings(left_out, len(w))
            continue
        at, rows = slice(t, t + 1), row_losses(problem, t)
        one = np.ones(1, dtype=bool)
        result = careful_curvature(problem.data, w[:, at], b[at], fit_intercept, rows, one)
        set_careful_bound(problem, t, result, bound, gap)
        answer["decrement"] = max(answer["decrement"], float(shares(result.decrement, f0[t])))
        answer["left_out"] += left_out_findings(result.left_out, len(w))
        if result.unproven:
            # the intercept alone reaches f0
            gain = max(before.gain, problem.objective[t] - f0[t])
            answer |= {"unproven": result.unproven, "at_least": float(shares(gain, f0[t]))}
        if result.reach is not None and len(gap) == 1:
            answer["coef_error"] = float(np.max(result.reach[:, : len(w)]))
    return answer


def exclude_repeated_columns(
    problem: MarginProblem,
    t: int,
    w: np.ndarray,
    before: CurvatureBound,
    bound: np.ndarray,
    gap: np.ndarray,
    tol: float,
) -> list[LeftOutDirection] | None:
    """Bound column t without the columns of X that repeat others.

    Returns the directions left out, or None where the others do not prove enough.
    """
    constant, size = 1.0 if problem.free else None, problem.column_sizes()
    at = slice(t, t + 1)
    repeats = repeated_columns(problem.data, problem.view, before.flat, size, constant, w[:, at])
    if repeats is None:
        return None
    exact, problem.b_error = problem.b_error, problem.b_error + repeats.shift
    result, error = by_curvature(problem, t, size, tol, False, repeats.columns)
    problem.b_error = exact
    proven = result.excess + 2 * error <= tol * problem.null_objective[t]
    if not proven or not set_excess_bound(problem, t, result, error, bound, gap):
        return None
    return repeats.left_out


def set_careful_bound(
    problem: MarginProblem, t: int, result: CarefulCurvature, bound: np.ndarray, gap: np.ndarray
) -> None:
    """Set objective, bound and gap of column t from a result in higher precision, if finite."""
    if not np.isfinite(result.objective):
        return
    new_gap = (result.excess + 2 * result.error) * (1 + 8 * UNIT)
    problem.both.value[t] = result.objective
    gap[t] = new_gap
    bound[t] = max(result.objective - result.error - result.excess, 0.0)


def row_losses(problem: MarginProblem, t: int) -> "LogisticRows":
    return LogisticRows(t if problem.one_vs_rest else 1, problem.factor[:, t])


class LogisticRows(NamedTuple):
    """Loss ω log(1 + e^{−yz}) of rows, y = 1 for class ``plus``, with its derivatives."""

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


class LogisticCurvature(NamedTuple):
    """Curvature ω σ(z)σ(−z) of rows, ω by whether their class is ``plus``."""

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
    quick: bool,
    without: tuple[int, ...] | list[int] = (),
) -> tuple[CurvatureBound, float]:
    """Return the excess of column t and the rounding error of its F.

    ``size``: √Σ s x_j²; ``without``: columns that repeat others.
    """
    at, factor = slice(t, t + 1), problem.factor[:, t]
    row_curvature = LogisticCurvature(t if problem.one_vs_rest else 1, factor)
    sums = (
        problem.V[0, :, at] - problem.V[1, :, at],
        problem.sides.a[0, at] - problem.sides.a[1, at],
    )
    size = np.sqrt(factor.max()) * size
    local = local_model(
        problem,
        at,
        sums,
        problem.slope[at],
        problem.W[at],
        size,
        row_curvature,
        problem.loss.curvature,
    )
    local.kept[:, list(without)] = False
    result = curvature_bound(problem.data, local, tol * problem.null_objective[t] / 4, quick)
    return result, float(problem.evaluation(local.z_error)[t])


def separation(
    problem: MarginProblem,
    w: np.ndarray,
    b: np.ndarray,
    direction: tuple[np.ndarray, np.ndarray] | None,
) -> dict[str, Any] | None:
    """Return a proof that some column's classes are separated, by ``direction`` or by (w, b)."""
    tried = [(np.asarray(w, dtype=float), np.asarray(b, dtype=float), problem.both.wrong == 0)]
    if direction is not None:  # first: a direction found on purpose is the more informative one
        u, c = (np.asarray(part, dtype=float) for part in direction)
        every = np.ones(len(b), dtype=bool)
        tried.insert(0, (u.reshape(len(problem.w), -1), np.atleast_1d(c), every))
    for u, c, worth in tried:
        for t in np.flatnonzero(worth[: len(c)]):
            against = int(t) if problem.one_vs_rest else None
            weight = problem.factor[::-1, t]
            result = separates(problem.data, u[:, t], c[t], weight, against)
            if result is not None:
                return result
    return None
