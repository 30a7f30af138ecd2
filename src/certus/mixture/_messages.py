"""What a fit of a mixture warns of, in words."""

from collections.abc import Sequence

from ..certificate.facts import Collapse
from ..text.format import printable

FLAT = "fewer directions than X has columns"


def collapsed(found: Sequence[Collapse], ended: int | None, k: int) -> str | None:
    """Components that are points or planes; ``ended``: the one that ended the fit."""
    if found:
        first = found[0]
        onto = f"row {first.row}" if first.whole and first.row is not None else FLAT
        component = first.component
    elif ended is not None:
        component, onto = ended, "a point or a plane"
    else:
        return None
    who, its = f"mixture component {component} of {k} has", "its"
    if component is None:  # one covariance for all
        who, its = "the mixture components have", "their"
    others = len(found) - 1 if found else 0
    more = f" So {'has' if others == 1 else 'have'} {others} more." if others else ""
    held = "It was held at reg_covar." if ended is None else "The step before it was kept."
    remedy = "a larger reg_covar" if ended is None else 'reg_covar="relative"'
    return printable(
        f"{who} collapsed onto {onto}: {its} likelihood has no maximum. {held}{more} Do not "
        f"compare BIC; use fewer components or {remedy}."
    )
