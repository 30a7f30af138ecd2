"""What a finding is called: optimal, contradicted, … (the whole list is in ``Certificate``)."""

from typing import Any

import numpy as np

NEARLY = 1e-3  # residual up to which a fit is nearly optimal
# the states that hold the claim of their kind
CERTIFIED = ("optimal", "stationary", "local optimum", "degenerate", "exact")
ATTRIBUTE_TOL = 1e-8  # relative, of what a fit states besides its optimum


def status_of(found: dict[str, Any], kind: str, wrong: list[str], tol: float) -> str:
    if kind == "local":
        return _of_a_local_optimum(found, wrong, tol)
    if kind == "exact":
        return "contradicted" if wrong else "not proven" if "unproven" in found else "exact"
    if found.get("separated"):
        return "no finite optimum"
    residual = found["residual"]
    if residual <= tol:
        return "contradicted" if wrong else "optimal" if kind == "global" else kind
    if not found.get("convex", True):  # no optimum was claimed
        return "not stationary"
    if residual <= NEARLY:
        return "nearly optimal"
    return "not proven" if "unproven" in found and found["at_least"] <= tol else "not optimal"


def _of_a_local_optimum(found: dict[str, Any], wrong: list[str], tol: float) -> str:
    if wrong:
        return "contradicted"
    if "unproven" in found:
        return "not proven"
    if not found["residual"] <= tol:
        return "not a local optimum"
    return "local optimum" if found.get("degenerate") is None else "degenerate"


def contradictions(reading: Any, found: dict[str, Any]) -> list[str]:
    """Fitted attributes besides the optimum that the data do not bear out."""
    wrong = []
    rank = found.get("rank")
    if reading.ours and reading.rank is not None and rank is not None and rank != reading.rank:
        wrong.append(f"rank_ is {reading.rank}, the data have rank {rank}")
    for name, stated in reading.spectrum.items() if reading.ours else ():
        true = np.asarray(found[name.rstrip("_")])
        stated = np.asarray(stated, dtype=float)
        # the least singular value may have been found by way of its square
        lost = min(1e-15 * found["condition"] ** 2, 1e-3) if name == "condition_" else 0.0
        atol = ATTRIBUTE_TOL * np.max(true, initial=0.0)
        close = stated.shape == true.shape and np.allclose(stated, true, ATTRIBUTE_TOL + lost, atol)
        if not close:
            wrong.append(f"{name} is not what the data have")
    return wrong
