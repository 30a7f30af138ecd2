"""Texts for directions that a claim leaves out.

A proof finds them (``proofs.linalg.negligible_directions``). The claim then holds among models that
do not use them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...text.format import name_of, number
from ..facts import LeftOutDirection
from ..findings import OptimumFinding

if TYPE_CHECKING:
    from ..certificate import Certificate

MAX_TERMS = 5  # columns of a direction that is written out
MAX_DIRECTIONS = 3  # directions that are written out


def among(c: "Certificate") -> str:
    """ " among models that do not use 'total' − 'price' − 'tax'"; empty if none is left out."""
    left_out = _left_out(c)
    if not left_out:
        return ""
    return f" among models that do not use {_directions(left_out, c.feature_names)}"


def left_out_rows(c: "Certificate") -> list[tuple[str, str]]:
    """The line of ``explain`` that gives the reason."""
    left_out = _left_out(c)
    if not left_out:
        return []
    it = "it" if len(left_out) == 1 else "them"
    reason = f"all that the rows show of {it} could be due to one rounding of the columns"
    return [("Left out", f"{_directions(left_out, c.feature_names)}: {reason}")]


def _left_out(c: "Certificate") -> tuple[LeftOutDirection, ...]:
    return c._finding.left_out if isinstance(c._finding, OptimumFinding) else ()


def _directions(left_out: Sequence[LeftOutDirection], names: Sequence[str] | None) -> str:
    shown = [_direction(one, names) for one in left_out[:MAX_DIRECTIONS]]
    more = len(left_out) - len(shown)
    if more:
        return f"{', '.join(shown)} or {more} more such combinations"
    return " or ".join([*filter(None, [", ".join(shown[:-1])]), shown[-1]])


def _direction(one: LeftOutDirection, names: Sequence[str] | None) -> str:
    """'total' − 'price' − 'tax', with the positive terms first."""
    terms, constant = list(zip(one.times, one.columns, strict=True)), one.constant
    if sum(c > 0 for c, _ in terms) == 0:
        terms, constant = [(-c, j) for c, j in terms], -constant
    terms.sort(key=lambda term: term[0] < 0)
    if len(terms) > MAX_TERMS:
        shown = ", ".join(name_of(j, names) for _, j in terms[: MAX_TERMS - 1])
        return f"a combination of {shown} and {len(terms) - MAX_TERMS + 1} more columns"
    parts = [_term(c, name_of(j, names)) for c, j in terms]
    if constant:
        parts.append(_term(constant, ""))
    text = "".join(parts)
    return text.removeprefix(" + ")


def _term(times: float, name: str) -> str:
    sign, size = " − " if times < 0 else " + ", number(abs(times), 4)
    if not name:
        return f"{sign}{size}"
    return f"{sign}{name}" if size == "1" else f"{sign}{size} × {name}"
