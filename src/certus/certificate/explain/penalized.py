"""What certificates of penalised regression say.

For the words that all certificates share see ``certificate.py``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...text.format import best_possible, listed, name_of, number, small
from ..facts import Repeat
from .optimum import (
    OptimumWording,
    by_proof,
    coefficients_row,
    found,
    gap_row,
    infeasible_rows,
    objective_row,
)
from .stopping import longer, too_high, what_is_left
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

STATIONARY = "a stationary point: no small change of the coefficients lowers the objective"


class PenalizedWording(OptimumWording):
    def certified(self, c: "Certificate") -> Lines:
        if c.bound is None:
            rows = [("Stationary", _steepest(c)), ("Not known", _not_known(c))]
            return [*objective_row(c), *rows]
        best = f"; the best possible is {best_possible(c.bound)}{by_proof(c)}"
        return objective_row(c, best) + gap_row(c, what_is_left(c)) + coefficients_row(c)

    def best_known(self, c: "Certificate") -> str:
        return super().best_known(c) if c.bound else self.describe_slope(c)

    def stationary(self, c: "Certificate") -> str:
        if not found(c).convex:
            return f"{STATIONARY}; nothing is known of a global optimum"
        return f"no small change of the coefficients lowers it ({_steepest(c)}); no bound is known"

    def failure_rows(self, c: "Certificate") -> Lines:
        if found(c).infeasible:
            return infeasible_rows(c)
        rows = objective_row(c)
        if found(c).unproven is not None:
            gain = number(found(c).step_gain, 2)
            said = f"one step lowers the objective by {gain} of {what_is_left(c)}"
            said = "nothing that one step shows" if c.status == "not proven" else said
            return [
                *rows, ("Best possible", best_possible(c.bound)), ("What is wrong", said),
                ("Why no more", str(found(c).unproven)), ("What to do", self.remedy_for_proof(c)),
            ]  # fmt: skip
        if c.bound is not None:
            rows.append(("Best possible", f"{best_possible(c.bound)}{by_proof(c)}"))
        wrong = too_high(c) if c.bound is not None else self.describe_slope(c)
        rows.append(("What is wrong", wrong))
        return [*rows, *cause_and_remedy(self.likely_cause(c), _remedy(c))]

    def remedy_for_proof(self, c: "Certificate") -> str:
        """Where rounding hides the slope, or squares without an L1 part have many columns."""
        return "standardise the columns" if c.bound is None else super().remedy_for_proof(c)


def _steepest(c: "Certificate") -> str:
    return f"no slope is more than {small(c.residual)} of the largest there can be"


def _not_known(c: "Certificate") -> str:
    if found(c).convex:
        return "a bound on the best possible"
    return (
        "whether another point is better: this is a stationary point, no small change of the "
        "coefficients lowers the objective, and nothing is known of a global optimum"
    )


def not_unique(repeats: Sequence[Repeat], names: Sequence[str] | None) -> str:
    """The coefficients are not unique: column 'b' repeats 'a'; predictions are unaffected."""
    told = []
    for one in repeats:
        others = [name_of(i, names) for i in one.of]
        how = "repeats" if len(others) == 1 else "is a combination of"
        told.append(f"{name_of(one.column, names)} {how} {listed(others, 3)}")
    return f"the coefficients are not unique: {listed(told, 3)}; predictions are unaffected"


def _remedy(c: "Certificate") -> str:
    if found(c).ours:
        return "raise max_iter"
    steps, name = longer(found(c).iteration), c.model.rsplit(".", 1)[-1]
    if found(c).iteration.stochastic:
        steps = ["standardise first and take average=True and more epochs"]
    elif name == "HuberRegressor":  # of which there is none of ours
        return ", ".join(steps) or "standardise first"
    return ", or ".join([*filter(None, [", ".join(steps)]), f"use {_instead(c, name)}"])


def _instead(c: "Certificate", name: str) -> str:
    """What of ours minimises the same."""
    loss, penalty = c.parameters["loss"], c.parameters["penalty"]
    if name == "SGDRegressor":
        squared = isinstance(loss, dict) and loss["name"] == "squared"
        of_squares = squared and penalty["l1"] + penalty["l2"] > 0
        name = "ElasticNet" if of_squares else "PenalizedRegressor"
    return f"certus.linear_model.{name.replace('Lars', '').replace('IC', 'CV')}"
