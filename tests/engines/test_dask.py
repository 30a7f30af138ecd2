"""Dask collections: the bits of arrays, lazy answers, lost workers, workers that differ."""

import os
import signal
import time

import numpy as np
import pandas as pd
import pytest

import certus
from certus.data.rows import Rows
from certus.engines import dask as dask_engine
from certus.engines.dask import DaskEngine
from certus.exceptions import WorkersDifferError
from certus.linear_model import Ridge
from certus.sources.dask.chunks import FrameColumns
from certus.sources.dask.table import dask_table
from tests.engines.test_parts import nearest_so_far

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
delayed = pytest.importorskip("dask").delayed
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]
N, P = 40_000, 6


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P)) * [1, 2, 3, 4, 5, 6] + 10
    return X, X @ np.arange(P) + rng.normal(size=N), rng.uniform(0.5, 2, size=N)


def collections(X, y, s, chunks=7_001):
    """X, y and weights in chunks of their own."""
    return (
        da.from_array(X, chunks=(chunks, -1)),
        da.from_array(y, chunks=9_999),
        da.from_array(s, chunks=N),
    )


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.Client(**options, set_as_default=False) as client:
        yield client


@pytest.fixture(params=["workers", "no client"])
def where(request):
    """With the user's client, and with Dask's own scheduler."""
    if request.param == "no client":
        yield None
        return
    with request.getfixturevalue("client").as_current() as client:
        yield client


def test_a_fit_on_chunks_has_the_bits_of_the_fit_on_arrays(where):
    X, y, s = data()
    one, many = Ridge().fit(X, y, s), Ridge().fit(*collections(X, y, s))
    np.testing.assert_array_equal(one.coef_, many.coef_)
    assert one.intercept_ == many.intercept_
    assert one.certificate_.objective == many.certificate_.objective
    assert one.certificate_.gap == many.certificate_.gap
    assert certus.verify(many, *collections(X, y, s)).certified
    other = certus.verify(many, *collections(X, y + X[:, 0], s))
    assert not other.certified


@pytest.mark.parametrize("chunks", [N, 20_000, 777])
def test_the_size_of_chunks_does_not_matter(where, chunks):
    X, y, s = data()
    found = Ridge().fit(*collections(X, y, s, chunks))
    np.testing.assert_array_equal(found.coef_, Ridge().fit(X, y, s).coef_)


def test_answers_are_lazy_and_those_of_arrays(where):
    X, y, s = data()
    model = Ridge().fit(X, y, s)
    dX, dy, ds = collections(X, y, s)
    answers = model.predict(dX)
    assert isinstance(answers, da.Array)
    assert answers.shape == (N,)
    np.testing.assert_allclose(answers.compute(), model.predict(X), rtol=1e-12)
    assert model.score(dX, dy, ds) == pytest.approx(model.score(X, y, s), rel=1e-12)


def test_frames_have_their_target_among_their_columns_or_beside_them(where):
    X, y, s = data()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y, s=s)
    expected = Ridge().fit(frame[list("abcdef")], y, s)
    partitions = dd.from_pandas(frame, npartitions=3)
    table = dask_table(partitions, columns=FrameColumns(None, ("y",), "s"))
    for found in (
        Ridge().fit(table),
        Ridge().fit(partitions[list("abcdef")], partitions["y"], partitions["s"]),
    ):
        np.testing.assert_array_equal(found.coef_, Ridge().fit(X, y, s).coef_)
        assert found.feature_names_in_.tolist() == list("abcdef")
    np.testing.assert_allclose(
        expected.predict(table).compute(), expected.predict(frame[list("abcdef")]), rtol=1e-12
    )


def test_delayed_blocks_and_unknown_sizes_are_counted_first(where):
    X, y, _ = data()
    expected = Ridge().fit(X, y).coef_
    blocks = [delayed(np.array)(part) for part in np.array_split(X, 5)]
    table = dask_table(blocks, da.from_array(y, chunks=3_000))
    np.testing.assert_array_equal(Ridge().fit(table).coef_, expected)
    kept = da.from_array(X, chunks=(8_000, -1))
    kept = kept[kept[:, 0] > -np.inf]  # its chunks have sizes that nobody knows
    found = Ridge().fit(kept, da.from_array(y, chunks=3_000))
    np.testing.assert_array_equal(found.coef_, expected)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y, s: X.__setitem__((30_000, 2), np.nan), "part .* X holds nan .*column 2"),
        (lambda X, y, s: y.__setitem__(5, np.inf), "part 0 .* y holds inf"),
        (lambda X, y, s: s.__setitem__(5, -1), "Negative values in data passed to `sample_weight`"),
        (lambda X, y, s: s.fill(0), "at least one non-zero"),
    ],
)
def test_bad_values_are_refused_with_their_part(where, spoil, message):
    X, y, s = data()
    spoil(X, y, s)
    with pytest.raises(ValueError, match=message):
        Ridge().fit(*collections(X, y, s))


def test_targets_of_another_length_are_refused(where):
    X, y, _ = data()
    with pytest.raises(ValueError, match=r"X has 40,000 rows, y has 39,999"):
        Ridge().fit(da.from_array(X, chunks=(9_000, -1)), da.from_array(y[:-1]))


def test_an_empty_partition_changes_nothing(where):
    X, y, _ = data()
    parts = [delayed(np.array)(part) for part in (X[:100], X[:0], X[100:])]
    np.testing.assert_array_equal(
        Ridge().fit(dask_table(parts, da.from_array(y))).coef_, Ridge().fit(X, y).coef_
    )


def test_a_partition_with_other_columns_is_named(where):
    X, y, _ = data()
    parts = [delayed(np.array)(part) for part in (X[:30_000], X[30_000:, :4])]
    with pytest.raises(
        ValueError, match=r"rows from .*: \[4\] columns, and others have 6|\[4, 6\]"
    ):
        dask_table(parts, da.from_array(y))


def test_workers_with_other_versions_are_named(client, monkeypatch):
    here = {**dask_engine.versions(), "numpy": "1.0"}
    monkeypatch.setattr(dask_engine, "versions_here", lambda: here)
    with pytest.raises(WorkersDifferError, match=r"tcp://.* has numpy .* instead of 1\.0"):
        dask_engine.require_equal_workers(client)


def test_a_worker_without_the_package_is_named(client, monkeypatch):
    monkeypatch.setattr(dask_engine, "versions_here", dict)
    monkeypatch.setattr(dask_engine, "versions", _needs_a_package_that_is_not_there)
    with pytest.raises(WorkersDifferError, match=r"tcp://.* lacks a package \(No module"):
        dask_engine.require_equal_workers(client)


def _needs_a_package_that_is_not_there():
    import not_installed  # noqa: F401


def killed_while(fit, at):
    """The result of a fit, and its number of passes; before pass ``at`` a worker is killed.

    It is one that holds a part of the table, and the scheduler has lost it before the pass begins.
    """
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.Client(**options) as client, pytest.MonkeyPatch.context() as patch:
        processes = client.run(os.getpid)
        passes = []
        started = DaskEngine.run

        def run(self, function, *args, **kwargs):
            passes.append(function.__name__)
            if len(passes) == at:
                distributed.wait(self.parts)
                assert len(self.parts) > 2
                holders = client.who_has(self.parts)
                worker = holders[self.parts[0].key][0]
                os.kill(processes[worker], signal.SIGKILL)
                while worker in client.scheduler_info(n_workers=-1)["workers"]:
                    time.sleep(0.02)
            return started(self, function, *args, **kwargs)

        patch.setattr(DaskEngine, "run", run)
        patch.setattr("certus.sources.dask.chunks.MIN_PART_BYTES", 1 << 17)
        result = fit()
        assert len(passes) >= at, "the worker was killed in the middle of the fit"
        return result, len(passes)


@pytest.mark.parametrize("at", [2, 3])  # before the sums of the fit, and before those of the proof
def test_a_killed_worker_changes_nothing(at):
    X, y, s = data()
    found, _ = killed_while(lambda: Ridge().fit(*collections(X, y, s)), at)
    np.testing.assert_array_equal(found.coef_, Ridge().fit(X, y, s).coef_)
    assert found.certificate_.certified


def nearest_of_all_passes(rows):
    """What is kept for every row after passes that each change it."""
    best, which = rows.allocate(), rows.allocate(dtype=np.int32)
    best[0:N] = np.inf
    for k, size in enumerate((4_000, 4_000, 3_000, 4_000, 4_000)):
        center = np.full(P, 5.0 * k)
        rows.reduce(nearest_so_far, center, k, beside=(best, which), block_rows=size)
    return np.asarray(best), np.asarray(which)


@pytest.mark.costly
def test_what_is_kept_for_every_row_is_made_again_after_a_loss():
    X, y, _ = data()

    def fit():
        table = dask_table(da.from_array(X, chunks=(7_001, -1)), y)
        return nearest_of_all_passes(Rows(table.X, table.y))

    expected = nearest_of_all_passes(Rows(X, y[:, None]))
    found, _ = killed_while(fit, 12)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
