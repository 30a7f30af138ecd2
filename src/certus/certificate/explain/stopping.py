"""Texts for iterations that ended before the optimum: by how much, and why."""

from typing import TYPE_CHECKING

from ...text.format import number
from ..facts import Iteration
from ..findings import OptimumFinding, finding_of

if TYPE_CHECKING:
    from ..certificate import Certificate

MAX_TIGHT_TOL = 1e-8  # a larger tol may have ended the fit too early


def too_high(c: "Certificate") -> str:
    if c.bound:
        return f"the objective is up to {number(100 * c.gap / c.bound, 2)} % too high"
    share = number(100 * c.residual, 2)
    return f"the objective may be too high by {share} % of {what_is_left(c)}"


def what_is_left(c: "Certificate") -> str:
    """The null objective f₀ in words; the residual is a share of it."""
    if finding_of(c, OptimumFinding).null_allowed:
        return "what the intercept alone leaves"
    return "what the allowed coefficients nearest to 0 leave"


def stopped_by(c: "Certificate") -> str | None:
    iteration = c._finding.iteration
    if iteration.stochastic:
        return "stochastic steps end near the optimum, not at it"
    if iteration.max_iter is not None:
        return f"it stopped at max_iter={iteration.max_iter}"
    if loose(iteration) and not c._finding.ours:
        return f"tol={iteration.tol:g} stopped it early"
    return None


def loose(iteration: Iteration) -> bool:
    return (iteration.tol or 0.0) > MAX_TIGHT_TOL


def longer(iteration: Iteration) -> list[str]:
    """Parameters that let a fit of another library run longer."""
    steps = ["raise max_iter"] if iteration.max_iter is not None else []
    if loose(iteration):
        steps.append(f"lower tol (it was {iteration.tol:g})")
    return steps
