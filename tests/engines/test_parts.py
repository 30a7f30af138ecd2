"""Passes over parts give the bits of passes over arrays, wherever the table is cut."""

import itertools
from collections import namedtuple

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.engines.cuts import pieces_of, shares_of
from certus.engines.state import KeptState
from certus.engines.tree import CombiningTree
from tests.engines.parts_table import PartsTable

N = 5_003
CUTS = {
    "one part": (),
    "at no block": (1_234, 2_500),
    "parts smaller than a block": tuple(range(37, N, 41)),
    "one row at the ends": (1, N - 1),
    "an empty part": (900, 900, 2_000),
}
Sums = namedtuple("Sums", "total gram")


def data(dtype=float):
    rng = np.random.default_rng(3)
    return rng.normal(size=(N, 4)).astype(dtype), rng.normal(size=N), rng.uniform(0.1, 2, size=N)


def sums(X, y, s, scale):
    return Sums(float(scale * (y[:, 0] * s).sum()), X.T @ (X * s[:, None]))


def shifted(y, s, by):
    return y + by, s * 2


def targets_sum(y, s):
    return float(y.sum()), s.sum()


def nearest_so_far(X, y, s, best, which, center, k):
    """A statistic that keeps, for each row, the nearest of the centres of all passes so far."""
    d = ((X - center) ** 2).sum(axis=1)
    closer = d < best
    best[closer], which[closer] = d[closer], k
    return (int(closer.sum()),)


def doubled(X, y, s):
    return 2 * X[:, 0]


def rows_of_both(cuts):
    X, y, s = data()
    table = PartsTable(X, y, s, cuts)
    return Rows(X, y[:, None], s), Rows(table.X, table.y, table.s)


@pytest.mark.parametrize("block_rows", [1, 64, 700, 10**6])
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_sums_are_those_of_the_array_bit_for_bit(cuts, block_rows):
    if block_rows == 1 and len(cuts) > 5:
        block_rows = 3
    arrays, parts = rows_of_both(cuts)
    expected = arrays.reduce(sums, 3.0, block_rows=block_rows)
    found = parts.reduce(sums, 3.0, block_rows=block_rows)
    assert isinstance(found, Sums)
    assert found.total == expected.total
    np.testing.assert_array_equal(found.gram, expected.gram)


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_large_results_are_combined_in_pairs_to_the_same_bits(cuts, monkeypatch):
    arrays, parts = rows_of_both(cuts)
    expected = arrays.reduce(sums, 3.0, block_rows=64)
    monkeypatch.setattr("certus.engines.parts.PAIRWISE_BYTES", 1)
    np.testing.assert_array_equal(parts.reduce(sums, 3.0, block_rows=64).gram, expected.gram)
    assert ("merged" in parts.engine.calls) == (len(cuts) > 0)


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_what_is_kept_for_every_row_survives_passes_with_other_blocks(cuts):
    arrays, parts = rows_of_both(cuts)
    kept = []
    for rows in (arrays, parts):
        best, which = rows.allocate(), rows.allocate(dtype=np.int32)
        best[0:N] = np.inf
        counts = [
            rows.reduce(nearest_so_far, np.full(4, k / 3), k, beside=(best, which), block_rows=size)
            for k, size in enumerate((64, 700, 97))
        ]
        kept.append((counts, np.asarray(best), np.asarray(which)))
    assert kept[0][0] == kept[1][0]
    np.testing.assert_array_equal(kept[0][1], kept[1][1])
    np.testing.assert_array_equal(kept[0][2], kept[1][2])


def test_a_part_of_kept_values_can_be_read_and_written():
    _, parts = rows_of_both((1_234, 2_500))
    state = parts.allocate((2,))
    assert isinstance(state, KeptState)
    parts.map(_two_columns, state)
    X = data()[0]
    np.testing.assert_array_equal(state[1_200:2_600], X[1_200:2_600, :2])
    state[1_233:1_236] = 7.0
    expected = X[:, :2].copy()
    expected[1_233:1_236] = 7.0
    np.testing.assert_array_equal(np.asarray(state), expected)


def _two_columns(X, y, s):
    return X[:, :2]


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_targets_are_recoded_where_they_are(cuts):
    arrays, parts = rows_of_both(cuts)
    for block_rows in (64, 5_000):
        expected, found = (
            rows.recoded(shifted, 0.5)
            .recoded(shifted, 1.0)
            .reduce(sums, 1.0, block_rows=block_rows)
            for rows in (arrays, parts)
        )
        assert found.total == expected.total
    assert parts.reduce_targets(targets_sum) == arrays.reduce_targets(targets_sum)
    assert parts.S == arrays.S


def test_kept_values_can_be_weights():
    arrays, parts = rows_of_both((1_234, 2_500))
    found = []
    for rows in (arrays, parts):
        weight = rows.map(doubled, rows.allocate())
        found.append(rows.with_targets(rows.y, weight).reduce(sums, 1.0, block_rows=100))
    np.testing.assert_array_equal(found[0].gram, found[1].gram)


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_rows_are_mapped_and_gathered_in_order(cuts):
    arrays, parts = rows_of_both(cuts)
    expected = arrays.map(doubled, np.empty(N))
    np.testing.assert_array_equal(parts.map(doubled, np.empty(N)), expected)
    i = np.random.default_rng(0).integers(0, N, size=300)
    for a, b in zip(arrays.take(i).block(0, 300), parts.take(i).block(0, 300), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_shares_cover_every_block_once_and_pieces_every_row(cuts):
    at = [0, *cuts, N]
    lengths = [b - a for a, b in itertools.pairwise(at)]
    edges = Rows(np.empty((N, 1))).edges(64)
    shares = shares_of(lengths, edges)
    assert [edges[share.first][0] for share in shares] == [share.start for share in shares]
    assert shares[0].start == 0
    assert shares[-1].stop == N
    assert all(a.stop == b.start for a, b in itertools.pairwise(shares))
    for share in shares:
        pieces = pieces_of(lengths, share.start, share.stop)
        assert pieces[0].part == share.part
        assert sum(piece.stop - piece.start for piece in pieces) == share.stop - share.start


@pytest.mark.parametrize("leaves", [1, 2, 3, 5, 8, 13, 64, 100])
def test_nodes_of_any_cut_make_the_same_tree(leaves):
    def combine(a, b):
        return f"({a}+{b})"

    whole = CombiningTree(leaves, combine)
    for i in range(leaves):
        whole.put(i, str(i))
    for cut in range(leaves + 1):
        left, right, both = (CombiningTree(leaves, combine) for _ in range(3))
        for i in range(leaves):
            (left if i < cut else right).put(i, str(i))
        both.add(right.nodes())
        both.add(left.nodes())
        assert both.root == whole.root


def test_kept_values_are_weights_of_rows_without_targets():
    X, _, _ = data()
    table = PartsTable(X, cuts=(1_234, 2_500))
    found = []
    for rows in (Rows(X), Rows(table.X)):
        weight = rows.map(doubled, rows.allocate())
        found.append(rows.with_targets(None, weight).S)
    assert found[0] == found[1]
