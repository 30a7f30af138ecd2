"""Sections 7 and 9 to 12: structure, Table 1, data problems, subgroups, what was not checked."""

from dataclasses import dataclass

from .values import MeasureEstimate, Note, ReportTable


@dataclass(frozen=True)
class DataProblem:
    """A problem of the data, with a stable code."""

    code: str  # "D-DUP"
    title: str  # "240 rows repeat others"
    severity: str  # "severe", "warning", "info"
    columns: tuple[str, ...]
    rows: tuple[int, ...]  # at most 20 row numbers as in the file, from 1
    n_rows: int  # how many there are
    reason: str  # why it matters
    fix: str  # what to do
    done: str = ""  # what the report did about it


@dataclass(frozen=True)
class Problems:
    """Section 10."""

    text: str
    problems: tuple[DataProblem, ...]
    checked: tuple[str, ...]  # codes that were looked for and not found


@dataclass(frozen=True)
class Merge:
    """A merge of a dendrogram that was cut to few leaves, as SciPy numbers its clusters."""

    left: int
    right: int
    height: float
    size: int


@dataclass(frozen=True)
class Dendrogram:
    """A tree of at most 40 leaves. A leaf is a column, or a group of rows."""

    title: str
    leaves: tuple[str, ...]
    sizes: tuple[int, ...]
    merges: tuple[Merge, ...]
    axis: str  # what a height is
    note: str = ""


@dataclass(frozen=True)
class Structure:
    """Section 7: clusters with evidence, or "none found"."""

    text: str
    rows: Dendrogram | None
    variables: Dendrogram | None
    evidence: ReportTable | None  # by number of clusters
    profiles: ReportTable | None  # of each cluster, in the table's own units
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class TableOne:
    """Section 9."""

    text: str
    table: ReportTable
    events_per_parameter: float | None
    missing: tuple[str, ...]  # how values were filled, inside which fold
    dropped: tuple[str, ...]  # rows and columns left out, and why


@dataclass(frozen=True)
class Subgroup:
    """The verdict's measure within one group of rows."""

    name: str
    estimate: MeasureEstimate
    note: str = ""  # "fewer than 20 rows: no estimate"


@dataclass(frozen=True)
class Subgroups:
    """Section 11: by a column, or over time."""

    column: str
    kind: str  # "group" or "time"
    text: str
    groups: tuple[Subgroup, ...]


@dataclass(frozen=True)
class Unchecked:
    """A check that was not made, or does not apply, and why."""

    check: str
    why: str
