"""Means of new rows of Poisson and Gamma models, against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

from certus.linear_model import GammaRegressor, PoissonRegressor

n, p = 200, 3
rng = np.random.default_rng(0)
X = rng.normal(size=(n, p))
YEARS = rng.uniform(0.5, 3, n)
MEANS = np.exp(X @ [0.4, -0.3, 0.1] + 0.2) * YEARS
COUNTS, AMOUNTS = rng.poisson(MEANS).astype(float), MEANS * rng.gamma(2.0, 0.5, n)
NEW, NEW_YEARS = X[:7] + 0.3, YEARS[10:17]
PAIRS = {"mean": "mean", "low": "mean_ci_lower", "high": "mean_ci_upper"}


@pytest.mark.parametrize("cov", ["classical", "HC0"])
@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_means_of_new_rows_are_those_of_statsmodels(family, cov):
    y = COUNTS if family == "poisson" else AMOUNTS
    of = (
        sm.families.Poisson() if family == "poisson" else sm.families.Gamma(sm.families.links.Log())
    )
    model = (PoissonRegressor if family == "poisson" else GammaRegressor)(alpha=0, tol=1e-11)
    found = model.fit(X, y, exposure=YEARS).inference(X, y, exposure=YEARS, cov=cov)
    fit = sm.GLM(y, sm.add_constant(X), family=of, offset=np.log(YEARS)).fit(
        tol=1e-14, scale="X2" if family == "gamma" else 1.0,
        cov_type="nonrobust" if cov == "classical" else cov,
    )  # fmt: skip
    expected = fit.get_prediction(
        sm.add_constant(NEW, has_constant="add"), offset=np.log(NEW_YEARS)
    ).summary_frame(alpha=0.1)
    table = found.predict(NEW, level=0.9, exposure=NEW_YEARS)
    for ours, theirs in PAIRS.items():
        np.testing.assert_allclose(table[ours], expected[theirs], rtol=1e-5, err_msg=ours)
    np.testing.assert_allclose(table["mean"], model.predict(NEW, exposure=NEW_YEARS), rtol=1e-12)
    by_offset = found.predict(NEW, level=0.9, offset=np.log(NEW_YEARS))
    np.testing.assert_allclose(by_offset["high"], table["high"], rtol=1e-12)


def test_without_an_exposure_the_means_are_rates():
    found = PoissonRegressor(alpha=0).fit(X, COUNTS, exposure=YEARS)
    found = found.inference(X, COUNTS, exposure=YEARS)
    rates, means = found.predict(NEW)["mean"], found.predict(NEW, exposure=NEW_YEARS)["mean"]
    np.testing.assert_allclose(rates * NEW_YEARS, means, rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"exposure": np.zeros(7)}, "exposure has 0.0 in row 0: give numbers above 0"),
        ({"offset": np.full(7, np.inf)}, "offset has inf in row 0"),
        ({"offset": np.zeros(3)}, "a number for each of 7 rows"),
    ],
)
def test_offsets_that_are_none_are_refused(given, message):
    found = PoissonRegressor(alpha=0).fit(X, COUNTS).inference(X, COUNTS)
    with pytest.raises(ValueError, match=message):
        found.predict(NEW, **given)
