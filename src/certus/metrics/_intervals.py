"""Intervals of measures: exact ones for counts, and the stratified bootstrap.

Exact, for k of m rows (Clopper & Pearson 1934): all shares q with P(≤ k) and P(≥ k) above α/2.
Rows are independent, so given the class sizes TP and TN are two independent counts. Each gets an
interval of confidence √(1 − α); a measure that increases with both sensitivity and specificity then
lies between its values at the lower and at the upper ends with confidence 1 − α or more. MCC does:

    MCC = (a − b)√(π(1 − π)/(q(1 − q))),  a = sensitivity, b = 1 − specificity, q = πa + (1 − π)b,
    ∂MCC/∂a ∝ q(1 − q) − (a − b)π(½ − q) > 0   since q ≥ π(a − b) and 1 − q ≥ π(b − a)

F = 2J/(1 + J) with J = TP/(TP + FP + FN), also a share.

Bootstrap: rows are drawn with replacement within each class; the interval is from the α/2 to the
1 − α/2 quantile.
"""

import numbers
from collections.abc import Iterator

import numpy as np

from ..data.types import Seed
from ..text.proportions import clopper_pearson
from ._measures import Ranking, counted, losses

MAX_RESAMPLE_ELEMENTS = 1 << 20  # held at once: 8 MiB
Interval = tuple[float, float]


def share_interval(k: int, m: int, confidence: float) -> Interval:
    """Return the Clopper–Pearson interval of the share k/m."""
    low, high = clopper_pearson(k, m, confidence)
    return float(low), float(high)


def exact(tp: int, fn: int, fp: int, tn: int, confidence: float) -> dict[str, Interval]:
    """Return the intervals of the counted measures that have one."""
    low, high = share_interval(tp + tn, tp + fn + fp + tn, confidence)
    intervals = {"error_rate": (1 - high, 1 - low), "accuracy": (low, high)}
    for name, k, m in (
        ("sensitivity", tp, tp + fn),
        ("specificity", tn, tn + fp),
        ("precision", tp, tp + fp),
        ("f1", tp, tp + fp + fn),
    ):
        if m:
            intervals[name] = share_interval(k, m, confidence)
    if "f1" in intervals:
        J = intervals["f1"]
        intervals["f1"] = (2 * J[0] / (1 + J[0]), 2 * J[1] / (1 + J[1]))
    if not (tp + fn and tn + fp):
        return intervals
    a = share_interval(tp, tp + fn, confidence**0.5)
    c = share_interval(tn, tn + fp, confidence**0.5)
    P, N = tp + fn, tn + fp
    ends = [counted(P * x, P * (1 - x), N * (1 - z), N * z) for x, z in zip(a, c, strict=True)]
    for name in ("g_mean", "balanced_accuracy", "mcc"):
        intervals[name] = (float(ends[0][name]), float(ends[1][name]))
    return intervals


def exact_ranking(area: float, P: int, N: int, confidence: float) -> Interval:
    """Return the interval of a ROC area of 1 or 0, where k = min(P, N) disjoint pairs all agree."""
    k = min(P, N)
    return share_interval(k if area == 1 else 0, k, confidence)


def resamples(sizes: tuple[int, int], B: int, random_state: Seed) -> Iterator[list[np.ndarray]]:
    """Yield blocks of resamples: for each class of m rows, counts (b, m) of m draws."""
    rng = _generator(random_state)
    # one stream for each class, so that draws do not depend on the size of blocks
    streams = [np.random.default_rng(rng.integers(1 << 62, size=2)) for _ in sizes]
    step = max(1, MAX_RESAMPLE_ELEMENTS // sum(sizes))
    for first in range(0, B, step):
        b = min(step, B - first)
        block = []
        for m, stream in zip(sizes, streams, strict=True):
            drawn = stream.integers(m, size=(b, m)) + m * np.arange(b)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=b * m)
            block.append(counts.reshape(b, m).astype(float))
        yield block


def bootstrap(
    y: np.ndarray, d: np.ndarray, p: np.ndarray | None, s: np.ndarray | None, *,
    probabilities: bool, B: int, random_state: Seed,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Return (B,) values of each measure; both classes have rows."""
    ranking = None if p is None else Ranking(y, p)
    strata = (
        [np.flatnonzero(y == k) for k in (1, 0)]
        if ranking is None
        else [ranking.positive, ranking.negative]
    )
    columns = [d, ~d]
    if probabilities and p is not None:
        loss = losses(y, p)
        columns += [column for column in loss.T if np.isfinite(column).all()]
    table = np.stack(columns, axis=1).astype(float)
    parts: list[dict[str, np.ndarray]] = []
    for W in resamples((len(strata[0]), len(strata[1])), B, random_state):
        if s is not None:
            W = [w * s[rows] for w, rows in zip(W, strata, strict=True)]
        sums = [(w @ table[rows]).T for w, rows in zip(W, strata, strict=True)]
        (tp, fn), (fp, tn) = sums[0][:2], sums[1][:2]
        part = counted(tp, fn, fp, tn)
        if ranking is not None:
            part |= ranking.areas(*W)
        total = (sums[0][2:] + sums[1][2:]) / (tp + fn + fp + tn)
        part |= dict(zip(("brier", "log_loss"), total, strict=False))
        parts.append(part)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def quantiles(values: np.ndarray, confidence: float) -> Interval:
    """Return the central interval of the values."""
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _generator(random_state: Seed) -> np.random.Generator:
    """Return a Generator from any seed of ``check_random_state``, or from a Generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(1 << 32, size=4, dtype=np.uint32))
    if isinstance(random_state, numbers.Integral):
        random_state = int(random_state)
    if random_state is None or isinstance(random_state, int | np.random.Generator):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state={random_state!r}: give a whole number, a Generator, a RandomState or None"
    )
