"""Typed results of a proof about one fitted model, by kind of claim.

    global      no parameters are better by more than the gap
    stationary  no small step is better; no bound is known
    local       no step of the algorithm is better (clusters, mixtures, weights of columns)
    exact       every sampled answer or merge was recomputed

``check_results.py`` makes them from what a proof returns; nothing else does.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from .facts import (
    ClassFacts,
    Collapse,
    Facts,
    FirthFacts,
    Iteration,
    KernelFacts,
    LeaveOneOut,
    LeftOutDirection,
    PenalizedFacts,
    RestartSummary,
    RowMove,
    SquaresFacts,
)

if TYPE_CHECKING:
    from .certificate import Certificate

# --- findings -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Finding:
    """The part of a result that all proofs share, and how the fit ended."""

    kind: ClassVar[str]

    objective: float
    bound: float | None
    gap: float
    residual: float
    contradictions: tuple[str, ...] = ()  # attributes and answers that disagree with the data
    unproven: str | None = None  # why neither the claim nor its opposite could be shown
    ours: bool = True  # a model of certus
    iteration: Iteration = field(default_factory=Iteration)
    stopped: str | None = None  # by whom and when

    @property
    def maximized(self) -> bool:
        """Whether a larger objective is better."""
        return False


@dataclass(frozen=True, eq=False, kw_only=True)
class OptimumFinding(Finding):
    """Models with coefficients, which minimise something."""

    null_objective: float  # f₀, of which the residual is a share
    null_allowed: bool = True  # is w = 0 allowed?
    proof: str = ""
    infeasible: str | None = None
    convex: bool = True  # False: no optimum is claimed
    coef_error: float | None = None
    coef_share: float | None = None  # coef_error as a share of ‖w‖
    step_gain: float = 0.0  # what one step gains, as a share of f₀, where nothing is proven
    left_out: tuple[LeftOutDirection, ...] = ()
    facts: Facts | None = None

    @property
    def is_separated(self) -> bool:
        """Whether the classes are proven to be separated, so that there is no finite optimum."""
        return isinstance(self.facts, ClassFacts) and self.facts.separated is not None


class GlobalFinding(OptimumFinding):
    """The bound holds for every choice of parameters."""

    kind = "global"


class StationaryFinding(OptimumFinding):
    """No small step is better; no bound is known."""

    kind = "stationary"


@dataclass(frozen=True, eq=False, kw_only=True)
class UndefinedFinding(StationaryFinding):
    """No proof was made; the objective is the solver's own value."""

    larger_is_better: bool = False

    @property
    def maximized(self) -> bool:
        return self.larger_is_better


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalFinding(Finding):
    """No step of the algorithm is better."""

    kind: ClassVar[str] = "local"

    gain: float = float("nan")  # of one more step
    at_least: bool = False  # ``gain`` is a lower bound
    restarts: RestartSummary | None = None
    far: float = 0.0  # distance from the origin, in units of the spread of the rows

    @property
    def is_degenerate(self) -> bool:
        """Whether the optimum is that of a smaller problem than was requested."""
        return False


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterFinding(LocalFinding):
    """k-means."""

    clusters: int
    effective: int  # clusters that have rows
    by_tree: bool  # labels are not claimed to be those of the nearest centres
    movable: int  # rows whose move lowers the objective
    labels_cost: float  # share of the objective that is due to labels changed by rounding
    ties: np.ndarray  # rows with several nearest centres, and their labels
    degenerate: int | None = None  # distinct rows, where they are fewer than clusters
    rose: float = 0.0  # by which the objective rose during the fit, as the solver reports it
    move: RowMove | None = None
    moves_at_most: float | None = None  # largest gain of a single row's move; None: not tested
    untested: int = 0  # rows with nearly all weight of their cluster
    unrounded: float = 0.0  # share that means with more digits than are stored would gain
    spectral: float | None = None  # lower bound from the eigenvalues
    no_bound: str | None = None  # why there is none

    @property
    def is_degenerate(self) -> bool:
        return self.degenerate is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class MixtureFinding(LocalFinding):
    """Mixtures, fitted by EM."""

    components: int
    ascent: bool  # is it a theorem that no EM step lowers the objective?
    weight: float = float("nan")  # Σ s
    likelihood: float = float("nan")
    degenerate: tuple[Collapse, ...] = ()
    conditions: np.ndarray | None = None  # of the covariances
    single: bool = False  # computed in single precision
    objective_error: float = float("inf")  # bound on the rounding error of the objective
    rounding: float = 0.0  # bound on the rounding error of a step's gain, per unit of weight
    seems: float = float("nan")  # that gain, as computed

    @property
    def maximized(self) -> bool:
        return True

    @property
    def is_degenerate(self) -> bool:
        return bool(self.degenerate)


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionFinding(LocalFinding):
    """NCFS: weights of columns."""

    unit: float  # in which slopes are measured
    penalized: bool
    worst: int  # the column that violates its condition most
    slope: float  # of that column
    weight: float  # of that column
    kink: bool  # the objective has a kink at this column's weight 0
    used: int  # columns with weight
    constant: int  # columns that do not vary
    score: LeaveOneOut
    batches: int | None  # in which rows are compared; None: all with each other
    selected: tuple[int, str] | None = None  # columns of ``support_``, and by which parameter

    @property
    def maximized(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactFinding(Finding):
    """Answers or merges, recomputed one by one."""

    kind: ClassVar[str] = "exact"

    far: float = 0.0  # distance from the origin, in units of the spread


@dataclass(frozen=True, eq=False, kw_only=True)
class NeighborFinding(ExactFinding):
    """Nearest neighbours."""

    answers: int  # distances that were recomputed


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeFinding(ExactFinding):
    """Trees of clusters."""

    merges: int
    sampled: int
    heights: int  # merge heights that were recomputed
    inversions: tuple[int, ...] = ()  # merges below one that they join
    top: float = 0.0  # the largest height
    equal_below: float = 0.0  # a difference of distances that counts as a tie


@dataclass(frozen=True, eq=False, kw_only=True)
class SpanningTreeFinding(TreeFinding):
    """A minimum spanning tree."""

    length: float  # of all its steps
    excess: float  # by which a spanning tree that is known is shorter
    ties: int  # merges of rows that touch only through others of the same height


@dataclass(frozen=True, eq=False, kw_only=True)
class PageFinding(Finding):
    """The result of a page of ``certus.definitions``."""

    kind: ClassVar[str] = "page"

    claim_name: str  # of the registry
    claim: str  # "global optimum", "stationary", "local optimum", "exact", "no finite optimum"
    holds: bool
    larger_is_better: bool = False

    @property
    def maximized(self) -> bool:
        return self.larger_is_better


# --- reading --------------------------------------------------------------------------------------

F = TypeVar("F", bound=Finding)
P = TypeVar("P", SquaresFacts, PenalizedFacts, ClassFacts, FirthFacts, KernelFacts)


def finding_of(certificate: "Certificate", kind: type[F]) -> F:
    """Return the finding of a certificate, which must be of this kind."""
    finding = certificate._finding
    if not isinstance(finding, kind):
        raise TypeError(f"the certificate of a {certificate.model} has no {kind.__name__}")
    return finding


def facts_of(certificate: "Certificate", family: type[P]) -> P:
    """Return the facts of a certificate, which must be of this family."""
    facts = finding_of(certificate, OptimumFinding).facts
    if not isinstance(facts, family):
        raise TypeError(f"the certificate of a {certificate.model} has no {family.__name__}")
    return facts
