"""Does a new table have the columns of the table that a model was fitted on?"""

from collections.abc import Mapping, Sequence

from ..exceptions import TableError
from .suggestions import did_you_mean
from .table import Table


def check_columns(needed: Sequence[str], table: Table, ignored: Sequence[str] = ()) -> list[str]:
    """Raise ``TableError`` where columns are missing; return notes on extra and reordered ones.

    ``ignored``: columns that the table of the fit had and the model does not use.
    """
    there = [c.name for c in table.columns]
    missing = [name for name in needed if name not in there]
    extra = [name for name in there if name not in needed and name not in ignored]
    if missing:
        raise TableError(_mismatch(table.report.source, missing, extra))
    notes = []
    if extra:
        notes.append(f"columns that the model does not know are ignored: {_listed(extra)}")
    if [name for name in there if name in needed] != list(needed):
        notes.append("columns stand in another order than in the fit: they are taken by name")
    return notes


def _mismatch(source: str, missing: Sequence[str], extra: Sequence[str]) -> str:
    lines = [f"{source} lacks {_listed(missing)}"]
    meant = {name: did_you_mean(name, extra) for name in missing}
    renamed = [f"'{name}' may be '{close}'" for name, close in meant.items() if close]
    if extra:
        lines.append(f"it has {_listed(extra)} besides")
    if renamed:
        lines.append(", ".join(renamed))
    return "; ".join(lines) + ". Give the columns that the model was fitted on"


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def roles_of(schema: object) -> Mapping[str, str]:
    """Roles by name, of the schema that a model file keeps."""
    columns = schema.get("columns", []) if isinstance(schema, dict) else []
    return {c["name"]: c["role"] for c in columns if isinstance(c, dict) and "name" in c}
