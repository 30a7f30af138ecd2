"""What certificates of penalised regression say.

For the words that all certificates share see ``_explain.py``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._explain_stopping import loose, stopped_by, too_high, what_is_left
from ._words import best_possible, listed, name_of, number, small

if TYPE_CHECKING:
    from .certificate import Certificate

PROOF = {"a dual point": "dual bound"}


def certified(c: "Certificate") -> list[tuple[str, str]]:
    if c.bound is None:
        return [("Objective", number(c.objective, 7)), ("Stationary", f"{_steepest(c)}"),
                ("Not known", _not_known(c))]  # fmt: skip
    rows = [
        ("Objective", f"{number(c.objective, 7)}; the best possible is {best_possible(c.bound)}"
                      f"{_by(c)}"),
        ("Gap", f"at most {small(c.gap)}, {small(c.residual)} of {what_is_left(c)}"),
    ]  # fmt: skip
    if c.coef_error is not None:
        rows.append(("Coefficients", f"none is more than {small(c.coef_error)} from the optimum's"))
    return rows


def best(c: "Certificate") -> str:
    return f"the best possible is {best_possible(c.bound)}" if c.bound else too_steep(c)


def stationary(c: "Certificate") -> str:
    """Where no bound is known."""
    if c.found["convex"]:
        return f"no small change of the coefficients lowers it ({_steepest(c)}); no bound is known"
    return (
        "a stationary point: no small change of the coefficients lowers the objective; nothing is "
        "known of a global optimum"
    )


def too_steep(c: "Certificate") -> str:
    return (
        c.found["infeasible"] or f"a slope is {number(c.residual, 2)} of the largest there can be"
    )


def _steepest(c: "Certificate") -> str:
    return f"no slope is more than {small(c.residual)} of the largest there can be"


def _not_known(c: "Certificate") -> str:
    if c.found["convex"]:
        return "a bound on the best possible"
    return (
        "whether another point is better: this is a stationary point, no small change of the "
        "coefficients lowers the objective, and nothing is known of a global optimum"
    )


def _by(c: "Certificate") -> str:
    proof = c.found["proof"]
    return f" ({PROOF.get(proof, proof)})" if c.bound else ""


def not_unique(repeats: list[dict[str, Any]], names: Sequence[str] | None) -> str:
    """The coefficients are not unique: column 'b' repeats 'a'; predictions are unaffected."""
    told = []
    for one in repeats:
        others = [name_of(i, names) for i in one["of"]]
        how = "repeats" if len(others) == 1 else "is a combination of"
        told.append(f"{name_of(one['column'], names)} {how} {listed(others, 3)}")
    return f"the coefficients are not unique: {listed(told, 3)}; predictions are unaffected"


def refused(c: "Certificate") -> list[tuple[str, str]]:
    if c.found["infeasible"]:
        return [("What is wrong", c.found["infeasible"])]
    rows = [("Objective", number(c.objective, 7))]
    if "unproven" in c.found:
        gain = number(c.found["at_least"], 2)
        said = f"one step lowers the objective by {gain} of {what_is_left(c)}"
        said = "nothing that one step shows" if c.status == "not proven" else said
        return [*rows, ("Best possible", best_possible(c.bound)), ("What is wrong", said),
                ("Why no more", c.found["unproven"]), ("What to do", to_prove_it(c))]  # fmt: skip
    if c.bound is not None:
        rows.append(("Best possible", f"{best_possible(c.bound)}{_by(c)}"))
    rows.append(("What is wrong", too_high(c) if c.bound is not None else too_steep(c)))
    cause = likely_cause(c)
    if cause:
        rows.append(("Likely cause", cause))
    rows.append(("What to do", _remedy(c)))
    return rows


def to_prove_it(c: "Certificate") -> str:
    """Where squares without an L1 part have too many sparse columns."""
    return "a larger alpha proves more; so do fewer columns"


def likely_cause(c: "Certificate") -> str | None:
    return stopped_by(c)


def _remedy(c: "Certificate") -> str:
    iteration = c.found.get("iteration", {})
    if c.found["ours"]:
        return "raise max_iter"
    steps = ["raise max_iter"] if iteration.get("max_iter") is not None else []
    if loose(iteration):
        steps.append(f"lower tol (it was {iteration['tol']:g})")
    name = c.model.rsplit(".", 1)[-1]
    if iteration.get("stochastic"):
        steps = ["standardise first and take average=True and more epochs"]
    elif name == "HuberRegressor":  # of which there is none of ours
        return ", ".join(steps) or "standardise first"
    return ", or ".join([*filter(None, [", ".join(steps)]), f"use {_instead(c, name)}"])


def _instead(c: "Certificate", name: str) -> str:
    """What of ours minimises the same."""
    loss, penalty = c.parameters["loss"], c.parameters["penalty"]
    if name == "SGDRegressor":
        of_squares = loss["name"] == "squared" and penalty["l1"] + penalty["l2"] > 0
        name = "ElasticNet" if of_squares else "PenalizedRegressor"
    return f"certus.linear_model.{name.replace('Lars', '').replace('IC', 'CV')}"
