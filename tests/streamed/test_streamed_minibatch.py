"""MiniBatchKMeans on streamed rows: the batches, and so the bits, of the fit on arrays."""

import numpy as np
import pytest
import sklearn.cluster as sk
from sklearn.base import clone

import certus
from certus.cluster import MiniBatchKMeans
from certus.data.rows import Rows
from certus.proofs.kmeans import _assignment
from certus.solvers.kmeans import draws
from certus.solvers.kmeans.draws import Cumulative, itself, weighted_rows
from tests.engines.parts_table import PartsTable
from tests.streamed.cluster_cases import CASES, K, N, assert_equal_fits, draw
from tests.streams import ArrayTable, GuardedTable

pytestmark = pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")
MODELS = [
    MiniBatchKMeans(K, random_state=0),
    MiniBatchKMeans(K, random_state=0, batch_size=100, tol=1e-3, max_iter=5),
    MiniBatchKMeans(K, init="random", random_state=1, max_iter=3),
    MiniBatchKMeans(30, random_state=2, reassignment_ratio=0.3, max_iter=2, init_size=200),
    MiniBatchKMeans(K, random_state=0, init_size=N, compute_labels=False, max_iter=1),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_streamed_fit_has_the_bits_of_the_fit_on_arrays(model, case, small_blocks, monkeypatch):
    monkeypatch.setattr(draws, "CHUNK_ROWS", 1000)
    monkeypatch.setattr(draws, "SEARCHED_ROWS", 128)
    X, s = CASES[case]()
    arrays = clone(model).fit(X, sample_weight=s)
    for table in (ArrayTable(X, None, s), PartsTable(X, None, s, cuts=[len(X) // 3])):
        streamed = clone(model).fit(table)
        assert_equal_fits(streamed, arrays)
        np.testing.assert_array_equal(streamed.predict(table), arrays.predict(X))
        certificate = certus.verify(streamed, table)
        assert certificate.status == streamed.certificate_.status
        assert certificate.residual == streamed.certificate_.residual


@pytest.mark.parametrize("weights", ["whole", "real"])
def test_rows_by_weight_are_those_of_an_array(weights, monkeypatch):
    monkeypatch.setattr(draws, "CHUNK_ROWS", 700)
    monkeypatch.setattr(draws, "SEARCHED_ROWS", 100)
    X, s = draw(weights=weights)
    u = np.concatenate([[0.0, 1 - 1e-16], np.random.default_rng(0).uniform(size=500)])
    shares = np.cumsum(s) / np.cumsum(s)[-1]
    j = np.array([0, 3, np.count_nonzero(s) - 1])
    for rows in (Rows(X, None, s), Rows(*_sources(ArrayTable(X, None, s)))):
        found = Cumulative(rows, itself, shares=True).search(u)
        np.testing.assert_array_equal(found, shares.searchsorted(u, side="right"))
        assert (s[found] > 0).all()
        np.testing.assert_array_equal(weighted_rows(rows)(j), np.flatnonzero(s)[j])


def test_batches_are_read_several_at_a_time_until_others_are_drawn(monkeypatch):
    X, _ = draw()
    table, read = ArrayTable(X), []
    gather = table.gather
    monkeypatch.setattr(
        table, "gather", lambda i, threads: read.append(len(i)) or gather(i, threads)
    )
    batches = draws.PooledBatches(Rows(*_sources(table)), lambda u: (u * N).astype(np.intp))
    random_state, same = np.random.RandomState(0), np.random.RandomState(0)
    for t in range(20):
        if t == 9:  # as if centres were reassigned
            random_state.random_sample(), same.random_sample()
        batch = batches.draw(random_state, 10)
        np.testing.assert_array_equal(batch.X, X[(same.random_sample(10) * N).astype(np.intp)])
    assert read == [20, 40, 80, 10, 20, 40, 80]


def _sources(table):
    return table.X, None, table.s


def test_no_step_reads_more_than_a_share_of_the_rows(small_blocks, monkeypatch):
    monkeypatch.setattr(draws, "CHUNK_ROWS", N)
    monkeypatch.setattr(_assignment, "MAX_BLOCK_ELEMENTS", 4096)
    X, s = draw(weights="real")
    table = GuardedTable(np.tile(X, (16, 1)), None, np.tile(s, 16), most=2 * N)
    model = MiniBatchKMeans(K, random_state=0).fit(table)
    assert 0 <= certus.verify(model, table).residual < 0.1
    assert len(model.labels_) == 16 * N
    assert table.largest <= 2 * N


@pytest.mark.parametrize("case", ["plain", "real weights", "outliers"])
def test_blocks_of_mini_batches_are_pure(case, pure_blocks):
    X, s = CASES[case]()
    table = ArrayTable(X, None, s)
    model = MiniBatchKMeans(K, random_state=0, tol=1e-4).fit(table)
    certus.verify(model, table)
    assert len(set(pure_blocks)) > 8
    assert not any("lambda" in name or "locals" in name for name in pure_blocks)


def test_a_model_of_scikit_learn_is_verified_on_streamed_rows(small_blocks):
    X, s = draw(weights="real")
    model = sk.MiniBatchKMeans(K, n_init=1, random_state=0).fit(X, sample_weight=s)
    on_arrays = certus.verify(model, X, sample_weight=s)
    streamed = certus.verify(model, ArrayTable(X, None, s))
    assert streamed.status == on_arrays.status
    assert streamed.residual == on_arrays.residual


def test_labels_are_left_out_on_request():
    X, s = draw(weights="real")
    table = ArrayTable(X, None, s)
    model = MiniBatchKMeans(K, random_state=0, compute_labels=False).fit(table)
    assert not hasattr(model, "labels_")
    assert (model.predict(table) == MiniBatchKMeans(K, random_state=0).fit(table).labels_).all()


def test_a_table_is_no_batch():
    X, s = draw(weights="real")
    table = ArrayTable(X, None, s)
    with pytest.raises(TypeError, match=r"partial_fit takes one batch.*table\.batches\(\)"):
        MiniBatchKMeans(K).partial_fit(table)
