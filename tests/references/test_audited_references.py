"""Coefficients that other programs printed: right ones are found right, wrong ones are named."""

import pytest

from tests.references.audited_references import audited, expected, printed, rounded, slopes
from tests.references.coefficient_cases import INTERCEPTS, NAMES, load

OPTIMAL = [name for name in NAMES if load(name).optimal]
BINARY = [name for name in OPTIMAL if load(name).positive is not None]
WEIGHTED = [name for name in OPTIMAL if load(name).weights]
WITH_OFFSET = [name for name in OPTIMAL if load(name).offset]
each_optimal = pytest.mark.parametrize("name", OPTIMAL)


def require_right(audit, case):
    """The program's own objective fits, at the strengths that it was given."""
    name, strengths = expected(case)
    assert audit.holds
    found = [fit for fit in (*audit.fits, *audit.weak) if fit.name == name]
    assert found
    for key, value in strengths.items():
        low, high = found[0].ranges[key]
        shown = found[0].strengths[key] == pytest.approx(value, rel=1e-3)
        assert shown or low <= value <= high


@each_optimal
def test_a_table_as_printed_is_right(name, tmp_path):
    case = load(name)
    require_right(audited(case, printed(case, tmp_path)), case)


@each_optimal
def test_coefficients_in_full_are_right(name):
    case = load(name)
    require_right(audited(case, case.full), case)


@each_optimal
@pytest.mark.parametrize("digits", [4, 7])
def test_rounded_coefficients_are_right(name, digits):
    case = load(name)
    require_right(audited(case, rounded(case.full, digits)), case)


@each_optimal
def test_rounded_strengths_are_those_of_the_program(name):
    """In full digits the strength is the very number, not one near it."""
    case = load(name)
    preset, strengths = expected(case)
    fits = [fit for fit in audited(case, case.full).fits if fit.name == preset]
    assert any(
        all(
            fit.strengths[key] == pytest.approx(value, abs=1e-12)
            for key, value in strengths.items()
        )
        for fit in fits
    )


def test_a_column_dropped_by_a_solver_is_not_optimal():
    case = load("statsmodels_glm_poisson_column_dropped")
    audit = audited(case, case.full)
    assert not audit.holds
    assert audit.verdict == "not optimal"


@pytest.mark.parametrize(
    ("name", "objective", "right"),
    [
        ("glmnet_lasso", "glmnet.gaussian.unstandardized", "glmnet.gaussian(lambda=0.2"),
        ("glmnet_lasso", "sklearn.Lasso", "glmnet.gaussian(lambda=0.2"),
        ("glmnet_binomial_ridge", "sklearn.LogisticRegression", "glmnet.binomial(lambda=0.1"),
        ("glmnet_elastic_net_unstandardized", "glmnet.gaussian", "glmnet.gaussian.unstandardized("),
        ("liblinear_l2", "sklearn.LogisticRegression", "liblinear.l2(C=0.3)"),
        ("liblinear_l1", "sklearn.LogisticRegression", "liblinear.l1(C=0.3)"),
        ("sklearn_logistic", "liblinear.l2", "sklearn.LogisticRegression(C=0.3"),
        ("statsmodels_ols_elastic_net", "sklearn.ElasticNet", "statsmodels.OLS.fit_regularized("),
    ],
)
def test_another_objective_is_refuted_and_the_right_one_named(name, objective, right):
    case = load(name)
    audit = audited(case, case.full, objective=objective)
    assert not audit.holds
    assert right in audit.explain()


@each_optimal
@pytest.mark.parametrize("digits", [4, 15])
def test_exchanged_coefficients_are_named(name, digits):
    case = load(name)
    a, b = slopes(case)[:2]
    wrong = rounded(case.full | {a: case.full[b], b: case.full[a]}, digits)
    audit = audited(case, wrong)
    assert not audit.holds
    assert f"'{a}' and '{b}' are exchanged" in audit.mistake


@pytest.mark.parametrize("name", BINARY)
def test_the_other_class_is_named(name):
    case = load(name)
    other = next(value for value in case.data[case.target] if value != case.positive)
    audit = audited(case, case.full, positive_class=other)
    assert not audit.holds
    assert f"(positive_class={case.positive!r})" in audit.mistake


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_that_were_not_given_are_named(name):
    case = load(name)
    audit = audited(case, case.full, sample_weight=None)
    assert not audit.holds
    assert "weights in column 'w'" in audit.mistake


@pytest.mark.parametrize("name", [name for name in OPTIMAL if not load(name).weights])
def test_weights_of_another_fit_are_named(name):
    case = load(name)
    others = [1.0, 2.0, 3.0, 1.0] * len(case.y)
    audit = audited(case, case.full, sample_weight=others[: len(case.y)])
    assert not audit.holds
    assert "without the weights" in audit.mistake


@pytest.mark.parametrize("name", WITH_OFFSET)
def test_an_exposure_that_was_not_given_is_named(name):
    case = load(name)
    audit = audited(case, case.full, offset=None)
    assert not audit.holds
    assert "log of column 'exposure'" in audit.mistake


@each_optimal
@pytest.mark.parametrize("digits", [5, 15])
def test_a_coefficient_that_is_off_by_one_percent_is_named(name, digits):
    case = load(name)
    term = slopes(case)[0]
    audit = audited(case, rounded(case.full | {term: 1.01 * case.full[term]}, digits))
    assert not audit.holds
    assert f"the coefficient of '{term}' alone" in audit.mistake


FACTORS = {
    "r_lm": "abc", "r_glm_poisson": "ab", "r_glm_binomial": ("north", "south", "west"),
    "r_glm_binomial_4_digits": ("north", "south", "west"),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTORS)
def test_another_reference_level_is_named(name):
    """The levels' coefficients relative to the second level, under the labels of the others."""
    case, levels = load(name), FACTORS[name]
    first, second = levels[:2]
    size = {level: case.full.get(f"group{level}", 0.0) for level in levels}
    wrong = dict(case.full)
    wrong["(Intercept)"] += size[second]
    others = [level for level in levels if level != second]
    for label, level in zip(levels[1:], others, strict=True):
        wrong[f"group{label}"] = size[level] - size[second]
    audit = audited(case, wrong)
    assert not audit.holds
    assert f"reference level '{second}'" in audit.mistake
    assert f"'{first}' as the reference" in audit.mistake
    right = {term: value for term, value in wrong.items() if not term.startswith("group")}
    right |= {f"group{level}": size[level] - size[second] for level in others}
    assert audited(case, right).holds


def test_intercepts_have_the_names_that_programs_give_them():
    assert {next(iter(load(name).full)) for name in NAMES} <= set(INTERCEPTS)
