"""Lists of the nearest, boxes of the k-d tree, and arguments of wrong shape."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from certus.kernels import _compile
from certus.kernels.neighbors import kd_tree, nearest
from certus.solvers.neighbors.tree import KDTree


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(4))
def test_a_scan_keeps_the_least_of_each_query(dtype, seed):
    rng = np.random.default_rng(seed)
    T = rng.integers(0, 30, (500, 9)).astype(dtype)  # many ties
    n = rng.integers(0, 5, 500).astype(dtype)
    values, rows = np.full((9, 12), np.inf, dtype), np.full((9, 12), -1)
    worst = np.full(9, np.inf, dtype)
    for a in range(0, 500, 130):
        nearest.scan(T[a : a + 130].copy(), n[a : a + 130], a, worst, values, rows)
    np.testing.assert_array_equal(worst, values.max(axis=1))
    nearest.in_order(values, rows)
    total = (T + n[:, None]).T
    order = np.argsort(total, axis=1, kind="stable")[:, :12]
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_array_equal(values, np.take_along_axis(total, order, 1))


def test_a_value_that_is_no_number_is_never_kept():
    values, rows = np.full((2, 3), np.inf), np.full((2, 3), -1)
    T = np.array([[np.nan, 1.0], [np.inf, np.nan]])
    nearest.scan(T, np.zeros(2), 0, np.full(2, np.inf), values, rows)
    np.testing.assert_array_equal(np.sort(rows, axis=1), [[-1, -1, -1], [-1, -1, 0]])


@pytest.mark.parametrize("n", [1, 2, 31, 33, 500])
def test_boxes_hold_their_rows_and_halves_are_balanced(n):
    X = np.random.default_rng(n).integers(0, 6, (n, 3)).astype(float)
    tree = KDTree(X, 0, 2.0, 2)
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(n))
    for node in range(len(tree.start)):
        own = X[tree.order[tree.start[node] : tree.stop[node]]]
        if len(own):
            np.testing.assert_array_equal(tree.low[node], own.min(axis=0))
            np.testing.assert_array_equal(tree.high[node], own.max(axis=0))
        if node < tree.leaves:
            left, right = ((tree.stop - tree.start)[2 * node + side] for side in (1, 2))
            assert 0 <= right - left <= 1
    np.testing.assert_array_equal(tree.columns, X[tree.order].T)


def test_arguments_that_do_not_fit_are_refused():
    lists = np.full((4, 2), np.inf), np.full((4, 2), -1)
    with pytest.raises(ValueError, match="do not match"):
        nearest.scan(np.zeros((3, 5)), np.zeros(3), 0, np.zeros(4), *lists)
    with pytest.raises(ValueError, match="do not match"):
        nearest.direct(np.zeros((3, 2)), np.zeros((3, 4)), 0, 2.0, 0, np.zeros(4), *lists)
    with pytest.raises(ValueError, match="do not match"):
        nearest.pairs(np.zeros((3, 2)), np.zeros((4, 2)), 0, 2.0, lists[1] + 4, lists[0])
    with pytest.raises(TypeError, match="float32 or float64"):
        nearest.scan(np.zeros((3, 4), int), np.zeros(3), 0, np.zeros(4), *lists)
    with pytest.raises(ValueError, match="do not match"):
        kd_tree.build(np.zeros((3, 2)), np.arange(2), *[np.zeros((3, 2))] * 4, 0, 1)


BOUNDS = """
    import numpy as np
    from certus.solvers.neighbors.differences import Differences
    from certus.solvers.neighbors.products import Products
    from certus.solvers.neighbors.tree import KDTree

    X = np.random.default_rng(0).standard_normal((1200, 3))
    X[600:700] = X[:100]
    for code, power in ((0, 2.0), (1, 1.0), (2, 1.0), (3, 3.0)):
        for engine in (KDTree(X, code, power, 1), Differences(X, code, power, 1)):
            engine.nearest(X[:50].copy(), 9)
            engine.within(X[:50].copy(), 0.1)
    Products(X.astype(np.float32), 1).nearest(X[:50].copy(), 9)
    Products(X, 1).within(X[:50].copy(), 0.1)
    print("inside")
"""


@pytest.mark.exhaustive
def test_kernels_stay_inside_their_arrays(tmp_path):
    package = str(Path(_compile.__file__).parents[2])
    environment = {"PYTHONPATH": package, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": tmp_path}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BOUNDS)],
        env={**os.environ, **{k: str(v) for k, v in environment.items()}},
        capture_output=True,
        text=True,
    )
    assert result.stdout.strip() == "inside", result.stderr
