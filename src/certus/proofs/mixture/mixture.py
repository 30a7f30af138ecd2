"""Mixtures: rows drawn from k components, each with its share.

    L(π, θ) = Σ_i s_i log Σ_k π_k p(x_i | θ_k)

With responsibilities r_ik = π_k p(x_i|θ_k) / Σ_l π_l p(x_i|θ_l), and any q with Σ_k q_ik = 1,

    L = F(q, π, θ) + Σ_i s_i KL(q_i ‖ r_i)
    F = Σ_i s_i Σ_k q_ik (log π_k + log p(x_i|θ_k) − log q_ik)

and KL ≥ 0 (Gibbs). An EM step takes q = r, so that F = L, then the π and θ of the largest F: L
never falls. With a prior on θ the same holds of L + log prior, the objective here. Where no step
raises it is a local optimum, or a saddle.

``check`` recomputes the objective from the data, takes one more EM step and says what it gains, in
nats a unit of weight: units of X do not matter. Where a number is added to the diagonal of the
covariances (``added``) the step is not one of ascent. At its fixed points it changes nothing, which
is measured by Σ_k π'_k KL(p(·|θ'_k) ‖ p(·|θ_k)) + KL(π' ‖ π) too, primes after the step.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense
from certus.proofs.mixture._accurate_scatter import accurate_step
from certus.proofs.mixture._claims import agreement, collapsed, contradicted, other_answers
from certus.proofs.mixture._count_components import CountComponents, MeanRow
from certus.proofs.mixture._gaussian_components import Normals, Prior, of_columns
from certus.proofs.mixture._gaussian_row_space import of_few_rows
from certus.proofs.mixture._rounding import Rounding, RowErrors, additions_of, error_of_prior
from certus.proofs.mixture._sums import (
    Columns,
    Components,
    add_expected,
    add_gained,
    add_owned,
    columns,
    expected,
    gained,
    log_joint,
    log_sum_exp,
    owned,
)
from certus.proofs.types import RowData

ENOUGH = 2.0  # times tol: more than rounding takes from a gain that is known from below
MUCH = 0.1  # of tol: rounding that a step in twice the digits is worth
NORMAL = ("full", "tied", "diag", "spherical")  # shapes of covariances


# --- the definition, plain ------------------------------------------------------------------------


def log_likelihood(
    X: np.ndarray, pi: np.ndarray, theta: Components, s: np.ndarray | None = None
) -> float:
    each = log_sum_exp(log_joint(X, pi, theta))
    return float(each.sum() if s is None else s @ each)


def responsibilities(X: np.ndarray, pi: np.ndarray, theta: Components) -> np.ndarray:
    """r_ik, (k, rows)."""
    J = log_joint(X, pi, theta)
    return np.asarray(np.exp(J - log_sum_exp(J)))


def free_energy(
    X: np.ndarray, q: np.ndarray, pi: np.ndarray, theta: Components, s: np.ndarray | None = None
) -> float:
    """F(q, π, θ); where q is 0 nothing is added."""
    some = q > 0
    terms = q * (log_joint(X, pi, theta) - np.log(np.where(some, q, 1)))
    each = np.where(some, terms, 0).sum(axis=0)
    return float(each.sum() if s is None else s @ each)


def em_step(
    X: np.ndarray, pi: np.ndarray, theta: Any, prior: Any, s: np.ndarray | None = None
) -> tuple[np.ndarray, Any]:
    """(π, θ) of the largest F(r, π, θ) + log prior."""
    w = responsibilities(X, pi, theta) * (1.0 if s is None else s)
    sums = theta.moments(X, w)
    after = theta.maximised(sums, prior, lambda about: theta.moments(X, w, about))
    return sums.n / sums.n.sum(), after


# --- what a model claims --------------------------------------------------------------------------


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
    """Is the objective at a local optimum at these parameters?

    ``family``: the shape of covariances, or the kind of counts. ``theta``: means and covariances,
    or ``values``. ``epsilon``: rows of the prior. ``constant``: columns that never change and are
    left out. ``single``: means are kept in float32. ``claims``: what else the model says.
    ``answers``: (rows, their log densities, their components), as the model answers. ``stopped``:
    it tells itself that it ended too early, and what a step gains need be known from below alone.

    ``residual`` is what one more EM step gains at most, a unit of weight, with what rounding can
    have done to it (``rounding``); the objective is right to ``objective_error``. Two passes of
    O(n·k·p²) operations (O(n·k·p) of diagonal covariances and of counts); where covariances are
    all but singular, more of them in twice the digits.
    """
    pi, S = np.array(weights, dtype=float), float(data.shape[0] if data.s is None else data.s.sum())
    of_data, claims = columns(data), claims or {}
    try:
        theta_k, prior = _read(data, family, theta, of_data, epsilon, added, constant, single)
        _require_shares(pi)
    except ValueError as error:
        return _no_mixture(str(error), len(pi))
    limit = ENOUGH * tol if stopped and family in NORMAL and not added else float("inf")
    args = (data, pi, theta_k, prior, of_data, S, limit)
    L, moments, step = _measured(*args)
    near = step.get("rounding", 0.0) > MUCH * tol and step["seems"] <= tol
    if near and theta_k.whole_matrices(data):
        theta_k = theta_k.whitened_accurately()
        L, moments, step = _measured(*args, accurate=True)

    found = {
        "objective": L + theta_k.log_prior(prior), "bound": None, "gap": float("inf"),
        "kind": "local", "maximised": True, "components": len(pi), "likelihood": L,
        "ascent": not added, "restarts": agreement(claims.get("restarts")), "weight": S,
        "degenerate": None, "conditions": None, "far": 0.0, "single": single or data.eps > 2 * UNIT,
    }  # fmt: skip
    found |= step
    if family in NORMAL:
        found["residual"] += theta_k.error
        found |= _shapes(data, pi, theta_k, prior, moments.n)
    if not added and found["gain"] < -tol * S:  # no step of EM does that
        found |= {"residual": -found["gain"] / S, "unproven": _lost(found["gain"] / S)}
    elif found["residual"] > tol >= found.get("seems", float("inf")):
        found["unproven"] = _unknown(found["rounding"])
    found["wrong"] = contradicted(theta_k, found, claims, ours)
    if answers is not None:
        J = log_joint(dense(data.take(np.asarray(answers[0]))[0]), pi, theta_k)
        found["wrong"] += other_answers(answers, J, log_sum_exp(J), found["single"])
    return found


def _read(
    data: RowData,
    family: str,
    theta: dict[str, Any],
    of_data: Columns,
    epsilon: float,
    added: float,
    constant: tuple[int, ...] | list[int] | np.ndarray,
    single: bool,
) -> tuple[Any, Any]:
    """Components and prior."""
    constant = np.asarray(constant, dtype=np.intp)
    if of_data.varies[constant].any():
        j = int(constant[of_data.varies[constant]][0])
        raise ValueError(f"column {j} was left out as constant, and it is not")
    if family in NORMAL:
        kept = np.setdiff1d(np.arange(len(of_data.mean)), constant)
        kind: Any = np.float32 if single else float
        prior = Prior(epsilon, of_data.variance[kept], added, kind)
        few = of_few_rows(data, family, theta, kept, prior)
        return few if few is not None else (of_columns(family, theta, kept), prior)
    counts = CountComponents(family, theta["values"])
    counts.require_parameters()
    return counts, MeanRow(epsilon, of_data.mean)


def components(
    p: int,
    family: str,
    theta: dict[str, Any],
    constant: tuple[int, ...] | list[int] | np.ndarray = (),
    **_other: object,
) -> Any:
    """The components of a model by the parameters of ``check``, for rows of p columns."""
    if family in NORMAL:
        return of_columns(family, theta, np.setdiff1d(np.arange(p), constant))
    return CountComponents(family, theta["values"])


def _require_shares(pi: np.ndarray) -> None:
    if not (np.isfinite(pi).all() and (pi >= 0).all() and pi.any()):
        raise ValueError(f"weights_ are no shares: {pi.tolist()}")


def _no_mixture(said: str, k: int) -> dict[str, Any]:
    """Parameters that define no density."""
    return {
        "objective": float("nan"), "bound": None, "gap": float("inf"), "kind": "local",
        "maximised": True, "residual": float("inf"), "gain": float("inf"), "components": k,
        "ascent": True, "restarts": None, "degenerate": None, "conditions": None,
        "far": 0.0, "wrong": [said],
    }  # fmt: skip


def _measured(
    data: RowData, pi: np.ndarray, theta: Any, prior: Any, of_data: Columns, S: float, limit: float,
    accurate: bool = False,
) -> tuple[float, Any, dict[str, Any]]:  # fmt: skip
    """L, the moments, and one more EM step: what it gains, and how far it goes.

    F rises by at least S times that way, and L by no less than F (normal components): where that
    is above the limit, rows are not looked at again. ``accurate``: in twice the digits.
    """
    how: dict[str, Any] = {"beside": (np.empty(data.shape[0]),), "times": len(pi)}
    L, errors, *sums = data.reduce(expected, pi, theta, None, combine=add_expected, **how)
    moments, log_prior = theta.sums(*sums), theta.log_prior(prior)
    of_prior = error_of_prior(theta, prior, of_data, log_prior)
    rounding = Rounding(RowErrors(*errors), additions_of(data), of_data, of_prior)

    def again(about: np.ndarray) -> Any:
        found = data.reduce(expected, pi, theta, about, combine=add_expected, **how)
        return theta.sums(*found[2:])

    found = {"objective_error": rounding.of_objective(theta, log_prior, L)}
    shares = moments.n / moments.n.sum()
    try:
        after = theta.maximised(moments, prior, again)
    except ValueError:  # a component without spread: the likelihood has no maximum
        return L, moments, found | {"gain": float("inf"), "residual": float("inf")}
    measured = prior.added or limit < float("inf")
    way = _way(pi, theta, shares, after) if measured else 0.0
    if way > limit:
        return L, moments, found | {"gain": way * S, "residual": way, "at_least": True}
    if accurate:
        after = accurate_step(data, pi, theta, prior, moments, after)
    gain, errors = data.reduce(gained, shares, after, combine=add_gained, **how)
    later, new_prior = RowErrors(*errors), after.log_prior(prior)
    gain += new_prior - log_prior
    args = (pi, theta, after, prior, moments, gain, later, new_prior, accurate)
    lost = rounding.of_gain(*args) / S
    residual = max(0.0, gain) / S if not prior.added else max(abs(gain) / S, way)
    found |= {"gain": gain, "residual": residual + lost, "seems": residual, "rounding": lost}
    return L, moments, found


def _lost(gain: float) -> str:
    return (
        f"one more EM step, which cannot lower the objective, seems to lower it by {-gain:.2g} a "
        "row: so much is lost to rounding in these densities"
    )


def _unknown(rounding: float) -> str:
    if not rounding < float("inf"):
        return (
            "what one more EM step gains is not known: some rows are so far from their component, "
            "in its standard deviations, that rounding decides their log density"
        )
    return (
        "what one more EM step gains is known to " + f"{rounding:.2g} a row only: so much can be "
        "lost to rounding in these densities"
    )


def _way(pi: np.ndarray, theta: Any, shares: np.ndarray, after: Any) -> float:
    """Σ_k π'_k KL(p(·|θ'_k) ‖ p(·|θ_k)) + KL(π' ‖ π)."""
    some = (shares > 0) & (pi > 0)
    of_shares = float((shares[some] * np.log(shares[some] / pi[some])).sum())
    return of_shares + float(np.dot(shares, theta.divergences(after)))


def _shapes(
    data: RowData, pi: np.ndarray, theta: Normals, prior: Prior, n: np.ndarray
) -> dict[str, Any]:
    """Condition numbers, columns in units of their spread; components without any of their own."""
    unit = np.where(prior.d > 0, prior.d, 1.0)
    spreads = theta.spreads(unit)
    found: dict[str, Any] = {
        "far": float((np.abs(theta.means) / np.sqrt(unit)).max(initial=0.0)),
        "conditions": spreads[:, -1] / np.maximum(spreads[:, 0], np.finfo(float).tiny),
    }
    which = collapsed(theta, n, prior)
    if which and theta.shape == "tied":  # what is one's is everyone's
        found["degenerate"] = [{**which[0], "component": None, "rows": 0, "row": None}]
    elif which:
        count, first = data.reduce(
            owned,
            pi,
            theta,
            beside=(np.arange(data.shape[0]),),
            times=len(pi),
            combine=add_owned,
        )
        found["degenerate"] = [
            {**one, "rows": int(count[k]), "row": int(first[k]) if count[k] else None}
            for one in which
            for k in [one["component"]]
        ]
    return found
