"""``LogisticRegression.inference``: the estimator's fits, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.exceptions import NotFittedError

import certus
from certus.exceptions import (
    AliasWarning,
    InferenceError,
    NotCertifiedWarning,
    SeparationWarning,
)
from certus.linear_model import LogisticRegression
from tests.contract.problems import weights
from tests.glm.logistic_cases import labeled


def plain(**parameters):
    """Coefficients are good to about the root of the tolerance."""
    return LogisticRegression(**{"C": np.inf, "tol": 1e-10, **parameters})


@pytest.mark.parametrize("cov", ["classical", "HC0"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_fit_has_the_errors_of_statsmodels(fit_intercept, cov):
    X, y = labeled(0, 400, 3)
    result = plain(fit_intercept=fit_intercept).fit(X, y).inference(X, y, cov=cov)
    Phi = sm.add_constant(X) if fit_intercept else X
    peer = sm.Logit(y, Phi).fit(disp=0, cov_type="nonrobust" if cov == "classical" else cov)
    for ours, theirs in (("coef", "params"), ("standard_errors", "bse"), ("pvalues", "pvalues")):
        np.testing.assert_allclose(getattr(result, ours), getattr(peer, theirs), rtol=1e-4)


def test_several_classes_are_compared_with_the_first_label():
    X, y = labeled(1, 400, 2, 3)
    labels = np.array(["a", "b", "c"])[y]
    s = weights(1, 400)
    model = plain().fit(X, labels, sample_weight=s)
    result = model.inference(X, labels, sample_weight=s)
    copies = np.repeat(np.arange(400), s.astype(int))
    peer = sm.MNLogit(y[copies], sm.add_constant(X[copies])).fit(disp=0)
    assert result.classes == ("a", "b", "c")
    np.testing.assert_allclose(result.coef, peer.params, rtol=1e-4)
    np.testing.assert_allclose(result.standard_errors, peer.bse, rtol=1e-4)
    np.testing.assert_array_equal(result.coef[1:, 0], model.coef_[1] - model.coef_[0])


def test_names_of_a_frame_are_names_of_the_table():
    X, y = labeled(2, 200, 2)
    frame = pd.DataFrame(X, columns=["age", "dose"])
    result = plain().fit(frame, y).inference(frame, y)
    assert result.names == ("intercept", "age", "dose")
    assert list(result.odds_ratios().to_pandas().index) == ["age", "dose"]


def test_the_penalty_is_that_of_the_fit():
    X, y = labeled(3, 200, 2)
    result = LogisticRegression(C=0.5).fit(X, y).inference(X, y)
    assert result.alpha == 2.0
    with pytest.raises(InferenceError, match="ignores the bias of the penalty"):
        result.pvalues
    assert np.all(result.standard_errors < plain().fit(X, y).inference(X, y).standard_errors)


def test_repeated_columns_have_no_errors():
    X, y = labeled(4, 200, 3)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(AliasWarning):
        model = plain().fit(X, y)
    result = model.inference(X, y)
    assert list(np.isnan(result.standard_errors)) == [False, True, True, False, True]


@pytest.mark.parametrize("K", [2, 3])
def test_separated_classes_are_refused(K):
    X, y = labeled(5, 100, 2, K)
    X = np.column_stack([X, y == 1])
    with pytest.warns(SeparationWarning):
        model = plain().fit(X, y)
    with pytest.raises(InferenceError, match=r"no finite optimum.*Do not read the coefficients"):
        model.inference(X, y)


@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_selection_by_the_penalty_is_refused(ratio):
    X, y = labeled(6)
    with pytest.raises(InferenceError, match=r"L1 penalty the same rows select.*C=np.inf"):
        LogisticRegression(l1_ratio=ratio).fit(X, y).inference(X, y)


def test_weights_that_are_no_counts_are_refused():
    X, y = labeled(7)
    for weight in ("balanced", {0: 1.0, 1: 3.0}):
        model = plain(class_weight=weight).fit(X, y)
        with pytest.raises(InferenceError, match="class_weight counts rows that do not exist"):
            model.inference(X, y)


def test_a_penalised_intercept_is_refused():
    X, y = labeled(8)
    with pytest.raises(InferenceError, match="the intercept is penalised"):
        LogisticRegression(solver="liblinear").fit(X, y).inference(X, y)


def test_other_rows_are_refused():
    X, y = labeled(9)
    model = plain().fit(X, y)
    refused = "not the rows it was fitted on"
    with pytest.raises(InferenceError, match=f"{refused}: it was fitted on 200 rows"):
        model.inference(X[:-1], y[:-1])
    with pytest.raises(InferenceError, match=f"{refused}: y differs"):
        model.inference(X, 1 - y)
    with pytest.raises(InferenceError, match=f"{refused}: it was fitted without sample_weight"):
        model.inference(X, y, np.full(200, 2.0))


def test_a_row_that_the_fingerprint_does_not_see_is_noticed():
    X, y = labeled(10, 20_000, 2)
    model = plain().fit(X, y)
    sampled = set(certus.data.rows.spread(20_000, 1024))
    hidden = next(i for i in range(20_000) if i not in sampled)
    X[hidden] += 5
    with pytest.raises(InferenceError, match="not the rows it was fitted on"):
        model.inference(X, y)


def test_changed_coefficients_and_uncertified_fits_are_refused():
    X, y = labeled(11)
    model = plain().fit(X, y)
    model.coef_ = model.coef_ * 1.01
    with pytest.raises(InferenceError, match="changed after the fit: fit again"):
        model.inference(X, y)
    with pytest.warns(NotCertifiedWarning):
        model = plain(max_iter=1).fit(X, y)
    with pytest.raises(InferenceError, match=r"the fit is not certified"):
        model.inference(X, y)


def test_bad_arguments_are_named():
    X, y = labeled(12)
    with pytest.raises(NotFittedError):
        plain().inference(X, y)
    with pytest.raises(ValueError, match=r"cov='HC4': give one of 'classical', 'HC0'"):
        plain().fit(X, y).inference(X, y, cov="HC4")
    with pytest.raises(ValueError, match="give y"):
        plain().fit(X, y).inference(X, None)
