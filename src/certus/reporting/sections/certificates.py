"""Certificates of the chosen model and of the other candidates, as they were refitted on all rows.

Each was recomputed from the rows by the definitions (``certus.verify``); no solver took part.
"""

from typing import TYPE_CHECKING

from ...certificate.explain.certificate import labelled_lines, page_to_read, status_and_claim
from ...certificate.registry import claim_of
from ..content.answer import CertificateBox, Certificates
from ..content.phrases import count
from ..prepared import Prepared
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.mathml import from_text

if TYPE_CHECKING:
    from ...certificate import Certificate

CHOSEN = "the chosen model"
WHAT_IT_MEANS = (
    "A certificate is about the arithmetic: it proves that this model is what its formula says, "
    "for these rows. Whether the model is of any use is the verdict's question."
)


def make(prepared: Prepared, settings: Settings, result: ProcedureResult) -> Certificates:
    """The boxes, the chosen model's first."""
    chosen = box(f"{result.name} ({CHOSEN})", result.certificate)
    others = [box(name, certificate) for name, certificate in result.other_certificates]
    return Certificates((chosen, *others), _text(chosen, others, result.calibration))


def box(name: str, certificate: "Certificate") -> CertificateBox:
    """One certificate for the page."""
    page = page_to_read(certificate) if certificate.definition else None
    words = claim_of(certificate).wording
    equation = words.equation(certificate)
    has_equation = not equation.startswith("<mtext>")  # that is only the formula as text
    return CertificateBox(
        model=name,
        status=certificate.status,
        certified=certificate.certified,
        line=status_and_claim(certificate),
        formula=certificate.formula,
        mathml=f"<math>{equation}</math>" if has_equation else from_text(certificate.formula),
        lines=tuple(labelled_lines(certificate)),
        definition=certificate.definition if page is None else page.module,
        definition_lines=None if page is None else page.n_lines,
    )


def _text(chosen: CertificateBox, others: list[CertificateBox], calibration: str) -> str:
    failed = [one.model for one in others if not one.certified]
    if not chosen.certified:
        start = f"The arithmetic of the chosen model is not certified ({chosen.status}). "
    elif chosen.status in ("local optimum", "degenerate"):
        start = "The arithmetic of the chosen model was checked: no step improves it. "
    else:
        start = "The arithmetic of the chosen model was checked and is right. "
    if failed:
        start += f"{count(len(failed), 'other model')} could not be certified. "
    end = (
        " The curve that turns its scores into probabilities is not part of it."
        if calibration
        else ""
    )
    return f"{start}{WHAT_IT_MEANS}{end}"
