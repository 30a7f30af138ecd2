"""The whole procedure, by its result."""

import numpy as np
import pytest

import certus
from certus.model_files import load, write
from certus.reporting.procedure import run_procedure
from certus.reporting.procedure.fitting import PipelinePredictor
from certus.reporting.settings import Settings
from tests.report.procedure.examples import prepared, two_classes

FAST = Settings(models=("logistic", "knn", "ridge"), threads=1)


def target(task, columns, y):
    x = columns["x0"] + 0.3 * np.random.default_rng(1).normal(size=len(y))
    if task == "two classes":
        return y
    if task == "numbers":
        return 3 * x + 5
    return np.array(["low", "mid", "top"])[np.digitize(x, [-0.5, 0.6])]


def example(task="two classes", n=120, **options):
    columns, y = two_classes(n)
    return prepared(columns, target(task, columns, y), task=task, **options)


@pytest.fixture(scope="module")
def result():
    return run_procedure(example(), FAST)


def test_every_row_is_answered_by_models_that_had_not_seen_it(result):
    assert (result.outer.fold >= 0).all()
    assert np.isfinite(result.outer.output).all()
    assert set(result.by_candidate) == {"logistic", "knn"}
    assert result.comparison.n_outer_folds == 10
    assert result.comparison.n_inner_folds == 5


def test_the_measure_has_an_interval_and_a_baseline(result):
    m = result.measure
    assert m.name == "AUC"
    assert m.baseline == 0.5
    assert m.n == 120
    assert m.interval.low < m.value < m.interval.high
    assert m.value > 0.7


def test_the_baseline_is_shown_and_never_chosen(result):
    baseline = result.comparison.candidates[0]
    assert baseline.key == "baseline"
    assert baseline.rank == 0
    assert not baseline.chosen
    assert sum(c.chosen for c in result.comparison.candidates) == 1
    assert sum(c.n_chosen for c in result.comparison.candidates) == 10


def test_the_kept_model_is_certified_and_answers_by_its_pipeline(result):
    assert result.certificate.certified
    assert all(c.certified for _, c in result.other_certificates)
    rows = example()
    P = result.pipeline.predict_proba(rows.X)
    place = result.pipeline[-1].classes_.tolist().index("yes")
    assert np.array_equal(P[:, place], result.predictor.output(rows.X))


def test_the_answer_is_the_same_on_any_number_of_threads(monkeypatch, result):
    monkeypatch.setattr("certus.reporting.procedure.run.MIN_CELLS_IN_PARALLEL", 0)
    other = run_procedure(example(), Settings(models=FAST.models, threads=3))
    assert other.measure == result.measure
    assert other.comparison == result.comparison
    assert np.array_equal(other.outer.output, result.outer.output)
    assert np.array_equal(other.reference.output, result.reference.output)


@pytest.mark.costly
@pytest.mark.parametrize("task", ["two classes", "classes", "ordered classes", "numbers"])
def test_every_candidate_can_be_saved_verified_and_answers_the_same(task, tmp_path):
    from certus.reporting.procedure.candidates import candidates_for

    rows = example(task, 60)
    for candidate in candidates_for(rows, Settings()):
        found = run_procedure(rows, Settings(models=(candidate.key,), threads=1))
        path = tmp_path / f"{candidate.key}.certus"
        write(found.pipeline, path)
        again = PipelinePredictor(load(path), rows.labels, rows.positive)
        assert np.array_equal(again.output(rows.X), found.predictor.output(rows.X))
        assert certus.verify(again.pipeline, rows.X, rows.y).certified, candidate.key
        is_calibrated = candidate.is_calibrated or task == "numbers"
        assert bool(found.calibration) != is_calibrated


def test_two_and_three_rows_of_a_class_are_enough_for_folds():
    columns, _ = two_classes(40)
    for n_positive in (2, 3):
        y = np.where(np.arange(40) % 13 == 1, "ill", "well")
        y[np.flatnonzero(y == "ill")[n_positive:]] = "well"
        found = run_procedure(prepared(columns, y), Settings(threads=1))
        assert found.comparison.n_outer_folds == n_positive
        assert np.isfinite(found.outer.output).all()


def test_in_time_the_first_rows_have_no_answer():
    rows = example(n=120, times=np.arange(120.0))
    found = run_procedure(rows, FAST)
    without = found.outer.fold < 0
    assert without[:20].all()
    assert not without[20:].any()
    assert found.measure.n == 100
    assert "order of time" in found.how


def test_a_threshold_from_costs_or_the_share_of_the_positive():
    from certus.reporting.procedure.threshold import threshold_for_classes

    rows = example()
    share = float(np.mean(rows.y == "yes"))
    assert threshold_for_classes(rows, Settings())[0] == pytest.approx(share)
    costs = Settings(cost_false_positive=1.0, cost_false_negative=4.0)
    value, reason = threshold_for_classes(rows, costs)
    assert value == 0.2
    assert "costs" in reason
    assert threshold_for_classes(example("numbers"), Settings()) == (None, "")


def test_the_budget_leaves_out_the_most_expensive_and_says_so():
    rows = example()
    found = run_procedure(rows, Settings(budget=0.05, threads=1))
    assert [c.key for c in found.comparison.candidates] == ["baseline", "logistic"]
    assert any("Least-squares SVM was left out" in line for line in found.cut)


class Interrupting:
    """Progress that presses Ctrl-C after so many steps."""

    def __init__(self, steps):
        self.steps, self.n = steps, 0

    def step(self, name, done, of):
        assert 0 < done <= of
        self.n += 1
        if self.n == self.steps:
            raise KeyboardInterrupt


def test_an_interrupt_leaves_what_was_finished():
    one = Settings(models=("logistic",), threads=1)
    found = run_procedure(example(), one, Interrupting(20))
    assert found.stopped
    assert found.certificate.certified
    assert 1 <= found.comparison.n_outer_folds < 10
    assert (found.outer.fold < 0).any()
    assert found.measure.n == (found.outer.fold >= 0).sum()
    assert any("stopped by you" in line for line in found.cut)


def test_an_interrupt_with_nothing_finished_is_raised_again():
    with pytest.raises(KeyboardInterrupt):
        run_procedure(example(), Settings(models=("logistic",), threads=1), Interrupting(2))


def test_progress_reaches_all_of_the_work():
    steps = []

    class Noting:
        def step(self, name, done, of):
            steps.append((done, of))

    run_procedure(example(), FAST, Noting())
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == steps[-1][1]
