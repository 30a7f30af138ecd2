"""What is odd about a kernel on the rows of a fit, in words."""

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

LOOKED_AT = 128  # rows whose kernel with all others is looked at
MANY_DIGITS = 1e10  # condition from which rounding is worth a word
LOST = 1e-4  # of the objective: the most that rounding may leave unproven without a word
NOTHING = 1e-8  # a kernel below this, or this near to 1, says nothing about pairs of rows


def odd_gamma(X: np.ndarray, kernel: Kernel) -> list[str]:
    """γ so large that no row knows another, or so small that all rows are one."""
    if kernel.name != "rbf" or len(X) < 2:
        return []
    at = spread(len(X), min(LOOKED_AT, len(X)))
    K = kernel.gram(np.ascontiguousarray(X[at], dtype=float), np.asarray(X, dtype=float))
    K[np.arange(len(at)), at] = np.nan
    largest, least = np.median(np.nanmax(K, axis=1)), np.nanmin(K)
    gamma = f"gamma={number(kernel.gamma, 3)}"
    if largest < NOTHING:
        return [
            f"{gamma} is so large that rows know no other rows (of half of the "
            f"{count(len(at), 'row')} looked at, every kernel with another row is below "
            f"{small(float(largest) or NOTHING)}): they are learned by heart, and new rows get the "
            "intercept. Use gamma='scale', or less."
        ]
    if least > 1 - NOTHING and np.ptp(X, axis=0).any():
        return [
            f"{gamma} is so small that all rows are alike (every kernel is within "
            f"{small(float(1 - least))} of 1). Use gamma='scale', or more."
        ]
    return []


def ill_conditioned(model: "LeastSquares") -> list[str]:
    """C so large that digits are missing: as a share of what the intercept alone leaves, which
    grows with C, they may be nothing, and as a share of the objective a lot."""
    c = model.certificate_
    if model.condition_ < MANY_DIGITS or (c.certified and c.gap <= LOST * abs(c.objective)):
        return []
    return [
        f"The system's condition is up to {magnitude(model.condition_)}, and float64 has 16 "
        "digits: use a smaller C."
    ]


def indefinite(model: "KernelMachine", below: int) -> list[str]:
    """``below``: eigenvalues below 0 that the solver met; 0: it met none."""
    how_many = f" ({count(below, 'eigenvalue')} below 0)" if below else ""
    return [
        f"kernel {name_of(model.kernel)} is not positive semidefinite on these rows{how_many}: "
        "what is minimised has no minimum, and the fit is a stationary point of it. Nothing is "
        "called optimal. Use kernel='rbf', or other parameters of the kernel."
    ]


def classes_without_weight(classes: np.ndarray, k: np.ndarray, d: np.ndarray) -> list[str]:
    """Classes all of whose rows have density 0."""
    none = np.bincount(k, weights=d, minlength=len(classes)) == 0
    if not none.any():
        return []
    rows = int(np.isin(k, np.flatnonzero(none)).sum())
    return [
        f"All {count(rows, 'row')} of {'class' if none.sum() == 1 else 'classes'} "
        f"{named(classes[none])} have density weight 0 and count for nothing: use another "
        "n_neighbors or density, or a model without density weights (LSSVC)."
    ]
