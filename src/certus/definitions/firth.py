r"""Firth's logistic regression: how near to a stationary point a given (w, b) is.

    F(w, b) = −Σ_i s_i log P(y_i | x_i) − ½ log det I
    I = Σ_i s_i p_i(1 − p_i) x̃_i x̃_iᵀ      p = P(y = 1 | x) = σ(xᵀw + b),  x̃ = (x, 1)

The slope of p(1 − p) in z is p(1 − p)(1 − 2p), and ∂ log det I = tr I⁻¹∂I, so

    ∇F = Σ_i s_i (p_i − y_i + h_i(p_i − ½)) x̃_i      h_i = p_i(1 − p_i) x̃_iᵀI⁻¹x̃_i

with h_i that of a single row: a row of weight 2 adds 2h_i to the trace, as the row twice would.

residual = ½ ∇FᵀI⁻¹∇F / f₀ is what one more scoring step would gain, as a share of the losses f₀
that the intercept alone leaves. log det I need not be concave, so that a stationary point proves
nothing of other points.

Where columns repeat others, det is the product of the eigenvalues that are not 0. Directions that
are left out change no row's score.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.definitions.curvature import (
    add_and_compare,
    hessian,
    larger,
    row_sizes,
    with_constant,
)
from certus.definitions.duality import EVALUATION, Fitted
from certus.definitions.linear_sums import gamma
from certus.definitions.logistic import LogisticBend, LogisticMargin
from certus.definitions.margins import shares


class Information(NamedTuple):
    """I of the columns as viewed, on the directions that the rows know."""

    root: Any  # A with AAᵀ = I⁺, (P, r)
    log_det: float  # in the user's units


class FirthSums(NamedTuple):
    loss: Any  # −Σ s log P(y | x)
    mass: Any  # Σ s of each class
    expected: Any  # Σ s p
    g: Any  # ∇F, (P,)


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
def check(
    data: Any, *, w: Any, b: Any, fit_intercept: bool = True, tol: float = 1e-6
) -> dict[str, Any]:
    """Recompute objective and residual of w (p, 1), b (1,).

    Two passes, O(n·p²) operations, O(p²) memory a thread.
    """
    at = Fitted(data, w, b, 1.0, 0.0, 0.0, fit_intercept, None)
    constant = 1.0 if fit_intercept else None
    information = None if at.infeasible else information_of(data, at, constant)
    root = np.zeros((len(at.w) + fit_intercept, 0)) if information is None else information.root
    sums = data.reduce(scores, at.w, at.b, at.view, constant, root, combine=added, square=True)
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
        "share": sums.mass / total,
        "mean_probability": np.array([1 - sums.expected / total, sums.expected / total]),
    }


UNKNOWN = "probabilities of 0 and 1, or columns that nearly repeat others, leave det I unknown"


def information_of(data: Any, at: Fitted, constant: float | None) -> Information | None:
    """None where it cannot be told from rounding which directions the rows know."""
    bend = LogisticBend(1, (1.0, 1.0))
    H, peak = data.reduce(
        hessian, at.w, at.b, bend, at.view, constant, combine=add_and_compare, square=True
    )
    H = H[0, :, 0]
    d = np.sqrt(np.diagonal(H))
    if not np.isfinite(H).all():
        return None
    scale = np.where(d > 0, d, 1.0)
    lam, V = np.linalg.eigh(H / scale / scale[:, None])
    slack = (gamma(data.depth + len(d) + EVALUATION) + 2 * gamma(8 * len(d) + 8)) * len(d)
    known = lam > 4 * slack
    if not known.any():
        return None
    root = V[:, known] / np.sqrt(lam[known]) / scale[:, None]
    q = np.concatenate([at.q, [1.0] * (constant is not None)])
    if known.all():
        log_det = np.log(lam).sum() + 2 * np.log(scale / q).sum()
        return Information(root, float(log_det))
    rest = V[:, ~known] / scale[:, None]
    _, change = data.reduce(
        row_sizes, at.view, constant, peak, root[None], rest[None], combine=larger
    )
    if change > data.eps * max(len(d), 64) / lam[known].min():
        return None
    # as viewed I = (DV)Λ(DV)ᵀ; x̃ is x̃_viewed L, so that it is GΛGᵀ with G = LᵀDV, and of that the
    # eigenvalues that are not 0 multiply to det Λ · det GᵀG
    G = (scale / q)[:, None] * V[:, known]
    if at.view.c is not None:
        G[:-1] += np.multiply.outer(at.view.c, G[-1])
    R = np.linalg.qr(G, mode="r")
    log_det = np.log(lam[known]).sum() + 2 * np.log(np.abs(np.diagonal(R))).sum()
    return Information(root, float(log_det))


def added(left: FirthSums, right: FirthSums) -> FirthSums:
    return FirthSums(*(a + b for a, b in zip(left, right, strict=True)))


def scores(
    X: Any, y: Any, s: Any, w: Any, b: Any, view: Any, constant: float | None, root: Any
) -> FirthSums:
    """The sums of one block, given I⁺ by its root."""
    Z, y = with_constant(X, view, constant), y[:, 0]
    s = np.ones(len(y)) if s is None else s
    z = (np.dot(Z[:, : len(w)], w) + b)[:, 0]
    e = np.exp(-np.abs(z))
    p = np.where(z > 0, 1.0, e) / (1.0 + e)
    u = np.dot(Z, root)
    h = e / (1.0 + e) ** 2 * np.einsum("ij,ij->i", u, u)
    loss = np.log1p(e) + np.maximum(np.where(y == 1, -z, z), 0.0)
    # p − y is −(1 − p) where y = 1: no cancellation
    miss = np.where(y == 1, -np.where(z > 0, e, 1.0) / (1.0 + e), p)
    g = np.dot(Z.T, s * (miss + h * (p - 0.5)))
    return FirthSums(s @ loss, np.bincount(y.astype(np.intp), s, 2).astype(float), s @ p, g)
