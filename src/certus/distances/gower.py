"""Gower's distance between rows of numbers, categories and missing values.

d(a, b) = Σ_l w_l d_l / Σ_l w_l,   over the features l that are known in both rows,
d_l = |a_l − b_l| / range_l  for numbers,   1[a_l ≠ b_l]  for categories
"""

from typing import Any

import numpy as np

from . import blocks
from ._tables import Categorical, MixedTable, as_table
from .base import Distance, Flag
from .missing import checked_overlap, least_overlap, too_few
from .reading import nonnegative_weights, require_columns


class Gower(Distance):
    """d(a, b) = the mean, over features known in both rows, of |Δ|/range, or 1[a ≠ b].

    Gower (1971). Numbers are divided by their range in the rows of the fit, so that every feature
    counts from 0 to 1; a number outside that range may count for more. A feature that does not
    vary in the fit counts 1 for rows that differ from it. Two rows without a known feature in
    common are at distance NaN.

    Parameters
    ----------
    categorical : "auto", None, mask, column numbers or names, default="auto"
        Which columns are categorical. "auto": in data frames the columns of text, categories and
        booleans; in object arrays those with a value that is not a number.
    ranges : array-like of shape (n_features,), optional
        max − min of each column (ignored for categories). None: of the rows of the fit.
    w : array-like of shape (n_features,), optional
        Nonnegative feature weights. None: all 1.
    min_overlap : int or float, default=1
        How many features two rows must share, or if below 1 the smallest share of them, for a
        distance that is not NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.distances import Gower
    >>> people = np.array([[30, "red"], [40, "blue"], [50, None]], dtype=object)
    >>> Gower().pairwise(people)
    array([[0.  , 0.75, 1.  ],
           [0.75, 0.  , 0.5 ],
           [1.  , 0.5 , 0.  ]])
    """

    name = "gower"
    formula = "mean of |Δ|/range and 1[a ≠ b]"
    missing = True
    _categories: dict[int, dict[Any, int]] | None = None
    _ranges: np.ndarray | None = None
    _kinds: np.ndarray | None = None

    def __init__(
        self,
        categorical: Categorical = "auto",
        ranges: object = None,
        w: object = None,
        min_overlap: float = 1,
    ):
        self.categorical = categorical
        self.ranges = None if ranges is None else np.array(ranges, dtype=np.float64)
        self.w = None if w is None else nonnegative_weights(w)
        self.min_overlap = checked_overlap(min_overlap)

    def prepare(self, X: object) -> "Gower":
        """Return a copy with the categories and ranges of the rows of a fit."""
        return self._prepare_tables([as_table(X, self.categorical)])

    def parameters(self) -> dict[str, Any]:
        if self._ranges is None:
            raise ValueError("Gower has no ranges and categories yet: prepare(X) it")
        given = {"w": self.w, "min_overlap": self.min_overlap}
        return {"ranges": self._ranges, "categorical": vars(self)["_categorical"], **given}

    def _prepare_tables(self, tables: list[MixedTable]) -> "Gower":
        first = tables[0]
        p = first.width
        if self.w is not None:
            require_columns(len(self.w), p, "w")
        categories: dict[int, dict[Any, int]] = {}
        ranges = np.zeros(p)
        for l in range(p):
            if first.categorical[l]:
                # in order of appearance, since codes are only tested for equality
                values = dict.fromkeys(v for t in tables for v in t.columns[l] if not _unknown(v))
                categories[l] = {value: code for code, value in enumerate(values)}
            else:
                known = np.concatenate([t.columns[l][~np.isnan(t.columns[l])] for t in tables])
                ranges[l] = np.ptp(known) if len(known) else 0.0
        if self.ranges is not None:
            require_columns(len(self.ranges), p, "ranges")
            numeric = ~first.categorical
            valid = np.isfinite(self.ranges) & (self.ranges >= 0)
            if not valid[numeric].all():
                j = int(np.flatnonzero(numeric & ~valid)[0])
                raise ValueError(f"ranges[{j}] is {self.ranges[j]}: give max − min of the column")
            ranges = np.where(numeric, self.ranges, 0.0)
        # a column that does not vary in the fit is treated as a category
        kinds = (first.categorical | (ranges == 0)).astype(np.intp)
        return self._with(
            _categories=categories, _ranges=ranges, _kinds=kinds, _categorical=first.categorical
        )

    def read(self, X: object) -> np.ndarray:
        """Return numbers unchanged and categories as codes (new ones above those of the fit)."""
        if self._categories is None:
            raise ValueError("Gower has no ranges and categories yet: prepare(X) it")
        table = as_table(X, vars(self)["_categorical"])
        return self._coded(table, self._categories)

    def _coded(self, table: MixedTable, categories: dict[int, dict[Any, int]]) -> np.ndarray:
        assert self._kinds is not None
        require_columns(len(self._kinds), table.width, "the fit")
        rows = np.empty((len(table.columns[0]) if table.width else 0, table.width))
        for l, column in enumerate(table.columns):
            if not table.categorical[l]:
                rows[:, l] = column
                continue
            codes = dict(categories[l])
            rows[:, l] = [
                np.nan if _unknown(v) else codes.setdefault(v, len(codes)) for v in column
            ]
        return rows

    def pairwise(
        self, A: np.ndarray, B: np.ndarray | None = None, *, threads: int | None = None
    ) -> np.ndarray:
        """Return d(A_i, B_j) of all pairs; before ``prepare``, ranges are those of A and B."""
        prepared, a, b = self._coded_sides(A, B)
        return prepared.compare(a, b, threads)

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return d(A_i, B_i) row by row, (n,)."""
        prepared, a, b = self._coded_sides(A, B)
        if len(a) != len(b):
            raise ValueError(
                f"A has {len(a):,} rows, B has {len(b):,}: they are compared row by row"
            )
        each = [prepared.compare(a[[i]], b[[i]], 1)[0, 0] for i in range(len(a))]
        return np.array(each, dtype=np.float64)

    def _coded_sides(
        self, A: np.ndarray, B: np.ndarray | None
    ) -> tuple["Gower", np.ndarray, np.ndarray]:
        which = self.categorical if self._kinds is None else vars(self)["_categorical"]
        a = as_table(A, which)
        if B is None or B is A:
            prepared = self if self._kinds is not None else self._prepare_tables([a])
            assert prepared._categories is not None
            rows = prepared._coded(a, prepared._categories)
            return prepared, rows, rows
        b = as_table(B, which)
        require_columns(a.width, b.width, "X")
        if (
            a.categorical != b.categorical
        ).any():  # a column is categorical if it is in either side
            both = a.categorical | b.categorical
            a, b = as_table(A, both), as_table(B, both)
        prepared = self if self._kinds is not None else self._prepare_tables([a, b])
        # categories that are new to the fit get codes too, so that they differ from each other
        in_either = self._prepare_tables([a, b])._categories
        assert in_either is not None
        codes_known = {l: dict(codes) for l, codes in (prepared._categories or {}).items()}
        for l, values in in_either.items():
            for value in values:
                codes_known.setdefault(l, {}).setdefault(value, len(codes_known[l]))
        return prepared, prepared._coded(a, codes_known), prepared._coded(b, codes_known)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        if self._ranges is None or self._kinds is None:
            raise ValueError("Gower has no ranges and categories yet: prepare(X) it")
        p = A.shape[1]
        w = np.ones(p) if self.w is None else self.w
        scale = np.divide(1.0, self._ranges, out=np.ones(p), where=self._ranges > 0)
        least = least_overlap(self.min_overlap, p)

        def mean(total: np.ndarray, weight: np.ndarray) -> np.ndarray:
            undefined = weight < (least if self.w is None else np.finfo(float).tiny)
            total /= np.where(undefined, np.nan, weight)
            return total

        D = blocks.shared_features(A, B, w, scale, self._kinds, mean, threads)
        if self.w is not None and least > 1:
            ones = np.ones(p)
            shared = blocks.shared_features(
                A, B, ones, scale, self._kinds, lambda _, m: m, threads
            )  # fmt: skip
            D[shared < least] = np.nan
        return D

    def flags(self, X: object) -> list[Flag]:
        """Return rows with too few known features to be compared with any other."""
        table = as_table(X, self.categorical)
        n_known = np.zeros(len(table.columns[0]) if table.width else 0, dtype=int)
        for column in table.columns:
            n_known += np.array([not _unknown(v) for v in column], dtype=int)
        return too_few(n_known, least_overlap(self.min_overlap, table.width))


def _unknown(value: object) -> bool:
    return value is None or value != value
