"""``certus audit --coef``: a printed table of coefficients beside the table of its rows."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from tests.cli.test_model_commands import valid


@pytest.fixture
def tidy(folder):
    """Coefficients of the patients, four digits each, with their standard errors."""
    data = pd.read_csv("patients.csv").dropna().assign(t=lambda d: (d.ill == "yes") * 1)
    fit = smf.logit("t ~ age + city", data).fit(disp=0, tol=1e-12)
    table = pd.DataFrame({"term": fit.params.index, "estimate": fit.params, "std.error": fit.bse})
    table.to_csv("tidy.csv", index=False, float_format="%.4g")
    return "tidy.csv"


def complete(folder):
    pd.read_csv("patients.csv").dropna().to_csv("complete.csv", index=False)
    return "complete.csv"


def test_a_right_table_holds_and_a_changed_one_does_not(certus, folder, tidy):
    table = complete(folder)
    ran = certus("audit", "--coef", tidy, table, "--target", "ill")
    assert ran.code == 0
    assert "[OK] OPTIMAL TO THE DIGITS PRINTED" in ran.out
    assert "Std errors     classical: all agree" in ran.out
    text = Path(tidy).read_text("utf-8").replace("Oslo", "Bergen 2")
    coefficients = pd.read_csv(tidy)
    coefficients.loc[1, "estimate"] *= 1.2
    coefficients.to_csv("changed.csv", index=False)
    ran = certus("audit", "--coef", "changed.csv", table, "--target", "ill")
    assert ran.code == 1
    assert "[!!] NOT OPTIMAL" in ran.out
    Path("other.csv").write_text(text, "utf-8")
    ran = certus("audit", "--coef", "other.csv", table, "--target", "ill")
    assert ran.code == 3
    assert "Did you mean" in ran.err


def test_options_say_what_the_table_is_said_to_be(certus, folder, tidy):
    table = complete(folder)
    base = ("audit", "--coef", tidy, table, "--target", "ill")
    assert certus(*base, "--objective", "logistic").code == 0
    assert certus(*base, "--positive", "no").code == 1
    ran = certus(*base, "--objective", "sklearn.LogisticRegression", "--penalty", "C=0.01")
    assert ran.code == 1
    assert "logistic" in ran.out
    assert (
        certus(*base, "--objective", "glmnet.binomial", "--penalty", "lambda=0,alpha=1").code == 0
    )


def test_missing_values_are_refused_or_left_out(certus, folder):
    data = pd.read_csv("patients.csv").dropna()
    fit = smf.logit("t ~ age + dose", data.assign(t=(data.ill == "yes") * 1)).fit(disp=0)
    fit.params.to_csv("coef.csv")
    ran = certus("audit", "--coef", "coef.csv", "patients.csv", "--target", "ill")
    assert ran.code == 3
    assert "column 'dose' is missing in 1 row (row 3)" in ran.err
    ran = certus("audit", "--coef", "coef.csv", "patients.csv", "--target", "ill", "--na", "omit")
    assert ran.code == 0
    assert "1 row with missing values left out" in ran.out


def test_json_and_page_say_the_same(certus, folder, tidy):
    table = complete(folder)
    base = ("audit", "--coef", tidy, table, "--target", "ill")
    ran = certus(*base, "--json", "--html", "audit.html")
    document = json.loads(ran.out)
    valid("coefficient_audit", document)
    assert document["audit"]["holds"] is True
    assert ran.out.isascii()
    page = Path("audit.html").read_text("utf-8")
    assert "Optimal to the digits printed" in page
    assert "<script" not in page
    assert certus(*base, "--html", "audit.html").code == 2, "an existing file needs --force"
    assert certus(*base, "--html", "audit.html", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--coef", "tidy.csv", "patients.csv"], "give --target"),
        (["--coef", "tidy.csv", "a", "b", "--target", "ill"], "one table beside"),
        (["--coef", "tidy.csv", "patients.csv", "--target", "ill", "--columns", "age"],
         "--columns is for models"),
        (["--coef", "tidy.csv", "patients.csv", "--target", "ill", "--penalty", "x"],
         "--penalty x: give a number"),
        (["--coef", "tidy.csv", "patients.csv", "--target", "ill", "--objective", "logistc"],
         "Did you mean 'logistic'"),
        (["m.certus", "patients.csv", "--objective", "logistic"], "--objective is for --coef"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(certus, tidy, arguments, message):
    Path("m.certus").write_text("{}", "utf-8")
    ran = certus("audit", *arguments)
    assert ran.code == 2
    assert message in ran.err


def test_weights_and_offsets_are_columns_of_the_table(certus, folder):
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    x, years = rng.normal(size=90).round(3), rng.uniform(1, 5, size=90).round(3)
    data = pd.DataFrame({"x": x, "o": np.log(years).round(6), "w": rng.integers(1, 4, size=90)})
    data["n"] = rng.poisson(years * np.exp(0.5 * x - 1))
    data.to_csv("counts.csv", index=False)
    model = sm.GLM(
        data["n"], sm.add_constant(data["x"]), sm.families.Poisson(), offset=data["o"],
        freq_weights=data["w"],
    )  # fmt: skip
    model.fit(tol=1e-12).params.to_csv("coef.csv", float_format="%.6g")
    base = ("audit", "--coef", "coef.csv", "counts.csv", "--target", "n")
    assert certus(*base, "--weights", "w", "--offset", "o").code == 0
    ran = certus(*base, "--weights", "w")
    assert ran.code == 1
    assert certus(*base, "--weights", "v").code == 3
