r"""Firth's logistic regression: how near to a stationary point a given (w, b) is.

    F(w, b) = −Σ_i s_i log P(y_i | x_i) − ½ log det I
    I = Σ_i s_i p_i(1 − p_i) x̃_i x̃_iᵀ      p = P(y = 1 | x) = σ(xᵀw + b),  x̃ = (x, 1)

The slope of p(1 − p) in z is p(1 − p)(1 − 2p), and ∂ log det I = tr I⁻¹∂I, so

    ∇F = Σ_i s_i (p_i − y_i + h_i(p_i − ½)) x̃_i      h_i = p_i(1 − p_i) x̃_iᵀI⁻¹x̃_i

with h_i that of a single row: a row of weight 2 adds 2h_i to the trace, as the row twice would.

residual = ½ ∇FᵀI⁻¹∇F / f₀ is what one more scoring step would gain, as a share of the losses f₀
that the intercept alone leaves. log det I need not be concave, so that a stationary point proves
nothing of other points.

Where columns repeat others, det is the product of the eigenvalues that are not 0. A direction is
left out only by the rule of ``negligible_directions``. F and the residual are the same in all
coordinates, up to a constant of det: where I, in the columns as they are, cannot be told from
rounding, and with more columns than rows, they are taken along other directions
(``firth_directions``).
"""

from typing import Any

import numpy as np

from certus.definitions.curvature import add_and_compare, hessian, with_constant
from certus.definitions.duality import EVALUATION, Fitted
from certus.definitions.firth_directions import (
    FirthSums,
    Information,
    along_directions,
    firth_sums,
    sums_added,
)
from certus.definitions.linear_sums import gamma
from certus.definitions.logistic import LogisticBend, LogisticMargin
from certus.definitions.margins import shares
from certus.definitions.negligible_directions import LeftOut, left_out_of

MUCH_ABOVE = 1e6  # times what rounding can do, of eigenvalues whose inverses are then good


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
def check(
    data: Any, *, w: Any, b: Any, fit_intercept: bool = True, tol: float = 1e-6
) -> dict[str, Any]:
    """Recompute objective and residual of w (p, 1), b (1,).

    Two passes, O(n·p²) operations, O(p²) memory a thread.
    """
    at = Fitted(data, w, b, 1.0, 0.0, 0.0, fit_intercept, None)
    constant, information = 1.0 if fit_intercept else None, None
    left_out: list[LeftOut] = []
    if not at.infeasible and data.shape[1] < data.shape[0]:
        information = information_of(data, at, constant)
    if information is not None:
        sums = data.reduce(
            scores, at.w, at.b, at.view, constant, information.root, combine=sums_added, square=True
        )
    elif not at.infeasible:
        w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
        information, sums, left_out = along_directions(data, w, b, fit_intercept)
    root = np.zeros((0, 0)) if information is None else information.root
    if information is None:
        nowhere = np.zeros((len(at.w) + fit_intercept, 0))
        sums = data.reduce(
            scores, at.w, at.b, at.view, constant, nowhere, combine=sums_added, square=True
        )
    f0 = float(LogisticMargin.null(sums.mass[1], sums.mass[0], fit_intercept))
    nothing = information is None
    gain = float("inf") if nothing else float(np.sum((root.T @ sums.g) ** 2) / 2)
    log_det = -np.inf if information is None else information.log_det
    total = sums.mass.sum()
    return {
        "objective": float(sums.loss - log_det / 2),
        "bound": None,
        "gap": float("inf"),
        "residual": float(shares(np.float64(gain), f0)),
        "gain": gain,
        "null_objective": f0,
        "log_likelihood": -float(sums.loss),
        "log_det": float(log_det),
        "rank": root.shape[1],
        "kind": "stationary",
        "convex": False,
        "infeasible": at.infeasible or (UNKNOWN if nothing else None),
        "left_out": left_out_of(left_out, len(at.w)),
        "share": sums.mass / total,
        "mean_probability": np.array([1 - sums.expected / total, sums.expected / total]),
    }


UNKNOWN = "probabilities of 0 and 1, or columns that nearly repeat others, leave det I unknown"


def information_of(data: Any, at: Fitted, constant: float | None) -> Information | None:
    """Return the information of the columns as viewed, or None if rounding hides it."""
    bend = LogisticBend(1, (1.0, 1.0))
    H, _ = data.reduce(
        hessian, at.w, at.b, bend, at.view, constant, combine=add_and_compare, square=True
    )
    H = H[0, :, 0]
    d = np.sqrt(np.diagonal(H))
    if not (np.isfinite(H).all() and (d > 0).all()):
        return None
    lam, V = np.linalg.eigh(H / d / d[:, None])
    slack = (gamma(data.depth + len(d) + EVALUATION) + 2 * gamma(8 * len(d) + 8)) * len(d)
    if not lam[0] > MUCH_ABOVE * slack:
        return None
    q = np.concatenate([at.q, [1.0] * (constant is not None)])
    log_det = np.log(lam).sum() + 2 * np.log(d / q).sum()
    return Information(V / np.sqrt(lam) / d[:, None], float(log_det))


def scores(
    X: Any, y: Any, s: Any, w: Any, b: Any, view: Any, constant: float | None, root: Any
) -> FirthSums:
    """The sums of one block, given I⁺ by its root."""
    Z, y = with_constant(X, view, constant), y[:, 0]
    z = (np.dot(Z[:, : len(w)], w) + b)[:, 0]
    return firth_sums(Z, y, np.ones(len(y)) if s is None else s, z, root)
