"""Folds: rows that belong together stay together, and no fold lacks a class."""

import numpy as np
import pytest

from certus.exceptions import TableError
from certus.reporting.procedure.folds import kept_together, n_outer, split, strata_of
from tests.report.procedure.examples import prepared, two_classes


def example(n=150, **options):
    columns, y = two_classes(n)
    return prepared(columns, y, **options)


def folds_of(rows, seed=0):
    together, _ = kept_together(rows)
    return together, split(n_outer(rows, together), strata_of(rows), together, rows.times, seed)


def test_every_row_is_held_out_once():
    rows = example()
    _, folds = folds_of(rows)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(rows.n))
    assert all(not np.intersect1d(train, test).size for train, test in folds)


def test_classes_have_equal_shares_in_the_folds():
    rows = example(403)
    _, folds = folds_of(rows)
    positives = [int(rows.codes()[test].sum()) for _, test in folds]
    assert max(positives) - min(positives) <= 1


def test_groups_and_copies_stay_in_one_fold():
    groups = np.random.default_rng(1).integers(0, 60, 150)
    duplicates = np.arange(150)
    duplicates[1:8] = duplicates[20:27]
    rows = example(groups=groups, duplicates=duplicates)
    together, folds = folds_of(rows)
    assert len(folds) == 10
    for train, test in folds:
        assert not np.intersect1d(groups[train], groups[test]).size
        assert not np.intersect1d(duplicates[train], duplicates[test]).size
    assert "group" in kept_together(rows)[1]
    assert len(np.unique(together)) < 60


def test_copies_are_apart_where_few_combinations_of_values_exist():
    rows = example(duplicates=np.arange(150) % 9)
    together, sentence = kept_together(rows)
    assert sentence == ""
    assert len(np.unique(together)) == 150


def test_in_time_only_earlier_rows_train():
    times = np.random.default_rng(0).permutation(np.arange(150) // 2).astype(float)
    rows = example(times=times)
    _, folds = folds_of(rows)
    assert len(folds) == 5
    for train, test in folds:
        assert times[train].max() < times[test].min()


def test_in_time_a_group_does_not_train_for_its_own_rows():
    groups = np.arange(150) % 40
    rows = example(times=np.arange(150.0), groups=groups)
    _, folds = folds_of(rows)
    for train, test in folds:
        assert not np.intersect1d(groups[train], groups[test]).size


@pytest.mark.parametrize(("n_positive", "expected"), [(2, 2), (3, 3), (5, 5), (30, 10)])
def test_as_many_folds_as_rows_of_the_rarer_class(n_positive, expected):
    columns, _ = two_classes(100)
    y = np.where(np.arange(100) < n_positive, "ill", "healthy")
    rows = prepared(columns, y)
    _, folds = folds_of(rows)
    assert len(folds) == expected
    for train, test in folds:
        assert len(set(y[train])) == len(set(y[test])) == 2


def test_a_class_with_one_row_is_refused_in_plain_words():
    columns, _ = two_classes(100)
    rows = prepared(columns, np.where(np.arange(100) < 1, "ill", "healthy"))
    with pytest.raises(TableError, match="class 'ill' has 1 row"):
        folds_of(rows)


def test_a_class_of_one_group_is_refused_in_plain_words():
    columns, _ = two_classes(100)
    groups = np.where(np.arange(100) < 20, 0, np.arange(100))
    rows = prepared(columns, np.where(np.arange(100) < 15, "ill", "healthy"), groups=groups)
    with pytest.raises(TableError, match="all rows of class 'ill' belong to one group"):
        folds_of(rows)


def test_five_folds_of_many_rows_ten_of_few():
    assert n_outer(example(499), np.arange(499)) == 10
    assert n_outer(example(500), np.arange(500)) == 5
