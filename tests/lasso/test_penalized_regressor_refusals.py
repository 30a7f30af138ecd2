"""Regression with any loss and penalty: mistakes are named with a remedy."""

import pytest

from certus.linear_model.penalized_regressor import PenalizedRegressor
from certus.losses import Softmax, Squared
from certus.penalties import Box, GroupL2, Simplex
from certus.solvers import ProximalGradient, Subgradient
from tests.lasso.penalized_regressor_cases import drawn


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hubert"}, r"loss='hubert': give one of 'squared', 'huber'\. Did you mean"),
        ({"loss": Softmax()}, r"takes several scores per row: use PenalizedClassifier"),
        ({"loss": Squared}, r"an object with value, slope.* as Squared\(\)"),
        ({"penalty": "l3"}, r"penalty='l3': give one of 'l1'"),
        ({"penalty": "group"}, r"penalty='group': give certus\.penalties\.GroupL2\(strength, gr"),
        ({"penalty": "box"}, r"penalty='box': give certus\.penalties\.Box\(low, high\)"),
        ({"penalty": 3.0}, r"penalty=3\.0: .* an object with value, prox"),
        ({"penalty": GroupL2(groups=[[0, 1]])}, r"groups: they cover 2 columns, the data have 6"),
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
def test_mistakes_are_named_with_a_remedy(parameters, message):
    X, y, _ = drawn(19)
    with pytest.raises(ValueError, match=message):
        PenalizedRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ProximalGradient(accelerated=1), r"accelerated=1: give True or False"),
        (lambda: Subgradient("fixed"), r"step='fixed': give one of 'sqrt', 'polyak'"),
        (lambda: Subgradient(c=0), r"c=0: give a finite number above 0"),
    ],
)
def test_mistakes_of_solvers_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
