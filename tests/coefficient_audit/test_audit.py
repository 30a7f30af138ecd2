"""The audit as users meet it: verdicts, standard errors, refusals, what is printed."""

import json

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from referencing import Registry, Resource

import certus
from certus.exceptions import TableError, UsageError
from tests.house.source import REPOSITORY

rng = np.random.default_rng(8)
n = 200
FRAME = pd.DataFrame(
    {
        "age": rng.integers(20, 80, size=n).astype(float),
        "dose": np.round(rng.gamma(2, size=n), 2),
        "sex": rng.choice(["f", "m"], size=n),
    }
)
FRAME["ill"] = np.where(
    rng.uniform(size=n) < 1 / (1 + np.exp(-(0.04 * FRAME.age - 2 + 0.5 * FRAME.dose - 1))),
    "yes", "no",
)  # fmt: skip
FRAME["cost"] = 3 + 0.1 * FRAME.age + FRAME.dose * rng.normal(1, 0.5, size=n)
DESIGN = sm.add_constant(
    pd.DataFrame({"age": FRAME.age, "dose": FRAME.dose, "sexm": (FRAME.sex == "m") * 1.0})
)
LOGIT = sm.Logit((FRAME.ill == "yes") * 1.0, DESIGN).fit(disp=0, tol=1e-14)
OLS = sm.OLS(FRAME.cost, DESIGN).fit()


def tidy(fit, digits=4, errors=None):
    errors = fit.bse if errors is None else errors
    return pd.DataFrame(
        {
            "term": fit.params.index,
            "estimate": [f"{v:.{digits}g}" for v in fit.params],
            "std.error": [f"{v:.{digits}g}" for v in errors],
        }
    )


def test_a_table_of_a_paper_is_audited_with_its_standard_errors():
    audit = certus.audit_coefficients(tidy(LOGIT), FRAME, "ill")
    assert audit.holds
    assert audit.verdict == "optimal to the digits printed"
    assert [one.name for one in audit.fits] == ["logistic"]
    assert audit.cov == "classical"
    assert audit.certificate.status in ("optimal", "nearly optimal")
    assert audit.optimum_certificate.certified
    assert audit.decisions.n == n
    np.testing.assert_allclose([t.optimum for t in audit.terms], LOGIT.params, rtol=1e-8)
    np.testing.assert_allclose([t.error for t in audit.terms], LOGIT.bse, rtol=1e-6)
    assert all(abs(t.units) <= 0.5 for t in audit.terms)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_standard_errors_are_named(kind):
    errors = getattr(OLS, f"{kind}_se")
    audit = certus.audit_coefficients(tidy(OLS, 6, errors), FRAME, "cost")
    assert audit.holds
    assert audit.cov == kind


def test_quasi_likelihood_is_named():
    phi = LOGIT.resid_pearson @ LOGIT.resid_pearson / LOGIT.df_resid
    audit = certus.audit_coefficients(tidy(LOGIT, 5, LOGIT.bse * np.sqrt(phi)), FRAME, "ill")
    assert audit.cov == "quasi-likelihood"


def test_a_wrong_standard_error_is_named_and_fails_the_audit():
    errors = OLS.bse.copy()
    errors["dose"] *= 1.02
    audit = certus.audit_coefficients(tidy(OLS, 5, errors), FRAME, "cost")
    assert not audit.holds
    assert audit.verdict == "optimal to the digits printed"
    assert [t.term for t in audit.terms if not t.error_agrees] == ["dose"]
    assert "'dose'" in audit.notes[-1]
    assert audit.explain().startswith("[!] ")
    assert repr(audit).endswith("its standard errors are not)")


@pytest.mark.parametrize("frame", [pl.from_pandas(FRAME), pl.from_pandas(FRAME).to_arrow()])
def test_any_frame_gives_the_same(frame):
    table = tidy(OLS)
    same = certus.audit_coefficients(table, FRAME, FRAME["cost"])
    audit = certus.audit_coefficients(pl.from_pandas(table), frame, "cost")
    assert audit.to_dict() == same.to_dict()


def test_offsets_belong_to_counts_and_numbers():
    years = FRAME["age"].to_numpy() / 50
    y = np.random.default_rng(0).poisson(years * np.exp(0.3 * FRAME["dose"] - 1))
    fit = sm.GLM(y, DESIGN[["const", "dose"]], sm.families.Poisson(), offset=np.log(years)).fit()
    audit = certus.audit_coefficients(tidy(fit, 7), FRAME, y, offset=np.log(years))
    assert audit.fits[0].name == "poisson"
    assert audit.cov == "classical"
    with pytest.raises(UsageError, match="an offset"):
        certus.audit_coefficients(tidy(LOGIT), FRAME, "ill", offset=np.ones(n))


def test_missing_values_are_refused_by_row_and_column_or_left_out():
    holes = FRAME.copy()
    holes.loc[[3, 7], "dose"] = np.nan
    fit = sm.OLS(FRAME.cost.drop([3, 7]), DESIGN.drop([3, 7])).fit()
    with pytest.raises(TableError, match=r"column 'dose' is missing in 2 rows \(row 3, 7\)"):
        certus.audit_coefficients(tidy(fit), holes, "cost")
    audit = certus.audit_coefficients(tidy(fit), holes, "cost", na="omit")
    assert audit.holds
    assert audit.n_omitted == 2
    assert "2 rows with missing values left out" in audit.explain()


def test_repeated_columns_have_no_unique_optimum_and_any_of_them_fits():
    twin = FRAME.assign(female=(FRAME.sex == "f") * 1.0, male=(FRAME.sex == "m") * 1.0)
    b, age, dose, male = OLS.params
    table = {"const": f"{b - 1:.6f}", "age": f"{age:.6f}", "dose": f"{dose:.6f}",
             "female": "1.000000", "male": f"{1 + male:.6f}"}  # fmt: skip
    assert certus.audit_coefficients(table, twin, "cost").holds
    table["male"] = f"{2 + male:.6f}"
    assert not certus.audit_coefficients(table, twin, "cost").holds


def test_separated_classes_have_no_finite_optimum():
    X = {"x": np.arange(20.0)}
    y = (np.arange(20) > 9).astype(int)
    audit = certus.audit_coefficients({"(Intercept)": "-950.1", "x": "100.01"}, X, y)
    assert not audit.holds
    assert audit.optimum_certificate is None or not audit.optimum_certificate.certified


def test_nearly_separated_classes_are_not_called_optimal():
    """All rows of one group are of one class: its coefficient has no finite optimum."""
    rng = np.random.default_rng(2)
    group = np.repeat([0.0, 1.0], 60)
    x = rng.normal(size=120)
    y = np.where(group == 1, 1, rng.uniform(size=120) < 1 / (1 + np.exp(-x))).astype(int)
    design = sm.add_constant(pd.DataFrame({"x": x, "group": group}))
    fit = sm.GLM(y, design, sm.families.Binomial()).fit(maxiter=25)
    audit = certus.audit_coefficients(tidy(fit, 6), {"x": x, "group": group}, y)
    assert not audit.holds
    assert audit.verdict in ("no finite optimum", "not proven", "not optimal")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"penalty": 1.0}, "give objective= as well"),
        ({"objective": "glmnet.gaussian", "penalty": {"C": 1}}, "takes 'lambda' and 'alpha'"),
        ({"objective": "glmnet.gaussian", "penalty": -1.0}, "strengths are not negative"),
        ({"objective": "logistic"}, "for another kind of target"),
        ({"objective": "least_squares", "penalty": 1.0}, "needs an objective with a penalty"),
        ({"objective": "lest_squares"}, "Did you mean 'least_squares'?"),
        ({"na": "drop"}, 'use "error" or "omit"'),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(given, message):
    with pytest.raises(UsageError) as refusal:
        certus.audit_coefficients(tidy(OLS), FRAME, "cost", **given)
    assert message in str(refusal.value)


def test_refusals_of_data_name_the_remedy():
    with pytest.raises(TableError, match="y has 3 classes"):
        certus.audit_coefficients(tidy(OLS), FRAME, np.resize(["a", "b", "c"], n))
    with pytest.raises(TableError, match=r"No column for y 'costs' in the data\. Did you mean"):
        certus.audit_coefficients(tidy(OLS), FRAME, "costs")
    with pytest.raises(TableError, match="Did you mean 'dose'"):
        certus.audit_coefficients({"doze": 1.0}, FRAME, "cost")
    with pytest.raises(TableError, match="are the same column"):
        certus.audit_coefficients({"sexm": 1.0, "sex_m": 1.0}, FRAME, "cost")


def test_texts_of_users_are_escaped_in_html():
    bad = "<script>alert(1)</script>"
    frame = FRAME.rename(columns={"dose": bad})
    table = tidy(OLS).replace({"dose": bad})
    page = certus.audit_coefficients(table, frame, "cost")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_json_follows_its_schema():
    folder = REPOSITORY / "docs" / "schemas"
    schema = json.loads((folder / "coefficient_audit.json").read_text("utf-8"))
    certificate = json.loads((folder / "certificate.json").read_text("utf-8"))
    store = Registry().with_resource("certificate.json", Resource.from_contents(certificate))
    check = jsonschema.Draft202012Validator(
        {"$defs": schema["$defs"], "$ref": "#/$defs/audit"}, registry=store
    )
    good = certus.audit_coefficients(tidy(OLS), FRAME, "cost")
    wrong = certus.audit_coefficients({"age": "0.5", "dose": "1.25"}, FRAME, "cost")
    for audit in (good, wrong):
        check.validate(json.loads(audit.to_json()))


def test_the_verdict_comes_first_and_all_fits_a_screen():
    text = certus.audit_coefficients(tidy(OLS), FRAME, "cost").explain()
    assert text.startswith("[OK] OPTIMAL TO THE DIGITS PRINTED   4 coefficients, 200 rows")
    assert len(text.splitlines()) < 25
