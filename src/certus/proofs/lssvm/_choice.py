r"""The choice of C and γ by leave-one-out: scores of f = f⁻ⁱ(x_i); higher is better.

    accuracy             = Σ s [correct]/Σ s
    balanced_accuracy    = mean over the classes of Σ_c s [correct]/Σ_c s
    geometric_mean       = geometric mean of the same
    mse                  = −Σ ω (y − f)²/Σ ω, mean over the columns
    log                  = −Σ ω log(1 + e^{−yf})/Σ ω;  with more classes Σ ω log softmax(f)_y/Σ ω

s are weights of rows, ω those times the classes' weights. Scores are recomputed at points spread
over the grid, as many as are cheap.
"""

from typing import Any

import numpy as np

from certus.proofs.lssvm._claims import (
    CLAIM_TOLERANCE,
    MAX_LEFT_OUT_ROWS,
    SOLVE_ERROR_PER_CONDITION,
    left_out,
)
from certus.proofs.lssvm.kernels import KernelMatrix, gamma_of

MAX_OPERATIONS = 1e8  # spent on scores, 4n³ each: a few milliseconds
MIN_CELLS = 3  # recomputed at any cost
TIE_TOLERANCE = 1e-12  # relative: scores that differ by rounding only
C_RANGE = 1e-2, 1e4  # where only a number of values was requested
GAMMA_RANGE = 1e-2, 1e2  # likewise, multiples of "scale"
LABEL_SCORES = ("accuracy", "balanced_accuracy", "geometric_mean")


def score(
    scoring: str, f: np.ndarray, y: np.ndarray, s: np.ndarray | None, omega: np.ndarray
) -> float:
    """Return the score of f (n, q) for signs y (n, q)."""
    two = y.shape[1] == 1
    codes = (y[:, 0] > 0).astype(int) if two else y.argmax(axis=1)
    s = np.ones(len(y)) if s is None else np.asarray(s)
    if scoring == "mse":
        return -float(np.average(((y - f) ** 2).mean(axis=1), weights=omega))
    if scoring == "log":
        if two:
            log_probabilities = -np.logaddexp(0.0, -y[:, 0] * f[:, 0])
        else:
            top = f.max(axis=1, keepdims=True)
            log_probabilities = (f - top)[np.arange(len(f)), codes] - np.log(
                np.exp(f - top).sum(axis=1)
            )
        return float(np.average(log_probabilities, weights=omega))
    is_correct = ((f[:, 0] > 0).astype(int) if two else f.argmax(axis=1)) == codes
    if scoring == "accuracy":
        return float(np.average(is_correct, weights=s))
    shares = np.bincount(codes, s * is_correct) / np.bincount(codes, s)
    if scoring == "balanced_accuracy":
        return float(shares.mean())
    return float(np.prod(shares) ** (1 / len(shares)))


def has_undecided_row(f: np.ndarray, slack: float) -> bool:
    """Return whether rounding decides the class of some row."""
    if f.shape[1] == 1:
        return bool((np.abs(f) <= slack).any())
    first, second = -np.partition(-f, 1, axis=1)[:, :2].T
    return bool((first - second <= slack).any())


def choice_claims(
    choice: dict[str, Any],
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    omega: np.ndarray,
    kernel_params: dict[str, Any],
    fit_intercept: bool,
    at: tuple[float, float],
) -> list[str]:
    """Return what is wrong with a choice.

    ``kernel_params``: kernel, degree, coef0; ``at``: (γ, C) of the fit.
    """
    scores = np.asarray(choice["scores"], dtype=float)
    gammas, Cs = (np.asarray(choice[name], dtype=float) for name in ("gammas", "Cs"))
    if scores.shape != (len(gammas), len(Cs)):
        return [f"scores_ has shape {scores.shape}, the grid {(len(gammas), len(Cs))}"]
    messages = _other_grid(choice, gammas, Cs, gamma_of(X, s), gamma_of(X, s, "auto"))
    best = float(np.nanmax(scores))
    matches = np.argwhere((gammas[:, None] == at[0]) & (Cs == at[1]))
    if not len(matches):
        return [*messages, "C_ and gamma_ are not on the grid"]
    chosen = int(matches[0][0]), int(matches[0][1])
    if not scores[chosen] >= best - TIE_TOLERANCE * abs(best):
        messages.append(f"C_ and gamma_ score {scores[chosen]:.9g}, another pair {best:.9g}")
    if choice["best_score"] != scores[chosen]:
        messages.append(
            f"best_score_ is {choice['best_score']:.9g}, scores_ has {scores[chosen]:.9g}"
        )
    if len(y) > MAX_LEFT_OUT_ROWS or not isinstance(choice["scoring"], str):
        return messages
    for g, c in _sampled_cells(scores.shape, len(y), chosen):
        K = KernelMatrix.of(
            X,
            kernel_params["kernel"],
            float(gammas[g]),
            kernel_params["degree"],
            kernel_params["coef0"],
        )
        C = np.full(y.shape[1], Cs[c])
        table = K.whole()
        try:
            fit = _fitted(table, y, omega, float(Cs[c]), fit_intercept)
            f, _, condition = left_out(table, y, omega, C, fit, fit_intercept)
        except np.linalg.LinAlgError:  # A is singular, up to rounding: the score cannot be checked
            continue
        slack = (CLAIM_TOLERANCE + SOLVE_ERROR_PER_CONDITION * condition) * max(
            1.0, float(np.abs(f).max())
        )
        if choice["scoring"] in LABEL_SCORES and has_undecided_row(f, slack):
            continue
        true = score(choice["scoring"], f, y, s, omega)
        if not abs(true - scores[g, c]) <= slack * max(1.0, abs(true)):
            messages.append(
                f"scores_ at gamma {gammas[g]:.4g} and C {Cs[c]:.4g} is {scores[g, c]:.9g}, rows "
                f"left out give {true:.9g}"
            )
    return messages[:2]


def _other_grid(
    choice: dict[str, Any], gammas: np.ndarray, Cs: np.ndarray, scale: float, auto: float
) -> list[str]:
    """Return what differs between the grid and the requested numbers, count, "scale" or "auto"."""
    messages = []
    low, high = GAMMA_RANGE
    spans = ("Cs", Cs, C_RANGE), ("gammas", gammas, (low * scale, high * scale))
    for name, stated, (first, last) in spans:
        requested = choice.get(f"requested_{name}")
        if requested is None:
            continue
        if isinstance(requested, str):
            true = np.array([scale if requested == "scale" else auto])
        elif (
            np.ndim(requested) == 0
            and float(requested).is_integer()
            and not isinstance(requested, float)
        ):
            one = requested == 1
            true = np.sqrt([first * last]) if one else np.geomspace(first, last, int(requested))
        else:
            true = np.unique(np.asarray(requested, dtype=float))
        if stated.shape != true.shape or not np.allclose(stated, true, CLAIM_TOLERANCE, 0.0):
            messages.append(f"{name}_ is not the grid that {name}={requested!r} requests")
    return messages


def _sampled_cells(
    shape: tuple[int, int], n: int, chosen: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return cells of the grid: all, or the chosen one and some spread over the grid."""
    size = shape[0] * shape[1]
    n_cells = max(MIN_CELLS, int(MAX_OPERATIONS / (4.0 * n**3)))
    cells = (
        np.arange(size) if n_cells >= size else np.arange(n_cells) * 0.6180339887498949 % 1.0 * size
    )
    return [chosen, *((int(i) // shape[1], int(i) % shape[1]) for i in cells)]


def _fitted(
    K: np.ndarray, y: np.ndarray, omega: np.ndarray, C: float, fit_intercept: bool
) -> np.ndarray:
    """Return f of all rows; only those of rows of weight 0 are used."""
    if (omega > 0).all():
        return np.zeros_like(y)
    used = np.flatnonzero(omega > 0)
    n, first = len(used), int(fit_intercept)
    A = np.zeros((n + first, n + first))  # (K + I/Cω)β + b = y, Σβ = 0
    A[first:, first:] = K[np.ix_(used, used)] + np.diag(1 / (C * omega[used]))
    A[:first, first:], A[first:, :first] = 1.0, 1.0
    z = np.linalg.solve(A, np.vstack([np.zeros((first, y.shape[1])), y[used]]))
    return np.asarray(K[:, used] @ z[first:] + z[:first].sum(axis=0))
