r"""C-SVC to the last digits, from an approximate solution.

    F: 0 < α_i < C_i        y_i f(x_i) = 1
    B: α_i = C_i            y_i f(x_i) ≤ 1        β = α∘y,  Σβ = 0,  f = Kβ + b
    others: α_i = 0         y_i f(x_i) ≥ 1

The approximate solution gives the first partition of the rows; β of F and b are then one linear
system,

    [[K_FF, 1], [1ᵀ, 0]] [β_F; b] = [y_F − K_FB β_B; −Σβ_B]

and rows that violate their condition change sets. libsvm caches its kernel in float32, so it cannot
deliver the last digits itself.
"""

import numpy as np

MAX_ROUNDS = 30  # of changing the partition
MARGIN_ROUNDING = 1e-10  # of y f = 1


def polish(
    K: np.ndarray, y: np.ndarray, upper: np.ndarray, beta: np.ndarray, b: float
) -> tuple[np.ndarray, float] | None:
    """Return β and b for bounds C_i = ``upper`` > 0, y = ±1, K (n, n); None: no valid partition."""
    alpha = beta * y
    free = (alpha > 0) & (alpha < upper)
    at_upper = alpha >= upper
    for _ in range(MAX_ROUNDS):
        if not free.any():
            return None  # b is not unique then
        solution = np.where(at_upper, upper * y, 0.0)
        F = np.flatnonzero(free)
        A = np.ones((len(F) + 1, len(F) + 1))
        A[:-1, :-1], A[-1, -1] = K[np.ix_(F, F)], 0.0
        rhs = np.append(y[F] - K[F] @ solution, -solution.sum())
        beta_b, *_ = np.linalg.lstsq(A, rhs, rcond=None)
        solution[F], b = beta_b[:-1], float(beta_b[-1])
        alpha = solution * y
        below, above = free & (alpha < 0), free & (alpha > upper)
        if below.any() or above.any():
            free &= ~(below | above)
            at_upper |= above
            continue
        margin = y * (K @ solution + b) - 1
        misplaced = ~free & np.where(at_upper, margin > MARGIN_ROUNDING, margin < -MARGIN_ROUNDING)
        if not misplaced.any():
            return solution, b
        worst = int(np.argmax(np.where(misplaced, np.abs(margin), 0.0)))
        free[worst], at_upper[worst] = True, False
    return None
