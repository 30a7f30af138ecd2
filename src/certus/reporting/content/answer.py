"""The first screen: what was asked, the verdict, how it was measured, the certificates."""

from dataclasses import dataclass

from .values import Interval, MeasureEstimate, Note, ReportTable


@dataclass(frozen=True)
class ClassCount:
    """A class of the target, and how many rows have it."""

    name: str
    n: int


@dataclass(frozen=True)
class Question:
    """What the report tries to predict, from what."""

    source: str  # the file's name without its folder
    target: str
    task: str  # "two classes", "classes", "ordered classes", "numbers", "structure"
    n_rows: int  # that were used
    n_columns: int  # that models may use, before categories are encoded
    classes: tuple[ClassCount, ...] = ()  # in the order of the model; rarest first for two
    positive: str | None = None  # two classes: the one whose probability is predicted
    positive_reason: str = ""  # "the rarer class" or "--positive"
    reading: tuple[str, ...] = ()  # how the table was read, a line each
    notes: tuple[Note, ...] = ()  # rows dropped and why, roles that were decided


@dataclass(frozen=True)
class Verdict:
    """The answer in words and numbers."""

    kind: str  # "yes", "no evidence", "too few rows", "suspiciously good", "structure"
    headline: str  # "Yes, moderately."
    text: str  # the sentences after the headline
    measure: MeasureEstimate | None  # of the whole procedure, on rows that it had not seen
    others: tuple[MeasureEstimate, ...] = ()  # typical error, Brier score …
    how: str = ""  # "5 outer folds; in each, 6 models were compared on 5 inner folds"


@dataclass(frozen=True)
class Candidate:
    """One model that was compared."""

    key: str  # "logistic"
    name: str  # "Logistic regression"
    parameters: str  # the chosen ones, in words: "k = 7"; "" if none were chosen
    measure: str  # name of the inner score, larger is better
    score: float | None  # mean on inner folds of all rows; None: it failed or was skipped
    standard_error: float | None
    outer_score: float | None  # of this model alone in the outer folds
    n_chosen: int  # in how many outer folds the rule chose it
    rank: int  # simplicity, 1 is simplest: the rule takes the simplest within one standard error
    chosen: bool
    n_rows: int  # rows it was given; fewer than all where it uses a sample
    note: str = ""  # why it was skipped, failed, or uses a sample


@dataclass(frozen=True)
class ModelComparison:
    """The models that were compared, and the rule that chose one."""

    candidates: tuple[Candidate, ...]
    baseline: float  # the score of guessing
    rule: str  # the one-standard-error rule in a sentence
    n_outer_folds: int
    n_inner_folds: int


@dataclass(frozen=True)
class CertificateBox:
    """The certificate of one fitted model, verified again from the definitions."""

    model: str  # "Logistic regression (the chosen model)"
    status: str  # "optimal"
    certified: bool
    line: str  # one line
    formula: str  # the objective as text
    mathml: str  # the objective as MathML, or ""
    lines: tuple[tuple[str, str], ...]  # explain(): label and text
    definition: str  # module of the page
    definition_lines: int | None  # of code to read


@dataclass(frozen=True)
class Headroom:
    """What a boosted tree reaches on the same outer folds: reference, not certified."""

    measure: str
    reference: MeasureEstimate
    chosen: MeasureEstimate
    difference: float  # reference − chosen, in the direction in which larger is better
    interval: Interval | None
    text: str


@dataclass(frozen=True)
class Certificates:
    """Section 2."""

    boxes: tuple[CertificateBox, ...]
    text: str


@dataclass(frozen=True)
class Ceiling:
    """Section 6: how good any model could be, by the Cover–Hart bracket."""

    lower: float
    upper: float
    n: int
    error: float  # of the procedure, or of the chosen model, on outer folds
    text: str
    table: ReportTable | None = None
