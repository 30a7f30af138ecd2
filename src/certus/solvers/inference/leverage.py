r"""Sandwich estimators with the leverage of the rows, for models fitted by maximum likelihood.

    M = Σ s g gᵀ/(1 − h)^d,   h = W φᵀ(H + Λ)⁻¹φ,   d = 0 (HC0, HC1), 1 (HC2), 2 (HC3)

g is the gradient of a row and W its curvature: H = Σ s W φφᵀ is the information, and h the leverage
of the row in the weighted least squares whose solution is the optimum. HC1 is n/(n − rank) times
HC0. g/(1 − h) is what Newton's step from the optimum without the row amounts to, so HC3 is close to
the jackknife. Of repeated rows (weights) each has the leverage of one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...data.rows import Rows
from ...exceptions import InferenceError

LEVERAGE_POWERS = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}  # exponents d of 1/(1 − h)
MIN_LEVERAGE_COMPLEMENT = 1e-8  # a smaller 1 − h is rounding


class MeatSums(NamedTuple):
    """M of a block of rows, and how many of them have leverage 1."""

    M: np.ndarray
    n_leverage_one: int


def meat(Z: np.ndarray, r: np.ndarray, W: np.ndarray, s: Any, power: int) -> MeatSums:
    """Return the sums for g = r·z, and h = W‖z‖², of rows z = Bᵀφ, BBᵀ = (H + Λ)⁻¹."""
    n_leverage_one = 0
    if power:
        complement = 1 - W * np.einsum("ij,ij->i", Z, Z)
        at_one = is_one(Z, W)
        n_leverage_one = int(np.count_nonzero(at_one))
        complement[at_one] = 1.0
        r = r / (complement if power == 2 else np.sqrt(complement))
    g = r[:, None] * Z
    return MeatSums(np.dot(g.T, g if s is None else s[:, None] * g), n_leverage_one)


def is_one(Z: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return which rows have leverage 1, up to rounding."""
    one: np.ndarray = 1 - W * np.einsum("ij,ij->i", Z, Z) < MIN_LEVERAGE_COMPLEMENT
    return one


def first_row(rows: Rows, is_one_of: Callable[..., np.ndarray], *args: Any) -> int:
    """Return the number of the first row for which ``is_one_of(X_b, y_b, s_b, *args)`` is true."""
    return next(
        start + int(found[0])
        for start, stop in rows.edges()
        if len(found := np.flatnonzero(is_one_of(*rows.block(start, stop), *args)))
    )


def refuse_leverage_one(row: int, n_leverage_one: int, cov: str) -> NoReturn:
    """Raise with the number of the first row."""
    others = f" (and {n_leverage_one - 1} more)" if n_leverage_one > 1 else ""
    raise InferenceError(
        f"row {row}{others} has leverage 1: it alone determines a coefficient, so its residual is "
        f"0 for any y, and {cov} divides by 0. Use cov='HC1', or drop the row and the column that "
        "only it determines"
    )
