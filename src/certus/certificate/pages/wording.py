"""Certificates that a page made: the claim, by how much it is missed, and where to read it."""

from typing import TYPE_CHECKING

import numpy as np

from ...text.format import best_possible, count, number, small
from ..explain.wording import Lines, Wording
from ..findings import PageFinding, finding_of

if TYPE_CHECKING:
    from ..certificate import Certificate

REMEDY = 'certus.verify without by="page" names the likely cause and what to do'


class PageWording(Wording):
    """Any model, in the words of its page; ``family`` has those that pages do not decide."""

    def __init__(self, family: Wording):
        self.family = family
        self.INDEPENDENCE, self.DOES_NOT_SAY = family.INDEPENDENCE, family.DOES_NOT_SAY

    def claim(self, c: "Certificate") -> str:
        if c.kind == "exact":
            return self.best_known(c)
        return f"objective {number(c.objective, 7)}{self._separator(c)}{self.best_known(c)}"

    summary = claim

    def _separator(self, c: "Certificate") -> str:
        return ", " if c.bound is not None else "; "

    def best_known(self, c: "Certificate") -> str:
        if c.kind == "exact":
            return _answers(c)
        if c.bound is not None and c.certified and c.kind == "global":
            return f"{_gap(c)} above the best possible"
        if c.bound is not None:
            return f"the best possible is {best_possible(c.bound)}"
        if finding_of(c, PageFinding).claim == "no finite optimum":
            return "larger coefficients always have a lower one"
        return _condition(c)

    def lines(self, c: "Certificate") -> Lines:
        rows = self._result(c)
        rows += [("What is wrong", text) for text in c._finding.contradictions]
        return rows if c.certified else [*rows, ("What to do", REMEDY)]

    certified = failure_rows = lines

    def _result(self, c: "Certificate") -> Lines:
        """The objective and how far it is from the claim; of exact claims, the answers."""
        if c.kind == "exact":
            return [("Recomputed", _answers(c))]
        objective = number(c.objective, 7)
        finding = finding_of(c, PageFinding)
        if finding.claim == "no finite optimum":
            return [
                ("Objective", f"{objective}; {self.best_known(c)}"),
                ("What is wrong", self.family.ENDLESS),
            ]
        if c.bound is None:
            return [("Objective", objective), ("Condition", _condition(c))]
        rows = [("Objective", f"{objective}; the best possible is {best_possible(c.bound)}")]
        if c.kind != "global":
            return [*rows, ("Condition", _condition(c))]
        if finding.holds:
            return [*rows, ("Gap", f"{_gap(c)}; a page does not bound rounding errors")]
        return [*rows, ("What is wrong", _too_high(c))]

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        subject = f"{c.model} ({count(n, 'row')}, {count(p, 'column')})"
        recomputed = "" if c.kind == "exact" else "; recomputed from the data"
        return f"{subject}: {c.status}, {self.claim(c)}{recomputed}"

    def failure_note(self, c: "Certificate", claim: str) -> str:
        return f"{c.model}: {claim}."

    def not_certified(self, c: "Certificate", stopped_at: int | None) -> str:
        return f"{c.model}: {c.status}, {self.claim(c)}."

    def verb(self, c: "Certificate") -> str:
        return "claimed" if c.kind == "exact" else super().verb(c)

    def equation(self, c: "Certificate") -> str:
        return self.family.equation(c)


def _gap(c: "Certificate") -> str:
    """The gap as computed: at or below 0 where rounding is all that is left of it."""
    return "0" if c.gap <= 0 else small(c.gap)


def _too_high(c: "Certificate") -> str:
    """Excess of the objective, relative to the page's scale."""
    if not np.isfinite(c.gap):
        return "the coefficients are not allowed by the problem, or are no numbers"
    share = number(100 * c.residual, 2)
    return f"the objective may be too high by up to {share} % of the null model's"


def _condition(c: "Certificate") -> str:
    """Violation of the optimality condition, as a share of its scale."""
    missed = "exactly" if c.residual <= 0 else f"up to {small(c.residual)}, as a share of its scale"
    if c.certified:
        return f"the optimality condition holds {missed}"
    if c.residual == float("inf"):
        return "the optimality condition does not hold"
    return f"the optimality condition is missed by {small(c.residual)} of its scale"


def _answers(c: "Certificate") -> str:
    """Number of wrong answers among those recomputed."""
    wrong = c.objective
    if c.certified or wrong == 0:
        return "every answer that was recomputed is right"
    if wrong == float("inf"):
        return "the answers have the wrong form"
    return f"{count(int(wrong), 'answer')} {'is' if wrong == 1 else 'are'} wrong"
