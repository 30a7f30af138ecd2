"""Lasso and elastic net: fits, against scikit-learn and their definition; and their solver."""

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy import sparse

import certus
from certus.data.rows import Rows
from certus.exceptions import AliasWarning, InferenceError, NotCertifiedWarning
from certus.linear_model import ElasticNet, Lasso, LassoCV
from certus.solvers.lasso import elastic_net, elastic_net_path
from certus.solvers.lasso.coordinate_penalty import CoordinatePenalty
from tests.lasso.elastic_net_cases import TIGHT, draw, wide


def objective(model, X, y, s=None, alpha=None, l1_ratio=None):
    """As written."""
    s = np.ones(len(y)) if s is None else s
    l1_ratio = model.l1_ratio if l1_ratio is None else l1_ratio
    alpha = model.alpha if alpha is None else alpha
    r = y - X @ model.coef_ - model.intercept_
    w = model.coef_
    return (
        s @ r**2 / (2 * s.sum())
        + alpha * l1_ratio * np.abs(w).sum()
        + alpha * (1 - l1_ratio) / 2 * w @ w
    )


@wide
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_are_those_of_scikit_learn(shape, positive, l1_ratio, weighted, fit_intercept):
    X, y = draw(shape)
    s = np.random.default_rng(1).uniform(size=len(y)) if weighted else None
    how = {"l1_ratio": l1_ratio, "positive": positive, "fit_intercept": fit_intercept}
    ours = ElasticNet(0.1, **how, tol=1e-12).fit(X, y, s)
    theirs = peers.ElasticNet(0.1, **how, **TIGHT).fit(X, y, s)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    assert ours.certificate_.certified
    assert ours.certificate_.objective == pytest.approx(objective(ours, X, y, s), rel=1e-12)
    promised = 1e-12 * np.var(y)  # tol, of about what the intercept alone leaves
    assert objective(ours, X, y, s) <= objective(theirs, X, y, s) + promised
    assert ours.dual_gap_ <= 1e-12 * np.var(y) * 10


@wide
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_are_the_same_rows(shape, form):
    X, y = draw(shape)
    X = np.where(np.abs(X) > 1, X, 0.0)
    s = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    dense = Lasso(0.05, tol=1e-12).fit(X, y, s)
    thin = Lasso(0.05, tol=1e-12).fit(sparse.coo_array(X).asformat(form), y, s)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-7)
    assert thin.certificate_.certified
    assert thin.sparse_coef_.nnz == np.count_nonzero(dense.coef_)


@wide
def test_targets_are_fitted_one_by_one(shape):
    X, Y = draw(shape, k=3)
    together = Lasso(0.1, tol=1e-12).fit(X, Y)
    for t in range(3):
        alone = Lasso(0.1, tol=1e-12).fit(X, Y[:, t])
        np.testing.assert_allclose(together.coef_[t], alone.coef_, atol=1e-12)
        assert together.intercept_[t] == pytest.approx(alone.intercept_)
    assert len(together.n_iter_) == len(together.dual_gap_) == 3
    assert together.certificate_.certified


@pytest.mark.parametrize(
    ("parameters", "solver"),
    [({"alpha": 0.0}, "cholesky"), ({"alpha": 2.0, "l1_ratio": 0.0}, "cholesky"),
     ({"alpha": 0.0, "positive": True}, "active set")],
)  # fmt: skip
def test_without_an_l1_part_it_is_ridge_or_least_squares(parameters, solver):
    X, y = draw((60, 8))
    ours = ElasticNet(**parameters).fit(X, y)
    assert ours.solver_ == solver
    assert ours.certificate_.certified
    alpha = parameters["alpha"] * (1 - parameters.get("l1_ratio", 0.5)) * len(y)
    truth = certus.linear_model.Ridge(alpha, positive=parameters.get("positive", False)).fit(X, y)
    np.testing.assert_allclose(ours.coef_, truth.coef_, atol=1e-10)


def test_a_large_alpha_leaves_nothing_and_takes_no_step():
    X, y = draw((60, 8))
    most = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    nothing, something = Lasso(most * (1 + 1e-9)).fit(X, y), Lasso(most * 0.999).fit(X, y)
    assert not nothing.coef_.any()
    assert np.count_nonzero(something.coef_) == 1
    assert nothing.certificate_.certified
    assert nothing.n_iter_ == 0


def test_one_working_set_is_not_enough_and_the_warning_says_by_how_much():
    X, y = draw((60, 2000), seed=3)
    with pytest.warns(NotCertifiedWarning, match=r"stopped at max_iter=1 .* % too high"):
        model = Lasso(0.01, max_iter=1).fit(X, y)
    assert not model.certificate_.certified
    assert model.certificate_.objective == pytest.approx(objective(model, X, y))


@pytest.mark.parametrize(
    ("model", "warning"),
    [(Lasso(0.01, max_iter=1), NotCertifiedWarning), (Lasso(0.0), AliasWarning),
     (LassoCV(alphas=[0.01], max_iter=1), NotCertifiedWarning),
     (LassoCV(alphas=[0.0], cv=2), AliasWarning)],
)  # fmt: skip
def test_warnings_point_at_the_line_that_fits(model, warning):
    alias = warning is AliasWarning
    X, y = draw((60, 4) if alias else (60, 900))
    X = np.column_stack([X, X[:, 0]]) if alias else X
    with pytest.warns(warning) as warned:
        model.fit(X, y)
    assert [w.filename for w in warned] == [__file__]


def test_a_warm_start_goes_on_where_the_last_fit_ended():
    X, y = draw((60, 2000), seed=3)
    cold = Lasso(0.05).fit(X, y)
    warm = Lasso(0.05, warm_start=True).fit(X, y)
    before = warm.n_iter_
    warm.fit(X, y)
    assert warm.n_iter_ < before
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-5)
    warm.fit(X[:, :50], y)  # of another shape: no help
    assert len(warm.coef_) == 50


def test_repeated_columns_are_noted_and_change_no_prediction():
    X, y = draw((60, 8))
    model = Lasso(0.1).fit(np.column_stack([X, X[:, 0]]), y)
    truth = Lasso(0.1).fit(X, y)
    assert "not unique" in model.certificate_.explain()
    assert "not unique" not in truth.certificate_.explain()
    seen = np.column_stack([X, X[:, 0]])
    np.testing.assert_allclose(model.predict(seen), truth.predict(X), atol=1e-4)


def test_p_values_are_refused_with_what_to_do_instead():
    X, y = draw((60, 8))
    with pytest.raises(InferenceError, match=r"(?s)Lasso selects.*bootstrap.*debiased"):
        Lasso(0.1).fit(X, y).inference(X, y)


def test_columns_of_extreme_units():
    X, y = draw((60, 8))
    for unit in (1e-180, 1e180):
        there = Lasso(0.1 * unit, tol=1e-10).fit(X * unit, y)
        here = Lasso(0.1, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(there.coef_ * unit, here.coef_, atol=1e-4)
        assert there.certificate_.certified


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": [0.1, 0.2]}, "give one number"),
        ({"l1_ratio": 1.5}, "from 0 .ridge. to 1 .lasso."),
        ({"l1_ratio": True}, "l1_ratio=True"),
        ({"max_iter": 0}, "max_iter=0: give a whole number above 0"),
        ({"tol": -1e-3}, "tol"),
        ({"selection": "best"}, "selection"),
        ({"precompute": "auto"}, "precompute='auto'"),
        ({"positive": "yes"}, "positive"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = draw((20, 3))
    with pytest.raises((ValueError, TypeError), match=message):
        ElasticNet(**parameters).fit(X, y)


@pytest.mark.parametrize("shape", [(60, 8), (40, 1100)])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_no_number_is_named(shape, bad):
    X, y = draw(shape)
    X[7, 3] = bad
    with pytest.raises(ValueError, match=r"column 3 of X.*row 7"):
        Lasso(0.1).fit(X, y)


# --- the solver -----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 2, 3], ids=["L1", "w ≥ 0", "MCP", "SCAD"])
def test_working_sets_and_all_columns_at_once_agree(code):
    X, y = draw((80, 30), seed=2)
    rows = Rows(X, y[:, None])
    penalty = CoordinatePenalty(np.full(30, 0.2), np.zeros(30), code, 3.7)
    (whole,) = elastic_net_path.regressions(rows, True, 80.0)
    many = elastic_net_path.LazyGram(rows, 0, 80.0, True)
    assert isinstance(whole.columns, elastic_net_path.FullGram)
    found = [elastic_net.solve(columns, penalty, 1e-13) for columns in (whole.columns, many)]
    np.testing.assert_allclose(found[0].w, found[1].w, atol=1e-6)
    np.testing.assert_allclose(found[0].b, found[1].b, atol=1e-5)
    for one in found:
        slope = -(X - X.mean(axis=0)).T @ (y - X @ one.w - one.b) / 80
        assert penalty.distances(one.w, slope).max() < 1e-6
        f = ((y - X @ one.w - one.b) ** 2).sum() / 160 + penalty.value(one.w)
        assert one.objective == pytest.approx(f, rel=1e-10)


@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("code", [0, 1])
def test_no_bound_lies_above_the_optimum(code, l2):
    X, y = draw((60, 8))
    (whole,) = elastic_net_path.regressions(Rows(X, y[:, None]), True, 60.0)
    penalty = CoordinatePenalty(np.full(8, 0.3), np.full(8, l2), code)
    best = elastic_net.solve(whole.columns, penalty, 0.0)
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-3, 0.1, 10.0):
        w = best.w + size * rng.normal(size=8)
        w = np.maximum(w, 0) if code else w
        bound = elastic_net.dual_bound(penalty, whole.columns.evaluate(w))
        assert bound <= best.objective * (1 + 1e-12)
    assert best.gap <= 1e-10 * best.objective


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")  # rounding: 1e-7
def test_a_sparse_column_far_from_0_is_looked_at_about_its_mean():
    X, y = draw((60, 700))
    X = np.where(np.abs(X) > 1.5, X, 0.0)
    X[:, 3] = 1e7 + np.arange(60) % 7
    y = y + 2 * (np.arange(60) % 7)
    dense, thin = Lasso(0.1, tol=1e-10).fit(X, y), Lasso(0.1, tol=1e-10).fit(sparse.csr_array(X), y)
    assert dense.coef_[3] != 0
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-5)
    assert thin.certificate_.residual <= 1e-6


def test_supports_larger_than_the_number_of_rows_shrink_at_once():
    """Columns that are all but multiples of each other: a few working sets, not hundreds."""
    rng = np.random.default_rng(0)
    X, y = np.cumsum(rng.normal(size=(30, 700)), axis=1), rng.normal(size=30)
    model = Lasso(1e-4).fit(X, y)
    assert model.certificate_.certified
    assert model.n_iter_ < 60
    assert np.count_nonzero(model.coef_) <= 30


def test_the_trace_of_several_targets_is_that_of_their_sum():
    """Ctrl-C keeps the step with the least objective, which is not that of an easier target."""
    X, Y = draw((60, 900), k=2)
    Y[:, 1] *= 10
    certificate = Lasso(0.5).fit(X, Y).certificate_
    objectives = [point.objective for point in certificate.trace]
    assert len(objectives) > 2
    assert np.all(np.diff(objectives) <= 1e-9 * objectives[0])
    assert objectives[-1] == pytest.approx(certificate.objective)
    assert [point.iteration for point in certificate.trace] == list(range(1, len(objectives) + 1))
