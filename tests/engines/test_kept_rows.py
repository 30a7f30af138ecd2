"""Rows and states by their numbers: what is in memory is not read again."""

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.data.streamed import RowBlock, SpilledState
from tests.engines.parts_table import PartsTable
from tests.streamed.class_cases import draw, table_of
from tests.streams import GuardedTable

NUMBERS = np.array([5999, 3, 3, 701, 0, 2500])


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("order", [NUMBERS, NUMBERS[::-1], NUMBERS[:1]])
def test_rows_of_the_kept_sample_are_not_read_again(order, weights):
    X, k, s = draw(3, weights=weights)
    kept = np.array([0, 3, 700, 5999])
    table = GuardedTable(X, k, s, most=2000)
    table.keep_sample(kept, RowBlock(X[kept], k[kept, None] * 1.0, None if s is None else s[kept]))
    found = table.gather(order)
    np.testing.assert_array_equal(found.X, X[order])
    np.testing.assert_array_equal(found.y[:, 0], k[order])
    assert (found.s is None) == (s is None)
    if s is not None:
        np.testing.assert_array_equal(found.s, s[order])
    assert table.largest <= 1800  # rows 701 to 2,500 at most


@pytest.mark.parametrize("columns", [(), (3,)])
def test_values_of_rows_are_taken_by_their_numbers(columns):
    X, k, _ = draw(3)
    values = np.random.default_rng(0).normal(size=(len(X), *columns))
    for rows in (
        Rows(table_of(X, k).X),
        Rows(PartsTable(X, k, cuts=(2, 3, 2500)).X),
    ):
        state = rows.allocate(columns)
        state[0 : len(X)] = values
        np.testing.assert_array_equal(state[NUMBERS], values[NUMBERS])


def test_the_file_of_a_state_is_closed_with_it():
    state = SpilledState((10,), float)
    file = state._file
    assert not file.closed
    del state
    assert file.closed


@pytest.mark.parametrize("table", [table_of, PartsTable])
def test_samples_of_recoded_targets_and_states_are_those_of_arrays(table):
    X, k, s = draw(3, weights=True)
    streamed, stored = (
        Rows(source.X, source.y, source.s).recoded(_doubled)
        for source in (table(X, k, s), RowBlock(X, k[:, None] * 1.0, s))
    )
    for count in (7, 500):
        for ours, theirs in zip(
            streamed.sample_block(count), stored.sample_block(count), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
    state = streamed.allocate((2,))
    streamed.reduce(_first_two, beside=(state,))
    sample = streamed.with_targets(state, streamed.s).sample(50)
    np.testing.assert_array_equal(sample.y, sample.X[:, :2])


def _doubled(y, s):
    return 2 * y, s * y[:, 0]


def _first_two(X, _y, _s, state):
    state[:] = X[:, :2]
    return ()
