"""D-MISS: how much is missing, in which rows, and whether the target is different there.

Missingness that depends on the target gives it away (a test is made of the sick only), or is lost
when values are filled in. Tested for each column by χ² of missing × class (thirds of a number),
with Holm's correction for the number of columns.
"""

import numpy as np
from scipy.stats import chi2

from ....text.format import count
from ...content.data import DataProblem
from ...content.phrases import share
from .shift_tests import holm
from .view import DataView
from .wording import INFO, MAX_COLUMNS_NAMED, SEVERE, WARNING, columns_text, quoted, verb

CODE = "D-MISS"
MIN_SHARE_OF_WARNING = 0.2
MIN_SHARE_OF_SEVERE = 0.5
MIN_ROWS_COMPARED = 10  # with and without a value
LEVEL = 0.01
MIN_DIFFERENCE = 0.1  # between the shares of missing values of two classes
MIN_SHARE_OF_ROW = 0.5


def find(view: DataView) -> list[DataProblem]:
    """Return how much is missing, rows that are mostly empty, and a dependence on the target."""
    missing = {}
    for j in np.flatnonzero(view.n_present < view.n):
        missing[view.number_columns[j].name] = np.isnan(view.numbers[:, j])
    for name, column in view.categories.items():
        if (column.codes < 0).any():
            missing[name] = column.codes < 0
    if not missing:
        return []
    order = {c.name: i for i, c in enumerate(view.prepared.columns)}
    names = sorted(missing, key=order.__getitem__)
    masks = np.array([missing[name] for name in names])
    return [
        *_amount(view, names, masks),
        *_empty_rows(view, masks),
        *_dependent(view, names, masks),
    ]


def _amount(view: DataView, names: list[str], masks: np.ndarray) -> list[DataProblem]:
    shares = masks.mean(axis=1)
    rows = np.flatnonzero(masks.any(axis=0))
    order = np.argsort(-shares, kind="stable")
    ranked = [names[i] for i in order]
    worst = float(shares[order[0]])
    severity = INFO
    if worst >= MIN_SHARE_OF_WARNING:
        severity = SEVERE if worst >= MIN_SHARE_OF_SEVERE else WARNING
    n = len(names)
    if n == 1:
        title = f"'{names[0]}' is missing in {count(len(rows), 'row')}"
        how_much = f"That is {share(worst)} of the rows."
    else:
        title = f"{columns_text(n)} have missing values: {quoted(ranked)}"
        how_much = (
            f"{share(len(rows) / view.n)} of the rows miss a value; '{ranked[0]}' is missing in "
            f"{share(worst)} of them."
        )
    return [DataProblem(
        CODE, title, severity, tuple(ranked[:MAX_COLUMNS_NAMED]), view.rows_in_file(rows),
        len(rows), f"{how_much} What is filled in is a guess.",
        "Find out why they are missing, and complete them where that is possible; a column that is "
        "mostly missing can be dropped.",
        _filled(view, names),
    )]  # fmt: skip


def _filled(view: DataView, names: list[str]) -> str:
    """What was done about missing values, of the kinds of columns that have them."""
    are_categories = [name in view.categories for name in names]
    done = []
    if not all(are_categories):
        of = "of the training rows, inside each fold" if view.has_target else "of all rows"
        done.append(f"Numbers were filled with the median {of}.")
    if any(are_categories):
        done.append("In categories, missing is a category of its own.")
    return " ".join(done)


def _empty_rows(view: DataView, masks: np.ndarray) -> list[DataProblem]:
    p = len(view.prepared.columns)
    rows = np.flatnonzero(masks.sum(axis=0) >= max(MIN_SHARE_OF_ROW * p, 2))
    if not len(rows):
        return []
    n = len(rows)
    return [DataProblem(
        CODE, f"{columns_text(n, 'row')} {verb(n, 'misses', 'miss')} half of the columns or more",
        INFO if n < 0.05 * view.n else WARNING, (), view.rows_in_file(rows), n,
        "Such rows consist mostly of what was filled in.",
        "Complete them, or drop them if they were never filled in.", "They were kept.",
    )]  # fmt: skip


def _dependent(view: DataView, names: list[str], masks: np.ndarray) -> list[DataProblem]:
    n_missing = masks.sum(axis=1)
    tested = np.flatnonzero(
        (n_missing >= MIN_ROWS_COMPARED) & (view.n - n_missing >= MIN_ROWS_COMPARED)
    )
    if not len(tested):
        return []
    one_hot = view.target_codes[:, None] == np.unique(view.target_codes)
    counts = masks[tested] @ one_hot.astype(float)  # (columns, classes): missing
    totals = one_hot.sum(axis=0)
    rates = counts / totals
    expected = n_missing[tested, None] * totals / view.n
    present = expected / n_missing[tested, None] * (view.n - n_missing[tested, None])
    statistic = ((counts - expected) ** 2 * (1 / expected + 1 / present)).sum(axis=1)
    p_values = holm(chi2.sf(statistic, len(totals) - 1))
    large = totals >= MIN_ROWS_COMPARED
    if np.count_nonzero(large) < 2:
        return []
    spread = np.ptp(rates[:, large], axis=1)
    found = np.flatnonzero((p_values < LEVEL) & (spread >= MIN_DIFFERENCE))
    if not len(found):
        return []
    columns = [names[tested[i]] for i in found[np.argsort(-spread[found], kind="stable")]]
    i = int(found[spread[found].argmax()])
    low, high = rates[i, large].min(), rates[i, large].max()
    of = "classes" if view.is_classes else "thirds of the target"
    rows = np.flatnonzero(masks[tested[found]].any(axis=0))
    n = len(columns)
    return [DataProblem(
        CODE, f"Whether {quoted(columns)} {verb(n, 'is', 'are')} missing depends on the target",
        WARNING, tuple(columns[:MAX_COLUMNS_NAMED]), view.rows_in_file(rows), len(rows),
        f"'{columns[0]}' is missing in {share(float(low))} to {share(float(high))} of the rows, by "
        f"{of}. Either the value is missing because of the target, which gives it away, or rows "
        "without it are a different kind of case.",
        "Find out who fills the column in, and when. If that is after the target is known, drop "
        "it.",
        "Numbers were filled with the median, so models do not see that they were missing; in "
        "categories they do.",
    )]  # fmt: skip
