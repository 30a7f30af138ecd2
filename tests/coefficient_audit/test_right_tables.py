"""No false alarms: right tables are found right, by any preset and with any number of digits."""

import pytest

import certus
from tests.coefficient_audit.problems import CASES, IDS, design, optimum, rounded, rows, strengths

# Spark's GLM divides by working weights, which printed coefficients give to a few digits
STRENGTH_RTOL = 0.01


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("digits", [3, 4, 6, 10, 17])
@pytest.mark.parametrize(("preset", "shape"), CASES, ids=IDS)
def test_a_right_table_is_found_right_with_its_strengths(preset, shape, digits, seed):
    data = rows(seed, preset.loss, weighted=bool(seed % 2))
    table = rounded(optimum(preset, shape, design(data)), digits)
    audit = certus.audit_coefficients(table, data["X"], data["y"], sample_weight=data["w"])
    assert audit.holds, audit
    if digits <= 10:
        assert audit.verdict == "optimal to the digits printed"
    (found,) = [one for one in (*audit.fits, *audit.weak) if one.name == preset.name]
    for name, value in strengths(preset, shape).items() if found in audit.fits else ():
        low, high = found.ranges[name]
        assert low * (1 - STRENGTH_RTOL) - 1e-9 <= value <= high * (1 + STRENGTH_RTOL) + 1e-9


@pytest.mark.parametrize("digits", [4, 17])
@pytest.mark.parametrize(("preset", "shape"), CASES, ids=IDS)
def test_a_stated_strength_is_taken_as_it_is(preset, shape, digits):
    if not preset.strength:
        pytest.skip("no penalty")
    data = rows(5, preset.loss, weighted=True)
    table = rounded(optimum(preset, shape, design(data)), digits)
    given = {"X": data["X"], "y": data["y"], "sample_weight": data["w"], "objective": preset.name}
    penalty = strengths(preset, shape)
    assert certus.audit_coefficients(table, **given, penalty=penalty).holds or (
        preset.normalizer == "working weights"
    )
    double = {**penalty, preset.strength: 3 * penalty[preset.strength]}
    wrong = certus.audit_coefficients(table, **given, penalty=double)
    assert not wrong.holds
    assert wrong.verdict == "not optimal"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["gaussian", "logistic", "poisson", "gamma"])
@pytest.mark.parametrize("digits", [2, 3, 5])
def test_rounding_to_decimals_and_dropping_zeros_is_no_alarm(loss, digits, seed):
    from certus.coefficient_audit.presets import PRESETS

    preset = next(one for one in PRESETS if one.loss == loss)
    data = rows(10 + seed, loss)
    full = optimum(preset, "none", design(data))
    table = {term: repr(round(value, digits)) for term, value in full.items()}
    audit = certus.audit_coefficients(table, data["X"], data["y"])
    assert audit.holds, audit


@pytest.mark.parametrize("digits", [4, 6, 17])
def test_a_solver_that_ends_early_is_no_alarm(digits):
    """At its default tolerance the lasso misses its optimum by a unit of the fourth digit."""
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Lasso

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = Lasso(alpha=2.0).fit(X, y)
    names, values = ["(Intercept)", *X.columns], [model.intercept_, *model.coef_]
    table = rounded(dict(zip(names, map(float, values), strict=True)), digits)
    audit = certus.audit_coefficients(table, X, y)
    assert audit.holds
    assert audit.fits[0].name == "sklearn.Lasso"
    assert audit.fits[0].strengths["alpha"] == pytest.approx(2, rel=1e-3)
    assert certus.audit_coefficients(table, X, y, objective="sklearn.Lasso", penalty=2).holds
