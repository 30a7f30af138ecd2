"""Texts that clusters, mixtures and NCFS share: one more step, restarts, early stops."""

from typing import TYPE_CHECKING

from ...text.format import number
from ..findings import LocalFinding, finding_of
from .wording import Lines, Wording

if TYPE_CHECKING:
    from ..certificate import Certificate

FIT_AGAIN = "fit again: the model was changed after its fit, or this is a bug of certus"


class LocalWording(Wording):
    """Models at a fixed point of their algorithm."""

    def summary(self, c: "Certificate") -> str:
        if c.status == "contradicted":
            return c._finding.contradictions[0]
        return self.claim(c)

    def failure_note(self, c: "Certificate", claim: str) -> str:
        return f"{c.model}: {claim}."

    def not_certified(self, c: "Certificate", stopped_at: int | None) -> str:
        finding, where = c._finding, f"objective {number(c.objective, 5)}, and {self.best_known(c)}"
        if c.status == "stopped":
            return f"{c.model} stopped {finding.stopped}: {where}. Let it run longer."
        if finding.unproven is not None:
            return f"{c.model}: {where}: {finding.unproven}."
        if stopped_at is not None:
            return (
                f"{c.model} stopped at max_iter={stopped_at} before a local optimum: {where}. "
                "Raise max_iter."
            )
        return f"{c.model} is not at a local optimum: {where}. See certificate_.explain()."


def wrong_rows(c: "Certificate") -> Lines:
    return [("What is wrong", text) for text in c._finding.contradictions]


def agreement(c: "Certificate") -> str | None:
    """ "9 of 10 restarts agree"; None where it is not known."""
    restarts = finding_of(c, LocalFinding).restarts
    if restarts is None:
        return None
    if restarts.starts == 1:
        return "one start"
    return f"{restarts.agreeing} of {restarts.starts} restarts agree"


def restart_rows(c: "Certificate", one_start: str, worst: str) -> Lines:
    """Line on the restarts; ``one_start`` qualifies a single one, ``worst`` is its distance."""
    restarts = finding_of(c, LocalFinding).restarts
    if restarts is None:
        return []
    if restarts.starts == 1:
        return [("Restarts", f"one start{one_start}")]
    if restarts.agreeing == restarts.starts:
        return [("Restarts", f"all {restarts.starts} ended here")]
    return [("Restarts", f"{restarts.agreeing} of {restarts.starts} ended here, the worst {worst}")]
