"""Benchmarks of rows in a file: the same rows for all, and the same problem.

Nothing here looks at how long anything takes.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks import outofcore_rows
from benchmarks.outofcore_rows import CERTUS, DECODED, IN_MEMORY, FileRow, file_of
from benchmarks.suites import outofcore

RIDGE = FileRow("Ridge", 3000, 3, "certus.linear_model", "Ridge", "y")


@pytest.fixture
def path(monkeypatch):
    monkeypatch.setattr(outofcore_rows, "WRITTEN_ROWS", 1000)
    return file_of(RIDGE.n, RIDGE.p)


def test_every_contestant_is_given_the_same_rows(path):
    X, y = RIDGE.opened(IN_MEMORY.name, path)
    assert X.shape == (3000, 3)
    for how in (CERTUS.name, DECODED.name):
        (rows,) = RIDGE.opened(how, path)
        block = rows.read(0, 3000)
        np.testing.assert_array_equal(block.X, X)
        np.testing.assert_array_equal(block.y[:, 0], y)
        rows.close()


def test_every_contestant_solves_the_same_problem(path):
    found = {
        contestant.name: RIDGE.fitted(RIDGE.opened(contestant.name, path)).certificate_.objective
        for contestant in outofcore.SUITE.contestants
    }
    assert found == dict.fromkeys(found, found[CERTUS.name])


def test_rows_say_what_is_asked_of_the_library():
    rows = {row.estimator: row for row in outofcore.SUITE.rows}
    models = {"Ridge", "LogisticRegression", "KMeans", "GaussianMixture", "NCFSClassifier"}
    assert set(rows) == {None, *models}
    for row in rows.values():
        n = round(outofcore.DEFAULT_GIGABYTES * 1e9 / (8 * row.p))
        # NCFS compares all pairs of a batch: a tenth of the rows takes as long as the others' fits
        assert row.n == (n // 10 if row.estimator == "NCFSClassifier" else n)
        assert set(row.facts()) >= {"row", "estimator", "n", "p", "dtype", "excess_limit"}
        assert row.divided_by_ten().n == row.n // 10
