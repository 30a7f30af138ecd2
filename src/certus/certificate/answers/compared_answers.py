"""Compare a model's own answers with those of its certified parameters.

    answer(x_i) = answer of the certified parameters at x_i,  up to rounding, at sampled rows

A certificate is about parameters. ``verify`` also calls the model's methods, so that an edited
attribute that changes its answers is noticed, whatever its name. Fits skip this: nothing can have
been edited.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from ...audit import Reading
from ...data.rows import Rows
from ..registry import CLAIMS

if TYPE_CHECKING:
    from ..certificate import Certificate


def compared_with_answers(
    certificate: "Certificate", model: object, rows: Rows, reading: Reading
) -> "Certificate":
    """The certificate, contradicted where the model's answers differ from its parameters'.

    Nearest neighbours are not compared: their certificate is about the answers themselves.
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
