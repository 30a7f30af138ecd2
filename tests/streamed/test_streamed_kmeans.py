"""KMeans on streamed rows: the bits of the fit on arrays."""

import numpy as np
import pytest
import sklearn.cluster as sk
from sklearn.base import clone

import certus
from certus.cluster import BisectingKMeans, KMeans
from certus.exceptions import CannotVerifyError, DegenerateWarning
from certus.proofs.kmeans import _assignment
from certus.solvers.kmeans import bounds, draws
from tests.engines.parts_table import PartsTable
from tests.streamed.cluster_cases import CASES, K, N, assert_equal_fits, draw
from tests.streams import ArrayTable, GuardedTable, watch_blocks

pytestmark = [
    pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
]
MODELS = [
    KMeans(K, random_state=0),
    KMeans(3, random_state=0, max_iter=2),
    KMeans(K, init="random", n_init=2, random_state=1),
    KMeans(K, init="k-means||", random_state=0),
    KMeans(40, random_state=0, max_iter=20),
    KMeans(1, random_state=0),
]


def tables(X, s):
    return ArrayTable(X, None, s), PartsTable(X, None, s, cuts=[len(X) // 5, len(X) // 2])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_streamed_fit_has_the_bits_of_the_fit_on_arrays(model, case, small_blocks):
    X, s = CASES[case]()
    arrays = clone(model).fit(X, sample_weight=s)
    for table in tables(X, s):
        streamed = clone(model).fit(table)
        assert_equal_fits(streamed, arrays)
        np.testing.assert_array_equal(streamed.predict(table), arrays.predict(X))
        np.testing.assert_array_equal(streamed.transform(table), arrays.transform(X))
        score = arrays.score(X, sample_weight=s)
        assert streamed.score(table) == pytest.approx(score, rel=1e-12)
        certificate = certus.verify(streamed, table)
        assert certificate.status == streamed.certificate_.status
        assert certificate.objective == streamed.certificate_.objective


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_walks_along_neighbouring_centres_have_the_bits_of_arrays(columns, small_blocks):
    X, s = draw(p=columns, k=60, weights="real")
    model = KMeans(60, random_state=0)
    arrays = clone(model).fit(X, sample_weight=s)
    for table in tables(X, s):
        assert_equal_fits(clone(model).fit(table), arrays)


@pytest.mark.parametrize("weights", [None, "whole"])
def test_empty_clusters_of_a_table_take_the_rows_that_arrays_give_them(weights, small_blocks):
    X, s = draw(weights=weights)
    init = np.vstack([X[:4], X[:300] + 1e3])  # far from all rows
    arrays = KMeans(304, init=init).fit(X, sample_weight=s)
    assert arrays.n_clusters_effective_ == 304
    for table in tables(X, s):
        assert_equal_fits(KMeans(304, init=init).fit(table), arrays)


def test_equal_rows_leave_clusters_of_a_table_empty_as_on_arrays(small_blocks):
    X = np.repeat(draw(n=20)[0], 300, axis=0)
    with pytest.warns(DegenerateWarning, match="20 distinct points"):
        arrays = KMeans(25, init=X[:25] + 1e-9).fit(X)
    for table in tables(X, None):
        with pytest.warns(DegenerateWarning, match="20 distinct points"):
            streamed = KMeans(25, init=X[:25] + 1e-9).fit(table)
        assert_equal_fits(streamed, arrays)
        assert streamed.n_clusters_effective_ == 20


@pytest.mark.parametrize("threads", [1, 3])
def test_streamed_fit_has_the_same_bits_on_any_number_of_threads(threads, small_blocks):
    X, s = draw(weights="real")
    with certus.config_context(threads=threads):
        streamed = KMeans(K, random_state=0).fit(ArrayTable(X, None, s))
    assert_equal_fits(streamed, KMeans(K, random_state=0).fit(X, sample_weight=s))


def test_labels_are_an_array_of_whole_numbers():
    X, s = draw(weights="whole")
    table = ArrayTable(X, None, s)
    model = KMeans(K, random_state=0)
    labels = model.fit_predict(table)
    assert isinstance(labels, np.ndarray)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(labels, model.predict(table))
    D = model.fit_transform(table)
    assert (D.argmin(axis=1) == labels).all()


# --- starts of many rows --------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random", "function"])
@pytest.mark.parametrize("weights", [None, "whole"])
def test_starts_of_more_rows_are_drawn_from_a_sample_of_positive_weight(
    weights, init, monkeypatch, small_blocks
):
    """The sample is what an array of these rows gives; on it Lloyd's steps improve the start."""
    monkeypatch.setattr(draws, "START_ROWS", 500)
    X, s = draw(weights=weights)
    seen = []

    def first_rows(given, k, random_state):
        seen.append(given)
        return given[:k]

    table = ArrayTable(X, None, s)
    init = first_rows if init == "function" else init
    model = KMeans(K, init=init, n_init=1, random_state=0).fit(table)
    assert model.certificate_.status == "local optimum"
    assert model.n_iter_ < 40
    if seen:
        found = (X[:, None, 0] == seen[0][:, 0]).argmax(axis=0)
        np.testing.assert_array_equal(X[found], seen[0])
        assert len(np.unique(found)) == len(found) >= 400
        assert s is None or (s[found] > 0).all()


def test_a_start_that_is_given_is_taken_as_it_is(monkeypatch):
    monkeypatch.setattr(draws, "START_ROWS", 100)
    X, s = draw(weights="real")
    model = KMeans(K, init=X[:K])
    streamed = clone(model).fit(ArrayTable(X, None, s))
    assert_equal_fits(streamed, model.fit(X, sample_weight=s))


def test_a_start_of_a_sample_saves_passes(monkeypatch):
    X, _ = draw(n=40_000, k=40)
    whole = KMeans(40, random_state=0).fit(X)
    monkeypatch.setattr(draws, "START_ROWS", 4000)
    sampled = KMeans(40, random_state=0).fit(ArrayTable(X))
    assert sampled.n_iter_ < whole.n_iter_
    assert sampled.inertia_ < 1.1 * whole.inertia_


# --- verify ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [sk.KMeans(K, n_init=1, tol=0, random_state=0)], ids=str)
def test_a_model_of_scikit_learn_is_verified_on_streamed_rows(model, small_blocks):
    X, s = draw(weights="real")
    model.fit(X, sample_weight=s)
    for table in tables(X, s):
        assert certus.verify(model, table).status == "local optimum"
    moved = clone(model).fit(X, sample_weight=s)
    moved.cluster_centers_[0] += 1.0
    assert certus.verify(moved, ArrayTable(X, None, s)).status != "local optimum"
    early = clone(model).set_params(max_iter=1).fit(X, sample_weight=s)
    certificate = certus.verify(early, ArrayTable(X, None, s))
    assert certificate.status == "not a local optimum"
    assert certificate.residual == certus.verify(early, X, sample_weight=s).residual


def test_wrong_labels_are_named_as_on_arrays(small_blocks):
    X, s = draw(weights="real")
    model = KMeans(K, random_state=0).fit(ArrayTable(X, None, s))
    model.labels_[[17, 4000, 4001, 5000]] = (model.labels_[[17, 4000, 4001, 5000]] + 1) % K
    on_arrays = certus.verify(model, X, sample_weight=s)
    for table in tables(X, s):
        streamed = certus.verify(model, table)
        assert streamed.status == on_arrays.status == "contradicted"
        assert str(streamed).replace(" ", "") == str(on_arrays).replace(" ", "")
        assert "row 17 is labelled" in streamed.explain()
        assert "(4 such rows)" in streamed.explain()


def test_an_edited_model_and_other_rows_are_refused(small_blocks):
    X, s = draw(weights="real")
    model = KMeans(K, random_state=0).fit(ArrayTable(X, None, s))
    assert certus.verify(model, ArrayTable(X)).status == "other rows"
    with pytest.raises(CannotVerifyError, match="labels_ has 6,000 entries"):
        certus.verify(model, ArrayTable(X[1:], None, s[1:]))
    with pytest.raises(CannotVerifyError, match="sample_weight was given beside"):
        certus.verify(model, ArrayTable(X, None, s), sample_weight=s)


def test_rows_that_may_change_their_centre_are_summed_block_by_block(small_blocks):
    """A fit stopped near its end: what a step gains is that of arrays, up to the order of sums."""
    X, _ = draw(k=20)
    model = sk.KMeans(20, n_init=1, random_state=0, tol=0, max_iter=12).fit(X)
    on_arrays = certus.verify(model, X, tol=1e-9)
    for table in tables(X, None):
        assert certus.verify(model, table, tol=1e-9).residual == on_arrays.residual > 0


# --- what is refused ------------------------------------------------------------------------------


def test_what_streamed_rows_cannot_do_is_refused_in_words():
    X, s = draw(weights="whole")
    with pytest.raises(ValueError, match="sample_weight was given beside streamed rows"):
        KMeans(K).fit(ArrayTable(X), sample_weight=s)
    with pytest.raises(ValueError, match=r"n_samples=.* with a weight above 0"):
        KMeans(N - 5).fit(ArrayTable(X, None, s))
    with pytest.raises(TypeError, match="BisectingKMeans needs all rows in memory"):
        BisectingKMeans(K).fit(ArrayTable(X))
    model = KMeans(K, random_state=0).fit(ArrayTable(X))
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.predict(ArrayTable(X[:, :3]))


def test_new_rows_whose_squares_overflow_are_refused():
    X, _ = draw()
    X[5] = 1e200
    model = KMeans(K, random_state=0).fit(ArrayTable(draw()[0]))
    for method in (model.predict, model.score):
        with pytest.raises(ValueError, match="divide X by a power of 10"):
            method(ArrayTable(X))


# --- blocks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["weights, some 0", "outliers", "long rows"])
def test_no_step_reads_more_than_a_share_of_the_rows(case, small_blocks, monkeypatch):
    monkeypatch.setattr(draws, "START_ROWS", N)
    monkeypatch.setattr(draws, "CHUNK_ROWS", N)
    monkeypatch.setattr(_assignment, "MAX_BLOCK_ELEMENTS", 4096)
    X, s = CASES[case]()
    table = GuardedTable(
        np.tile(X, (16, 1)), None, None if s is None else np.tile(s, 16), most=2 * N
    )
    model = KMeans(K, random_state=0).fit(table)
    assert certus.verify(model, table).certified
    assert model.score(table) == pytest.approx(-model.inertia_)
    assert (model.predict(table) == model.labels_).all()
    assert 0 < table.largest <= 2 * N


def test_blocks_of_many_rows_have_a_largest_size():
    for columns in (1, 16, 1000):
        sizes = {bounds.block_rows(n, 100, columns, columns) for n in (10**9, 10**11)}
        assert len(sizes) == 1
        assert max(sizes) <= max(400, 2**25 // (8 * columns), 1024)


@pytest.mark.parametrize("case", CASES)
def test_blocks_of_k_means_are_pure(case, pure_blocks):
    X, s = CASES[case]()
    table = ArrayTable(X, None, s)
    fitted = KMeans(K, random_state=0).fit(table)
    certus.verify(fitted, table)
    np.testing.assert_array_equal(fitted.predict(table), fitted.labels_)
    assert fitted.score(table) <= 0
    assert fitted.transform(table).shape == (len(X), K)
    assert len(set(pure_blocks)) > 8
    assert not any("lambda" in name or "locals" in name for name in pure_blocks)


def test_pickled_blocks_have_the_bits_of_the_fit(monkeypatch):
    X, s = draw(weights="real")
    arrays = KMeans(K, random_state=0).fit(X, sample_weight=s)
    watch_blocks(monkeypatch)
    assert_equal_fits(KMeans(K, random_state=0).fit(X, sample_weight=s), arrays)
