r"""Row weights from priors, and costs of wrong answers.

    a_i = s_i ("empirical"),  s_i/S_c ("balanced"),  S π_c s_i/S_c (shares π);  S_c = Σ s of class c

divided by S = Σs in the mean form. λ = Σa/n then gives the same problem in any form: Yang's 1 in
the sum form, MATLAB's 1/n in the mean form, 1/50 for three balanced classes of 50.
"""

from functools import partial
from numbers import Real

import numpy as np

from ..data.labels import named
from ..data.validation import one_of
from ..solvers.ncfs import PairLoss
from ..text.format import listed, number
from ._types import Costs, Prior, ValueLoss

PRIORS = ("empirical", "balanced", "uniform")
FORMS = ("sum", "mean")
SHARE_SUM_ATOL = 1e-6  # of shares typed by hand


def row_weights(
    prior: Prior, form: str, classes: np.ndarray, k: np.ndarray, s: np.ndarray | None
) -> np.ndarray:
    """Row weights a (n,) of a classification."""
    s = np.ones(len(k)) if s is None else s
    S_c = np.bincount(k, s, len(classes))
    if isinstance(prior, str) and prior == "empirical":
        a = s
    elif isinstance(prior, str) and prior == "balanced":
        a = s / S_c[k]
    else:
        a = s * (S_c.sum() * class_shares(prior, classes) / S_c)[k]
    return a / s.sum() if form == "mean" else a


def class_factors(
    prior: Prior, form: str, classes: np.ndarray, S_c: np.ndarray, batches: int
) -> np.ndarray:
    """Weights a (K,) of a row of weight 1 in each class, for a mean over so many batches.

    ``S_c`` (K,): Σ s of each class. The sum form is divided by the number of batches; the mean form
    is a mean over all rows in any case.
    """
    S = float(S_c.sum())
    each = 1 / S if form == "mean" else 1 / batches
    if isinstance(prior, str) and prior == "empirical":
        return np.full(len(classes), each)
    if isinstance(prior, str) and prior == "balanced":
        return each / S_c
    return each * S * class_shares(prior, classes) / S_c


def class_shares(prior: Prior, classes: np.ndarray) -> np.ndarray:
    """Shares π (K,) of the classes."""
    K = len(classes)
    if isinstance(prior, str):
        one_of("prior", prior, PRIORS)
        return np.full(K, 1 / K)
    if isinstance(prior, dict):
        labels = classes.tolist()
        unknown = [repr(label) for label in prior if label not in labels]
        missing = [repr(label) for label in labels if label not in prior]
        if unknown or missing:
            what = f"names {listed(unknown)}" if unknown else f"does not name {listed(missing)}"
            raise ValueError(f"prior {what}: give a share for each of the classes {named(classes)}")
        prior = [prior[label] for label in labels]
    try:
        pi = np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        pi = np.empty(0)
    if pi.shape != (K,):
        raise ValueError(
            f"prior={prior!r}: give 'empirical', 'balanced', 'uniform', a dict from class to "
            f"share, or {K} shares in the order {named(classes)}"
        )
    if not (np.isfinite(pi).all() and (pi >= 0).all()):
        raise ValueError(f"prior={prior!r}: give shares that are not negative")
    if abs(pi.sum() - 1) > SHARE_SUM_ATOL:
        raise ValueError(
            f"prior={prior!r} sums to {number(float(pi.sum()))}: give shares that sum to 1"
        )
    return pi / pi.sum()


def costs(loss: Costs, classes: np.ndarray) -> np.ndarray:
    """Cost matrix L (K, K): L[i, j] is the cost of answering j for class i."""
    K = len(classes)
    if callable(loss):
        L = np.asarray(loss(classes[:, None], classes[None, :]), dtype=float)
        L = np.broadcast_to(L, (K, K)) if L.ndim == 0 else L
        what = "loss(classes[:, None], classes[None, :])"
    else:
        what = "loss"
        try:
            L = np.asarray(loss, dtype=float)
        except (TypeError, ValueError):
            L = np.empty(0)
    if L.shape != (K, K):
        raise ValueError(
            f"{what} has shape {L.shape}, and there are {K} classes: give a matrix of shape "
            f"{(K, K)} in the order {named(classes)}, a function of two arrays of labels, or None"
        )
    require_finite_costs(L, what)
    return L


def require_finite_costs(L: np.ndarray, what: str) -> None:
    if not np.isfinite(L).all():
        i, j = np.argwhere(~np.isfinite(L))[0]
        raise ValueError(f"{what} holds {L[i, j]} at {int(i), int(j)}: costs must be finite")


def mean_cost(L: np.ndarray) -> float:
    """Mean cost of a wrong class, the unit of λ; 1 if that is 0."""
    wrong = L[~np.eye(len(L), dtype=bool)]
    return float(np.abs(wrong).mean()) or 1.0


def check_alpha(alpha: object) -> None:
    if isinstance(alpha, str) and alpha == "auto":
        return
    if not _is_finite_and_not_negative(alpha):
        raise ValueError(f"alpha={alpha!r}: give a number that is not negative, or 'auto'")


# --- regression -----------------------------------------------------------------------------------

LOSSES = ("absolute", "squared", "epsilon_insensitive")
IQR_TO_EPSILON = 13.49  # as in MATLAB: a tenth of the standard deviation for normal y


def loss_of_values(
    loss: ValueLoss, epsilon: float | str, y: np.ndarray
) -> tuple[PairLoss, float | None]:
    """Return loss(y_i, y_j) as a function of arrays, which other processes can load, and ε."""
    _check_epsilon(epsilon)
    if callable(loss):
        sample = y[: min(3, len(y))]
        L = np.asarray(loss(sample[:, None], sample[None, :]), dtype=float)
        if L.shape != (len(sample), len(sample)):
            raise ValueError(
                f"loss of arrays of shapes {(len(sample), 1)} and {(1, len(sample))} has shape "
                f"{L.shape}: give a function that broadcasts, such as (u - v) ** 2"
            )
        require_finite_costs(L, "loss")
        return loss, None
    one_of("loss", loss, LOSSES)
    if loss == "absolute":
        return absolute_loss, None
    if loss == "squared":
        return squared_loss, None
    low, high = np.percentile(y, [25, 75])
    e = float((high - low) / IQR_TO_EPSILON if epsilon == "auto" else epsilon)
    return partial(insensitive_loss, epsilon=e), e


def absolute_loss(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.abs(u - v)


def squared_loss(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray((u - v) ** 2)


def insensitive_loss(u: np.ndarray, v: np.ndarray, epsilon: float) -> np.ndarray:
    return np.maximum(np.abs(u - v) - epsilon, 0.0)


def _check_epsilon(epsilon: object) -> None:
    if isinstance(epsilon, str) and epsilon == "auto":
        return
    if not _is_finite_and_not_negative(epsilon):
        raise ValueError(f"epsilon={epsilon!r}: give a number that is not negative, or 'auto'")


def _is_finite_and_not_negative(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < np.inf
