"""Benchmarks of the optimisers: both libraries make the same passes over the same problem.

Nothing here looks at how long anything takes.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks.suites import optimisers as suite
from certus.losses import Logistic

ROWS = {row.name: row for row in suite.SUITE.rows}


def mini(name):
    """A row of the suite on small data."""
    row = ROWS[name]
    return replace(row, n=2000, p=2000 if row.density < 1 else 5)


@pytest.mark.parametrize("name", ROWS)
def test_both_libraries_come_to_the_same_place(name):
    row = mini(name)
    X, y = row.data()
    F = row.objective(row, X, y)
    values = []
    for contestant in suite.SUITE.contestants:
        _, model = contestant.timed_fit(row, X, y)
        values.append(F(model))
    assert max(values) <= (1 + row.excess_limit) * min(values)
    assert max(values) < 0.99 * np.log(2), "neither has stayed where it began"


def test_the_objective_is_the_mean_of_losses_with_its_penalty():
    row = mini("SGD 20 passes")
    X, y = row.data()
    _, model = suite.SUITE.contestants[0].timed_fit(row, X, y)
    z = X @ model.coef_.ravel() + model.intercept_[0]
    expected = Logistic().value(np.where(y > 0, 1.0, -1.0), z).mean()
    expected += suite.ALPHA / 2 * np.sum(model.coef_**2)
    assert row.objective(row, X, y)(model) == pytest.approx(expected, rel=1e-12)
