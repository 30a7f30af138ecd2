"""Group-lasso penalty, which sets whole groups of coefficients to 0."""

from collections.abc import Iterable

import numpy as np

from .base import checked_strength

MAX_REPR_CHARACTERS = 60  # of a list of groups


class GroupL2:
    """g(w) = strength·Σ_g √|g|·‖w_g‖₂, summed over the columns of w (the scores).

    The group lasso (Yuan and Lin 2006): a group's coefficients are all 0 or, in general, all
    nonzero. The factor √|g| makes the penalty comparable for groups of different sizes.

    Parameters
    ----------
    strength : float, default=1.0
    groups : list of lists of int, or array-like of shape (n_features,)
        The column numbers of each group, or the group number of each column. Every column is in
        exactly one group; on a group of one column the penalty is ``L1``.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import GroupL2
    >>> penalty = GroupL2(1.0, groups=[[0, 1], [2]])
    >>> penalty.prox(np.array([0.5, -0.5, 4.0]), step=1.0)
    array([0., 0., 3.])
    """

    name = "group_l2"
    formula = "strength·Σ_g √|g|·‖w_g‖"
    convex = True
    separable = False

    def __init__(self, strength: float = 1.0, *, groups: object):
        self.strength = checked_strength(strength)
        self.groups = column_groups(groups)
        sizes = [len(g) for g in self.groups]
        self._order = np.concatenate(self.groups)
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._group_of = np.empty(len(self._order), dtype=np.intp)
        self._group_of[self._order] = np.repeat(np.arange(len(sizes)), sizes)
        self._thresholds = self.strength * np.sqrt(sizes)

    def norms(self, w: np.ndarray) -> np.ndarray:
        """‖w_g‖, (groups,) or (groups, K)."""
        w = np.asarray(w, dtype=float)
        if len(w) != len(self._order):
            raise ValueError(
                f"groups: they cover {len(self._order)} columns, the data have {len(w)}; give "
                "every column a group"
            )
        # hypot avoids overflow of the squares
        return np.abs(np.hypot.reduceat(w[self._order], self._starts, axis=0))

    def value(self, w: np.ndarray) -> float:
        return float(np.sum(self.norms(w).T * self._thresholds))

    def prox(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        size = self.norms(v)
        left = np.maximum(size.T - step * self._thresholds, 0.0).T
        share = np.divide(left, size, out=np.zeros_like(size), where=size > 0)
        return v * share[self._group_of] + 0.0  # no negative zeros

    def conjugate(self, v: np.ndarray) -> float:
        return np.inf if (self._thresholds < self.norms(v).T).any() else 0.0

    def distance(self, w: np.ndarray, g: np.ndarray) -> np.ndarray:
        size, of_g = self.norms(w), self.norms(g)
        threshold = np.broadcast_to(self._thresholds, size.T.shape).T
        # at w_g = 0 the subdifferential is a ball: what matters is how far −g_g is outside it
        beyond = np.maximum(of_g - threshold, 0.0)
        beyond = np.divide(beyond, of_g, out=np.zeros_like(size), where=of_g > 0)
        zero = (size == 0)[self._group_of]
        return np.abs(np.where(zero, g * beyond[self._group_of], g + self.subgradient(w)))

    def subgradient(self, w: np.ndarray) -> np.ndarray:
        """Subgradient at w: 0 for groups that are 0, the gradient for the others."""
        size = self.norms(w)
        threshold = np.broadcast_to(self._thresholds, size.T.shape).T
        along = np.divide(threshold, size, out=np.zeros_like(size), where=size > 0)
        return w * along[self._group_of]

    def __repr__(self) -> str:
        groups = repr([g.tolist() for g in self.groups])
        if len(groups) > MAX_REPR_CHARACTERS:
            groups = f"<{len(self.groups)} of {len(self._order)} columns>"
        return f"GroupL2(strength={self.strength!r}, groups={groups})"


def column_groups(groups: object) -> list[np.ndarray]:
    """Columns of each group, from lists of columns or from a group number for each column."""
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise ValueError(
            f"groups={groups!r}: give a list of lists of column numbers, or a group number for "
            "each column"
        )
    given = list(groups)
    if given and all(np.ndim(g) == 0 for g in given):
        of_column = np.unique(np.asarray(given), return_inverse=True)[1]
        return [np.flatnonzero(of_column == g) for g in range(of_column.max() + 1)]
    lists = [np.asarray(g) for g in given]
    if not lists or any(g.ndim != 1 or g.size == 0 or g.dtype.kind not in "iu" for g in lists):
        raise ValueError("groups: give each group a list of column numbers, one or more")
    columns = np.sort(np.concatenate(lists))
    expected = np.arange(len(columns))
    if (columns != expected).any():
        twice = columns[1:][columns[1:] == columns[:-1]]
        if len(twice):
            raise ValueError(f"groups: column {twice[0]} is listed twice; give it one group")
        if columns[0] < 0:
            raise ValueError(f"groups: there is no column {columns[0]}; count from 0")
        missing = expected[columns != expected][0]
        raise ValueError(
            f"groups: column {missing} has no group; give it one, [{missing}] for itself alone"
        )
    return [g.astype(np.intp) for g in lists]
