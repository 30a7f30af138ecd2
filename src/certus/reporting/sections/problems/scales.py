"""D-SCALE: numbers that stand for something else, values far from all others, extreme scales.

A sentinel is a value such as 999 or −1, or 0 where no other value is near 0, that occurs in several
rows at a distance from the rest. For far values t = asinh((x − median)/s) is compared, s the
interquartile range over 1.349: t grows like a logarithm, so a long tail alone is no fault.
"""

import numpy as np

from ....text.format import count
from ...content.data import Problem
from ...content.phrases import digits3
from .view import DataView
from .wording import INFO, MAX_COLUMNS_NAMED, WARNING, columns_text, quoted, verb

CODE = "D-SCALE"
SENTINELS = (
    -1, -7, -8, -9, -77, -88, -98, -99, -777, -888, -999, -9999, -99999, -999999,
    77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9998, 9999, 99999, 999999,
)  # fmt: skip
MIN_SENTINEL_ROWS = 3
MIN_GAP_TO_SPREAD = 1.0  # gap between a sentinel and the other values, over their quartile range
MIN_GAP_OF_ZERO = 0.5  # and over the range of the other values a fifth
MAX_FAR_ROWS = 3
MIN_FAR_SPREADS = 10.0  # distance of a far value from the median
MAX_SPREAD_RATIO = 1e8  # between columns
MAX_MEAN_TO_SPREAD = 1e7  # above, float64 keeps 8 digits of the differences or fewer
MAX_COLUMNS = 5_000


def find(view: DataView) -> list[Problem]:
    """Return sentinels, far values and extreme scales."""
    return [*_sentinels(view), *_far_values(view), *_extreme_scales(view)]


def _sentinels(view: DataView) -> list[Problem]:
    found = []
    for j, column in enumerate(view.number_columns[:MAX_COLUMNS]):
        for value in _sentinels_of(view, j):
            rows = np.flatnonzero(view.numbers[:, j] == value)
            shown = digits3(value) if value else "0"
            found.append(Problem(
                CODE, f"{shown} in '{column.name}' may stand for a missing value", WARNING,
                (column.name,), view.rows_in_file(rows), len(rows),
                f"{count(len(rows), 'row')} {verb(len(rows), 'has', 'have')} it, and no other "
                "value is near it. As a number it distorts means, distances and effects.",
                "If it means 'unknown' or 'not measured', leave the cells empty"
                + (f", or read the file with --missing {value:g}." if value else "."),
                "It was used as a number.",
            ))  # fmt: skip
    return found


def _sentinels_of(view: DataView, j: int) -> list[float]:
    n = int(view.n_present[j])
    if n < 20 or view.n_distinct[j] < 5:
        return []
    values = view.ordered_numbers[:n, j]
    found = []
    for value in (0.0, *(float(v) for v in SENTINELS)):
        low, high = np.searchsorted(values, [value, value], side="left")[0], np.searchsorted(
            values, value, side="right"
        )  # fmt: skip
        n_equal = high - low
        if n_equal < MIN_SENTINEL_ROWS or n_equal > 0.9 * n:
            continue
        rest = np.concatenate([values[:low], values[high:]])
        if low and high < n:  # within the range: not the largest, not the least
            continue
        spread = float(np.subtract(*np.quantile(rest, [0.75, 0.25])))
        gap = float(rest[0] - value) if not low else float(value - rest[-1])
        step = _step_at(rest, at_start=not low)
        if value == 0.0:
            wide = gap >= MIN_GAP_OF_ZERO * spread and gap > 0.2 * float(np.ptp(rest))
            near = gap < 5 * step
        elif value == -1.0:
            wide, near = rest[0] >= 0 and float(rest[-1]) >= 10 and n_equal >= 0.01 * n, False
        else:
            wide, near = gap >= MIN_GAP_TO_SPREAD * spread, gap < 5 * step
        if wide and not near and (value == -1.0 or gap > 0):
            found.append(value)
    return found


def _step_at(values: np.ndarray, at_start: bool) -> float:
    """Mean distance of the next few distinct values, where the gap is."""
    distinct = np.unique(values)
    few = distinct[:6] if at_start else distinct[-6:]
    return float((few[-1] - few[0]) / max(len(few) - 1, 1))


def _far_values(view: DataView) -> list[Problem]:
    names, all_rows = [], []
    for j, column in enumerate(view.number_columns[:MAX_COLUMNS]):
        rows = _far_rows(view, j)
        if len(rows):
            names.append(column.name)
            all_rows.append(rows)
    if not names:
        return []
    rows = np.unique(np.concatenate(all_rows))
    n = len(rows)
    return [Problem(
        CODE,
        f"{count(n, 'row')} {verb(n, 'has', 'have')} a value far from all others in "
        f"{quoted(names)}",
        WARNING, tuple(names[:MAX_COLUMNS_NAMED]), view.rows_in_file(rows), n,
        "The distance to the next value is larger than that between all the others. A slip of the "
        "decimal point or of a unit looks like this, and one such row can turn a model.",
        "Check these cells; correct them, or leave them empty if they are wrong.",
        "They were used as they are.",
    )]  # fmt: skip


def _far_rows(view: DataView, j: int) -> np.ndarray:
    """Rows beyond a gap that is wider than the range of all other values."""
    n = int(view.n_present[j])
    none = np.zeros(0, dtype=np.intp)
    if n < 20 or view.n_distinct[j] < 10:
        return none
    values = view.ordered_numbers[:n, j]
    quartiles = np.quantile(values, [0.25, 0.5, 0.75])
    s = (quartiles[2] - quartiles[0]) / 1.349
    if not s > 0:
        return none
    t = np.arcsinh((values - quartiles[1]) / s)
    x = view.numbers[:, j]
    for k in range(1, MAX_FAR_ROWS + 1):
        for above in (True, False):
            cut = n - k if above else k
            edge = (values[cut - 1], values[cut])
            rest, rest_t = (values[:cut], t[:cut]) if above else (values[cut:], t[cut:])
            wide = edge[1] - edge[0] > np.ptp(rest) and t[cut] - t[cut - 1] > 0.5 * np.ptp(rest_t)
            far = abs((values[cut] if above else values[cut - 1]) - quartiles[1])
            if wide and far > MIN_FAR_SPREADS * s:
                return np.flatnonzero(x >= edge[1] if above else x <= edge[0])
    return none


def _extreme_scales(view: DataView) -> list[Problem]:
    if not len(view.number_columns):
        return []
    with np.errstate(invalid="ignore"):
        columns = np.flatnonzero(view.n_distinct > 1)
        values = view.numbers[:, columns]
        center, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    known = spread > 0
    if not known.any():
        return []
    columns, center, spread = columns[known], center[known], spread[known]
    found = []
    if spread.max() > MAX_SPREAD_RATIO * spread.min():
        small, large = (
            view.number_columns[columns[i]].name for i in (spread.argmin(), spread.argmax())
        )
        found.append(Problem(
            CODE,
            f"Spreads of columns differ by a factor of {digits3(spread.max() / spread.min())}",
            INFO, (large, small), (), view.n,
            f"'{large}' varies most and '{small}' least. Effects per unit are then tiny or huge to "
            "read, and other software may lose digits.",
            "Use units in which values are of ordinary size (millions, thousandths).",
            "Models scale inside, so predictions do not depend on the units.",
        ))  # fmt: skip
    offset = np.flatnonzero(np.abs(center) > MAX_MEAN_TO_SPREAD * spread)
    if len(offset):
        names = [view.number_columns[columns[i]].name for i in offset]
        n = len(names)
        found.append(Problem(
            CODE,
            f"{columns_text(n)} {verb(n, 'varies', 'vary')} little, far from 0: {quoted(names)}",
            INFO, tuple(names[:MAX_COLUMNS_NAMED]), (), view.n,
            "Computers keep 16 digits of a number, and most of them are the same in all rows here.",
            "Subtract a round number that is common to all rows.",
            "Models centre columns, so the digits that there are were used.",
        ))  # fmt: skip
    return found
