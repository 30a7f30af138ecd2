"""Results of statsmodels are optimal where they are, and nowhere else."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import certus
from certus.exceptions import CannotVerifyError

N = 150
F = sm.families


def table():
    """X with its constant column, and the score of the truth."""
    rng = np.random.default_rng(5)
    X = sm.add_constant(pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"]))
    return X, X.to_numpy() @ [0.3, 1.0, -0.5, 0.0]


X, SCORE = table()
RNG = np.random.default_rng(6)
AMOUNTS = SCORE + RNG.normal(size=N)
CLASSES = (RNG.uniform(size=N) < 1 / (1 + np.exp(-SCORE))).astype(int)
COUNTS = RNG.poisson(np.exp(SCORE))
WEIGHTS = RNG.integers(1, 4, N)
EXPOSURE = np.round(RNG.uniform(1, 3, N), 1)

FITS = {
    "OLS": lambda **how: sm.OLS(AMOUNTS, X).fit(**how),
    "OLS without a constant": lambda: sm.OLS(AMOUNTS, X[["a", "b"]]).fit(),
    "WLS": lambda: sm.WLS(AMOUNTS, X, weights=WEIGHTS).fit(),
    "formula": lambda: smf.ols("y ~ a * b + I(c ** 2)", X.assign(y=AMOUNTS)).fit(),
    "Gaussian": lambda: sm.GLM(AMOUNTS, X, offset=EXPOSURE).fit(),
    "Gaussian with var_weights": lambda: sm.GLM(AMOUNTS, X, var_weights=WEIGHTS).fit(),
    "Binomial": lambda **how: sm.GLM(CLASSES, X, family=F.Binomial()).fit(**how),
    "Binomial with freq_weights": lambda: sm.GLM(
        CLASSES, X, family=F.Binomial(), freq_weights=WEIGHTS
    ).fit(),
    "Poisson": lambda **how: sm.GLM(COUNTS, X, family=F.Poisson()).fit(**how),
    "Poisson with exposure": lambda: sm.GLM(
        COUNTS, X, family=F.Poisson(), exposure=EXPOSURE, offset=-EXPOSURE, freq_weights=WEIGHTS
    ).fit(),
    "Logit": lambda **how: sm.Logit(CLASSES, X).fit(disp=0, **how),
    "discrete Poisson": lambda **how: sm.Poisson(COUNTS, X, exposure=EXPOSURE).fit(disp=0, **how),
    "Logit, slopes penalised": lambda **how: lasso(sm.Logit(CLASSES, X), [0, 4, 4, 4], **how),
    "Logit, all penalised": lambda **how: lasso(sm.Logit(CLASSES, X), 4.0, **how),
    "Poisson, slopes penalised": lambda **how: lasso(sm.Poisson(COUNTS, X), [0, 4, 4, 4], **how),
}
STOPPED = ["Binomial", "Poisson", "Logit", "discrete Poisson"]
each_fit = pytest.mark.parametrize("name", FITS)


def lasso(model, alpha):
    return model.fit_regularized(alpha=alpha, disp=0, acc=1e-13)


@each_fit
def test_fit_is_certified_on_the_rows_that_it_recorded(name):
    certificate = certus.verify(FITS[name]())
    assert certificate.certified
    assert any("those that the model recorded" in note for note in certificate.notes)


@each_fit
def test_page_agrees(name):
    assert certus.verify(FITS[name](), by="page").certified


@each_fit
def test_fit_is_certified_on_its_rows_given(name):
    result = FITS[name]()
    certificate = certus.verify(result, result.model.exog, result.model.endog)
    assert certificate.certified
    assert any("those that the model recorded" in note for note in certificate.notes)


@each_fit
def test_one_percent_of_a_coefficient_is_seen(name):
    result = FITS[name]()
    inner = getattr(result, "_results", result)
    inner.params = np.array(inner.params)
    inner.params[1] *= 1.01
    certificate = certus.verify(result)
    assert not certificate.certified
    assert certificate.status != "other rows"
    assert "PROBABLY NOT THE ROWS" not in certificate.explain()


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize("name", STOPPED)
def test_a_fit_of_one_step_is_not_optimal(name):
    certificate = certus.verify(FITS[name](maxiter=1))
    assert certificate.status in ("nearly optimal", "not optimal")
    assert "raise maxiter" in certificate.explain()


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("OLS", "LinearRegression()"),
        ("Logit", "LogisticRegression(C=np.inf)"),
        ("Logit, slopes penalised", "LogisticRegression(C=0.25, l1_ratio=1)"),
        ("Poisson, slopes penalised", "PoissonRegressor(alpha=0.0266667, l1_ratio=1)"),
    ],
)
def test_remedy_is_the_class_with_this_objective(name, ours):
    result = FITS[name]()
    result._results.params[1] *= 1.01
    text = certus.verify(result).explain()
    assert f"use certus.linear_model.{ours}" in text


def test_objective_is_the_log_likelihood():
    binomial, logit = FITS["Binomial"](), FITS["Logit"]()
    assert certus.verify(binomial).objective == pytest.approx(-binomial.llf, rel=1e-10)
    assert certus.verify(logit).objective == pytest.approx(-logit.llf, rel=1e-10)
    poisson = FITS["Poisson"]()
    assert 2 * N * certus.verify(poisson).objective == pytest.approx(poisson.deviance, rel=1e-10)
    wls = FITS["WLS"]()
    assert certus.verify(wls).objective == pytest.approx(wls.ssr, rel=1e-10)


def test_penalised_constant_is_part_of_the_norm():
    result = FITS["Logit, all penalised"]()
    value = -sm.Logit(CLASSES, X).loglike(result.params) + 4 * np.abs(result.params).sum()
    assert certus.verify(result).objective == pytest.approx(value, rel=1e-10)
    assert certus.verify(result).shape == (N, 4)
    result = FITS["Poisson, slopes penalised"]()
    assert certus.verify(result).parameters["l1"] == pytest.approx(4 / N)
    assert certus.verify(result).shape == (N, 3)


def test_rows_may_lack_the_constant_column():
    certificate = certus.verify(FITS["Binomial"](), X[["a", "b", "c"]], CLASSES)
    assert certificate.certified
    assert certificate.feature_names == ("a", "b", "c")


@pytest.mark.parametrize("name", ["WLS", "Binomial with freq_weights"])
def test_weights_of_the_model_are_taken_and_others_are_evidence(name):
    result = FITS[name]()
    y = result.model.endog
    own = certus.verify(result, X, y)
    assert own.certified
    assert "sample_weight is what the model recorded" in own.notes
    assert certus.verify(result, X, y, sample_weight=WEIGHTS).certified
    text = certus.verify(result, X, y, sample_weight=np.ones(N)).explain()
    i = int(np.argmax(WEIGHTS != 1))
    assert "values of sample_weight are not those that the model recorded" in text
    assert f"row {i} has 1, not {WEIGHTS[i]}" in text


def test_exposure_and_offset_are_compared():
    result = FITS["discrete Poisson"]()
    assert certus.verify(result, X, COUNTS, exposure=EXPOSURE).certified
    assert certus.verify(result, X, COUNTS, offset=np.log(EXPOSURE)).certified
    text = certus.verify(result, X, COUNTS, exposure=2 * EXPOSURE[::-1]).explain()
    assert "values of offset are not those that the model recorded" in text


def test_a_row_that_differs_is_named():
    result, other = FITS["Binomial"](), X.copy()
    other.iloc[7, 1] = 50.0
    text = certus.verify(result, other, CLASSES).explain()
    assert (
        "1 of 150 rows of X are not those that the model recorded: row 7 has 50 in column 'a'"
        in text
    )
    text = certus.verify(result, X, 1 - CLASSES).explain()
    assert "150 values of y are not those that the model recorded" in text
    text = certus.verify(result, X[:100], CLASSES[:100]).explain()
    assert "the model recorded 150 rows, these are 100" in text


def test_rows_in_another_order_are_the_same_fit():
    result, order = FITS["Poisson"](), np.random.default_rng(0).permutation(N)
    certificate = certus.verify(result, X.iloc[order], COUNTS[order])
    assert certificate.certified
    assert not any("recorded" in note for note in certificate.notes)


def test_a_result_without_rows_takes_those_given():
    result = FITS["OLS"]()
    result.remove_data()
    with pytest.raises(CannotVerifyError, match="remove_data"):
        certus.verify(result)
    assert certus.verify(result, X, AMOUNTS).certified


def regularized(**how):
    return sm.OLS(AMOUNTS, X).fit_regularized(alpha=0.1, **how)


REFUSED = {
    "does not record alpha": regularized,
    "fits again on the columns": lambda: regularized(refit=True),
    "not a fitted result": lambda: sm.OLS(AMOUNTS, X),
    "Probit cannot be audited": lambda: sm.Probit(CLASSES, X).fit(disp=0),
    "RLM cannot be audited": lambda: sm.RLM(AMOUNTS, X).fit(),
    "GLS cannot be audited": lambda: sm.GLS(AMOUNTS, X, sigma=WEIGHTS).fit(),
    "Gamma and the link Log": lambda: sm.GLM(COUNTS + 1, X, family=F.Gamma(F.links.Log())).fit(),
    "the link Probit": lambda: sm.GLM(CLASSES, X, family=F.Binomial(F.links.Probit())).fit(),
    "linear constraints": lambda: sm.GLM(COUNTS, X, family=F.Poisson()).fit_constrained("a = b"),
    "several trials a row": lambda: sm.GLM(
        np.column_stack([WEIGHTS, WEIGHTS + 1]), X, family=F.Binomial()
    ).fit(),
    "regression with an offset": lambda: sm.GLM(
        CLASSES, X, family=F.Binomial(), offset=EXPOSURE
    ).fit(),
    "different alpha": lambda: lasso(sm.Logit(CLASSES, X), [0, 1, 2, 3]),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_has_no_definition_is_refused_with_the_reason(reason):
    result = REFUSED[reason]()
    with pytest.raises(CannotVerifyError, match=reason):
        certus.verify(result)


def test_rows_that_do_not_fit_the_result_are_refused():
    result = FITS["WLS"]()
    with pytest.raises(CannotVerifyError, match="give both X and y"):
        certus.verify(result, X)
    with pytest.raises(CannotVerifyError, match="X has 2 columns and the result 4 coefficients"):
        certus.verify(result, X[["a", "b"]], AMOUNTS)
    with pytest.raises(
        CannotVerifyError, match="column 1 of X is 'b', and that of the result is 'a'"
    ):
        certus.verify(result, X[["const", "b", "a", "c"]], AMOUNTS)
    with pytest.raises(CannotVerifyError, match="give sample_weight as well"):
        certus.verify(result, X[:100], AMOUNTS[:100])


def test_other_models_need_their_rows():
    model = certus.linear_model.LinearRegression().fit(X[["a"]], AMOUNTS)
    with pytest.raises(CannotVerifyError, match="give the rows that this LinearRegression"):
        certus.verify(model)
