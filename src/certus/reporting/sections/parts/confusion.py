"""Several classes: the confusion matrix, and recall and precision of each class."""

import numpy as np

from ....text.proportions import clopper_pearson
from ...content.performance import Measures
from ...content.phrases import of_rows, share
from ...content.values import Interval, MeasureEstimate, ReportTable, TableColumn
from ...prepared import Prepared
from ...settings import Settings
from .answers import Answered, Weighted, interval_of


def confusion_of_classes(prepared: Prepared, settings: Settings, found: Answered) -> Measures:
    """The answer is the most probable class."""
    K, predicted = len(prepared.classes), found.output.argmax(axis=1)
    table = np.bincount(K * found.target + predicted, minlength=K * K).reshape(K, K)
    recall = [_shares(settings, found, found.target == k, predicted == k) for k in range(K)]
    precision = [_shares(settings, found, predicted == k, found.target == k) for k in range(K)]
    rows = tuple(
        (name, *table[k].tolist(), _value(recall[k]), _value(precision[k]))
        for k, name in enumerate(prepared.classes)
    )
    heads = tuple(TableColumn(f"predicted '{name}'", "count") for name in prepared.classes)
    grid = ReportTable(
        "Rows by their class and by the predicted one",
        (
            TableColumn("class", "text"),
            *heads,
            TableColumn("recall", "share"),
            TableColumn("precision", "share"),
        ),
        rows,
    )
    estimates = []
    for k, name in enumerate(prepared.classes):
        for what, one, words in (
            ("recall", recall[k], "the share of its rows that are answered rightly"),
            ("precision", precision[k], "the share of its answers that are right"),
        ):
            if one is not None:
                estimates.append(MeasureEstimate(f"{what} of '{name}'", *one, None, words))
    return Measures(_text(prepared, table), tuple(estimates), confusion=grid)


def _shares(
    settings: Settings, found: Answered, among: np.ndarray, right: np.ndarray
) -> tuple[float, int, Interval | None] | None:
    """A share, its number of rows and its interval; None of no rows."""
    n = int(among.sum())
    if n == 0:
        return None
    of = _share_of(among, right)
    low, high = clopper_pearson(int((among & right).sum()), n, settings.confidence)
    interval: Interval | None = Interval(float(low), float(high), settings.confidence)
    if not found.is_independent:
        interval = interval_of(of, found, settings) or interval
    return of(found.weights), n, interval


def _share_of(among: np.ndarray, right: np.ndarray) -> Weighted:
    def of(s: np.ndarray) -> float:
        total = float(s[among].sum())
        return float(s[among & right].sum()) / total if total > 0 else np.nan

    return of


def _value(one: tuple[float, int, Interval | None] | None) -> float | None:
    return None if one is None else one[0]


def _text(prepared: Prepared, table: np.ndarray) -> str:
    sizes = table.sum(axis=1)
    recall = np.diag(table) / np.maximum(sizes, 1)
    best, worst = int(recall.argmax()), int(recall.argmin())
    names = prepared.classes
    text = (
        f"'{names[best]}' is recognised best: {of_rows(int(table[best, best]), int(sizes[best]))}"
        f" ({share(float(recall[best]))})."
    )
    if recall[worst] < recall[best]:
        text += (
            f" '{names[worst]}' is recognised worst: "
            f"{of_rows(int(table[worst, worst]), int(sizes[worst]))} "
            f"({share(float(recall[worst]))})"
        )
        missed = table[worst].copy()
        missed[worst] = 0
        if missed.any():
            text += f"; it is most often taken for '{names[int(missed.argmax())]}'"
        text += "."
    return text
