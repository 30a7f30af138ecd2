"""What each method says about the number of clusters, and what they say together.

    silhouette   the k of the largest mean silhouette, if it is above all that noise reaches
    gap          the least k with Gap(k) ≥ Gap(k + 1) − s_{k+1}
    stability    the k of the least I(k) = (1 − stability(k)) / (1 − that of noise), if it is below
                 all that noise reaches; of nearly equal ones the largest
    bic          the k of the least BIC, if (BIC(1) − BIC(k))/n is above all that noise reaches

Noise is B uniform samples in the box of the data. A method that finds nothing says k = 1. Where
there is nothing, each but the gap says more than 1 with probability 1/(B + 1).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..text.format import listed, number

NEARLY = 0.1  # of I: with blobs far apart, also too few clusters are stable, and I is 0 for both

NO_BIC = "some component collapses, or as many numbers are fitted as there are rows"


class Says(NamedTuple):
    k: int | None  # 1: no structure; None: it cannot say
    why: str  # a clause


def from_silhouettes(ks: np.ndarray, mean: np.ndarray, noise: np.ndarray) -> Says:
    """``mean`` (m,), ``noise`` (B, m); NaN for k = 1."""
    if np.isnan(mean).all():
        return Says(None, "no k above 1 was tried")
    best = int(np.nanargmax(mean))
    most = float(np.nanmax(noise, initial=-1.0))
    here = f"{number(mean[best], 2)} at k = {ks[best]}"
    if mean[best] <= most:
        return Says(1, f"the largest mean, {here}, is within what noise reaches, {_two(most)}")
    return Says(int(ks[best]), f"the largest mean, {here}; noise reaches {_two(most)}")


def gap_of(W: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Gap, s_k) from W (m,) and W* (B, m). W = 0, a cluster for each point, has Gap = ∞."""
    with np.errstate(divide="ignore", invalid="ignore"):
        references = np.log(noise)
        gap = references.mean(axis=0) - np.log(W)
        error = references.std(axis=0) * np.sqrt(1 + 1 / len(noise))
    return np.where(W == 0, np.inf, gap), np.nan_to_num(error)


def from_gaps(ks: np.ndarray, gap: np.ndarray, error: np.ndarray) -> Says:
    if len(ks) < 2:
        return Says(None, "one k has nothing to be compared with")
    for t in range(len(ks) - 1):
        if gap[t] >= gap[t + 1] - error[t + 1]:
            here, after = number(gap[t], 2), number(gap[t + 1], 2)
            return Says(
                int(ks[t]),
                f"{here} at k = {ks[t]} is within one error of {after} at k = {ks[t + 1]}",
            )
    return Says(None, f"it still rises at k = {ks[-1]}: try more clusters")


def from_stability(ks: np.ndarray, mean: np.ndarray, noise: np.ndarray) -> Says:
    """``mean`` (m,), ``noise`` (B, m); NaN for k = 1, and where halves have too few rows."""
    known = np.flatnonzero(np.isfinite(mean) & np.isfinite(noise).all(axis=0))
    if not len(known):
        return Says(None, "halves of the rows are too few for any k above 1")
    ks, mean, noise = ks[known], mean[known], noise[:, known]
    B = len(noise)
    others = (noise.sum(axis=0) - noise) / (B - 1)  # each reference against the rest
    I, I_noise = instability(mean, noise.mean(axis=0)), instability(noise, others)
    best = int(I.argmin())
    least = float(I_noise.min())
    nearly = I[best] + NEARLY
    chosen = int(np.flatnonzero(nearly >= I)[-1])
    if I[best] >= least:
        there = f"{_two(mean[best])} at k = {ks[best]}, noise {_two(noise[:, best].mean())}"
        return Says(1, f"no k is more stable than noise can be (best: {there})")
    there = f"{_two(mean[chosen])} at k = {ks[chosen]}, noise {_two(noise[:, chosen].mean())}"
    return Says(int(ks[chosen]), f"halves of the rows agree {there}")


def from_gains(ks: np.ndarray, gain: np.ndarray, noise: np.ndarray, shape: np.ndarray) -> Says:
    """``gain`` (m,), ``noise`` (B, m): (BIC(1) − BIC(k))/n, NaN where there is no BIC; ``shape``
    (m,): of the covariances."""
    known = np.flatnonzero((ks > 1) & np.isfinite(gain))
    if not len(known):
        return Says(None, f"mixtures of several components have none: {NO_BIC}")
    best = int(known[gain[known].argmax()])
    most = float(np.nanmax(noise[:, ks > 1], initial=0.0))
    here = f"{number(gain[best], 2)} a row over one component at k = {ks[best]}"
    if gain[best] <= 0:
        return Says(1, "it is least for one component")
    if gain[best] <= most:
        return Says(1, f"the most that it gains, {here}, is within what noise gains, {_two(most)}")
    return Says(int(ks[best]), f"it gains {here} ({shape[best]} covariances); noise {_two(most)}")


def as_of_pairs(noise: np.ndarray, R: int) -> np.ndarray:
    """(B, pairs, m) → (B, m): means over the pairs, spread as if each were over R pairs.

    With σ² the variance over the pairs of one reference and τ² that between references, a mean over
    c pairs has variance τ² + σ²/c. Means over fewer pairs than the data's would reach farther than
    noise does, so that distances from their own mean are shortened by √((τ² + σ²/R)/(τ² + σ²/c)).
    """
    c = noise.shape[1]
    each = noise.mean(axis=1)
    mean, total = each.mean(axis=0), each.var(axis=0, ddof=1)
    sigma2 = noise.var(axis=1, ddof=1).mean(axis=0)
    wanted = np.maximum(0.0, total - sigma2 / c) + sigma2 / max(R, c)
    room = np.maximum(total, sigma2 / c)
    with np.errstate(invalid="ignore"):
        shorter = np.sqrt(np.divide(wanted, room, out=np.zeros_like(room), where=room > 0))
    return mean + shorter * (each - mean)


def instability(mean: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """I: 0 where halves always agree, 1 where they agree as those of noise do."""
    room = 1 - noise
    # noise that is perfectly stable leaves nothing to be seen
    return np.divide(1 - mean, room, out=np.ones_like(room), where=room > 1e-12)


def verdict(says: Mapping[str, Says]) -> tuple[int | None, str]:
    """(k, words); k is None where most methods see no structure."""
    can = {name: said.k for name, said in says.items() if said.k is not None}
    seen = {name: k for name, k in can.items() if k > 1}
    silent = [f"{name} cannot say" for name in says if name not in can]
    if not can:
        return None, "no answer: " + _and([f"{name}: {said.why}" for name, said in says.items()])
    if 2 * len(seen) <= len(can):
        nothing = _and([NOTHING[name] for name in can if name not in seen])
        alone = [f"{name} says {k}" for name, k in seen.items()]
        return None, "; ".join([f"no structure: {nothing}", *alone, *silent])
    k = most_named(seen)
    agree = [name for name, other in seen.items() if other == k]
    rest = [f"{name} says {other}" for name, other in seen.items() if other != k]
    rest += [NOTHING[name] for name in can if name not in seen] + silent
    if len(agree) == 1 and len(can) > 1:
        told = listed([f"{name} says {other}" for name, other in seen.items() if other != k])
        head = f"{k} clusters, but methods disagree: {agree[0]} says {k}, {told}"
        return k, "; ".join([head, *rest[len(seen) - 1 :]])
    if len(can) == 1:
        return k, "; ".join([f"{k} clusters: {agree[0]} alone was asked", *silent])
    return k, "; ".join([f"{k} clusters: {_and(agree)} agree", *rest])


NOTHING = {
    "silhouette": "silhouettes are no larger than those of noise",
    "gap": "the gap statistic prefers 1",
    "stability": "no k is stable",
    "bic": "BIC prefers one component",
}
# Whose k is taken where as many say another. BIC is last: it counts components, and a cluster that
# is no ellipsoid has several.
WEIGHT = ("stability", "silhouette", "gap", "bic")


def most_named(seen: Mapping[str, int]) -> int:
    named = list(seen.values())
    most = max(named.count(k) for k in named)
    return next(seen[name] for name in WEIGHT if name in seen and named.count(seen[name]) == most)


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _two(x: float) -> str:
    return number(x, 2)
