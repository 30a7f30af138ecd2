"""Signs that rows are repeated measurements of units; see ``groups``.

Agreement of the target within units is compared with agreement by chance:

    classes    κ = (a − c)/(1 − c), a: share of pairs of rows of a unit with the same class, c: of
               any pairs
    numbers    1 − (mean squared difference within a unit)/(of any pair)
"""

import re
from typing import NamedTuple

import numpy as np

from ....text.format import count
from ...arrays import sample_of_rows
from ...content.phrases import digits3, share
from .neighborhoods import nearest, points
from .view import DataView
from .wording import quoted, sample_text, verb

PERSONS = (
    ""
    ""
    ""
    ""
    ""
    ""
    ""
    "patient|subject|person|participant|individual|animal|mouse|rat|donor|family|household|customer|client|user|student|pupil"
)
UNITS = (
    "id|ids|school|site|center|centre|clinic|hospital|plot|batch|lot|machine|device|sensor|sample|"
    "specimen|case|cluster|unit|visit|session|trial|store|account"
)
NUMBER_OF = r"([_\s.-]?(?i:id|nr|no|number|code))?$"
PERSON_NAME = re.compile(rf"(^|[_\s.-])(?i:{PERSONS}){NUMBER_OF}")
UNIT_NAME = re.compile(rf"(^|[_\s.-])(?i:{PERSONS}|{UNITS}){NUMBER_OF}|[a-z](Id|ID)$")
MAX_NUMBER_CANDIDATES = 200
MAX_CORRELATION_OF_NEXT = 0.3
MAX_ROWS_PER_UNIT = 0.1  # share of all rows: larger ones are ordinary categories
MIN_UNITS = 5
MIN_SHARE_IN_UNITS = 0.5  # rows that share their unit with another row
MIN_AGREEMENT = 0.8
MIN_AGREEMENT_OF_UNITS = 0.3
MIN_AGREEMENT_BY_NAME = (MIN_AGREEMENT, MIN_AGREEMENT_OF_UNITS, -1.0)  # any name, units, persons
MAX_ROWS = 5_000  # whose values are compared
MAX_QUERIES = 2_000  # rows whose neighbours are searched, among all of at most 200,000
MAX_ROWS_COMPARED = 200_000
MIN_LEVELS_OF_UNIT_VALUE = 20
MAX_PAIR_CHANCE = 0.05  # that two rows share the value of a column
MIN_TIED_COLUMNS = 3
MAX_TIED_COLUMNS = 100
MIN_SHARE_OF_PAIRS = 0.25  # of rows that follow an equal one; pairs of rows give 0.5
MIN_TIED = 0.8  # share of pairs equal in one column that are equal in another
MAX_ORDER = 0.95  # rank correlation of two columns: above, one is a function of the other
N_FAR = 20
# From the distance of the nearest row to what the spacing of rows predicts; noise reaches 1.3.
# Where the target depends on columns, agreement fades slowly: 0.8, 0.2, −0.2 on a checkerboard.
MIN_JUMP = 1.5
MIN_DROP = 0.6  # of the target's agreement, from the nearest to the 20th nearest row
MAX_AGREEMENT_FAR_AWAY = 0.3  # with the 80th nearest


class GroupSign(NamedTuple):
    """A sign of repeated measurements, with the rows that show it."""

    title: str
    reason: str
    columns: tuple[str, ...]
    rows: np.ndarray
    is_strong: bool
    names_units: bool  # the first column can be given to --group


def agreement(view: DataView, unit: np.ndarray, rows: np.ndarray) -> float:
    """Agreement of the target within units of some rows, 0 by chance, 1 if it is constant."""
    sizes = np.bincount(unit).astype(float)
    shared = sizes > 1
    n_pairs = np.sum(sizes[shared] * (sizes[shared] - 1))
    if not n_pairs:
        return 0.0
    if view.is_classes:
        codes = view.target_codes[rows]
        pair = unit * (codes.max() + 1) + codes
        same = np.bincount(pair).astype(float)
        a = float(np.sum(same * (same - 1)) / n_pairs)
        p = np.bincount(codes) / len(codes)
        chance = float(np.sum(p**2))
        return (a - chance) / (1 - chance) if chance < 1 else 0.0
    y = view.prepared.y[rows].astype(float)
    mean = np.bincount(unit, y) / np.maximum(sizes, 1)
    within = np.bincount(unit, (y - mean[unit]) ** 2)[shared].sum()
    degrees = (sizes[shared] - 1).sum()
    total = float(np.var(y, ddof=1))
    return 1 - float(within / degrees) / total if total else 0.0


# --- a column that names units --------------------------------------------------------------------


def unit_column(view: DataView) -> GroupSign | None:
    """Return the sign of a column that names units, used by models or not.

    A column that is named like a person or an animal needs no other sign than few rows each; one
    that is named like a unit needs some agreement of the target, any other much of it. Numbers are
    candidates if they count; those whose target is similar to that of the next are measurements.
    """
    best: tuple[int, float, str, np.ndarray] | None = None
    for name, role in _candidates(view):
        codes = view.file_column(name).codes
        known = np.flatnonzero(codes >= 0)
        unit = codes[known]
        if not _are_units(unit, view.n):
            continue
        kappa = agreement(view, unit, known)
        rank = 2 if PERSON_NAME.search(name) else 1 if UNIT_NAME.search(name) else 0
        if kappa < MIN_AGREEMENT_BY_NAME[rank]:
            continue
        if not rank and role == "number" and _is_smooth(view, name):
            continue
        if best is None or (rank, kappa) > best[:2]:
            best = rank, kappa, name, known[np.bincount(unit)[unit] > 1]
    if best is None:
        return None
    _, kappa, name, rows = best
    units = len(np.unique(view.file_column(name).codes[rows]))
    return GroupSign(
        f"'{name}' looks like the name of a unit that has several rows",
        f"{count(len(rows), 'row')} share {units:,} values of '{name}', about "
        f"{digits3(len(rows) / units)} each{_in_words(kappa)}.",
        (name,), rows, kappa >= MIN_AGREEMENT, True,
    )  # fmt: skip


def _in_words(kappa: float) -> str:
    if kappa < MIN_AGREEMENT_OF_UNITS:
        return ""
    how = "nearly the same" if kappa >= MIN_AGREEMENT else "similar"
    return (
        f", and the target is {how} among them (agreement {digits3(kappa)}; 0 by chance, 1 if it "
        "is constant)"
    )


def _candidates(view: DataView) -> list[tuple[str, str]]:
    """Names and roles of columns that may name units and that the settings do not name."""
    counting = {
        c.name
        for j, c in enumerate(view.number_columns[:MAX_NUMBER_CANDIDATES])
        if _counts(view, j)
    }
    return [
        (c.name, c.role)
        for c in view.prepared.table.columns
        if c.name not in view.assigned_columns
        and MIN_UNITS <= c.n_distinct < view.n
        and (
            c.role in ("category", "text")
            or c.name in counting
            or (c.role in ("number", "id") and UNIT_NAME.search(c.name) is not None)
        )
    ]


def _counts(view: DataView, j: int) -> bool:
    """Are most whole numbers between the least and the largest in the column, as if counted?"""
    n = int(view.n_present[j])
    values = view.ordered_numbers[:n, j]
    if not n or values[-1] - values[0] >= 2 * view.n_distinct[j]:
        return False
    return bool(np.all(values % 1 == 0))


def _is_smooth(view: DataView, name: str) -> bool:
    """Is the mean target of a number like that of the next larger one?"""
    j = [c.name for c in view.number_columns].index(name)
    unit = np.unique(view.numbers[:, j], return_inverse=True)[1]
    y = view.target_codes.astype(float) if view.is_classes else view.prepared.y.astype(float)
    means = np.bincount(unit, y) / np.bincount(unit)
    if np.ptp(means[1:]) == 0 or np.ptp(means[:-1]) == 0:
        return True
    return bool(np.corrcoef(means[1:], means[:-1])[0, 1] > MAX_CORRELATION_OF_NEXT)


def _are_units(unit: np.ndarray, n: int) -> bool:
    """Do most rows share their unit with a few others?"""
    sizes = np.bincount(unit)
    sizes = sizes[sizes > 0]
    in_units = sizes[sizes > 1].sum()
    return bool(
        len(sizes) >= MIN_UNITS
        and in_units >= MIN_SHARE_IN_UNITS * n
        and sizes.max() <= max(MAX_ROWS_PER_UNIT * n, 2)
    )


# --- values that rows of a unit share -------------------------------------------------------------


def shared_values(view: DataView) -> GroupSign | None:
    """Return the sign of columns that are constant within units.

    Two columns of many values are tied if rows that share the exact value of one share that of the
    other, and neither is a monotone function of the other.
    """
    distinct = np.sort(view.first_of_duplicates)
    rows = distinct[sample_of_rows(len(distinct), MAX_ROWS)]
    columns = [
        j
        for j in np.flatnonzero(view.n_present == view.n)[:MAX_TIED_COLUMNS]
        if view.n_distinct[j] >= MIN_LEVELS_OF_UNIT_VALUE
    ]
    columns = [j for j in columns if _chance(view.numbers[rows, j]) <= MAX_PAIR_CHANCE]
    if len(columns) < MIN_TIED_COLUMNS:
        return None
    X = view.numbers[np.ix_(rows, columns)]
    tied = np.flatnonzero(_ties(X).sum(axis=1) >= MIN_TIED_COLUMNS - 1)
    if len(tied) < MIN_TIED_COLUMNS:
        return None
    unit = np.unique(X[:, tied], axis=0, return_inverse=True)[1].ravel()
    if not _are_units(unit, len(rows)):
        return None
    kappa = agreement(view, unit, rows)
    if kappa < MIN_AGREEMENT_OF_UNITS:
        return None
    names = tuple(view.number_columns[columns[i]].name for i in tied)
    in_units = rows[np.bincount(unit)[unit] > 1]
    return GroupSign(
        f"{share(len(in_units) / len(rows))} of the rows{sample_text(len(rows), len(distinct))} "
        f"share the exact values of {quoted(names)} with others",
        f"Rows agree in {count(len(names), 'column')} of many values, though not in all"
        f"{_in_words(kappa)}.",
        names, in_units, kappa >= MIN_AGREEMENT, False,
    )  # fmt: skip


def _chance(values: np.ndarray) -> float:
    """Share of pairs of rows that have the same value."""
    return float(np.sum((np.unique(values, return_counts=True)[1] / len(values)) ** 2))


def _ties(X: np.ndarray) -> np.ndarray:
    """Is column k the same where column j is, (p, p)? Compared over rows that follow each other
    when sorted by column j."""
    n, p = X.shape
    ranks = np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0, kind="stable")
    is_function = np.abs(np.corrcoef(ranks, rowvar=False)) >= MAX_ORDER
    tied = np.zeros((p, p), dtype=bool)
    for j in range(p):
        ordered = X[np.argsort(X[:, j], kind="stable")]
        equal = ordered[1:] == ordered[:-1]
        n_pairs = np.count_nonzero(equal[:, j])
        if n_pairs < MIN_SHARE_OF_PAIRS * n:
            continue
        tied[j] = (equal & equal[:, [j]]).sum(axis=0) >= MIN_TIED * n_pairs
    return tied & ~is_function


# --- near copies ----------------------------------------------------------------------------------


def near_copies(view: DataView) -> GroupSign | None:
    """Return the sign of rows that are far nearer to each other than their spacing explains.

    In m dimensions distances to the k-th nearest row grow as k^(1/m). With m estimated from the
    80th and the 20th nearest, the nearest is predicted from the 20th. Of more than 2,000 rows a
    sample is compared with all rows.
    """
    distinct = np.sort(view.first_of_duplicates)
    n_measured = np.count_nonzero(view.n_distinct >= MIN_LEVELS_OF_UNIT_VALUE)
    if n_measured < max(2, len(view.prepared.columns) / 2):
        return None  # codes are near each other by chance
    if not 5 * N_FAR <= len(distinct) <= MAX_ROWS_COMPARED:
        return None
    X = points(view, distinct)
    queries = sample_of_rows(len(distinct), MAX_QUERIES)
    distances, neighbors = nearest(X, 4 * N_FAR, queries)
    near, far, farther = distances[:, 0], distances[:, N_FAR - 1], distances[:, -1]
    positive = (near > 0) & (far > near)
    if np.count_nonzero(positive) < MIN_SHARE_IN_UNITS * len(queries):
        return None
    m = np.log(4) / np.maximum(np.log(np.median(farther[positive] / far[positive])), 1e-3)
    predicted = far * N_FAR ** (-1 / m)
    is_near = positive & (MIN_JUMP * near < predicted)
    if np.count_nonzero(is_near) < MIN_SHARE_IN_UNITS * len(queries):
        return None
    close, away, far_away = (
        float(_same(view, distinct, queries, neighbors[:, k])[is_near].mean())
        for k in (0, N_FAR - 1, 4 * N_FAR - 1)
    )
    if close < MIN_AGREEMENT or away > close - MIN_DROP or far_away > MAX_AGREEMENT_FAR_AWAY:
        return None
    rows = distinct[queries[is_near]]
    sampled = sample_text(len(queries), view.n)
    return GroupSign(
        f"{count(len(rows), 'row')}{sampled} {verb(len(rows), 'has', 'have')} a near copy with the "
        "same target",
        "The most similar row is far nearer than the spacing of rows explains, and has the same "
        "target, which rows only a little less similar have not.",
        (), rows, False, False,
    )  # fmt: skip


def _same(
    view: DataView, rows: np.ndarray, queries: np.ndarray, neighbor: np.ndarray
) -> np.ndarray:
    """Agreement of the target of queries with that of a neighbour, 0 by chance on average."""
    if view.is_classes:
        codes = view.target_codes[rows]
        p = np.bincount(codes) / len(codes)
        chance = float(np.sum(p**2))
        return ((codes[queries] == codes[neighbor]) - chance) / max(1 - chance, 1e-9)
    y = view.prepared.y[rows].astype(float)
    return 1 - (y[queries] - y[neighbor]) ** 2 / max(2 * float(np.var(y)), 1e-300)
