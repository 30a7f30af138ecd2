"""The sections of the page: numbers and titles are fixed, so that texts can refer to them."""

from collections.abc import Callable
from dataclasses import dataclass

from ..content.document import ReportContent


@dataclass(frozen=True)
class SectionTitle:
    """A section as the contents lists it."""

    id: str
    number: int
    title: str
    present: bool


def _always(content: ReportContent) -> bool:
    return True


OUTLINE: tuple[tuple[str, str, Callable[[ReportContent], bool]], ...] = (
    ("verdict", "Verdict", _always),
    ("certificates", "Certificates", lambda c: bool(c.certificates.boxes)),
    ("measures", "Measures", lambda c: c.measures is not None),
    ("calibration", "Calibration", lambda c: c.calibration is not None),
    ("uses", "What it uses", lambda c: c.uses is not None or c.what_if is not None),
    ("ceiling", "How good any model could be", lambda c: c.ceiling is not None),
    ("structure", "Structure", lambda c: c.structure is not None),
    ("cases", "Explained cases", lambda c: c.cases is not None),
    ("table-one", "Columns by outcome", lambda c: c.table_one is not None),
    ("problems", "Data problems", _always),
    ("subgroups", "Subgroups and time", lambda c: bool(c.subgroups)),
    ("unchecked", "What was not checked", lambda c: bool(c.unchecked)),
    ("reproduce", "How to reproduce", _always),
)


def outline(content: ReportContent) -> tuple[SectionTitle, ...]:
    """Return the sections in order, also those that this report leaves out."""
    return tuple(
        SectionTitle(name, k + 1, title, present(content))
        for k, (name, title, present) in enumerate(OUTLINE)
    )


def problem_counts(content: ReportContent) -> str:
    """The problems by severity: "1 severe, 2 warnings"."""
    words = (
        ("severe", "severe", "severe"),
        ("warning", "warning", "warnings"),
        ("info", "remark", "remarks"),
    )
    found = [p.severity for p in content.problems.problems]
    parts = [
        f"{found.count(name)} {one if found.count(name) == 1 else many}"
        for name, one, many in words
        if name in found
    ]
    return ", ".join(parts)
