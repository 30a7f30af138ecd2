"""Typed findings from the dictionaries that the ``check`` functions of proofs return.

Proofs are plain NumPy and return dictionaries. This is the only place that reads their keys. A
field of a finding has the name of its key, except where a function below says otherwise.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeVar

from ..audit import Reading
from .facts import (
    ClassFacts,
    Collapse,
    CountFacts,
    Facts,
    FirthFacts,
    Iteration,
    KernelFacts,
    LeftOutDirection,
    PenalizedFacts,
    Repeat,
    RestartSummary,
    RowMove,
    SeparationProof,
    SquaresFacts,
)
from .findings import (
    ClusterFinding,
    Finding,
    GlobalFinding,
    MixtureFinding,
    NeighborFinding,
    SelectionFinding,
    SpanningTreeFinding,
    StationaryFinding,
    TreeFinding,
)

if TYPE_CHECKING:
    from .registry import ClaimKind

Result = Mapping[str, object]  # of a proof's ``check``
Fit = Mapping[str, object]  # what is known of the fit: contradictions, ours, iteration
Make = Callable[[Result, Fit], Finding]

T = TypeVar("T")


def from_check(claim: "ClaimKind", result: Result, reading: Reading) -> Finding:
    """The finding of a claim whose proof returned ``result``."""
    fit = {
        "contradictions": (*reading.contradictions, *_tuple(result.get("wrong", ()))),
        "ours": reading.ours, "iteration": _make(Iteration, reading.iteration),
    }  # fmt: skip
    return claim.finding(result, fit)


@dataclass(frozen=True)
class CvChoice:
    """A penalty that was chosen by its leave-one-out error."""

    loo_score: float | None = None  # of the penalty that was chosen
    contradictions: tuple[str, ...] = ()

    @classmethod
    def from_check(cls, result: Result) -> "CvChoice":
        return _make(cls, result, contradictions=_tuple(result["wrong"]))


def _make(cls: Callable[..., T], result: object, **overrides: object) -> T:
    """An instance of a dataclass, from the entries that have the names of its fields."""
    assert isinstance(result, Mapping)
    names = [one.name for one in fields(cls) if one.name in result]  # type: ignore[arg-type]
    return cls(**{**{name: result[name] for name in names}, **overrides})


def _items(result: Result, name: str) -> list[Result]:
    value = result.get(name)
    return list(value) if isinstance(value, Iterable) else []


def _optional(cls: Callable[..., T], result: object) -> T | None:
    return _make(cls, result) if result else None


# --- models with coefficients ---------------------------------------------------------------------


def _optimum(result: Result, fit: Fit, facts: Facts) -> Finding:
    kind = StationaryFinding if result.get("kind") == "stationary" else GlobalFinding
    left_out = [
        _make(LeftOutDirection, one, columns=_whole(one["columns"]), times=_tuple(one["times"]))
        for one in _items(result, "left_out")
    ]
    return _make(
        kind, result, **fit, left_out=tuple(left_out), facts=facts,
        infeasible=result.get("infeasible") or None, step_gain=result.get("at_least", 0.0),
    )  # fmt: skip


def _tuple(values: object) -> tuple[object, ...]:
    assert isinstance(values, Iterable)
    return tuple(values)


def _whole(values: object) -> tuple[int, ...]:
    assert isinstance(values, Iterable)
    return tuple(int(value) for value in values)


def squares(result: Result, fit: Fit) -> Finding:
    return _optimum(result, fit, _make(SquaresFacts, result))


def penalized(result: Result, fit: Fit) -> Finding:
    repeats = [
        _make(Repeat, one, of=_whole(one["of"]), times=_tuple(one["times"]))
        for one in _items(result, "not_unique")
    ]
    return _optimum(result, fit, PenalizedFacts(tuple(repeats)))


def classes(result: Result, fit: Fit) -> Finding:
    separated = _optional(SeparationProof, result.get("separated"))
    return _optimum(result, fit, _make(ClassFacts, result, separated=separated))


def counts(result: Result, fit: Fit) -> Finding:
    falling = _optional(SeparationProof, result.get("falling"))
    return _optimum(result, fit, CountFacts(separated=falling))


def firth(result: Result, fit: Fit) -> Finding:
    return _optimum(result, fit, _make(FirthFacts, result))


def kernel_machine(result: Result, fit: Fit) -> Finding:
    return _optimum(result, fit, _make(KernelFacts, result))


# --- clusters, mixtures, weights of columns -------------------------------------------------------


def clusters(result: Result, fit: Fit) -> Finding:
    move, value = result.get("move"), None
    if isinstance(move, Mapping):
        value = _make(RowMove, move, source=move["from"], target=move["to"])
    return _make(ClusterFinding, result, **fit, move=value, restarts=_restarts(result))


def mixture(result: Result, fit: Fit) -> Finding:
    collapsed = tuple(_make(Collapse, one) for one in _items(result, "degenerate"))
    return _make(MixtureFinding, result, **fit, degenerate=collapsed, restarts=_restarts(result))


def _restarts(result: Result) -> RestartSummary | None:
    value = result.get("restarts")
    return RestartSummary(*value) if isinstance(value, tuple) else None


def ncfs(result: Result, fit: Fit) -> Finding:
    return _make(SelectionFinding, result, **fit)


# --- answers and trees ----------------------------------------------------------------------------


def neighbors(result: Result, fit: Fit) -> Finding:
    return _make(NeighborFinding, result, **fit)


def tree(result: Result, fit: Fit) -> Finding:
    return _make(TreeFinding, result, **fit, inversions=_whole(result["inversions"]))


def spanning_tree(result: Result, fit: Fit) -> Finding:
    return _make(SpanningTreeFinding, result, **fit, inversions=())
