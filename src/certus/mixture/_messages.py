"""Texts of the warnings of a mixture's fit."""

from collections.abc import Sequence

from ..certificate.facts import Collapse
from ..text.format import printable

FEWER_DIRECTIONS = "fewer directions than X has columns"


def collapse_message(collapses: Sequence[Collapse], ended: int | None, k: int) -> str | None:
    """Warning about components that collapsed; ``ended``: the one that ended the fit."""
    if collapses:
        first = collapses[0]
        onto = f"row {first.row}" if first.whole and first.row is not None else FEWER_DIRECTIONS
        component = first.component
    elif ended is not None:
        component, onto = ended, "a point or a plane"
    else:
        return None
    subject, its = f"mixture component {component} of {k} has", "its"
    if component is None:  # one covariance for all
        subject, its = "the mixture components have", "their"
    n_others = len(collapses) - 1 if collapses else 0
    others = f" So {'has' if n_others == 1 else 'have'} {n_others} more." if n_others else ""
    outcome = "It was held at reg_covar." if ended is None else "The step before it was kept."
    remedy = "a larger reg_covar" if ended is None else 'reg_covar="relative"'
    return printable(
        f"{subject} collapsed onto {onto}: {its} likelihood has no maximum. {outcome}{others} "
        f"Do not compare BIC; use fewer components or {remedy}."
    )
