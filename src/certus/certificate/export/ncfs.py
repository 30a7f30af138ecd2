"""Slots of NCFS: the weights, and how columns are scaled."""

from typing import TYPE_CHECKING

from ...exceptions import CertificateError
from ..explain.ncfs import SelectionWording
from ..findings import SelectionFinding, finding_of
from .readers import targets
from .template import Slots

if TYPE_CHECKING:
    from ..certificate import Certificate

USAGE = "X.npy y.npy [weights.npy]         (or .csv files, without a header)"
REPORT = """\
    print(f"objective {{found['objective']!r}}, claimed {objective!r}")
    print(f"the slope that violates its condition most: {{found['residual']:.3g}} of {unit}")
    if found["score"].value is not None:
        print(f"each row by the others: {{found['score'].kind}} {{found['score'].value:.6g}}")
    for said in found["wrong"]:
        print(said)
    same = abs(found["objective"] - {objective!r}) <= 1e-9 * abs({objective!r})
    holds = bool(same and not found["wrong"] and found["residual"] <= {tol!r})"""


def slots(c: "Certificate") -> Slots:
    if callable(c.parameters.get("loss")):
        raise CertificateError(
            "nothing to export: the loss is a function of yours, which a script cannot hold. "
            "certus.verify recomputes the claim with it"
        )
    penalised = finding_of(c, SelectionFinding).penalised
    unit = "alpha" if penalised else "the largest there can be"
    return Slots(
        claimed=f"Maximised: {c.formula}\nClaimed:   {SelectionWording().note(c)}",
        usage=USAGE,
        reader=targets(c, 1),
        report=REPORT.format(objective=c.objective, unit=unit, tol=c.tol),
        parameters="the model's weights",
    )
