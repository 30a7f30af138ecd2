"""Paths of lasso and elastic net, against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers

from certus.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV
from tests.lasso.elastic_net_cases import TIGHT, draw, wide


@wide
@pytest.mark.parametrize("positive", [False, True])
def test_a_path_is_that_of_scikit_learn(shape, positive):
    X, y = draw(shape)
    X, y = X - X.mean(axis=0), y - y.mean()
    how = {"alphas": 12, "eps": 0.02, "positive": positive}
    alphas, coefs, gaps = Lasso.path(X, y, **how)
    theirs = peers.lasso_path(X, y, **how, **TIGHT)
    np.testing.assert_allclose(alphas, theirs[0], rtol=1e-10)
    np.testing.assert_allclose(coefs, theirs[1], atol=2e-3)
    assert (gaps <= 1e-6 * (y @ y) / len(y)).all()
    for alpha, w, gap in zip(alphas, coefs.T, gaps, strict=True):
        f = [
            ((y - X @ v) ** 2).sum() / (2 * len(y)) + alpha * np.abs(v).sum()
            for v in (w, theirs[1].T[0])
        ]
        assert gap >= -1e-12
        assert f[0] <= f[1] + 1e-12
    again = ElasticNet.path(X, y, l1_ratio=1.0, alphas=alphas[::-1], positive=positive)
    np.testing.assert_array_equal(again[0], alphas)
    with_steps = Lasso.path(X, y, alphas=alphas, return_n_iter=True)
    assert len(with_steps[3]) == 12


def test_a_path_of_two_targets():
    X, Y = draw((60, 8), k=2)
    _, coefs, gaps = ElasticNet.path(X, Y, alphas=[1.0, 0.1])
    assert coefs.shape == (2, 8, 2)
    assert gaps.shape == (2, 2)
    alone = ElasticNet.path(X, Y[:, 1], alphas=[1.0, 0.1])
    np.testing.assert_allclose(coefs[1], alone[1], atol=1e-12)


def test_a_path_counts_the_working_sets_of_every_target():
    X, Y = draw((60, 8), k=2)
    Y[:, 0] = 0.0  # nothing to do
    *_, n_iters = ElasticNet.path(X, Y, alphas=[1.0, 0.1], return_n_iter=True)
    *_, alone = ElasticNet.path(X, Y[:, 1], alphas=[1.0, 0.1], return_n_iter=True)
    assert n_iters == [[0, 0], alone]
    assert min(alone) > 0


@wide
def test_a_path_begins_where_it_is_told_to_target_by_target(shape):
    X, Y = draw(shape, k=2)
    _, there, _ = Lasso.path(X, Y, alphas=[0.1])
    how = {"alphas": [0.1], "return_n_iter": True}
    for coef_init in (there[:, :, 0], there[0, :, 0]):  # of each target, one for all
        _, coefs, gaps, _ = Lasso.path(X, Y, coef_init=coef_init, **how)
        np.testing.assert_allclose(coefs, there, atol=1e-4)
        assert (gaps <= 1e-6 * np.mean(Y**2, axis=0)[:, None]).all()
    assert Lasso.path(X, Y, coef_init=there[:, :, 0], **how)[3] == [[0], [0]]
    with pytest.raises(ValueError, match=r"coef_init has shape \(3,\): give"):
        Lasso.path(X, Y, coef_init=np.zeros(3))


@pytest.mark.parametrize("model", [Lasso, LassoCV, ElasticNet, ElasticNetCV])
@pytest.mark.parametrize("keyword", ["alpha", "X_offset", "fit_intercept"])
def test_a_path_names_a_keyword_that_it_does_not_know(model, keyword):
    X, y = draw((20, 3))
    with pytest.raises(TypeError, match=f"'{keyword}'"):
        model.path(X, y, **{keyword: 1.0})


def test_what_a_path_accepts_for_scikit_learns_sake_changes_nothing():
    X, y = draw((60, 8))
    ignored = {"precompute": True, "Xy": X.T @ y, "copy_X": False, "verbose": True,
               "check_input": False, "random_state": 0, "selection": "random",
               "do_screening": False}  # fmt: skip
    plain, with_ignored = Lasso.path(X, y, alphas=[0.1]), Lasso.path(X, y, alphas=[0.1], **ignored)
    np.testing.assert_array_equal(plain[1], with_ignored[1])


@pytest.mark.parametrize("alphas", [0, -3, [], [-1.0], [[1.0]], ["a"], [np.nan]])
def test_grids_that_are_none(alphas):
    X, y = draw((20, 3))
    with pytest.raises(ValueError, match="alphas"):
        Lasso.path(X, y, alphas=alphas)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"l1_ratio": 1.5}, r"l1_ratio=1\.5: give a number from 0"),
        ({"l1_ratio": -0.5}, r"l1_ratio=-0\.5: give a number from 0"),
        ({"l1_ratio": np.nan}, "l1_ratio=nan: give a number from 0"),
        ({"max_iter": 0}, "max_iter=0: give a whole number above 0"),
        ({"tol": -1}, "tol=-1: give a finite number that is not negative"),
        ({"tol": np.nan}, "tol=nan: give a finite number"),
        ({"positive": "no"}, "positive='no': give True or False"),
        ({"return_n_iter": 1}, "return_n_iter=1: give True or False"),
        ({"selection": "cyclical"}, "selection='cyclical': give one of"),
        ({"coef_init": [0, np.nan, 0]}, "coef_init is nan for column 1: give finite numbers"),
        ({"coef_init": [0, np.inf, 0]}, "coef_init is inf for column 1"),
    ],
)
def test_a_path_refuses_what_an_estimator_would(wrong, message):
    X, y = draw((20, 3))
    with pytest.raises(ValueError, match=message):
        ElasticNet.path(X, y, **wrong)


def test_a_path_over_positive_coefficients_begins_with_none_below_0():
    X, y = draw((60, 8))
    _, coefs, _ = Lasso.path(X, y, alphas=[1e9], coef_init=-np.ones(8), positive=True)
    assert not coefs.any()


def test_a_path_names_the_column_of_a_frame_that_holds_no_number():
    X, y = draw((60, 8))
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match=r"(?s)'h3'.*row 7"):
        Lasso.path(pd.DataFrame(X, columns=[f"h{j}" for j in range(8)]), y)
