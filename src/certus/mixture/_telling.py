"""What a fit of a mixture warns of, in words."""

from typing import Any

from .._words import printable


def collapsed(found: list[dict[str, Any]] | None, stopped_at: int | None, k: int) -> str | None:
    """Components that are points or planes; ``stopped_at``: one that ended the fit."""
    if found:
        first = found[0]
        component, whole, row = first["component"], first["whole"], first["row"]
    elif stopped_at is not None:
        component, whole, row = stopped_at, False, None
    else:
        return None
    onto = f"row {row}" if whole and row is not None else "fewer directions than X has columns"
    more = f" So have {len(found) - 1} others." if found and len(found) > 1 else ""
    held = "It was held at reg_covar." if stopped_at is None else "The step before it was kept."
    larger = "a larger reg_covar" if stopped_at is None else 'reg_covar="relative"'
    return printable(
        f"mixture component {component} of {k} has collapsed onto {onto}: its likelihood has no "
        f"maximum. {held}{more} Do not compare BIC; use fewer components or {larger}."
    )
