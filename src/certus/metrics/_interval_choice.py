"""Choice of the interval of each measure: exact, bootstrap, or none with the reason."""

import numpy as np

from ..data.types import Seed
from ..text.format import count
from ._input import Predictions, Truth
from ._intervals import Interval, bootstrap, exact, exact_ranking, quantiles
from ._measures import AREA_MEASURES, COUNT_MEASURES, LOSS_MEASURES, MEASURES, NAN, confusion
from ._values import two_classes

# rows of a class below which 95 % bootstrap intervals are clearly too short: with 5 rows their
# coverage is 0.77 to 0.82, with 10 it is 0.91 (ROC area) to 0.94, with 15 to 100, 0.93 to 0.95
MIN_BOOTSTRAP_ROWS = 15


def choose_intervals(
    truth: Truth, predictions: Predictions, s: np.ndarray | None, values: dict[str, float],
    notes: list[str], *, interval: str, confidence: float, B: int, random_state: Seed,
) -> tuple[dict[str, Interval], dict[str, str]]:  # fmt: skip
    """Return the intervals and their methods; reasons are appended to ``notes``."""
    intervals: dict[str, Interval] = dict.fromkeys(MEASURES, (NAN, NAN))
    methods = dict.fromkeys(MEASURES, "")
    y, d, p = truth.y, predictions.d, predictions.p
    row_weights = np.ones(len(y)) if s is None else s
    has_weight = row_weights > 0
    tp, fn, fp, tn = (int(cell) for cell in confusion(y, d, has_weight.astype(float)))
    empty = not (tp and fn and fp and tn)  # also where a class has no rows
    if s is None and (interval == "exact" or empty):
        exact_intervals = exact(tp, fn, fp, tn, confidence)
        intervals |= exact_intervals
        methods |= dict.fromkeys(exact_intervals, "exact")
    elif empty:
        notes.append(
            "A cell of the confusion table is empty, which no resample can fill: with weights, "
            "counts then have no intervals."
        )
    bootstrapped = () if empty or interval == "exact" else COUNT_MEASURES
    bootstrapped += () if p is None else AREA_MEASURES + LOSS_MEASURES
    if not bootstrapped or not two_classes(truth, row_weights):
        return intervals, methods
    drawn = bootstrap(
        y[has_weight], d[has_weight], None if p is None else p[has_weight],
        None if s is None else s[has_weight],
        probabilities=predictions.kind == "probabilities", B=B, random_state=random_state,
    )  # fmt: skip
    for name in bootstrapped:
        if name not in drawn or np.isnan(values[name]):
            continue
        low, high = quantiles(drawn[name], confidence)
        if low < high:
            intervals[name], methods[name] = (low, high), "bootstrap"
        elif name == "roc_auc" and s is None and values[name] in (0.0, 1.0):
            P, N = int(y.sum()), int(len(y) - y.sum())
            intervals[name] = exact_ranking(values[name], P, N, confidence)
            methods[name] = "exact"
        else:
            notes.append(f"{MEASURES[name]}: all resamples agree, so there is no interval.")
        n_undefined = int(np.isnan(drawn[name]).sum())
        if n_undefined:
            notes.append(f"{MEASURES[name]} is not defined in {n_undefined:,} of {B:,} resamples.")
    for k, label in ((1, truth.positive), (0, truth.negative)):
        rows = int(np.count_nonzero(y[has_weight] == k))
        if rows < MIN_BOOTSTRAP_ROWS and "bootstrap" in methods.values():
            notes.append(
                f"Only {count(rows, 'row')} of {label}: bootstrap intervals are then too short."
            )
    return intervals, methods
