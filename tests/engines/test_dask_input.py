"""What no fit can use, in a Dask collection: the message names the chunk, or the worker."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import certus
from certus.engines import workers
from certus.engines.dask import DaskEngine
from certus.exceptions import ChunkFailedError, TableError, WorkersDifferError
from certus.linear_model import Ridge
from certus.neighbors import KNeighborsClassifier
from tests.engines.dask_data import MARKS, NAMES, N, P, collections, da, data

dd = pytest.importorskip("dask.dataframe")
delayed = pytest.importorskip("dask").delayed
pytestmark = MARKS


@pytest.fixture
def client(dask_client):
    with dask_client.as_current():
        yield dask_client


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda X, y, s: X.__setitem__((30_000, 2), np.nan),
            r"column 2 has a missing value \(NaN; row 1,996 of chunk 4 of the Dask array, counted",
        ),
        (
            lambda X, y, s: X.__setitem__((7_001, 0), -np.inf),
            "column 0 has an infinite value .row 0 of chunk 1 of the Dask array",
        ),
        (
            lambda X, y, s: y.__setitem__(7_000, np.inf),
            "target, 'target', has an infinite value .row 7,000 of chunk 0 of",
        ),
        (lambda X, y, s: s.__setitem__(5, -1), "the weights, 'weights', have -1 .row 5 of chunk 0"),
        (lambda X, y, s: s.fill(0), "the weights, 'weights', are all 0"),
    ],
)
def test_bad_values_are_refused_with_their_chunk(client, spoil, message):
    X, y, s = data()
    spoil(X, y, s)
    with pytest.raises(ValueError, match=message):
        Ridge().fit(*collections(X, y, s))


def test_bad_values_are_refused_without_a_client():
    X, y, s = data()
    X[30_000, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"column '2' has a missing value .NaN; row 30,000 of the Dask collection"
    ):
        Ridge().fit(*collections(X, y, s))


def test_of_several_bad_chunks_the_first_is_named(client):
    X, y, s = data()
    X[10_000::3] = np.nan
    for _ in range(3):
        with pytest.raises(ValueError, match="row 2,999 of chunk 1 of the Dask array"):
            Ridge().fit(*collections(X, y, s))


def _fails_in_chunk(k):
    def block(values, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == k:
            raise ZeroDivisionError("no rows in this month")
        return values

    return block


@pytest.mark.parametrize(
    ("spoiled", "alone"), [("X", "X.blocks[3].compute()"), ("y", "y.blocks[3].compute()")]
)
def test_an_error_in_the_graph_of_a_collection_names_the_chunk(where, spoiled, alone):
    given = dict(zip("Xys", collections(*data()), strict=True))
    given[spoiled] = given[spoiled].map_blocks(_fails_in_chunk(3), dtype=float)
    with pytest.raises(ChunkFailedError) as caught:
        Ridge().fit(given["X"], given["y"], given["s"])
    assert str(caught.value) == (
        f"chunk 3 of the Dask array, given as {spoiled}, could not be computed: "
        "ZeroDivisionError: no rows in this month. A function of its own graph raised this; "
        f"{alone} does the same on its own"
    )
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        given[spoiled].blocks[3].compute()


def test_an_error_in_the_graph_of_a_frame_or_of_blocks_names_it(where):
    X, y, _ = data()

    def fail(part):
        if part["a"].iloc[0] == X[30_000, 0]:
            raise KeyError("price")
        return part

    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=4)
    with pytest.raises(ChunkFailedError, match="partition 3 of the Dask frame, given as X, could"):
        Ridge().fit(frame.map_partitions(fail, meta=frame._meta), y)
    blocks = [delayed(np.asarray)(X[:20_000]), delayed(np.reshape)(X[20_000:], (7, 7))]
    with pytest.raises(ChunkFailedError, match=r"block 1 of the delayed blocks.*X\[1\].compute"):
        Ridge().fit(certus.open_rows(blocks, target=y))


def test_targets_of_another_length_are_refused(where):
    X, y, _ = data()
    for other in (y[:-1], np.append(y, 0)):
        with pytest.raises(ValueError, match=rf"X has 40,000 rows, y has {len(other):,}"):
            Ridge().fit(da.from_array(X, chunks=(9_000, -1)), da.from_array(other))


def test_empty_partitions_change_nothing(where):
    X, y, _ = data()
    parts = [delayed(np.array)(part) for part in (X[:0], X[:100], X[:0], X[100:], X[:0])]
    model = Ridge().fit(certus.open_rows(parts, target=da.from_array(y)))
    np.testing.assert_array_equal(model.coef_, Ridge().fit(X, y).coef_)
    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(y=y), npartitions=4)
    some = frame[frame["a"] > 13.5]  # few rows, in few partitions
    some = dd.concat([some.partitions[0][some.partitions[0]["a"] > 99], some])
    kept = X[:, 0] > 13.5
    np.testing.assert_array_equal(Ridge().fit(some, "y").coef_, Ridge().fit(X[kept], y[kept]).coef_)
    answers = Ridge().fit(X, y).predict(some[NAMES].to_dask_array())
    assert answers.compute().shape == (kept.sum(),)


def test_a_collection_without_rows_is_refused(client):
    with pytest.raises(ValueError, match="the collection has no rows"):
        Ridge().fit(da.from_array(np.empty((0, 3))), da.from_array(np.empty(0)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X[:, :4], r"block 1 of the delayed blocks has the shape \(10"),
        (lambda X: X.astype(str).astype(object) + "x", "block 1 of the .* that is no number"),
        (sp.csr_array, "block 1 of the delayed blocks is sparse"),
    ],
    ids=["other columns", "text", "sparse"],
)
def test_a_block_unlike_the_others_is_named(client, change, message):
    X, y, _ = data()
    blocks = [delayed(_same)(part) for part in (X[:30_000], change(X[30_000:]))]
    with pytest.raises(ValueError, match=message):
        certus.open_rows(blocks, target=y)


@pytest.mark.parametrize("chunk_rows", [10_000, N], ids=["chunks", "one chunk, cut into parts"])
@pytest.mark.parametrize("change", [-50, 50], ids=["fewer", "more"])
def test_a_chunk_with_another_number_of_rows_than_dask_says_is_refused(client, change, chunk_rows):
    X, y, s = data()
    last = X[-1, 0]

    def changed(chunk):
        if not len(chunk) or chunk[-1, 0] != last:
            return chunk
        return chunk[:change] if change < 0 else np.vstack([chunk, chunk[:change]])

    given = da.from_array(X, chunks=(chunk_rows, -1)).map_blocks(changed, dtype=float, meta=X[:0])
    with pytest.raises(
        TableError, match=rf"chunk .* has [\d,]+ rows, and Dask says {chunk_rows:,}"
    ):
        certus.open_rows(given, target=y, weights=s)


def test_a_chunk_of_targets_with_another_number_of_rows_is_refused(client):
    X, y, _ = data()
    given = da.from_array(y, chunks=10_000).map_blocks(_all_but_one, dtype=float, meta=y[:0])
    with pytest.raises(TableError, match=r"a chunk of y has 9,999 rows, and Dask says 10,000"):
        certus.open_rows(da.from_array(X, chunks=(7_000, -1)), target=given)


def _all_but_one(chunk):
    return chunk[1:]


def _same(value):
    return value


def test_a_partition_of_other_columns_or_types_is_named(client):
    X, y, _ = data()
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y)
    first, second = frame[:20_000], frame[20_000:]

    def opened(other):
        return certus.open_rows([delayed(_same)(first), delayed(_same)(other)], target="y")

    np.testing.assert_array_equal(Ridge().fit(opened(second)).coef_, Ridge().fit(X, y).coef_)
    with pytest.raises(ValueError, match="block 1 of the delayed blocks has no column 'b'"):
        opened(second.drop(columns="b"))
    with pytest.raises(ValueError, match="block 1 of the delayed blocks holds something else"):
        opened(second.assign(b="much"))
    partitions = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(ValueError, match="No column 'z' in the frame"):
        Ridge().fit(partitions, "z")
    with pytest.raises(ValueError, match="'when'"):
        Ridge().fit(partitions.assign(when=pd.Timestamp("2020-01-01")), "y")


def test_names_and_arrays_are_not_confused(client):
    X, y, _ = data()
    dX = da.from_array(X, chunks=(9_000, -1))
    with pytest.raises(TypeError, match="target='y' is no column: name a column of a Dask frame"):
        Ridge().fit(dX, "y")
    with pytest.raises(ValueError, match="select the columns of a Dask array by slicing"):
        certus.open_rows(dX, columns=["a"], target=y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        Ridge().fit(dX[:, 0], y)


def test_an_estimator_that_needs_all_rows_says_so_before_any_work(where):
    def never(block):
        raise AssertionError("the collection was computed")

    X = da.from_array(np.zeros((N, P)), chunks=(9_000, -1)).map_blocks(never, dtype=float)
    with pytest.raises(TypeError, match="KNeighborsClassifier needs all rows in memory"):
        KNeighborsClassifier().fit(X, X[:, 0])


# --- workers --------------------------------------------------------------------------------------


def test_workers_with_other_versions_are_named(client, monkeypatch):
    here = tuple((name, "1.0" if name == "numpy" else v) for name, v in workers.versions())
    monkeypatch.setattr(workers, "versions_here", lambda packages: here)
    with pytest.raises(WorkersDifferError, match=r"tcp://.* has numpy .* instead of 1\.0"):
        Ridge().fit(*collections(*data()))


def test_workers_that_join_later_are_compared_by_every_task(client, monkeypatch):
    table = certus.open_rows(da.from_array(data()[0], chunks=(9_000, -1)), target=data()[1])
    here = tuple((name, "1.0" if name == "scipy" else v) for name, v in workers.versions())
    monkeypatch.setattr("certus.engines.dask.versions_here", lambda: here)
    with pytest.raises(WorkersDifferError, match=r"tcp://.*, which joined later, has scipy"):
        Ridge().fit(table)


def test_a_worker_without_the_package_is_named(client, monkeypatch):
    monkeypatch.setattr(workers, "versions_there", _needs_a_package_that_is_not_there)
    with pytest.raises(WorkersDifferError, match=r"tcp://.* lacks a package \(No module"):
        workers.require_equal_workers(client)


def _needs_a_package_that_is_not_there(packages):
    import not_installed  # noqa: F401


def test_an_error_on_a_worker_is_the_error_of_the_fit(client, monkeypatch):
    X, y, _ = data()
    table = certus.open_rows(da.from_array(X, chunks=(9_000, -1)), target=y)
    with pytest.raises(ZeroDivisionError):
        DaskEngine.run(table.engine, _fails, (), _calls(table))
    np.testing.assert_array_equal(Ridge().fit(table).coef_, Ridge().fit(X, y).coef_)


def _fails(parts, states, own):
    raise ZeroDivisionError


def _calls(table):
    from certus.engines.protocol import Call, Piece

    return [Call((Piece(i, 0, n),)) for i, n in enumerate(table.engine.lengths())]
