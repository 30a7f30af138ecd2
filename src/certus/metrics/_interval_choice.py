"""Which interval each measure gets: exact, from resamples, or none, with the reason."""

import numpy as np

from ..data.types import Seed
from ..text.format import count
from ._input import Predictions, Truth
from ._intervals import Interval, bootstrap, exact, exact_ranking, quantiles
from ._measures import AREAS, COUNTED, LOSSES, MEASURES, NAN, confusion
from ._values import two_classes

# rows of a class below which 95 % bootstrap intervals are visibly too short: with 5 they hold the
# truth in 0.77 to 0.82, with 10 in 0.91 (ROC area) to 0.94, with 15 to 100 in 0.93 to 0.95
FEW = 15


def choose_intervals(
    truth: Truth, said: Predictions, s: np.ndarray | None, values: dict[str, float],
    notes: list[str], *, how: str, confidence: float, B: int, random_state: Seed,
) -> tuple[dict[str, Interval], dict[str, str]]:  # fmt: skip
    found: dict[str, Interval] = dict.fromkeys(MEASURES, (NAN, NAN))
    by = dict.fromkeys(MEASURES, "")
    y, d, p = truth.y, said.d, said.p
    s_or_1 = np.ones(len(y)) if s is None else s
    some = s_or_1 > 0
    tp, fn, fp, tn = (int(cell) for cell in confusion(y, d, some.astype(float)))
    empty = not (tp and fn and fp and tn)  # as where one class has no rows
    if s is None and (how == "exact" or empty):
        exactly = exact(tp, fn, fp, tn, confidence)
        found |= exactly
        by |= dict.fromkeys(exactly, "exact")
    elif empty:
        notes.append(
            "A cell of the confusion table is empty, and no resample fills it: with weights, "
            "counts then have no intervals."
        )
    asked = (() if empty or how == "exact" else COUNTED) + (() if p is None else AREAS + LOSSES)
    if not asked or not two_classes(truth, s_or_1):
        return found, by
    drawn = bootstrap(
        y[some], d[some], None if p is None else p[some], None if s is None else s[some],
        probabilities=said.kind == "probabilities", B=B, random_state=random_state,
    )  # fmt: skip
    for name in asked:
        if name not in drawn or np.isnan(values[name]):
            continue
        low, high = quantiles(drawn[name], confidence)
        if low < high:
            found[name], by[name] = (low, high), "bootstrap"
        elif name == "roc_auc" and s is None and values[name] in (0.0, 1.0):
            P, N = int(y.sum()), int(len(y) - y.sum())
            found[name] = exact_ranking(values[name], P, N, confidence)
            by[name] = "exact"
        else:
            notes.append(f"{MEASURES[name]}: all resamples agree, which is no interval.")
        lost = int(np.isnan(drawn[name]).sum())
        if lost:
            notes.append(f"{MEASURES[name]} is not defined in {lost:,} of {B:,} resamples.")
    for k, label in ((1, truth.positive), (0, truth.negative)):
        rows = int(np.count_nonzero(y[some] == k))
        if rows < FEW and "bootstrap" in by.values():
            notes.append(
                f"Only {count(rows, 'row')} of {label}: bootstrap intervals are then too short."
            )
    return found, by
