"""Remarks on the kernel and the weights of a fit."""

from typing import TYPE_CHECKING

import numpy as np

from ..data.labels import named
from ..data.rows import spread
from ..solvers.lssvm import Kernel
from ..text.format import count, magnitude, number, small
from ._kernels import name_of

if TYPE_CHECKING:
    from ._base import KernelMachine
    from ._least_squares import LeastSquares

SAMPLED_ROWS = 128  # whose kernel values with all others are computed
MIN_REPORTED_CONDITION = 1e10  # below, rounding leaves enough digits
MAX_SILENT_GAP = 1e-4  # relative to the objective: a smaller gap causes no remark
NEGLIGIBLE_KERNEL = 1e-8  # kernel values this close to 0 or 1 do not distinguish pairs of rows


def gamma_remarks(X: np.ndarray, kernel: Kernel) -> list[str]:
    """Return a remark if γ is so large that all kernel values are 0, or so small that all are 1."""
    if kernel.name != "rbf" or len(X) < 2:
        return []
    at = spread(len(X), min(SAMPLED_ROWS, len(X)))
    K = kernel.gram(np.ascontiguousarray(X[at], dtype=float), np.asarray(X, dtype=float))
    K[np.arange(len(at)), at] = np.nan
    largest, least = np.median(np.nanmax(K, axis=1)), np.nanmin(K)
    gamma = f"gamma={number(kernel.gamma, 3)}"
    if largest < NEGLIGIBLE_KERNEL:
        return [
            f"{gamma} is so large that rows have no neighbours (for half of the "
            f"{count(len(at), 'row')} sampled, every kernel value with another row is below "
            f"{small(float(largest) or NEGLIGIBLE_KERNEL)}): the model memorises its training "
            "rows, and new rows get the intercept. Use gamma='scale', or less."
        ]
    if least > 1 - NEGLIGIBLE_KERNEL and np.ptp(X, axis=0).any():
        return [
            f"{gamma} is so small that all rows are alike (every kernel value is within "
            f"{small(float(1 - least))} of 1). Use gamma='scale', or more."
        ]
    return []


def ill_conditioned(model: "LeastSquares") -> list[str]:
    """Return a remark if C is so large that digits are lost.

    The gap is compared with the objective: relative to the loss of the intercept alone, which grows
    with C, it may look negligible.
    """
    c = model.certificate_
    if model.condition_ < MIN_REPORTED_CONDITION or (
        c.certified and c.gap <= MAX_SILENT_GAP * abs(c.objective)
    ):
        return []
    return [
        f"The condition of the linear system is up to {magnitude(model.condition_)}, and float64 "
        "has 16 digits: use a smaller C."
    ]


def indefinite(model: "KernelMachine", n_negative: int) -> list[str]:
    """Return a remark on an indefinite kernel; ``n_negative`` eigenvalues were found, or 0."""
    number_text = f" ({count(n_negative, 'negative eigenvalue')})" if n_negative else ""
    return [
        f"kernel {name_of(model.kernel)} is not positive semidefinite on these rows{number_text}: "
        "the objective has no minimum, and the fit is a stationary point of it, not an optimum. "
        "Use kernel='rbf', or other parameters of the kernel."
    ]


def classes_without_weight(classes: np.ndarray, k: np.ndarray, d: np.ndarray) -> list[str]:
    """Return a remark on classes all of whose rows have density 0."""
    weightless = np.bincount(k, weights=d, minlength=len(classes)) == 0
    if not weightless.any():
        return []
    rows = int(np.isin(k, np.flatnonzero(weightless)).sum())
    return [
        f"All {count(rows, 'row')} of {'class' if weightless.sum() == 1 else 'classes'} "
        f"{named(classes[weightless])} have density weight 0 and no influence: use another "
        "n_neighbors or density, or a model without density weights (LSSVC)."
    ]
