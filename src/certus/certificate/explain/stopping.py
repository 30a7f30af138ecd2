"""Texts for fits that ended before the optimum: by how much, why, and what it means."""

from typing import TYPE_CHECKING

from ...text.format import number
from ..decisions.record import Decisions
from ..facts import Iteration
from ..findings import OptimumFinding, finding_of
from .wording import Lines

if TYPE_CHECKING:
    from ..certificate import Certificate

MAX_TIGHT_TOL = 1e-8  # a larger tol may have ended the fit too early
# a larger change is not called harmless: of a probability, one that percentages without decimals
# show; of a score, a twentieth of the margin
SEEN_CHANGE = {"probability": 0.005, "score": 0.05}
CHANGED = {"probability": "a probability", "score": "a score", "prediction": "a prediction"}


def too_high(c: "Certificate") -> str:
    """By how much the objective is too high, as a share of f₀: what the status is decided by."""
    null = finding_of(c, OptimumFinding).null_objective
    if c.decisions is not None and null > 0:
        excess = max(c.objective - c.decisions.objective, 0.0) / null
        by = f"{number(100 * excess, 2)} %" if excess > 0 else "less than rounding"
        return f"the objective is too high by {by} of {what_is_left(c)}"
    share = number(100 * c.residual, 2)
    return f"the objective may be too high by up to {share} % of {what_is_left(c)}"


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


# --- the certus class of the same objective -------------------------------------------------------

OF_STATSMODELS = {
    "OLS": "LinearRegression()", "WLS": "LinearRegression()",
    "GLM(Gaussian)": "LinearRegression()",
    "Logit": "LogisticRegression({})", "GLM(Binomial)": "LogisticRegression({})",
    "Poisson": "PoissonRegressor({})", "GLM(Poisson)": "PoissonRegressor({})",
}  # fmt: skip


def of_statsmodels(c: "Certificate") -> bool:
    return c.model.startswith("statsmodels.")


def replacement(c: "Certificate") -> str:
    """Return the class by its full name, of statsmodels with the parameters of the fit."""
    if not of_statsmodels(c):
        return c.model.replace("sklearn", "certus", 1)
    name = OF_STATSMODELS[c.model.partition(".")[2]]
    l1 = c.parameters.get("l1", 0.0)
    if name.startswith("Logistic"):
        return (
            f"certus.linear_model.{name.format(f'C={1 / l1:g}, l1_ratio=1' if l1 else 'C=np.inf')}"
        )
    return f"certus.linear_model.{name.format(f'alpha={l1:g}' + ', l1_ratio=1' * bool(l1))}"


# --- decisions ------------------------------------------------------------------------------------


def decision_rows(c: "Certificate") -> Lines:
    """The line of ``explain`` on decisions; none where they were not compared."""
    return [] if c.decisions is None else [("At the optimum", decisions_in_words(c.decisions))]


def decisions_in_words(d: Decisions) -> str:
    """3 of 10,000 predictions change; a probability changes by at most 0.004 (row 17; proven)."""
    label = (
        "no prediction changes"
        if d.n_changed == 0
        else (f"{d.n_changed:,} of {d.n:,} predictions change")
    )
    if d.unit is not None:
        label += f" by more than {number(d.unit, 2)}, 1 % of the typical error"
    how = "against a certified refit"
    by = f"up to {number(d.max_change, 2)}"
    if d.bound is not None:
        how, by = "proven", f"at most {rounded_up(d.bound)}"
    text = f"{label}; {CHANGED[d.answer]} changes by {by} (most in row {d.row:,}; {how})"
    return f"harmless: {text}" if harmless(d) else text


def harmless(d: Decisions) -> bool:
    """Return whether nobody who uses the predictions would notice."""
    at_most = d.max_change if d.bound is None else d.bound
    return d.n_changed == 0 and at_most <= SEEN_CHANGE.get(d.answer, float("inf"))


def rounded_up(x: float) -> str:
    """Two significant digits, never below x."""
    text = number(x, 2)
    return text if float(text.replace(",", "")) >= x else number(x * 1.05, 2)
