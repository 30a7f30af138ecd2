r"""C-SVC from a nearby answer, to the last digits.

    F: 0 < α_i < C_i        y_i f(x_i) = 1
    B: α_i = C_i            y_i f(x_i) ≤ 1        β = α∘y,  Σβ = 0,  f = Kβ + b
    the rest: α_i = 0       y_i f(x_i) ≥ 1

Which row is where is read off the answer that is given; β of F and b are then one linear system,

    [[K_FF, 1], [1ᵀ, 0]] [β_F; b] = [y_F − K_FB β_B; −Σβ_B]

and rows that do not belong where they are change their place. libsvm keeps its kernel in float32,
so the last digits are not its to give.
"""

import numpy as np

ROUNDS = 30
SLACK = 1e-10  # of y f = 1: what rounding may do


def polish(
    K: np.ndarray, y: np.ndarray, most: np.ndarray, beta: np.ndarray, b: float
) -> tuple[np.ndarray, float] | None:
    """β and b of rows with C_i = most > 0, y = ±1, K (n, n); None: no such places were found."""
    alpha = beta * y
    free = (alpha > 0) & (alpha < most)
    top = alpha >= most
    for _ in range(ROUNDS):
        if not free.any():
            return None  # b is then not one number
        found = np.where(top, most * y, 0.0)
        F = np.flatnonzero(free)
        A = np.ones((len(F) + 1, len(F) + 1))
        A[:-1, :-1], A[-1, -1] = K[np.ix_(F, F)], 0.0
        right = np.append(y[F] - K[F] @ found, -found.sum())
        solution, *_ = np.linalg.lstsq(A, right, rcond=None)
        found[F], b = solution[:-1], float(solution[-1])
        alpha = found * y
        below, above = free & (alpha < 0), free & (alpha > most)
        if below.any() or above.any():
            free &= ~(below | above)
            top |= above
            continue
        margin = y * (K @ found + b) - 1
        wrong = ~free & np.where(top, margin > SLACK, margin < -SLACK)
        if not wrong.any():
            return found, b
        worst = int(np.argmax(np.where(wrong, np.abs(margin), 0.0)))
        free[worst], top[worst] = True, False
    return None
