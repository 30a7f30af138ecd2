"""Texts for penalised regression."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...text.format import best_possible, listed, name_of, number, small
from ..facts import Repeat
from .optimum import (
    OptimumWording,
    bound_row,
    by_proof,
    coefficients_row,
    gap_row,
    infeasible_rows,
    objective_row,
    optimum_finding,
)
from .stopping import longer, too_high, what_is_left
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

STATIONARY_POINT = "a stationary point: no small change of the coefficients lowers the objective"


class PenalizedWording(OptimumWording):
    def certified(self, c: "Certificate") -> Lines:
        if c.bound is None:
            rows = [("Stationary", _largest_slope(c)), ("Not known", _unknown(c))]
            return [*objective_row(c), *rows]
        best = f"; the best possible is {best_possible(c.bound)}{by_proof(c)}"
        return objective_row(c, best) + gap_row(c, what_is_left(c)) + coefficients_row(c)

    def best_known(self, c: "Certificate") -> str:
        return super().best_known(c) if c.bound else self.describe_slope(c)

    def stationary(self, c: "Certificate") -> str:
        if not optimum_finding(c).convex:
            return f"{STATIONARY_POINT}; nothing is known of a global optimum"
        slope = _largest_slope(c)
        return f"no small change of the coefficients lowers it ({slope}); no bound is known"

    def failure_rows(self, c: "Certificate") -> Lines:
        if optimum_finding(c).infeasible:
            return infeasible_rows(c)
        rows = objective_row(c)
        if optimum_finding(c).unproven is not None:
            gain = number(optimum_finding(c).step_gain, 2)
            text = f"one step lowers the objective by {gain} of {what_is_left(c)}"
            text = "nothing that one step shows" if c.status == "not proven" else text
            return [
                *rows, ("Best possible", best_possible(c.bound)), ("What is wrong", text),
                ("Why no more", str(optimum_finding(c).unproven)),
                ("What to do", self.remedy_for_proof(c)),
            ]  # fmt: skip
        if c.bound is not None:
            rows += bound_row(c)
        wrong = too_high(c) if c.bound is not None else self.describe_slope(c)
        rows.append(("What is wrong", wrong))
        return [*rows, *cause_and_remedy(self.likely_cause(c), _remedy(c))]

    def remedy_for_proof(self, c: "Certificate") -> str:
        """Remedy where rounding hides the slope, or many columns have no L1 penalty."""
        return "standardise the columns" if c.bound is None else super().remedy_for_proof(c)


def _largest_slope(c: "Certificate") -> str:
    return f"no slope is more than {small(c.residual)} of the largest there can be"


def _unknown(c: "Certificate") -> str:
    if optimum_finding(c).convex:
        return "a bound on the best possible"
    return (
        "whether another point is better: this is a stationary point, no small change of the "
        "coefficients lowers the objective, and nothing is known of a global optimum"
    )


def not_unique(repeats: Sequence[Repeat], names: Sequence[str] | None) -> str:
    """The coefficients are not unique: column 'b' repeats 'a'; predictions are unaffected."""
    parts = []
    for one in repeats:
        others = [name_of(i, names) for i in one.of]
        relation = "repeats" if len(others) == 1 else "is a combination of"
        parts.append(f"{name_of(one.column, names)} {relation} {listed(others, 3)}")
    return f"the coefficients are not unique: {listed(parts, 3)}; predictions are unaffected"


def _remedy(c: "Certificate") -> str:
    if optimum_finding(c).ours:
        return "raise max_iter"
    steps, name = longer(optimum_finding(c).iteration), c.model.rsplit(".", 1)[-1]
    if optimum_finding(c).iteration.stochastic:
        steps = ["standardise first and take average=True and more epochs"]
    elif name == "HuberRegressor":  # certus has no such class
        return ", ".join(steps) or "standardise first"
    return ", or ".join([*filter(None, [", ".join(steps)]), f"use {_replacement(c, name)}"])


def _replacement(c: "Certificate", name: str) -> str:
    """The certus class that minimises the same objective."""
    loss, penalty = c.parameters["loss"], c.parameters["penalty"]
    if name == "SGDRegressor":
        squared = isinstance(loss, dict) and loss["name"] == "squared"
        of_squares = squared and penalty["l1"] + penalty["l2"] > 0
        name = "ElasticNet" if of_squares else "PenalizedRegressor"
    return f"certus.linear_model.{name.replace('Lars', '').replace('IC', 'CV')}"
