"""The status of a finding: optimal, contradicted, … (the whole list is in ``Certificate``)."""

import numpy as np

from ..audit import Reading
from .facts import SquaresFacts
from .findings import ExactFinding, Finding, LocalFinding, OptimumFinding, PageFinding

NEARLY_OPTIMAL_RESIDUAL = 1e-3  # residual up to which a fit is nearly optimal
# the statuses that say that the claim holds
CERTIFIED_STATUSES = ("optimal", "stationary", "local optimum", "degenerate", "exact")
PROOF_TAKES_LONGER = (
    "the check takes longer than a stopped fit may: certus.verify with the model and its data "
    "makes it"
)
# kinds of certificates by the claim of a page
KIND_OF_PAGE = {
    "global optimum": "global", "no finite optimum": "global", "stationary": "stationary",
    "local optimum": "local", "exact": "exact",
}  # fmt: skip
# what a claim of a page is called where it does not hold
STATUS_OF_FAILED_CLAIM = {
    "global optimum": "not optimal", "no finite optimum": "not optimal",
    "stationary": "not stationary", "local optimum": "not a local optimum",
    "exact": "contradicted",
}  # fmt: skip
ATTRIBUTE_TOL = 1e-8  # relative tolerance for fitted attributes besides the optimum


def status_of(finding: Finding, tol: float) -> str:
    """Status of a finding at this tolerance."""
    if isinstance(finding, LocalFinding):
        return _local_optimum_status(finding, tol)
    if isinstance(finding, OptimumFinding):
        return _optimum_status(finding, tol)
    assert isinstance(finding, ExactFinding)
    if finding.contradictions:
        return "contradicted"
    return "exact" if finding.unproven is None else "not proven"


def status_of_page(finding: PageFinding) -> str:
    """Status of a page's result."""
    holds = {"global optimum": "optimal"}.get(finding.claim, finding.claim)
    if finding.holds:
        return "contradicted" if finding.contradictions else holds
    if finding.claim == "global optimum" and finding.residual <= NEARLY_OPTIMAL_RESIDUAL:
        return "nearly optimal"
    return STATUS_OF_FAILED_CLAIM[finding.claim]


def _optimum_status(finding: OptimumFinding, tol: float) -> str:
    if finding.is_separated:
        return "no finite optimum"
    if finding.residual <= tol:
        if finding.contradictions:
            return "contradicted"
        return "optimal" if finding.kind == "global" else finding.kind
    rounded = finding.unproven is not None and finding.step_gain <= tol
    if not finding.convex:  # no optimum was claimed
        return "not proven" if rounded else "not stationary"
    if finding.residual <= NEARLY_OPTIMAL_RESIDUAL:
        return "nearly optimal"
    return "not proven" if rounded else "not optimal"


def _local_optimum_status(finding: LocalFinding, tol: float) -> str:
    if finding.contradictions:
        return "contradicted"
    if finding.unproven is not None:
        return "not proven"
    if not finding.residual <= tol:
        return "not a local optimum"
    return "degenerate" if finding.is_degenerate else "local optimum"


def contradicted_attributes(reading: Reading, finding: Finding) -> list[str]:
    """Fitted attributes besides the optimum that disagree with the data."""
    facts = finding.facts if isinstance(finding, OptimumFinding) else None
    if not reading.ours or not isinstance(facts, SquaresFacts):
        return []
    wrong, rank = [], facts.rank
    if reading.rank is not None and rank is not None and rank != reading.rank:
        wrong.append(f"rank_ is {reading.rank}, the data have rank {rank}")
    for name, stated in reading.spectrum.items():
        true = np.asarray(facts.singular if name == "singular_" else facts.condition)
        stated = np.asarray(stated, dtype=float)
        lost = 0.0
        if name == "condition_" and facts.condition is not None:
            # the solver may have computed the least singular value from its square
            lost = min(1e-15 * facts.condition**2, 1e-3)
        atol = ATTRIBUTE_TOL * np.max(true, initial=0.0)
        close = stated.shape == true.shape and np.allclose(stated, true, ATTRIBUTE_TOL + lost, atol)
        if not close:
            wrong.append(f"{name} is not what the data have")
    return wrong
