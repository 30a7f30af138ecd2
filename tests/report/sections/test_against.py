"""What changed since an earlier report: only what changed, with both values."""

import json
from dataclasses import asdict, replace

from certus.reporting.content.values import Interval
from certus.reporting.sections import against
from tests.report.content_fixture import content


def earlier(found=None):
    return json.loads(json.dumps(asdict(found or content())))


def changes(now, before):
    return {c.what: c for c in against.make(now, before, "old.json").changes}


def test_an_equal_report_has_no_changes():
    found = against.make(content(), earlier(), "old.json")
    assert found.changes == ()
    assert found.text.startswith("Nothing")


def test_rows_classes_and_the_measure_are_compared():
    before = earlier()
    before["question"]["n_rows"] = 1400
    before["question"]["classes"][0]["n"] = 50
    before["verdict"]["measure"] |= {"value": 0.61, "interval": {"low": 0.55, "high": 0.64}}
    found = changes(content(), before)
    assert (found["rows"].before, found["rows"].after) == ("1,400", "1,599")
    assert found["rows"].text == "199 rows more"
    assert found["rows of 'yes'"].before == "50"
    assert found["AUC"].text == "the intervals do not overlap"
    assert found["AUC"].after == "AUC 0.72, 95 % interval 0.65–0.79"


def test_coefficients_are_compared_where_column_and_unit_are_the_same():
    now = content()
    effects = list(now.uses.effects)
    effects[0] = replace(effects[0], estimate=-0.8)
    effects[1] = replace(effects[1], unit="per 10", estimate=5.0)
    now = replace(now, uses=replace(now.uses, effects=tuple(effects)))
    found = changes(now, earlier())
    first = found["coefficient of volatile acidity, per 0.1"]
    assert (first.before, first.after) == ("0.8", "−0.8")
    assert "sign has changed" in first.text
    assert "outside its earlier interval" in first.text
    assert not any("sulphates" in what and "coefficient of" in what for what in found)


def test_new_and_gone_columns_problems_and_models_are_named():
    now = content()
    fewer = replace(now.uses, effects=now.uses.effects[1:])
    other = replace(now.comparison, candidates=(
        replace(now.comparison.candidates[0], chosen=False),
        replace(now.comparison.candidates[1], chosen=True),
        *now.comparison.candidates[2:],
    ))  # fmt: skip
    now = replace(now, uses=fewer, comparison=other, problems=replace(
        now.problems, problems=now.problems.problems[:1]))  # fmt: skip
    found = changes(now, earlier())
    assert found["columns with a coefficient that are gone"].before == "volatile acidity"
    assert found["data problems that are gone"].before == "D-SCALE"
    assert found["chosen model"].after == "Sparse logistic regression"


def test_a_changed_kind_of_verdict_comes_first():
    before = earlier()
    before["verdict"] |= {"kind": "no evidence", "headline": "No evidence."}
    found = against.make(content(), before, "old.json")
    assert found.changes[0].what == "verdict"
    assert found.changes[0].before == "No evidence."


def test_a_damaged_or_older_file_is_compared_where_it_can_be():
    for document in ({}, {"verdict": None}, {"question": {"n_rows": "many"}, "uses": 3}):
        assert against.make(content(), document, "x").source == "x"
    measure = replace(content().verdict.measure, interval=Interval(0.1, 0.2))
    now = replace(content(), verdict=replace(content().verdict, measure=measure))
    assert against.make(now, {"verdict": {"measure": {"value": "?"}}}, "x").changes == ()


def test_a_model_file_is_compared_by_target_rows_and_columns():
    document = {
        "kind": "model file",
        "summary": {"shape": [1000, 11]},
        "table": {"target": "quality", "used": ["pH", "colour of the label"], "columns": []},
    }
    found = changes(content(), document)
    assert found["target"].before == "quality"
    assert found["rows"].before == "1,000"
    assert "colour of the label" in found["columns"].before
    assert "pH" not in found["columns"].before
