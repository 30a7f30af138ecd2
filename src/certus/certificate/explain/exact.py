"""Texts that neighbours and trees share: the first wrong answer, and how many like it."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from .wording import Lines, Wording

if TYPE_CHECKING:
    from ..certificate import Certificate

MAX_LISTED_CONTRADICTIONS = 3


class ExactWording(Wording):
    """Models whose answers were recomputed."""

    def claim(self, c: "Certificate") -> str:
        """The answers that were recomputed, or the reason why none were."""
        return self.recomputed(c) if c.status != "not proven" else str(c._finding.unproven)

    def summary(self, c: "Certificate") -> str:
        return self.first_wrong(c) if c.status == "contradicted" else self.claim(c)

    def best_known(self, c: "Certificate") -> str:
        return self.claim(c)

    def verb(self, c: "Certificate") -> str:
        return "claimed"

    @abstractmethod
    def recomputed(self, c: "Certificate") -> str:
        """The answers that were recomputed, in words."""

    def first_wrong(self, c: "Certificate") -> str:
        """The first contradiction, and how many more there are."""
        wrong = c._finding.contradictions
        more = max(len(wrong), int(c.objective)) - 1
        return f"{wrong[0]}{f' (and {more:,} more like it)' if more else ''}"

    def wrong_rows(self, c: "Certificate") -> Lines:
        rows = [("Recomputed", self.recomputed(c)), ("What is wrong", self.first_wrong(c))]
        return rows + [
            ("", text) for text in c._finding.contradictions[1:MAX_LISTED_CONTRADICTIONS]
        ]

    def not_certified(self, c: "Certificate", stopped_at: int | None) -> str:
        if c._finding.contradictions:
            return self.contradicted(c)
        return f"{c.model} is not certified: {c._finding.unproven}."

    def contradicted(self, c: "Certificate") -> str:
        return f"{c.model}: {self.first_wrong(c)}."


class UndefinedAnswers(ExactWording):
    """A model whose distance has no definition."""

    def lines(self, c: "Certificate") -> Lines:
        return [("Not proven", f"{c._finding.unproven}.")]

    certified = failure_rows = lines

    def recomputed(self, c: "Certificate") -> str:
        return "nothing"

    def note(self, c: "Certificate") -> str:
        return self.claim(c)

    def checked_by(self, c: "Certificate") -> str:
        return "nothing: the answers are the search's own"


def far_from_origin(far: float) -> str:
    return f"the rows lie {far:.0e} times as far from the origin as from each other"
