"""D-SCALE: numbers that stand for something else, values far from all others, extreme scales.

A sentinel is a value such as 999 or −1, or 0 where no other value is near 0, that occurs in several
rows at a distance from the rest. For far values t = asinh((x − median)/s) is compared, s the
interquartile range over 1.349: t grows like a logarithm, so a long tail alone is no fault.
"""

import numpy as np

from ....text.format import count
from ...content.data import DataProblem
from ...content.phrases import digits3
from .view import DataView
from .wording import INFO, MAX_COLUMNS_NAMED, WARNING, columns_text, quoted, verb

CODE = "D-SCALE"
SENTINELS = (
    0, -1, -7, -8, -9, -77, -88, -98, -99, -777, -888, -999, -9999, -99999, -999999,
    77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9998, 9999, 99999, 999999,
)  # fmt: skip
MIN_ROWS = 20
MIN_DISTINCT_VALUES = 5
MIN_SENTINEL_ROWS = 5  # values of fewer rows are not named
MAX_SENTINEL_SHARE = 0.9  # of rows; a column that is nearly always 0 counts something rare
MIN_GAP_TO_STEP = 5.0  # gap beside a sentinel, over the mean gap between the next few values
MIN_GAP_TO_SPREAD = 1.0  # the same, over the interquartile range of the other values
MIN_GAP_OF_ZERO_TO_SPREAD = 0.5
MIN_SPIKE_TO_COMMONEST = 5.0  # rows with 0, over those of the commonest other value
MAX_SPIKE_SHARE = 0.6  # of rows; where most are 0, it means none
MIN_MAXIMUM_BESIDE_MINUS_ONE = 10.0
MAX_FAR_ROWS = 3
MIN_FAR_SPREADS = 10.0  # distance of a far value from the median
MAX_SPREAD_RATIO = 1e8  # between columns
MAX_MEAN_TO_SPREAD = 1e7  # above, float64 keeps 8 digits of the differences or fewer
MAX_COLUMNS = 5_000


def find(view: DataView) -> list[DataProblem]:
    """Return sentinels, far values and extreme scales."""
    return [*_sentinels(view), *_far_values(view), *_extreme_scales(view)]


def _sentinels(view: DataView) -> list[DataProblem]:
    by_value: dict[float, list[tuple[str, np.ndarray]]] = {}
    for j, column in enumerate(view.number_columns[:MAX_COLUMNS]):
        for value in _sentinels_of(view, j):
            rows = np.flatnonzero(view.numbers[:, j] == value)
            by_value.setdefault(value, []).append((column.name, rows))
    found = []
    for value, places in sorted(by_value.items()):
        names = [name for name, _ in places]
        rows = np.unique(np.concatenate([rows for _, rows in places]))
        shown = digits3(value)
        remedy = (
            "If it means 'not measured' rather than none, leave the cells empty."
            if value == 0
            else "If it means 'unknown' or 'not measured', leave the cells empty, or read the file "
            f"with --missing {value:g}."
        )
        found.append(DataProblem(
            CODE, f"{shown} in {quoted(names)} may stand for a missing value", WARNING,
            tuple(names[:MAX_COLUMNS_NAMED]), view.rows_in_file(rows), len(rows),
            f"{count(len(rows), 'row')} {verb(len(rows), 'has', 'have')} it, and no other value of "
            "the column is near it. As a number it distorts means, distances and effects.",
            remedy, "It was used as a number.",
        ))  # fmt: skip
    return found


def _sentinels_of(view: DataView, j: int) -> list[float]:
    """Values at one end of a column, in several rows, with a gap to all others."""
    n = int(view.n_present[j])
    if n < MIN_ROWS or view.n_distinct[j] < MIN_DISTINCT_VALUES:
        return []
    values = view.ordered_numbers[:n, j]
    found = []
    for value in SENTINELS:
        first, last = (int(np.searchsorted(values, value, side=s)) for s in ("left", "right"))
        n_equal = last - first
        if not MIN_SENTINEL_ROWS <= n_equal <= MAX_SENTINEL_SHARE * n or (first and last < n):
            continue
        rest = np.concatenate([values[:first], values[last:]])
        if _is_apart(float(value), rest, n_equal, at_start=not first):
            found.append(float(value))
    return found


def _is_apart(value: float, rest: np.ndarray, n_equal: int, at_start: bool) -> bool:
    """Is a value at one end too far from the rest to be one of them?"""
    low, high = float(rest[0]), float(rest[-1])
    gap = low - value if at_start else value - high
    spread = float(np.subtract(*np.quantile(rest, [0.75, 0.25])))
    if value == -1:
        return low >= 0 and high >= MIN_MAXIMUM_BESIDE_MINUS_ONE and n_equal >= 0.01 * len(rest)
    if gap < MIN_GAP_TO_STEP * _step_at(rest, at_start):
        return False
    if value != 0:
        return gap >= MIN_GAP_TO_SPREAD * spread
    commonest = int(np.unique(rest, return_counts=True)[1].max())
    is_spike = n_equal >= MIN_SPIKE_TO_COMMONEST * commonest
    is_wide = gap >= MIN_GAP_OF_ZERO_TO_SPREAD * spread and gap > 0.2 * (high - low)
    is_spike &= n_equal <= MAX_SPIKE_SHARE * (n_equal + len(rest))
    return low > 0 and (is_wide or is_spike)


def _step_at(values: np.ndarray, at_start: bool) -> float:
    """Mean distance of the next few distinct values, where the gap is."""
    distinct = np.unique(values)
    few = distinct[:6] if at_start else distinct[-6:]
    return float((few[-1] - few[0]) / max(len(few) - 1, 1))


def _far_values(view: DataView) -> list[DataProblem]:
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
    return [DataProblem(
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


def _extreme_scales(view: DataView) -> list[DataProblem]:
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
        found.append(DataProblem(
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
        found.append(DataProblem(
            CODE,
            f"{columns_text(n)} {verb(n, 'varies', 'vary')} little, far from 0: {quoted(names)}",
            INFO, tuple(names[:MAX_COLUMNS_NAMED]), (), view.n,
            "Computers keep 16 digits of a number, and most of them are the same in all rows here.",
            "Subtract a round number that is common to all rows.",
            "Models centre columns, so the digits that there are were used.",
        ))  # fmt: skip
    return found
