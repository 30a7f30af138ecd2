"""Least squares on columns that hold less than they seem to: an answer, never a LinAlgError."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import certus
from certus.exceptions import AliasWarning
from certus.linear_model import LinearRegression

N = 12
SINGULAR = {
    "zeros": np.zeros((N, 3)),
    "one constant": np.full((N, 3), 0.1),
    "rank one": np.outer(np.arange(N), [1.0, 2.0, 3.0]),
    "rank one at 1e150": 1e150 * np.outer(np.arange(N), [1.0, 2.0, 3.0]),
    "one row that differs": np.eye(N)[:, [0, 0, 0]],
    "a copy in another unit": np.column_stack([np.arange(N), 1e-12 * np.arange(N), np.ones(N)]),
    "more columns than rows, all alike": np.repeat(np.arange(float(N))[:, None], 30, axis=1),
}


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("how", [{}, {"fit_intercept": False}, {"positive": True}], ids=str)
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("kind", SINGULAR)
def test_singular_columns_are_fitted_and_certified(kind, layout, how):
    X, y = SINGULAR[kind], np.random.default_rng(0).normal(size=N) + 0.3 * np.arange(N)
    model = LinearRegression(**how).fit(layout(X), y)
    assert model.certificate_.certified
    assert np.isfinite(model.coef_).all()


def test_predictions_are_those_of_the_columns_that_are_left():
    t, y = np.arange(float(N)), np.random.default_rng(0).normal(size=N)
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(np.column_stack([t, 2 * t, np.ones(N)]), y)
    one = LinearRegression().fit(t[:, None], y)
    found = model.predict(np.column_stack([t, 2 * t, np.ones(N)]))
    np.testing.assert_allclose(found, one.predict(t[:, None]), atol=1e-12)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("size", [5e-324, 1e-320])
def test_columns_whose_coefficients_are_beyond_the_floats_are_refused_in_words(size, positive):
    X = np.arange(N)[:, None] * np.full((N, 2), size)
    with pytest.raises(ValueError, match=r"underflow: .* multiply columns .* below 1e-150"):
        LinearRegression(positive=positive).fit(X, np.arange(N) + 1.0)


def test_tiny_columns_have_coefficients_that_are_not_negative():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + rng.normal(size=30)
    tiny, plain = (LinearRegression(positive=True).fit(s * X, y) for s in (2.0**-532, 1.0))
    assert tiny.certificate_.certified
    np.testing.assert_allclose(tiny.coef_ * 2.0**-532, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_columns_near_the_least_normal_float_are_proven(fit_intercept, positive):
    """The squares of their coefficients, 1e614, are beyond the floats; no sum needs them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ [1.0, 2.0, 0.0, -1.0] + 0.1 * rng.normal(size=30)
    plain, tiny, one = (
        LinearRegression(positive=positive, fit_intercept=fit_intercept).fit(X * d, y)
        for d in (1.0, 1e-307, np.array([1e-307, 1.0, 1.0, 1.0]))
    )
    assert tiny.certificate_.certified
    assert one.certificate_.certified
    np.testing.assert_allclose(tiny.coef_ * 1e-307, plain.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(tiny.certificate_.objective, plain.certificate_.objective)
    assert certus.verify(tiny, X * 1e-307, y).certified
