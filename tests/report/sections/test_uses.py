"""Coefficients are in the table's own units, whatever the pipeline scaled, with intervals."""

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm
from scipy.special import logit

from certus.reporting.sections import uses
from certus.reporting.sections.parts.column_weights import weights_of_columns
from certus.reporting.settings import Settings
from tests.report.fixtures import COLUMN_WEIGHTS, case

SETTINGS = Settings(target="outcome")
LINEAR = ("logistic", "loans", "unpenalized", "ridge", "linear", "lasso", "sparse")


def unit_of(effect):
    return float(effect.unit.removeprefix("per ").replace(",", ""))


def score(result, rows):
    output = result.predictor.output(rows)
    return logit(output) if result.comparison.candidates[0].measure == "AUC" else output


@pytest.mark.parametrize("name", LINEAR)
def test_an_effect_is_what_the_score_changes_when_the_column_changes(name):
    prepared, result = case(name)
    row = prepared.X.slice(0, 1)
    found = uses.make(prepared, SETTINGS, result)
    assert found.effects
    for effect in found.effects:
        j = row.column_names.index(effect.column)
        if effect.level is None:
            if row.column(j)[0].as_py() is None:
                continue
            value = float(row.column(j)[0].as_py())
            cells = (value, value + unit_of(effect))
            kind = pa.float64()
        elif effect.level == "other levels":
            continue
        else:
            cells = tuple(None if v == "missing" else v for v in (effect.reference, effect.level))
            kind = pa.string()
        before, after = (
            score(result, row.set_column(j, effect.column, pa.array([cell], kind)))[0]
            for cell in cells
        )
        assert after - before == pytest.approx(effect.estimate, rel=1e-5, abs=1e-7)
        if effect.ratio is not None:
            assert effect.ratio == pytest.approx(np.exp(effect.estimate))
        assert effect.interval is not None
        assert effect.unit


def test_without_a_penalty_intervals_and_p_values_are_those_of_theory():
    prepared, result = case("linear")
    frame = prepared.X.to_pandas()
    frame["sex"] = (frame["sex"] == "m").astype(float)
    theirs = sm.OLS(prepared.y, sm.add_constant(frame.astype(float))).fit()
    found = uses.make(prepared, SETTINGS, result)
    assert "by theory" in found.text
    for effect in found.effects:
        if effect.level is not None:  # m is the reference or the level
            sign = 1.0 if effect.level == "m" else -1.0
            unit = sign
        else:
            unit = unit_of(effect)
        assert effect.estimate == pytest.approx(unit * theirs.params[effect.column], rel=1e-6)
        ends = np.sort(unit * theirs.conf_int().loc[effect.column].to_numpy())
        assert (effect.interval.low, effect.interval.high) == pytest.approx(tuple(ends), rel=1e-6)
        assert effect.p_value == pytest.approx(theirs.pvalues[effect.column], rel=1e-5)


def test_odds_ratios_without_a_penalty_agree_with_statsmodels():
    prepared, result = case("unpenalized")
    frame = prepared.X.to_pandas()
    X = np.column_stack([
        np.ones(len(frame)), frame["income"].fillna(frame["income"].median()), frame["age"],
        frame["region"] == "south", frame["region"] == "east", frame["owner"] == "True",
    ]).astype(float)  # fmt: skip
    scale = np.array([1, 1e4, 10, 1, 1, 1.0])
    theirs = sm.Logit(prepared.y == "yes", X / scale).fit(disp=0)
    effects = {(e.column, e.level): e for e in uses.make(prepared, SETTINGS, result).effects}
    keys = [("income", None), ("age", None), ("region", "south"), ("region", "east"),
            ("owner", "True")]  # fmt: skip
    for place, key in enumerate(keys, start=1):
        effect = effects[key]
        assert effect.estimate == pytest.approx(theirs.params[place], rel=1e-4)
        low, high = theirs.conf_int()[place]
        assert (effect.interval.low, effect.interval.high) == pytest.approx((low, high), rel=1e-3)
        assert effect.ratio_interval.low == pytest.approx(np.exp(low), rel=1e-3)


def test_penalised_intervals_are_by_refits_and_say_so():
    prepared, result = case("ridge")
    found = uses.make(prepared, SETTINGS, result)
    assert "200 refits" in found.text
    assert all(e.p_value is None for e in found.effects)
    assert all(e.interval.low < e.estimate < e.interval.high for e in found.effects[:4])


def test_effects_are_sorted_by_what_a_standard_deviation_does():
    prepared, result = case("logistic")
    found = uses.make(prepared, SETTINGS, result)
    spread = prepared.X.to_pandas().std(ddof=0)
    sizes = [abs(e.estimate) / unit_of(e) * spread[e.column] for e in found.effects]
    assert sizes == sorted(sizes, reverse=True)


def test_rare_levels_are_not_shown_by_name():
    prepared, result = case("loans")
    counts = prepared.X.to_pandas()["region"].value_counts()
    rare = set(counts[counts < 5].index)
    found = uses.make(prepared, SETTINGS, result)
    assert not rare & {e.level for e in found.effects}
    assert not any(level in str(found) for level in rare)


def test_sparse_models_have_selection_frequencies():
    prepared, result = case("lasso")
    found = uses.make(prepared, SETTINGS, result)
    by_name = {s.column: s for s in found.selected}
    assert by_name["bmi"].frequency == 1.0
    kept = {name for name, w in zip(prepared.X.column_names,
                                    result.pipeline[-1].coef_, strict=False) if w}  # fmt: skip
    assert len({e.column for e in found.effects}) == len(kept)
    assert f"leaves out {10 - len(kept)} of 10 columns" in found.text


def test_weights_of_neighbours_come_with_frequencies():
    prepared, result = case("ncfs-knn")
    found = uses.make(prepared, SETTINGS, result)
    assert found.kind == "weights"
    weights = {s.column: s.weight for s in found.selected}
    for name, w in zip(prepared.X.column_names, COLUMN_WEIGHTS, strict=True):
        assert weights.get(name, 0.0) == w
    assert all(0 <= s.frequency <= 1 and s.n_resamples >= 10 for s in found.selected)
    assert weights_of_columns(*case("knn")[:1], SETTINGS, case("knn")[1]) is None


def test_models_without_coefficients_say_why_there_are_none():
    for name in ("knn", "ls-svm"):
        found = uses.make(*case(name)[:1], SETTINGS, case(name)[1])
        assert found.kind == "none"
        assert "no coefficients" in found.text
        assert not found.effects


def test_softmax_has_a_coefficient_for_each_class():
    prepared, result = case("softmax")
    found = uses.make(prepared, SETTINGS, result)
    assert {e.of_class for e in found.effects} == set(prepared.classes)
    assert len(found.effects) == 4 * 3


def test_tables_too_large_for_refits_have_intervals_by_theory(monkeypatch):
    from certus.reporting.sections.parts import uncertainty

    prepared, result = case("logistic")
    refitted = uses.make(prepared, SETTINGS, result).effects
    monkeypatch.setattr(uncertainty, "MAX_OPERATIONS", 1.0)
    monkeypatch.setattr(uncertainty, "_made", {})
    found = uses.make(prepared, SETTINGS, result)
    assert "ignores that the penalty" in found.text
    for one, other in zip(found.effects, refitted, strict=True):
        assert one.interval.low < one.estimate < one.interval.high
        assert one.p_value is None
        assert one.estimate == other.estimate
    assert (
        "too many for refits" in uses.make(*case("softmax")[:1], SETTINGS, case("softmax")[1]).text
    )
