"""CLINK's trees are of clusters no wider than their heights, and are not complete linkage."""

import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

PATH = Path(__file__).parents[2] / "examples" / "clink_is_not_complete.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location(PATH.stem, PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(PATH.read_text("utf-8").splitlines()) <= 80
    return module


def clink_tree(example, D, order):
    order = list(order)
    return example.tree_of(*example.clink(D[np.ix_(order, order)]), order)


def test_two_orders_give_two_trees_and_neither_is_complete_linkage(example):
    D = np.abs(example.ROWS[:, None] - example.ROWS)
    distances = D[np.triu_indices(len(D), 1)]
    assert len(np.unique(distances.round(9))) == len(distances), "ties would be an excuse"
    first, second = (clink_tree(example, D, order) for order in example.ORDERS)
    complete = example.complete(D)
    assert first != second
    assert complete not in (first, second)


def test_no_cluster_of_clink_is_wider_than_its_height_in_any_order(example):
    D = np.abs(example.ROWS[:, None] - example.ROWS)
    for order in itertools.permutations(range(len(D))):
        tree = clink_tree(example, D, order)
        assert len(tree) == len(D) - 1
        for rows, height in tree.items():
            assert D[np.ix_(rows, rows)].max() <= height


@pytest.mark.parametrize("seed", range(5))
def test_complete_linkage_by_its_definition_is_scipys(example, seed):
    X = np.random.default_rng(seed).normal(size=(12, 2))
    tree = example.complete(squareform(pdist(X)))
    np.testing.assert_allclose(sorted(tree.values()), linkage(X, "complete")[:, 2])


def test_it_runs():
    done = subprocess.run([sys.executable, PATH], capture_output=True, text=True, check=True)
    assert done.stdout.count("CLINK") == 2
