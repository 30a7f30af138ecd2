"""Mixtures of k components: is the likelihood at a local maximum?

    L(π, θ) = Σ_i s_i log Σ_k π_k p(x_i | θ_k)

With responsibilities r_ik = π_k p(x_i|θ_k) / Σ_l π_l p(x_i|θ_l), and any q with Σ_k q_ik = 1,

    L = F(q, π, θ) + Σ_i s_i KL(q_i ‖ r_i)
    F = Σ_i s_i Σ_k q_ik (log π_k + log p(x_i|θ_k) − log q_ik)

and KL ≥ 0 (Gibbs). An EM step takes q = r, so that F = L, and then the π and θ that maximise F: L
never decreases. With a prior on θ the same holds for L + log prior, the objective here. A point
that no step raises is a local optimum, or a saddle point.

``check`` recomputes the objective from the data, takes one more EM step and reports its gain in
nats per unit of weight, so that units of X do not matter. If a number is added to the diagonal of
the covariances (``added``), the step may lower the objective. At its fixed points it changes
nothing, which is measured by Σ_k π'_k KL(p(·|θ'_k) ‖ p(·|θ_k)) + KL(π' ‖ π) as well, with primes
after the step.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense
from certus.proofs.mixture._accurate_scatter import accurate_step
from certus.proofs.mixture._claims import (
    answer_contradictions,
    claim_contradictions,
    collapsed_components,
    restart_agreement,
)
from certus.proofs.mixture._count_components import CountComponents, MeanRowPrior
from certus.proofs.mixture._gaussian_components import CovariancePrior, Normals, column_components
from certus.proofs.mixture._gaussian_row_space import row_space_components
from certus.proofs.mixture._rounding import Rounding, RowErrors, chained_additions, prior_error
from certus.proofs.mixture._sums import (
    ColumnMoments,
    Components,
    add_expectations,
    add_gains,
    add_majority_rows,
    column_moments,
    expectation_sums,
    gain_sums,
    log_joint,
    log_sum_exp,
    majority_rows,
)
from certus.proofs.types import RowData

STOPPED_GAIN_RATIO = 2.0  # of a lower bound on the gain to tol: leaves room for rounding
ACCURATE_STEP_ROUNDING_RATIO = 0.1  # of rounding to tol, above which the digits are doubled
NORMAL_SHAPES = ("full", "tied", "diag", "spherical")


# --- the definition in plain NumPy ----------------------------------------------------------------


def log_likelihood(
    X: np.ndarray, pi: np.ndarray, theta: Components, s: np.ndarray | None = None
) -> float:
    """Log likelihood L(π, θ)."""
    each = log_sum_exp(log_joint(X, pi, theta))
    return float(each.sum() if s is None else s @ each)


def responsibilities(X: np.ndarray, pi: np.ndarray, theta: Components) -> np.ndarray:
    """Responsibilities r_ik, (k, rows)."""
    J = log_joint(X, pi, theta)
    return np.asarray(np.exp(J - log_sum_exp(J)))


def free_energy(
    X: np.ndarray, q: np.ndarray, pi: np.ndarray, theta: Components, s: np.ndarray | None = None
) -> float:
    """Free energy F(q, π, θ), with 0 log 0 = 0."""
    positive = q > 0
    terms = q * (log_joint(X, pi, theta) - np.log(np.where(positive, q, 1)))
    each = np.where(positive, terms, 0).sum(axis=0)
    return float(each.sum() if s is None else s @ each)


def em_step(
    X: np.ndarray, pi: np.ndarray, theta: Any, prior: Any, s: np.ndarray | None = None
) -> tuple[np.ndarray, Any]:
    """Return the (π, θ) that maximise F(r, π, θ) + log prior."""
    w = responsibilities(X, pi, theta) * (1.0 if s is None else s)
    sums = theta.moments(X, w)
    after = theta.maximized(sums, prior, lambda about: theta.moments(X, w, about))
    return sums.n / sums.n.sum(), after


# --- the claims of a model ------------------------------------------------------------------------


def check(
    data: RowData,
    family: str,
    weights: np.ndarray,
    theta: dict[str, Any],
    epsilon: float = 0.0,
    added: float = 0.0,
    constant: tuple[int, ...] | list[int] | np.ndarray = (),
    single: bool = False,
    ours: bool = False,
    claims: dict[str, Any] | None = None,
    answers: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    stopped: bool = False,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Check whether the objective is at a local optimum at these parameters.

    ``family``: the shape of covariances, or the kind of counts. ``theta``: means and covariances,
    or ``values``. ``epsilon``: pseudo-rows of the prior. ``constant``: constant columns, which are
    left out. ``single``: means are stored in float32. ``claims``: other statements of the model.
    ``answers``: rows, with the log densities and components that the model gives for them.
    ``stopped``: the model states that it stopped early, so that a lower bound on the gain suffices.

    ``residual`` bounds the gain of one more EM step per unit of weight, rounding (``rounding``)
    included; the objective is accurate to ``objective_error``. Takes two passes of O(n·k·p²)
    operations (O(n·k·p) for diagonal covariances and counts), and more of them with twice the
    digits where covariances are nearly singular.
    """
    pi, S = np.array(weights, dtype=float), data.S
    moments_of_data, claims = column_moments(data), claims or {}
    try:
        theta_k, prior = _components_and_prior(
            data, family, theta, moments_of_data, epsilon, added, constant, single
        )
        _require_weights(pi)
    except ValueError as error:
        return _invalid_result(str(error), len(pi))
    limit = float("inf")
    if stopped and family in NORMAL_SHAPES and not added:
        limit = STOPPED_GAIN_RATIO * tol
    args = (prior, moments_of_data, S, limit)
    L, moments, step = _evaluate_step(data, pi, theta_k, *args)
    blurred = step.get("rounding", 0.0) > ACCURATE_STEP_ROUNDING_RATIO * tol
    plain = theta_k
    if blurred and step["seems"] <= tol and theta_k.supports_accurate_step(data):
        theta_k = theta_k.whitened_accurately()
        L, moments, step = _evaluate_step(data, pi, theta_k, *args, accurate=True)

    result = {
        "objective": L + theta_k.log_prior(prior), "bound": None, "gap": float("inf"),
        "kind": "local", "maximized": True, "components": len(pi), "likelihood": L,
        "ascent": not added, "restarts": restart_agreement(claims.get("restarts")), "weight": S,
        "degenerate": None, "conditions": None, "far": 0.0, "single": single or data.eps > 2 * UNIT,
    }  # fmt: skip
    result |= step
    if family in NORMAL_SHAPES:
        result["residual"] += theta_k.error
        result |= _degeneracy(data, pi, plain, prior, moments.n)  # counts need no digits
    if not added and result["gain"] < -tol * S:  # impossible for an EM step without rounding
        result |= {
            "residual": -result["gain"] / S,
            "unproven": _decrease_message(result["gain"] / S),
        }
    elif result["residual"] > tol >= result.get("seems", float("inf")):
        result["unproven"] = _rounding_message(result["rounding"])
    result["wrong"] = claim_contradictions(theta_k, result, claims, ours)
    if answers is not None:
        J = log_joint(dense(data.take(np.asarray(answers[0]))[0]), pi, theta_k)
        result["wrong"] += answer_contradictions(answers, J, log_sum_exp(J), result["single"])
    return result


def _components_and_prior(
    data: RowData,
    family: str,
    theta: dict[str, Any],
    moments_of_data: ColumnMoments,
    epsilon: float,
    added: float,
    constant: tuple[int, ...] | list[int] | np.ndarray,
    single: bool,
) -> tuple[Any, Any]:
    """Return components and prior of the given parameters; raise ValueError if they are invalid."""
    constant = np.asarray(constant, dtype=np.intp)
    if moments_of_data.varies[constant].any():
        j = int(constant[moments_of_data.varies[constant]][0])
        raise ValueError(f"column {j} was left out as constant, but it is not constant")
    if family in NORMAL_SHAPES:
        kept = np.setdiff1d(np.arange(len(moments_of_data.mean)), constant)
        kind: Any = np.float32 if single else float
        prior = CovariancePrior(epsilon, moments_of_data.variance[kept], added, kind)
        in_row_space = row_space_components(data, family, theta, kept, prior)
        if in_row_space is not None:
            return in_row_space
        return column_components(family, theta, kept), prior
    counts = CountComponents(family, theta["values"])
    counts.require_parameters()
    return counts, MeanRowPrior(epsilon, moments_of_data.mean)


def components(
    p: int,
    family: str,
    theta: dict[str, Any],
    constant: tuple[int, ...] | list[int] | np.ndarray = (),
    **_other: object,
) -> Any:
    """Components of a model from the parameters of ``check``, for rows of p columns."""
    if family in NORMAL_SHAPES:
        return column_components(family, theta, np.setdiff1d(np.arange(p), constant))
    return CountComponents(family, theta["values"])


def _require_weights(pi: np.ndarray) -> None:
    if not (np.isfinite(pi).all() and (pi >= 0).all() and pi.any()):
        raise ValueError(f"weights_ are not mixing weights: {pi.tolist()}")


def _invalid_result(message: str, k: int) -> dict[str, Any]:
    """Result for parameters that define no density."""
    return {
        "objective": float("nan"), "bound": None, "gap": float("inf"), "kind": "local",
        "maximized": True, "residual": float("inf"), "gain": float("inf"), "components": k,
        "ascent": True, "restarts": None, "degenerate": None, "conditions": None,
        "far": 0.0, "wrong": [message],
    }  # fmt: skip


def _evaluate_step(
    data: RowData, pi: np.ndarray, theta: Any, prior: Any, moments_of_data: ColumnMoments,
    S: float, limit: float, accurate: bool = False,
) -> tuple[float, Any, dict[str, Any]]:  # fmt: skip
    """Return L, the moments, and the gain and divergence of one more EM step.

    For normal components F rises by at least S times the divergence, and L by no less than F: if
    that exceeds the limit, the second pass is skipped. ``accurate``: use twice the digits.
    """
    options: dict[str, Any] = {"beside": (data.allocate(),), "times": len(pi)}
    L, errors, *sums = data.reduce(
        expectation_sums, pi, theta, None, combine=add_expectations, **options
    )
    moments, log_prior = theta.sums(*sums), theta.log_prior(prior)
    error_before = prior_error(theta, prior, moments_of_data, log_prior)
    additions = chained_additions(data)
    rounding = Rounding(RowErrors(*errors), additions, moments_of_data, error_before)

    def recompute(about: np.ndarray) -> Any:
        sums = data.reduce(expectation_sums, pi, theta, about, combine=add_expectations, **options)
        return theta.sums(*sums[2:])

    result = {"objective_error": rounding.objective_error(theta, log_prior, L)}
    new_pi = moments.n / moments.n.sum()
    try:
        after = theta.maximized(moments, prior, recompute)
    except ValueError:  # a component without spread: the likelihood has no maximum
        return L, moments, result | {"gain": float("inf"), "residual": float("inf")}
    needs_divergence = prior.added or limit < float("inf")
    divergence = _step_divergence(pi, theta, new_pi, after) if needs_divergence else 0.0
    if divergence > limit:
        result |= {"gain": divergence * S, "residual": divergence, "at_least": True}
        return L, moments, result
    if accurate:
        after = accurate_step(data, pi, theta, prior, moments, after)
    gain, errors = data.reduce(gain_sums, new_pi, after, combine=add_gains, **options)
    later, new_prior = RowErrors(*errors), after.log_prior(prior)
    gain += new_prior - log_prior
    args = (pi, theta, after, prior, moments, gain, later, new_prior, accurate)
    rounding_error = rounding.gain_error(*args) / S
    residual = max(0.0, gain) / S if not prior.added else max(abs(gain) / S, divergence)
    result |= {
        "gain": gain,
        "residual": residual + rounding_error,
        "seems": residual,
        "rounding": rounding_error,
    }
    return L, moments, result


def _decrease_message(gain: float) -> str:
    return (
        f"one more EM step, which cannot lower the objective, seems to lower it by {-gain:.2g} a "
        "row: rounding errors in these densities are that large"
    )


def _rounding_message(rounding: float) -> str:
    if not rounding < float("inf"):
        return (
            "the gain of one more EM step is unknown: some rows are so many standard deviations "
            "from their component that rounding decides their log density"
        )
    return (
        f"the gain of one more EM step is known only to {rounding:.2g} a row: rounding errors in "
        "these densities can be that large"
    )


def _step_divergence(pi: np.ndarray, theta: Any, new_pi: np.ndarray, after: Any) -> float:
    """Divergence of the step, Σ_k π'_k KL(p(·|θ'_k) ‖ p(·|θ_k)) + KL(π' ‖ π)."""
    positive = (new_pi > 0) & (pi > 0)
    of_weights = float((new_pi[positive] * np.log(new_pi[positive] / pi[positive])).sum())
    return of_weights + float(np.dot(new_pi, theta.divergences(after)))


def _degeneracy(
    data: RowData, pi: np.ndarray, theta: Normals, prior: CovariancePrior, n: np.ndarray
) -> dict[str, Any]:
    """Condition numbers in units of the columns' spreads, and the collapsed components."""
    unit = np.where(prior.d > 0, prior.d, 1.0)
    spreads = theta.spreads(unit)
    result: dict[str, Any] = {
        "far": float((np.abs(theta.means) / np.sqrt(unit)).max(initial=0.0)),
        "conditions": spreads[:, -1] / np.maximum(spreads[:, 0], np.finfo(float).tiny),
    }
    collapses = collapsed_components(theta, n, prior)
    if collapses and theta.shape == "tied":  # all components share the covariance
        result["degenerate"] = [{**collapses[0], "component": None, "rows": 0, "row": None}]
    elif collapses:
        _, count, first = data.reduce(
            majority_rows, pi, theta, times=len(pi), combine=add_majority_rows
        )
        result["degenerate"] = [
            {**one, "rows": int(count[k]), "row": int(first[k]) if count[k] else None}
            for one in collapses
            for k in [one["component"]]
        ]
    return result
