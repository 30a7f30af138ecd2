"""One query's answer, and the first thing that is wrong with it.

d̂_j = d(x_j, q) for each row j that was named, and d(x_i, q) ≥ reach for each that was not
"""

from typing import Any, NamedTuple

import numpy as np


class Answer(NamedTuple):
    """Rows that were named as the nearest of q, and those within reach that were not."""

    said: np.ndarray  # d̂ (k,), as stated
    named: np.ndarray  # (k,) rows
    true: np.ndarray  # d (k,), recomputed
    off: np.ndarray  # |d̂ − d| (k,)
    may_be_off: np.ndarray  # (k,) what of it is forgiven
    reach: float  # the largest d, or the radius
    short: float  # what is forgiven of it
    left: np.ndarray  # rows within reach that were not named, the nearest first …
    left_d: np.ndarray  # … and their distances
    n: int  # rows there are
    radius: bool  # all within it were wanted
    ours: bool  # ties go to the first row

    @property
    def tied(self) -> Any:
        """Rows that were not named, and are as near as the farthest that was, up to rounding."""
        return self.left[:0] if self.radius else self.left[self.left_d >= self.reach - self.short]

    @property
    def earlier(self) -> Any:
        """Those of them that come before one that was named at the reach itself."""
        last = np.max(self.named[self.true == self.reach], initial=-1)
        return self.tied[self.tied < last]

    def residual(self, scale: float) -> float:
        """The largest error of a distance, and of the reach, as a share."""
        off = float(np.max(self.off, initial=0.0))
        nearer = len(self.left) > 0 and self.left_d[0] < self.reach
        short = 1 - self.left_d[0] / self.reach if nearer else 0.0
        return max(short, 0.0 if off == 0 else off / scale if scale > 0 else np.inf)

    def wrong(self) -> str | None:
        """In words; None: nothing is."""
        return (
            self._wrong_rows()
            or self._wrong_distance()
            or self._missed()
            or self._too_far()
            or self._wrong_order()
        )

    def _wrong_rows(self) -> str | None:
        named = self.named[(self.named != -1) | np.isfinite(self.said)]  # −1 at ∞: nobody
        outside = named[(named < 0) | (named >= self.n)]
        if len(outside):
            return f"row {outside[0]} is named, but there are {self.n:,}"
        rows = np.sort(named)
        twice = rows[1:][rows[1:] == rows[:-1]]
        return f"row {twice[0]} is named twice" if len(twice) else None

    def _wrong_distance(self) -> str | None:
        bad = np.flatnonzero(self.off > self.may_be_off)
        if not len(bad):
            return None
        j = bad[0]
        said, true = self.said[j], self.true[j]
        return f"row {self.named[j]} is said to be at {said:.6g}, but it is at {true:.6g}"

    def _missed(self) -> str | None:
        if not len(self.left) or not self.left_d[0] < self.reach - self.short:
            return None
        than = f"the radius is {self.reach:.6g}"
        if not self.radius:
            than = f"row {self.named[np.argmax(self.true)]} was named at {self.reach:.6g}"
        return f"row {self.left[0]} at {self.left_d[0]:.6g} was missed; {than}"

    def _too_far(self) -> str | None:
        if not self.radius or not np.max(self.true, initial=0.0) > self.reach + self.short:
            return None
        j = np.argmax(self.true)
        row, d = self.named[j], self.true[j]
        return f"row {row} at {d:.6g} is outside the radius {self.reach:.6g}"

    def _wrong_order(self) -> str | None:
        a, b, later = self.said[:-1], self.said[1:], np.diff(self.named) > 0
        if self.radius:
            bad, why = ~later & self.ours, "rows within a radius stand in their order"
        else:
            forgiven = 0.0 if self.ours else self.may_be_off[1:]
            bad, why = b + forgiven < a, "the farther first"
            if self.ours and not bad.any():
                same = (a == b) & np.isfinite(a)
                bad, why = same & ~later, "of equal distances the first row comes first"
        if not bad.any():
            return None
        j = int(np.argmax(bad))
        return f"rows {self.named[j]} and {self.named[j + 1]} stand in the wrong order: {why}"

    def passed_over(self, X_earlier: np.ndarray, X_named: np.ndarray, q: np.ndarray) -> str | None:
        """Was a row passed over for a later one at just the same distance?

        Just the same: |x − q| are the same numbers, or all are whole, so that no sum was rounded.
        """
        last = np.flatnonzero(self.true == self.reach)
        for i, x in zip(self.earlier, np.abs(X_earlier - q), strict=True):
            d = self.left_d[self.left == i][0]
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
