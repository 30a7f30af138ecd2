"""Ctrl-C in fits of classes, penalties and grids: what is kept of the parts that are done."""

import importlib

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import certus
from certus.feature_selection import NCFSClassifierCV
from certus.linear_model import PenalizedClassifier, Ridge, RidgeCV
from certus.solvers.glm.newton import Newton
from certus.svm import LSSVC, LSSVCCV, LinearSVC


@pytest.fixture
def interrupted(monkeypatch):
    """A fit that is interrupted at the call after so many of a function or method."""

    def fit(model, data, where, name, times, threads=1):
        owner = importlib.import_module(where) if isinstance(where, str) else where
        function, calls = getattr(owner, name), [0]

        def counted(*args, **kwargs):
            calls[0] += 1
            if calls[0] > times:
                raise KeyboardInterrupt
            return function(*args, **kwargs)

        with monkeypatch.context() as patch, certus.config_context(threads=threads):
            patch.setattr(owner, name, counted)
            with pytest.raises(KeyboardInterrupt) as caught:
                model.fit(*data)
        return getattr(caught.value, "__notes__", [""])[0]

    return fit


@pytest.fixture
def classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    return X, np.digitize(X[:, 0] + 0.3 * rng.normal(size=90), [-0.8, 0.0, 0.8])


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, X[:, 0] - X[:, 1] + rng.normal(size=60)


def is_stopped(model, X, note):
    assert (model.certificate_.status, model.certificate_.certified) == ("stopped", False)
    assert note in model.certificate_.explain()
    assert model.predict(X).shape == (len(X),)
    assert "_monitor" not in vars(model)


# --- one class after another ----------------------------------------------------------------------


ONE_CLASS = [
    (PenalizedClassifier("squared_hinge"), "certus.linear_model._classifier", "solve"),
    (LinearSVC(), "certus.linear_model._classifier", "solve"),
    (LinearSVC(loss="hinge"), "certus.solvers.hinge.dispatch", "solve"),
]
each_model = pytest.mark.parametrize(("model", "where", "name"), ONE_CLASS, ids=str)


@each_model
def test_the_classes_that_are_done_are_kept(interrupted, classes, model, where, name):
    X, y = classes
    notes = interrupted(model, classes, where, name, 2)
    note = "after 2 of 4 classes; the best fit so far of each was kept, 2 of them at their start"
    assert note in notes
    is_stopped(model, X, note)
    finished = type(model)(**model.get_params()).fit(X, y)
    np.testing.assert_array_equal(model.coef_[:2], finished.coef_[:2])
    np.testing.assert_array_equal(model.coef_[2:], np.zeros((2, 4)))
    assert np.ndim(model.n_iter_) == np.ndim(finished.n_iter_)


@each_model
def test_before_the_first_class_nothing_is_kept(interrupted, classes, model, where, name):
    model = type(model)(**model.get_params())
    before = dict(vars(model))
    assert interrupted(model, classes, where, name, 0) == ""
    assert vars(model) == before


def test_steps_of_a_class_that_is_not_done_are_kept(classes, interrupted):
    model = PenalizedClassifier("squared_hinge", solver="newton")
    notes = interrupted(model, classes, Newton, "step", 2)
    assert "after 0 of 4 classes; the best fit so far of each was kept, 3 of them at their" in notes
    assert model.coef_[0].any()
    assert not model.coef_[1:].any()


@each_model
def test_a_finished_fit_is_as_it_was(classes, model, where, name):
    finished = type(model)(**model.get_params()).fit(*classes)
    assert finished.certificate_.certified
    assert finished.coef_.shape == (4, 4)


# --- RidgeCV by folds -----------------------------------------------------------------------------


def test_of_a_ridge_by_folds_the_best_complete_alpha_is_kept(interrupted, numbers):
    X, y = numbers
    model = RidgeCV(alphas=[1e4, 0.1, 1e6], cv=3)
    notes = interrupted(model, numbers, Ridge, "fit", 7)  # three folds each
    note = "after 2 of 3 values of alpha; the model of a fold at the best so far was kept"
    assert note in notes
    is_stopped(model, X, note)
    assert model.alpha_ == 0.1
    expected = Ridge(0.1).fit(X[:40], y[:40])  # the last fold leaves the last rows out
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert 0 < model.best_score_ < 1


def test_at_the_first_alpha_of_a_ridge_its_last_fold_is_kept(interrupted, numbers):
    X, y = numbers
    model = RidgeCV(alphas=[10.0, 0.1], cv=3)
    notes = interrupted(model, numbers, Ridge, "fit", 1)
    assert "at the first alpha, before any was chosen; the model of its last fold was kept" in notes
    assert (model.alpha_, np.isnan(model.best_score_)) == (10.0, True)
    np.testing.assert_array_equal(model.coef_, Ridge(10.0).fit(X[20:], y[20:]).coef_)


def test_after_all_folds_of_a_ridge_the_best_of_all_is_kept(interrupted, numbers):
    model = RidgeCV(alphas=[1e4, 1e6, 0.1], cv=3)
    notes = interrupted(model, numbers, RidgeCV, "_solve", 0)
    assert "after 3 of 3 values of alpha" in notes
    assert model.alpha_ == 0.1


def by_hand(model, X, y, sample_weight=None):
    return model.score(X, y, sample_weight)


@pytest.mark.parametrize("scoring", [None, "r2", by_hand])
def test_folds_of_a_ridge_are_scored_as_the_scorer_alone_does(numbers, scoring):
    """The search asks a scorer whether it takes weights: so must who stands in for it."""
    X, y = numbers
    s = np.random.default_rng(1).uniform(size=len(y))
    alphas = [0.1, 10.0, 1e3]
    model = RidgeCV(alphas=alphas, cv=3, scoring=scoring).fit(X, y, sample_weight=s)
    search = GridSearchCV(Ridge(), {"alpha": alphas}, cv=3, scoring=scoring)
    search.fit(X, y, sample_weight=s)
    assert model.best_score_ == search.best_score_


def test_before_the_first_fold_of_a_ridge_nothing_is_kept(interrupted, numbers):
    model = RidgeCV(cv=3)
    before = dict(vars(model))
    assert interrupted(model, numbers, Ridge, "fit", 0) == ""
    assert vars(model) == before


# --- LSSVCCV --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("Cs", "threads"), [(6, 1), (6, 2), (3, 1)])  # together, one by one
def test_of_a_grid_the_model_of_the_best_pair_is_kept(interrupted, classes, Cs, threads):
    X, y = classes
    model = LSSVCCV(Cs=Cs, gammas=4)
    scoring = "certus.solvers.lssvm.grid_search"
    notes = interrupted(
        model, classes, scoring, "left_out_scores" if Cs == 6 else "solve", 8, threads
    )
    assert f"of {4 * Cs} pairs of C and gamma; the model of the best so far was kept" in notes
    is_stopped(model, X, "the best so far was kept")
    known = np.isfinite(model.scores_)
    assert 1 <= known.sum() <= 8
    assert model.best_score_ == np.nanmax(model.scores_)
    expected = LSSVC(C=model.C_, gamma=model.gamma_).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-6, atol=1e-9)
    assert model.objective_ == pytest.approx(expected.objective_)
    assert model.condition_ == pytest.approx(expected.condition_)
    assert model.loo_accuracy_ == pytest.approx(expected.loo_accuracy_)
    assert certus.verify(model, X, y).residual < 1e-6, "the model is what it is"


def test_before_the_first_pair_of_a_grid_nothing_is_kept(interrupted, classes):
    model = LSSVCCV(Cs=6, gammas=2)
    before = dict(vars(model))
    where = "certus.solvers.lssvm.grid_search"
    assert interrupted(model, classes, where, "left_out_scores", 0) == ""
    assert vars(model) == before


# --- NCFSClassifierCV -----------------------------------------------------------------------------


def test_of_feature_selection_the_mean_weights_of_complete_folds_are_kept(interrupted, classes):
    X, _ = classes
    model = NCFSClassifierCV(alphas=3, cv=3)
    notes = interrupted(model, classes, "certus.feature_selection.ncfs_cv", "_score", 9)
    note = "after 2 of 3 folds; the mean weights of their fits at the best alpha so far were kept"
    assert note in notes  # four scores a fold: three alphas, and no columns
    is_stopped(model, X, note)
    assert model.scores_.shape == model.n_selected_.shape == (3, 2)
    assert model.alpha_ == model.alphas_[model.chosen_index_]
    assert model.chosen_index_ == model.scores_.mean(axis=1).argmax()
    assert model.weights_[0] == model.weights_.max()
    assert model.table().columns


def test_in_the_first_fold_of_feature_selection_the_last_fit_is_kept(interrupted, classes):
    X, _ = classes
    model = NCFSClassifierCV(alphas=3, cv=3)
    notes = interrupted(model, classes, NCFSClassifierCV, "_solve", 1)
    assert "in the first fold; the last model of its path was kept, and its alpha" in notes
    is_stopped(model, X, "its alpha was not chosen")
    assert model.alpha_ == model.alphas_[-1], "from the weakest to the strongest"
    assert model.weights_.any()
    assert model.scores_.shape == (3, 0)


def test_before_the_first_fit_of_feature_selection_nothing_is_kept(interrupted, classes):
    model = NCFSClassifierCV(alphas=3, cv=3)
    before = dict(vars(model))
    assert interrupted(model, classes, NCFSClassifierCV, "_solve", 0) == ""
    assert vars(model) == before


def test_an_old_model_is_replaced_whole(interrupted, classes):
    X, y = classes
    model = LSSVCCV(Cs=6, gammas=2).fit(X, y)
    before = model.certificate_
    interrupted(model, (X[::2], y[::2]), "certus.solvers.lssvm.grid_search", "left_out_scores", 3)
    assert model.certificate_ is not before
    assert model.certificate_.shape == (45, 4)
    assert len(model.X_fit_) == 45
