"""Texts for linear classifiers: bounds, likely causes, alternatives, notes on class weights.

Texts for separated classes are in ``separation.py``.
"""

from typing import TYPE_CHECKING

import numpy as np

from ...text.format import best_possible, listed, magnitude, name_of, number, small
from ..facts import ClassFacts
from ..findings import facts_of
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
from .separation import no_finite_optimum, separates
from .stopping import longer, of_statsmodels, replacement, stopped_by, too_high
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

MAX_SPREAD_RATIO = 1e3  # of two columns; beyond it solvers of other libraries converge slowly
MAX_MEAN_TO_SPREAD = 30.0  # of a column; beyond it they do as well
NO_FINITE_OPTIMUM = "no finite optimum"
SGD_REMEDY = "standardise first and take average=True and more epochs"


class ClassWording(OptimumWording):
    null = "what the intercept alone leaves"
    penalty = "a finite C"  # how a user asks for one

    def claim(self, c: "Certificate") -> str:
        return separates(c) if c.status == NO_FINITE_OPTIMUM else super().claim(c)

    def summary(self, c: "Certificate") -> str:
        return separates(c) if c.status == NO_FINITE_OPTIMUM else super().summary(c)

    def lines(self, c: "Certificate") -> Lines:
        return no_finite_optimum(c) if c.status == NO_FINITE_OPTIMUM else super().lines(c)

    def certified(self, c: "Certificate") -> Lines:
        if c.bound is None:
            gain = f"one more Newton step would gain {small(newton_gain(c))}"
            rows = [("Stationary", f"{gain}, {small(c.residual)} of {self.null}")]
            none = objective_row(c, "; no bound on the best possible is known")
            return none + rows + coefficients_row(c)
        best = f"; the best possible is {best_possible(c.bound)}{by_proof(c)}"
        return objective_row(c, best) + gap_row(c, self.null) + coefficients_row(c)

    def stationary(self, c: "Certificate") -> str:
        return f"one more Newton step would gain {small(newton_gain(c))}; no bound is known"

    def failure_rows(self, c: "Certificate") -> Lines:
        if optimum_finding(c).infeasible:
            return infeasible_rows(c)
        rows = objective_row(c)
        if c.status == "not proven":
            return [
                *rows, ("Best possible", best_possible(c.bound)),
                ("Why no more", f"there are {optimum_finding(c).unproven}"),
                ("What to do", self.remedy_for_proof(c)),
            ]  # fmt: skip
        if c.bound is None:
            rows.append(("Best possible", "not known"))
            if np.isfinite(newton_gain(c)):
                text = f"one Newton step would lower the objective by {number(newton_gain(c), 2)}"
                rows.append(("What is wrong", text))
        else:
            rows += bound_row(c)
            rows.append(("What is wrong", too_high(c)))
        return [*rows, *cause_and_remedy(self.likely_cause(c), self._remedy(c))]

    def remedy_for_proof(self, c: "Certificate") -> str:
        return f"drop or combine columns that nearly repeat others, or use {self.penalty}"

    def likely_cause(self, c: "Certificate") -> str | None:
        return "; ".join(filter(None, [*_odd_columns(c), stopped_by(c)])) or None

    def _remedy(self, c: "Certificate") -> str:
        iteration = optimum_finding(c).iteration
        if optimum_finding(c).ours:
            return "raise max_iter" + ("" if iteration.one_solver else ", or use solver='auto'")
        if iteration.stochastic:
            return SGD_REMEDY + self._instead_of_sgd(c)
        ours = replacement(c)
        steps = ["standardise first"] if _odd_columns(c) else []
        steps += ["raise maxiter of fit"] if of_statsmodels(c) else longer(iteration)
        return ", or ".join([*filter(None, [", ".join(steps)]), f"use {ours}"])

    def _instead_of_sgd(self, c: "Certificate") -> str:
        """The certus model of the same problem, to be added to the remedy; empty if none."""
        return ""


class LogisticWording(ClassWording):
    def _instead_of_sgd(self, c: "Certificate") -> str:
        p = c.parameters
        if p["one_vs_rest"]:
            return ""
        ratio = f", l1_ratio={number(p['l1'] / (p['l1'] + p['l2']), 3)}" if p["l1"] else ""
        same = f"certus.linear_model.LogisticRegression(C={_without_divisor(c)}{ratio})"
        return f", or use {same}: the same problem"


class HingeWording(ClassWording):
    """Linear support vector machines; ``loss``: its name in ``LinearSVC``."""

    def __init__(self, loss: str):
        self.loss = loss

    def _instead_of_sgd(self, c: "Certificate") -> str:
        if c.parameters["one_vs_rest"] or c.parameters["l1"]:
            return ""
        arguments = f"loss={self.loss!r}, C={_without_divisor(c)}, intercept_scaling=100"
        same = "nearly the same problem, with a small penalty on the intercept"
        return f", or use certus.svm.LinearSVC({arguments}): {same}"


class OrdinalWording(ClassWording):
    null = "what the thresholds alone leave"
    penalty = "alpha > 0"


class LogLinkWording(ClassWording):
    """Poisson and Gamma regression."""

    penalty = "alpha > 0"
    ENDLESS = "along a direction only means of zeros change, and they fall without limit"


def newton_gain(c: "Certificate") -> float:
    """Half the squared Newton decrement, where no bound is known."""
    return float(c.residual * optimum_finding(c).null_objective)


def _odd_columns(c: "Certificate") -> list[str]:
    columns = facts_of(c, ClassFacts).columns
    if columns is None:
        return []
    mean, spread = columns.mean, columns.spread
    varies = spread > 0
    causes = []
    if varies.any():
        ratio = spread.max() / spread[varies].min()
        if ratio > MAX_SPREAD_RATIO:
            causes.append(f"column scales differ by {magnitude(ratio)}")
        away = np.where(varies, np.abs(mean), 0.0) / np.where(varies, spread, 1.0)
        j = int(np.argmax(away))
        if away[j] > MAX_MEAN_TO_SPREAD:
            causes.append(
                f"{name_of(j, c.feature_names)} lies far from 0 (mean {number(mean[j], 3)}, "
                f"spread {number(spread[j], 2)})"
            )
    return causes


def _without_divisor(c: "Certificate") -> str:
    """The C of a problem whose loss is a sum, and whose penalty has strength 1."""
    strength = c.parameters["l1"] + c.parameters["l2"]
    if not strength:
        return "np.inf"
    return number(float(c.parameters["C"] / strength), 6).replace(",", "")


# --- class weights --------------------------------------------------------------------------------


def notes_on_classes(classes: np.ndarray, facts: ClassFacts, weighted: bool) -> tuple[str, ...]:
    """Notes on classes without weight, and (``weighted``) on what class weights did."""
    notes = [_weightless(classes, facts)]
    if weighted:
        notes.append(class_weights_shift(classes, facts))
    return tuple(note for note in notes if note is not None)


def _weightless(classes: np.ndarray, facts: ClassFacts) -> str | None:
    k = np.flatnonzero(np.asarray(1.0 if facts.share is None else facts.share) == 0)
    if not len(k):
        return None
    labels = [repr(label) for label in classes[k].tolist()]
    return f"no row of {listed(labels)} has a weight above 0"


def class_weights_shift(classes: np.ndarray, facts: ClassFacts) -> str | None:
    """Mean probability and observed share of the second class, or of the class farthest off."""
    if facts.mean_probability is None or facts.share is None:
        return None
    mean = np.asarray(facts.mean_probability, dtype=float)
    share = np.asarray(facts.share, dtype=float)
    k = 1 if len(classes) == 2 else int(np.argmax(np.abs(mean - share)))
    return (
        f"class weights shift probabilities: mean {_share(mean[k])}, observed share "
        f"{_share(share[k])} of {classes.tolist()[k]!r}"
    )


def _share(x: float) -> str:
    """A share as .39 or .045."""
    text = number(x, 2)
    return text[1:] if text.startswith("0.") else text
