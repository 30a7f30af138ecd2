"""D-SHIFT: test rows, or later rows, that differ from those that the model learns from.

Each column is compared by a test of two samples, with Holm's correction, and so is the target.
"""

import numpy as np

from ...arrays import codes_of, numbers_of
from ...content.data import DataProblem
from ...content.phrases import digits3
from .shift_tests import ColumnShift, compare_codes, compare_numbers, holm
from .view import DataView
from .wording import INFO, MAX_COLUMNS_NAMED, WARNING, columns_text, quoted, verb

CODE = "D-SHIFT"
LEVEL = 0.01  # chance of a false alarm among all columns
MIN_DISTANCE = 0.1  # smaller ones are real in large tables, and harmless
MIN_ROWS = 20  # of each sample


def find(view: DataView) -> list[DataProblem] | None:
    """Return columns that differ between test and other rows, or between early and late ones."""
    found: list[DataProblem] = []
    is_checked = False
    if view.test is not None and min(len(view.test.y), view.n) >= MIN_ROWS:
        is_checked = True
        found += _against_test(view)
    if view.prepared.times is not None and view.n >= 2 * MIN_ROWS:
        is_checked = True
        found += _over_time(view)
    return found if is_checked else None


def _against_test(view: DataView) -> list[DataProblem]:
    test = view.test
    assert test is not None
    shifts = [
        compare_numbers(c.name, view.numbers[:, j], numbers_of(test.X.column(c.name)))
        for j, c in enumerate(view.number_columns)
    ]
    new_rows = {}
    for name, column in view.categories.items():
        other = codes_of(test.X.column(name))
        place = {level: code for code, level in enumerate(column.levels)}
        known = np.array([place.get(level, len(place)) for level in other.levels] + [-1])
        codes = known[other.codes]
        shifts.append(compare_codes(name, column.codes + 1, codes + 1))
        if (codes == len(place)).any():
            new_rows[name] = np.flatnonzero(codes == len(place))
    found = _problems(
        shifts, view, "the test file differs from the other rows",
        "The test then measures how the model does on other cases than those it learned from.",
    )  # fmt: skip
    found += _target_shift(view, view.prepared.y, test.y, "the test file", "the other rows")
    if new_rows:
        rows = np.unique(np.concatenate(list(new_rows.values())))
        names = tuple(new_rows)
        found.append(DataProblem(
            CODE, f"The test file has categories of {quoted(names)} that no other row has", WARNING,
            names[:MAX_COLUMNS_NAMED],
            tuple(int(r) for r in test.row_numbers[rows[:20]]), len(rows),
            "A model has learned nothing of them.",
            "Check the spelling; if they are new, collect rows with them.",
            "They were treated as none of the known categories; row numbers are of the test file.",
        ))  # fmt: skip
    return found


def _over_time(view: DataView) -> list[DataProblem]:
    times = view.prepared.times
    assert times is not None
    late = times > np.median(times)
    if min(np.count_nonzero(late), np.count_nonzero(~late)) < MIN_ROWS:
        return []
    shifts = [
        compare_numbers(c.name, view.numbers[~late, j], view.numbers[late, j])
        for j, c in enumerate(view.number_columns)
    ]
    shifts += [
        compare_codes(name, column.codes[~late] + 1, column.codes[late] + 1)
        for name, column in view.categories.items()
    ]
    found = _problems(
        shifts, view, "the later half of the rows differs from the earlier half",
        "What held for the earlier rows need not hold for the next ones.",
    )  # fmt: skip
    y = view.prepared.y
    if not view.has_target:
        return found
    return found + _target_shift(view, y[~late], y[late], "the later half", "the earlier half")


def _problems(shifts: list[ColumnShift], view: DataView, where: str, why: str) -> list[DataProblem]:
    if not shifts:
        return []
    p_values = holm(np.array([s.p_value for s in shifts]))
    found = [
        s for s, p in zip(shifts, p_values, strict=True) if p < LEVEL and s.distance >= MIN_DISTANCE
    ]
    if not found:
        return []
    found.sort(key=lambda s: -s.distance)
    names = [s.column for s in found]
    n = len(found)
    return [DataProblem(
        CODE, f"In {columns_text(n)} {where}: {quoted(names)}",
        WARNING if found[0].distance >= 2 * MIN_DISTANCE else INFO,
        tuple(names[:MAX_COLUMNS_NAMED]), (), view.n,
        f"{columns_text(len(shifts))} {verb(len(shifts), 'was', 'were')} compared; the "
        f"distribution of '{names[0]}' moved by {digits3(found[0].distance)} of 1, more than "
        f"chance explains. {why}",
        "Find out what changed: the cases, the way they were measured, or the units.",
        "Nothing was adjusted.",
    )]  # fmt: skip


def _target_shift(
    view: DataView, y: np.ndarray, other: np.ndarray, name: str, base: str
) -> list[DataProblem]:
    if view.is_classes:
        both = np.concatenate([y, other]).astype(str)
        codes = np.unique(both, return_inverse=True)[1]
        shift = compare_codes("", codes[: len(y)], codes[len(y) :])
    else:
        shift = compare_numbers("", y.astype(float), other.astype(float))
    if shift.p_value >= LEVEL or shift.distance < MIN_DISTANCE / 2:
        return []
    return [DataProblem(
        CODE, f"The target is distributed differently in {name} than in {base}", WARNING, (), (),
        len(other),
        f"Its distribution moved by {digits3(shift.distance)} of 1. Probabilities that were right "
        "on average for one are too high or too low for the other.",
        "Correct the probabilities for the share of each class that you expect "
        "(certus.metrics.correct_prior), or fit on rows like those to be predicted."
        if view.is_classes
        else "Find out what changed, and fit on rows like those to be predicted.",
        "Nothing was adjusted.",
    )]  # fmt: skip
