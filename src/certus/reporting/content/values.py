"""The small parts that sections are composed of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """An interval at a confidence level."""

    low: float
    high: float
    level: float = 0.95


@dataclass(frozen=True)
class MeasureEstimate:
    """A measure with its interval, the number of rows behind it and what guessing would give."""

    name: str  # "AUC", "R²", "sensitivity"
    value: float
    n: int
    interval: Interval | None = None
    baseline: float | None = None
    text: str = ""  # the measure in a sentence, for a reader who does not know its name


@dataclass(frozen=True)
class TableColumn:
    """The head of one column of a table, and how its cells are written."""

    name: str
    kind: str = "number"  # "text", "number", "count", "share" (shown in %), "p" (a p-value)


@dataclass(frozen=True)
class ReportTable:
    """A table: the cells of a row in the order of the columns, None where there is no value."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[str | float | int | None, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """The collapsed "What is this?" of a section: two sentences, a formula, who defines it."""

    sentences: str
    formula: str = ""  # MathML without a namespace, or ""
    definition: str = ""  # a module, such as "certus.definitions.logistic"


@dataclass(frozen=True)
class Note:
    """A remark with its weight: "info" or "warning"."""

    text: str
    level: str = "info"
