"""What certificates of kernel machines say: gaps, rows left out, kernels that are not definite.

For the words that all certificates share see ``certificate.py``.
"""

from typing import TYPE_CHECKING

from ...text.format import best_possible, count, number, small
from ..facts import KernelFacts
from ..findings import facts_of
from .optimum import (
    OptimumWording,
    coefficients_row,
    found,
    gap_row,
    infeasible_rows,
    objective_row,
)
from .stopping import longer
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

BY_PROOF = {"a dual point": "dual bound", "the gradient and the penalty": "gradient and penalty"}


class KernelWording(OptimumWording):
    def verb(self, c: "Certificate") -> str:
        """What has a saddle is not minimised."""
        return super().verb(c) if found(c).convex else "stationary"

    def certified(self, c: "Certificate") -> Lines:
        if c.bound is None:
            missed = f"of the fit: they hold, but for {small(c.residual)} of {_left(c)}"
            rows = [*objective_row(c), ("Equations", missed), ("Kernel", _indefinite(c))]
        else:
            best = f"; {self.best_known(c)} ({BY_PROOF[found(c).proof]})"
            rows = objective_row(c, best) + gap_row(c, _left(c))
        return rows + coefficients_row(c) + _rows(c)

    def best_known(self, c: "Certificate") -> str:
        return self.describe_slope(c) if c.bound is None else super().best_known(c)

    def stationary(self, c: "Certificate") -> str:
        return (
            "a stationary point: the equations of the fit hold, but the kernel has an eigenvalue "
            "below 0 and nothing is minimised"
        )

    def describe_slope(self, c: "Certificate") -> str:
        """How far a kernel that is not definite misses its equations."""
        return found(c).infeasible or (
            f"the equations of the fit are missed by {number(c.residual, 2)} of {_left(c)}"
        )

    def failure_rows(self, c: "Certificate") -> Lines:
        if found(c).infeasible:
            return infeasible_rows(c)
        rows = objective_row(c)
        if c.bound is None:
            rows += [("What is wrong", self.describe_slope(c)), ("Kernel", _indefinite(c))]
        else:
            best = f"{best_possible(c.bound)} ({BY_PROOF[found(c).proof]})"
            rows += [("Best possible", best), ("What is wrong", _too_high(c))]
        rows += [("What is wrong", text) for text in found(c).contradictions]
        return [*rows, *cause_and_remedy(self.likely_cause(c), self.remedy_for_proof(c))]

    def remedy_for_proof(self, c: "Certificate") -> str:
        if found(c).ours:
            return (
                "the model was changed after its fit, or C is too large for its kernel: take less"
            )
        return "take a larger alpha, or use certus.svm.LSSVR"


class HingeKernelWording(KernelWording):
    """Support vector machines."""

    def remedy_for_proof(self, c: "Certificate") -> str:
        return ", ".join(longer(found(c).iteration)) or "standardise first, or take a smaller C"


def _rows(c: "Certificate") -> Lines:
    """What is known of the rows."""
    n, facts, rows = c.shape[0], facts_of(c, KernelFacts), []
    if facts.support is not None:
        rows.append(("Support", f"{facts.support:,} of {count(n, 'row')} have a coefficient"))
    if facts.effective is not None:
        rows.append(("Parameters", f"{number(facts.effective, 4)} in effect"))
    if facts.loo is not None:
        said = f"each row by a fit without it: {facts.loo_kind} {number(facts.loo, 4)}"
        rows.append(("Left out", said))
    if facts.left_out_rows:
        rows.append(("No part", f"{count(facts.left_out_rows, 'row')} of weight 0"))
    return rows


def _left(c: "Certificate") -> str:
    alone = c.parameters.get("fit_intercept", True)
    return "what the intercept alone leaves" if alone else "what f = 0 leaves"


def _indefinite(c: "Certificate") -> str:
    least = facts_of(c, KernelFacts).least_eigenvalue
    assert least is not None
    return (
        f"not positive semidefinite (an eigenvalue is below 0, none below {number(least, 2)}): the "
        "objective has a saddle, nothing is minimised and no bound exists"
    )


def _too_high(c: "Certificate") -> str:
    share = f"the objective may be too high by {number(100 * c.residual, 2)} % of {_left(c)}"
    pair = facts_of(c, KernelFacts).pair
    if pair is None or c.labels is None:
        return share
    k, l = (repr(c.labels.classes.tolist()[k]) for k in pair)
    return f"between {k} and {l} {share}"
