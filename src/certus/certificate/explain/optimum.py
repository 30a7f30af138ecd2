"""Texts that all models with coefficients share: bounds, gaps, fits that stopped early."""

from typing import TYPE_CHECKING

import numpy as np

from ...text.format import best_possible, count, number, small
from ..findings import OptimumFinding, finding_of
from .left_out import among, left_out_rows
from .stopping import stopped_by
from .wording import Lines, Wording

if TYPE_CHECKING:
    from ..certificate import Certificate

MAX_UNMENTIONED_COEF_SHARE = 1e-3  # of ‖w‖; the first line mentions a larger error of coefficients
BY_PROOF = {"a dual point": "dual bound"}  # name of a bound by its proof


def optimum_finding(c: "Certificate") -> OptimumFinding:
    return finding_of(c, OptimumFinding)


class OptimumWording(Wording):
    """Models that minimise something over coefficients."""

    def claim(self, c: "Certificate") -> str:
        """objective 78.851, at most 1e-9 above the best possible."""
        distance = self.distance(c) + known_only_to(c) if c.certified else self.best_known(c)
        return f"objective {number(c.objective, 7)}, {distance}"

    def summary(self, c: "Certificate") -> str:
        if c.certified:
            return self.claim(c)
        return f"objective {number(c.objective, 7)}"

    def best_known(self, c: "Certificate") -> str:
        return f"the best possible is {best_possible(c.bound)}"

    def distance(self, c: "Certificate") -> str:
        """Distance of the objective from the best possible."""
        if c.bound is None:
            return self.stationary(c)
        return f"at most {small(c.gap)} above the best possible"

    def lines(self, c: "Certificate") -> Lines:
        if c.residual <= c.tol:
            wrong = [("What is wrong", text) for text in optimum_finding(c).contradictions]
            return self.certified(c) + left_out_rows(c) + wrong
        return self.failure_rows(c) + left_out_rows(c)

    # --- texts that a family may replace ---

    def stationary(self, c: "Certificate") -> str:
        """The claim where no bound is known."""
        return "no bound is known"

    def describe_slope(self, c: "Certificate") -> str:
        """Distance from a stationary point, where no optimum is claimed."""
        return optimum_finding(c).infeasible or (
            f"a slope is {number(c.residual, 2)} of the largest there can be"
        )

    def likely_cause(self, c: "Certificate") -> str | None:
        return stopped_by(c)

    def remedy_for_proof(self, c: "Certificate") -> str:
        """Remedy where neither the claim nor its opposite could be proven."""
        return "a larger alpha proves more; so do fewer columns"

    # --- sentences ---

    def note(self, c: "Certificate") -> str:
        n, p = c.shape
        subject = f"{c.model} ({count(n, 'row')}, {count(p, 'column')})"
        if not optimum_finding(c).convex:
            return (
                f"{subject} is at {self.distance(c)}{among(c)}. "
                f"The objective, {c.formula}, is {number(c.objective, 7)} there, recomputed from "
                "the data"
            )
        distance = f"is {'' if c.bound is not None else 'stationary: '}{self.distance(c)}"
        return (
            f"{subject} minimises {c.formula}; the objective {number(c.objective, 7)} was "
            f"recomputed from the data and {distance}{among(c)}{known_only_to(c)}"
        )

    def failure_note(self, c: "Certificate", claim: str) -> str:
        if optimum_finding(c).convex:
            return super().failure_note(c, claim)
        return f"{claim.capitalize()}."

    def not_certified(self, c: "Certificate", stopped_at: int | None) -> str:
        if stopped_at is not None:
            return self._stopped_at(c, stopped_at)
        where = f"objective {number(c.objective, 7)}"
        if c.status == "not proven":
            return (
                f"{c.model} is not certified: {where}, and there are "
                f"{optimum_finding(c).unproven}. No step was found that lowers it: "
                f"{self.remedy_for_proof(c)}."
            )
        if not optimum_finding(c).convex:
            stopped, state = optimum_finding(c).stopped, "is not at a stationary point"
            if c.status == "stopped":
                state = f"stopped {stopped}"
            slope = self.describe_slope(c)
            return f"{c.model} {state}: {where}, and {slope}. See certificate_.explain()."
        share = c.gap / c.bound if c.bound else np.inf
        percent = f"up to {number(100 * share, 2)} % too high" if share < np.inf else "not bounded"
        where += f", the best possible is {best_possible(c.bound)}, so {percent}"
        if c.status == "stopped":
            return f"{c.model} stopped {optimum_finding(c).stopped}: {where}. Let it run longer."
        cause = self.likely_cause(c)
        because = f"Likely cause: {cause}. " if cause else ""
        return f"{c.model} is not certified: {where}. {because}See certificate_.explain()."

    def _stopped_at(self, c: "Certificate", stopped_at: int) -> str:
        stopped = f"{c.model} stopped at max_iter={stopped_at} before"
        where = number(c.objective, 4)
        if not optimum_finding(c).convex:
            return (
                f"{stopped} a stationary point: objective {where}, and {self.describe_slope(c)}. "
                "Raise max_iter."
            )
        best, too_high = f"the best possible is {best_possible(c.bound)}", ""
        if c.bound:
            best = f"best possible between {number(c.bound, 4)} and {where}"
            too_high = f", so up to {number(100 * c.gap / c.bound, 2)} % too high"
        instead = "" if optimum_finding(c).iteration.one_solver else " or use solver='auto'"
        return (
            f"{stopped} the optimum: objective {where}, {best}{too_high}. Raise max_iter{instead}."
        )


class UndefinedWording(OptimumWording):
    """A fit without a proof: the model has no definition, or the proof took too long."""

    def claim(self, c: "Certificate") -> str:
        value = "not known" if np.isnan(c.objective) else number(c.objective, 7)
        return f"objective {value}, {self.best_known(c)}"

    def best_known(self, c: "Certificate") -> str:
        if np.isnan(c.objective):  # not computed
            return "nor is its distance from the best possible"
        return "its distance from the best possible is not known"

    def stopped_rows(self, c: "Certificate") -> Lines:
        value = "not known, " if np.isnan(c.objective) else f"{number(c.objective, 7)}; "
        _, wrong, remedy = super().stopped_rows(c)
        not_proven = ("Not proven", f"{c._finding.unproven}.")
        return [("Objective", value + self.best_known(c)), wrong, not_proven, remedy]

    def lines(self, c: "Certificate") -> Lines:
        return [*objective_row(c), ("Not proven", f"{c._finding.unproven}.")]

    certified = failure_rows = lines

    def not_certified(self, c: "Certificate", stopped_at: int | None) -> str:
        if stopped_at is not None:
            return super().not_certified(c, stopped_at)
        return f"{c.model} is not certified: {c._finding.unproven}."

    def checked_by(self, c: "Certificate") -> str:
        return "nothing: the numbers are the solver's own"


# --- lines that several families share ------------------------------------------------------------


def objective_row(c: "Certificate", after: str = "") -> Lines:
    return [("Objective", f"{number(c.objective, 7)}{after}")]


def gap_row(c: "Certificate", null: str) -> Lines:
    """The gap, also as a share of f₀; ``null`` describes f₀."""
    return [("Gap", f"at most {small(c.gap)}, {small(c.residual)} of {null}")]


def coefficients_row(c: "Certificate") -> Lines:
    if c.coef_error is None:
        return []
    return [("Coefficients", f"none is more than {small(c.coef_error)} from the optimum's")]


def bound_row(c: "Certificate") -> Lines:
    """The bound on the best possible objective, and the objective that a refit reached."""
    reached = "" if c.decisions is None else f"; a refit has {number(c.decisions.objective, 7)}"
    return [("Best possible", f"{best_possible(c.bound)}{by_proof(c)}{reached}")]


def infeasible_rows(c: "Certificate") -> Lines:
    """Lines on coefficients that the problem does not allow, or that are not finite."""
    infeasible = optimum_finding(c).infeasible
    return [] if infeasible is None else [("What is wrong", infeasible)]


def by_proof(c: "Certificate") -> str:
    """(dual bound): how the bound was proven."""
    proof = optimum_finding(c).proof
    return f" ({BY_PROOF.get(proof, proof)})" if c.bound else ""


def known_only_to(c: "Certificate") -> str:
    """ "; coefficients known only to ±0.02"; empty where they are known well or not claimed."""
    finding = c._finding
    if not c.certified or c.coef_error is None or not isinstance(finding, OptimumFinding):
        return ""
    share = finding.coef_share
    if share is None:
        w = c.parameters.get("w", c.parameters.get("beta"))
        length = 0.0 if w is None else float(np.linalg.norm(w))
        share = c.coef_error / length if length > 0 else 0.0
    if not share > MAX_UNMENTIONED_COEF_SHARE:
        return ""
    if not np.isfinite(c.coef_error):
        return "; coefficients not known"
    return f"; coefficients known only to ±{small(c.coef_error)}"
