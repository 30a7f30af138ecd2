"""What a missed optimum means for predictions, against optima that others have found."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit, softmax
from sklearn import linear_model as peers
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus.certificate.decisions import comparison
from certus.linear_model import (
    ElasticNet,
    LogisticRegression,
    OrdinalRegression,
    PenalizedClassifier,
    PenalizedRegressor,
)
from certus.penalties import MCP, Box, GroupL2, Simplex
from certus.proofs import optimum_answers
from certus.svm import LinearSVC


def draw(seed, n=120, p=4, classes=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p)) * np.geomspace(1, 30, p) + 3
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ random.normal(size=p)
    score = z + random.logistic(size=n)
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return X, y, z + random.normal(size=n)


def fitted(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **options)


# a model that stops early, and the same problem solved by scikit-learn as far as it can
BINARY = [
    {"C": 1.0}, {"C": 100.0, "class_weight": "balanced"}, {"C": 0.1, "fit_intercept": False},
    {"C": 1.0, "l1_ratio": 1.0, "solver": "saga"}, {"C": 1.0, "solver": "liblinear"},
]  # fmt: skip


@pytest.mark.parametrize("options", BINARY, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_probabilities_are_compared_with_those_at_the_optimum(options, seed):
    X, y, _ = draw(seed)
    s = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float)
    model = fitted(peers.LogisticRegression(max_iter=2, **options), X, y, sample_weight=s)
    best = LogisticRegression(tol=1e-12, **options).fit(X, y, sample_weight=s)
    d = certus.verify(model, X, y, sample_weight=s).decisions
    change = np.abs(model.predict_proba(X) - best.predict_proba(X)).max(axis=1)
    assert d.answer == "probability"
    assert d.n == len(X)
    assert d.n_changed == (model.predict(X) != best.predict(X)).sum()
    assert d.max_change == pytest.approx(change.max(), rel=1e-4)
    assert change[d.row] == pytest.approx(change.max(), rel=1e-4)
    assert change.max() <= d.bound <= d.max_change + 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_of_many_classes_are_compared_too(seed):
    X, y, _ = draw(seed, classes=3)
    model = fitted(peers.LogisticRegression(max_iter=3), X, y)
    best = LogisticRegression(tol=1e-12).fit(X, y)
    d = certus.verify(model, X, y).decisions
    change = np.abs(model.predict_proba(X) - best.predict_proba(X)).max()
    assert d.max_change == pytest.approx(change, rel=1e-4)
    assert d.n_changed == (model.predict(X) != best.predict(X)).sum()
    assert change <= d.bound <= d.max_change + 1e-3


@pytest.mark.parametrize("alpha", [0.01, 0.5])
def test_predictions_of_a_regression_are_compared_in_units_of_the_typical_error(alpha):
    X, _, y = draw(3)
    model = fitted(peers.Lasso(alpha, max_iter=1), X, y)
    best = ElasticNet(alpha, l1_ratio=1.0, tol=1e-12).fit(X, y)
    d = certus.verify(model, X, y).decisions
    change = np.abs(model.predict(X) - best.predict(X))
    assert d.unit == pytest.approx(0.01 * np.sqrt(np.mean((y - best.predict(X)) ** 2)), rel=1e-4)
    assert d.n_changed == (change > d.unit).sum()
    assert change.max() <= d.bound <= d.max_change + 1e-3 * y.std()


def early():
    C = {"max_iter": 1}
    yield peers.Ridge(1.0, solver="sag", max_iter=1), "y"
    yield peers.RidgeClassifier(1.0, solver="sag", max_iter=1), "binary"
    yield peers.Lasso(0.1, positive=True, max_iter=1), "y"
    yield peers.ElasticNet(0.1, l1_ratio=0.2, max_iter=1), "y"
    yield peers.HuberRegressor(max_iter=3), "y"
    yield peers.SGDRegressor(loss="huber", max_iter=2, random_state=0), "y"
    yield peers.SGDClassifier(loss="log_loss", alpha=0.01, random_state=0, **C), "binary"
    yield peers.SGDClassifier(loss="hinge", alpha=0.1, random_state=0, **C), "binary"
    yield peers.SGDClassifier(loss="log_loss", alpha=0.01, random_state=0, **C), "classes"
    yield svm.LinearSVC(random_state=0, **C), "binary"
    yield svm.LinearSVC(loss="hinge", random_state=0, **C), "binary"
    yield svm.LinearSVC(penalty="l1", dual=False, random_state=0, **C), "classes"
    yield OrdinalRegression(alpha=1.0, **C), "classes"
    yield LinearSVC(loss="hinge", **C), "classes"
    yield PenalizedClassifier("huber", "l2", **C), "classes"
    yield peers.SGDRegressor(loss="huber", penalty="l1", max_iter=2, random_state=0), "y"
    yield PenalizedRegressor("squared", GroupL2(3.0, groups=[[0, 1], [2, 3]]), **C), "y"
    yield PenalizedRegressor("squared", Box(-0.1, 0.1), **C), "y"
    yield PenalizedRegressor("squared", Simplex(), **C), "y"


@pytest.mark.parametrize(("model", "kind"), list(early()), ids=str)
def test_every_convex_family_has_its_certified_refit(model, kind):
    X, classes, y = draw(5, classes=3 if kind == "classes" else 2)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = y if kind == "y" else classes
    model = fitted(model, X, y)
    c = certus.verify(model, X, y)
    assert not c.certified
    assert c.decisions is not None, c.notes
    assert c.decisions.objective <= c.objective
    assert c.bound is None or c.decisions.objective >= c.bound - 1e-9 * abs(c.bound)
    assert "At the optimum " in c.explain().splitlines()[1]


def test_a_penalty_that_is_not_convex_has_no_optimum_to_compare_with():
    X, _, y = draw(5)
    c = certus.verify(fitted(PenalizedRegressor("squared", MCP(0.1), max_iter=1), X, y), X, y)
    assert c.decisions is None


# --- the bound ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_no_probability_is_farther_from_the_optimum_than_the_gap_allows(seed):
    """Whether or not the intercept is penalised, and without a penalty too."""
    X, y, _ = draw(seed, n=60, classes=3)
    random = np.random.default_rng(seed)
    best = peers.LogisticRegression(tol=1e-13, max_iter=5000, solver="newton-cg").fit(X, y)

    def F(W, b):
        z = X @ W.T + b
        log_P = z - np.log(np.exp(z - z.max(1, keepdims=True)).sum(1, keepdims=True))
        log_P -= z.max(axis=1, keepdims=True)
        return -log_P[np.arange(len(y)), y].sum() + 0.5 * (W**2).sum()

    optimum = F(best.coef_, best.intercept_)
    P_best = best.predict_proba(X)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        W = best.coef_ + size * random.normal(size=best.coef_.shape) / X.std(axis=0)
        b = best.intercept_ + size * random.normal(size=3)
        error = np.abs(softmax(X @ W.T + b, axis=1) - P_best).max(axis=1)
        bound = optimum_answers.probability_error(F(W, b) - optimum + 1e-9, np.ones(len(y)))
        assert (error <= bound).all()


@pytest.mark.parametrize("seed", range(6))
def test_no_prediction_of_a_lasso_is_farther_than_the_gap_allows(seed):
    X, _, y = draw(seed, n=60)
    random = np.random.default_rng(seed)
    best = peers.Lasso(0.1, tol=1e-14, max_iter=100_000).fit(X, y)

    def F(w, b):
        return ((y - X @ w - b) ** 2).mean() / 2 + 0.1 * np.abs(w).sum()

    optimum = F(best.coef_, best.intercept_)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        w = best.coef_ + size * random.normal(size=4) / X.std(axis=0)
        b = best.intercept_ + size * random.normal()
        gap = F(w, b) - optimum + 1e-12
        bound = optimum_answers.score_error(gap, np.full(60, 1 / 120))
        assert (np.abs(X @ w + b - best.predict(X)) <= bound).all()


def test_a_penalised_intercept_bounds_the_scores_of_a_hinge():
    X, y, _ = draw(1)
    model = fitted(svm.LinearSVC(loss="hinge", max_iter=2, random_state=0), X, y)
    d = certus.verify(model, X, y).decisions
    best = LinearSVC(loss="hinge", tol=1e-10).fit(X, y)
    change = np.abs(model.decision_function(X) - best.decision_function(X)).max()
    assert d.answer == "score"
    assert d.bound is not None
    assert d.bound >= change * (1 - 1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_sparse_rows_give_the_same_decisions(loss):
    X, y, _ = draw(1)
    X[np.abs(X) < 2] = 0.0
    model = fitted(svm.LinearSVC(loss=loss, max_iter=2, random_state=0), X, y)
    dense, sparse = (certus.verify(model, A, y).decisions for A in (X, csr_array(X)))
    assert sparse.n_changed == dense.n_changed
    assert sparse.bound == pytest.approx(dense.bound, rel=0.05)


# --- when -----------------------------------------------------------------------------------------


def test_decisions_are_compared_where_the_optimum_is_missed_unless_told_otherwise():
    X, y, _ = draw(0)
    bad = fitted(peers.LogisticRegression(max_iter=2), X, y)
    good = LogisticRegression().fit(X, y)
    assert certus.verify(bad, X, y).decisions is not None
    assert certus.verify(bad, X, y, decisions=False).decisions is None
    assert certus.verify(good, X, y).decisions is None
    of_good = certus.verify(good, X, y, decisions=True)
    assert of_good.certified
    assert of_good.decisions.n_changed == 0
    assert "At the optimum harmless: no prediction changes" in of_good.explain()
    with pytest.raises(ValueError, match='use "auto", True or False'):
        certus.verify(good, X, y, decisions="yes")


def test_a_refit_that_takes_long_is_left_out_with_a_sentence(monkeypatch):
    X, y, _ = draw(0)
    model = fitted(peers.LogisticRegression(max_iter=2), X, y)
    monkeypatch.setattr(comparison, "MAX_WORK", 100.0)
    c = certus.verify(model, X, y)
    assert c.decisions is None
    assert "decisions=True does it" in c.explain()
    assert certus.verify(model, X, y, decisions=True).decisions is not None


def test_a_solver_that_fails_does_not_hide_the_verdict(monkeypatch):
    def fail(*_):
        raise RuntimeError("no memory")

    X, y, _ = draw(0)
    model = fitted(peers.LogisticRegression(max_iter=2), X, y)
    status = certus.verify(model, X, y).status
    monkeypatch.setattr(comparison, "refit", fail)
    c = certus.verify(model, X, y)
    assert (c.status, c.decisions) == (status, None)
    assert "the refit failed (RuntimeError)" in c.explain()


@pytest.mark.parametrize("size", [1e-200, 1e160, 1e300])
def test_columns_near_the_limits_of_float64_do_no_harm(size):
    X, y, _ = draw(0)
    model = fitted(peers.LogisticRegression(max_iter=2), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.coef_ = model.coef_ * size
        c = certus.verify(model, X, y)
    assert c.status == "not optimal" or not np.isfinite(c.objective) or c.decisions is None
    c.to_json()


def test_a_model_on_other_rows_is_not_compared_with_their_optimum():
    X, y, _ = draw(0)
    model = make_pipeline(StandardScaler(), peers.LogisticRegression()).fit(X[:80], y[:80])
    c = certus.verify(model, X[80:], y[80:])
    assert c.other_rows
    assert c.decisions is None


def test_a_row_without_weight_is_no_decision():
    X, y, _ = draw(0)
    s = np.ones(len(X))
    s[:20] = 0.0
    model = fitted(peers.LogisticRegression(max_iter=2), X, y, sample_weight=s)
    d = certus.verify(model, X, y, sample_weight=s).decisions
    assert d.n == 100
    assert d.row >= 20
    assert d.bound is not None


# --- in words -------------------------------------------------------------------------------------


def test_one_measure_in_one_verdict():
    """A status that is decided by a share of f₀ is explained by a share of f₀."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = X @ np.array([100.0, 50.0, -30.0]) + random.normal(size=200) * 0.3
    model = peers.ElasticNet(1e-6).fit(X, y)
    model.coef_ = model.coef_ + 0.1
    model.intercept_ = y.mean() - X.mean(axis=0) @ model.coef_
    c = certus.verify(model, X, y)
    text = c.explain()
    assert c.status == "nearly optimal"
    assert c.gap / c.bound > 0.01
    percent = float(text.split("too high by ")[1].split(" %")[0])
    assert percent == pytest.approx(
        100 * (c.objective - c.decisions.objective) / (c.gap / c.residual), rel=0.1
    )
    assert percent <= 0.1
    without = certus.verify(model, X, y, decisions=False).explain()
    assert float(without.split("by up to ")[1].split(" %")[0]) <= 0.1


def test_the_first_lines_say_what_it_means():
    X, y, _ = draw(0)
    c = certus.verify(fitted(peers.LogisticRegression(max_iter=2), X, y), X, y)
    d, lines = c.decisions, c.explain().splitlines()
    assert lines[0].startswith("[!!] NOT OPTIMAL")
    assert lines[1].startswith(f"At the optimum {d.n_changed} of 120 predictions change; a prob")
    assert f"(most in row {d.row}; proven)" in lines[1]
    assert f"{d.n_changed} of 120 predictions change" in c._repr_html_().split("<details>")[0]
    assert "% of what the intercept alone leaves" in c._repr_html_().split("<details>")[0]


def test_the_card_of_a_certified_fit_shows_its_gap():
    X, y, _ = draw(0)
    card = LogisticRegression().fit(X, y).certificate_._repr_html_().split("<details>")[0]
    assert " above the best possible" in card


def test_scores_of_two_classes_give_the_probabilities_of_both():
    X, y, _ = draw(0)
    model = fitted(peers.LogisticRegression(max_iter=2), X, y)
    assert np.allclose(expit(model.decision_function(X)), model.predict_proba(X)[:, 1])


def test_a_refit_warns_of_nothing():
    X, y, _ = draw(0)
    model = fitted(peers.LogisticRegression(max_iter=2), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        certus.verify(model, X, y)
