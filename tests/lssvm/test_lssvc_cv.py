"""LSSVCCV: C and γ by exact leave-one-out."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    log_loss,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import MinMaxScaler

import certus
from certus.svm import LSSVC, LSSVCCV
from tests.contract.problems import weights
from tests.lssvm.svm_cases import blobs

Cs, GAMMAS = [0.1, 1.0, 50.0], [0.02, 0.5]


def refits(X, y, C, gamma, **options):
    """Scores of each row by the model fitted without it."""
    return cross_val_predict(
        LSSVC(C, gamma=gamma, loo=False, **options),
        X,
        y,
        cv=LeaveOneOut(),
        method="decision_function",
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_those_of_refits_without_each_row(classes):
    X, y = blobs(1, n=30, classes=classes, shift=0.7)
    model = LSSVCCV(Cs, GAMMAS, scoring="mse").fit(X, y)
    Y = np.where(y[:, None] == np.arange(1 if classes == 2 else 0, classes), 1.0, -1.0)
    for g, gamma in enumerate(GAMMAS):
        for c, C in enumerate(Cs):
            f = refits(X, y, C, gamma).reshape(Y.shape)
            assert model.scores_[g, c] == pytest.approx(-np.mean((Y - f) ** 2), rel=1e-9)
    g, c = np.unravel_index(model.scores_.argmax(), model.scores_.shape)
    assert (model.C_, model.gamma_) == (Cs[c], GAMMAS[g])
    assert model.best_score_ == model.scores_.max()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "geometric_mean", "log"])
def test_each_score_is_what_its_name_says(scoring, classes):
    X, y = blobs(2, n=60, classes=classes, shift=0.7, share=0.3)
    s = weights(2, len(X))
    model = LSSVCCV(Cs, GAMMAS, scoring=scoring).fit(X, y, s)
    f = model.loo_scores_
    message = (f > 0) * 1 if classes == 2 else f.argmax(axis=1)
    if scoring == "log":
        P = np.exp(f - f.max()) if classes == 3 else 1 / (1 + np.exp(-f))
        if classes == 3:
            P = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
        expected = -log_loss(y, P, sample_weight=s)
    elif scoring == "geometric_mean":
        expected = np.prod(recall_score(y, message, average=None, sample_weight=s)) ** (1 / classes)
    else:
        own = {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score}[scoring]
        expected = own(y, message, sample_weight=s)
    assert model.best_score_ == pytest.approx(expected, rel=1e-9)


def test_a_function_of_labels_and_scores_is_taken():
    X, y = blobs(3, n=60, shift=0.5)
    y = np.array(["no", "yes"])[y]
    model = LSSVCCV(Cs, GAMMAS, scoring=roc_auc_score).fit(X, y)
    assert model.best_score_ == pytest.approx(roc_auc_score(y, model.loo_scores_))


def test_the_model_is_lssvc_at_what_was_chosen():
    X, y = load_iris(return_X_y=True)
    s = weights(1, len(X))
    model = LSSVCCV(class_weight="balanced").fit(X, y, s)
    twin = LSSVC(model.C_, gamma=model.gamma_, class_weight="balanced").fit(X, y, s)
    np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)
    assert model.loo_accuracy_ == twin.loo_accuracy_ == pytest.approx(model.best_score_)
    assert certus.verify(model, X, y, s).status == "optimal"


def test_the_grid_by_default_is_around_scale():
    X, y = load_wine(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    model = LSSVCCV().fit(X, y)
    scale = 1 / (13 * X.var())
    np.testing.assert_allclose(model.gammas_, scale * np.geomspace(0.01, 100, 10))
    np.testing.assert_allclose(model.Cs_, np.geomspace(0.01, 1e4, 10))
    assert model.scores_.shape == (10, 10)
    assert model.best_score_ > 0.98


@pytest.mark.parametrize(
    ("options", "gammas"),
    [
        ({"gammas": "auto"}, [1 / 3]),
        ({"gammas": [3.0, 0.1, 3.0]}, [0.1, 3.0]),
        ({"gammas": 0.7}, [0.7]),
        ({"kernel": "linear"}, [1.0]),
        ({"kernel": lambda A, B: A @ B.T}, [1.0]),
    ],
)
def test_what_is_tried_is_ascending_and_each_once(options, gammas):
    X, y = blobs(4)
    model = LSSVCCV(Cs=[5, 1, 5], **options).fit(X, y)
    np.testing.assert_allclose(model.gammas_, gammas)
    np.testing.assert_array_equal(model.Cs_, [1.0, 5.0])


def test_of_equal_scores_the_smoothest_is_taken():
    X, y = blobs(5, shift=30.0)  # all is right everywhere
    model = LSSVCCV(Cs=[1.0, 10.0], gammas=[1e-4, 1e-3]).fit(X, y)
    assert (model.scores_ == 1).all()
    assert (model.C_, model.gamma_) == (1.0, 1e-4)


def test_a_kernel_matrix_has_its_C_chosen():
    X, y = blobs(6, shift=1.0)
    given = LSSVCCV(Cs, kernel="precomputed", scoring="mse").fit(X @ X.T, y)
    named = LSSVCCV(Cs, kernel="linear", scoring="mse").fit(X, y)
    np.testing.assert_allclose(given.scores_, named.scores_, rtol=1e-7)
    assert given.C_ == named.C_


def test_rows_of_weight_zero_are_scored_by_nobody():
    X, y = blobs(7, shift=1.0)
    s = np.where(np.arange(len(X)) < 5, 0.0, 1.0)
    here = LSSVCCV(Cs, GAMMAS, scoring="mse").fit(X, y, s)
    there = LSSVCCV(Cs, GAMMAS, scoring="mse").fit(X[5:], y[5:])
    np.testing.assert_allclose(here.scores_, there.scores_, rtol=1e-9)


def test_no_score_anywhere_is_an_error():
    X, y = blobs(8)
    with pytest.raises(ValueError, match="the scorer returned NaN for each"):
        LSSVCCV(Cs, GAMMAS, scoring=lambda y, f: np.nan).fit(X, y)


# --- for people -----------------------------------------------------------------------------------


def test_the_table_has_the_best_C_for_each_gamma_and_says_what_to_try():
    X, y = blobs(9, shift=0.7)
    model = LSSVCCV(Cs=[1.0, 2.0], gammas=[0.01, 0.1, 1.0], scoring="mse").fit(X, y)
    table = model.table()
    assert table.columns == ("gamma", "best C", "mse", "")
    np.testing.assert_allclose(table["mse"], model.scores_.max(axis=1))
    assert list(table[""]).count("taken") == 1
    assert "The best C is the" in str(table)  # of two, one is at an end
    assert "the largest of 6: expect slightly less on new rows" in str(table).replace("\n  ", " ")


@pytest.mark.parametrize("gammas", [[0.1], [0.1, 1.0]])
def test_the_picture_marks_what_was_taken(gammas):
    import matplotlib.pyplot as plt

    X, y = blobs(9)
    model = LSSVCCV(Cs, gammas).fit(X, y)
    display = model.plot()
    (x,), (height,) = display.best_.get_data()
    assert x == model.C_
    assert height == (model.best_score_ if len(gammas) == 1 else model.gamma_)
    assert display.ax_.get_xscale() == "log"
    assert f"C = {model.C_:g}" in display.ax_.get_legend().get_texts()[0].get_text()
    plt.close(display.figure_)


@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")
def test_scores_of_singular_systems_are_not_recomputed():
    rng = np.random.default_rng(2)  # rows for which a matrix of the grid has no inverse in float64
    X, s = rng.normal(size=(11, 1)) * 1e119, 1e12 * rng.uniform(0.6, 1.9, 11)
    model = LSSVCCV(Cs=3, gammas=3).fit(X, np.arange(11) % 2, sample_weight=s)
    assert certus.verify(model, X, np.arange(11) % 2, s).status == model.certificate_.status
