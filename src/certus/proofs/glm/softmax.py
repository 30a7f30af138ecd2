r"""Softmax loss of K classes: bound of the excess of a given (w, b).

    F(w, b) = C Σ_i s_i c_{y_i} (log Σ_k exp(z_ik) − z_{i,y_i}) + l1‖w‖₁ + l2/2 ‖w‖²,  z = Xw + b

With Y_i the unit vector of row i's class, any Q_i in the simplex gives, E(Q) = −Σ_k Q_k log Q_k,

    D(Q) = Σ_i ω_i E(Q_i) − Σ_jk [|V_jk| − l1]₊² / (2 l2) ≤ F      V = Σ_i ω_i x_i (Y_i − Q_i)ᵀ

where free intercepts require Σ ω Q = Σ ω Y. The point is Q = softmax(z), with the rows of class c
moved towards their class, Q ← (1 − δ_c)Q + δ_c Y, which shrinks V. With q_ck = Σ_{i in c} ω Q_ik
and n_c = Σ_{i in c} ω, the δ solve

    Σ_c δ_c (n_c 1[c = k] − q_ck) = n_k − Σ_c q_ck        (δ ≥ 0, the least is 0).

The remaining rounding is removed by Q ← (1 − t)Q + t·ζ/S, ζ = (n − (1 − t)q)/t, with the least t
that makes ζ ≥ 0. E is concave, so E((1 − δ)Q + δY) ≥ (1 − δ)E(Q): for δ near 0 one pass suffices;
otherwise a second pass computes the sums at the moved point.

Where that proves too little (no penalty, or one that is weak relative to the losses), gradient and
curvature are used (``_curvature``). Without a penalty, data that (w, b) separates have no finite
optimum, and columns that nearly repeat others are treated in higher precision
(``_careful_curvature``).
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm._careful_curvature import CarefulCurvature, careful_curvature
from certus.proofs.glm._curvature import curvature_bound, local_model
from certus.proofs.glm._softmax_rows import SoftmaxCurvature, SoftmaxRows
from certus.proofs.glm._weightless import WeightedClasses, newton_gain
from certus.proofs.glm.duality import (
    Fitted,
    class_factors,
    class_mass,
    is_strided,
    product,
    slice_rows,
    slices,
    squared_norms,
    transposed,
)
from certus.proofs.glm.separation import separates
from certus.proofs.linalg.linear_sums import UNIT, View
from certus.proofs.linalg.negligible_directions import left_out_findings
from certus.proofs.linalg.repeated_columns import repeated_columns
from certus.proofs.types import Matrix, RowData

LOG1P_THRESHOLD = 1.0625  # Σ e^{z − max z} below which its logarithm would lose digits


class SoftmaxSums(NamedTuple):
    """Sums Σ s over the rows of each class c, at the moved Q; only V has ω = s·factor."""

    XX: float  # Σ s ‖x‖², all rows
    one: np.ndarray  # (K,)
    value: np.ndarray  # the loss (K,)
    entropy: np.ndarray  # E(Q) (K,)
    slope: np.ndarray  # ‖Q − Y‖² (K,)
    wrong: np.ndarray  # another class has the larger score (K,)
    Q: np.ndarray  # (K, K)
    V: np.ndarray  # (p, K)


def softmax_sums(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    b: np.ndarray,
    view: View,
    factor: np.ndarray,
    delta: np.ndarray | None,
) -> SoftmaxSums:
    """Sums of one block of rows; y holds class indices."""
    K = w.shape[1]
    XX, total, V = 0.0, np.zeros((K, 5 + K)), np.zeros(w.shape)
    buffer = np.empty((5 + K, slice_rows(X)))
    for part, Z in slices(X, view):
        # (classes, rows), so that sums over classes are vector sums
        if isinstance(Z, np.ndarray) and not is_strided(Z):
            z = np.dot(w.T, Z.T)
        else:
            z = np.ascontiguousarray(product(Z, w).T)
        weight = None if s is None else s[part]
        XX += squared_norms(Z, weight)
        label, at = y[part, 0].astype(np.intp), np.arange(z.shape[1])
        rows = buffer[:, : len(at)]
        one, value, entropy, slope, wrong, Q = *rows[:5], rows[5:]
        z += b[:, None]
        z -= z.max(axis=0)
        np.exp(z, out=Q)
        sums = Q.sum(axis=0)
        log_sum, z_own = np.log(sums), z[label, at]
        needs_log1p = np.flatnonzero(sums < LOG1P_THRESHOLD)  # only the largest term is 1
        if len(needs_log1p):
            others = Q[:, needs_log1p]
            log_sum[needs_log1p] = np.log1p((others * (others < 1)).sum(axis=0))
        Q /= sums
        one.fill(1.0)
        np.subtract(log_sum, z_own, out=value)
        np.subtract(log_sum, np.einsum("ki,ki->i", Q, z), out=entropy)
        z[label, at] = -np.inf
        np.greater_equal(z.max(axis=0), z_own, out=wrong, casting="unsafe")
        if delta is not None:
            Q *= 1 - delta[label]
            Q[label, at] += delta[label]
            np.negative((Q * np.log(np.where(Q > 0, Q, 1.0))).sum(axis=0), out=entropy)
        # Y − Q, with 1 − Q of a row's class as the others' sum: no cancellation where Q is near 1
        R = np.negative(Q, out=z)
        R[label, at] = 0.0
        R[label, at] = -R.sum(axis=0)
        np.einsum("ki,ki->i", R, R, out=slope)
        Y = np.zeros_like(R)
        Y[label, at] = 1.0 if weight is None else weight
        total += np.dot(Y, rows.T)
        R *= factor[label] if weight is None else weight * factor[label]
        V += transposed(Z, R.T)
    one, value, entropy, slope, wrong = total[:, :5].T
    return SoftmaxSums(XX, one, value, entropy, slope, wrong, total[:, 5:], V)


class SoftmaxProblem(Fitted):
    """A model (w, b) with K columns: its sums over all rows, objective and bounds."""

    def __init__(
        self, data: RowData, w: np.ndarray, b: np.ndarray, C: float, l1: float, l2: float,
        fit_intercept: bool, class_weight: object, intercept_scaling: float | None,
    ):  # fmt: skip
        super().__init__(data, w, b, C, l1, l2, fit_intercept, intercept_scaling)
        K = len(self.b)
        mass = np.ones(K) if class_weight is None else data.reduce_targets(class_mass, K)[0]
        self.factor = class_factors(self.C, class_weight, mass)
        self.sums = self.take_sums(None)
        self.n = self.factor * self.sums.one
        self.W, self.XX = 1.001 * self.n.sum(), 1.001 * self.factor.max() * self.sums.XX
        self.slope = np.sqrt(1.001 * self.factor @ self.sums.slope)

    def take_sums(self, delta: np.ndarray | None) -> SoftmaxSums:
        args = self.w, self.b, self.view, self.factor, delta
        return SoftmaxSums(*self.data.reduce(softmax_sums, *args))

    @property
    def objective(self) -> float:
        value = self.factor @ self.sums.value
        return float(value + self.penalty.value(self.penalized).sum())

    @property
    def null_objective(self) -> float:
        total = self.n.sum()
        if not (self.free or self.scaling is not None):
            return float(total * np.log(len(self.n)))
        share = self.n / total
        f0 = -total * (share * np.log(np.where(share > 0, share, 1.0))).sum()
        return float(max(f0, np.finfo(float).tiny))  # one class: 0

    def evaluation(self, z_error: float) -> float:
        """Return a bound of |F̂ − F|: ℓ has slope Q − Y and curvature ≤ ½; and sums are rounded."""
        return float((self.slope + z_error / 4) * z_error + self.rounding * self.objective)

    def balance(self, sums: SoftmaxSums) -> tuple[Any, float]:
        """Return δ and t for which free intercepts have Σ ω Q = n."""
        K = len(self.n)
        delta = np.zeros(K)
        if not self.free:
            return delta, 0.0
        q = self.factor[:, None] * sums.Q
        L = np.diag(self.n) - q
        if np.isfinite(L).all() and (self.n > 0).all():
            # columns scaled by 1/n: small classes count as much as large ones
            A = L.T / self.n[:, None]
            short = 1 - q.sum(axis=0) / self.n
            delta = np.linalg.lstsq(A, short, rcond=None)[0]
            null = np.abs(np.linalg.svd(A)[2][-1])  # A·null = 0, null > 0
            with np.errstate(divide="ignore", invalid="ignore"):
                delta = delta - null * np.min(delta / null)
            good = np.isfinite(delta).all() and delta.min() >= -1e-9 and delta.max() < 0.5
            delta = np.maximum(delta, 0.0) if good else np.zeros(K)
        hessian_change = (1 - delta) @ q + delta * self.n
        with np.errstate(divide="ignore", invalid="ignore"):
            t = 1 - self.n / hessian_change * (1 - 4 * self.rounding)
        t = float(np.max(np.where(hessian_change > 0, t, 0.0)))
        return delta, min(max(t, 0.0), 1.0)

    def bound(self, sums: SoftmaxSums) -> tuple[float, Any]:
        """Return a lower bound of D, and the δ of the point for a second pass."""
        delta, t = self.balance(sums)
        size = np.sqrt(self.XX)
        slope = np.sqrt(1.001 * self.factor @ sums.slope)
        rounding = self.rounding * slope * size
        error = rounding + delta.max() * slope * size
        error += t * (np.linalg.norm(sums.V) + np.sqrt(2 * self.W) * size)
        v_b = self.n - self.factor @ sums.Q
        v_b_error = self.rounding * np.sqrt(self.W) * slope
        V, error = self.penalized_sums(sums.V, error, v_b, v_b_error)
        V, error = V.reshape(-1, 1), np.array([error])  # one problem: all columns together
        entropy = self.factor * sums.entropy
        total = (1 - t) * ((1 - delta) @ entropy)
        D, _ = self.penalty.best(lambda tau: tau * total, V, error)
        spread = self.factor @ (3 * sums.value + sums.entropy)
        tau = 1.0
        if self.penalty.l2 == 0:
            tau = float(self.penalty.feasible(V, np.array([rounding / self.q.min()]))[0])
        return float(np.fmax(D[0] - self.rounding * spread, 0.0)), 1 - (1 - delta) * tau

    def gap(self, tol: float) -> tuple[float, float]:
        """Return a lower bound of the optimum and the gap to it, from one or two passes."""
        upper = self.objective + self.evaluation(
            float(np.linalg.norm(self.score_error(self.XX, self.W)))
        )
        bound, delta = self.bound(self.sums)
        if upper - bound > tol * self.null_objective and delta.any():
            bound = max(bound, self.bound(self.take_sums(delta))[0])
        return bound, (upper - bound) * (1 + 8 * UNIT)

    def by_curvature(
        self, tol: float, without: tuple[int, ...] | list[int] = ()
    ) -> tuple[Any, float]:
        """Return the excess and the rounding of F; ``without``: columns that repeat others."""
        K, size = len(self.n), np.sqrt(self.factor.max()) * self.column_sizes()
        sums = self.sums.V, self.n - self.factor @ self.sums.Q
        slope, W = np.full(K, self.slope), np.full(K, self.W)
        row_curvature = SoftmaxCurvature(self.factor)
        local = local_model(self, slice(None), sums, slope, W, size, row_curvature, 0.5)
        local.kept[:, list(without)] = False
        curvature = curvature_bound(self.data, local, tol * self.null_objective / 4)
        return curvature, self.evaluation(local.z_error)

    def without_repeats(
        self, w: np.ndarray, flat: np.ndarray | None, tol: float
    ) -> CarefulCurvature | None:
        """Return the excess without columns that repeat others; None if that is not enough."""
        constant, size = 1.0 if self.free else None, self.column_sizes()
        w = np.asarray(w, dtype=float)
        repeats = repeated_columns(self.data, self.view, flat, size, constant, w)
        if repeats is None:
            return None
        exact, self.b_error = self.b_error, self.b_error + repeats.shift
        curvature, error = self.by_curvature(tol, repeats.columns)
        self.b_error = exact
        if not curvature.excess + 2 * error <= tol * self.null_objective:
            return None
        return CarefulCurvature(
            self.objective, error, curvature.excess, curvature.decrement, None, repeats.left_out, ""
        )

    def careful_excess(self, w: np.ndarray, b: np.ndarray, fit_intercept: bool) -> CarefulCurvature:
        """Return the excess in higher precision, for models without a penalty."""
        kept = np.arange(len(self.n)) < len(self.n) - 1  # the last class's scores can be fixed at 0
        w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
        rows = SoftmaxRows(self.factor)
        return careful_curvature(self.data, w, b, fit_intercept, rows, kept)


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
    """Recompute objective, bound and residual of w (p×K), b (K,).

    O(n·p·K) operations in one pass, or two.
    """
    problem = SoftmaxProblem(data, w, b, C, l1, l2, fit_intercept, class_weight, intercept_scaling)
    has_weight = problem.n > 0
    if problem.free and not has_weight.all():
        return _check_weighted_classes(problem, has_weight, w, b, l1, l2, direction, tol)
    penalized = l1 > 0 or l2 > 0
    bound, gap = problem.gap(tol) if penalized else (0.0, float("inf"))
    f, f0, sums = problem.objective, problem.null_objective, problem.sums
    proof, coef_error, decrement = "a dual point", None, 0.0
    unresolved, separated = False, None
    extra: dict[str, Any] = {}
    if not gap <= tol * f0:
        curvature, error = problem.by_curvature(tol)
        decrement, new_gap = curvature.decrement, (curvature.excess + 2 * error) * (1 + 8 * UNIT)
        if new_gap < gap or np.isnan(gap):
            bound, gap = max(f - error - curvature.excess, 0.0), new_gap
            proof = "gradient and curvature"
        unresolved = curvature.unresolved or curvature.excess <= tol * f0
    if not penalized and np.isinf(gap):
        separated = separation(problem, w, b, direction, fit_intercept)
    if unresolved and not (penalized or gap <= tol * f0 or separated or problem.infeasible):
        careful = problem.without_repeats(w, curvature.flat, tol)
        careful = careful or problem.careful_excess(w, b, fit_intercept)
        extra["left_out"] = left_out_findings(careful.left_out, len(problem.w))
        if careful.unproven:
            gain = max(curvature.gain, f - f0)  # the intercept alone reaches f0
            extra |= {"unproven": careful.unproven, "at_least": gain / f0}
        decrement, proof = careful.decrement, "gradient and curvature"
        if np.isfinite(careful.objective):
            f, gap = careful.objective, (careful.excess + 2 * careful.error) * (1 + 8 * UNIT)
            bound = max(f - careful.error - careful.excess, 0.0)
    if l2 > 0:  # l2/2 ‖w − w*‖² ≤ F(w, b) − F*
        coef_error = float(np.sqrt(2 * max(gap, 0.0)) / np.sqrt(l2))
    result = {
        "objective": f,
        "bound": bound,
        "gap": gap,
        "residual": float("inf") if problem.infeasible else gap / f0,
        "null_objective": f0,
        "proof": proof,
        "infeasible": problem.infeasible or None,
        "coef_error": coef_error,
        "kind": "global",
        "separated": separated,
        "mean_probability": sums.Q.sum(axis=0) / sums.one.sum(),
        "share": sums.one / sums.one.sum(),
        **extra,
    }
    if not penalized and np.isinf(gap):
        without_residual = separated or problem.infeasible
        result |= {"bound": None, "kind": "stationary"}
        result["residual"] = float("inf") if without_residual else decrement / f0
    return result


def _check_weighted_classes(
    problem: SoftmaxProblem, has_weight: np.ndarray, w: np.ndarray, b: np.ndarray, l1: float,
    l2: float, direction: tuple[np.ndarray, np.ndarray] | None, tol: float,
) -> dict[str, Any]:  # fmt: skip
    """Check a model some of whose classes have no weight (``_weightless``)."""
    w, b, sums = np.asarray(w), np.asarray(b), problem.sums
    if direction is not None:
        direction = direction[0][:, has_weight], direction[1][has_weight]
    if np.count_nonzero(has_weight) > 1:
        result = check(
            WeightedClasses(problem.data, has_weight), w=w[:, has_weight], b=b[has_weight], C=1.0,
            l1=l1, l2=l2, class_weight=problem.factor[has_weight], direction=direction, tol=tol,
        )  # fmt: skip
    else:
        bound, f0 = (
            0.0,
            float(problem.n.sum() * np.log(len(has_weight))),
        )  # the loss without an intercept
        result = {"bound": bound, "null_objective": f0, "kind": "global", "separated": None}
        result |= {"proof": "no loss is below 0", "infeasible": problem.infeasible or None}
    f = problem.objective
    result |= {
        "objective": f,
        "mean_probability": sums.Q.sum(axis=0) / sums.one.sum(),
        "share": sums.one / sums.one.sum(),
    }
    if result["kind"] == "global":
        z_error = float(np.linalg.norm(problem.score_error(problem.XX, problem.W)))
        gap = (f + problem.evaluation(z_error) - result["bound"]) * (1 + 8 * UNIT)
        result["gap"] = gap
        result["residual"] = np.inf if problem.infeasible else gap / result["null_objective"]
        result["coef_error"] = float(np.sqrt(2 * max(gap, 0.0)) / np.sqrt(l2)) if l2 > 0 else None
    elif result["residual"] < np.inf:  # stationary
        f0 = result["null_objective"]
        args = problem.w, problem.b, problem.view, problem.factor, has_weight
        gain = newton_gain(problem.data, *args, result["residual"] * f0)
        result["residual"] = np.inf if problem.infeasible else gain / f0
    return result


def separation(
    problem: SoftmaxProblem,
    w: np.ndarray,
    b: np.ndarray,
    direction: tuple[np.ndarray, np.ndarray] | None,
    fit_intercept: bool,
) -> dict[str, Any] | None:
    """Return a proof that the classes are separated, by (w, b) itself or by ``direction``."""
    if not (problem.factor @ problem.sums.wrong):
        proof = separates(problem.data, w, b, problem.factor)
        if proof is not None:
            return proof
    if direction is None or (not fit_intercept and np.any(direction[1])):
        return None
    u, c = direction
    return separates(problem.data, u, c, problem.factor)
