"""Ranges of a table are a table, and folds of consecutive rows are ranges."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from certus.data.rows import Rows
from certus.data.streamed import RowBlock
from certus.data.streamed_ranges import TableRanges, folds_of_table
from tests.streamed.linear_cases import draw, table_of


@pytest.mark.parametrize("ranges", [[(0, 30), (50, 51), (60, 100)], [(10, 10), (20, 100)], []])
@pytest.mark.parametrize("weights", [False, True])
def test_ranges_read_what_slices_of_the_arrays_are(ranges, weights):
    X, y, s = draw(n=100, k=2, weights=weights)
    part = TableRanges(table_of(X, y, s), ranges)
    at = np.concatenate([np.arange(0), *(np.arange(a, b) for a, b in ranges)]).astype(int)
    assert part.shape == (len(at), X.shape[1])
    for start in range(0, len(at) + 1, 7):
        for stop in range(start, len(at) + 1, 9):
            block = part.read(start, stop)
            np.testing.assert_array_equal(block.X, X[at[start:stop]])
            np.testing.assert_array_equal(block.y, y[at[start:stop]])
            np.testing.assert_array_equal(part.read_targets(start, stop)[0], y[at[start:stop]])
            if s is None:
                assert block.s is None
            else:
                np.testing.assert_array_equal(block.s, s[at[start:stop]])
    if len(at):
        some = np.array([len(at) - 1, 0, len(at) // 2])
        np.testing.assert_array_equal(part.gather(some).X, X[at[some]])


@pytest.mark.parametrize("n", [20, 23, 101])
@pytest.mark.parametrize("cv", [None, 2, 7, KFold(3)], ids=str)
def test_folds_are_those_of_scikit_learn(cv, n):
    X, y, s = draw(n=n, weights=True)
    rows = Rows(X, y[:, None], s)
    splitter = cv if isinstance(cv, KFold) else KFold(cv or 5)
    folds = folds_of_table(cv, table_of(X, y, s))
    splits = list(splitter.split(X))
    assert len(folds) == len(splits)
    for fold, (train, test) in zip(folds, splits, strict=True):
        assert fold.is_partition
        for part, at in ((fold.train_rows(rows), train), (fold.test_rows(rows), test)):
            found = part.block(0, part.shape[0])
            for ours, theirs in zip(found, (X[at], y[at, None], s[at]), strict=True):
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_by_number_are_those_of_the_array(monkeypatch, threads):
    monkeypatch.setattr("certus.data.streamed.GATHER_BYTES", 200)  # many ranges
    X, y, s = draw(n=500, weights=True)
    table, numbers = table_of(X, y, s), np.arange(0, 500, 5)
    table.keep_sample(numbers, RowBlock(X[numbers], y[numbers, None], s[numbers]))
    rng = np.random.default_rng(0)
    few, most = np.arange(0, 500, 3), np.append(numbers, [1, 499])
    for i in (numbers[::2], few, most, rng.integers(0, 500, 300), np.arange(0)):
        block = table.gather(i, threads)
        np.testing.assert_array_equal(block.X, X[i])
        np.testing.assert_array_equal(block.y.reshape(-1), y[i])
        np.testing.assert_array_equal(block.s, s[i])
