"""Folds: which rows are held out together.

rows ─► sets that stay together (copies, groups) ─► folds with equal shares of the classes
--time: blocks in the order of time; the rows before a block train the model for it
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)

from ...exceptions import TableError
from ...text.format import count
from ..prepared import Prepared

Fold = tuple[np.ndarray, np.ndarray]  # training rows, held-out rows

N_FOLDS = 5
N_FOLDS_SMALL = 10  # of tables below MIN_ROWS_OF_FIVE rows, where 80 % of the rows are too few
MIN_ROWS_OF_FIVE = 500
MIN_SHARE_DISTINCT = 0.5  # below, rows repeat since few combinations of values exist
N_STRATA = 5  # numbers are spread over the folds by these quantiles
MAX_SETS_STRATIFIED = 3000  # StratifiedGroupKFold needs about 0.1 ms for each


def kept_together(prepared: Prepared) -> tuple[np.ndarray, str]:
    """Codes of the sets of rows that one fold must hold, and how they were made, in a sentence.

    Copies stay together, unless the columns have so few combinations of values that most rows are
    copies: then a new row would be a copy too.
    """
    n = prepared.n
    parts = []
    if prepared.groups is not None:
        parts.append((prepared.groups, "rows of a group stay in one fold"))
    n_distinct = len(np.unique(prepared.duplicates))
    if n_distinct < n and n_distinct >= MIN_SHARE_DISTINCT * n:
        parts.append((prepared.duplicates, "rows that repeat others stay with them in one fold"))
    if not parts:
        return np.arange(n), ""
    sentence = "; ".join(words for _, words in parts)
    if len(parts) == 1:
        return np.unique(parts[0][0], return_inverse=True)[1], sentence
    offset, starts, ends = n, [], []
    for codes, _ in parts:  # an edge from each row to its set: connected rows stay together
        place = np.unique(codes, return_inverse=True)[1]
        starts.append(np.arange(n))
        ends.append(offset + place)
        offset += int(place.max()) + 1
    a, b = np.concatenate(starts), np.concatenate(ends)
    graph = coo_matrix((np.ones(len(a)), (a, b)), shape=(offset, offset))
    return connected_components(graph, directed=False)[1][:n], sentence


def strata_of(prepared: Prepared) -> np.ndarray:
    """Classes, or quantiles of a target of numbers."""
    if prepared.task != "numbers":
        return prepared.codes()
    edges = np.quantile(prepared.y, np.linspace(0, 1, N_STRATA + 1)[1:-1])
    return np.searchsorted(np.unique(edges), prepared.y, side="right")


def n_outer(prepared: Prepared, together: np.ndarray) -> int:
    """Number of outer folds. Raises ``TableError`` where a class has a single row or set."""
    is_small = prepared.n < MIN_ROWS_OF_FIVE and prepared.times is None
    wanted = N_FOLDS_SMALL if is_small else N_FOLDS
    if prepared.task == "numbers":
        if prepared.n < 4:
            raise TableError(f"there are {count(prepared.n, 'row')}: at least 4 are needed")
        return min(wanted, prepared.n // 2)
    counts = np.bincount(prepared.codes(), minlength=len(prepared.classes))
    k = int(counts.argmin())
    if counts[k] < 2:
        raise TableError(
            f"class '{prepared.classes[k]}' has {count(int(counts[k]), 'row')}: a model can only "
            "be tested with at least 2 rows of each class. Drop these rows, or join classes"
        )
    codes = prepared.codes()
    sets = np.array([len(np.unique(together[codes == c])) for c in range(len(counts))])
    k = int(sets.argmin())
    if sets[k] < 2:
        raise TableError(
            f"all rows of class '{prepared.classes[k]}' belong to one group or are copies of one "
            "row: a model can only be tested with at least 2 groups of each class"
        )
    return min(wanted, int(sets[k])) if len(counts) == 2 else min(wanted, prepared.n // 2)


def split(
    n_folds: int, strata: np.ndarray, together: np.ndarray, times: np.ndarray | None, seed: int
) -> list[Fold]:
    """Training and held-out rows of each fold; none for folds that cannot train or test."""
    if times is not None:
        folds = _in_time(n_folds, together, times)
    else:
        held_out = _assigned(n_folds, strata, together, seed)
        folds = [
            (np.flatnonzero(held_out != f), np.flatnonzero(held_out == f)) for f in range(n_folds)
        ]
    return [(train, test) for train, test in folds if len(train) and len(test)]


def _assigned(n_folds: int, strata: np.ndarray, together: np.ndarray, seed: int) -> np.ndarray:
    """The fold that holds each row out. Rows that stand alone are stratified exactly."""
    fold = np.full(len(strata), -1)
    is_set = np.bincount(together)[together] > 1
    for rows, splitter in _splitters(n_folds, is_set, together, seed):
        if len(rows) < n_folds or len(np.unique(together[rows])) < n_folds:
            fold[rows] = np.unique(together[rows], return_inverse=True)[1] % n_folds
            continue
        pairs = _folds_of(splitter, rows, strata[rows], together[rows])
        for f, (_, test) in enumerate(pairs):
            fold[rows[test]] = f
    return fold


def _splitters(
    n_folds: int, is_set: np.ndarray, together: np.ndarray, seed: int
) -> list[tuple[np.ndarray, BaseCrossValidator]]:
    alone, sets = np.flatnonzero(~is_set), np.flatnonzero(is_set)
    parts: list[tuple[np.ndarray, BaseCrossValidator]] = []
    if len(alone):
        parts.append((alone, StratifiedKFold(n_folds, shuffle=True, random_state=seed)))
    if len(sets):
        few = len(np.unique(together[sets])) <= MAX_SETS_STRATIFIED
        of_sets = StratifiedGroupKFold if few else GroupKFold
        parts.append((sets, of_sets(n_folds, shuffle=True, random_state=seed)))
    return parts


def _folds_of(
    splitter: BaseCrossValidator, rows: np.ndarray, strata: np.ndarray, together: np.ndarray
) -> Sequence[Fold]:
    """The splitter's folds; a stratum with fewer rows than folds joins the largest."""
    counts = np.bincount(strata)
    common = np.where(counts[strata] < splitter.get_n_splits(), counts.argmax(), strata)
    groups = None if isinstance(splitter, StratifiedKFold) else together
    return list(splitter.split(rows, common, groups))


def _in_time(n_folds: int, together: np.ndarray, times: np.ndarray) -> list[Fold]:
    """Consecutive blocks; a block is held out, and the rows before it train.

    Rows of the same time are in the same block, and rows that stay together with a held-out one do
    not train its model.
    """
    moment = np.unique(times, return_inverse=True)[1]
    before = np.searchsorted(np.sort(moment), moment)  # rows that are earlier
    block = np.minimum(before * (n_folds + 1) // len(times), n_folds)
    folds = []
    for f in range(1, n_folds + 1):
        test = np.flatnonzero(block == f)
        train = np.flatnonzero((block < f) & ~np.isin(together, together[test]))
        folds.append((train, test))
    return folds
