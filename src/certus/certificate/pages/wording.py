"""Certificates that a page made: the claim, by how much it is missed, and where to read it."""

from typing import TYPE_CHECKING

from ...text.format import best_possible, number, small
from ..explain.wording import Lines, Wording
from ..findings import PageFinding, finding_of

if TYPE_CHECKING:
    from ..certificate import Certificate


class PageWording(Wording):
    """Any model, in the words of its page."""

    def claim(self, c: "Certificate") -> str:
        return f"objective {number(c.objective, 7)}, {self.best_known(c)}"

    summary = claim

    def best_known(self, c: "Certificate") -> str:
        if c.bound is not None and c.certified:
            return f"at most {small(c.gap)} above the best possible"
        if c.bound is not None:
            return f"the best possible is {best_possible(c.bound)}"
        if finding_of(c, PageFinding).claim == "no finite optimum":
            return "and along one direction it falls for ever"
        return f"its condition missed by {small(c.residual)}"

    def certified(self, c: "Certificate") -> Lines:
        rows = [("Objective", number(c.objective, 7)), ("Missed by", self.best_known(c))]
        return rows + [("What is wrong", text) for text in c._finding.contradictions]

    def failure_rows(self, c: "Certificate") -> Lines:
        remedy = 'see verify without by="page", which names the likely cause'
        return [*self.certified(c), ("What to do", remedy)]

    def note(self, c: "Certificate") -> str:
        return f"{c.model}: {c.status}, {self.claim(c)}"

    def not_certified(self, c: "Certificate", stopped_at: int | None) -> str:
        return f"{c.model} is {c.status}: {self.claim(c)}."
