"""D-LEAK: columns that give the target away.

A column that alone predicts nearly every row is usually a consequence of the target, or another
way to write it, and will not be known when the model is used.
"""

import numpy as np

from ...arrays import sample_of_rows
from ...content.data import DataProblem
from ...content.phrases import digits3
from .one_column import ColumnScore, scores
from .view import DataView
from .wording import MAX_COLUMNS_NAMED, SEVERE, WARNING, quoted, sample_text

CODE = "D-LEAK"
MIN_SCORE = 0.99
MIN_ROWS_OF_CLASS = 8  # fewer rows can be told apart by chance, if there are many columns
MIN_ROWS = 20
MAX_ROWS = 20_000
MAX_LEAKING_COLUMNS = 2  # more: an easy problem is likelier than so many leaks
MAX_SUM_COLUMNS = 200
MAX_RESIDUAL_SHARE = 1e-12  # of the squares of the target, left by an exact sum


def find(view: DataView) -> list[DataProblem] | None:
    """Return copies of the target, columns that predict it alone, and sums that are it."""
    if not view.has_target or view.n < MIN_ROWS:
        return None
    if view.is_classes and _rarest(view) < MIN_ROWS_OF_CLASS:
        return None
    found = [s for s in scores(view, _rows(view)) if s.score >= MIN_SCORE]
    maps = [s for s in found if s.is_map]
    others = [s for s in found if not s.is_map]
    problems = [_one_to_one(view, maps)] if maps else []
    problems += [_suspicious(view, others)] if others else []
    if not maps:
        problems += _sums(view)
    return problems


def _rarest(view: DataView) -> int:
    return int(np.bincount(view.target_codes).min())


def _rows(view: DataView) -> np.ndarray:
    return sample_of_rows(view.n, MAX_ROWS)


def _one_to_one(view: DataView, maps: list[ColumnScore]) -> DataProblem:
    names = [s.column for s in maps]
    what = "determines" if len(names) == 1 else "each determine"
    target = view.settings.target
    return DataProblem(
        CODE, f"{quoted(names)} {what} '{target}' completely", SEVERE,
        tuple(names[:MAX_COLUMNS_NAMED]), (), view.n,
        "Each value belongs to one target only: the column is the target, written in another way."
        if view.is_classes
        else "The target is the same column in other units, or rises with it in the same order.",
        f"Drop it if it is not known at the time of prediction: --drop {','.join(names[:3])}.",
        "Models used it, so the verdict is about this column.",
    )  # fmt: skip


def _suspicious(view: DataView, others: list[ColumnScore]) -> DataProblem:
    others = sorted(others, key=lambda s: -s.score)
    names = [s.column for s in others]
    measure = "AUC" if view.is_classes else "R²"
    alone = "alone predicts" if len(names) == 1 else "each alone predict"
    best = others[0]
    return DataProblem(
        CODE, f"{quoted(names)} {alone} '{view.settings.target}' almost perfectly",
        SEVERE if len(names) <= MAX_LEAKING_COLUMNS else WARNING,
        tuple(names[:MAX_COLUMNS_NAMED]), (), view.n,
        f"'{best.column}' reaches {measure} {digits3(best.score)} alone, on rows that were held "
        f"out{sample_text(len(_rows(view)), view.n)}. "
        + (
            "Few honest columns do: it may be a consequence of the target, or be recorded after it."
            if len(names) <= MAX_LEAKING_COLUMNS
            else "So many columns do that the classes may simply be easy to tell apart; or they "
            "are all recorded after the target."
        ),
        "Is it known when you predict? If not, drop it: "
        f"--drop {','.join(names[:3])}. If it is, one column is all the model you need.",
        "Models used it.",
    )  # fmt: skip


def _sums(view: DataView) -> list[DataProblem]:
    """The target as a sum of columns of numbers, exactly."""
    p = len(view.number_columns)
    if view.is_classes or not 2 <= p <= MAX_SUM_COLUMNS or view.n < 3 * p:
        return []
    complete = np.flatnonzero(~np.isnan(view.numbers).any(axis=1))[:MAX_ROWS]
    if len(complete) < 3 * p:
        return []
    X, y = view.numbers[complete], view.prepared.y[complete].astype(float)
    X, y = X - X.mean(axis=0), y - y.mean()
    norms = np.linalg.norm(X, axis=0)
    norms[norms == 0] = 1.0
    w = np.linalg.lstsq(X / norms, y, rcond=1e-10)[0]
    rest = y - X / norms @ w
    if rest @ rest > MAX_RESIDUAL_SHARE * (y @ y):
        return []
    shares = np.abs(w)
    names = [
        view.number_columns[j].name
        for j in np.argsort(-shares, kind="stable")
        if shares[j] > 1e-6 * shares.max()
    ]
    return [DataProblem(
        CODE, f"'{view.settings.target}' is exactly a sum of multiples of {quoted(names)}", WARNING,
        tuple(names[:MAX_COLUMNS_NAMED]), (), len(complete),
        "The target was computed from these columns, so there is nothing to predict once they are "
        "known.",
        "Are they all known when you predict? Then compute the target instead; otherwise drop what "
        "is not.",
        "Models used them.",
    )]  # fmt: skip
