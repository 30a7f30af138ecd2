"""The work that is planned: candidates, their cost, and what ``--budget`` leaves out.

The cost of a candidate is computed from counts of rows and columns, never measured, so that the
same table gives the same page on every machine.
"""

from dataclasses import dataclass

from ...exceptions import UsageError
from ..prepared import Prepared
from ..settings import Settings
from .candidates import candidates_for, name_of
from .candidates.base import CandidateModel
from .choose import N_INNER_FOLDS
from .reference import reference_cost

MIN_CORES = 2  # that the budget is planned for
UNITS_PER_SECOND = 1000


@dataclass(frozen=True)
class Plan:
    """What is compared, and the cost of one inner fold of each."""

    candidates: tuple[CandidateModel, ...]
    costs: dict[str, float]  # seconds on one core for one inner fold, by key
    reference: float  # seconds of one fit
    cut: tuple[str, ...]

    @property
    def refit_units(self) -> int:
        """The work of the task of all rows, in units of progress."""
        return units_of(sum(self.costs[c.key] for c in self.candidates) * N_INNER_FOLDS)

    @property
    def outer_units(self) -> int:
        """The work of the task of an outer fold, in units of progress."""
        return self.refit_units + units_of(self.reference)

    def units(self, n_outer: int) -> int:
        """All the work, in units of progress."""
        return self.refit_units + n_outer * self.outer_units


def plan_for(prepared: Prepared, settings: Settings, n_outer: int) -> Plan:
    """The candidates within the budget; the most expensive are dropped first."""
    candidates = candidates_for(prepared, settings)
    m = sum(_width(column) for column in prepared.columns)
    K = 1 if prepared.task in ("numbers", "two classes") else len(prepared.classes)
    costs = {c.key: _cost(c, prepared.n, m, K) for c in candidates}
    reference = reference_cost(prepared.n, len(prepared.columns), K)
    cut = []
    if settings.budget is not None:
        if settings.budget <= 0:
            raise UsageError("the budget must be a time above 0, such as 5m")
        while len(candidates) > 1 and _seconds(costs, reference, n_outer) > settings.budget:
            dearest = max(candidates[1:], key=lambda c: costs[c.key])
            candidates.remove(dearest)
            cost = costs.pop(dearest.key)
            cut.append(
                f"{name_of(dearest, prepared)} was left out: with it the work would not fit into "
                f"the budget of {settings.budget:.0f} s (about "
                f"{cost * N_INNER_FOLDS * (n_outer + 1) / MIN_CORES:.0f} s for this model)"
            )
    return Plan(tuple(candidates), costs, reference, tuple(cut))


def _cost(candidate: CandidateModel, n: int, m: int, K: int) -> float:
    given = n if candidate.most_rows is None else min(n, candidate.most_rows)
    return candidate.cost(given, m, K)


def _seconds(costs: dict[str, float], reference: float, n_outer: int) -> float:
    work = sum(costs.values()) * N_INNER_FOLDS * (n_outer + 1) + reference * n_outer
    return work / MIN_CORES


def _width(column: object) -> int:
    """Encoded columns of a column."""
    role, n_distinct = column.role, column.n_distinct  # type: ignore[attr-defined]
    return 1 if role == "number" else max(1, n_distinct)


def units_of(seconds: float) -> int:
    """Units of progress of so much work."""
    return max(1, round(seconds * UNITS_PER_SECOND))
