"""Slots of a mixture: shares and components. The script reads X."""

from typing import TYPE_CHECKING

from ..explain.mixture import MixtureWording
from ..findings import MixtureFinding, finding_of
from .readers import rows_and_weights
from .template import Slots

if TYPE_CHECKING:
    from ..certificate import Certificate

USAGE = (
    "X.npy [weights.npy]               (or .csv files, without a header; nan where a\n"
    "                                                     value is missing)"
)
REPORT = """\
    print(f"objective {{found['objective']!r}}, claimed {objective!r}")
    print(f"one more step gains {{found['residual']:.3g}} a row, at most")
    for said in found["wrong"]:
        print(said)
    same = abs(found["objective"] - {objective!r}) <= 1e-9 * (abs({objective!r}) + {weight!r})
    holds = bool(same and not found["wrong"] and found["residual"] <= {tol!r})"""


def slots(c: "Certificate") -> Slots:
    weight = finding_of(c, MixtureFinding).weight
    return Slots(
        claimed=f"Maximised: {c.formula}\nClaimed:   {MixtureWording().note(c)}",
        usage=USAGE,
        reader=rows_and_weights(c),
        report=REPORT.format(objective=c.objective, weight=weight, tol=c.tol),
        parameters="the model's shares and components",
        block=4096,
    )
