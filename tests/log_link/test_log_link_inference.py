"""Standard errors of Poisson and Gamma regression: statsmodels', laws, refusals."""

import pickle

import numpy as np
import pytest
import sklearn.linear_model as peers

import certus
from certus.exceptions import InferenceError, NotCertifiedWarning, SeparationWarning
from certus.linear_model import GammaRegressor, PoissonRegressor
from tests.log_link.log_link_cases import FAMILIES, case

sm = pytest.importorskip("statsmodels.api")
MODELS = {"poisson": PoissonRegressor, "gamma": GammaRegressor}
THEIRS = {"poisson": peers.PoissonRegressor, "gamma": peers.GammaRegressor}
each_family = pytest.mark.parametrize("family", FAMILIES)


def theirs(c, cov="nonrobust", fit_intercept=True, groups=None):
    family = sm.families.Poisson() if c.family == "poisson" else None
    family = family or sm.families.Gamma(sm.families.links.Log())
    X = np.column_stack([np.ones(len(c.X)), c.X]) if fit_intercept else c.X
    model = sm.GLM(c.y, X, family=family, freq_weights=c.s, offset=c.o)
    return model.fit(tol=1e-13, maxiter=500, tol_criterion="params", cov_type=cov,
                     cov_kwds=None if groups is None else {"groups": groups})  # fmt: skip


@each_family
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("cov", ["classical", "HC0"])
def test_all_numbers_are_those_of_statsmodels(family, more, fit_intercept, cov):
    c = case(family, "none", n=90, offset=more)
    if more:
        c = c._replace(s=np.random.default_rng(1).integers(1, 4, size=90).astype(float))
    reference = theirs(c, "nonrobust" if cov == "classical" else cov, fit_intercept)
    model = MODELS[family](alpha=0, fit_intercept=fit_intercept).fit(c.X, c.y, c.s, offset=c.o)
    ours = model.inference(c.X, c.y, c.s, cov, offset=c.o)
    np.testing.assert_allclose(ours.coef, reference.params, rtol=1e-8)
    np.testing.assert_allclose(ours.standard_errors, reference.bse, rtol=1e-8)
    np.testing.assert_allclose(ours.statistic, reference.tvalues, rtol=1e-8)
    np.testing.assert_allclose(ours.pvalues, reference.pvalues, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(
        np.column_stack([ours.conf_int()["low"], ours.conf_int()["high"]]),
        reference.conf_int(), rtol=1e-7,
    )  # fmt: skip
    assert ours.deviance == pytest.approx(reference.deviance, rel=1e-8)
    assert ours.pearson_chi2 == pytest.approx(reference.pearson_chi2, rel=1e-8)
    assert ours.dispersion == pytest.approx(reference.scale, rel=1e-8)
    assert ours.degrees_of_freedom == reference.df_resid
    if fit_intercept:
        assert ours.null_deviance == pytest.approx(reference.null_deviance, rel=1e-8)
    if family == "poisson":
        assert ours.log_likelihood == pytest.approx(reference.llf, rel=1e-8)
        assert ours.aic == pytest.approx(reference.aic, rel=1e-8)
        assert ours.bic == pytest.approx(reference.bic_llf, rel=1e-8)


@each_family
@pytest.mark.parametrize("more", [False, True])
def test_clustered_errors_are_those_of_statsmodels(family, more):
    c = case(family, "none", n=90, offset=more)
    groups = np.random.default_rng(3).integers(0, 12, size=90)
    if more:  # statsmodels' sums of groups know no weights, so rows are repeated
        s = np.random.default_rng(1).integers(0, 4, size=90)
        whole = c._replace(X=np.repeat(c.X, s, axis=0), y=np.repeat(c.y, s), o=np.repeat(c.o, s))
        of, c = np.repeat(groups, s), c._replace(s=s.astype(float))
    else:
        whole, of = c, groups
    reference = theirs(whole, "cluster", groups=of)
    model = MODELS[family](alpha=0).fit(c.X, c.y, c.s, offset=c.o)
    ours = model.inference(c.X, c.y, c.s, "cluster", offset=c.o, groups=groups)
    np.testing.assert_allclose(ours.standard_errors, reference.bse, rtol=1e-8)
    np.testing.assert_allclose(ours.pvalues, reference.pvalues, rtol=1e-6, atol=1e-12)
    assert ours.n_groups == 12
    assert "cluster (12 groups) standard errors" in str(ours)
    with pytest.raises(ValueError, match="needs groups="):
        model.inference(c.X, c.y, c.s, "cluster", offset=c.o)


@each_family
def test_hc1_is_hc0_times_n_over_its_degrees_of_freedom(family):
    c = case(family, "none", n=90)
    model = MODELS[family](alpha=0).fit(c.X, c.y)
    hc0, hc1 = (model.inference(c.X, c.y, cov=cov) for cov in ("HC0", "HC1"))
    np.testing.assert_allclose(hc1.covariance, hc0.covariance * 90 / 86, rtol=1e-12)


@each_family
@pytest.mark.parametrize("cov", ["classical", "HC0", "HC1", "HC3"])
def test_a_weight_of_two_is_a_row_repeated(family, cov):
    c = case(family, "none", n=60)
    s = np.random.default_rng(2).integers(0, 4, size=60)
    one = MODELS[family](alpha=0).fit(c.X, c.y, s).inference(c.X, c.y, s, cov)
    X, y = np.repeat(c.X, s, axis=0), np.repeat(c.y, s)
    other = MODELS[family](alpha=0).fit(X, y).inference(X, y, cov=cov)
    assert one.n == other.n == s.sum()
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-8)


@each_family
def test_units_and_origins_of_columns_change_nothing_else(family):
    c = case(family, "none", n=90)
    here = MODELS[family](alpha=0).fit(c.X, c.y).inference(c.X, c.y)
    X = c.X * [1e6, 1e-6, 1] + [0, 0, 2.0**20]
    there = MODELS[family](alpha=0).fit(X, c.y).inference(X, c.y)
    np.testing.assert_allclose(
        there.standard_errors[1:] * [1e6, 1e-6, 1], here.standard_errors[1:], rtol=1e-7
    )
    np.testing.assert_allclose(there.pvalues[1:], here.pvalues[1:], rtol=1e-5)


def test_rate_ratios_are_exponentials_and_units_multiply():
    c = case("poisson", "none", n=90)
    inference = PoissonRegressor(alpha=0).fit(c.X, c.y).inference(c.X, c.y)
    table = inference.rate_ratios(level=0.9, per={"x1": 10})
    np.testing.assert_allclose(table["rate ratio"], np.exp(inference.coef[1:] * [1, 10, 1]))
    low, high = (inference.conf_int(0.9)[end][1:] * [1, 10, 1] for end in ("low", "high"))
    np.testing.assert_allclose(table["low"], np.exp(low))
    np.testing.assert_allclose(table["high"], np.exp(high))
    assert "x1 (per 10)" in str(table)


def test_counts_that_vary_too_much_are_pointed_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rng.poisson(np.exp(0.3 * X[:, 0] + 1) * rng.gamma(1.0, size=300))
    model = PoissonRegressor(alpha=0).fit(X, y)
    assert "use cov='HC0' or 'HC1'" in str(model.inference(X, y))
    assert "use cov" not in str(model.inference(X, y, cov="HC0"))
    y = rng.poisson(np.exp(0.3 * X[:, 0] + 1))
    assert "use cov" not in str(PoissonRegressor(alpha=0).fit(X, y).inference(X, y))


@each_family
def test_repeated_columns_have_no_standard_errors(family):
    c = case(family, "none", n=90)
    X = np.column_stack([c.X, c.X[:, 0]])
    with pytest.warns(certus.exceptions.AliasWarning):
        model = MODELS[family](alpha=0).fit(X, c.y)
    inference = model.inference(X, c.y)
    np.testing.assert_array_equal(np.isnan(inference.standard_errors), [0, 1, 0, 0, 1])
    alone = MODELS[family](alpha=0).fit(c.X, c.y).inference(c.X, c.y)
    np.testing.assert_allclose(
        inference.standard_errors[[0, 2, 3]], alone.standard_errors[[0, 2, 3]], rtol=1e-8
    )
    assert inference.degrees_of_freedom == alone.degrees_of_freedom


@each_family
def test_tables_have_the_numbers_of_arrays(family):
    from tests.streams import ArrayTable

    c = case(family, "none", n=90)
    model = MODELS[family](alpha=0).fit(c.X, c.y)
    table = ArrayTable(c.X, c.y)
    groups = np.arange(90) % 11
    for options in ({}, {"cov": "HC2"}, {"cov": "cluster", "groups": groups}):
        np.testing.assert_allclose(
            model.inference(table, **options).covariance,
            model.inference(c.X, c.y, **options).covariance,
            rtol=1e-12,
        )


def test_inference_survives_pickling_and_takes_pipelines():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    c = case("poisson", "none", n=90)
    pipe = make_pipeline(StandardScaler(), PoissonRegressor(alpha=0)).fit(c.X, c.y)
    inference = certus.inference(pipe, c.X, c.y)
    twin = pickle.loads(pickle.dumps(inference))
    np.testing.assert_array_equal(twin.pvalues, inference.pvalues)


# --- models of scikit-learn, and fits that stopped early ------------------------------------------


@each_family
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_models_of_scikit_learn_have_the_errors_of_ours(family, alpha):
    c = case(family, n=90, weighted=True)
    s = c.s + 0.5
    model = THEIRS[family](alpha=alpha, tol=1e-10).fit(c.X, c.y, s)
    found = certus.inference(model, c.X, c.y, s)
    expected = MODELS[family](alpha=alpha, tol=1e-12).fit(c.X, c.y, s).inference(c.X, c.y, s)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-6)
    assert f"scikit-learn's {type(model).__name__}, proven optimal" in str(found.conf_int())


@each_family
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_scikit_learn_that_stopped_early_is_refitted(family):
    c = case(family, "none", n=90)
    found = certus.inference(THEIRS[family](alpha=0, max_iter=1).fit(c.X, c.y), c.X, c.y)
    np.testing.assert_allclose(found.coef, theirs(c).params, rtol=1e-7)
    assert "was not at the optimum" in " ".join(str(found).split())


@each_family
def test_a_fit_that_stopped_early_is_finished_with_its_exposure(family):
    c = case(family, "none", n=90, offset=True)
    with pytest.warns(NotCertifiedWarning):
        model = MODELS[family](alpha=0, max_iter=1).fit(c.X, c.y, offset=c.o)
    found = certus.inference(model, c.X, c.y, exposure=np.exp(c.o))
    np.testing.assert_allclose(found.coef, theirs(c).params, rtol=1e-7)
    np.testing.assert_allclose(found.standard_errors, theirs(c).bse, rtol=1e-7)
    plain = THEIRS[family]().fit(c.X, c.y)
    with pytest.raises(InferenceError, match="without an offset: leave exposure out"):
        certus.inference(plain, c.X, c.y, exposure=np.exp(c.o))


# --- refusals -------------------------------------------------------------------------------------


def test_what_has_no_theory_is_refused_with_the_reason():
    c = case("poisson", n=90)
    lasso = PoissonRegressor(alpha=0.01, l1_ratio=1.0).fit(c.X, c.y)
    with pytest.raises(InferenceError, match="L1 penalty"):
        lasso.inference(c.X, c.y)
    ridge = PoissonRegressor(alpha=0.01).fit(c.X, c.y).inference(c.X, c.y)
    assert np.isfinite(ridge.standard_errors).all()
    for name in ("pvalues", "aic", "log_likelihood"):
        with pytest.raises(InferenceError, match="ignores the bias of the penalty"):
            getattr(ridge, name)
    with pytest.raises(InferenceError, match="ignores the bias"):
        ridge.rate_ratios()
    gamma = case("gamma", n=90)
    amounts = GammaRegressor(alpha=0).fit(gamma.X, gamma.y).inference(gamma.X, gamma.y)
    with pytest.raises(InferenceError, match="Pearson's χ²"):
        amounts.aic
    with pytest.warns(SeparationWarning):
        endless = PoissonRegressor(alpha=0).fit(c.X, 0 * c.y)
    with pytest.raises(InferenceError, match="no finite optimum"):
        endless.inference(c.X, 0 * c.y)


def test_other_rows_and_other_exposures_are_refused():
    c = case("poisson", "none", n=90, offset=True)
    model = PoissonRegressor(alpha=0).fit(c.X, c.y, offset=c.o)
    with pytest.raises(InferenceError, match="not the rows"):
        model.inference(c.X, c.y, offset=c.o + 1)
    with pytest.raises(InferenceError):
        model.inference(c.X, c.y)
    with pytest.raises(ValueError, match="cov="):
        model.inference(c.X, c.y, cov="HC4", offset=c.o)
