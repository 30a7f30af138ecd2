"""LassoCV and ElasticNetCV: choices, against scikit-learn and fold by fold."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy import sparse
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, ShuffleSplit

import certus
from certus.data.rows import Rows
from certus.exceptions import DegenerateWarning
from certus.linear_model import ElasticNetCV, LassoCV, RidgeCV
from certus.solvers.lasso import elastic_net_cv, elastic_net_path
from tests.lasso.elastic_net_cases import draw, wide


@wide
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_choice_is_that_of_scikit_learn(shape, weighted, form):
    X, y = draw(shape)
    s = np.random.default_rng(1).uniform(0.1, 1, size=len(y)) if weighted else None
    if form == "sparse":
        X = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    ours = LassoCV(alphas=12, eps=0.05, cv=4).fit(X, y, s)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = peers.LassoCV(alphas=12, eps=0.05, cv=4, tol=1e-10, max_iter=50_000).fit(X, y, s)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=2e-3)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert ours.certificate_.certified
    assert "not recomputed" in ours.certificate_.explain()


def test_several_l1_ratios():
    X, y = draw((60, 8))
    ours = ElasticNetCV(l1_ratio=[0.2, 0.9], alphas=7).fit(X, y)
    theirs = peers.ElasticNetCV(l1_ratio=[0.2, 0.9], alphas=7, tol=1e-10).fit(X, y)
    assert ours.mse_path_.shape == theirs.mse_path_.shape == (2, 7, 5)
    assert ours.alphas_.shape == theirs.alphas_.shape == (2, 7)
    assert (ours.l1_ratio_, ours.alpha_) == pytest.approx((theirs.l1_ratio_, theirs.alpha_))


def test_one_standard_error_is_what_it_says():
    X, y = draw((60, 8), seed=5)
    least = LassoCV(alphas=30).fit(X, y)
    sparser = LassoCV(alphas=30, choice="1se").fit(X, y)
    mean = least.mse_path_.mean(axis=1)
    best = mean.argmin()
    limit = mean[best] + least.mse_path_[best].std(ddof=1) / np.sqrt(5)
    chosen = np.flatnonzero(least.alphas_ == sparser.alpha_)[0]
    assert mean[chosen] <= limit
    assert chosen == 0 or mean[:chosen].min() > limit
    assert chosen < best


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_training_rows_by_subtraction_are_those_of_the_training_rows(intercept, weighted):
    X, y = draw((60, 8))
    X += 100
    s = np.random.default_rng(1).uniform(0.1, 1, size=60) if weighted else None
    rows = Rows(X, y[:, None], s)
    whole = elastic_net_path.full_gram_sums(rows, intercept)
    for train, test in KFold(4).split(X):
        left_out = rows.take(test)
        less = elastic_net_cv._training_sums(
            whole, elastic_net_cv.gram(left_out, intercept), intercept
        )
        truth = elastic_net_cv.gram(rows.take(train), intercept)
        for ours, true in zip(less[:6], truth[:6], strict=True):
            np.testing.assert_allclose(ours, true, rtol=1e-9, atol=1e-9 * np.abs(true).max())


def test_folds_that_do_not_hold_every_row_are_summed_by_themselves():
    X, y = draw((60, 8))
    cv = ShuffleSplit(3, train_size=0.5, test_size=0.2, random_state=0)
    ours, theirs = (LassoCV(alphas=5, cv=cv), peers.LassoCV(alphas=5, cv=cv, tol=1e-12))
    np.testing.assert_allclose(ours.fit(X, y).mse_path_, theirs.fit(X, y).mse_path_, rtol=1e-5)


def test_a_column_that_one_fold_alone_sees_is_no_rounding():
    """All that varies in it is left out with the fold: what subtraction leaves is noise."""
    X, y = draw((60, 8))
    X[:, 2] = 0.0
    X[:12, 2] = 1e9 * np.arange(12)
    ours = LassoCV(alphas=[0.5, 0.1], cv=KFold(5)).fit(X, y)
    theirs = peers.LassoCV(alphas=[0.5, 0.1], cv=KFold(5), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.mse_path_[:, 1:], theirs.mse_path_[:, 1:], rtol=1e-4)


def test_two_targets_are_refused_with_a_remedy():
    X, Y = draw((30, 4), k=2)
    with pytest.raises(ValueError, match="each target separately"):
        LassoCV().fit(X, Y)


def test_the_same_bits_whatever_the_threads():
    X, y = draw((50, 900))
    fits = []
    for threads in (1, 3):
        with certus.config_context(threads=threads):
            fits.append(LassoCV(alphas=6, cv=3).fit(X, y))
    np.testing.assert_array_equal(fits[0].mse_path_, fits[1].mse_path_)
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


def test_weights_of_1_are_none():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(10, 5))
    y = X.sum(axis=1) + rng.uniform(size=10)
    plain = LassoCV(cv=3).fit(X, y)  # folds of 4, 3 and 3 rows
    for s in (np.ones(10), np.full(10, 2.0), 123.0):
        weighted = LassoCV(cv=3).fit(X, y, s)
        assert weighted.alpha_ == pytest.approx(plain.alpha_, rel=1e-12)
        np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("alphas", [7, 1, [0.1, 1.0, 0.5]])
@pytest.mark.parametrize("ratios", [0.5, [0.5], [0.3, 0.7]])
def test_shapes_are_scikit_learns(alphas, ratios):
    X, y = load_diabetes(return_X_y=True)
    how = {"l1_ratio": ratios, "alphas": alphas, "cv": 3}
    ours, theirs = ElasticNetCV(**how).fit(X, y), peers.ElasticNetCV(**how).fit(X, y)
    assert ours.alphas_.shape == theirs.alphas_.shape
    assert ours.mse_path_.shape == theirs.mse_path_.shape
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)


def test_one_alpha_at_which_all_coefficients_are_0():
    X, y = load_diabetes(return_X_y=True)
    model = LassoCV(alphas=1, eps=1).fit(X, y)
    np.testing.assert_array_equal(model.coef_, 0)
    assert model.alpha_ == pytest.approx(peers.LassoCV(alphas=1, eps=1).fit(X, y).alpha_)
    with pytest.raises(ValueError, match=r"eps=1\.5: give a number above 0, and 1 at most"):
        LassoCV(eps=1.5).fit(X, y)


def test_a_constant_target_has_one_alpha_many_times():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(DegenerateWarning, match="y is constant"):
        model = LassoCV(alphas=3).fit(X, np.ones_like(y))
    np.testing.assert_array_equal(model.alphas_, [1e-15] * 3)


@pytest.mark.parametrize("model", [LassoCV(), ElasticNetCV(), RidgeCV(), RidgeCV(cv=3)], ids=str)
def test_of_a_constant_target_the_choice_means_nothing(model):
    X = load_diabetes(return_X_y=True)[0]
    y, s = np.full(len(X), 3.0), np.ones(len(X))
    y[5], s[5] = 7.0, 0.0  # a row that does not count
    told = r"y is constant \(3 in every row\).* alpha_ = .* means nothing.*predicts 3 for every row"
    with pytest.warns(DegenerateWarning, match=told):
        model.fit(X, y, sample_weight=s)
    np.testing.assert_allclose(model.predict(X), 3.0)
    model.set_params(fit_intercept=False).fit(X, y, sample_weight=s)  # no warning: w matters
