"""Tests of nested models, and what is refused as not nested."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from certus.exceptions import InferenceError
from certus.inference import compare
from certus.linear_model import (
    FirthLogisticRegression,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from tests.inference.inference_cases import noisy


def linear(X, y, s=None, **parameters):
    model = LinearRegression(**parameters).fit(X, y, s)
    return model.inference(X, y, s)


def logistic(X, y, s=None, **parameters):
    model = LogisticRegression(**{"C": np.inf, "tol": 1e-12, **parameters}).fit(X, y, s)
    return model.inference(X, y, s)


def frame(seed=0, n=120, k=2):
    X, y = noisy(seed, n)
    X = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    return X, y, np.digitize(y, np.quantile(y, np.arange(1, k) / k))


def test_f_is_that_of_statsmodels():
    X, y, _ = frame()
    found = compare(linear(X[["a", "c"]], y), linear(X, y))
    small, large = (sm.OLS(y, sm.add_constant(A)).fit() for A in (X[["a", "c"]], X))
    expected = large.compare_f_test(small)
    assert (found.statistic, found.pvalue, found.degrees_of_freedom) == pytest.approx(expected)
    assert found.added == ("b", "d")
    assert found.residual_degrees_of_freedom == large.df_resid


@pytest.mark.parametrize("k", [2, 3])
def test_the_likelihood_ratio_is_that_of_statsmodels(k):
    X, _, y = frame(1, k=k)
    found = compare(logistic(X[["a", "c"]], y), logistic(X, y))
    kind = sm.Logit if k == 2 else sm.MNLogit
    small, large = (kind(y, sm.add_constant(A)).fit(disp=0) for A in (X[["a", "c"]], X))
    assert found.statistic == pytest.approx(2 * (large.llf - small.llf), rel=1e-8)
    assert found.degrees_of_freedom == 2 * (k - 1)
    text = str(found)
    assert text.splitlines()[0] == "Likelihood-ratio test of nested models"
    assert "added: 'b', 'd'" in text


def test_one_added_column_is_its_own_test():
    X, y, labels = frame(2)
    found = compare(linear(X[["a", "b", "c"]], y), linear(X, y))
    assert found.pvalue == pytest.approx(linear(X, y).pvalues[4], rel=1e-9)
    found = compare(logistic(X[["a", "b", "c"]], labels), logistic(X, labels))
    assert found.pvalue == pytest.approx(logistic(X, labels).lr_pvalues[4], rel=1e-7)


def test_an_intercept_alone_is_an_added_column():
    X, y, _ = frame(3)
    found = compare(linear(X, y, fit_intercept=False), linear(X, y))
    assert found.added == ("intercept",)
    assert found.pvalue == pytest.approx(linear(X, y).pvalues[0], rel=1e-9)
    with pytest.raises(InferenceError, match="not nested: the larger one has no intercept"):
        compare(linear(X[["a"]], y), linear(X, y, fit_intercept=False))


def test_column_order_and_names_do_not_matter():
    X, y, _ = frame(4)
    expected = compare(linear(X[["a"]], y), linear(X, y)).pvalue
    other = X[["d", "a", "c", "b"]].to_numpy()
    assert compare(linear(X[["a"]], y), linear(other, y)).pvalue == pytest.approx(expected)


def test_what_is_not_nested_is_refused_by_name():
    X, y, labels = frame(5)
    small, large = linear(X[["a", "b"]], y), linear(X[["b", "c", "d"]], y)
    with pytest.raises(InferenceError, match="not nested: the larger one has no column 'a'"):
        compare(small, large)
    with pytest.raises(InferenceError, match="no column 'c', 'd'"):
        compare(linear(X, y), small)
    with pytest.raises(InferenceError, match="nothing to test"):
        compare(small, linear(X[["b", "a"]], y))
    with pytest.raises(InferenceError, match="not nested: one was fitted on 119 rows"):
        compare(linear(X[["a"]][1:], y[1:]), linear(X, y))
    with pytest.raises(InferenceError, match="not nested: their y differs"):
        compare(linear(X[["a"]], y + 1), linear(X, y))
    with pytest.raises(InferenceError, match="not nested: their sample_weight differs"):
        compare(linear(X[["a"]], y, np.arange(120) + 1.0), linear(X, y))
    with pytest.raises(InferenceError, match="different kinds are not nested"):
        compare(linear(X[["a"]], labels), logistic(X, labels))
    with pytest.raises(InferenceError, match="not nested: their classes differ"):
        compare(logistic(X[["a"]], labels), logistic(X, np.array(["no", "yes"])[labels]))


def test_what_has_no_likelihood_is_refused():
    X, y, labels = frame(6)
    ridge = Ridge().fit(X[["a"]], y).inference(X[["a"]], y)
    with pytest.raises(InferenceError, match="ignores the bias of the penalty"):
        compare(ridge, Ridge().fit(X, y).inference(X, y))
    robust = LinearRegression().fit(X, y).inference(X, y, cov="HC3")
    with pytest.raises(InferenceError, match=r"cov='HC3' does not: use cov='classical'"):
        compare(linear(X[["a"]], y), robust)
    firth = [FirthLogisticRegression().fit(A, labels).inference(A, labels) for A in (X[["a"]], X)]
    with pytest.raises(InferenceError, match="its penalty depends on the columns"):
        compare(*firth)
    with pytest.raises(TypeError, match="two results of inference"):
        compare(LinearRegression().fit(X, y), robust)
