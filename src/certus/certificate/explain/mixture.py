"""What certificates of mixtures say: what one more EM step would gain, which components collapsed.

For the words that all certificates share see ``certificate.py``.
"""

from typing import TYPE_CHECKING

from ...text.format import count, magnitude, number, small
from ..facts import Collapse
from ..findings import MixtureFinding, finding_of
from .local import FIT_AGAIN, LocalWording, agreement, restart_rows, wrong_rows
from .stopping import stopped_by
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

FAR = 1e4  # times their spread: half the digits of Σ r x² − μ² are lost
STEP = "(responsibilities, then shares and components)"


def _found(c: "Certificate") -> MixtureFinding:
    return finding_of(c, MixtureFinding)


class MixtureWording(LocalWording):
    DOES_NOT_SAY = (
        "that no other parameters are likelier, that the rows come from such components, or from "
        "this many"
    )

    def claim(self, c: "Certificate") -> str:
        """objective -180.19; no useful bound; 9 of 10 restarts agree."""
        said = [f"objective {number(c.objective, 5)}"]
        if c.status == "degenerate":
            said.append(_collapsed(c))
        said.append(self.best_known(c))
        return "; ".join(filter(None, [*said, agreement(c) if c.certified else None]))

    def best_known(self, c: "Certificate") -> str:
        if _found(c).unproven is not None:
            return "a local optimum is not proven"
        return "no useful bound" if c.certified else f"one more step {_gains(c)}"

    def certified(self, c: "Certificate") -> Lines:
        objective = f"{number(c.objective, 7)}; {self.best_known(c)}"
        rows = [("Objective", objective), ("One more step", _step(c))]
        if c.status == "degenerate":
            rows.append(("Components", f"{_collapsed(c)}: {_held(c)}"))
        rows += _prior(c) + _conditions(c) + _restarts(c)
        if _found(c).ours and _found(c).ascent:
            rows.append(("On the way", "the objective never fell, as the solver saw it"))
        return rows

    def failure_rows(self, c: "Certificate") -> Lines:
        found, rows = _found(c), [("Objective", number(c.objective, 7))]
        wrong = found.contradictions
        if c.objective == c.objective:
            rows.append(("One more step", _step(c)))
        rows += wrong_rows(c)
        if found.degenerate:
            rows.append(("Components", f"{_collapsed(c)}: {_held(c)}"))
        if found.unproven is not None and not wrong:
            rows.append(("Why", found.unproven))
        return [*rows, *cause_and_remedy(_far(c) or (None if wrong else stopped_by(c)), _remedy(c))]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        said = [
            f"{c.model} ({count(n, 'row')}, {count(p, 'column')}) is at a local optimum of "
            f"{c.formula}: the objective is {number(c.objective, 7)}, recomputed from the data",
            f"one more step would {'raise' if _found(c).ascent else 'change'} it by {_at_most(c)}",
        ]
        if c.status == "degenerate":
            said.append(_collapsed(c))
        return "; ".join(filter(None, [*said, agreement(c)]))


def _gains(c: "Certificate") -> str:
    found = _found(c)
    if found.unproven is not None:
        return "cannot be told from rounding"
    if c.residual == float("inf"):
        return "leaves a component without spread: the likelihood has no maximum"
    if c.residual <= c.tol:
        return f"gains {_at_most(c)}"
    if found.ascent:
        least = "at least " if found.at_least else ""
        return f"raises it by {least}{number(c.residual, 2)} a row"
    return f"changes it by {number(found.gain / found.weight, 2)} a row"


def _at_most(c: "Certificate") -> str:
    return f"at most {small(c.residual)} a row" if c.residual > 0 else "nothing"


def _collapsed(c: "Certificate") -> str:
    """component 2 of 5 has collapsed onto row 14."""
    first, *others = _found(c).degenerate
    more = f"; so {'has' if len(others) == 1 else 'have'} {len(others)} more" if others else ""
    return _of_one(first, _found(c).components) + more


def _of_one(one: Collapse, k: int) -> str:
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
        verb = "raise" if _found(c).ascent else "change"
        return f"would {verb} it by {_at_most(c)} {STEP}"
    return f"{_gains(c)} {STEP}"


def _held(c: "Certificate") -> str:
    """What keeps a covariance from 0, and what follows."""
    if c.parameters.get("added"):
        by = f"reg_covar={c.parameters['added']:g} alone holds it up"
    elif c.parameters["epsilon"]:
        by = "the prior alone holds it up"
    else:
        by = "the likelihood has no maximum"
    return f"{by}. Do not compare BIC"


def _prior(c: "Certificate") -> Lines:
    """What the formula's ε and D, or a and x̄, are; or what is in no formula."""
    if c.parameters.get("added"):
        added = f"reg_covar={c.parameters['added']:g} to each variance, in every step"
        return [("Added", f"{added}: not a prior, so a step may lower the objective")]
    epsilon = c.parameters["epsilon"]
    if not epsilon:
        return []
    if "values" in c.parameters["theta"]:
        return [("Prior", f"a = {epsilon:g} rows at x̄, the mean row, for each component")]
    return [("Prior", f"ε = {epsilon:g} rows that vary as the columns do (D, diagonal)")]


def _conditions(c: "Certificate") -> Lines:
    conditions = _found(c).conditions
    if conditions is None or not len(conditions):
        return []
    most = number(float(max(conditions)), 2)
    return [("Covariances", f"condition numbers up to {most}, columns in units of their spread")]


def _restarts(c: "Certificate") -> Lines:
    restarts = _found(c).restarts
    worst = "" if restarts is None else f"{number(restarts.spread, 2)} a row below"
    return restart_rows(c, "; another may end higher" if _found(c).components > 1 else "", worst)


def _far(c: "Certificate") -> str | None:
    far = _found(c).far
    if _found(c).ours or not far > FAR or c.parameters["family"] == "full":
        return None
    return (
        f"the rows lie {magnitude(far)} times their spread from the origin, where variances by "
        "Σ r x² − μ² lose their digits"
    )


def _remedy(c: "Certificate") -> str:
    found, name = _found(c), f"certus.mixture.{c.model.rsplit('.', 1)[-1]}"
    if found.contradictions and found.ours:
        return FIT_AGAIN
    if _far(c):
        return f"subtract the column means first, or use {name}"
    if found.contradictions:
        return f"give the rows of the fit, or fit again, or use {name}"
    if c.residual == float("inf") or found.unproven is not None:
        return 'use fewer components, or reg_covar="relative" of certus.mixture.GaussianMixture'
    if found.iteration.max_iter is not None:
        return "raise max_iter"
    if found.ours:
        return "fit again, with a smaller tol"
    return f"lower tol, or use {name}: it goes on until a step gains next to nothing"
