"""The interface of a family's wording: each text of a certificate is one method."""

from html import escape
from typing import TYPE_CHECKING, Protocol

from ...text.format import number

if TYPE_CHECKING:
    from ..certificate import Certificate

Lines = list[tuple[str, str]]  # labelled lines of ``explain``


class Wording(Protocol):
    """The texts of one family of models.

    ``optimum.py``, ``local.py`` and ``exact.py`` have the texts that families of a kind share. Each
    family has a class in its own module; ``registry.py`` says which.
    """

    INDEPENDENCE: str = "solver was not asked"  # what the check does not rely on
    ENDLESS: str = "the classes are separated, so coefficients grow without limit"  # no optimum
    DOES_NOT_SAY: str = "that the model is true, the data sound, or that it predicts well"

    def claim(self, c: "Certificate", /) -> str:
        """The claim, on one line."""
        ...

    def summary(self, c: "Certificate", /) -> str:
        """The claim, or what is wrong with it, for the title of the HTML box."""
        ...

    def best_known(self, c: "Certificate", /) -> str:
        """The bound on the best possible objective, or that a better one is known."""
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
        """A sentence for a methods section, without the name of the check."""
        ...

    def failure_note(self, c: "Certificate", claim: str, /) -> str:
        """A sentence for a methods section on a claim that does not hold."""
        return f"Not certified: {claim}."

    def not_certified(self, c: "Certificate", stopped_at: int | None, /) -> str:
        """Warning of an uncertified fit. ``stopped_at``: the max_iter that ended it."""
        ...

    def contradicted(self, c: "Certificate", /) -> str:
        """Warning of a fit whose attributes or answers contradict its parameters."""
        return f"{c.model}: {'; '.join(c._finding.contradictions)}."

    def verb(self, c: "Certificate", /) -> str:
        """The verb for the formula: minimised, maximised or claimed."""
        return "maximised" if c.maximized else "minimised"

    def equation(self, c: "Certificate", /) -> str:
        """The formula as MathML."""
        return f"<mtext>{escape(c.formula)}</mtext>"

    def checked_by(self, c: "Certificate", /) -> str:
        """The module that checked the claim, and what it did not rely on."""
        return f"{c.definition}, from the data; the {self.INDEPENDENCE}"


def cause_and_remedy(cause: str | None, remedy: str) -> Lines:
    """The last lines of a claim that does not hold."""
    rows = [("Likely cause", cause)] if cause else []
    return [*rows, ("What to do", remedy)]
