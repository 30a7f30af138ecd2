"""Benchmarks of solvers with a tol: each at the loosest that reaches the limit, and judged alike.

Nothing here looks at how long anything takes.
"""

import logging
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.linear_model import LinearRegression, LogisticRegression, LogisticRegressionCV

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks import generators, harness, libraries, table, tightening
from benchmarks.harness import Contestant, Options
from benchmarks.logistic_reference import cross_validated_losses, newton
from benchmarks.suites import least_squares, logistic, softmax

ONCE = Options(repeats=1, cold_start=False, memory=False)
MINI = least_squares.linear("mini", n=300, p=4)
EXACT = libraries.sklearn("linear_model")
LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
FLOAT = np.dtype("float64")


class OffByTol(LinearRegression):
    """Coefficients that are wrong by tol: an excess of about 4·tol²."""

    def __init__(self, tol=None):
        super().__init__()
        self.tol = tol

    def fit(self, X, y):
        super().fit(X, y)
        self.coef_, self.n_iter_ = self.coef_ + self.tol, np.array([7])
        return self


class Endless(OffByTol):
    """Below 1e-2 it does not come back before the alarm."""

    def fit(self, X, y):
        if self.tol < 1e-2:
            raise tightening.TookTooLong
        return super().fit(X, y)


class Stubborn(Contestant):
    def new_model(self, row):
        return {"off by tol": OffByTol, "endless": Endless}[self.name](row.tol)


def stubborn(name="off by tol", tolerances=LADDER):
    return Stubborn(name, name, name, name, tolerances=tolerances)


def cell_of(contestant, *others, row=MINI):
    cells, _ = harness.contest(row, (contestant, *others), ONCE)
    return cells[contestant.name]


def warm_row(row):
    """A row whose small fit uses a loose tol, as the fake contestants have no default."""
    return replace(row, tol=1.0)


def test_contestant_runs_at_the_loosest_tol_within_the_limit():
    cell = cell_of(stubborn(), EXACT, row=warm_row(MINI))
    assert cell["tol"] == 1e-4
    assert 0 < cell["excess"] <= MINI.excess_limit
    assert table.tolerance_text(MINI.facts(), cell) == "1e-04 (7)"


def test_reference_alone_shows_that_a_loose_fit_is_not_the_optimum():
    row = warm_row(MINI)
    assert cell_of(stubborn(), row=row)["tol"] == LADDER[0]  # nobody knows better
    with_reference = replace(row, reference=replace(EXACT, name="reference"))
    found, _ = harness.contest(with_reference, (stubborn(),), ONCE)
    assert found["off by tol"]["tol"] == 1e-4
    assert found["off by tol"]["excess"] > 0
    assert "reference" not in found


def test_who_does_not_reach_the_limit_is_marked_and_not_the_fastest():
    row = warm_row(MINI)
    cell = cell_of(stubborn(tolerances=(1e-1, 1e-2)), EXACT, row=row)
    assert cell["tol"] == 1e-2
    assert len(cell["all_seconds"]) == 1
    assert table.seconds_text(row.facts(), cell).endswith("!")
    assert "!" in table.tolerance_text(row.facts(), cell)
    exact = cell | {"seconds": 1e9, "excess": 0.0}
    assert harness.fastest_of({"loose": cell, "exact": exact}, 1e-6) == "exact"
    assert harness.fastest_of({"loose": cell}, 1e-6) is None


def test_fit_that_takes_too_long_leaves_the_rung_before():
    row = warm_row(MINI)
    assert cell_of(stubborn("endless"), EXACT, row=row)["tol"] == 1e-2
    cell = cell_of(stubborn("endless", tolerances=(1e-3,)), EXACT, row=row)
    assert (cell["skipped"], cell["seconds"], cell["failed"]) == ("took too long", None, False)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarm on this system")
def test_alarm_ends_a_fit_and_is_off_afterwards():
    with pytest.raises(tightening.TookTooLong), tightening.time_limit(0.01):
        time.sleep(3600)
    with tightening.time_limit(3600):
        pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_suites_without_ladders_fit_as_often_as_before():
    fits = []

    class Counting(Contestant):
        def new_model(self, row):
            fits.append(row.n)
            return LinearRegression()

    harness.contest(MINI, (Counting("counting", "c", "c", "c"),), replace(ONCE, repeats=2))
    assert fits == [MINI.small().n, MINI.n, MINI.n]


def test_parameters_of_a_contestant_go_over_those_of_the_row():
    row = logistic.SUITE.rows[0]
    model = logistic.LBFGS.new_model(replace(row, params={"C": 0.5, "solver": "saga"}, tol=1e-3))
    assert (model.C, model.solver, model.tol) == (0.5, "lbfgs", 1e-3)


@pytest.mark.parametrize(
    ("text", "itself"),
    [("running accelerated version on CPU", True), ("fallback to original Scikit-learn", False)],
)
def test_onedal_that_fell_back_to_scikit_learn_does_not_count(monkeypatch, text, itself):
    class Talking(LogisticRegression):
        def fit(self, X, y):
            logging.getLogger("sklearnex").info(f"LogisticRegression.fit: {text}")
            return super().fit(X, y)

    package = ModuleType("sklearnex")
    package.linear_model = ModuleType("sklearnex.linear_model")
    package.linear_model.LogisticRegression = Talking
    monkeypatch.setitem(sys.modules, "sklearnex", package)
    monkeypatch.setitem(sys.modules, "sklearnex.linear_model", package.linear_model)
    monkeypatch.delitem(sys.modules, "benchmarks.sklearnex_peer", raising=False)
    row = replace(logistic.SUITE.rows[0], n=100, p=3)
    try:
        _, model = libraries.sklearnex_logistic().timed_fit(row, *row.data())
    except harness.NotOffered:
        assert not itself
    else:
        assert itself
        assert model.coef_.shape == (1, 3)
    finally:
        sys.modules.pop("benchmarks.sklearnex_peer", None)


@pytest.mark.parametrize(
    ("suite", "generator"),
    [(logistic, generators.two_classes), (softmax, generators.ten_classes)],
)
def test_objective_is_stationary_where_scikit_learn_converged(suite, generator, monkeypatch):
    monkeypatch.setattr(suite, "BLOCK_ROWS", 130)
    X, y = generator(300, 3, 0, FLOAT, "C")
    model = LogisticRegression(C=0.3, tol=1e-12, solver="newton-cg", max_iter=1_000).fit(X, y)
    row = replace(suite.SUITE.rows[0], params={"C": 0.3})
    dense, in_csr = (row.objective(row, data, y) for data in (X, sparse.csr_array(X)))
    assert dense(model) == pytest.approx(in_csr(model), rel=1e-13)
    outputs, columns = model.coef_.shape

    def F(theta):
        coef, intercept = np.split(theta, [outputs * columns])
        coef = coef.reshape(outputs, columns)
        return dense(SimpleNamespace(coef_=coef, intercept_=intercept))

    def steepest(theta):
        central = [approx_fprime(theta, F, h) for h in (1e-5, -1e-5)]
        return np.max(np.abs(np.mean(central, axis=0)))

    theta = np.append(model.coef_, model.intercept_)
    assert steepest(theta) < 1e-5
    assert steepest(1.1 * theta) > 1e-1


def test_l1_and_l2_share_the_penalty_by_the_ratio():
    model = SimpleNamespace(coef_=np.array([[3.0, -4.0]]))
    assert logistic.penalty(model, 0.0) == 12.5
    assert logistic.penalty(model, 1.0) == 7.0
    assert logistic.penalty(model, 0.5) == 9.75


def test_liblinear_with_its_scaled_intercept_reaches_the_free_optimum():
    X, y = generators.two_classes(100, 5, 0, FLOAT, "C")
    objective = logistic.logistic_objective(logistic.SUITE.rows[0], X, y)
    w, b = newton(X, 2.0 * y - 1, 1.0)
    best = objective(SimpleNamespace(coef_=w, intercept_=b))
    params = logistic.LIBLINEAR.params | {"tol": 1e-10}
    free = objective(LogisticRegression(**params).fit(X, y))
    own = objective(LogisticRegression(**params | {"intercept_scaling": 0.1}).fit(X, y))
    assert best <= free <= best * (1 + 1e-6)
    assert own > best * (1 + 1e-6)


def test_newton_reference_is_scikit_learns_optimum():
    X, y = generators.two_classes(400, 6, 0, FLOAT, "C")
    model = LogisticRegression(C=0.2, solver="newton-cholesky", tol=1e-12).fit(X, y)
    w, b = newton(X, 2.0 * y - 1, 0.2)
    np.testing.assert_allclose(w, model.coef_[0], rtol=1e-8)
    np.testing.assert_allclose(b, model.intercept_[0], rtol=1e-7)


def test_cross_validation_is_judged_by_the_choice_and_by_the_fit(monkeypatch):
    monkeypatch.setattr(logistic, "CS", np.array([1e-3, 1e-1, 1e2]))
    X, y = generators.two_classes(400, 6, 0, FLOAT, "C")
    params = {
        "cv": logistic.FOLDS, "scoring": "neg_log_loss", "l1_ratios": (0.0,),
        "use_legacy_attributes": False, "solver": "newton-cholesky", "tol": 1e-10,
    }  # fmt: skip
    row = next(row for row in logistic.SUITE.rows if row.estimator == "LogisticRegressionCV")
    objective = row.objective(row, X, y)
    model = LogisticRegressionCV(Cs=logistic.CS, **params).fit(X, y)
    losses = cross_validated_losses(X, 2.0 * y - 1, logistic.CS, logistic.FOLDS)
    np.testing.assert_allclose(-model.scores_.mean(axis=0).ravel(), losses, rtol=1e-8)
    assert objective(model) == pytest.approx(1, abs=1e-9)
    worst = logistic.CS[[int(np.argmax(losses))]]
    assert objective(LogisticRegressionCV(Cs=worst, **params).fit(X, y)) > 1.01
    model.coef_ = 1.1 * model.coef_
    assert objective(model) > 1 + 1e-4


@pytest.mark.parametrize(
    "generator",
    [
        generators.two_classes,
        generators.two_classes_correlated,
        generators.two_classes_offset_1e3,
        generators.few_true_features,
        generators.ten_classes,
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_classes_come_with_the_dtype_and_order_the_row_names(generator, order):
    X, y = generator(300, 6, 0, np.dtype("float32"), order)
    again, _ = generator(300, 6, 0, np.dtype("float32"), order)
    other, _ = generator(300, 6, 1, np.dtype("float32"), order)
    assert X.dtype == np.float32
    assert X.flags[f"{order}_CONTIGUOUS"]
    assert np.array_equal(X, again)
    assert not np.array_equal(X, other)
    classes = generators.CLASSES if generator is generators.ten_classes else 2
    assert np.array_equal(np.unique(y), np.arange(classes))


def test_classes_have_the_stated_signal():
    """The best classifier errs on 22 % of rows: E 1/(1 + exp|z|), z of standard deviation 2."""
    for generator in (generators.two_classes, generators.two_classes_offset_1e3):
        X, y = generator(20_000, 10, 0, FLOAT, "C")
        model = LogisticRegression(solver="newton-cholesky").fit(X, y)
        assert 1 - model.score(X, y) == pytest.approx(0.22, abs=0.04)


def test_correlated_columns_have_the_stated_correlation_and_scales():
    X, _ = generators.two_classes_correlated(20_000, 50, 0, FLOAT, "C")
    correlations = np.corrcoef(X, rowvar=False)[np.triu_indices(50, 1)]
    assert correlations == pytest.approx(0.8, abs=0.02)
    scales = np.log10(X.std(axis=0) / np.sqrt(5))
    assert scales.min() == pytest.approx(-1, abs=0.2)
    assert scales.max() == pytest.approx(1, abs=0.2)


def test_sparse_classes_have_the_stated_density():
    for generator in (generators.sparse_two_classes, generators.sparse_ten_classes):
        X, y = generator(2_000, 500, 0, FLOAT, "C")
        assert X.nnz / (2_000 * 500) == pytest.approx(generators.CLASS_DENSITY, rel=0.01)
        assert len(np.unique(y)) in (2, generators.CLASSES)


def test_rows_leave_out_only_contestants_of_their_suite_and_never_certus():
    for suite in (logistic.SUITE, softmax.SUITE):
        names = {contestant.name for contestant in suite.contestants}
        for row in suite.rows:
            assert set(row.without) < names
            assert "certus" not in row.without
            assert row.reference is not None
