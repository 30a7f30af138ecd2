"""Typed parts of findings: facts about a column, a row, a cluster, or one family of models."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

# --- parts ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Iteration:
    """How the fit ended, as far as the model records it."""

    max_iter: int | None = None  # set if it was reached
    tol: float | None = None
    slope_tol: float | None = None  # slope per row at which the solver ends; None: by another rule
    stochastic: bool = False
    one_solver: bool = False  # there is no other solver to recommend
    aims: str | None = None  # what the solver aims at, if not at an optimum


@dataclass(frozen=True)
class LeftOutDirection:
    """The direction Σ times·column + constant, which the claim leaves out."""

    columns: tuple[int, ...]
    times: tuple[float, ...]
    constant: float = 0.0


@dataclass(frozen=True)
class Repeat:
    """A column that equals a combination of others."""

    column: int
    of: tuple[int, ...]
    times: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ColumnSpread:
    """Mean and standard deviation of each column, from a few rows."""

    mean: np.ndarray
    spread: np.ndarray


@dataclass(frozen=True)
class RestartSummary:
    """Number of starts that ended at the best objective, and the distance of the worst."""

    agreeing: int
    starts: int
    spread: float


@dataclass(frozen=True)
class RowMove:
    """A row whose move to another cluster lowers the objective."""

    gain: float
    row: int
    source: int
    target: int


@dataclass(frozen=True)
class Collapse:
    """A mixture component without a spread of its own."""

    component: int | None  # None: one covariance for all
    whole: bool  # in every direction
    rows: int
    row: int | None  # the first of its rows


class LeaveOneOut(Protocol):
    """Leave-one-out score: each row predicted from the others."""

    @property
    def value(self) -> float | None: ...  # None: the targets do not vary

    @property
    def kind(self) -> str: ...


# --- separation of classes ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SeparationProof:
    """A direction (u, c) along which no row lies on the wrong side."""

    direction: tuple[np.ndarray, np.ndarray]
    kind: str = ""  # "complete" or "quasi-complete"
    rows: int = 0  # with a margin above 0
    ordered: bool = False  # it puts all rows in the order of their classes


@dataclass(frozen=True)
class SeparatingColumn:
    """A column that separates a class from the others."""

    column: int
    threshold: float
    class_index: int  # of every row on the side
    side: str = ">"
    rows: int | None = None  # on the side
    other: int | None = None  # the class of every other row; None: several
    other_rows: int | None = None


@dataclass(frozen=True)
class Combination:
    """A combination of columns separates the classes. Without columns: which ones is not known."""

    columns: tuple[int, ...] = ()
    classes: tuple[int, int] | None = None
    rows: tuple[int, int] | None = None


@dataclass(frozen=True)
class Ordering:
    """A combination of columns puts all rows in the order of their classes."""

    columns: tuple[int, ...]
    rises: bool  # the first column, with the classes


@dataclass(frozen=True)
class Falling:
    """Columns along which only counts of 0 change their means, which fall without limit."""

    columns: tuple[int, ...]  # none: every count is 0, and the intercept falls
    rows: int  # with count 0, whose means fall
    threshold: float | None = None  # of a single column, in every row with a count above 0
    side: str | None = None  # of the threshold, on which these rows are
    level: float | None = None  # the single column in all of these rows; None: it varies


Separation = SeparatingColumn | Combination | Ordering | Falling

# --- facts of one family of models with coefficients ----------------------------------------------


@dataclass(frozen=True, eq=False)
class SquaresFacts:
    """Least squares and ridge."""

    rank: int | None = None
    claimed_rank: int | None = None
    condition: float | None = None
    singular: np.ndarray | None = None  # singular values
    norm: np.ndarray | None = None  # of the columns
    best_w: np.ndarray | None = None
    loo_score: float | None = None


@dataclass(frozen=True, eq=False)
class PenalizedFacts:
    """Penalised regression."""

    not_unique: tuple[Repeat, ...] = ()


@dataclass(frozen=True, eq=False)
class ClassFacts:
    """Linear classifiers."""

    share: np.ndarray | None = None  # of the rows' weight, a class each
    mean_probability: np.ndarray | None = None
    separated: SeparationProof | None = None
    separation: Separation | None = None  # the proof in terms of columns
    columns: ColumnSpread | None = None  # set where the claim does not hold
    support: int | None = None  # number of support vectors


@dataclass(frozen=True, eq=False)
class CountFacts(ClassFacts):
    """Poisson and Gamma regression; ``separated``: a direction along which means of 0 fall."""


@dataclass(frozen=True, eq=False)
class FirthFacts(ClassFacts):
    """Firth's logistic regression."""

    gain: float = float("inf")  # of one more scoring step
    log_likelihood: float = float("nan")
    log_det: float = float("nan")  # of the information
    rank: int = 0
    objective_error: float = float("inf")  # bound on the rounding error of the objective


@dataclass(frozen=True, eq=False)
class KernelFacts:
    """Kernel machines."""

    left_out_rows: int = 0  # rows of weight 0
    least_eigenvalue: float | None = None  # lower bound for those of the kernel matrix
    effective: float | None = None  # effective number of parameters
    loo: float | None = None  # leave-one-out score
    loo_kind: str | None = None
    support: int | None = None  # number of support vectors
    pair: tuple[int, int] | None = None  # of classes, with the largest gap


Facts = SquaresFacts | PenalizedFacts | ClassFacts | KernelFacts
