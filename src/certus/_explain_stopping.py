"""Words for iterations that ended before the optimum: by how much, and why."""

from typing import TYPE_CHECKING, Any

from ._words import number

if TYPE_CHECKING:
    from .certificate import Certificate

LOOSE = 1e-8  # a tol above this can have ended a fit too early


def too_high(c: "Certificate") -> str:
    if c.bound:
        return f"the objective is up to {number(100 * c.gap / c.bound, 2)} % too high"
    share = number(100 * c.residual, 2)
    return f"the objective may be too high by {share} % of {what_is_left(c)}"


def what_is_left(c: "Certificate") -> str:
    """f₀, of which the residual is a share."""
    if c.found.get("null_allowed", True):
        return "what the intercept alone leaves"
    return "what the allowed coefficients nearest to 0 leave"


def stopped_by(c: "Certificate") -> str | None:
    iteration = c.found.get("iteration", {})
    if iteration.get("stochastic"):
        return "stochastic steps end near the optimum, not at it"
    if iteration.get("max_iter") is not None:
        return f"it stopped at max_iter={iteration['max_iter']}"
    if loose(iteration) and not c.found["ours"]:
        return f"tol={iteration['tol']:g} stopped it early"
    return None


def loose(iteration: dict[str, Any]) -> bool:
    return (iteration.get("tol") or 0.0) > LOOSE
