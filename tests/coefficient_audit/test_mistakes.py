"""Planted mistakes are noticed, and named."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import certus
from certus.coefficient_audit.presets import select
from certus.exceptions import TableError
from tests.coefficient_audit import planted
from tests.coefficient_audit.problems import design, optimum, rounded, rows

PRESETS = [
    ("least_squares", "none"), ("logistic", "none"), ("poisson", "none"), ("gamma", "none"),
    ("glmnet.gaussian", "l1"), ("sklearn.LogisticRegression", "l2"), ("glmnet.poisson", "l2"),
    ("sklearn.ElasticNet", "elastic_net"), ("liblinear.l2", "l2"),
]  # fmt: skip
CASES = [
    (name, shape, mistake)
    for mistake in planted.MISTAKES
    for name, shape in PRESETS
    if not (mistake is planted.other_class and select(name)[0].loss != "logistic")
    and not (mistake is planted.intercept_left_out and name.startswith("liblinear"))
]


def audited(name, shape, mistake, digits, seed=0):
    preset = select(name)[0]
    data = rows(seed, preset.loss, weighted=True)
    table, given = mistake(data, preset, shape, digits)
    return certus.audit_coefficients(table, **given)


@pytest.mark.exhaustive  # those of least squares and of the lasso are below
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("digits", [5, 17])
@pytest.mark.parametrize(
    ("name", "shape", "mistake"), CASES, ids=[f"{m.__name__}-{n}" for n, _, m in CASES]
)
def test_a_planted_mistake_is_named(name, shape, mistake, digits, seed):
    audit = audited(name, shape, mistake, digits, seed)
    assert audit.verdict == "not optimal"
    assert not audit.holds
    words = planted.MISTAKES[mistake]
    if words is None:
        assert audit.mistake is None
        assert "none of the objectives known fits" in audit.explain()
    else:
        assert words in audit.mistake


@pytest.mark.parametrize("mistake", [m for m, words in planted.MISTAKES.items() if words])
def test_a_mistake_in_an_unpenalised_table_is_named_with_the_objective(mistake):
    name = "logistic" if mistake is planted.other_class else "least_squares"
    audit = audited(name, "none", mistake, 5)
    assert planted.MISTAKES[mistake] in audit.mistake
    assert audit.mistake.endswith(f"it is an optimum of {name}")


def test_rows_that_are_not_those_of_the_fit_are_off_on_average():
    audit = audited("logistic", "none", planted.other_rows, 6)
    assert "on average, which no fit with an intercept leaves" in audit.nearest


def test_two_exchanged_coefficients_are_named_by_their_columns():
    audit = audited("glmnet.gaussian", "l1", planted.swapped, 5)
    assert "the coefficients of 'x1' and 'x3' are exchanged" in audit.mistake


def test_one_wrong_coefficient_is_named_among_right_ones():
    data = rows(1, "gaussian")
    for preset in ("least_squares", "sklearn.Ridge"):
        shape = "none" if preset == "least_squares" else "l2"
        table = rounded(optimum(select(preset)[0], shape, design(data)), 6)
        table["x3"] = f"{1.02 * float(table['x3']):.6g}"
        audit = certus.audit_coefficients(table, data["X"], data["y"])
        assert audit.mistake.startswith("the coefficient of 'x3' alone is wrong")
        assert [term.term for term in audit.terms if not term.within] == ["x3"]


def test_weights_among_the_columns_are_named():
    data = rows(1, "logistic", weighted=True)
    table = rounded(optimum(select("logistic")[0], "none", design(data)), 6)
    X = {**data["X"], "repeats": data["w"]}
    audit = certus.audit_coefficients(table, X, data["y"])
    assert "the weights in column 'repeats'" in audit.mistake
    assert certus.audit_coefficients(table, X, data["y"], sample_weight="repeats").holds


def test_strong_penalty_on_the_intercept_is_not_coarse_rounding():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(90, 2)), rng.uniform(size=90) < 0.8
    data = {"a": X[:, 0], "b": X[:, 1]}
    model = LogisticRegression(C=0.02, solver="liblinear", tol=1e-10, max_iter=10_000).fit(X, y)
    values = [model.intercept_[0], *model.coef_[0]]
    table = dict(zip(["(Intercept)", "a", "b"], [f"{v:.5g}" for v in values], strict=True))
    audit = certus.audit_coefficients(table, data, y.astype(int))
    assert audit.verdict == "optimal to the digits printed"
    assert audit.fits[0].name == "liblinear.l2"


def test_a_table_of_another_objective_says_which():
    data = rows(0, "logistic")
    (preset,) = select("sklearn.LogisticRegression")
    table = rounded(optimum(preset, "l2", design(data)), 6)
    audit = certus.audit_coefficients(table, data["X"], data["y"], objective="logistic")
    assert not audit.holds
    assert any("sklearn.LogisticRegression(C=0.5, l1_ratio=0)" in note for note in audit.notes)


def test_too_few_digits_decide_nothing():
    data = rows(1, "gaussian")
    data["y"] = 0.3 * data["y"]
    full = optimum(select("least_squares")[0], "none", design(data))
    table = {term: f"{value:.0f}" for term, value in full.items()}
    audit = certus.audit_coefficients(table, data["X"], data["y"])
    assert audit.verdict == "rounded too far to tell"
    assert not audit.holds


def test_means_beyond_float64_are_no_optimum():
    """exp(xᵀw) overflows at coefficients of least squares, and y are whole numbers."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    table = {"(Intercept)": "-240.62", "age": "0.005", "sex": "1.2828", "bmi": "-12.368",
             "bp": "7.8567", "s6": "0.89894"}  # fmt: skip
    for objective in ("poisson", "glmnet.poisson"):
        audit = certus.audit_coefficients(table, X, y, objective=objective)
        assert not audit.holds
        assert not audit.mistake


def test_a_table_without_slopes_tells_nothing():
    data = rows(1, "gaussian")
    zeros = {"(Intercept)": f"{data['y'].mean():.6g}", "x1": "0", "x2": "0"}
    with pytest.raises(TableError, match="any L1 penalty that is strong enough"):
        certus.audit_coefficients(zeros, data["X"], data["y"])
