"""Benchmarks of the lasso: one objective and one α for all, and answers judged by plain NumPy.

Nothing here looks at how long anything takes.
"""

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso, LassoCV
from sklearn.linear_model import lasso_path as sklearn_path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks import generators, harness, libraries, table
from benchmarks.harness import Contestant, Options
from benchmarks.lasso_reference import cross_validated_errors, lasso_path
from benchmarks.suites import lasso

ONCE = Options(repeats=1, cold_start=False, memory=False)
FLOAT = np.dtype("float64")
TIGHT = {"tol": 1e-14, "max_iter": 100_000}
ROWS = {row.name: row for row in lasso.SUITE.rows}
WITH_INTERCEPT = [generators.few_true_columns, generators.sparse_few_true_columns]


def mini(name, n=60, p=30, **settings):
    """A row of the suite on small data, at a tol that leaves only rounding."""
    return replace(ROWS[name], n=n, p=p, **settings)


@pytest.mark.parametrize("generator", WITH_INTERCEPT)
@pytest.mark.parametrize("shape", [(400, 20), (50, 600)])
def test_alpha_of_one_is_the_least_that_leaves_no_column(generator, shape, monkeypatch):
    monkeypatch.setattr(generators, "LASSO_DENSITY", 0.1)
    X, y = generator(*shape, 0, FLOAT, "F")
    assert not np.any(Lasso(1 + 1e-9, **TIGHT).fit(X, y).coef_)
    assert np.any(Lasso(0.99, **TIGHT).fit(X, y).coef_)


def test_alpha_of_one_is_the_least_without_an_intercept_too():
    X, y = generators.few_true_columns_no_intercept(50, 60, 0, FLOAT, "F")
    assert not np.any(Lasso(1 + 1e-9, fit_intercept=False, **TIGHT).fit(X, y).coef_)
    assert np.any(Lasso(0.99, fit_intercept=False, **TIGHT).fit(X, y).coef_)


def test_unit_columns_have_norm_one_and_a_pull_of_at_most_one():
    X, y = generators.few_true_unit_columns(50, 60, 0, FLOAT, "F")
    np.testing.assert_allclose(np.linalg.norm(X, axis=0), 1)
    assert np.max(np.abs(X.T @ (y - y.mean()))) == pytest.approx(1)


@pytest.mark.parametrize(
    "generator",
    [
        generators.few_true_columns,
        generators.few_true_columns_no_intercept,
        generators.few_true_unit_columns,
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_data_have_the_dtype_and_order_the_row_names(generator, order):
    X, y = generator(50, 30, 0, np.dtype("float32"), order)
    other, _ = generator(50, 30, 1, np.dtype("float32"), order)
    assert X.dtype == y.dtype == np.float32
    assert X.flags[f"{order}_CONTIGUOUS"]
    assert not np.array_equal(X, other)


def test_order_of_sparse_data_is_csr_or_csc_of_the_same_numbers():
    (R, y), (C, z) = (
        generators.sparse_few_true_columns(2_000, 500, 0, FLOAT, order) for order in "CF"
    )
    assert (R.format, C.format) == ("csr", "csc")
    assert (R != C).nnz == 0
    assert np.array_equal(y, z)
    assert R.nnz / (2_000 * 500) == pytest.approx(generators.LASSO_DENSITY, rel=0.01)


def test_objective_is_the_equation_on_dense_and_sparse_rows():
    X, y = np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([1.0, 0.0])
    model = SimpleNamespace(coef_=np.array([1.0, -2.0]), intercept_=0.5)
    row = replace(ROWS["Elastic net wide"], params={"alpha": 0.1, "l1_ratio": 0.25})
    loss = (0.5**2 + 0.5**2) / 4  # residuals 1 − 1.5 and 0 − 0.5
    expected = loss + 0.1 * (0.25 * 3 + 0.75 / 2 * 5)
    for data in (X, sparse.csr_array(X), sparse.csc_array(X)):
        assert row.objective(row, data, y)(model) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["Lasso wide", "Elastic net wide", "Lasso sparse CSC"])
def test_objective_is_least_where_scikit_learn_converged(name):
    row = mini(name)
    X, y = row.data()
    F = row.objective(row, X, y)
    model = {"Lasso": Lasso, "ElasticNet": ElasticNet}[row.estimator](**row.params, **TIGHT)
    model.fit(X, y)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1):
        w = model.coef_ + size * rng.standard_normal(row.p)
        assert F(model) < F(lasso.linear(w, model.intercept_))
        assert F(model) < F(lasso.linear(model.coef_, model.intercept_ + size))


@pytest.mark.parametrize("shape", [(80, 12), (30, 200)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_reference_path_satisfies_the_optimality_conditions(shape, fit_intercept):
    X, y = generators.few_true_columns(*shape, 0, FLOAT, "F")
    alphas = np.geomspace(2, 0.001, 20)
    W, b = lasso_path(X, y, alphas, fit_intercept)
    assert not fit_intercept or np.any(b)
    for alpha, w, bias in zip(alphas, W, np.broadcast_to(b, 20), strict=True):
        r = y - X @ w - bias
        g = X.T @ r / len(y)
        np.testing.assert_allclose(g[w != 0], alpha * np.sign(w[w != 0]), atol=1e-10)
        assert np.max(np.abs(g)) <= alpha * (1 + 1e-8)
        assert abs(r.mean()) < 1e-10 or not fit_intercept
    assert np.sum(W[-1] != 0) >= min(shape) - 2  # where columns outnumber rows, they use them up


def test_path_is_judged_by_its_worst_alpha():
    row = mini("Lasso path", params={"alphas": np.geomspace(1, 0.01, 10)})
    X, y = row.data()
    F = row.objective(row, X, y)
    _, coefs, _ = sklearn_path(X, y, **row.params, **TIGHT)
    assert F(SimpleNamespace(coefs_=coefs)) == pytest.approx(1, abs=1e-10)
    coefs[:, 6] *= 1.1
    at = lasso.objective_at(row.params["alphas"][6], row, X, y)
    worst = at(lasso.linear(coefs[:, 6])) / at(lasso.linear(coefs[:, 6] / 1.1))
    assert F(SimpleNamespace(coefs_=coefs)) == pytest.approx(worst, rel=1e-9)
    assert worst > 1 + 1e-4


def test_cross_validation_is_judged_by_the_choice_and_by_the_fit():
    alphas = np.geomspace(1, 0.01, 8)
    row = mini("LassoCV wide", params={"alphas": alphas, "cv": lasso.FOLDS})
    X, y = row.data()
    F = row.objective(row, X, y)
    model = LassoCV(**row.params, **TIGHT).fit(X, y)
    errors = cross_validated_errors(X, y, alphas, lasso.FOLDS)
    np.testing.assert_allclose(model.mse_path_.mean(axis=1), errors, rtol=1e-8)
    assert F(model) == pytest.approx(1, abs=1e-9)
    worst = alphas[[int(np.argmax(errors))]]
    assert F(LassoCV(alphas=worst, cv=lasso.FOLDS, **TIGHT).fit(X, y)) > 1.01
    model.coef_ = 1.1 * model.coef_
    assert F(model) > 1 + 1e-4


def test_mcp_is_stationary_where_no_small_move_lowers_its_value():
    """One column of norm 1 and pull z: w = (z − λ)/(1 − 1/γ) for λ < z ≤ γλ, z beyond."""
    row = replace(ROWS["MCP wide"], params={"strength": 0.2, "gamma": 3.0})
    x = np.array([1.0, -1.0]) / np.sqrt(2)
    for pull, w in ((0.1, 0.0), (0.4, 0.3), (0.9, 0.9)):
        X, y = x[:, None], pull * x
        distance, value = row.objective(row, X, y), row.value(row, X, y)
        at = lasso.linear(np.array([w]))
        assert distance(at) == pytest.approx(1, abs=1e-12)
        for step in (-1e-3, 1e-3):
            moved = lasso.linear(np.array([w + step]))
            assert distance(moved) > 1 + 1e-4
            assert value(moved) > value(at)
        assert distance(lasso.linear(np.array([w]), 0.01)) > 1.01


def test_mcp_value_is_the_equation_and_flat_beyond():
    row = replace(ROWS["MCP wide"], params={"strength": 0.2, "gamma": 3.0})
    value = row.value(row, np.zeros((2, 3)), np.array([1.0, 2.0]))
    w = np.array([0.3, -0.6, 9.0])
    expected = 5 / 2 + (0.2 * 0.3 - 0.3**2 / 6) + 3 * 0.2**2 / 2 * 2
    assert value(lasso.linear(w)) == pytest.approx(expected, rel=1e-14)


class Zero:
    def fit(self, X, y):
        self.coef_, self.intercept_ = np.zeros(X.shape[1]), y.mean()
        return self


class AllZero(Contestant):
    def new_model(self, row):
        return Zero()


def test_value_that_is_reported_besides_has_a_table_and_others_have_none(monkeypatch):
    zero = AllZero("zero", "zero", "zero", "zero")
    monkeypatch.setattr(harness, "call_in_fresh_process", lambda f, *args, threads: f(*args))
    row = mini("MCP wide")
    result = next(harness.Suite("mini", (zero,), (row,)).run(ONCE))
    _, y = row.data()
    assert result["cells"]["zero"]["value"] == pytest.approx(np.sum((y - y.mean()) ** 2) / 2)
    assert "Value" in table.tables([result])
    other = next(harness.Suite("mini", (zero,), (mini("Lasso wide", reference=None),)).run(ONCE))
    assert other["cells"]["zero"]["value"] is None
    assert "Value" not in table.tables([other])


@pytest.mark.filterwarnings("ignore:Detected matrix to be C-contiguous")  # adelie prefers F
@pytest.mark.parametrize(
    "name", ["Lasso wide C-order", "Lasso path", "Lasso sparse CSR", "Elastic net wide", "MCP wide",
             "LassoCV wide"],
)  # fmt: skip
@pytest.mark.parametrize("peer", lasso.PEERS, ids=lambda peer: peer.name)
def test_peers_reach_the_same_objective(name, peer):
    row = mini(name, tol=1e-13)
    if peer.name in row.without:
        pytest.skip("left out of the row")
    pytest.importorskip(peer.package)
    if row.estimator == "LassoCV":
        row = replace(row, params=row.params | {"n_jobs": None})
    X, y = row.data()
    reference = replace(lasso.SKLEARN, params={"max_iter": 100_000})
    F = row.objective(row, X, y)
    _, model = peer.timed_fit(row, X, y)
    best = 1.0 if row.value else F(reference.timed_fit(row, X, y)[1])
    assert F(model) == pytest.approx(best, rel=1e-8)


def test_certus_under_the_names_of_the_suite(monkeypatch):
    """What linear_model has is passed on as it is; what it lacks is not offered."""
    module = importlib.import_module("benchmarks.certus_lasso")
    home, row = libraries.certus_lasso(), mini("Lasso wide")
    monkeypatch.setattr(module, "linear_model", SimpleNamespace(Lasso=Lasso))
    assert isinstance(home.new_model(row), Lasso)
    path = mini("Lasso path")
    X, y = path.data()
    _, model = home.timed_fit(path, X, y)
    assert model.coefs_.shape == (path.p, len(lasso.ALPHAS))
    monkeypatch.setattr(module, "linear_model", SimpleNamespace())
    with pytest.raises(harness.NotOffered):
        home.new_model(row)


def test_rows_leave_out_only_contestants_of_their_suite_and_never_certus():
    names = {contestant.name for contestant in lasso.SUITE.contestants}
    for row in lasso.SUITE.rows:
        assert set(row.without) < names
        assert "certus" not in row.without
        assert (row.reference is None) == (row.least == 1.0)


def test_least_objective_that_is_known_shows_an_excess_to_a_contestant_alone():
    zero = AllZero("zero", "zero", "zero", "zero", tolerances=(1e-2, 1e-3))
    row = mini("MCP wide")
    cells, _ = harness.contest(row, (zero,), ONCE)
    X, y = row.data()
    distance = (np.max(np.abs(X.T @ (y - y.mean()))) - lasso.ALPHA) / lasso.ALPHA
    assert cells["zero"]["excess"] == pytest.approx(distance)
    assert cells["zero"]["tol"] == 1e-3
