"""Passes are messages to the workers: what they leave to tasks, and what they leave behind."""

import os
import signal

import numpy as np
import pytest

import certus
from certus.cluster import KMeans
from certus.data.rows import Rows
from certus.engines.dask import DaskEngine
from certus.engines.on_workers import WorkerPart
from certus.engines.protocol import Call, Piece
from certus.linear_model import LogisticRegression
from certus.runtime import allocator
from tests.engines.dask_data import MARKS, WORKERS, N, da, data, many_parts

distributed = pytest.importorskip("distributed")
pytestmark = MARKS


@pytest.fixture
def table(dask_client, monkeypatch):
    many_parts(monkeypatch)
    X, y, _ = data()
    with dask_client.as_current():
        yield certus.open_rows(da.from_array(X, chunks=(7_001, -1)), target=y > np.median(y))


@pytest.fixture
def tasks(monkeypatch):
    """The functions of the calls that are made by tasks."""
    found = []
    run = DaskEngine._run_tasks

    def watched(self, shared, calls, keeps):
        found.extend(shared.value[0].__name__ for _ in calls)
        return run(self, shared, calls, keeps)

    monkeypatch.setattr(DaskEngine, "_run_tasks", watched)
    return found


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_no_pass_of_a_fit_needs_a_task(table, tasks):
    LogisticRegression().fit(table)
    KMeans(4, n_init=1, random_state=0, max_iter=5).fit(table)
    assert tasks == []


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_parts_that_move_in_the_middle_of_a_fit_change_nothing(table, tasks, monkeypatch):
    """Values that were kept beside them are made again, by the calls that had made them."""
    expected = KMeans(9, n_init=1, random_state=0, max_iter=8).fit(data()[0])
    passes, run = [], DaskEngine.run

    def moving(self, function, args, calls, keeps=0):
        passes.append(1)
        if len(passes) == 8:
            self.client.run(_forget_what_is_kept, [part.key for part in self.parts[:2]])
        return run(self, function, args, calls, keeps)

    monkeypatch.setattr(DaskEngine, "run", moving)
    found = KMeans(9, n_init=1, random_state=0, max_iter=8).fit(table)
    assert tasks, "the lost states came from tasks"
    assert len(set(tasks)) < 3, "and passes were messages again afterwards"
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def _forget_what_is_kept(keys, dask_worker):
    for key in keys:
        if key in dask_worker.data:
            part = dask_worker.data[key]
            dask_worker.data[key] = WorkerPart(*part, part.summary)  # as a copy has it


def test_a_worker_that_dies_in_a_call_changes_nothing(tmp_path, monkeypatch):
    many_parts(monkeypatch)
    X, _, _ = data()
    with distributed.Client(**WORKERS):
        table = certus.open_rows(da.from_array(X, chunks=(7_001, -1)))
        rows, once = Rows(table.X), tmp_path / "died"
        (total,) = rows.reduce(_sums_after_a_death, str(once))
        assert once.exists()
        np.testing.assert_array_equal(total, Rows(X).reduce(_sums_after_a_death, str(once))[0])


def _sums_after_a_death(X, y, s, once):
    try:
        os.close(os.open(once, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        pass
    return (X.sum(axis=0),)


def test_values_that_a_pass_replaces_are_forgotten(table, dask_client):
    rows = Rows(table.X)
    state = rows.allocate((3,))
    for step in range(6):
        rows.map(_filled, state, step)
    np.testing.assert_array_equal(state[:2], np.full((2, 3), 5.0))
    assert len(table.head(N).X) == N  # a message to all workers takes the news along
    kept = dask_client.run(_count_kept, [part.key for part in table.engine.parts])
    assert sum(kept.values()) == len(state.handles)
    del state
    assert len(table.head(N).X) == N
    kept = dask_client.run(_count_kept, [part.key for part in table.engine.parts])
    assert sum(kept.values()) == 0


def _filled(X, y, s, value):
    return np.full((len(X), 3), float(value))


def _count_kept(keys, dask_worker):
    return sum(len(dask_worker.data[key].kept) for key in keys if key in dask_worker.data)


def test_a_value_that_an_engine_keeps_is_given_to_later_calls(table):
    handle = table.engine.keep(1, np.arange(3.0))
    call = Call((Piece(1, 0, 2),), (handle,), (10.0,))
    (result,) = table.engine.run(_own_plus_state, (), [call])
    np.testing.assert_array_equal(result.value, [10.0, 11.0, 12.0])


def _own_plus_state(parts, states, own):
    return (own[0] + states[0],)


def test_a_scheduler_that_closes_when_idle_sees_work(table, monkeypatch):
    monkeypatch.setattr("certus.engines.dask.QUIET_SECONDS", 0.0)
    started = []
    start = DaskEngine._start
    monkeypatch.setattr(
        DaskEngine, "_start", lambda self, *args: started.append(args) or start(self, *args)
    )
    table.head(2)
    table.head(3)
    (first, made), (_, later) = started  # a dashboard shows how many passes were made
    assert first.__name__ == "_passes"
    assert later == made + 1


class Library:
    """mallopt, which notes how it is called."""

    def __init__(self):
        self.set = []

    def mallopt(self, number, value):
        self.set.append((number, value))


def test_thresholds_of_the_allocator_are_raised_in_calls_and_restored(monkeypatch):
    monkeypatch.setattr(allocator.sys, "platform", "linux")
    monkeypatch.setenv(allocator.TRIM_VARIABLE, "65536")
    kept = allocator.KeptMemory()
    kept.library = Library()
    with kept, kept:
        assert kept.library.set == [
            (allocator.M_TRIM_THRESHOLD, allocator.KEPT_BYTES),
            (allocator.M_MMAP_THRESHOLD, allocator.MAX_REUSED_BYTES),
        ]
    assert kept.library.set[2:] == [
        (allocator.M_TRIM_THRESHOLD, 65536),
        (allocator.M_MMAP_THRESHOLD, allocator.DEFAULT_MMAP_BYTES),
    ]
    monkeypatch.delenv(allocator.TRIM_VARIABLE)
    alone = allocator.KeptMemory()
    alone.library = Library()
    with alone:
        pass
    assert alone.library.set == [], "an allocator that nobody has tuned chooses by itself"
