"""Texts for Firth's logistic regression."""

from typing import TYPE_CHECKING

import numpy as np

from ...text.format import number, small
from ..facts import FirthFacts
from ..findings import facts_of
from .optimum import OptimumWording, objective_row, optimum_finding
from .wording import Lines, cause_and_remedy

if TYPE_CHECKING:
    from ..certificate import Certificate

PRINTED_DIGITS_SHARE = 5e-8  # of the objective: the rounding of its printed digits


class FirthWording(OptimumWording):
    def certified(self, c: "Certificate") -> Lines:
        facts = facts_of(c, FirthFacts)
        loss = number(-facts.log_likelihood, 7)
        information = f"log det of the information {number(facts.log_det, 7)}"
        return [
            *objective_row(c, f": losses {loss}, {information}{_objective_error_text(c)}"),
            ("Stationary", f"one more scoring step would gain {small(facts.gain)}, "
                           f"{small(c.residual)} of what the intercept alone leaves"),
            ("Not known", "whether another point is better: the objective need not be convex"),
            ("Probabilities", _shrunk_probabilities(c)),
        ]  # fmt: skip

    def best_known(self, c: "Certificate") -> str:
        return self.describe_slope(c)

    def stationary(self, c: "Certificate") -> str:
        gain = small(facts_of(c, FirthFacts).gain)
        return (
            "a stationary point: no small change of the coefficients lowers the objective (one "
            f"more scoring step would gain {gain}); nothing is known of a global optimum"
        )

    def describe_slope(self, c: "Certificate") -> str:
        gain = facts_of(c, FirthFacts).gain
        if optimum_finding(c).infeasible or not np.isfinite(gain):
            return optimum_finding(c).infeasible or "the objective is not finite"
        if optimum_finding(c).unproven is not None:
            least, most = small(optimum_finding(c).step_gain), small(c.residual)
            return (
                f"nothing that a scoring step shows: it gains {least} of what the intercept alone "
                f"leaves, and up to {most} for all that rounding shows"
            )
        return f"one scoring step would lower the objective by about {number(gain, 2)}"

    def failure_rows(self, c: "Certificate") -> Lines:
        rows = [*objective_row(c), ("What is wrong", self.describe_slope(c))]
        why = optimum_finding(c).unproven
        if why is not None:
            return [*rows, ("Why no more", why), ("What to do", self.remedy_for_proof(c))]
        return [*rows, *cause_and_remedy(self.likely_cause(c), "raise max_iter, or fit again")]

    def remedy_for_proof(self, c: "Certificate") -> str:
        return "standardise the columns, and bring the weights to a mean near 1"


def _objective_error_text(c: "Certificate") -> str:
    """Rounding error of the objective, where it is larger than that of the printed digits."""
    error = facts_of(c, FirthFacts).objective_error
    if np.isfinite(error):
        return (
            f", off by {small(error)} at most"
            if error > PRINTED_DIGITS_SHARE * abs(c.objective)
            else ""
        )
    return "; nothing is claimed of its last digits"


def _shrunk_probabilities(c: "Certificate") -> str:
    facts = facts_of(c, FirthFacts)
    assert c.labels is not None
    assert facts.mean_probability is not None
    assert facts.share is not None
    mean, share = number(facts.mean_probability[1], 3), number(facts.share[1], 3)
    label = c.labels.classes.tolist()[1]
    return f"mean {mean}, observed share {share} of {label!r}: the penalty is why they differ"
