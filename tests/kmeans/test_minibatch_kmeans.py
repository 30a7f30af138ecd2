"""k-means by mini-batches: running means, draws, stopping and the certificate."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as peers
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import certus
from certus.cluster import MiniBatchKMeans
from certus.data.rows import Rows
from certus.exceptions import DegenerateWarning
from certus.solvers.kmeans import minibatch as solver
from tests.runtime.progress_cases import Recorder


def blobs(n=3000, p=3, k=5, seed=0):
    rng = np.random.default_rng(seed)
    centers = 5 * rng.normal(size=(k, p))
    return centers[rng.integers(0, k, n)] + rng.normal(size=(n, p))


X = blobs()
START = X[[3, 50, 700, 1200, 2900]]
S = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)


def squared_distances(X, centers):
    return ((X[:, None, :] - centers[None]) ** 2).sum(axis=2)


def model(**params):
    return MiniBatchKMeans(**{"n_clusters": 5, "random_state": 0, "batch_size": 200, **params})


# --- the same as scikit-learn's -------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, S + 1], ids=["no weights", "weights"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"batch_size": 37, "max_no_improvement": 3},
        {"max_no_improvement": None, "max_iter": 3},
        {"tol": 1e-3, "max_no_improvement": None},
        {"reassignment_ratio": 0.8},
        {"reassignment_ratio": 0.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_from_one_start_and_seed_every_batch_is_scikit_learns(weight, params, as_given):
    params = {"n_clusters": 5, "init": START, "random_state": 3, "batch_size": 200, **params}
    ours = MiniBatchKMeans(**params).fit(as_given(X), sample_weight=weight)
    theirs = peers.MiniBatchKMeans(**params).fit(as_given(X), sample_weight=weight)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-10)
    assert (ours.n_steps_, ours.n_iter_) == (theirs.n_steps_, theirs.n_iter_)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-12)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.labels_.dtype == theirs.labels_.dtype
    np.testing.assert_allclose(ours.counts_, theirs._counts)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_the_mean_objective_over_seeds_is_not_worse_than_scikit_learns(init):
    Z = np.vstack([blobs(4000, 4, 12, seed=5), np.random.default_rng(0).uniform(-9, 9, (1000, 4))])
    params = {"n_clusters": 12, "init": init, "batch_size": 256}
    seeds = range(12)
    ours = [MiniBatchKMeans(**params, random_state=seed).fit(Z).inertia_ for seed in seeds]
    with threadpool_limits(1, user_api="openmp"):  # its waiting threads cost minutes
        theirs = [
            peers.MiniBatchKMeans(**params, random_state=seed).fit(Z).inertia_ for seed in seeds
        ]
    assert np.mean(ours) <= 1.02 * np.mean(theirs)


# --- a stream -------------------------------------------------------------------------------------


def running_means(batches, start, weights=None):
    """The rule as published: row by row, to the centre nearest at the start of the batch."""
    centers, counts = start.copy(), np.zeros(len(start))
    for t, batch in enumerate(batches):
        s = np.ones(len(batch)) if weights is None else weights[t]
        labels = squared_distances(batch, centers).argmin(axis=1)
        for x, c, s_i in zip(batch, labels, s, strict=True):
            counts[c] += s_i
            if s_i > 0:
                centers[c] += s_i * (x - centers[c]) / counts[c]
    return centers, counts


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array, sp.csc_array])
def test_partial_fit_is_the_running_mean_of_the_stream(weighted, as_given):
    cuts = [0, 40, 45, 1000, 1001, 3000]
    batches = [X[a:b] for a, b in pairwise(cuts)]
    s = [np.maximum(S[a:b], 0.5) for a, b in pairwise(cuts)] if weighted else None
    streamed = model(init=START, reassignment_ratio=0.0)
    for t, batch in enumerate(batches):
        streamed.partial_fit(as_given(batch), sample_weight=s[t] if weighted else None)
    centers, counts = running_means(batches, START, s)
    np.testing.assert_allclose(streamed.cluster_centers_, centers, rtol=1e-10)
    np.testing.assert_allclose(streamed.counts_, counts, rtol=1e-12)
    assert streamed.n_steps_ == len(batches)


def test_a_batch_of_many_blocks_is_one_step(monkeypatch):
    whole = model(init=START).partial_fit(X)
    monkeypatch.setattr("certus.data.rows.BLOCK_BYTES", 1 << 10)
    blocks = model(init=START).partial_fit(X)
    np.testing.assert_allclose(whole.cluster_centers_, blocks.cluster_centers_, rtol=1e-12)


def test_weight_two_is_the_row_twice_in_a_stream():
    s = np.resize([1.0, 2.0, 0.0, 3.0], 400)
    copies = np.repeat(X[:400], s.astype(int), axis=0)
    weighted = model(init=START, reassignment_ratio=0.0).partial_fit(X[:400], sample_weight=s)
    repeated = model(init=START, reassignment_ratio=0.0).partial_fit(copies)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-12)
    np.testing.assert_allclose(weighted.counts_, repeated.counts_)
    np.testing.assert_allclose(weighted.inertia_, repeated.inertia_, rtol=1e-12)


def test_labels_and_objective_after_a_batch_are_that_batchs():
    streamed = model().partial_fit(X[:300]).partial_fit(X[300:500])
    d2 = squared_distances(X[300:500], streamed.cluster_centers_)
    np.testing.assert_array_equal(streamed.labels_, d2.argmin(axis=1))
    np.testing.assert_array_equal(streamed.predict(X[300:500]), streamed.labels_)
    np.testing.assert_allclose(streamed.inertia_, d2.min(axis=1).sum(), rtol=1e-12)


def test_small_steps_do_not_vanish_in_float32():
    rng = np.random.default_rng(0)
    stream = [(1000 + rng.normal(size=(50, 1))).astype(np.float32) for _ in range(400)]
    streamed = MiniBatchKMeans(1, random_state=0)
    for batch in stream:
        streamed.partial_fit(batch)
    mean = np.concatenate(stream).mean(dtype=float)
    assert streamed.cluster_centers_.dtype == np.float32
    assert streamed.cluster_centers_[0, 0] == np.float32(mean)


def test_centres_that_somebody_moved_are_where_the_next_batch_starts():
    streamed = model(init=START, reassignment_ratio=0.0).partial_fit(X[:500])
    moved = streamed.cluster_centers_ + 1.0
    counts = streamed.counts_.copy()
    streamed.cluster_centers_ = moved.copy()
    streamed.partial_fit(X[500:900])
    running = solver.MiniBatchState(moved, counts)
    solver.step(Rows(X[500:900]), running, np.random.RandomState(0), 0.0)
    np.testing.assert_array_equal(streamed.cluster_centers_, running.centers)


def test_a_stream_goes_on_after_a_fit_and_after_a_file():
    fitted = model().fit(X)
    counts = fitted.counts_.copy()
    twin = pickle.loads(pickle.dumps(fitted))
    fitted.partial_fit(X[:100])
    twin.partial_fit(X[:100]).partial_fit(X[100:300])
    again = pickle.loads(pickle.dumps(fitted)).partial_fit(X[100:300])
    np.testing.assert_array_equal(again.cluster_centers_, twin.cluster_centers_)
    assert fitted.counts_.sum() == counts.sum() + 100


def test_a_stream_has_no_certificate_of_rows_it_no_longer_has():
    fitted = model().fit(X)
    assert fitted.certificate_.shape == X.shape
    fitted.partial_fit(X[:100])
    for name in ("certificate_", "n_iter_", "n_clusters_effective_"):
        assert not hasattr(fitted, name)
    result = certus.verify(fitted, X)
    assert result.objective == pytest.approx(-fitted.score(X))


def test_a_bad_batch_changes_nothing():
    streamed = model().partial_fit(X[:300])
    before = dict(vars(streamed))
    bad = X[:50].copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1 of X has 1 missing value \(NaN; row 7\)"):
        streamed.partial_fit(bad)
    with pytest.raises(ValueError, match="2 features"):
        streamed.partial_fit(X[:50, :2])
    with pytest.raises(ValueError, match="Negative values"):
        streamed.partial_fit(X[:50], sample_weight=-np.ones(50))
    assert vars(streamed) == before


def test_the_first_batch_must_hold_k_rows():
    with pytest.raises(ValueError, match="n_samples=4 should be >= n_clusters=5"):
        model().partial_fit(X[:4])
    model().partial_fit(X[:5]).partial_fit(X[:1])


# --- labels, objective ----------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labels_and_objective_are_those_of_the_final_centres(offset, dtype):
    Z = (X + offset).astype(dtype)
    fitted = model().fit(Z, sample_weight=S)
    assert fitted.cluster_centers_.dtype == dtype
    d2 = squared_distances(Z.astype(float), fitted.cluster_centers_.astype(float))
    np.testing.assert_array_equal(fitted.labels_, d2.argmin(axis=1))
    np.testing.assert_array_equal(fitted.predict(Z), fitted.labels_)
    np.testing.assert_allclose(fitted.inertia_, S @ d2.min(axis=1), rtol=1e-12)
    np.testing.assert_allclose(-fitted.score(Z, sample_weight=S), fitted.inertia_, rtol=1e-12)
    np.testing.assert_allclose(fitted.certificate_.objective, fitted.inertia_, rtol=1e-9)


def test_same_bits_on_any_number_of_threads(small_work_too, monkeypatch):
    monkeypatch.setattr("certus.data.rows.BLOCK_BYTES", 1 << 11)
    result = []
    for threads in (1, 2, 3):
        with certus.config_context(threads=threads):
            fitted = model(batch_size=1000).fit(X)
            fitted.partial_fit(X)
            result.append(fitted.cluster_centers_.tobytes())
    assert len(set(result)) == 1


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_array])
def test_sparse_rows_in_any_order_and_with_zeros_are_the_dense_ones(layout):
    Z = np.where(np.random.default_rng(2).random(X.shape) < 0.5, 0.0, X)
    given = layout(Z)
    given.data[:40] = 0.0
    dense = given.toarray()
    rows = given.tocsr()
    rows.indices[: rows.indptr[1]] = rows.indices[: rows.indptr[1]][::-1]  # unsorted
    rows.data[: rows.indptr[1]] = rows.data[: rows.indptr[1]][::-1]
    rows.has_sorted_indices = False
    given = rows if layout is sp.csr_array else given
    ours, theirs = model().fit(given), model().fit(dense)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-10)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


def test_labels_need_not_be_kept():
    without, with_ = model(compute_labels=False).fit(X), model().fit(X)
    assert not hasattr(without, "labels_")
    assert without.inertia_ == with_.inertia_
    assert not hasattr(without.partial_fit(X[:50]), "labels_")


# --- draws ----------------------------------------------------------------------------------------


def test_a_row_of_weight_nothing_is_never_drawn():
    s = np.ones(len(X))
    far = X.copy()
    far[::3], s[::3] = 1e6, 0.0
    fitted = model(init="random").fit(far, sample_weight=s)
    assert np.abs(fitted.cluster_centers_).max() < 100
    streamed = model(reassignment_ratio=0.5).partial_fit(far, sample_weight=s)
    assert np.abs(streamed.cluster_centers_).max() < 100


def test_centres_with_few_rows_are_drawn_anew_from_the_batch():
    start = np.vstack([X[:4], [[1e3, 1e3, 1e3]]])
    kept = model(init=start, reassignment_ratio=0.0).partial_fit(X)
    np.testing.assert_array_equal(kept.cluster_centers_[4], start[4])
    drawn = model(init=start).partial_fit(X)
    assert (drawn.cluster_centers_[4] == X).all(axis=1).any()
    assert drawn.counts_[4] == drawn.counts_[:4].min() > 0


def test_the_largest_cluster_stays_whatever_the_ratio():
    running = solver.MiniBatchState(START.copy(), np.array([1.0, 2.0, 9.0, 3.0, 4.0]))
    solver._reassign(Rows(X), running, np.random.RandomState(0), 5.0)
    np.testing.assert_array_equal(running.centers[2], START[2])
    others = [0, 1, 3, 4]
    assert (running.centers[others] != START[others]).any(axis=1).all()
    np.testing.assert_array_equal(running.counts, 9.0)


def test_at_most_half_a_batch_becomes_centres():
    running = solver.MiniBatchState(START.copy(), np.array([1.0, 2.0, 9.0, 3.0, 4.0]))
    solver._reassign(Rows(X[:4]), running, np.random.RandomState(0), 1.0)
    changed = (running.centers != START).any(axis=1)
    np.testing.assert_array_equal(changed, [True, True, False, False, False])


def test_an_empty_cluster_takes_the_row_farthest_from_its_centre():
    start = np.vstack([X[:4], [[1e3, 1e3, 1e3]]])
    fitted = model(init=start, reassignment_ratio=0.0).fit(X)
    assert fitted.n_clusters_effective_ == 5
    without = model(n_clusters=4, init=start[:4], reassignment_ratio=0.0).fit(X)
    far = squared_distances(X, without.cluster_centers_).min(axis=1).argmax()
    np.testing.assert_array_equal(fitted.cluster_centers_[4], X[far])
    assert fitted.inertia_ < without.inertia_
    assert fitted.counts_[4] == 1


def test_several_starts_are_judged_on_other_rows():
    good, bad = model().fit(X).cluster_centers_, X[:5]
    given = iter([bad, good, bad])

    def init(Z, k, random_state):
        assert len(Z) == 600  # three batches
        return next(given)

    fitted = model(init=init, max_iter=1).fit(X)  # "auto" is 3 for a function
    best = model(init=good, max_iter=1).fit(X)
    assert abs(fitted.inertia_ - best.inertia_) < 0.01 * best.inertia_
    assert next(given, None) is None


# --- when it stops --------------------------------------------------------------------------------


def test_it_stops_after_max_iter_times_as_many_rows_as_there_are():
    fitted = model(max_iter=2, max_no_improvement=None).fit(X)
    assert (fitted.n_steps_, fitted.n_iter_) == (2 * len(X) // 200, 2)


def test_it_stops_where_the_smoothed_objective_falls_no_more():
    smoothed = solver._Smoothed(batch_size=50, n=99, patience=2)  # a share of 1: no memory
    assert [smoothed.update(J) for J in (5.0, 4.0, 4.0, 3.0, 3.0, 3.5)] == [*[False] * 5, True]
    half = solver._Smoothed(batch_size=25, n=99, patience=None)
    half.update(4.0)
    half.update(2.0)
    assert half.mean == 3.0


def test_it_stops_where_the_centres_stand_still():
    fitted = model(tol=1e6, max_no_improvement=None).fit(X)
    assert fitted.n_steps_ == 2  # the first batch replaces the start


def test_every_batch_is_reported_and_a_listener_can_stop_it():
    recorder = Recorder(stop_after=4)
    fitted = model(max_no_improvement=None).set_callbacks(recorder).fit(X)
    assert fitted.n_steps_ == 5  # the first only leaves the start
    trace = fitted.certificate_.trace
    assert [point.iteration for point in trace] == [2, 3, 4, 5]
    assert trace[-1].objective == pytest.approx(fitted.inertia_, rel=0.1)
    assert fitted.certificate_.status == "stopped"
    heard = recorder.models[0]
    np.testing.assert_array_equal(heard.predict(X), heard.labels_)


def test_ctrl_c_keeps_the_centres_so_far(monkeypatch):
    count, step = iter(range(100)), solver.step

    def interrupted(*args):
        if next(count) == 6:
            raise KeyboardInterrupt
        return step(*args)

    monkeypatch.setattr(solver, "step", interrupted)
    stopped = model()
    with pytest.raises(KeyboardInterrupt) as caught:
        stopped.fit(X)
    assert "MiniBatchKMeans stopped by you after 6 iterations" in caught.value.__notes__[0]
    assert stopped.certificate_.status == "stopped"
    np.testing.assert_array_equal(stopped.predict(X), stopped.labels_)


def test_verbose_prints_a_line_for_every_batch(capsys):
    fitted = model(verbose=1, max_iter=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == fitted.n_steps_ - 1
    assert lines[0].startswith("MiniBatchKMeans: batch 2 of at most 15, smoothed objective ")


# --- the certificate ------------------------------------------------------------------------------


def test_the_certificate_says_what_one_more_step_would_gain():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no optimum is claimed, and no warning is due
        fitted = model(max_iter=1).fit(X)
    centers = fitted.cluster_centers_
    J = squared_distances(X, centers).min(axis=1).sum()
    means = np.array([X[fitted.labels_ == k].mean(axis=0) for k in range(5)])
    of_move = (np.bincount(fitted.labels_) * ((centers - means) ** 2).sum(axis=1)).sum()
    of_step = J - squared_distances(X, means).min(axis=1).sum()
    certificate = fitted.certificate_
    assert not certificate.certified
    assert certificate.objective == pytest.approx(J)
    # the move of the centres alone, or with the rows that then change sides
    assert 0.999 * of_move <= certificate.residual * J <= 1.001 * of_step


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_equal_points_are_one_cluster(as_given):
    with pytest.warns(DegenerateWarning, match="the 20 rows hold 1 distinct point, so 3 clusters"):
        fitted = MiniBatchKMeans(3, random_state=0).fit(as_given(np.full((20, 2), 0.1)))
    assert fitted.n_clusters_effective_ == 1
    assert fitted.inertia_ == 0
    assert fitted.cluster_centers_.shape == (3, 2)


@pytest.mark.parametrize("seed", range(5))
def test_as_many_clusters_are_formed_as_there_are_distinct_points(seed):
    points = np.random.default_rng(seed).normal(size=(9, 2))
    Z = points[np.r_[np.arange(9), np.random.default_rng(seed).integers(0, 9, 8)]]
    with pytest.warns(DegenerateWarning, match="the 17 rows hold 9 distinct points, so 10 cl"):
        fitted = MiniBatchKMeans(10, random_state=seed).fit(Z)
    assert fitted.n_clusters_effective_ == 9
    assert fitted.inertia_ == 0


def test_one_row_and_as_many_clusters_as_rows():
    one = MiniBatchKMeans(1, random_state=0).fit([[2.0, 3.0]])
    np.testing.assert_array_equal(one.cluster_centers_, [[2.0, 3.0]])
    all_ = MiniBatchKMeans(7, random_state=0).fit(X[:7])
    assert all_.inertia_ == 0
    assert len(set(all_.labels_)) == 7


# --- input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0: give a whole number above 0"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"compute_labels": "yes"}, "compute_labels='yes': give True or False"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"reassignment_ratio": -0.1}, "reassignment_ratio=-0.1"),
        ({"max_no_improvement": -1}, "max_no_improvement=-1: give a whole number, or None"),
        ({"max_no_improvement": 1.5}, "max_no_improvement=1.5"),
        ({"init_size": 0}, "init_size=0"),
        ({"n_init": 0}, "n_init=0"),
        ({"init": "kmeans++"}, "Did you mean 'k-means\\+\\+'"),
        ({"init": X[:4]}, "does not match the number of clusters 5"),
        ({"init": X[:5, :2]}, "does not match the number of features of the data 3"),
        ({"n_clusters": 3001}, "n_samples=3000 should be >= n_clusters=3001"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        model(**params).fit(X)
    if "max_iter" not in params and "n_init" not in params:
        with pytest.raises(ValueError, match=message):
            model(**params).partial_fit(X)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_too_small_an_init_size_is_stated_where_the_person_called(method):
    with pytest.warns(RuntimeWarning, match="init_size=3 should be larger than n_clusters=5") as w:
        getattr(model(init_size=3), method)(X)
    assert w[0].filename == __file__


def test_missing_values_are_named_and_the_model_is_as_before():
    fitted = model().fit(X)
    before = dict(vars(fitted))
    bad = X.copy()
    bad[17, 2] = np.inf
    with pytest.raises(ValueError, match=r"column 2 of X has 1 infinite value \(inf; row 17\)"):
        fitted.fit(bad)
    assert vars(fitted) == before


def test_scikit_learns_own_checks_hold():
    reason = "draws depend on the order of the rows, so weights and copies draw others"
    names = ("dense", "sparse")
    known = {f"check_sample_weight_equivalence_on_{name}_data": reason for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(MiniBatchKMeans(), expected_failed_checks=known, on_skip=None)
