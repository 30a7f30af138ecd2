"""Ctrl-C in a fit that consists of many: what is kept of the folds that are done."""

import _thread
import threading

import numpy as np
import pytest

import certus
from certus.linear_model import (
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
)


class After:
    """A function that works some times, and is then interrupted."""

    def __init__(self, function, times):
        self.function, self.left = function, times

    def __call__(self, *args, **kwargs):
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return self.function(*args, **kwargs)


@pytest.fixture
def interrupted(monkeypatch):
    def fit(model, data, where, times, threads=1):
        module, name = where.rsplit(".", 1)
        function = getattr(__import__(module, fromlist=[name]), name)
        monkeypatch.setattr(where, After(function, times))
        with certus.config_context(threads=threads), pytest.raises(KeyboardInterrupt) as caught:
            model.fit(*data)
        return caught.value

    return fit


@pytest.fixture
def regression_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    return X, X[:, 0] - X[:, 1] + rng.normal(size=90)


@pytest.fixture
def labels(regression_data):
    X, y = regression_data
    return X, np.digitize(y, [-1.0, 1.0])


ERRORS = "certus.solvers.lasso.elastic_net_cv.mean_errors"
ONE_FIT = "certus.solvers.lasso.elastic_net_path.solve"
SCORE = "certus.linear_model.logistic_cv.fold_score"
ONE_C = "certus.solvers.glm.path.solve"


def is_a_stopped_model(model, X, note):
    assert (model.certificate_.status, model.certificate_.certified) == ("stopped", False)
    assert note in model.certificate_.explain()
    assert model.predict(X).shape == (len(X),)
    assert np.isfinite(model.certificate_.objective)


@pytest.mark.parametrize("threads", [1, 2])
def test_of_a_lasso_the_best_alpha_of_complete_folds_is_kept(interrupted, regression_data, threads):
    X, y = regression_data
    model = LassoCV(cv=5, alphas=20)
    error = interrupted(model, (X, y), ERRORS, 2, threads)
    note = "of 5 folds; the model of one fold at the best alpha so far was kept"
    assert note in error.__notes__[0]
    is_a_stopped_model(model, X, note)
    done = np.isfinite(model.mse_path_).all(axis=0)
    assert 1 <= done.sum() <= 2, "errors of the other folds are not known"
    best = model.mse_path_[:, done].mean(axis=1).argmin()
    assert model.alpha_ == model.alphas_[best]


def test_the_coefficients_kept_are_those_of_a_complete_folds_training_rows(
    interrupted, regression_data
):
    X, y = regression_data
    model = LassoCV(cv=5, alphas=20)
    interrupted(model, (X, y), ERRORS, 2)
    train = np.r_[0:18, 36:90]  # the second fold leaves rows 18 to 35 out
    expected = Lasso(model.alpha_).fit(X[train], y[train])
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
    assert model.certificate_.objective < ((y - y.mean()) ** 2).mean() / 2


def test_in_the_first_fold_of_a_lasso_the_last_fit_is_kept(interrupted, regression_data):
    X, y = regression_data
    model = ElasticNetCV(cv=5, alphas=20, l1_ratio=[0.5, 0.9])
    error = interrupted(model, (X, y), ONE_FIT, 7)
    assert "in the first folds; the last model of a path was kept" in error.__notes__[0]
    is_a_stopped_model(model, X, "at an alpha not yet chosen")
    assert model.alpha_ == model.alphas_[0][6]
    assert model.l1_ratio_ == 0.5


def test_before_the_first_fit_of_a_path_nothing_is_kept(interrupted, regression_data, labels):
    for model, data, where in (
        (LassoCV(), regression_data, ONE_FIT),
        (LogisticRegressionCV(), labels, ONE_C),
    ):
        error = interrupted(model, data, where, 0)
        assert not hasattr(model, "coef_")
        assert not hasattr(error, "__notes__")


def test_in_the_fit_of_all_rows_its_own_steps_are_kept(interrupted, regression_data):
    X, y = regression_data
    model = LassoCV(cv=5, alphas=20)
    error = interrupted(model, (X, y), "certus.linear_model.elastic_net.certify", 0)
    # the check after Ctrl-C is interrupted as well: the model stays, without a certificate
    assert "the best one so far was kept" in error.__notes__[0]
    assert np.isfinite(model.mse_path_).all()
    assert model.coef_.any()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_of_a_logistic_model_the_mean_of_complete_folds_is_kept(interrupted, labels, fit_intercept):
    X, y = labels
    model = LogisticRegressionCV(cv=3, Cs=4, fit_intercept=fit_intercept)
    model.set_params(use_legacy_attributes=False)
    error = interrupted(model, (X, y), SCORE, 9)  # four scores a fold
    note = "after 2 of 3 folds; the mean of their models at the best C so far was kept"
    assert note in error.__notes__[0]
    is_a_stopped_model(model, X, note)
    done = model.scores_[:2, 0]
    a = done.sum(axis=0).argmax()
    assert model.Cs_[a] == model.C_
    mean = model.coefs_paths_[:2, 0, a].mean(axis=0)
    np.testing.assert_array_equal(model.coef_, mean[:, : X.shape[1]])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.5


def test_in_the_first_fold_of_a_logistic_model_the_last_fit_is_kept(interrupted, labels):
    X, y = labels
    model = LogisticRegressionCV(cv=3, Cs=[10.0, 0.1, 1.0])
    error = interrupted(model, (X, y), ONE_C, 2)
    assert "in the first fold; the last model of its path was kept" in error.__notes__[0]
    is_a_stopped_model(model, X, "whose C was not chosen")
    assert np.all(model.C_ == 1.0), "C goes from small to large"


def test_an_old_model_is_replaced_whole(interrupted, labels):
    """A kept model must not wear the certificate, or the paths, of an earlier fit."""
    X, y = labels
    model = LogisticRegressionCV(cv=3, Cs=4).fit(X, y)
    before = model.certificate_, model.scores_
    interrupted(model, (X[::2], y[::2]), SCORE, 5)
    assert model.certificate_ is not before[0]
    assert model.certificate_.status == "stopped"
    assert model.scores_ is not before[1]


def test_a_finished_fit_is_what_it_is_without_any_of_this(labels):
    X, y = labels
    model = LogisticRegressionCV(cv=3, Cs=4).fit(X, y)
    same = LogisticRegression(C=float(np.ravel(model.C_)[0])).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-3)
    assert model.certificate_.certified


# --- calls of LAPACK ------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["solver", "certificate"])
def test_ctrl_c_does_not_wait_for_the_algebra_of_wide_rows(monkeypatch, where):
    """The main thread listens while another is in LAPACK, however long that takes."""
    begun, end, ended = threading.Event(), threading.Event(), threading.Event()

    def long(*args, **kwargs):
        begun.set()
        end.wait(120)  # as LAPACK does: it holds no lock that Python needs, and does not listen
        ended.set()
        raise RuntimeError("nobody hears this")

    if where == "solver":
        from certus.solvers.least_squares import least_squares as module
    else:
        from certus.proofs.least_squares import least_squares as module
    name = {"solver": "all_rows_scaled", "certificate": "check"}[where]
    monkeypatch.setattr(module, name, long)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 900)), rng.normal(size=300)
    model = LinearRegression()
    before = dict(vars(model))

    def press():
        begun.wait(60)
        _thread.interrupt_main()

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not ended.is_set(), "it is still at it, and nobody waits"
    assert vars(model) == before, "a fit that does not iterate leaves the model as it was"
    end.set()
    assert ended.wait(60)


def test_the_bits_do_not_depend_on_who_listens():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 400)), rng.normal(size=300)
    found = []

    def fit():
        found.append(Ridge(0.1).fit(X, y))

    fit()  # the main thread listens
    elsewhere = threading.Thread(target=fit)  # nobody does
    elsewhere.start()
    elsewhere.join()
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    assert found[0].certificate_.gap == found[1].certificate_.gap
