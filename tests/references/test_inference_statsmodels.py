"""Standard errors of linear models are those of statsmodels, but for conventions about weights."""

import numpy as np
import pytest
import statsmodels.api as sm

from tests.contract.problems import weights
from tests.inference.inference_cases import (
    KINDS,
    each_intercept,
    each_kind,
    fitted,
    noisy,
    weighted,
)


@each_kind
@each_intercept
@weighted
def test_agrees_with_statsmodels(weighted, fit_intercept, cov):
    X, y = noisy(11, 80, 5)
    s = np.random.default_rng(11).uniform(0.2, 5, size=80) if weighted else None
    found = fitted(X, y, s, cov=cov, fit_intercept=fit_intercept)
    Phi = sm.add_constant(X) if fit_intercept else X
    peer = (sm.OLS(y, Phi) if s is None else sm.WLS(y, Phi, weights=s)).fit()
    robust = peer if cov == "classical" else peer.get_robustcov_results(cov)
    assert robust.use_t
    names = {
        "coef": "params", "standard_errors": "bse", "statistic": "tvalues", "pvalues": "pvalues",
        "sigma2": "scale", "log_likelihood": "llf", "aic": "aic", "bic": "bic",
        "r_squared": "rsquared", "r_squared_adjusted": "rsquared_adj", "n": "nobs",
        "degrees_of_freedom": "df_resid",
    }  # fmt: skip
    for ours, theirs in names.items():
        np.testing.assert_allclose(
            getattr(found, ours), getattr(robust, theirs), rtol=1e-8, err_msg=ours
        )
    np.testing.assert_allclose(found.covariance, robust.cov_params(), rtol=1e-8, atol=1e-14)
    for level in (0.95, 0.5):
        interval = found.conf_int(level)
        expected = robust.conf_int(1 - level)
        np.testing.assert_allclose(interval["low"], expected[:, 0], rtol=1e-8)
        np.testing.assert_allclose(interval["high"], expected[:, 1], rtol=1e-8)


@each_kind
def test_rows_of_weight_zero_are_absent(cov):
    X, y = noisy(12, 40, 3)
    s = weights(12, 40)
    s[::4] = 0
    kept = s > 0
    found, without = fitted(X, y, s, cov=cov), fitted(X[kept], y[kept], s[kept], cov=cov)
    assert found.n == without.n == 30
    np.testing.assert_allclose(found.covariance, without.covariance, rtol=1e-10)
    assert found.bic == pytest.approx(without.bic, rel=1e-12)


def test_weights_are_inverse_variances_and_not_counts():
    X, y = noisy(13, 30, 2)
    s = weights(13, 30)
    found = fitted(X, y, s)
    for cov in KINDS:
        np.testing.assert_allclose(
            fitted(X, y, 7 * s, cov=cov).standard_errors,
            fitted(X, y, s, cov=cov).standard_errors,
            rtol=1e-11,
        )
    twice = np.repeat(np.arange(30), s.astype(int))
    repeated = fitted(X[twice], y[twice])
    np.testing.assert_allclose(repeated.coef, found.coef, rtol=1e-10)
    assert np.all(repeated.standard_errors < 0.9 * found.standard_errors)
