"""Texts for kernel machines: gaps, leave-one-out scores, kernels that are not definite."""

from typing import TYPE_CHECKING

from ...text.format import best_possible, count, number, small
from ..facts import KernelFacts
from ..findings import facts_of
from .optimum import (
    OptimumWording,
    coefficients_row,
    gap_row,
    infeasible_rows,
    objective_row,
    optimum_finding,
)
from .stopping import longer
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

BY_PROOF = {"a dual point": "dual bound", "the gradient and the penalty": "gradient and penalty"}


class KernelWording(OptimumWording):
    def verb(self, c: "Certificate") -> str:
        """A saddle point is stationary, not minimised."""
        return super().verb(c) if optimum_finding(c).convex else "stationary"

    def certified(self, c: "Certificate") -> Lines:
        if c.bound is None:
            missed = f"of the fit hold up to {small(c.residual)} of {_null_model(c)}"
            rows = [*objective_row(c), ("Equations", missed), ("Kernel", _indefinite(c))]
        else:
            best = f"; {self.best_known(c)} ({BY_PROOF[optimum_finding(c).proof]})"
            rows = objective_row(c, best) + gap_row(c, _null_model(c))
        return rows + coefficients_row(c) + _rows(c)

    def best_known(self, c: "Certificate") -> str:
        return self.describe_slope(c) if c.bound is None else super().best_known(c)

    def stationary(self, c: "Certificate") -> str:
        return (
            "a stationary point: the equations of the fit hold, but the kernel has an eigenvalue "
            "below 0 and nothing is minimised"
        )

    def describe_slope(self, c: "Certificate") -> str:
        """Violation of the fit's equations, for a kernel that is not definite."""
        return optimum_finding(c).infeasible or (
            f"the equations of the fit are missed by {number(c.residual, 2)} of {_null_model(c)}"
        )

    def failure_rows(self, c: "Certificate") -> Lines:
        if optimum_finding(c).infeasible:
            return infeasible_rows(c)
        rows = objective_row(c)
        if c.bound is None:
            rows += [("What is wrong", self.describe_slope(c)), ("Kernel", _indefinite(c))]
        else:
            best = f"{best_possible(c.bound)} ({BY_PROOF[optimum_finding(c).proof]})"
            rows += [("Best possible", best), ("What is wrong", _too_high(c))]
        rows += [("What is wrong", text) for text in optimum_finding(c).contradictions]
        return [*rows, *cause_and_remedy(self.likely_cause(c), self.remedy_for_proof(c))]

    def remedy_for_proof(self, c: "Certificate") -> str:
        if optimum_finding(c).ours:
            return "the model was changed after its fit, or C is too large for its kernel: lower it"
        return "take a larger alpha, or use certus.svm.LSSVR"


class HingeKernelWording(KernelWording):
    """Support vector machines."""

    def remedy_for_proof(self, c: "Certificate") -> str:
        return (
            ", ".join(longer(optimum_finding(c).iteration))
            or "standardise first, or take a smaller C"
        )


def _rows(c: "Certificate") -> Lines:
    """Lines on support vectors, effective parameters and the leave-one-out score."""
    n, facts, rows = c.shape[0], facts_of(c, KernelFacts), []
    if facts.support is not None:
        rows.append(("Support", f"{facts.support:,} of {count(n, 'row')} have a coefficient"))
    if facts.effective is not None:
        rows.append(("Parameters", f"{number(facts.effective, 4)} effective"))
    if facts.loo is not None:
        text = f"each row by a fit without it: {facts.loo_kind} {number(facts.loo, 4)}"
        rows.append(("Left out", text))
    if facts.left_out_rows:
        rows.append(("Without weight", count(facts.left_out_rows, "row")))
    return rows


def _null_model(c: "Certificate") -> str:
    with_intercept = c.parameters.get("fit_intercept", True)
    return "what the intercept alone leaves" if with_intercept else "what f = 0 leaves"


def _indefinite(c: "Certificate") -> str:
    least = facts_of(c, KernelFacts).least_eigenvalue
    assert least is not None
    return (
        f"not positive semidefinite (an eigenvalue is below 0, none below {number(least, 2)}): the "
        "objective has a saddle, nothing is minimised and no bound exists"
    )


def _too_high(c: "Certificate") -> str:
    share = f"the objective may be too high by {number(100 * c.residual, 2)} % of {_null_model(c)}"
    pair = facts_of(c, KernelFacts).pair
    if pair is None or c.labels is None:
        return share
    k, l = (repr(c.labels.classes.tolist()[k]) for k in pair)
    return f"between {k} and {l} {share}"
