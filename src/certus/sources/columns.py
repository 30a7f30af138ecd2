"""Which columns of a source are X, targets and weights, and what each of them holds.

    number      integers, floats, decimals, True and False      one column of X
    text        text, dictionaries                              a column of X for each category
    anything else (dates, lists, …) is refused, with what to do about it

All parts of a source have the same columns, of the same kinds.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..exceptions import TableError
from ..text.format import count, listed
from ..text.suggestions import unknown
from .parts import SourcePart

if TYPE_CHECKING:
    import pyarrow as pa

KINDS_IN_WORDS = {
    "float32": "numbers", "real": "numbers", "whole": "numbers", "truth": "True and False",
    "text": "text", "null": "nothing but missing values",
}  # fmt: skip
Names = str | Sequence[str] | None


class Columns(NamedTuple):
    """Columns by their roles, with what each holds."""

    features: tuple[str, ...]
    targets: tuple[str, ...]
    weights: str | None
    kinds: dict[str, str]

    @property
    def read(self) -> list[str]:
        """All columns that are read, in the order in which batches have them."""
        return [*self.features, *self.targets, *([self.weights] if self.weights else [])]


def kind_of(arrow_type: "pa.DataType") -> str | None:
    """Return "float32", "real", "whole", "truth", "text" or "null"; None for other types."""
    import pyarrow as pa

    types = pa.types
    if isinstance(arrow_type, pa.BaseExtensionType):
        return kind_of(arrow_type.storage_type)
    if types.is_null(arrow_type):
        return "null"
    if types.is_boolean(arrow_type):
        return "truth"
    if types.is_integer(arrow_type):
        return "whole"
    if types.is_float32(arrow_type):
        return "float32"
    if types.is_floating(arrow_type) or types.is_decimal(arrow_type):
        return "real"
    if types.is_dictionary(arrow_type):
        return "text" if kind_of(arrow_type.value_type) is not None else None
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "text"
    is_view = getattr(types, "is_string_view", None)
    return "text" if is_view is not None and is_view(arrow_type) else None


def chosen_columns(
    parts: Sequence[SourcePart], columns: Names, target: Names, weights: str | None
) -> Columns:
    """Return the columns by their roles; every part is compared with the first."""
    first = parts[0]
    there = first.schema.names
    _require_different(there, first.name)
    targets = _as_names(target, "target")
    if weights is not None and not isinstance(weights, str):
        raise TypeError(f"weights={weights!r}: give the name of a column")
    beside = {*targets, *([weights] if weights else [])}
    if columns is None:
        features: tuple[str, ...] = tuple(name for name in there if name not in beside)
    else:
        features = _as_names(columns, "columns")
        _require_apart(features, targets, weights)
    if weights is not None and weights in targets:
        raise ValueError(f"column '{weights}' cannot be both target and weights")
    for name in (*features, *beside):
        if name not in there:
            raise TableError(unknown("column", name, there, first.name))
    if not features:
        raise TableError(f"{first.name} has no columns left for X")
    read = [*features, *targets, *([weights] if weights else [])]
    for part in parts[1:]:
        _require_same_columns(part, first, read, whole=columns is None)
    return Columns(features, targets, weights, _kinds(parts, read))


def _as_names(names: object, option: str) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{option}={names!r}: give the name of a column, or a list of names")
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ValueError(f"{option} has '{twice[0]}' twice")
    if not names:
        raise ValueError(f"{option} is an empty list: give at least one name, or None")
    return tuple(names)


def _require_apart(features: Sequence[str], targets: Sequence[str], weights: str | None) -> None:
    for name in features:
        if name in targets or name == weights:
            role = "target" if name in targets else "weights"
            raise ValueError(
                f"column '{name}' is in columns and is {role} too: leave it out of columns"
            )


def _require_different(names: Sequence[str], where: str) -> None:
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if twice:
        raise TableError(
            f"{where} has columns of the same name: {listed([repr(n) for n in twice])}. Rename "
            "or drop them"
        )


def _require_same_columns(
    part: SourcePart, first: SourcePart, read: Sequence[str], whole: bool
) -> None:
    names = part.schema.names
    _require_different(names, part.name)
    for name in read:
        if name not in names:
            raise TableError(
                f"{unknown('column', name, names, part.name)} {first.name} has it: give files with "
                "the same columns, or leave this one out"
            )
    extra = [name for name in names if name not in first.schema.names]
    if whole and extra:
        raise TableError(
            f"{part.name} has {count(len(extra), 'column')} that {first.name} has not "
            f"({listed([repr(name) for name in extra])}): name the columns to read, columns=[…]"
        )


def _kinds(parts: Sequence[SourcePart], read: Sequence[str]) -> dict[str, str]:
    kinds: dict[str, str] = {}
    for name in read:
        found = [(part, _kind_in(part, name)) for part in parts]
        first = found[0][1]
        for part, kind in found:
            if KINDS_IN_WORDS[kind] != KINDS_IN_WORDS[first]:
                raise TableError(
                    f"column '{name}' holds {KINDS_IN_WORDS[kind]} in {part.name} "
                    f"({part.schema.field(name).type}), and {KINDS_IN_WORDS[first]} in "
                    f"{parts[0].name} ({parts[0].schema.field(name).type}): write the files with "
                    "the same types"
                )
        each = {kind for _, kind in found}
        kinds[name] = first if len(each) == 1 else "real"
    return kinds


def _kind_in(part: SourcePart, name: str) -> str:
    import pyarrow as pa

    arrow_type = part.schema.field(name).type
    kind = kind_of(arrow_type)
    if kind == "null":
        raise TableError(
            f"column '{name}' of {part.name} holds nothing but missing values: leave the file or "
            "the column out"
        )
    if kind is not None:
        return kind
    if pa.types.is_temporal(arrow_type):
        raise TableError(
            f"column '{name}' of {part.name} holds dates or times ({arrow_type}): make numbers of "
            "them first (days since a date, the month, the hour), or leave it out of columns=[…]"
        )
    raise TableError(
        f"column '{name}' of {part.name} holds {arrow_type}, which is neither numbers nor text: "
        "leave it out of columns=[…]"
    )
