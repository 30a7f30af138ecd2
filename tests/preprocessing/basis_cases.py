"""Basis functions that are tested in several files."""

import pytest

from certus.preprocessing import GaussianBasis, PolynomialBasis, SigmoidBasis

ALL = [
    PolynomialBasis(),
    PolynomialBasis(raw=True),
    GaussianBasis(),
    GaussianBasis(centers="uniform"),
    SigmoidBasis(),
    SigmoidBasis(centers=None, slopes=[0.5, 2]),
]
LEARNING = [PolynomialBasis(5), GaussianBasis(7), SigmoidBasis(7), GaussianBasis(centers="uniform")]
each = pytest.mark.parametrize("basis", ALL, ids=str)
each_learning = pytest.mark.parametrize("basis", LEARNING, ids=str)
