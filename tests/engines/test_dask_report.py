"""The report where a back end of joblib runs its folds: the numbers of threads."""

import joblib
import numpy as np
import pandas as pd
import pytest

import certus
from certus.engines import workers
from certus.exceptions import WorkersDifferError
from certus.reporting.procedure import parallel, run_procedure
from certus.reporting.settings import Settings
from tests.engines.dask_data import MARKS
from tests.report.command import patients
from tests.report.procedure.test_run import FAST, Interrupting, example

pytestmark = [*MARKS, pytest.mark.filterwarnings("ignore:resource_tracker:UserWarning")]


@pytest.fixture(scope="module")
def on_threads():
    return run_procedure(example(n=60), FAST)


class Noting:
    """Progress that notes its steps."""

    def __init__(self):
        self.steps = []

    def step(self, name, done, of):
        self.steps.append((done, of))


def assert_equal_results(found, expected):
    assert found.measure == expected.measure
    assert found.comparison == expected.comparison
    for name in ("outer", "reference"):
        np.testing.assert_array_equal(getattr(found, name).output, getattr(expected, name).output)
    for name in ("status", "objective", "bound", "gap"):
        assert getattr(found.certificate, name) == getattr(expected.certificate, name)


@pytest.mark.costly
def test_the_report_of_dasks_workers_is_that_of_threads(dask_client):
    frame = pd.DataFrame(patients())
    here = certus.report(frame, target="ill", models="logistic")
    with dask_client.as_current(), joblib.parallel_config(backend="dask"):
        there = certus.report(frame, target="ill", models="logistic")
    assert there.to_json() == here.to_json()
    assert there.to_html() == here.to_html()


@pytest.mark.costly
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_any_back_end_gives_the_numbers_of_threads(backend, on_threads):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert_equal_results(run_procedure(example(n=60), FAST), on_threads)


@pytest.mark.costly
@pytest.mark.parametrize("task", ["classes", "ordered classes", "numbers"])
def test_every_candidate_can_be_sent_to_a_worker(task, dask_client):
    rows, all_models = example(task, 60), Settings(threads=1)
    with dask_client.as_current(), joblib.parallel_config(backend="dask"):
        found = run_procedure(rows, all_models)
    assert_equal_results(found, run_procedure(rows, all_models))


@pytest.mark.costly
def test_progress_counts_the_folds_that_are_done(dask_client, on_threads):
    progress = Noting()
    with dask_client.as_current(), joblib.parallel_config(backend="dask"):
        found = run_procedure(example(n=60), FAST, progress)
    assert_equal_results(found, on_threads)
    assert len(progress.steps) == 11
    assert [done for done, _ in progress.steps] == sorted(done for done, _ in progress.steps)
    assert progress.steps[-1][0] == progress.steps[-1][1]


@pytest.mark.costly
def test_an_interrupt_keeps_the_folds_that_are_done(dask_client):
    with dask_client.as_current(), joblib.parallel_config(backend="dask"):
        found = run_procedure(example(n=60), FAST, Interrupting(5))
    assert found.stopped
    assert found.certificate.certified
    assert 1 <= found.comparison.n_outer_folds <= 5
    assert any("stopped by you" in line for line in found.cut)


def test_threads_of_this_process_run_the_folds_unless_another_back_end_is_entered():
    assert parallel.entered_backend() is None
    with joblib.parallel_config(n_jobs=2):
        assert parallel.entered_backend() is None
    with joblib.parallel_config(backend="threading"):
        assert parallel.entered_backend() is None
    with joblib.parallel_config(backend="loky"):
        assert parallel.entered_backend() is not None


def test_workers_with_other_packages_are_named_before_the_work(dask_client, monkeypatch):
    here = tuple(
        (name, "1.0" if name == "scikit-learn" else version)
        for name, version in workers.versions(parallel.PACKAGES)
    )
    monkeypatch.setattr(workers, "versions_here", lambda packages: here)
    with (
        dask_client.as_current(),
        joblib.parallel_config(backend="dask"),
        pytest.raises(WorkersDifferError, match=r"tcp://.* has scikit-learn .* instead of 1\.0"),
    ):
        run_procedure(example(n=60), FAST)


def test_a_task_refuses_a_process_with_other_packages():
    here = workers.versions(parallel.PACKAGES)
    other = tuple((name, "1.0" if name == "numpy" else version) for name, version in here)
    with pytest.raises(WorkersDifferError, match=r"worker \d+ on .* has numpy .* instead of 1\.0"):
        parallel._elsewhere(other, 0, None, (), 0)
