r"""How good scores f⁻ⁱ(x_i) of rows left out are, as one number of which more is better.

    accuracy             Σ s [right]/Σ s
    balanced_accuracy    the mean over classes of the share that is right
    geometric_mean       its geometric mean
    mse                  −Σ ω (y − f)²/Σ ω, the mean over columns of y
    log                  −Σ ω log(1 + e^(−yf))/Σ ω; of more classes −log softmax(f) of the right one

s the weights of rows, ω = s·c with those of classes. Or a function of labels and scores.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import log_softmax

from ..data.validation import one_of
from ._classes import chosen

Score = Callable[[np.ndarray], float]


def score_of(
    scoring: str | Callable[..., float],
    classes: np.ndarray,
    k: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    omega: np.ndarray,
) -> Score:
    """A function of f (n, q); k the indices of classes, y (n, q) their signs."""
    if callable(scoring):
        labels = classes[k]
        return lambda f: float(scoring(labels, flat(f)))
    one_of("scoring", scoring, SCORES)
    of = SCORES[scoring]
    return lambda f: of(flat(f), k, y, s, omega)


def name_of_score(scoring: object) -> str:
    told = getattr(scoring, "__name__", "score") if callable(scoring) else scoring
    return str(told).replace("_", " ")


def flat(f: np.ndarray) -> np.ndarray:
    return f[:, 0] if f.shape[1] == 1 else f


def _accuracy(f: np.ndarray, k: np.ndarray, y: np.ndarray, s: np.ndarray, _: object) -> float:
    return float(s @ (chosen(f) == k) / s.sum())


def _shares(f: np.ndarray, k: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Of each class, the share by weight that is right."""
    right = np.bincount(k, weights=s * (chosen(f) == k))
    return right / np.bincount(k, weights=s)


def _balanced(f: np.ndarray, k: np.ndarray, y: np.ndarray, s: np.ndarray, _: object) -> float:
    return float(_shares(f, k, s).mean())


def _geometric(f: np.ndarray, k: np.ndarray, y: np.ndarray, s: np.ndarray, _: object) -> float:
    shares = _shares(f, k, s)
    return float(np.prod(shares) ** (1 / len(shares)))


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
