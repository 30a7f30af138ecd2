"""Does a new table have the columns of the table that a model was fitted on?"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..exceptions import TableError
from ..text.suggestions import did_you_mean
from .table import Table

BY_NAME = "take them by name (--by-name), whatever their order, and ignore the extra ones"


class Mismatch(NamedTuple):
    """Columns in which a table differs from the table of the fit."""

    missing: list[str]
    extra: list[str]
    reordered: list[str]  # as few as possible: without them the others stand in order


def mismatch(needed: Sequence[str], table: Table, ignored: Sequence[str] = ()) -> Mismatch:
    """Compare the columns of a table with those that a model needs, in their order.

    ``ignored``: columns that the table may have anywhere, and that the model does not use.
    """
    return _mismatch(needed, [c.name for c in table.columns], ignored)


def _mismatch(needed: Sequence[str], there: Sequence[str], ignored: Sequence[str]) -> Mismatch:
    wanted, known = set(needed), {*needed, *ignored}
    return Mismatch(
        [name for name in needed if name not in set(there)],
        [name for name in there if name not in known],
        _reordered(needed, [name for name in there if name in wanted]),
    )


def check_columns(
    needed: Sequence[str], table: Table, ignored: Sequence[str] = (), by_name: bool = False
) -> list[str]:
    """Raise ``TableError`` where columns are missing, extra or reordered.

    ``by_name``: only missing columns are refused; notes on the others are returned. ``ignored``:
    see ``mismatch``.
    """
    return check_names(
        needed, [c.name for c in table.columns], table.report.source, ignored, by_name
    )


def check_names(
    needed: Sequence[str],
    there: Sequence[str],
    source: str,
    ignored: Sequence[str] = (),
    by_name: bool = False,
) -> list[str]:
    """``check_columns`` by the names that a file has."""
    found = _mismatch(needed, there, ignored)
    if found.missing or (any(found) and not by_name):
        raise TableError(_refusal(source, found, by_name))
    notes = []
    if found.extra:
        notes.append(f"columns that the model does not know are ignored: {_listed(found.extra)}")
    if found.reordered:
        notes.append(
            "columns stand in another order than in the fit, and are taken by name: "
            f"{_listed(found.reordered)}"
        )
    return notes


def _refusal(source: str, found: Mismatch, by_name: bool) -> str:
    parts = [
        f"{what}: {_listed(names)}"
        for what, names in zip(("missing", "extra", "reordered"), found, strict=True)
        if names
    ]
    meant = {name: did_you_mean(name, found.extra) for name in found.missing}
    parts += [f"'{name}' may be '{close}'" for name, close in meant.items() if close]
    remedy = "give the columns of the fit in its order"
    if found.missing:
        remedy = "give the columns that are missing"
    if not by_name and (found.extra or found.reordered):
        remedy += f", and {BY_NAME}" if found.missing else f", or {BY_NAME}"
    differences = "; ".join(parts)
    return f"{source} does not have the columns of the fit. {differences}. What to do: {remedy}"


def _reordered(needed: Sequence[str], there: Sequence[str]) -> list[str]:
    """The fewest columns that must move: all but a longest increasing subsequence of places."""
    place = {name: i for i, name in enumerate(needed)}
    last: list[int] = []  # place at which the best subsequence of each length ends
    lengths = []
    for name in there:
        k = bisect_left(last, place[name])
        last[k : k + 1] = [place[name]]
        lengths.append(k + 1)
    length, moved = len(last), []
    for name, reached in zip(reversed(there), reversed(lengths), strict=True):
        if reached == length:
            length -= 1
        else:
            moved.append(name)
    return moved[::-1]


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def roles_of(schema: object) -> Mapping[str, str]:
    """Roles by name, of the schema that a model file keeps."""
    columns = schema.get("columns", []) if isinstance(schema, dict) else []
    return {c["name"]: c["role"] for c in columns if isinstance(c, dict) and "name" in c}
