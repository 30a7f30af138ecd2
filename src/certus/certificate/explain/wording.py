"""What a family of models says of its certificates."""

from html import escape
from typing import TYPE_CHECKING, Protocol

from ...text.format import number

if TYPE_CHECKING:
    from ..certificate import Certificate

Lines = list[tuple[str, str]]  # labelled lines of ``explain``


class Wording(Protocol):
    """The words of one family of models.

    ``optimum.py``, ``local.py`` and ``exact.py`` have what the families of a kind share; a family
    has its own class in its own module, and ``registry.py`` knows which.
    """

    NOT_ASKED: str = "solver was not asked"  # of whom the check is independent
    DOES_NOT_SAY: str = "that the model is true, the data sound, or that it predicts well"

    def claim(self, c: "Certificate", /) -> str:
        """What is claimed, for one line."""
        ...

    def summary(self, c: "Certificate", /) -> str:
        """What is claimed or wrong, for the head of a box."""
        ...

    def best_known(self, c: "Certificate", /) -> str:
        """What is known of the best possible, or that there is better."""
        ...

    def lines(self, c: "Certificate", /) -> Lines:
        """The body of ``explain``."""
        return self.certified(c) if c.certified else self.failure_rows(c)

    def stopped_rows(self, c: "Certificate", /) -> Lines:
        """The body of ``explain`` of a fit that was stopped."""
        return [
            ("Objective", f"{number(c.objective, 7)}; {self.best_known(c)}"),
            ("What is wrong", f"stopped {c._finding.stopped}"),
            ("What to do", "fit again and let it finish"),
        ]

    def certified(self, c: "Certificate", /) -> Lines:
        """Labelled lines of a certificate whose claim holds."""
        ...

    def failure_rows(self, c: "Certificate", /) -> Lines:
        """Labelled lines of a certificate whose claim does not hold."""
        ...

    def note(self, c: "Certificate", /) -> str:
        """A sentence for a methods section, without who checked it."""
        ...

    def failure_note(self, c: "Certificate", claim: str, /) -> str:
        """Labelled lines of a certificate whose claim does not hold."""
        return f"Not certified: {claim}."

    def not_certified(self, c: "Certificate", stopped_at: int | None, /) -> str:
        """What a fit warns of. ``stopped_at``: the max_iter that ended it."""
        ...

    def contradicted(self, c: "Certificate", /) -> str:
        """What a fit warns of where attributes or answers are not those of the parameters."""
        return f"{c.model}: {'; '.join(c._finding.contradictions)}."

    def verb(self, c: "Certificate", /) -> str:
        """What was done with the formula."""
        return "maximised" if c.maximised else "minimised"

    def equation(self, c: "Certificate", /) -> str:
        """The formula as MathML."""
        return f"<mtext>{escape(c.formula)}</mtext>"

    def checked_by(self, c: "Certificate", /) -> str:
        return f"{c.definition}, from the data; the {self.NOT_ASKED}"


def cause_and_remedy(cause: str | None, remedy: str) -> Lines:
    """The last lines of a claim that does not hold."""
    rows = [("Likely cause", cause)] if cause else []
    return [*rows, ("What to do", remedy)]
