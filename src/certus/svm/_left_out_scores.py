r"""Measures of leave-one-out scores f⁻ⁱ(x_i); higher is better.

    accuracy             Σ s [correct]/Σ s
    balanced_accuracy    the mean over classes of the share that is correct
    geometric_mean       the geometric mean of these shares
    mse                  −Σ ω (y − f)²/Σ ω, the mean over columns of y
    log                  −Σ ω log(1 + e^(−yf))/Σ ω; with more classes log softmax(f) of the true one

s are the weights of rows, ω = s·c with those of classes. Or a function of labels and scores.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import log_softmax

from ..data.validation import one_of
from ._classes import predicted_codes

Score = Callable[[np.ndarray], float]


def score_of(
    scoring: str | Callable[..., float],
    classes: np.ndarray,
    k: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    omega: np.ndarray,
) -> Score:
    """Return the measure as a function of f (n, q); k are class indices, y (n, q) their signs."""
    if callable(scoring):
        labels = classes[k]
        return lambda f: float(scoring(labels, flat(f)))
    one_of("scoring", scoring, SCORES)
    score_function = SCORES[scoring]
    return lambda f: score_function(flat(f), k, y, s, omega)


def name_of_score(scoring: object) -> str:
    name = getattr(scoring, "__name__", "score") if callable(scoring) else scoring
    return str(name).replace("_", " ")


def flat(f: np.ndarray) -> np.ndarray:
    return f[:, 0] if f.shape[1] == 1 else f


def _accuracy(f: np.ndarray, k: np.ndarray, y: np.ndarray, s: np.ndarray, _: object) -> float:
    return float(s @ (predicted_codes(f) == k) / s.sum())


def _recalls(f: np.ndarray, k: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the weighted share of each class that is predicted correctly."""
    is_correct = np.bincount(k, weights=s * (predicted_codes(f) == k))
    return is_correct / np.bincount(k, weights=s)


def _balanced(f: np.ndarray, k: np.ndarray, y: np.ndarray, s: np.ndarray, _: object) -> float:
    return float(_recalls(f, k, s).mean())


def _geometric(f: np.ndarray, k: np.ndarray, y: np.ndarray, s: np.ndarray, _: object) -> float:
    recalls = _recalls(f, k, s)
    return float(np.prod(recalls) ** (1 / len(recalls)))


def _squared(
    f: np.ndarray, k: np.ndarray, y: np.ndarray, s: np.ndarray, omega: np.ndarray
) -> float:
    losses = np.square(y - f.reshape(y.shape)).mean(axis=1)
    return float(-(omega @ losses) / omega.sum())


def _log(f: np.ndarray, k: np.ndarray, y: np.ndarray, s: np.ndarray, omega: np.ndarray) -> float:
    logs = (
        -np.logaddexp(0, -y[:, 0] * f) if f.ndim == 1 else log_softmax(f, axis=1)[range(len(k)), k]
    )
    return float(omega @ logs / omega.sum())


SCORES: dict[str, Callable[..., float]] = {
    "accuracy": _accuracy, "balanced_accuracy": _balanced, "geometric_mean": _geometric,
    "mse": _squared, "log": _log,
}  # fmt: skip
