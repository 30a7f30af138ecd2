"""RidgeCV: α with the least error on rows left out, (1/n) Σ_i s_i (r_i(α)/(1 − h_ii(α)))²."""

import numpy as np
import pytest
import sklearn.linear_model as peers
from sklearn import config_context
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

import certus
from certus.data.rows import Rows
from certus.linear_model import Ridge, RidgeCV
from certus.proofs.least_squares import ridge_cv as definition
from certus.solvers.least_squares.ridge_cv import leave_one_out
from tests.contract.problems import left_out_squares, regression, weights
from tests.least_squares.test_least_squares import Block

ALPHAS = np.array([0.01, 0.1, 1.0, 10.0, 100.0])
SHAPES = [(15, 3), (12, 12), (8, 20), (40, 1)]


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_factorisation_gives_the_errors_of_as_many_fits_as_rows(
    shape, targets, weighted, intercept
):
    X, y, _ = regression(1, *shape, targets, noise=2.0)
    s = weights(1, shape[0]) if weighted else None
    truth = np.stack(
        [left_out_squares(X, y, s, a, intercept=intercept) for a in ALPHAS], axis=-1
    )  # (n, k, A)
    path = leave_one_out(Rows(X, y, s), ALPHAS, intercept, keep_errors=True)
    np.testing.assert_allclose(path.errors**2, truth, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(path.squares, truth.sum(axis=0).T, rtol=1e-8)
    path = leave_one_out(Rows(X, y, s), ALPHAS, intercept, keep_errors=False)
    np.testing.assert_allclose(path.squares, truth.sum(axis=0).T, rtol=1e-8)
    scores = definition.leave_one_out_scores(Block(X, y, s), ALPHAS, intercept)
    np.testing.assert_allclose(scores, -truth.mean(axis=0).T, rtol=1e-8)


@pytest.mark.parametrize("edges", [(5,), (1, 2, 9)], ids=str)
def test_the_definition_does_not_depend_on_how_rows_are_cut(edges):
    X, y, _ = regression(1, n=15, p=3, noise=2.0)
    whole = definition.leave_one_out_scores(Block(X, y), ALPHAS, True)
    cut = definition.leave_one_out_scores(Block(X, y, edges=edges), ALPHAS, True)
    np.testing.assert_allclose(cut, whole, rtol=1e-10)


def test_a_fit_keeps_the_errors_of_every_row_and_penalty():
    X, y, _ = regression(1, n=20, p=3, k=2, noise=2.0)
    model = RidgeCV(alphas=ALPHAS, store_cv_results=True).fit(X, y)
    truth = np.stack([left_out_squares(X, y, None, a) for a in ALPHAS], axis=-1)
    assert model.cv_results_.shape == (20, 2, 5)
    np.testing.assert_allclose(model.cv_results_, truth, rtol=1e-8, atol=1e-10)
    scores = -truth.mean(axis=(0, 1))
    assert model.alpha_ == ALPHAS[scores.argmax()]
    assert model.best_score_ == pytest.approx(scores.max(), rel=1e-9)


# --- scikit-learn's answers -----------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("shape", [(30, 3), (200, 20), (12, 40), (20, 20)], ids=str)
@pytest.mark.parametrize("store", [False, True], ids=["", "errors kept"])
def test_scikit_learns_choice_score_and_answer(shape, targets, weighted, intercept, store):
    X, y, _ = regression(2, *shape, targets, noise=4.0)
    s = np.random.default_rng(2).uniform(0.5, 2, size=len(X)) if weighted else None
    parameters = {"alphas": ALPHAS, "fit_intercept": intercept, "store_cv_results": store}
    theirs = peers.RidgeCV(**parameters).fit(X, y, s)
    ours = RidgeCV(**parameters).fit(X, y, s)
    assert ours.certificate_.certified
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-8)
    coef = theirs.coef_.reshape(ours.coef_.shape)
    np.testing.assert_allclose(ours.coef_, coef, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-8)
    assert hasattr(ours, "cv_results_") == store
    if store:
        assert ours.cv_results_.shape == theirs.cv_results_.shape
        np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-8)


SCORINGS = [
    "r2", "neg_mean_squared_error", "neg_mean_absolute_error", "neg_median_absolute_error",
    "neg_max_error", "explained_variance",
    make_scorer(mean_absolute_error, greater_is_better=False),
]  # fmt: skip


@pytest.mark.parametrize("targets", [None, 2])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("scoring", SCORINGS, ids=str)
def test_scores_by_name_agree_with_scikit_learn(scoring, weighted, targets):
    if scoring == "neg_max_error" and (targets or weighted):
        pytest.skip("scikit-learn's scorer takes neither several targets nor weights")
    X, y, _ = regression(2, n=30, p=5, k=targets, noise=4.0)
    s = weights(2, 30) if weighted else None
    parameters = {"alphas": ALPHAS, "scoring": scoring, "store_cv_results": True}
    theirs = peers.RidgeCV(**parameters).fit(X, y, s)
    ours = RidgeCV(**parameters).fit(X, y, s)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert ours.cv_results_.shape == theirs.cv_results_.shape
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-8)
    assert "was not recomputed" in ours.certificate_.explain()


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_penalty_for_each_target_agrees_with_scikit_learn(scoring, weighted):
    rng = np.random.default_rng(0)
    X, y, _ = regression(2, n=30, p=8, k=3, noise=0.1)
    y = y + np.array([0.0, 5.0, 50.0]) * rng.normal(size=(30, 3))
    s = weights(2, 30) if weighted else None
    parameters = {"alphas": ALPHAS, "alpha_per_target": True, "scoring": scoring}
    theirs = peers.RidgeCV(**parameters).fit(X, y, s)
    ours = RidgeCV(**parameters).fit(X, y, s)
    assert len(set(ours.alpha_)) > 1, "the targets want the same: a weak test"
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert ours.certificate_.certified


@pytest.mark.parametrize(
    "cv",
    [2, 5, KFold(4, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)],
    ids=str,
)
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_folds_agree_with_scikit_learn(cv, scoring, weighted):
    X, y, _ = regression(2, n=40, p=8, noise=8.0)
    s = weights(2, 40) if weighted else None
    parameters = {"alphas": ALPHAS, "cv": cv, "scoring": scoring}
    theirs = peers.RidgeCV(**parameters).fit(X, y, s)
    ours = RidgeCV(**parameters).fit(X, y, s)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert ours.certificate_.certified


def test_groups_reach_the_splitter_when_routing_is_on():
    X, y, _ = regression(2, n=40, p=4, noise=8.0)
    groups = np.arange(40) % 5
    with config_context(enable_metadata_routing=True):
        theirs = peers.RidgeCV(alphas=ALPHAS, cv=GroupKFold(5)).fit(X, y, groups=groups)
        ours = RidgeCV(alphas=ALPHAS, cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-8)


# --- the choice -----------------------------------------------------------------------------------


def test_the_first_of_equal_penalties_wins():
    X, y, _ = regression(2)
    model = RidgeCV(alphas=[3.0, 3.0, 3.0]).fit(X, y)
    assert model.alpha_ == 3.0
    assert model.certificate_.certified


def test_the_order_of_penalties_does_not_matter():
    X, y, _ = regression(2, n=20, noise=5.0)
    up, down = RidgeCV(alphas=ALPHAS).fit(X, y), RidgeCV(alphas=ALPHAS[::-1]).fit(X, y)
    assert up.alpha_ == down.alpha_
    np.testing.assert_array_equal(up.coef_, down.coef_)


@pytest.mark.parametrize("alphas", [2.0, [2.0], (2,), np.array([2.0])], ids=repr)
def test_one_penalty_is_ridge(alphas):
    X, y, _ = regression(2)
    model = RidgeCV(alphas=alphas).fit(X, y)
    ridge = Ridge(alpha=2.0).fit(X, y)
    assert model.alpha_ == 2.0
    assert isinstance(model.alpha_, float)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-12)


def test_noise_wants_a_large_penalty_and_signal_a_small_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10))
    assert RidgeCV(alphas=ALPHAS).fit(X, rng.normal(size=40)).alpha_ == 100.0
    assert RidgeCV(alphas=ALPHAS).fit(X, X.sum(axis=1)).alpha_ == 0.01


def test_a_hundred_penalties_and_many_rows():
    X, y, _ = regression(2, n=5000, p=10, noise=30.0)
    alphas = np.geomspace(1e-3, 1e6, 100)
    model = RidgeCV(alphas=alphas).fit(X, y)
    assert model.certificate_.certified
    theirs = peers.RidgeCV(alphas=alphas).fit(X, y)
    assert model.alpha_ == theirs.alpha_
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8)


def test_a_second_fit_without_errors_kept_forgets_them():
    X, y, _ = regression(2)
    model = RidgeCV(store_cv_results=True).fit(X, y)
    assert model.cv_results_.shape == (60, 3)
    model.set_params(store_cv_results=False).fit(X, y)
    assert not hasattr(model, "cv_results_")


def test_errors_of_rows_of_weight_zero_are_zero():
    X, y, _ = regression(2)
    s = weights(2, 60)
    s[::4] = 0
    model = RidgeCV(store_cv_results=True).fit(X, y, s)
    np.testing.assert_array_equal(model.cv_results_[::4], 0.0)
    assert model.certificate_.certified


# --- hard data ------------------------------------------------------------------------------------


def left_out_by_rows(X, y, s, alpha):
    """Σ s e² by n fits through the n×n matrix of the rows, for many columns."""
    total = 0.0
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        share = s[rest] / s[rest].sum()
        mean, mean_y = share @ X[rest], share @ y[rest]
        Z = np.sqrt(s[rest])[:, None] * (X[rest] - mean)
        a = np.linalg.solve(
            Z @ Z.T + alpha * np.eye(len(rest)), np.sqrt(s[rest]) * (y[rest] - mean_y)
        )
        total += s[i] * (y[i] - mean_y - (X[i] - mean) @ (Z.T @ a)) ** 2
    return total


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
def test_penalties_that_are_small_beside_many_columns_keep_their_digits(alpha, weighted):
    """n ≪ p: λ ≈ p while α is tiny, so 1 − h_ii ≈ α/λ must not be a difference of ones."""
    X, y, _ = regression(3, n=12, p=3000)
    s = weights(3, 12) if weighted else np.ones(12)
    path = leave_one_out(Rows(X, y[:, None], s), np.array([alpha]), True, keep_errors=False)
    truth = left_out_by_rows(X, y, s, alpha)
    np.testing.assert_allclose(path.squares[0, 0], truth, rtol=1e-6)
    assert RidgeCV(alphas=[alpha, 10 * alpha]).fit(X, y, s).certificate_.certified


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("shape", [(30, 4), (6, 30)], ids=str)
def test_a_far_origin_changes_neither_choice_nor_score(shape, offset):
    X, y, _ = regression(3, *shape, noise=3.0)
    there, here = RidgeCV(alphas=ALPHAS).fit(X + offset, y), RidgeCV(alphas=ALPHAS).fit(X, y)
    assert there.certificate_.certified
    assert there.alpha_ == here.alpha_
    assert there.best_score_ == pytest.approx(here.best_score_, rel=1e-6)


@pytest.mark.parametrize("columns", ["one", "all"])
@pytest.mark.parametrize("size", [1e-70, 1e-20, 1e20, 1e70])
def test_columns_of_any_size_are_certified(size, columns):
    X, y, _ = regression(3, noise=2.0)
    d = np.full(4, size) if columns == "all" else np.array([1, 1, 1, size])
    alphas = ALPHAS if columns == "one" else ALPHAS * size**2
    model = RidgeCV(alphas=alphas).fit(X * d, y)
    assert model.certificate_.certified
    if columns == "all":
        same = RidgeCV(alphas=ALPHAS).fit(X, y)
        np.testing.assert_allclose(model.coef_ * size, same.coef_, rtol=1e-8)
        assert model.best_score_ == pytest.approx(same.best_score_, rel=1e-8)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("p", [1, 4])
def test_two_and_three_rows_have_a_choice(n, p):
    X, y = np.arange(1.0, n * p + 1).reshape(n, p) ** 2, np.arange(n) ** 2.0
    model = RidgeCV(alphas=ALPHAS).fit(X, y)
    scores = [-left_out_squares(X, y, None, a).mean() for a in ALPHAS]
    assert model.best_score_ == pytest.approx(max(scores), rel=1e-6)
    assert model.certificate_.certified


def test_zero_is_refused_for_leave_one_out_with_the_remedy_and_taken_with_folds():
    X, y, _ = regression(3)
    with pytest.raises(ValueError, match="leave-one-out needs penalties above 0"):
        RidgeCV(alphas=[0.0, 1.0]).fit(X, y)
    model = RidgeCV(alphas=[0.0, 1.0], cv=3).fit(X, y)
    assert model.certificate_.certified


@pytest.mark.parametrize("alphas", [[], [[1.0, 2.0]], [-1.0], [np.nan], ["a"], None])
def test_penalties_that_are_none_are_refused(alphas):
    X, y, _ = regression(3)
    with pytest.raises(ValueError, match="alphas"):
        RidgeCV(alphas=alphas).fit(X, y)


def test_aliased_columns_share_and_no_warning_is_needed():
    X, y, _ = regression(3)
    model = RidgeCV(alphas=ALPHAS).fit(np.column_stack([X, X[:, 0]]), y)
    assert model.coef_[0] == pytest.approx(model.coef_[4], rel=1e-8)
    assert model.certificate_.certified


def test_the_certificate_says_what_was_left_out():
    X, y, _ = regression(3)
    model = RidgeCV(alphas=ALPHAS).fit(X, y)
    text = model.certificate_.explain()
    assert "Left out       mean squared error on rows left out" in text
    assert "the least over alphas" in text
    folds = RidgeCV(alphas=ALPHAS, cv=3).fit(X, y)
    assert (
        "the choice of alpha_ (by cv or scoring) was not recomputed" in folds.certificate_.explain()
    )


def test_verify_refuses_the_best_penalty_with_another_ones_score():
    X, y, _ = regression(3, n=20, noise=5.0)
    model = RidgeCV(alphas=ALPHAS, store_cv_results=True).fit(X, y)
    model.best_score_ = -model.cv_results_.mean(axis=0)[0]
    c = certus.verify(model, X, y)
    assert c.status == "contradicted"
    assert "best_score_" in repr(c)
