"""D-DUP: rows that repeat others in every used column, and test rows that were trained on.

Where columns take few values, rows coincide without being copies. If columns were independent
within a class, n(n − 1)/2 · Π_j Σ_v p_jv² pairs of its n rows would be equal, with p_jv the share
of value v in column j.
"""

from collections.abc import Iterator

import numpy as np

from ....text.format import count
from ...content.data import DataProblem
from .view import DataView
from .wording import INFO, SEVERE, WARNING, verb

CODE = "D-DUP"
MAX_CHANCE_SHARE = 0.01  # of equal pairs that are expected by chance: above, rows may coincide
MIN_SHARE_OF_WARNING = 0.005
MAX_VALUES_OF_CODES = 12  # no column has more: grades, ranks, answers
MIN_LOG_SHARE = -80.0  # below, no pair is expected


def find(view: DataView) -> list[DataProblem]:
    """Return repeated rows, those with conflicting targets, and test rows among the others."""
    return [*_repeats(view), *_conflicts(view), *_tested_again(view)]


def _repeats(view: DataView) -> list[DataProblem]:
    """Rows equal to an earlier one, target included."""
    later = _later_of(_joint(view.prepared.duplicates, _target(view)))
    if not len(later):
        return []
    by_chance = _may_coincide(view)
    n = len(later)
    if by_chance:
        reason = (
            "The columns take so few different values that different cases can look the same; "
            "these may be no copies."
        )
        fix = "Nothing, if each row is a case of its own; otherwise drop the copies."
    else:
        reason = (
            "Rows that agree in every column are probably copies, and each counts several times. "
            "On both sides of a split they make a model look better than it is."
        )
        fix = "Find out why they are there, and drop them if they are the same case entered again."
    is_warning = not by_chance and n >= MIN_SHARE_OF_WARNING * view.n
    return [DataProblem(
        CODE, f"{count(n, 'row')} {verb(n, 'repeats another', 'repeat others')}",
        WARNING if is_warning else INFO, (), view.rows_in_file(later), n, reason, fix,
        "Equal rows were kept in the same fold; none was dropped." if view.has_target
        else "They were kept.",
    )]  # fmt: skip


def _conflicts(view: DataView) -> list[DataProblem]:
    """Equal rows with different classes, or with targets that differ."""
    codes, target = view.prepared.duplicates, _target(view)
    n_targets = np.bincount(np.unique(np.stack([codes, target]), axis=1)[0])
    rows = np.flatnonzero(n_targets[codes] > 1)
    if not len(rows):
        return []
    n_sets = int(np.count_nonzero(n_targets > 1))
    different = "classes" if view.is_classes else "targets"
    is_expected = _may_coincide(view)
    return [DataProblem(
        CODE,
        f"{count(len(rows), 'row')} {verb(len(rows), 'agrees', 'agree')} in every column, but not "
        "in the target",
        WARNING, (), view.rows_in_file(rows), len(rows),
        f"{count(n_sets, 'set')} of equal rows {verb(n_sets, 'has', 'have')} different "
        f"{different}: no model can be right for all of them.",
        "More columns would be needed to tell these cases apart." if is_expected
        else "Look for errors in the target; if there are none, the columns do not tell these "
        "cases apart.",
        "They were kept, in the same fold.",
    )]  # fmt: skip


def _tested_again(view: DataView) -> list[DataProblem]:
    """Rows of --test that occur among the others."""
    if view.test is None:
        return []
    names = [c.name for c in view.prepared.columns]
    known = set(zip(*(view.prepared.X.column(name).to_pylist() for name in names), strict=True))
    rows = zip(*(view.test.X.column(name).to_pylist() for name in names), strict=True)
    again = np.array([i for i, row in enumerate(rows) if row in known], dtype=np.intp)
    if not len(again):
        return []
    n = len(again)
    share = n / len(view.test.y)
    return [DataProblem(
        CODE,
        f"{count(n, 'row')} of the test file {verb(n, 'occurs', 'occur')} among the other rows too",
        SEVERE if share >= 0.05 else WARNING, (),
        tuple(int(row) for row in view.test.row_numbers[again[:20]]), n,
        "A model has seen these rows, so the test is easier than new rows would be.",
        "Drop them from one of the two files.", "They were kept; row numbers are of the test file.",
    )]  # fmt: skip


def _target(view: DataView) -> np.ndarray:
    """The target as codes of its distinct values."""
    return np.unique(view.prepared.y, return_inverse=True)[1]


def _joint(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.unique(np.stack([a, b]), axis=1, return_inverse=True)[1].ravel()


def _later_of(codes: np.ndarray) -> np.ndarray:
    """Rows whose code occurred in an earlier row."""
    first = np.unique(codes, return_index=True)[1]
    return np.setdiff1d(np.arange(len(codes)), first)


def _equal_pairs(view: DataView) -> float:
    sizes = np.bincount(view.prepared.duplicates).astype(float)
    return float(np.sum(sizes * (sizes - 1)) / 2)


def _pairs_by_chance(view: DataView) -> float:
    """Expected number of equal pairs, if columns were independent given the target."""
    total = 0.0
    for k in np.unique(view.target_codes):
        inside = view.target_codes == k
        n = int(np.count_nonzero(inside))
        log_share = 0.0
        for values in _columns(view):
            counts = np.unique(values[inside], return_counts=True)[1]
            log_share += float(np.log(np.sum((counts / n) ** 2)))
            if log_share < MIN_LOG_SHARE:
                break
        total += n * (n - 1) / 2 * float(np.exp(log_share))
    return total


def _columns(view: DataView) -> Iterator[np.ndarray]:
    for j in range(len(view.number_columns)):
        yield view.numbers[:, j]
    for column in view.categories.values():
        yield column.codes


def _may_coincide(view: DataView) -> bool:
    """Do columns take so few values that different cases can be equal rows?"""
    widest = max(
        int(view.n_distinct.max(initial=0)),
        max((len(c.levels) for c in view.categories.values()), default=0),
    )
    return widest <= MAX_VALUES_OF_CODES or (
        _pairs_by_chance(view) >= MAX_CHANCE_SHARE * _equal_pairs(view)
    )
