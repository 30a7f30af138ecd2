"""A contestant's part in one contest: its cell of the tables, and the fits that fill it."""

import sys
import warnings
from dataclasses import replace

import numpy as np


class NotOffered(Exception):
    """The library is absent, lacks the estimator or hands it to another library: "–"."""


def empty_cell(skipped=None, failed=False):
    return {
        "seconds": None,
        "all_seconds": [],
        "tol": None,  # None: the library's default
        "iterations": None,
        "objective": None,
        "excess": None,
        "value": None,  # of rows that report one besides
        "warnings": [],
        "cold_start_seconds": None,
        "extra_memory": None,  # multiple of X.nbytes
        "extra_memory_bytes": None,
        "extra_memory_method": None,
        "skipped": skipped,
        "failed": failed,
    }


class Entry:
    """A contestant's part in one contest: its cell, and the first model it fitted."""

    def __init__(self, contestant, row, X, y):
        self.contestant, self.row, self.X, self.y = contestant, row, X, y
        self.model = None
        self.cell = empty_cell()

    def warmed_up(self):
        """Fit a small set, so that imports, compilation and thread pools are not in the seconds."""
        small = self.row.small()
        return np.isfinite(self.fit(small, *small.data())[0])

    def fit_once(self):
        if self.cell["skipped"]:
            return np.inf
        seconds, model = self.fit(self.row, self.X, self.y)
        if self.model is None:
            self.model = model
        return seconds

    def fit_at(self, tol):
        """Fit at this tolerance, which later fits keep: (seconds, model)."""
        self.row = replace(self.row, tol=tol)
        return self.fit(self.row, self.X, self.y)

    def fit(self, row, X, y):
        """(seconds, model), or (inf, None) with the reason in the cell."""
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                seconds, model = self.contestant.timed_fit(row, X, y)
        except NotOffered:
            return self.drop_out(empty_cell("not offered"))
        except Exception as error:
            # the message may hold a path: it is shown and not stored
            print(f"  {row.name}, {self.contestant.name}: {error!r}", file=sys.stderr)
            return self.drop_out(empty_cell(type(error).__name__, failed=True))
        self.cell["warnings"] = sorted({w.category.__name__ for w in caught})
        return seconds, model

    def record(self, seconds, objective):
        if np.isfinite(objective):
            self.cell.update(seconds=min(seconds), all_seconds=seconds, objective=objective)
            self.cell.update(tol=self.row.tol, iterations=iterations_of(self.model))
        else:
            self.drop_out(empty_cell("objective is not finite", failed=True))

    def drop_out(self, cell):
        self.model, self.cell = None, cell
        return np.inf, None


def iterations_of(model):
    """The most of all classes and folds; None where the library does not count."""
    counted = getattr(model, "n_iter_", None)
    return None if counted is None else int(np.max(counted))
