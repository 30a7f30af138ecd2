"""A model's answer to one query, and the first error in it.

The answer is right if d̂_j = d(x_j, q) for each row j that it names, and d(x_i, q) ≥ reach for each
row i that it does not.
"""

from typing import Any, NamedTuple

import numpy as np


class Answer(NamedTuple):
    """Rows named as the nearest of q, and those within reach that were not named."""

    stated: np.ndarray  # d̂ (k,), as the model states it
    named: np.ndarray  # (k,) rows
    true: np.ndarray  # d (k,), recomputed
    error: np.ndarray  # |d̂ − d| (k,)
    tolerance: np.ndarray  # (k,), of the error
    reach: float  # the largest d, or the radius
    slack: float  # tolerance of the reach
    unnamed: np.ndarray  # rows within reach that were not named, the nearest first …
    unnamed_d: np.ndarray  # … and their distances
    n: int  # number of rows
    radius: bool  # whether all rows within a radius were requested
    ours: bool  # whether ties must go to the first row

    @property
    def tied(self) -> Any:
        """Unnamed rows that are as near as the farthest named one, up to rounding."""
        return (
            self.unnamed[:0]
            if self.radius
            else self.unnamed[self.unnamed_d >= self.reach - self.slack]
        )

    @property
    def earlier(self) -> Any:
        """Tied rows that precede a row named at exactly the reach."""
        last = np.max(self.named[self.true == self.reach], initial=-1)
        return self.tied[self.tied < last]

    def residual(self, scale: float) -> float:
        """Return the largest relative error of a distance or of the reach."""
        error = float(np.max(self.error, initial=0.0))
        nearer = len(self.unnamed) > 0 and self.unnamed_d[0] < self.reach
        slack = 1 - self.unnamed_d[0] / self.reach if nearer else 0.0
        return max(slack, 0.0 if error == 0 else error / scale if scale > 0 else np.inf)

    def first_error(self) -> str | None:
        """Describe the first error; None if there is none."""
        return (
            self._wrong_rows()
            or self._wrong_distance()
            or self._missed()
            or self._too_far()
            or self._wrong_order()
        )

    def _wrong_rows(self) -> str | None:
        named = self.named[(self.named != -1) | np.isfinite(self.stated)]  # −1 at ∞: no neighbour
        outside = named[(named < 0) | (named >= self.n)]
        if len(outside):
            return f"row {outside[0]} is named, but there are {self.n:,}"
        rows = np.sort(named)
        twice = rows[1:][rows[1:] == rows[:-1]]
        return f"row {twice[0]} is named twice" if len(twice) else None

    def _wrong_distance(self) -> str | None:
        bad = np.flatnonzero(self.error > self.tolerance)
        if not len(bad):
            return None
        j = bad[0]
        stated, true = self.stated[j], self.true[j]
        return f"row {self.named[j]} is stated to be at {stated:.6g}, but it is at {true:.6g}"

    def _missed(self) -> str | None:
        if not len(self.unnamed) or not self.unnamed_d[0] < self.reach - self.slack:
            return None
        than = f"the radius is {self.reach:.6g}"
        if not self.radius:
            than = f"row {self.named[np.argmax(self.true)]} was named at {self.reach:.6g}"
        return f"row {self.unnamed[0]} at {self.unnamed_d[0]:.6g} was missed; {than}"

    def _too_far(self) -> str | None:
        if not self.radius or not np.max(self.true, initial=0.0) > self.reach + self.slack:
            return None
        j = np.argmax(self.true)
        row, d = self.named[j], self.true[j]
        return f"row {row} at {d:.6g} is outside the radius {self.reach:.6g}"

    def _wrong_order(self) -> str | None:
        a, b, later = self.stated[:-1], self.stated[1:], np.diff(self.named) > 0
        if self.radius:
            bad, why = ~later & self.ours, "rows within a radius are in ascending order"
        else:
            forgiven = 0.0 if self.ours else self.tolerance[1:]
            bad, why = b + forgiven < a, "the farther first"
            if self.ours and not bad.any():
                same = (a == b) & np.isfinite(a)
                bad, why = same & ~later, "of equal distances the first row comes first"
        if not bad.any():
            return None
        j = int(np.argmax(bad))
        return f"rows {self.named[j]} and {self.named[j + 1]} are in the wrong order: {why}"

    def passed_over(self, X_earlier: np.ndarray, X_named: np.ndarray, q: np.ndarray) -> str | None:
        """Describe a row that was passed over for a later one at exactly the same distance.

        Exactly: |x − q| are the same numbers, or all are whole, so that no sum was rounded.
        """
        last = np.flatnonzero(self.true == self.reach)
        for i, x in zip(self.earlier, np.abs(X_earlier - q), strict=True):
            d = self.unnamed_d[self.unnamed == i][0]
            for j in last[self.named[last] > i]:
                other = np.abs(X_named[j] - q)
                if np.array_equal(x, other) or (d == self.reach and _whole(x) and _whole(other)):
                    return (
                        f"row {self.named[j]} was named and row {i}, at the same distance "
                        f"{self.reach:.6g}, was not: of equal ones the first rows are the nearest"
                    )
        return None


def _whole(x: np.ndarray) -> bool:
    return bool(np.all(x == np.rint(x)) and np.max(x, initial=0.0) < 2**20)
