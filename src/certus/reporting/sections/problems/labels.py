"""D-LABEL: rows whose target disagrees with all rows that are like them.

classes    at least 14 of the 15 nearest rows have other classes, although 7 of 10 rows of that
           class are among their own, and the model, which had not seen the row, gives its class
           at most a tenth
numbers    the target is 8 spreads from the median of its 15 neighbours, and 6 from the prediction
"""

import numpy as np

from ....text.format import count
from ...arrays import sample_of_rows
from ...content.data import DataProblem
from .neighborhoods import nearest, points
from .view import MAX_PAIRWISE_ROWS, DataView
from .wording import INFO, sample_text, verb

CODE = "D-LABEL"
N_NEIGHBORS = 15
MAX_OWN_VOTES = 0
MIN_RECALL = 0.8  # of the class by the majority of its neighbours
MAX_OWN_PROBABILITY = 0.1
MIN_ROWS = 50
MIN_SHARE_DISTINCT = 0.5
MAX_SPREADS_OF_NEIGHBORS = 8.0
MAX_SPREADS_OF_PREDICTION = 6.0
MIN_R2 = 0.5  # of the neighbours' median; below, neighbours say little


def find(view: DataView) -> list[DataProblem] | None:
    """Return rows that disagree with their neighbours and with the model."""
    rows = sample_of_rows(view.n, MAX_PAIRWISE_ROWS)
    if not view.has_target or len(rows) < MIN_ROWS:
        return None
    if len(view.first_of_duplicates) < MIN_SHARE_DISTINCT * view.n:
        return None  # most rows have equals, so that the nearest 15 are an arbitrary choice
    X = points(view, rows)
    if not X.shape[1]:
        return None
    neighbors = nearest(X, N_NEIGHBORS)[1]
    suspicious = _classes if view.is_classes else _numbers
    found = rows[suspicious(view, rows, neighbors)]
    if not len(found):
        return []
    n = len(found)
    sampled = sample_text(len(rows), view.n)
    what = "class" if view.is_classes else "target"
    return [DataProblem(
        CODE, f"The {what} of {count(n, 'row')}{sampled} is unlike that of all similar rows", INFO,
        (), view.rows_in_file(found), n,
        f"The {N_NEIGHBORS} most similar rows "
        + ("all have another class" if view.is_classes else "have quite different targets")
        + (", and the model expects another too." if view.result is not None else ".")
        + " Such a row may be mistyped, or be an unusual case.",
        f"Look {verb(n, 'it', 'them')} up in the source. Correct errors only: unusual cases that "
        "are right must stay.",
        "Nothing was changed.",
    )]  # fmt: skip


def _classes(view: DataView, rows: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    codes = view.target_codes[rows]
    same = codes[neighbors] == codes[:, None]
    n_same = same.sum(axis=1)
    counts = np.bincount(codes)
    among_own = np.bincount(codes, n_same > N_NEIGHBORS / 2) / np.maximum(counts, 1)
    suspicious = (n_same <= MAX_OWN_VOTES) & (among_own[codes] >= MIN_RECALL)
    if view.result is not None:
        output = view.result.outer.output[rows]
        if output.ndim == 1:
            positive = codes == view.prepared.positive
            own = np.where(positive, output, 1 - output)
        else:
            own = output[np.arange(len(rows)), codes]
        suspicious &= ~(own > MAX_OWN_PROBABILITY)
    return np.flatnonzero(suspicious)


def _numbers(view: DataView, rows: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    y = view.prepared.y[rows].astype(float)
    rest = y - np.median(y[neighbors], axis=1)  # which a few wrong ones do not move
    within, total = _spread(rest), _spread(y)
    if not total or 1 - (within / total) ** 2 < MIN_R2:
        return np.zeros(0, dtype=np.intp)
    suspicious = _spreads(rest) > MAX_SPREADS_OF_NEIGHBORS
    if view.result is not None:
        suspicious &= _spreads(y - view.result.outer.output[rows]) > MAX_SPREADS_OF_PREDICTION
    return np.flatnonzero(suspicious)


def _spread(values: np.ndarray) -> float:
    """Median distance from the median, scaled to be the standard deviation of a normal."""
    return 1.4826 * float(np.nanmedian(np.abs(values - np.nanmedian(values))))


def _spreads(rest: np.ndarray) -> np.ndarray:
    """Distance from the median in robust standard deviations; 0 where there are none."""
    s = _spread(rest)
    distance = np.abs(rest - np.nanmedian(rest))
    return np.divide(distance, s, out=np.zeros_like(distance), where=s > 0)
