"""Benchmarks of NCFS: one problem for all libraries, and answers judged by plain NumPy.

Nothing here looks at how long anything takes.
"""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks import generators, harness
from benchmarks.harness import Contestant, Options
from benchmarks.suites import ncfs
from certus.solvers.ncfs import ClassGains, NCFSProblem, lbfgs

ONCE = Options(repeats=1, cold_start=False, memory=False)
ROWS = {row.name: row for row in ncfs.SUITE.rows}
EVALUATIONS, FIT = "n=200 p=1,000 five evaluations", "n=200 p=1,000 fit"
contestants = pytest.mark.parametrize("contestant", ncfs.SUITE.contestants, ids=lambda c: c.name)
# of the peers' own making: ncfs passes NumPy scalars on, compiled for a list of others
quiet = pytest.mark.filterwarnings("ignore")


def mini(name, n=60, p=12, **settings):
    """A row of the suite on small data."""
    return replace(ROWS[name], n=n, p=p, **settings)


def cases():
    for n, p, dtype in [(60, 12, "float64"), (7, 40, "float64"), (60, 12, "float32")]:
        yield generators.columns_that_tell(n, p, 0, np.dtype(dtype), "C")


def F(X, y, W, sigma, lam):
    """By loops over pairs."""
    total = -lam * W.sum()
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i]
        D = np.array([(W * np.abs(X[i].astype(float) - X[j])).sum() for j in others])
        p = np.exp((D.min() - D) / sigma)
        total += p[y[others] == y[i]].sum() / p.sum()
    return total


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_from_0_to_1_and_the_first_differ_between_the_classes(order):
    X, y = generators.columns_that_tell(400, 60, 0, np.dtype("float32"), order)
    assert (X.dtype, X.flags[f"{order}_CONTIGUOUS"]) == (np.float32, True)
    assert set(y) == {0, 1}
    np.testing.assert_array_equal(X.min(axis=0), 0)
    np.testing.assert_array_equal(X.max(axis=0), 1)
    apart = (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) / X.std(axis=0)
    assert apart[:10].min() > 0.8
    assert np.abs(apart[10:]).max() < 0.5


@pytest.mark.parametrize("sigma", [1.0, 10.0])
def test_the_objective_is_that_of_loops_over_pairs(sigma):
    rng = np.random.default_rng(0)
    for X, y in cases():
        W = rng.uniform(0, 2, X.shape[1]) * (rng.uniform(size=X.shape[1]) < 0.5)
        row = mini(FIT, params={"sigma": sigma, "lam": 0.3})
        found = row.objective(row, X, y)(SimpleNamespace(weights_=W))
        assert found == pytest.approx(-F(X, y, W, sigma, 0.3), rel=1e-12)


def test_the_error_of_a_slope_is_that_of_finite_differences():
    for X, y in cases():
        row = mini(EVALUATIONS, params={"sigma": 0.7, "lam": 0.3, "count": 1})
        steps = np.eye(X.shape[1]) * 1e-6
        slope = [(F(X, y, (1 + e) ** 2, 0.7, 0.3) - F(X, y, (1 - e) ** 2, 0.7, 0.3)) for e in steps]
        slope = np.array(slope) / 2e-6
        error = row.objective(row, X, y)
        assert error(SimpleNamespace(slope_=slope)) == pytest.approx(1, abs=1e-7)
        wrong = slope + 0.01 * np.abs(slope).max() * (np.arange(len(slope)) == 3)
        assert error(SimpleNamespace(slope_=wrong)) == pytest.approx(1.01, abs=1e-6)


@quiet
@contestants
@pytest.mark.parametrize("name", [name for name in ROWS if name.endswith("evaluations")])
def test_libraries_compute_the_same_slope(name, contestant):
    if contestant.name in ROWS[name].without:
        pytest.skip("left out of the row")
    pytest.importorskip(contestant.package)
    row = mini(name)
    X, y = row.data()
    _, model = contestant.timed_fit(row, X, y)
    error = row.objective(row, X, y)(model) - 1
    assert 0 <= error <= row.excess_limit
    truth = F(X, y, np.ones(12), row.params["sigma"], row.params["lam"])
    assert abs(model.F_ / truth - 1) < 1e-5


@quiet
@contestants
@pytest.mark.parametrize("name", [FIT, "n=72 p=7,129 fit", "n=200 p=1,000 float32 fit"])
def test_libraries_climb_to_the_same_height(name, contestant):
    pytest.importorskip(contestant.package)
    row = mini(name)
    X, y = row.data()
    sigma, lam = row.params["sigma"], row.params["lam"]
    problem = NCFSProblem(X.astype(float), ClassGains(y, np.eye(2)), np.ones(len(X)), sigma, lam)
    best = F(X, y, lbfgs(problem, np.ones(X.shape[1])).W, sigma, lam)
    _, model = contestant.timed_fit(row, X, y)
    assert -row.objective(row, X, y)(model) == pytest.approx(best, rel=5e-3)


class TooFew(Contestant):
    """Weights of one column alone."""

    def timed_fit(self, row, X, y):
        return 1.0, SimpleNamespace(weights_=10.0 * (np.arange(X.shape[1]) == 0))


def test_weights_that_are_worse_have_an_excess_above_the_limit():
    row = mini(FIT)
    wrong = TooFew("wrong", "numpy", "numpy", "numpy")
    cells, _ = harness.contest(row, (ncfs.CERTUS, wrong), ONCE)
    assert cells["certus"]["excess"] == 0
    assert cells["wrong"]["excess"] > row.excess_limit


def test_a_library_that_is_not_there_is_a_dash(monkeypatch):
    for contestant in ncfs.PEERS:
        monkeypatch.delitem(sys.modules, contestant.module, raising=False)
        monkeypatch.setitem(sys.modules, contestant.package, None)
        cells, _ = harness.contest(mini(FIT), (contestant,), ONCE)
        assert cells[contestant.name]["skipped"] == "not offered"
        assert not cells[contestant.name]["failed"]


def test_rows_leave_out_only_contestants_of_their_suite_and_never_certus():
    names = {contestant.name for contestant in ncfs.SUITE.contestants}
    for row in ncfs.SUITE.rows:
        assert set(row.without) < names
        assert "certus" not in row.without
        held = 8 * row.n**2 * row.p
        assert "ncafs" in row.without or held <= 8e9
