"""What the user requested of a report."""

from dataclasses import dataclass

TASKS = ("auto", "two-classes", "classes", "ordered", "numbers")


@dataclass(frozen=True)
class Settings:
    """The options of ``certus report`` and ``certus.report``; None: decided from the table."""

    target: str | None = None  # None with ``cluster``
    cluster: bool = False  # structure only
    task: str = "auto"  # one of TASKS
    positive: str | None = None
    drop: tuple[str, ...] = ()
    id: str | None = None  # a column that names rows; not used by models
    weights: str | None = None
    group: str | None = None  # rows of a group stay in one fold
    time: str | None = None  # folds are consecutive in time
    by: tuple[str, ...] = ()  # columns of subgroups
    order: tuple[str, ...] = ()  # classes from low to high, for ordered classes
    cost_false_positive: float | None = None
    cost_false_negative: float | None = None
    models: tuple[str, ...] = ()  # keys of candidates; () for all that suit
    threads: int | None = None
    budget: float | None = None  # seconds
    seed: int = 0
    show_rows: bool = False
    confidence: float = 0.95
