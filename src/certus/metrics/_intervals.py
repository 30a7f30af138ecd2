"""Intervals of measures: exact ones of counts, and the stratified bootstrap.

Exact, for k of m rows (Clopper & Pearson 1934): all shares q with P(≤ k) and P(≥ k) above α/2.
Rows are independent, so given the class sizes TP and TN are two independent counts; each gets the
interval of confidence √(1 − α), and what rises with both sensitivity and specificity lies between
its values at the two lower and at the two upper ends with confidence 1 − α at least. MCC is one:

    MCC = (a − b)√(π(1 − π)/(q(1 − q))),  a = sensitivity, b = 1 − specificity, q = πa + (1 − π)b,
    ∂MCC/∂a ∝ q(1 − q) − (a − b)π(½ − q) > 0   since q ≥ π(a − b) and 1 − q ≥ π(b − a)

F = 2J/(1 + J) with J = TP/(TP + FP + FN), a share as well.

Bootstrap: rows are drawn with replacement within each class, and the interval goes from the α/2 to
the 1 − α/2 quantile.
"""

import numbers
from collections.abc import Iterator

import numpy as np

from ..data.types import Seed
from ..text.proportions import clopper_pearson
from ._measures import Ranking, counted, losses

ELEMENTS = 1 << 20  # of resamples held at once, 8 MiB
Interval = tuple[float, float]


def share(k: int, m: int, confidence: float) -> Interval:
    """Of k of m rows."""
    low, high = clopper_pearson(k, m, confidence)
    return float(low), float(high)


def exact(tp: int, fn: int, fp: int, tn: int, confidence: float) -> dict[str, Interval]:
    """Of the counted measures; no entry where there is none."""
    low, high = share(tp + tn, tp + fn + fp + tn, confidence)
    found = {"error_rate": (1 - high, 1 - low), "accuracy": (low, high)}
    for name, k, m in (
        ("sensitivity", tp, tp + fn),
        ("specificity", tn, tn + fp),
        ("precision", tp, tp + fp),
        ("f1", tp, tp + fp + fn),
    ):
        if m:
            found[name] = share(k, m, confidence)
    if "f1" in found:
        J = found["f1"]
        found["f1"] = (2 * J[0] / (1 + J[0]), 2 * J[1] / (1 + J[1]))
    if not (tp + fn and tn + fp):
        return found
    a = share(tp, tp + fn, confidence**0.5)
    c = share(tn, tn + fp, confidence**0.5)
    P, N = tp + fn, tn + fp
    ends = [counted(P * x, P * (1 - x), N * (1 - z), N * z) for x, z in zip(a, c, strict=True)]
    for name in ("g_mean", "balanced_accuracy", "mcc"):
        found[name] = (float(ends[0][name]), float(ends[1][name]))
    return found


def exact_ranking(area: float, P: int, N: int, confidence: float) -> Interval:
    """Of a ROC area of 1 or 0: min(P, N) pairs that share no row all agree, k of k."""
    k = min(P, N)
    return share(k if area == 1 else 0, k, confidence)


def resamples(sizes: tuple[int, int], B: int, random_state: Seed) -> Iterator[list[np.ndarray]]:
    """Blocks of (b, m), one for each class of m rows: how often a row is among m that are drawn."""
    rng = _generator(random_state)
    # a stream for each class: the draws do not depend on the size of blocks
    streams = [np.random.default_rng(rng.integers(1 << 62, size=2)) for _ in sizes]
    step = max(1, ELEMENTS // sum(sizes))
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
    """(B,) values of each measure; both classes have rows."""
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
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _generator(random_state: Seed) -> np.random.Generator:
    """A Generator from what scikit-learn's ``check_random_state`` takes, and from a Generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(1 << 32, size=4, dtype=np.uint32))
    if isinstance(random_state, numbers.Integral):
        random_state = int(random_state)
    if random_state is None or isinstance(random_state, int | np.random.Generator):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state={random_state!r}: give a whole number, a Generator, a RandomState or None"
    )
