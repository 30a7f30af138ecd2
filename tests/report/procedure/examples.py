"""Prepared rows for the tests of the procedure, without files."""

import numpy as np
import pyarrow as pa

from certus.reporting.prepared import Prepared
from certus.tables.columns import described
from certus.tables.conversion import Converted
from certus.tables.table import ReadReport, Table


def prepared(
    columns, y, *, task="two classes", labels=None, positive=None, weights=None, groups=None,
    times=None, duplicates=None, names=None,
):  # fmt: skip
    """Prepared rows of columns (a dict) with a target; classes as they occur, sorted."""
    data = pa.table(columns)
    found = tuple(
        described(name, Converted(data.column(name), frozenset()), None)
        for name in data.column_names
    )
    y = np.asarray(y)
    table = Table(data, found, ReadReport("example.csv", "CSV", len(y), None, (), ()))
    if task != "numbers" and labels is None:
        labels = tuple(np.unique(y).tolist())
    if task == "two classes" and positive is None:
        positive = int(np.argmin([np.sum(y == label) for label in labels]))
    n = len(y)
    return Prepared(
        table=table, columns=table.used(), X=table.select([c.name for c in table.used()]), y=y,
        task=task, classes=tuple(map(str, labels or ())), labels=labels or (), positive=positive,
        positive_reason="the rarer class", row_numbers=np.arange(1, n + 1), weights=weights,
        groups=groups, times=times,
        duplicates=np.arange(n) if duplicates is None else np.asarray(duplicates),
    )  # fmt: skip


def two_classes(n=150, seed=0, p=4, signal=1.5):
    """Rows whose first column says something of the class; one column of text, one with gaps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(signal * X[:, 0] + rng.logistic(size=n) > 1.5, "yes", "no")
    columns = {f"x{j}": X[:, j] * 10.0**j for j in range(p)}
    gaps = columns["x1"].copy()
    gaps[::17] = np.nan
    columns["x1"] = gaps
    columns["colour"] = rng.choice(["red", "blue", "green"], n)
    return columns, y
