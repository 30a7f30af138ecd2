"""The rule by which columns are left out."""

import numpy as np
import pytest

from certus.definitions.terms.independent import Independent


def columns(X, center=None):
    """The columns that are kept, of X with a constant column behind it."""
    center = X.mean(axis=0) if center is None else center
    X1 = np.column_stack([X - center, np.ones(len(X))])
    kept, rest = Independent().columns(X1, np.append(center, 0.0))
    assert not rest[:, kept].any()
    return sorted(kept), rest


def test_independent_columns_are_all_kept():
    X = np.random.default_rng(0).normal(size=(50, 6)) * np.logspace(-150, 150, 6)
    assert columns(X)[0] == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("mean", [0.0, 1e3, 1e8])
def test_columns_made_of_others_are_left_out_one_each(mean):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) + mean
    group = np.eye(4)[rng.integers(0, 4, 50)]
    made = [X[:, 0] + X[:, 1], 2 * X[:, 2] - X[:, 0] / 3, 7.1 + 0 * X[:, 0], 0 * X[:, 0], X[:, 1]]
    kept, rest = columns(np.column_stack([X, group, *made]))
    assert len(kept) == 3 + 3 + 1
    assert 12 in kept  # the constant column, not one that repeats it
    assert np.abs(rest).max() <= 1e-14 * (1 + mean)


def test_what_the_columns_keep_is_all_that_they_say():
    """The columns left out are sums of the others, up to the rounding that is returned."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    X = np.column_stack([X, X @ rng.normal(size=(3, 4))])
    kept, _ = columns(X)
    Z = np.column_stack([X, np.ones(50)])
    c = np.linalg.lstsq(Z[:, kept], X, rcond=None)[0]
    assert np.abs(Z[:, kept] @ c - X).max() < 1e-13


@pytest.mark.parametrize("noise", [1e-13, 1e-9, 1e-3])
def test_a_column_that_differs_in_digits_that_floats_have_is_kept(noise):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 2))
    X = np.column_stack([X, X[:, 0] + noise * rng.normal(size=50)])
    assert len(columns(X)[0]) == 4


def test_small_columns_do_not_hide_behind_a_large_one():
    """Two columns that are different, both far below the rounding of a third that repeats."""
    rng = np.random.default_rng(3)
    big = 1e18 * rng.normal(size=50)
    X = np.column_stack([rng.normal(size=(50, 2)), big, big])
    assert columns(X, np.zeros(4))[0] in ([0, 1, 2, 4], [0, 1, 3, 4])
