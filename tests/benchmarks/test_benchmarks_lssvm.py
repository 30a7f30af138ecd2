"""Benchmarks of LS-SVMs: every machine is judged by the gap of its own problem.

Nothing here looks at how long anything takes.
"""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks import harness
from benchmarks.harness import Contestant, Options
from benchmarks.lssvm_peers import new_rows, signs
from benchmarks.suites import lssvm

ONCE = Options(repeats=1, cold_start=False, memory=False)
ROWS = {row.name: row for row in lssvm.SUITE.rows}
FIT, PREDICT, GRID = "m=2,000 fit", "m=2,000 fit and predict", "m=500 grid 10×10"
MACHINES = (lssvm.CERTUS, *lssvm.MACHINES)
GRIDS = (lssvm.CERTUS, lssvm.LEAVE_ONE_OUT, lssvm.FOLDS)


def mini(name, n=60, p=4, **settings):
    """A row of the suite on small data."""
    return replace(ROWS[name], n=n, p=p, **settings)


@pytest.mark.parametrize("contestant", MACHINES, ids=lambda c: c.name)
@pytest.mark.parametrize("name", [FIT, PREDICT])
def test_machines_reach_the_optimum_of_their_own_problem(name, contestant):
    row = mini(name)
    X, y = row.data()
    _, model = contestant.timed_fit(row, X, y)
    assert 0 <= row.objective(row, X, y)(model) - 1 <= row.excess_limit


def test_certus_and_numpy_find_the_same_machine():
    row = mini(PREDICT)
    X, y = row.data()
    (_, ours), (_, theirs) = (c.timed_fit(row, X, y) for c in (lssvm.CERTUS, lssvm.NUMPY))
    np.testing.assert_allclose(ours.beta_, theirs.beta_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-9, atol=1e-10)
    assert len(ours.scores_) == len(new_rows(4)) == 10_000


def test_the_gap_of_the_squared_loss_bounds_what_is_lost():
    row = mini(FIT, params={"C": 3.0, "gamma": 0.3})
    X, y = row.data()
    t, K = signs(y), lssvm.rbf(X, X, 0.3)

    def P(beta, b):
        return beta @ K @ beta / 2 + 1.5 * ((t - K @ beta - b) ** 2).sum()

    _, best = lssvm.NUMPY.timed_fit(row, X, y)
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        beta, b = best.beta_ + size * rng.normal(size=len(X)), best.b_ + size
        beta -= beta.mean()
        gap = row.objective(row, X, y)(SimpleNamespace(beta_=beta, b_=b, loss="squared")) - 1
        lost = (P(beta, b) - P(best.beta_, best.b_)) / (1.5 * ((t - t.mean()) ** 2).sum())
        assert 0 < lost <= gap


def test_a_machine_that_is_off_has_an_excess_above_the_limit():
    for name, contestant in ((FIT, lssvm.CERTUS), (FIT, lssvm.SVC), (PREDICT, lssvm.RIDGE)):
        row = mini(name)
        X, y = row.data()
        _, model = contestant.timed_fit(row, X, y)
        model.b_ = model.b_ + 0.2
        assert row.objective(row, X, y)(model) - 1 > row.excess_limit


@pytest.mark.parametrize("contestant", GRIDS, ids=lambda c: c.name)
def test_grids_choose_a_pair_of_about_the_least_error(contestant):
    few = {"Cs": (0.1, 1.0, 10.0), "gammas": (0.01, 0.1, 1.0)}
    row = mini(GRID, n=40, params=few)
    X, y = row.data()
    _, model = contestant.timed_fit(row, X, y)
    error = row.objective(row, X, y)
    all_pairs = [error(SimpleNamespace(C_=C, gamma_=g)) for C in few["Cs"] for g in few["gammas"]]
    assert model.C_ in few["Cs"]
    assert model.gamma_ in few["gammas"]
    least = 0.0 if contestant is not lssvm.FOLDS else 0.1  # folds see fewer rows
    assert error(model) <= min(all_pairs) + least + 1e-12


def test_the_left_out_error_is_that_of_refits():
    row = mini(GRID, n=30)
    X, y = row.data()
    model = SimpleNamespace(C_=2.0, gamma_=0.2)
    wrong = 0
    for i in range(30):
        rest = np.arange(30) != i
        fit = mini(FIT, params={"C": 2.0, "gamma": 0.2})
        _, found = lssvm.NUMPY.timed_fit(fit, X[rest], y[rest])
        score = lssvm.rbf(X[[i]], X[rest], 0.2) @ found.beta_ + found.b_
        wrong += score[0] * signs(y)[i] <= 0
    assert row.objective(row, X, y)(model) == pytest.approx(1 + wrong / 30)


class Off(Contestant):
    def timed_fit(self, row, X, y):
        return 1.0, SimpleNamespace(beta_=np.zeros(len(X)), b_=0.0, loss="squared")


def test_an_empty_machine_is_marked_in_the_table():
    row = mini(FIT)
    off = Off("off", "numpy", "numpy", "numpy")
    cells, _ = harness.contest(row, (lssvm.CERTUS, off), ONCE)
    assert cells["certus"]["excess"] <= 1e-12
    assert cells["off"]["excess"] > row.excess_limit


def test_rows_leave_out_only_contestants_of_their_suite_and_never_certus():
    names = {contestant.name for contestant in lssvm.SUITE.contestants}
    for row in lssvm.SUITE.rows:
        assert set(row.without) < names
        assert "certus" not in row.without
