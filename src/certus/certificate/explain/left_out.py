"""What a certificate says of directions that it leaves out.

A proof finds them (``proofs.linalg.negligible_directions``). The claim then holds among models that
do not use them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...text.format import name_of, number
from ..facts import LeftOut
from ..findings import OptimumFinding

if TYPE_CHECKING:
    from ..certificate import Certificate

MOST_TERMS = 5  # of a direction that is written out
MOST_DIRECTIONS = 3


def among(c: "Certificate") -> str:
    """among models that do not use 'total' − 'price' − 'tax'; nothing where none is left out."""
    left_out = _left_out(c)
    if not left_out:
        return ""
    return f" among models that do not use {_directions(left_out, c.feature_names)}"


def left_out_rows(c: "Certificate") -> list[tuple[str, str]]:
    """The line of ``explain`` that says why."""
    left_out = _left_out(c)
    if not left_out:
        return []
    it = "it" if len(left_out) == 1 else "them"
    said = f"one rounding of the columns could have made all that the rows show of {it}"
    return [("Left out", f"{_directions(left_out, c.feature_names)}: {said}")]


def _left_out(c: "Certificate") -> tuple[LeftOut, ...]:
    return c._finding.left_out if isinstance(c._finding, OptimumFinding) else ()


def _directions(left_out: Sequence[LeftOut], names: Sequence[str] | None) -> str:
    told = [_direction(one, names) for one in left_out[:MOST_DIRECTIONS]]
    more = len(left_out) - len(told)
    if more:
        return f"{', '.join(told)} or {more} more such combinations"
    return " or ".join([*filter(None, [", ".join(told[:-1])]), told[-1]])


def _direction(one: LeftOut, names: Sequence[str] | None) -> str:
    """'total' − 'price' − 'tax': what is added first."""
    terms, constant = list(zip(one.times, one.columns, strict=True)), one.constant
    if sum(c > 0 for c, _ in terms) == 0:
        terms, constant = [(-c, j) for c, j in terms], -constant
    terms.sort(key=lambda term: term[0] < 0)
    if len(terms) > MOST_TERMS:
        shown = ", ".join(name_of(j, names) for _, j in terms[: MOST_TERMS - 1])
        return f"a combination of {shown} and {len(terms) - MOST_TERMS + 1} more columns"
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
