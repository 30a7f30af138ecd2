"""The whole report as one document."""

from dataclasses import dataclass

from .answer import Ceiling, Certificates, Headroom, ModelComparison, Question, Verdict
from .data import Problems, Structure, Subgroups, TableOne, Unchecked
from .model import Cases, WhatIf, WhatItUses
from .performance import Calibration, Measures
from .values import Explanation, Note

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Reproduction:
    """Section 13: a snippet that gives the verdict's number, and how to recheck the page."""

    snippet: str  # Python; prints the verdict's number
    value: float | None  # what it prints, rounded as the verdict's
    recheck: str  # "certus verify model.certus data.csv"
    script: str | None  # "check.py", or None with the reason in ``script_reason``
    script_reason: str
    versions: tuple[tuple[str, str], ...]  # packages


@dataclass(frozen=True)
class CrosswalkItem:
    """An item of TRIPOD+AI: the section that answers it, or that the author has to."""

    item: str  # "5a"
    topic: str
    answer: str  # "Section 9", or "You must write this."
    section: str | None  # id of the section


@dataclass(frozen=True)
class Change:
    """A difference from an earlier report."""

    what: str  # "rows", "columns", "verdict", "coefficient of age"
    before: str
    after: str
    text: str = ""


@dataclass(frozen=True)
class Against:
    """What changed since an earlier report or model file."""

    source: str
    text: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class ReportContent:
    """Everything that the pages show. None: the section is left out, and ``unchecked`` says why."""

    title: str
    certus_version: str
    question: Question
    verdict: Verdict
    comparison: ModelComparison | None
    certificates: Certificates
    headroom: Headroom | None
    measures: Measures | None
    calibration: Calibration | None
    uses: WhatItUses | None
    what_if: WhatIf | None
    ceiling: Ceiling | None
    structure: Structure | None
    cases: Cases | None
    table_one: TableOne | None
    problems: Problems
    subgroups: tuple[Subgroups, ...]
    unchecked: tuple[Unchecked, ...]
    reproduction: Reproduction
    crosswalk: tuple[CrosswalkItem, ...] = ()
    against: Against | None = None
    # by section id: verdict, certificates, measures, calibration, uses, ceiling, structure, cases,
    # table-one, problems, subgroups, unchecked, reproduce, headroom, what-if, comparison
    explanations: tuple[tuple[str, Explanation], ...] = ()
    notes: tuple[Note, ...] = ()  # on the whole page: --budget cut the work, Ctrl-C
    unfinished: bool = False  # stopped by Ctrl-C
    schema_version: int = SCHEMA_VERSION
