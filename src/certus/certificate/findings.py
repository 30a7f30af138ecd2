"""What a proof found out about one fitted model, by kind of claim.

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
    LeftOut,
    Move,
    PenalizedFacts,
    Restarts,
    SquaresFacts,
)

if TYPE_CHECKING:
    from .certificate import Certificate

# --- findings -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Finding:
    """What every proof finds, and what was known of the fit."""

    kind: ClassVar[str]

    objective: float
    bound: float | None
    gap: float
    residual: float
    contradictions: tuple[str, ...] = ()  # attributes and answers that the data do not bear out
    unproven: str | None = None  # why neither the claim nor its opposite could be shown
    ours: bool = True  # a model of certus
    iteration: Iteration = field(default_factory=Iteration)
    stopped: str | None = None  # by whom and when

    @property
    def maximised(self) -> bool:
        """Is a larger objective the better one?"""
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
    left_out: tuple[LeftOut, ...] = ()
    facts: Facts | None = None

    @property
    def is_separated(self) -> bool:
        """Is it proven that the classes are separated, so that there is no finite optimum?"""
        return isinstance(self.facts, ClassFacts) and self.facts.separated is not None


class GlobalFinding(OptimumFinding):
    """The bound holds for every choice of parameters."""

    kind = "global"


class StationaryFinding(OptimumFinding):
    """No small step is better; no bound is known."""

    kind = "stationary"


@dataclass(frozen=True, eq=False, kw_only=True)
class UndefinedFinding(StationaryFinding):
    """No proof was made; what is known is the solver's own."""

    larger_is_better: bool = False

    @property
    def maximised(self) -> bool:
        return self.larger_is_better


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalFinding(Finding):
    """No step of the algorithm is better."""

    kind: ClassVar[str] = "local"

    gain: float = float("nan")  # of one more step
    at_least: bool = False  # the step may gain more
    restarts: Restarts | None = None
    far: float = 0.0  # distance from the origin, in units of the spread

    @property
    def is_degenerate(self) -> bool:
        """Is the optimum one of a smaller problem than was asked for?"""
        return False


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterFinding(LocalFinding):
    """k-means."""

    clusters: int
    effective: int  # clusters that have rows
    by_tree: bool  # labels are not claimed to be those of the nearest centres
    movable: int  # rows whose move lowers the objective
    labels_cost: float  # share of the objective, of labels that rounding changed
    ties: np.ndarray  # rows with several nearest centres, and their labels
    degenerate: int | None = None  # distinct rows, where they are fewer than clusters
    rose: float = 0.0
    move: Move | None = None
    moves_at_most: float | None = None  # share that a single row's move gains; None: not tested
    untested: int = 0
    unrounded: float = 0.0  # share that means of more digits than are stored would gain
    spectral: float | None = None
    no_bound: str | None = None

    @property
    def is_degenerate(self) -> bool:
        return self.degenerate is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class MixtureFinding(LocalFinding):
    """Mixtures, fitted by EM."""

    components: int
    ascent: bool  # no step of EM lowers the objective
    weight: float = float("nan")  # Σ s
    likelihood: float = float("nan")
    degenerate: tuple[Collapse, ...] = ()
    conditions: np.ndarray | None = None  # of the covariances
    single: bool = False  # computed in single precision
    objective_error: float = float("inf")  # by which rounding can have changed the objective
    rounding: float = 0.0  # … the gain of a step, a unit of weight
    seems: float = float("nan")  # that gain, as computed

    @property
    def maximised(self) -> bool:
        return True

    @property
    def is_degenerate(self) -> bool:
        return bool(self.degenerate)


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionFinding(LocalFinding):
    """NCFS: weights of columns."""

    unit: float  # of slopes
    penalised: bool
    worst: int  # the column that violates its condition most
    slope: float
    weight: float
    kink: bool
    used: int  # columns with weight
    constant: int  # columns that never change
    score: LeaveOneOut

    @property
    def maximised(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactFinding(Finding):
    """Answers or merges that were recomputed."""

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
    heights: int  # that were recomputed
    inversions: tuple[int, ...] = ()
    top: float = 0.0  # the largest height
    equal_below: float = 0.0  # a difference of distances that counts as a tie


@dataclass(frozen=True, eq=False, kw_only=True)
class PageFinding(Finding):
    """What a page of ``certus.definitions`` found."""

    kind: ClassVar[str] = "page"

    claim_name: str  # of the registry
    claim: str  # "global optimum", "stationary", "local optimum", "exact", "no finite optimum"
    holds: bool
    larger_is_better: bool = False

    @property
    def maximised(self) -> bool:
        return self.larger_is_better


# --- reading --------------------------------------------------------------------------------------

F = TypeVar("F", bound=Finding)
P = TypeVar("P", SquaresFacts, PenalizedFacts, ClassFacts, FirthFacts, KernelFacts)


def finding_of(certificate: "Certificate", kind: type[F]) -> F:
    """The finding of a certificate that is known to be of this kind."""
    finding = certificate._finding
    if not isinstance(finding, kind):
        raise TypeError(f"the certificate of a {certificate.model} has no {kind.__name__}")
    return finding


def facts_of(certificate: "Certificate", family: type[P]) -> P:
    """The facts of a certificate that is known to be of this family."""
    facts = finding_of(certificate, OptimumFinding).facts
    if not isinstance(facts, family):
        raise TypeError(f"the certificate of a {certificate.model} has no {family.__name__}")
    return facts
