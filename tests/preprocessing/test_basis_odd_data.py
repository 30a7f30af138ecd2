"""Basis functions of odd data and parameters: taken as they are, or refused in words."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from certus.exceptions import AliasWarning, DegenerateWarning
from certus.linear_model import LinearRegression
from certus.preprocessing import GaussianBasis, PolynomialBasis, SigmoidBasis
from tests.preprocessing.basis_cases import each, each_learning


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 3)) * [1, 10, 0.1] + [0, 5, 100]


@each
def test_float32_stays_float32_and_keeps_its_digits(basis, rng):
    X = (1e4 + rng.normal(size=(50, 2))).astype(np.float32)
    found = clone(basis).fit_transform(X)
    assert found.dtype == np.float32
    wide = clone(basis).fit_transform(X.astype(float))
    np.testing.assert_allclose(found, wide, rtol=2**-23, atol=1e-30)


@each
def test_whole_numbers_and_booleans_are_numbers(basis):
    X = np.arange(20).reshape(-1, 1)
    expected = clone(basis).fit_transform(X.astype(float))
    for dtype in (np.int64, np.uint8, np.int8):
        np.testing.assert_array_equal(clone(basis).fit_transform(X.astype(dtype)), expected)
    if not hasattr(basis, "n_centers") or basis.centers is None:
        assert clone(basis).fit_transform(X > 9).dtype == np.float64


@each_learning
def test_numbers_of_any_size(basis, X):
    with np.errstate(all="raise", under="ignore"):
        for size in (1e-200, 1e200, -1e200):
            found = clone(basis).fit_transform(size * X)
            assert np.isfinite(found).all()
            assert np.ptp(found, axis=0).min() > 1e-3


@each
@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")
def test_constant_columns_and_one_row_give_constants(basis, rng):
    X = np.column_stack([np.full(30, 7.0), rng.normal(size=30)])
    found = clone(basis).fit_transform(X)
    assert np.isfinite(found).all()
    first = clone(basis).fit_transform(X[:, :1])
    assert np.ptp(first, axis=0).max() == 0
    np.testing.assert_array_equal(clone(basis).fit_transform(X[:1, :1]), first[:1])


def test_centres_that_repeat_are_taken_once_and_named():
    X = pd.DataFrame({"dose": [0.0] * 8 + [1, 2, 3], "site": 4.0, "x": np.arange(11)})
    with pytest.warns(DegenerateWarning) as caught:
        basis = GaussianBasis(6).fit(X)
    assert str(caught[0].message) == (
        "n_centers=6, but column 'dose' gives 3 different centres; column 'site' is constant. "
        "Equal centres were used once. Lower n_centers, use centers='uniform' for values that "
        "repeat, or drop constant columns"
    )
    assert caught[0].filename == __file__
    assert [len(mu) for mu in basis.centers_] == [3, 1, 6]
    assert basis.transform(X).shape == (11, 10) == (11, len(basis.get_feature_names_out()))
    assert min(s.min() for s in basis.widths_) > 0
    with pytest.warns(DegenerateWarning, match=r"column 0 of X gives 2 different centres\. Equal"):
        SigmoidBasis(3).fit([[0.0], [1], [1], [0]])


def test_values_that_differ_in_the_last_bit_are_centres_of_their_own():
    x = np.array([[1.0], [np.nextafter(1, 2)], [np.nextafter(1, 0)]])
    assert np.isfinite(GaussianBasis(3).fit_transform(x)).all()
    assert np.isfinite(SigmoidBasis(3).fit_transform(np.array([[0.0], [5e-324], [1e-323]]))).all()


@each
def test_missing_values_are_named(basis, X):
    frame = pd.DataFrame(X, columns=["age", "dose", "year"])
    holed = frame.copy()
    holed.loc[[4, 17], "dose"] = np.nan
    message = r"column 'dose' has 2 missing values \(NaN; rows 4, 17\): impute them or drop the"
    with pytest.raises(ValueError, match=message):
        clone(basis).fit(holed)
    fitted = clone(basis).fit(frame)
    with pytest.raises(ValueError, match=message):
        fitted.transform(holed)
    with pytest.raises(ValueError, match=r"column 1 of X has 1 infinite value \(inf; row 3\)"):
        clone(basis).fit(np.where(np.arange(180).reshape(60, 3) == 10, np.inf, X))


def test_text_sparse_and_unfitted_are_refused_in_words(X):
    with pytest.raises(ValueError, match="column 'city' holds text"):
        GaussianBasis().fit(pd.DataFrame({"city": ["Oslo", "Rome"]}))
    with pytest.raises(TypeError, match=r"functions of 0 are not 0: use X\.toarray\(\)"):
        GaussianBasis().fit(csr_array(X))
    with pytest.raises(NotFittedError):
        GaussianBasis().transform(X)


def test_powers_that_overflow_are_refused_with_a_remedy(X):
    large = X * 1e120
    with pytest.raises(ValueError, match=r"column 0 of X reaches .*whose power 3 overflows: use"):
        PolynomialBasis(raw=True).fit(large)
    with pytest.raises(ValueError, match=r"column 1 of X .* overflows: it is far outside the"):
        PolynomialBasis().fit(X).transform(X * [1, 1e110, 1])
    narrow = X.astype(np.float32)
    with pytest.raises(ValueError, match="power 30 overflows"):
        PolynomialBasis(30, raw=True).fit(narrow)


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (PolynomialBasis(0), "degree=0: give a whole number above 0"),
        (PolynomialBasis(2.5), r"degree=2\.5: give a whole number above 0"),
        (PolynomialBasis(raw="yes"), "raw='yes': give True or False"),
        (PolynomialBasis(lazy=1), "lazy=1: give True or False"),
        (GaussianBasis(0), "n_centers=0: give a whole number above 0"),
        (GaussianBasis(centers="quantiles"), "Did you mean 'quantile'"),
        (GaussianBasis(centers=[1, np.nan]), "give 'quantile', 'uniform', finite numbers for"),
        (GaussianBasis(centers=[[1, 2]]), "X has 3 columns"),
        (GaussianBasis(centers=None), "centers=None: give 'quantile', 'uniform'"),
        (GaussianBasis(centers=[1, 2, 1]), "centers holds 1 2 times"),
        (GaussianBasis(width=0), "width=0: give widths above 0"),
        (GaussianBasis(width="wide"), "width='wide': give one of 'spacing'"),
        (GaussianBasis(4, width=[1, 2]), "width has 2 numbers and column 0 of X has 4 centres"),
        (SigmoidBasis(centers=None), "without centres there is no spacing"),
        (SigmoidBasis(slopes=[0] * 10), "a slope of 0 gives no step"),
        (SigmoidBasis(slopes="steep"), "slopes='steep': give one of 'spacing'"),
    ],
    ids=str,
)
def test_parameters_are_checked_in_words(X, basis, message):
    with pytest.raises(ValueError, match=message):
        basis.fit(X)


def test_parameters_changed_after_the_fit_change_nothing(X):
    basis = PolynomialBasis(2).fit(X)
    before = basis.transform(X)
    basis.set_params(degree=5, raw=True)
    np.testing.assert_array_equal(basis.transform(X), before)
    assert len(basis.get_feature_names_out()) == 6


def test_a_constant_column_is_named_by_least_squares(X):
    X = np.column_stack([X[:, 0], np.full(60, 3.0)])
    with pytest.warns(DegenerateWarning):
        Phi = GaussianBasis(3).fit_transform(X)
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(Phi, np.sin(X[:, 0]))
    assert model.certificate_.certified
