"""Dask collections: the bits of arrays, lazy answers, frames, what stays on the workers."""

import gc
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import certus
from certus.data.rows import Rows
from certus.engines.direct import KeptItem
from certus.linear_model import LogisticRegression, Ridge
from certus.sources.dask.table import DaskTable
from tests.engines.dask_data import MARKS, NAMES, N, P, collections, da, data, many_parts

dd = pytest.importorskip("dask.dataframe")
delayed = pytest.importorskip("dask").delayed
distributed = pytest.importorskip("distributed")
pytestmark = MARKS


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


@pytest.mark.parametrize(
    "chunks",
    [
        777,
        N,
        (1, 8_191, 3, 12_345, 19_459, 1),
        (39_999, 1),
        (130,) * 307 + (90,),
    ],
    ids=["777", "one", "odd", "the last row alone", "of 130 rows"],
)
def test_bits_do_not_depend_on_where_a_user_cuts_the_rows(where, chunks, monkeypatch):
    many_parts(monkeypatch)
    X, y, s = data()
    found = Ridge().fit(*collections(X, y, s, chunks))
    np.testing.assert_array_equal(found.coef_, Ridge().fit(X, y, s).coef_)


@pytest.mark.costly
@pytest.mark.parametrize("at", ["an address", "threads of this process"])
def test_any_client_gives_the_same_bits(at, dask_client, monkeypatch):
    many_parts(monkeypatch)
    X, y, s = data()
    expected = Ridge().fit(X, y, s)
    options = (
        {"address": dask_client.scheduler.address}
        if at == "an address"
        else {
            "processes": False,
            "n_workers": 1,
            "threads_per_worker": 3,
            "dashboard_address": None,
        }
    )
    with distributed.Client(**options):
        found = Ridge().fit(*collections(X, y, s))
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.certificate_.gap == expected.certificate_.gap


def test_standard_errors_are_those_of_arrays(where):
    X, y, s = data()
    k = (y > np.median(y)).astype(int)
    for model, target in ((Ridge(), y), (LogisticRegression(C=np.inf), k)):
        found = model.fit(X, target, s).inference(*collections(X, target, s), "HC0")
        expected = model.inference(X, target, s, cov="HC0")
        np.testing.assert_array_equal(found.standard_errors, expected.standard_errors)


def test_answers_are_lazy_and_those_of_arrays(where):
    X, y, s = data()
    model = Ridge().fit(X, y, s)
    dX, dy, ds = collections(X, y, s)
    answers = model.predict(dX)
    assert isinstance(answers, da.Array)
    assert answers.shape == (N,)
    np.testing.assert_allclose(answers.compute(), model.predict(X), rtol=1e-12)
    assert model.score(dX, dy, ds) == pytest.approx(model.score(X, y, s), rel=1e-12)


# --- frames ---------------------------------------------------------------------------------------


def test_a_target_is_a_column_of_the_frame_or_stands_beside_it(where):
    X, y, s = data()
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y, s=s)
    partitions = dd.from_pandas(frame, npartitions=3)
    expected = Ridge().fit(X, y, s)
    with certus.open_rows(partitions, target="y", weights="s") as table:
        assert table.names == tuple(NAMES)
        assert table.head(3).X.shape == (3, P)
        np.testing.assert_allclose(table.means, X.mean(axis=0))
        found = [
            Ridge().fit(table),
            Ridge().fit(partitions, "y", "s"),
            Ridge().fit(partitions[NAMES], partitions["y"], partitions["s"]),
        ]
        for model in found:
            np.testing.assert_array_equal(model.coef_, expected.coef_)
            assert model.feature_names_in_.tolist() == NAMES
        answers = found[0].predict(table)
    np.testing.assert_allclose(answers.compute(), expected.predict(X), rtol=1e-12)
    assert certus.verify(found[0], partitions, "y", "s").certified


def test_categories_that_differ_by_partition_are_those_of_the_whole_frame(where):
    X, y, _ = data()
    city = np.array(["Bern", "Ulm", "Graz", "Wien"])[np.arange(N) * 4 // N]
    frame = pd.DataFrame({"a": X[:, 0], "city": pd.Categorical(city), "b": X[:, 1], "y": y})
    partitions = dd.from_pandas(frame, npartitions=4)
    one_each = partitions.map_partitions(
        lambda part: part.assign(city=part["city"].cat.remove_unused_categories())
    )
    expected = certus.open_rows(lambda: [frame], target="y", categories="drop-first")
    for given in (partitions, one_each, partitions.assign(city=partitions["city"].astype(str))):
        table = certus.open_rows(given, target="y", categories="drop-first")
        assert table.names == ("a", "city_Graz", "city_Ulm", "city_Wien", "b")
        assert table.categories == {"city": ["Bern", "Graz", "Ulm", "Wien"]}
        one, many = Ridge().fit(expected), Ridge().fit(table)
        np.testing.assert_array_equal(one.coef_, many.coef_)
        np.testing.assert_allclose(
            many.predict(table).compute(), expected.read(0, N).X @ one.coef_ + one.intercept_
        )


def test_targets_of_text_are_classes_wherever_they_occur(where):
    X, y, _ = data()
    labels = np.where(y > np.median(y), "much", "little").astype(object)
    labels[:10_000] = "little"  # the first part has one class alone
    dX = da.from_array(X, chunks=(9_000, -1))
    table = certus.open_rows(dX, target=da.from_array(labels, chunks=7_001))
    assert table.classes.tolist() == ["little", "much"]
    block = table.read(9_990, 10_100)
    np.testing.assert_array_equal(table.classes[block.y[:, 0].astype(int)], labels[9_990:10_100])
    whole = certus.open_rows(dX, target=da.from_array((y > 0).astype(int)))
    assert whole.distinct_targets.dtype.kind == "i"


def test_delayed_blocks_and_unknown_sizes_are_counted_first(where):
    X, y, _ = data()
    expected = Ridge().fit(X, y).coef_
    blocks = [delayed(np.array)(part) for part in np.array_split(X, 5)]
    table = certus.open_rows(blocks, target=da.from_array(y, chunks=3_000))
    np.testing.assert_array_equal(Ridge().fit(table).coef_, expected)
    kept = da.from_array(X, chunks=(8_000, -1))
    kept = kept[kept[:, 0] > -np.inf]  # its chunks have sizes that nobody knows
    found = Ridge().fit(kept, da.from_array(y, chunks=3_000))
    np.testing.assert_array_equal(found.coef_, expected)
    assert found.predict(kept).compute().shape == (N,)


# --- where rows are -------------------------------------------------------------------------------


def test_one_giant_partition_is_cut_for_all_workers(dask_client, monkeypatch):
    many_parts(monkeypatch)
    X, y, _ = data()
    with dask_client.as_current():
        table = certus.open_rows([delayed(np.array)(X)], target=y)
        assert isinstance(table, DaskTable)
        workers = {at[0] for at in dask_client.who_has(table.engine.parts).values()}
        assert len(workers) == 2
        np.testing.assert_array_equal(Ridge().fit(table).coef_, Ridge().fit(X, y).coef_)


def test_parts_are_forgotten_when_the_table_is(dask_client):
    X, y, s = data()

    def ours():
        return {key for key in _keys(dask_client) if key.startswith("certus")} - before

    before = set()
    before = ours()  # of tables of other tests, which a traceback may refer to
    with dask_client.as_current():
        Ridge().fit(*collections(X, y, s))
        assert _becomes_empty(ours)
        table = certus.open_rows(da.from_array(X, chunks=(9_000, -1)), target=y)
        assert ours()
        del table
        gc.collect()
        assert _becomes_empty(ours)
        table = certus.open_rows(da.from_array(X, chunks=(9_000, -1)), target=y)
        table.close()
        assert _becomes_empty(ours)
        with pytest.raises(ValueError, match="was closed: open it again"):
            Ridge().fit(table)


def _keys(client):
    return client.run_on_scheduler(lambda dask_scheduler: [str(k) for k in dask_scheduler.tasks])


def _becomes_empty(keys):
    for _ in range(200):
        if not keys():
            return True
        time.sleep(0.02)
    return False


# --- with scikit-learn ----------------------------------------------------------------------------


def test_a_grid_search_on_dask_through_joblib_is_that_of_one_machine(dask_client):
    import joblib

    X, y, _ = data()
    X, y = X[:2_000], y[:2_000]
    here = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    with dask_client.as_current(), joblib.parallel_config(backend="dask"):
        there = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=3).fit(X, y)
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_array_equal(here.cv_results_[name], there.cv_results_[name])
    assert there.best_estimator_.certificate_.certified
    np.testing.assert_array_equal(here.best_estimator_.coef_, there.best_estimator_.coef_)


def test_the_driver_keeps_nothing_of_the_length_of_the_table(dask_client):
    X, y, _ = data()
    with dask_client.as_current():
        table = certus.open_rows(da.from_array(X, chunks=(9_000, -1)), target=da.from_array(y))
        rows = Rows(table.X, table.y)
        state = rows.allocate((3,))
        rows.map(_first_three, state)
        assert all(isinstance(handle, KeptItem) for handle in state.handles)
        np.testing.assert_array_equal(state[5:9], X[5:9, :3])


def test_a_pass_over_targets_moves_no_row_of_x(dask_client, monkeypatch):
    many_parts(monkeypatch)
    X, y, s = data()
    with dask_client.as_current():
        table = certus.open_rows(da.from_array(X, chunks=(9_000, -1)), target=y, weights=s)
        assert len(table.engine.parts) > 2  # a block of targets spans them all
        assert Rows(table.X, table.y, table.s).S == Rows(X, y[:, None], s).S
        holders = {at[0] for at in dask_client.who_has(table.engine.parts).values()}
        moved = dask_client.run(_sizes_of_fetched, [part.key for part in table.engine.parts])
    assert len(holders) == 2
    assert any(moved.values()), "rows at the end of a block lie on the other worker"
    assert sum(sum(sizes) for sizes in moved.values()) == 0


def _sizes_of_fetched(keys, dask_worker):
    """Bytes of X that were fetched from other workers, for each piece of a block."""
    parts = [dask_worker.data[key] for key in keys if key in dask_worker.data]
    return [rows[0].nbytes for part in parts for rows in part.fetched.values()]


def _first_three(X, y, s):
    return X[:, :3]
