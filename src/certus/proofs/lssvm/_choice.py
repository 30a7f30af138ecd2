r"""The choice of C and γ by rows left out: scores of f = f⁻ⁱ(x_i), of which more is better.

    accuracy             = Σ s [right]/Σ s
    balanced_accuracy    = mean over the classes of Σ_c s [right]/Σ_c s;  geometric_mean: its own
    mse                  = −Σ ω (y − f)²/Σ ω, mean over the columns
    log                  = −Σ ω log(1 + e^{−yf})/Σ ω;  of more classes Σ ω log softmax(f)_y/Σ ω

s are weights of rows, ω those and the classes'. As many scores of the grid are recomputed, spread
over it, as cost little.
"""

from typing import Any

import numpy as np

from certus.proofs.lssvm._claims import LEFT_OUT_ROWS, LOST_BY_SOLVING, SAME_CLAIM, left_out
from certus.proofs.lssvm.kernels import Kernel, gamma_of

WORK = 1e8  # operations that may be spent on scores, 4n³ each: a few milliseconds
AT_LEAST = 3
TIE = 1e-12  # relative: scores that are the same but for rounding
CS = 1e-2, 1e4  # where only a number of values was asked for,
GAMMAS = 1e-2, 1e2  # and these times "scale"
OF_SIDES = ("accuracy", "balanced_accuracy", "geometric_mean")


def score(
    scoring: str, f: np.ndarray, y: np.ndarray, s: np.ndarray | None, omega: np.ndarray
) -> float:
    """Of f (n, q) for signs y (n, q)."""
    two = y.shape[1] == 1
    codes = (y[:, 0] > 0).astype(int) if two else y.argmax(axis=1)
    s = np.ones(len(y)) if s is None else np.asarray(s)
    if scoring == "mse":
        return -float(np.average(((y - f) ** 2).mean(axis=1), weights=omega))
    if scoring == "log":
        if two:
            own = -np.logaddexp(0.0, -y[:, 0] * f[:, 0])
        else:
            top = f.max(axis=1, keepdims=True)
            own = (f - top)[np.arange(len(f)), codes] - np.log(np.exp(f - top).sum(axis=1))
        return float(np.average(own, weights=omega))
    hits = ((f[:, 0] > 0).astype(int) if two else f.argmax(axis=1)) == codes
    if scoring == "accuracy":
        return float(np.average(hits, weights=s))
    shares = np.bincount(codes, s * hits) / np.bincount(codes, s)
    if scoring == "balanced_accuracy":
        return float(shares.mean())
    return float(np.prod(shares) ** (1 / len(shares)))


def undecided(f: np.ndarray, slack: float) -> bool:
    """Is there a row on no side, but for rounding?"""
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
    how: dict[str, Any],
    fit_intercept: bool,
    at: tuple[float, float],
) -> list[str]:
    """What is wrong with a choice. ``how``: kernel, degree, coef0; ``at``: (γ, C) of the fit."""
    scores = np.asarray(choice["scores"], dtype=float)
    gammas, Cs = (np.asarray(choice[name], dtype=float) for name in ("gammas", "Cs"))
    if scores.shape != (len(gammas), len(Cs)):
        return [f"scores_ has shape {scores.shape}, the grid {(len(gammas), len(Cs))}"]
    said = _other_grid(choice, gammas, Cs, gamma_of(X, s), gamma_of(X, s, "auto"))
    best = float(np.nanmax(scores))
    here = np.argwhere((gammas[:, None] == at[0]) & (Cs == at[1]))
    if not len(here):
        return [*said, "C_ and gamma_ are not on the grid"]
    chosen = int(here[0][0]), int(here[0][1])
    if not scores[chosen] >= best - TIE * abs(best):
        said.append(f"C_ and gamma_ score {scores[chosen]:.9g}, another pair {best:.9g}")
    if choice["best_score"] != scores[chosen]:
        said.append(f"best_score_ is {choice['best_score']:.9g}, scores_ has {scores[chosen]:.9g}")
    if len(y) > LEFT_OUT_ROWS or not isinstance(choice["scoring"], str):
        return said
    for g, c in _some(scores.shape, len(y), chosen):
        K = Kernel.of(X, how["kernel"], float(gammas[g]), how["degree"], how["coef0"])
        C = np.full(y.shape[1], Cs[c])
        table = K.whole()
        fit = _fitted(table, y, omega, float(Cs[c]), fit_intercept)
        f, _, condition = left_out(table, y, omega, C, fit, fit_intercept)
        slack = (SAME_CLAIM + LOST_BY_SOLVING * condition) * max(1.0, float(np.abs(f).max()))
        if choice["scoring"] in OF_SIDES and undecided(f, slack):
            continue
        true = score(choice["scoring"], f, y, s, omega)
        if not abs(true - scores[g, c]) <= slack * max(1.0, abs(true)):
            said.append(
                f"scores_ at gamma {gammas[g]:.4g} and C {Cs[c]:.4g} is {scores[g, c]:.9g}, rows "
                f"left out say {true:.9g}"
            )
    return said[:2]


def _other_grid(
    choice: dict[str, Any], gammas: np.ndarray, Cs: np.ndarray, scale: float, auto: float
) -> list[str]:
    """Is the grid what was asked for: numbers, so many of them, or "scale" or "auto"?"""
    said = []
    low, high = GAMMAS
    spans = ("Cs", Cs, CS), ("gammas", gammas, (low * scale, high * scale))
    for name, stated, (first, last) in spans:
        asked = choice.get(f"asked_{name}")
        if asked is None:
            continue
        if isinstance(asked, str):
            true = np.array([scale if asked == "scale" else auto])
        elif np.ndim(asked) == 0 and float(asked).is_integer() and not isinstance(asked, float):
            one = asked == 1
            true = np.sqrt([first * last]) if one else np.geomspace(first, last, int(asked))
        else:
            true = np.unique(np.asarray(asked, dtype=float))
        if stated.shape != true.shape or not np.allclose(stated, true, SAME_CLAIM, 0.0):
            said.append(f"{name}_ is not the grid that {name}={asked!r} asks for")
    return said


def _some(shape: tuple[int, int], n: int, chosen: tuple[int, int]) -> list[tuple[int, int]]:
    """Cells of the grid: all of it, or the chosen one and some that are spread."""
    size = shape[0] * shape[1]
    most = max(AT_LEAST, int(WORK / (4.0 * n**3)))
    cells = np.arange(size) if most >= size else np.arange(most) * 0.6180339887498949 % 1.0 * size
    return [chosen, *((int(i) // shape[1], int(i) % shape[1]) for i in cells)]


def _fitted(
    K: np.ndarray, y: np.ndarray, omega: np.ndarray, C: float, fit_intercept: bool
) -> np.ndarray:
    """f of all rows, of which those of weight 0 are asked for."""
    if (omega > 0).all():
        return np.zeros_like(y)
    used = np.flatnonzero(omega > 0)
    n, first = len(used), int(fit_intercept)
    A = np.zeros((n + first, n + first))  # (K + I/Cω)β + b = y, Σβ = 0
    A[first:, first:] = K[np.ix_(used, used)] + np.diag(1 / (C * omega[used]))
    A[:first, first:], A[first:, :first] = 1.0, 1.0
    z = np.linalg.solve(A, np.vstack([np.zeros((first, y.shape[1])), y[used]]))
    return np.asarray(K[:, used] @ z[first:] + z[:first].sum(axis=0))
