"""Certificates of the chosen model and of the other candidates, as they were refitted on all rows.

Each was recomputed from the rows by the definitions (``certus.verify``); no solver took part.
"""

import re
from typing import TYPE_CHECKING

from ...certificate.explain.certificate import labeled_lines, page_to_read, status_and_claim
from ...certificate.registry import claim_of
from ..content.answer import CertificateBox, Certificates
from ..content.phrases import count, digits3
from ..prepared import Prepared
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.mathml import from_text

if TYPE_CHECKING:
    from ...certificate import Certificate

# a number of more than three digits; names of columns, in quotes, and powers of ten stay
NUMBER = re.compile(r"'[^']*'|(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?)(?![\w.]*\d|e[−-])")
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
    formula = rounded(certificate.formula)
    return CertificateBox(
        model=name,
        status=certificate.status,
        certified=certificate.certified,
        line=rounded(status_and_claim(certificate)),
        formula=formula,
        mathml=f"<math>{equation}</math>" if has_equation else from_text(formula),
        lines=tuple(
            (label, rounded(text, whole=label == "Objective"))
            for label, text in labeled_lines(certificate)
        ),
        definition=certificate.definition if page is None else page.module,
        definition_lines=None if page is None else page.n_lines,
    )


def rounded(text: str, whole: bool = False) -> str:
    """The text with at most 3 digits in each number. Whole numbers are counts, but for objectives.

    >>> rounded("objective 22.42482; 1,599 rows; '0.12345'"), rounded("objective 1,279,726")
    ("objective 22.4; 1,599 rows; '0.12345'", 'objective 1,280,000')
    """

    def shorter(found: re.Match[str]) -> str:
        number = found["number"]
        is_count = not whole and not text[: found.start()].endswith("objective ")
        if number is None or ("." not in number and is_count):
            return found.group()
        return digits3(float(number.replace(",", "")))

    return NUMBER.sub(shorter, text)


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
