"""Regression with any loss and penalty: mistakes are named with a remedy."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certus.linear_model.penalized_regressor import PenalizedRegressor
from certus.losses import Logistic, Softmax, Squared
from certus.penalties import L2, Box, GroupL2, Simplex
from certus.solvers import ProximalGradient, Subgradient
from penalized_regressor_cases import drawn, uncertified


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"loss": "hubert"}, r"loss='hubert': give one of 'squared', 'huber'\. Did you mean"),
        ({"loss": Softmax()}, r"is for several scores a row: use PenalizedClassifier"),
        ({"loss": Squared}, r"an object with value, slope.* as Squared\(\)"),
        ({"penalty": "l3"}, r"penalty='l3': give one of 'l1'"),
        ({"penalty": "group"}, r"penalty='group': give certus\.penalties\.GroupL2\(strength, gr"),
        ({"penalty": "box"}, r"penalty='box': give certus\.penalties\.Box\(low, high\)"),
        ({"penalty": 3.0}, r"penalty=3\.0: .* an object with value, prox"),
        ({"penalty": GroupL2(groups=[[0, 1]])}, r"groups: they hold 2 columns, the data have 6"),
        ({"solver": "newtn"}, r"solver='newtn': give one of .* Did you mean 'newton'"),
        ({"solver": "newton", "penalty": "l1"}, r"needs a smooth penalty, and L1.* use solver='au"),
        ({"solver": "newton", "penalty": "nonnegative"}, r"needs a smooth penalty"),
        ({"solver": "cd", "penalty": Simplex()}, r"takes L1, L2 and Elas.* use solver='auto'"),
        ({"solver": "subgradient", "penalty": Box(0, 1)}, r"use solver='proximal-gradient'"),
        ({"tol": -1.0}, r"tol=-1\.0: give a finite number that is not negative"),
        ({"max_iter": -1}, r"max_iter=-1: give a whole number, 0 or above"),
        ({"fit_intercept": "no"}, r"fit_intercept='no': give True or False"),
        ({"warm_start": 1}, r"warm_start=1: give True or False"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_a_remedy(parameters, said):
    X, y, _ = drawn(19)
    with pytest.raises(ValueError, match=said):
        PenalizedRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ProximalGradient(accelerated=1), r"accelerated=1: give True or False"),
        (lambda: Subgradient("fixed"), r"step='fixed': give one of 'sqrt', 'polyak'"),
        (lambda: Subgradient(c=0), r"c=0: give a finite number above 0"),
    ],
)
def test_mistakes_of_solvers_are_named(make, said):
    with pytest.raises(ValueError, match=said):
        make()


@uncertified
def test_a_classifiers_loss_is_taken_as_it_is():
    # of −1 and 1, as somebody's own may be
    X, y, _ = drawn(20)
    signs = np.where(y > np.median(y), 1.0, -1.0)
    model = PenalizedRegressor(Logistic(), L2(1.0)).fit(X, signs)
    assert model.certificate_.status == "not proven"
    assert (np.sign(model.predict(X)) == signs).mean() > 0.9


@parametrize_with_checks(
    [
        PenalizedRegressor(),
        PenalizedRegressor("huber", "l1"),
        PenalizedRegressor("squared", "mcp"),
        PenalizedRegressor("squared", "simplex"),
    ],
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)
