"""Texts for mixtures: the gain of one more EM step, and components that collapsed."""

from typing import TYPE_CHECKING

from ...text.format import count, magnitude, number, small
from ..facts import Collapse
from ..findings import MixtureFinding, finding_of
from .local import FIT_AGAIN, LocalWording, agreement, restart_rows, wrong_rows
from .stopping import stopped_by
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

# distance of the rows from the origin, over their spread: beyond it, half the digits of
# Σ r x² − μ² are lost
MAX_ORIGIN_RATIO = 1e4
EM_STEP = "(responsibilities, then shares and components)"


def _finding(c: "Certificate") -> MixtureFinding:
    return finding_of(c, MixtureFinding)


class MixtureWording(LocalWording):
    DOES_NOT_SAY = (
        "that no other parameters are likelier, that the rows come from such components, or from "
        "this many"
    )

    def claim(self, c: "Certificate") -> str:
        """objective -180.19; no useful bound; 9 of 10 restarts agree."""
        parts = [f"objective {number(c.objective, 5)}"]
        if c.status == "degenerate":
            parts.append(_collapsed(c))
        parts.append(self.best_known(c))
        return "; ".join(filter(None, [*parts, agreement(c) if c.certified else None]))

    def best_known(self, c: "Certificate") -> str:
        if _finding(c).unproven is not None:
            return "a local optimum is not proven"
        return "no useful bound" if c.certified else f"one more step {_step_gain(c)}"

    def certified(self, c: "Certificate") -> Lines:
        objective = f"{number(c.objective, 7)}; {self.best_known(c)}"
        rows = [("Objective", objective), ("One more step", _step(c))]
        if c.status == "degenerate":
            rows.append(("Components", f"{_collapsed(c)}: {_collapse_remedy(c)}"))
        rows += _prior(c) + _conditions(c) + _restarts(c)
        if _finding(c).ours and _finding(c).ascent:
            rows.append(("On the way", "the objective never fell, as reported by the solver"))
        return rows

    def failure_rows(self, c: "Certificate") -> Lines:
        finding, rows = _finding(c), [("Objective", number(c.objective, 7))]
        wrong = finding.contradictions
        if c.objective == c.objective:
            rows.append(("One more step", _step(c)))
        rows += wrong_rows(c)
        if finding.degenerate:
            rows.append(("Components", f"{_collapsed(c)}: {_collapse_remedy(c)}"))
        if finding.unproven is not None and not wrong:
            rows.append(("Why", finding.unproven))
        return [
            *rows,
            *cause_and_remedy(
                _far_from_origin(c) or (None if wrong else stopped_by(c)), _remedy(c)
            ),
        ]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        parts = [
            f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) is at a local optimum of "
            f"{c.formula}: the objective is {number(c.objective, 7)}, recomputed from the data",
            f"one more step would {'raise' if _finding(c).ascent else 'change'} it by "
            f"{_largest_gain(c)}",
        ]
        if c.status == "degenerate":
            parts.append(_collapsed(c))
        return "; ".join(filter(None, [*parts, agreement(c)]))


def _step_gain(c: "Certificate") -> str:
    finding = _finding(c)
    if finding.unproven is not None:
        return "is within rounding error"
    if c.residual == float("inf"):
        return "leaves a component without spread: the likelihood has no maximum"
    if c.residual <= c.tol:
        return f"gains {_largest_gain(c)}"
    if finding.ascent:
        least = "at least " if finding.at_least else ""
        return f"raises it by {least}{number(c.residual, 2)} a row"
    return f"changes it by {number(finding.gain / finding.weight, 2)} a row"


def _largest_gain(c: "Certificate") -> str:
    return f"at most {small(c.residual)} a row" if c.residual > 0 else "nothing"


def _collapsed(c: "Certificate") -> str:
    """component 2 of 5 has collapsed onto row 14."""
    first, *others = _finding(c).degenerate
    more = f"; so {'has' if len(others) == 1 else 'have'} {len(others)} more" if others else ""
    return _collapse_text(first, _finding(c).components) + more


def _collapse_text(one: Collapse, k: int) -> str:
    if one.component is None:
        where = "" if one.whole else " in some direction"
        return f"the components have no spread of their own{where}"
    name = f"component {one.component} of {k}"
    if not one.whole:
        return f"{name} has no spread in some direction ({count(one.rows, 'row')} of its own)"
    if one.rows == 0:
        return f"{name} has collapsed"
    if one.rows == 1:
        return f"{name} has collapsed onto row {one.row}"
    return f"{name} has collapsed onto {one.rows:,} rows (first: row {one.row})"


def _step(c: "Certificate") -> str:
    if c.residual <= c.tol:
        verb = "raise" if _finding(c).ascent else "change"
        return f"would {verb} it by {_largest_gain(c)} {EM_STEP}"
    return f"{_step_gain(c)} {EM_STEP}"


def _collapse_remedy(c: "Certificate") -> str:
    """Return what keeps the covariance of a collapsed component from 0, and the consequence."""
    if c.parameters.get("added"):
        by = f"reg_covar={c.parameters['added']:g} alone holds it up"
    elif c.parameters["epsilon"]:
        by = "the prior alone holds it up"
    else:
        by = "the likelihood has no maximum"
    return f"{by}. Do not compare BIC"


def _prior(c: "Certificate") -> Lines:
    """The prior's ε and D, or a and x̄, of the formula; or reg_covar, which no formula has."""
    if c.parameters.get("added"):
        added = f"reg_covar={c.parameters['added']:g} to each variance, in every step"
        return [("Added", f"{added}; it is no prior, so a step may lower the objective")]
    epsilon = c.parameters["epsilon"]
    if not epsilon:
        return []
    if "values" in c.parameters["theta"]:
        return [("Prior", f"a = {epsilon:g} rows at x̄, the mean row, for each component")]
    return [("Prior", f"ε = {epsilon:g} rows that vary as the columns do (D, diagonal)")]


def _conditions(c: "Certificate") -> Lines:
    conditions = _finding(c).conditions
    if conditions is None or not len(conditions):
        return []
    most = number(float(max(conditions)), 2)
    return [("Covariances", f"condition numbers up to {most}, columns in units of their spread")]


def _restarts(c: "Certificate") -> Lines:
    restarts = _finding(c).restarts
    worst = "" if restarts is None else f"{number(restarts.spread, 2)} a row below"
    return restart_rows(c, "; another may end higher" if _finding(c).components > 1 else "", worst)


def _far_from_origin(c: "Certificate") -> str | None:
    far = _finding(c).far
    if _finding(c).ours or not far > MAX_ORIGIN_RATIO or c.parameters["family"] == "full":
        return None
    return (
        f"the rows lie {magnitude(far)} times their spread from the origin, where variances by "
        "Σ r x² − μ² lose their digits"
    )


def _remedy(c: "Certificate") -> str:
    finding, name = _finding(c), f"certus.mixture.{c.model.rsplit('.', 1)[-1]}"
    if finding.contradictions and finding.ours:
        return FIT_AGAIN
    if _far_from_origin(c):
        return f"subtract the column means first, or use {name}"
    if finding.contradictions:
        return f"give the rows of the fit, or fit again, or use {name}"
    if c.residual == float("inf") or finding.unproven is not None:
        return 'use fewer components, or reg_covar="relative" of certus.mixture.GaussianMixture'
    if finding.iteration.max_iter is not None:
        return "raise max_iter"
    if finding.ours:
        return "fit again, with a smaller tol"
    return f"lower tol, or use {name}, which iterates until a step gains next to nothing"
