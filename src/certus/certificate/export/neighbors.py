"""Slots of neighbours: what a model answered.

The script reads X, and of a model that predicts also y.
"""

from typing import TYPE_CHECKING

from ...exceptions import CertificateError
from .readers import NO_TARGETS, NUMBERS, with_targets
from .template import Slots

if TYPE_CHECKING:
    from ..certificate import Certificate

USAGE = (
    "{files}         (or .csv files, without a header; sparse X as\n"
    "                                   .npz from scipy.sparse.save_npz, CSR)"
)
LABELS = "load_labels(arguments[1]).reshape(len(X), -1)"
REPORT = """\
    for said in found["wrong"]:
        print(said)
    wrong = len(found["wrong"])
    print(f"{found['answers']:,} neighbours recomputed, {wrong} answers are wrong")
    holds = not wrong"""


def slots(c: "Certificate") -> Slots:
    votes, y = c.parameters["votes"], NUMBERS if c.labels is None else LABELS
    if callable(c.parameters["metric"]):
        raise CertificateError(
            "nothing to export: the distance is a function, which a script cannot hold"
        )
    if votes is not None and "names" in votes and len(votes["names"]) > 1:
        raise CertificateError(
            "nothing to export: a script reads one column of labels, and the model has "
            f"{len(votes['names'])}"
        )
    if votes is None:
        files, reader = "X.npy", with_targets(c, NO_TARGETS, 0, (1,))
    else:
        files = "X.npy y.npy [weights.npy]"
        reader = with_targets(c, y, votes["predicted"].shape[1], (2, 3))
    return Slots(
        claimed=f"Claimed:   {c.formula}, for {len(c.parameters['asked'])} queries",
        usage=USAGE.format(files=files),
        reader=reader,
        report=REPORT,
        parameters="what the model answered",
        does="answers",
    )
