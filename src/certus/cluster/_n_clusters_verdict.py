"""The answer of each method, and the verdict of all.

    silhouette   the k of the largest mean silhouette, if it exceeds all values of noise
    gap          the least k with Gap(k) ≥ Gap(k + 1) − s_{k+1}
    stability    the k of the least I(k) = (1 − stability(k)) / (1 − that of noise), if it is below
                 all values of noise; of nearly equal ones the largest
    bic          the k of the least BIC, if BIC(one group) − BIC(k) exceeds 10 and all gains in
                 samples of one Gaussian

Noise is B uniform samples in the box of the data. A method that finds no structure answers k = 1.
Without structure, each method except the gap answers more than 1 with probability 1/(B + 1).

The first three look for separated groups, and the majority of them decides. Components of BIC may
overlap, so that it decides only where no other method was requested, and is named beside them.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..text.format import listed, number

# Values of I within this margin count as equal: for well separated blobs, too few clusters are
# stable as well, with I = 0 for both.
INSTABILITY_MARGIN = 0.1
# A gain of BIC up to which there is none: more is "very strong" evidence (Kass and Raftery 1995).
# Of 60 rows uniform in a square that is turned by 45°, mixtures gained up to 7.
MIN_BIC_GAIN = 10.0
OVERLAP = 0.01  # share of rows in doubt from which components are said to overlap

MIN_REFERENCES = 2  # of noise, whose spread is needed
STOPPED_EARLY = "it was stopped before two samples of noise were clustered"

WHY_NO_BIC = "some component collapses, or as many numbers are fitted as there are rows"


class MethodAnswer(NamedTuple):
    """The number of clusters by one method, and the reason."""

    k: int | None  # 1: no structure; None: no answer
    why: str  # a clause


def from_silhouettes(ks: np.ndarray, mean: np.ndarray, noise: np.ndarray) -> MethodAnswer:
    """Return the answer of mean silhouettes (m,) and those of noise (B, m); NaN for k = 1."""
    if np.isnan(mean).all():
        return MethodAnswer(None, "no k above 1 was tried")
    if len(noise) < MIN_REFERENCES:
        return MethodAnswer(None, STOPPED_EARLY)
    best = int(np.nanargmax(mean))
    most = float(np.nanmax(noise, initial=-1.0))
    value, reached = apart(mean[best], most)
    if mean[best] <= most:
        why = f"the largest mean, {value} at k = {ks[best]}, is not above what noise reaches"
        return MethodAnswer(1, f"{why}, {reached}")
    return MethodAnswer(
        int(ks[best]), f"the largest mean, {value} at k = {ks[best]}; noise reaches {reached}"
    )


def gap_of(W: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (Gap, s_k) from W (m,) and W* (B, m); Gap = ∞ if W = 0, a cluster for each point."""
    if len(noise) < MIN_REFERENCES:
        return np.full(len(W), np.nan), np.full(len(W), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        references = np.log(noise)
        gap = references.mean(axis=0) - np.log(W)
        error = references.std(axis=0) * np.sqrt(1 + 1 / len(noise))
    return np.where(W == 0, np.inf, gap), np.nan_to_num(error)


def from_gaps(ks: np.ndarray, gap: np.ndarray, error: np.ndarray) -> MethodAnswer:
    """Return the answer of the gap statistic."""
    if len(ks) < 2:
        return MethodAnswer(None, "one k has nothing to be compared with")
    if np.isnan(error).any():
        return MethodAnswer(None, STOPPED_EARLY)
    for t in range(len(ks) - 1):
        if gap[t] >= gap[t + 1] - error[t + 1]:
            return MethodAnswer(
                int(ks[t]), _end_of_rise(ks[t : t + 2], gap[t : t + 2], error[t + 1])
            )
    return MethodAnswer(None, f"it still rises at k = {ks[-1]}: try more clusters")


def _end_of_rise(ks: np.ndarray, gap: np.ndarray, error: float) -> str:
    """Return how the gap changes between two k: it does not rise by more than its error."""
    if gap[0] == gap[1]:
        return f"it is {number(gap[0], 2)} at k = {ks[0]} and at {ks[1]}"
    low, high = apart(gap[0], gap[1])
    if gap[0] > gap[1]:
        return f"it falls from {low} at k = {ks[0]} to {high} at {ks[1]}"
    rise, most = apart(gap[1] - gap[0], error)
    ends = f"from {low} at k = {ks[0]} to {high} at {ks[1]}"
    return f"it rises {ends}, by {rise}, which is not more than its error, {most}"


def from_stability(ks: np.ndarray, mean: np.ndarray, noise: np.ndarray) -> MethodAnswer:
    """Return the answer of mean stabilities (m,) and those of noise (B, m).

    NaN for k = 1, and if halves have too few rows.
    """
    known = np.flatnonzero(np.isfinite(mean) & np.isfinite(noise).all(axis=0))
    if not len(known):
        return MethodAnswer(None, "halves of the rows are too few for any k above 1")
    if len(noise) < MIN_REFERENCES:
        return MethodAnswer(None, STOPPED_EARLY)
    ks, mean, noise = ks[known], mean[known], noise[:, known]
    B = len(noise)
    others = (noise.sum(axis=0) - noise) / (B - 1)  # for each reference, the mean of the others
    I, I_noise = instability(mean, noise.mean(axis=0)), instability(noise, others)
    best = int(I.argmin())
    least = float(I_noise.min())

    threshold = I[best] + INSTABILITY_MARGIN
    chosen = int(np.flatnonzero(threshold >= I)[-1])
    if I[best] >= least:
        ratio, reached = apart(I[best], least)
        return MethodAnswer(
            1,
            f"relative to noise, halves disagree least at k = {ks[best]}: {ratio} times as much as "
            f"those of noise on average, and those of single noise samples {reached} times",
        )
    agreement, of_noise = apart(mean[chosen], noise[:, chosen].mean())
    why = f"halves of the rows agree {agreement} at k = {ks[chosen]}, noise {of_noise}"
    return MethodAnswer(int(ks[chosen]), why)


def from_gains(
    ks: np.ndarray, gain: np.ndarray, noise: np.ndarray, shape: np.ndarray, one_group: str
) -> MethodAnswer:
    """Return the answer of gains BIC(one group) − BIC(k) (m,) and the largest of noise (B,).

    NaN if there is no BIC; ``shape`` (m,): covariance types; ``one_group``: the density of one.
    """
    known = np.flatnonzero((ks > 1) & np.isfinite(gain))
    if not len(known):
        return MethodAnswer(None, f"mixtures of several components have none: {WHY_NO_BIC}")
    best = int(known[gain[known].argmax()])
    most = float(noise.max(initial=-np.inf))
    at = f"at k = {ks[best]} ({shape[best]} covariances)"
    if gain[best] <= 0:
        worse = number(-gain[best], 3)
        return MethodAnswer(
            1, f"one group ({one_group}) has the least; the next is {worse} above it, {at}"
        )
    value, limit = apart(gain[best], max(most, MIN_BIC_GAIN), 3)
    if gain[best] <= MIN_BIC_GAIN:
        return MethodAnswer(
            1, f"the largest gain over one group ({one_group}), {value} {at}, is not above {limit}"
        )
    reached = f"samples of one Gaussian gain at most {apart(most, gain[best], 3)[0]}"
    if not len(noise):
        reached = "no sample of one Gaussian was compared"
    if gain[best] <= most:
        why = f"the largest gain over one group ({one_group}), {value} {at}, is no more than chance"
        return MethodAnswer(1, f"{why}: {reached}")
    return MethodAnswer(
        int(ks[best]), f"it is {value} below that of one group ({one_group}) {at}; {reached}"
    )


def mixture_in_words(
    ks: np.ndarray, gain: np.ndarray, overlap: np.ndarray, best: int, one_group: str
) -> str:
    """Return what BIC found, for a verdict: how much better k components fit than one group.

    ``best``: the index of the k of the least BIC. The least k that gains is named as well.
    """
    overlapping = " overlapping" if overlap[best] >= OVERLAP else ""
    one = "one Gaussian" if one_group == "Gaussian" else f"a {one_group}"
    least = int(np.flatnonzero((ks > 1) & (gain > MIN_BIC_GAIN))[0])
    fewer = f" ({ks[least]}: by {number(gain[least], 3)})" if least < best else ""
    return (
        f"a mixture of {ks[best]}{overlapping} Gaussians fits better than {one}, by BIC "
        f"{number(gain[best], 3)}{fewer}"
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


def verdict(answers: Mapping[str, MethodAnswer], mixture: str = "") -> tuple[int | None, str]:
    """Return (k, text); k is None if most methods find no separated groups.

    ``mixture``: what BIC found, in words.
    """
    answered = {name: answer.k for name, answer in answers.items() if answer.k is not None}
    structured = {name: k for name, k in answered.items() if k > 1}
    undecided = [f"{name} cannot say" for name in answers if name not in answered]
    if not answered:
        return None, "no answer: " + _and(
            [f"{name}: {answer.why}" for name, answer in answers.items()]
        )
    voters = [name for name in answered if name != "bic"] or list(answered)
    found = [name for name in voters if name in structured]
    if 2 * len(found) <= len(voters):
        without = [name for name in answered if name not in structured]
        head = "no separated groups" if "bic" in structured else "no structure"
        reasons = _and([NO_STRUCTURE[name] for name in without])
        exceptions = [f"{name} says {structured[name]}" for name in found]
        exceptions += [mixture] if "bic" in structured else []
        return None, "; ".join([f"{head}: {reasons}", *exceptions, *undecided])
    k = most_frequent(structured)
    agree = [name for name, other in structured.items() if other == k]
    others = [f"{name} says {other}" for name, other in structured.items() if other != k]
    others += [NO_STRUCTURE[name] for name in answered if name not in structured] + undecided
    if len(answered) == 1:
        of_bic = f"{k} Gaussian components: by bic alone"
        head = of_bic if agree == ["bic"] else f"{k} clusters: by {agree[0]} alone"
        return k, "; ".join([head, *undecided])
    if len(agree) == 1 and len(structured) > 1:
        disagreeing = listed(
            [f"{name} says {other}" for name, other in structured.items() if other != k]
        )
        head = f"{k} clusters, but methods disagree: {agree[0]} says {k}, {disagreeing}"
        return k, "; ".join([head, *others[len(structured) - 1 :]])
    verb = "agree" if len(agree) > 1 else "says so"
    return k, "; ".join([f"{k} clusters: {_and(agree)} {verb}", *others])


NO_STRUCTURE = {
    "silhouette": "silhouettes are no larger than those of noise",
    "gap": "the gap statistic prefers 1",
    "stability": "stability is within what noise reaches",
    "bic": "no mixture gains enough in BIC over one group",
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


def apart(a: float, b: float, digits: int = 2) -> tuple[str, str]:
    """Return both numbers with as few digits, at least ``digits``, as tell them apart.

    >>> apart(1.41, 1.39), apart(0.5, 0.25), apart(1.0, 1.0)
    (('1.41', '1.39'), ('0.5', '0.25'), ('1', '1'))
    """
    for more in range(digits, 16):
        if number(a, more) != number(b, more):
            return number(a, more), number(b, more)
    return number(a, digits), number(b, digits)
