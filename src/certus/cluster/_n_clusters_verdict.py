"""The answer of each method, and the verdict of all.

    silhouette   the k of the largest mean silhouette, if it exceeds all values of noise
    gap          the least k with Gap(k) ≥ Gap(k + 1) − s_{k+1}
    stability    the k of the least I(k) = (1 − stability(k)) / (1 − that of noise), if it is below
                 all values of noise; of nearly equal ones the largest
    bic          the k of the least BIC, if (BIC(1) − BIC(k))/n exceeds all values of noise

Noise is B uniform samples in the box of the data. A method that finds no structure answers k = 1.
Without structure, each method except the gap answers more than 1 with probability 1/(B + 1).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..text.format import listed, number

# Values of I within this margin count as equal: for well separated blobs, too few clusters are
# stable as well, with I = 0 for both.
INSTABILITY_MARGIN = 0.1

WHY_NO_BIC = "some component collapses, or as many numbers are fitted as there are rows"


class MethodAnswer(NamedTuple):
    """The number of clusters by one method, and the reason."""

    k: int | None  # 1: no structure; None: no answer
    why: str  # a clause


def from_silhouettes(ks: np.ndarray, mean: np.ndarray, noise: np.ndarray) -> MethodAnswer:
    """Return the answer of mean silhouettes (m,) and those of noise (B, m); NaN for k = 1."""
    if np.isnan(mean).all():
        return MethodAnswer(None, "no k above 1 was tried")
    best = int(np.nanargmax(mean))
    most = float(np.nanmax(noise, initial=-1.0))
    best_value = f"{number(mean[best], 2)} at k = {ks[best]}"
    if mean[best] <= most:
        return MethodAnswer(
            1, f"the largest mean, {best_value}, is within what noise reaches, {_two_digits(most)}"
        )
    return MethodAnswer(
        int(ks[best]), f"the largest mean, {best_value}; noise reaches {_two_digits(most)}"
    )


def gap_of(W: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (Gap, s_k) from W (m,) and W* (B, m); Gap = ∞ if W = 0, a cluster for each point."""
    with np.errstate(divide="ignore", invalid="ignore"):
        references = np.log(noise)
        gap = references.mean(axis=0) - np.log(W)
        error = references.std(axis=0) * np.sqrt(1 + 1 / len(noise))
    return np.where(W == 0, np.inf, gap), np.nan_to_num(error)


def from_gaps(ks: np.ndarray, gap: np.ndarray, error: np.ndarray) -> MethodAnswer:
    """Return the answer of the gap statistic."""
    if len(ks) < 2:
        return MethodAnswer(None, "one k has nothing to be compared with")
    for t in range(len(ks) - 1):
        if gap[t] >= gap[t + 1] - error[t + 1]:
            this, following = (f"{number(gap[i], 2)} at k = {ks[i]}" for i in (t, t + 1))
            return MethodAnswer(int(ks[t]), f"{this} is within one error of {following}")
    return MethodAnswer(None, f"it still rises at k = {ks[-1]}: try more clusters")


def from_stability(ks: np.ndarray, mean: np.ndarray, noise: np.ndarray) -> MethodAnswer:
    """Return the answer of mean stabilities (m,) and those of noise (B, m).

    NaN for k = 1, and if halves have too few rows.
    """
    known = np.flatnonzero(np.isfinite(mean) & np.isfinite(noise).all(axis=0))
    if not len(known):
        return MethodAnswer(None, "halves of the rows are too few for any k above 1")
    ks, mean, noise = ks[known], mean[known], noise[:, known]
    B = len(noise)
    others = (noise.sum(axis=0) - noise) / (B - 1)  # for each reference, the mean of the others
    I, I_noise = instability(mean, noise.mean(axis=0)), instability(noise, others)
    best = int(I.argmin())
    least = float(I_noise.min())

    def value_at(t: int) -> str:
        values = _two_digits(mean[t]), _two_digits(noise[:, t].mean())
        return f"{values[0]} at k = {ks[t]}, noise {values[1]}"

    threshold = I[best] + INSTABILITY_MARGIN
    chosen = int(np.flatnonzero(threshold >= I)[-1])
    if I[best] >= least:
        return MethodAnswer(1, f"no k is more stable than noise can be (best: {value_at(best)})")
    return MethodAnswer(int(ks[chosen]), f"halves of the rows agree {value_at(chosen)}")


def from_gains(
    ks: np.ndarray, gain: np.ndarray, noise: np.ndarray, shape: np.ndarray
) -> MethodAnswer:
    """Return the answer of gains (BIC(1) − BIC(k))/n (m,) and those of noise (B, m).

    NaN if there is no BIC; ``shape`` (m,): covariance types.
    """
    known = np.flatnonzero((ks > 1) & np.isfinite(gain))
    if not len(known):
        return MethodAnswer(None, f"mixtures of several components have none: {WHY_NO_BIC}")
    best = int(known[gain[known].argmax()])
    most = float(np.nanmax(noise[:, ks > 1], initial=0.0))
    best_value = f"{number(gain[best], 2)} a row over one component at k = {ks[best]}"
    if gain[best] <= 0:
        return MethodAnswer(1, "it is least for one component")
    if gain[best] <= most:
        return MethodAnswer(
            1,
            f"its largest gain, {best_value}, is within what noise gains, {_two_digits(most)}",
        )
    return MethodAnswer(
        int(ks[best]),
        f"it gains {best_value} ({shape[best]} covariances); noise {_two_digits(most)}",
    )


def shrink_to_pairs(noise: np.ndarray, R: int) -> np.ndarray:
    """Return means over the pairs, (B, pairs, m) → (B, m), shrunk as if each were over R pairs.

    With σ² the variance over the pairs of one reference and τ² that between references, a mean over
    c pairs has variance τ² + σ²/c. Means over fewer pairs than the data's would vary too much, so
    deviations from their common mean are multiplied by √((τ² + σ²/R)/(τ² + σ²/c)).
    """
    c = noise.shape[1]
    each = noise.mean(axis=1)
    mean, total = each.mean(axis=0), each.var(axis=0, ddof=1)
    sigma2 = noise.var(axis=1, ddof=1).mean(axis=0)
    target = np.maximum(0.0, total - sigma2 / c) + sigma2 / max(R, c)
    present = np.maximum(total, sigma2 / c)
    with np.errstate(invalid="ignore"):
        shrinkage = np.sqrt(
            np.divide(target, present, out=np.zeros_like(present), where=present > 0)
        )
    return mean + shrinkage * (each - mean)


def instability(mean: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return I: 0 if halves always agree, 1 if they agree as those of noise do."""
    headroom = 1 - noise
    # perfectly stable noise leaves no room for a difference
    return np.divide(1 - mean, headroom, out=np.ones_like(headroom), where=headroom > 1e-12)


def verdict(answers: Mapping[str, MethodAnswer]) -> tuple[int | None, str]:
    """Return (k, text); k is None if most methods find no structure."""
    answered = {name: answer.k for name, answer in answers.items() if answer.k is not None}
    structured = {name: k for name, k in answered.items() if k > 1}
    undecided = [f"{name} cannot say" for name in answers if name not in answered]
    if not answered:
        return None, "no answer: " + _and(
            [f"{name}: {answer.why}" for name, answer in answers.items()]
        )
    if 2 * len(structured) <= len(answered):
        reasons = _and([NO_STRUCTURE[name] for name in answered if name not in structured])
        exceptions = [f"{name} says {k}" for name, k in structured.items()]
        return None, "; ".join([f"no structure: {reasons}", *exceptions, *undecided])
    k = most_frequent(structured)
    agree = [name for name, other in structured.items() if other == k]
    others = [f"{name} says {other}" for name, other in structured.items() if other != k]
    others += [NO_STRUCTURE[name] for name in answered if name not in structured] + undecided
    if len(agree) == 1 and len(answered) > 1:
        disagreeing = listed(
            [f"{name} says {other}" for name, other in structured.items() if other != k]
        )
        head = f"{k} clusters, but methods disagree: {agree[0]} says {k}, {disagreeing}"
        return k, "; ".join([head, *others[len(structured) - 1 :]])
    if len(answered) == 1:
        return k, "; ".join([f"{k} clusters: by {agree[0]} alone", *undecided])
    return k, "; ".join([f"{k} clusters: {_and(agree)} agree", *others])


NO_STRUCTURE = {
    "silhouette": "silhouettes are no larger than those of noise",
    "gap": "the gap statistic prefers 1",
    "stability": "no k is stable",
    "bic": "BIC prefers one component",
}
# The method whose k is taken if the vote is tied. BIC is last: it counts components, and a cluster
# that is not an ellipsoid has several.
TIE_BREAK_ORDER = ("stability", "silhouette", "gap", "bic")


def most_frequent(structured: Mapping[str, int]) -> int:
    """Return the most frequent k; ties are broken by TIE_BREAK_ORDER."""
    named = list(structured.values())
    most = max(named.count(k) for k in named)
    return next(
        structured[name]
        for name in TIE_BREAK_ORDER
        if name in structured and named.count(structured[name]) == most
    )


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _two_digits(x: float) -> str:
    return number(x, 2)
