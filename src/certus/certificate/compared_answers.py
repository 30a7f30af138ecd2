"""A model's own answers, held against the parameters that its certificate is about.

    answer(x_i) = what the certified parameters make of x_i,  up to rounding, at sampled rows

A certificate is about parameters. ``verify`` asks the model itself as well, so that an attribute
which changes what it says cannot go unseen, whatever its name. Fits do not: nothing was edited.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..audit import Reading
from ..data.rows import Rows
from .registry import CLAIMS

if TYPE_CHECKING:
    from .certificate import Certificate


def compared_with_answers(
    certificate: "Certificate", model: object, rows: Rows, reading: Reading
) -> "Certificate":
    """The certificate of a model, contradicted where the model itself says something else.

    Neighbours are no case of it: their certificate is about answers in the first place.
    """
    compare = CLAIMS[reading.definition].answers
    if compare is None:
        return certificate
    answers, wrong = compare(model, rows, reading)
    wrong = [*answers.failures, *wrong]
    if wrong:
        return certificate._contradicted(wrong)
    if not 0 < len(answers) < rows.shape[0] or not answers.by_method:
        return certificate
    methods = _listed(list(answers.by_method))
    note = f"{methods} compared with the parameters at {len(answers)} of {rows.shape[0]:,} rows"
    return replace(certificate, notes=(*certificate.notes, note))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
