"""Standard errors of unpenalised coefficients, recomputed: classical, quasi-likelihood, HC0 … HC3.

    classical   φ H⁻¹,  H = Σ sᵢ cᵢ φᵢφᵢᵀ,  c the curvature of the loss
                φ = Σ s r²/(n − m) (Gaussian),  1 (classes, counts),  Σ s (r/μ)²/(n − m) (amounts)
    quasi       φ = Σ s r²/c/(n − m) for classes and counts
    HC          H⁻¹ (Σ ω² sᵢ² ψᵢ² φᵢφᵢᵀ) H⁻¹,  ψ the slope of the loss,
                ω² = 1, n/(n − m), 1/(1 − h), 1/(1 − h)²,  hᵢ = sᵢ cᵢ φᵢᵀ H⁻¹ φᵢ

with m coefficients and n rows of positive weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .objective import LOSSES, Objective
from .table.printed import PrintedColumn

# of an error: R's glm takes its weights from the step before the last, and its default tolerance
# ends the iteration at a relative change of 1e-8 of the deviance
ERROR_RTOL = 1e-4


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """The printed standard errors beside those recomputed.

    Attributes
    ----------
    cov : str
        The kind that agrees in all digits ("classical" first), or "classical" where none does.
    agree : bool
        Whether all do.
    recomputed : ndarray
        Of the kind ``cov``, in the order of the table.
    wrong : tuple of int
        Rows that disagree.
    """

    cov: str
    agree: bool
    recomputed: np.ndarray
    wrong: tuple[int, ...]


def kinds_of_errors(objective: Objective, v: np.ndarray) -> dict[str, np.ndarray]:
    """Return the standard errors of each kind at the optimum v."""
    design, Phi, s = objective.design, objective.Phi, objective.design.weights
    z = objective.scores(v)
    _, slope, curvature = LOSSES[objective.loss].evaluate(objective.target, z)
    if objective.loss == "gamma":  # the expected curvature, as programs take it; observed: y/μ
        curvature = 1.0
    curvature = np.broadcast_to(curvature, len(s))
    H = (Phi.T * (s * curvature)) @ Phi
    try:
        inverse = np.linalg.inv(H)
    except np.linalg.LinAlgError:
        return {}
    n, m = float(np.count_nonzero(s)), Phi.shape[1]
    if n <= m or not np.isfinite(inverse).all() or (np.diag(inverse) < 0).any():
        return {}
    plain = np.sqrt(np.diag(inverse))
    found = {}
    if objective.loss == "gaussian":
        found["classical"] = plain * np.sqrt(s @ slope**2 / (n - m))
    elif objective.loss == "gamma":
        mean = np.exp(z)
        phi = s @ ((design.y - mean) / mean) ** 2 / (n - m)
        found["classical"] = plain * np.sqrt(phi)
    else:
        found["classical"] = plain
        used = curvature > 0
        phi = s[used] @ (slope[used] ** 2 / curvature[used]) / (n - m)
        found["quasi-likelihood"] = plain * np.sqrt(phi)
    leverage = s * curvature * np.einsum("ij,jk,ik->i", Phi, inverse, Phi)
    left = np.maximum(1 - leverage, 1e-300)
    for name, factor in (
        ("HC0", np.ones(len(s))), ("HC1", np.full(len(s), n / (n - m))), ("HC2", 1 / left),
        ("HC3", 1 / left**2),
    ):  # fmt: skip
        meat = (Phi.T * (factor * (s * slope) ** 2)) @ Phi
        found[name] = np.sqrt(np.maximum(np.diag(inverse @ meat @ inverse), 0.0))
    return {name: errors / objective.d for name, errors in found.items()}


def compared(
    objective: Objective, v: np.ndarray, printed: PrintedColumn, order: Sequence[int]
) -> StandardErrors | None:
    """Return the kind that agrees with the printed errors; ``order``: rows of the coefficients."""
    kinds = kinds_of_errors(objective, v)
    if not kinds:
        return None
    best: StandardErrors | None = None
    for name, errors in kinds.items():
        in_table = np.empty(len(errors))
        in_table[list(order)] = errors
        allowed = printed.half_units * (1 + 1e-6) + ERROR_RTOL * in_table
        wrong = np.flatnonzero(np.abs(in_table - printed.values) > allowed)
        found = StandardErrors(name, not len(wrong), in_table, tuple(wrong.tolist()))
        if found.agree:
            return found
        best = best or found
    return best
