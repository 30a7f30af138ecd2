"""Watching and stopping a fit whose rows are on Dask's workers."""

import signal
import threading
import time

import numpy as np
import pytest

import certus
from certus.engines.dask import DaskEngine
from certus.engines.protocol import Call, Piece
from certus.mixture import GaussianMixture
from tests.engines.dask_data import MARKS, da

pytestmark = MARKS
N = 6_000


@pytest.fixture
def table(dask_client):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3)) + rng.integers(0, 4, size=N)[:, None]
    with dask_client.as_current(), certus.open_rows(da.from_array(X, chunks=(1_500, -1))) as table:
        yield table


class Steps:
    """A callback of scikit-learn that notes the steps, and stops at one of them."""

    def __init__(self, last=None):
        self.last, self.steps, self.tasks = last, 0, []

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **_):
        self.tasks.append(context.task_name)

    def on_fit_task_end(self, estimator, context, **_):
        self.steps += context.task_name == "iteration"
        return self.steps == self.last

    def teardown(self, estimator, context):
        pass


def model(**options):
    return GaussianMixture(4, random_state=0, tol=1e-9, max_iter=50, **options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_callbacks_see_each_iteration_and_can_stop_the_fit(table):
    watching, stopping = Steps(), Steps(last=2)
    whole = model().set_callbacks(watching).fit(table)
    assert watching.tasks[0] == "fit"
    assert watching.steps >= whole.n_iter_ > 2
    stopped = model().set_callbacks(stopping).fit(table)
    assert stopping.steps == 2
    assert stopped.certificate_.status == "stopped"


def test_ctrl_c_keeps_the_best_iterate_with_its_certificate(table, monkeypatch):
    started, passes = DaskEngine.run, []

    def run(self, *args, **kwargs):
        passes.append(1)
        if len(passes) == 8:
            signal.raise_signal(signal.SIGINT)
        return started(self, *args, **kwargs)

    monkeypatch.setattr(DaskEngine, "run", run)
    fitted = model()
    with pytest.raises(KeyboardInterrupt) as interrupt:
        fitted.fit(table)
    assert "GaussianMixture stopped by you after" in interrupt.value.__notes__[0]
    assert fitted.certificate_.status == "stopped"
    assert len(fitted.certificate_.trace) > 0
    assert np.isfinite(fitted.means_).all()
    assert fitted.certificate_.objective == certus.verify(fitted, table).objective


def test_ctrl_c_in_a_pass_cancels_its_tasks(table, dask_client):
    calls = [Call((Piece(0, 0, table.engine.lengths()[0]),), (), (i,)) for i in range(20)]
    after = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    after.start()
    with pytest.raises(KeyboardInterrupt):
        table.engine.run(_sleeps, (), calls)
    after.join()
    for _ in range(200):
        if not any("certus-call" in key for key in _running(dask_client)):
            break
        time.sleep(0.02)
    assert not any("certus-call" in key for key in _running(dask_client))
    np.testing.assert_array_equal(table.head(2).X, table.read(0, 2).X)  # the engine still works


def _sleeps(parts, states, own):
    time.sleep(0.2)
    return (own[0],)


def _running(client):
    return client.run_on_scheduler(
        lambda dask_scheduler: [
            key for key, task in dask_scheduler.tasks.items() if task.state != "memory"
        ]
    )
