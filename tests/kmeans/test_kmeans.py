"""KMeans: its optimum, its starts, and its reports on restarts."""

import numpy as np
import pytest
import sklearn.cluster as peers
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris

from certus.cluster import KMeans
from certus.exceptions import NotCertifiedWarning
from tests.contract.problems import weights
from tests.kmeans.cluster_cases import best_of_all, blobs, objective, plain_lloyd, squares
from tests.runtime.progress_cases import Recorder

SEEDS = range(5)
INITS = ["k-means++", "random", "k-means||"]


def noise(seed, n=200, p=3):
    return np.random.default_rng(seed).uniform(size=(n, p))


# --- the answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("make", [blobs, noise])
@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
def test_from_a_given_start_the_labels_are_those_of_plain_lloyd(make, seed, weighted, algorithm):
    X = make(seed)
    s = weights(seed, len(X)) if weighted else None
    start = X[:4]
    model = KMeans(4, init=start, tol=0, algorithm=algorithm, single_moves=False)
    model.fit(X, sample_weight=s)
    centers, labels = plain_lloyd(X, start, s)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-12, atol=1e-12)
    assert model.inertia_ == pytest.approx(objective(X, centers, s), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("init", INITS)
def test_a_default_fit_ends_where_neither_step_changes_anything_that_counts(seed, init):
    X = noise(seed, n=400)
    model = KMeans(7, init=init, n_init=1, random_state=seed).fit(X)
    d2 = squares(X, model.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, d2.argmin(axis=1))
    assert model.inertia_ == pytest.approx(d2.min(axis=1).sum(), rel=1e-12)
    means = np.vstack([X[model.labels_ == k].mean(axis=0) for k in range(7)])
    assert model.inertia_ - objective(X, means) <= 1e-6 * model.inertia_
    assert model.certificate_.status == "local optimum"
    assert model.certificate_.certified


@pytest.mark.parametrize("seed", SEEDS)
def test_many_starts_find_the_best_of_all_partitions_of_a_few_rows(seed):
    X = noise(seed, n=8, p=2)
    model = KMeans(3, n_init=50, random_state=seed).fit(X)
    assert model.inertia_ == pytest.approx(best_of_all(X, 3), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("data", [load_iris, load_digits])
def test_the_same_seed_reaches_what_scikit_learn_reaches(data, seed):
    X = data().data
    params = {"n_clusters": 3, "n_init": 2, "random_state": seed, "tol": 0}
    ours = KMeans(**params, single_moves=False).fit(X)
    theirs = peers.KMeans(**params).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-9)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-6)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-9)


def test_the_default_tol_goes_on_to_a_fixed_point_where_scikit_learns_stops_before():
    X = noise(0, n=3000, p=2)
    start = X[:20]
    ours = KMeans(20, init=start).fit(X)
    theirs = peers.KMeans(20, init=start, n_init=1).fit(X)
    means = np.vstack([X[theirs.labels_ == k].mean(axis=0) for k in range(20)])
    assert theirs.inertia_ - objective(X, means) > 1e-5 * theirs.inertia_
    assert ours.inertia_ < theirs.inertia_
    assert ours.certificate_.certified


# --- predictions for the rows of the fit ----------------------------------------------------------


def same_again(model, X, given=None):
    given = X if given is None else given
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    assert model.labels_.dtype == np.int32
    assert model.predict(given).dtype == np.int32


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, -3e12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_iter", [1, 300])
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")
def test_predict_gives_the_labels_of_the_fit_again(seed, offset, dtype, max_iter):
    X = (noise(seed) + offset).astype(dtype)
    model = KMeans(5, max_iter=max_iter, random_state=seed).fit(X)
    same_again(model, X)
    one_by_one = np.concatenate([model.predict(X[i : i + 1]) for i in range(20)])
    np.testing.assert_array_equal(one_by_one, model.labels_[:20])
    assert model.inertia_ == pytest.approx(objective(X, model.cluster_centers_), rel=1e-9)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-12)


def test_half_apart_at_1e8_is_told_apart():
    X = np.arange(10)[:, None] * 0.5 + 1e8
    model = KMeans(10, random_state=0).fit(X)
    assert model.inertia_ == 0
    assert sorted(model.labels_) == list(range(10))
    same_again(model, X)
    np.testing.assert_allclose(model.transform(X).max(), 4.5)


def test_distances_to_the_centres_are_exact_and_as_wide_as_the_data():
    X = blobs(1) + 2.0**30
    model = KMeans(3, random_state=0).fit(X)
    D = model.transform(X)
    np.testing.assert_allclose(D, np.sqrt(squares(X, model.cluster_centers_)), rtol=1e-12)
    np.testing.assert_array_equal(D.argmin(axis=1), model.labels_)
    np.testing.assert_array_equal(model.fit_transform(X), D)
    narrow = blobs(1).astype(np.float32)
    assert model.fit(narrow).transform(narrow).dtype == np.float32
    assert model.transform(X).dtype == np.float64
    assert model.cluster_centers_.dtype == np.float32


def test_a_row_midway_belongs_to_the_first_centre():
    model = KMeans(2, init=[[2.0], [0.0]]).fit([[0.0], [2.0]])
    assert model.predict([[1.0]]) == [0]
    model = KMeans(2, init=[[0.0], [2.0]]).fit([[0.0], [2.0]])
    assert model.predict([[1.0]]) == [0]


def test_fit_predict_takes_weights_as_fit_does():
    X, s = noise(3), weights(3, 200)
    labels = KMeans(4, random_state=0).fit_predict(X, sample_weight=s)
    model = KMeans(4, random_state=0).fit(X, sample_weight=s)
    np.testing.assert_array_equal(labels, model.labels_)
    assert model.score(X, sample_weight=s) == pytest.approx(-model.inertia_, rel=1e-12)
    plain = KMeans(4, random_state=0).fit(X)
    assert not np.allclose(plain.cluster_centers_, model.cluster_centers_)


# --- starts ---------------------------------------------------------------------------------------


def test_the_best_start_wins_and_all_are_reported():
    X = blobs(0, n=600, p=2, k=12, apart=12.0)
    model = KMeans(12, init="random", random_state=0).fit(X)
    assert model.restarts_.shape == (10,)
    assert model.inertia_ == pytest.approx(model.restarts_.min(), rel=1e-12)
    assert model.restarts_.max() > 1.05 * model.restarts_.min()  # starts matter here


def test_of_equal_starts_the_first_is_kept():
    X = blobs(2, apart=9.0)
    model = KMeans(3, init="random", n_init=6, random_state=0).fit(X)
    reached = model.restarts_ <= model.inertia_ * (1 + 1e-9)
    assert reached.sum() > 1
    first = int(np.flatnonzero(reached)[0])
    alone = KMeans(3, init="random", n_init=first + 1, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, alone.labels_)


@pytest.mark.parametrize(
    ("init", "starts"),
    [("k-means++", 1), ("k-means||", 1), ("random", 10), (np.eye(3), 1)],
    ids=["plus", "parallel", "random", "array"],
)
def test_auto_draws_several_starts_where_one_is_often_bad(init, starts):
    X = blobs(0)
    assert len(KMeans(3, init=init, random_state=0).fit(X).restarts_) == starts


def test_a_function_is_given_the_rows_as_they_are_k_and_the_random_state():
    X, seen = blobs(0) + 100.0, []

    def first_rows(given, k, random_state):
        seen.append((given, k, random_state.randint(1000)))
        return given[:k]

    model = KMeans(3, init=first_rows, random_state=7).fit(X)
    assert len(seen) == len(model.restarts_) == 10
    np.testing.assert_array_equal(seen[0][0], X)
    assert seen[0][1] == 3
    draw = np.random.RandomState(7)
    assert [drawn for _, _, drawn in seen] == [draw.randint(1000) for _ in range(10)]
    given = KMeans(3, init=X[:3]).fit(X)
    np.testing.assert_array_equal(model.labels_, given.labels_)


def test_an_array_of_centres_is_not_changed_and_may_be_sparse_or_a_list():
    X = blobs(0)
    start = X[:3].copy()
    models = [KMeans(3, init=init).fit(X) for init in (start, start.tolist(), csr_array(start))]
    np.testing.assert_array_equal(start, X[:3])
    for model in models:
        np.testing.assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)


def test_an_array_is_one_start_whatever_n_init_says():
    X = blobs(0)
    with pytest.warns(RuntimeWarning, match="performing only one init in KMeans instead of"):
        model = KMeans(3, init=X[:3], n_init=5).fit(X)
    assert len(model.restarts_) == 1


@pytest.mark.parametrize("init", INITS)
def test_a_seed_gives_the_same_bits_again(init):
    X = noise(1)
    one, two = (KMeans(6, init=init, random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    np.testing.assert_array_equal(one.restarts_, two.restarts_)
    other = KMeans(6, init=init, n_init=1, random_state=4).fit(X)
    assert not np.array_equal(other.cluster_centers_, one.cluster_centers_)


@pytest.mark.parametrize("init", ["k-means++", "k-means||"])
def test_careful_starts_are_better_than_random_rows(init):
    X = blobs(5, n=1500, p=2, k=30, apart=15.0)
    careful, random = (
        np.mean([KMeans(30, init=i, n_init=1, random_state=r).fit(X).inertia_ for r in range(8)])
        for i in (init, "random")
    )
    assert careful < 0.8 * random


def test_an_empty_cluster_takes_a_far_row():
    X = blobs(0)
    start = np.vstack([X[:2], np.full((1, 3), 1e6)])  # no row is near the last
    model = KMeans(3, init=start).fit(X)
    assert model.n_clusters_effective_ == 3
    assert (np.bincount(model.labels_, minlength=3) > 0).all()
    assert np.abs(model.cluster_centers_).max() < 1e3
    assert model.certificate_.certified


# --- messages and callbacks -----------------------------------------------------------------------


def test_the_trace_is_that_of_the_start_that_was_kept_and_never_rises():
    X = noise(2, n=500)
    model = KMeans(8, n_init=4, random_state=1).fit(X)
    trace = model.certificate_.trace
    steps = [point.iteration for point in trace]
    assert steps == list(range(steps[0], model.n_iter_ + 1))
    J = np.array([point.objective for point in trace])
    assert (np.diff(J) <= 1e-12 * J[0]).all()
    assert J[-1] == pytest.approx(model.inertia_, rel=1e-6)
    assert model.inertia_ <= J[-1] * (1 + 1e-12)


def test_max_iter_that_ends_a_fit_is_named_with_what_a_step_would_gain():
    X = noise(0, n=2000, p=2)
    message = (
        r"KMeans stopped at max_iter=2 before a local optimum: objective [\d.]+, and one more step "
        r"lowers it by at least [\d.]+ %. Raise max_iter."
    )
    with pytest.warns(NotCertifiedWarning, match=message) as caught:
        model = KMeans(20, init=X[:20], max_iter=2).fit(X)
    assert [w.filename for w in caught] == [__file__]
    assert model.n_iter_ == 2
    assert not model.certificate_.certified
    same_again(model, X)


def test_verbose_prints_a_line_for_each_step(capsys):
    X = noise(0)
    model = KMeans(4, n_init=2, verbose=1, random_state=0).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("KMeans: start 1 of 2, iteration ")
    assert lines[-1].startswith("KMeans: start 2 of 2, iteration ")
    assert f"iteration {model.n_iter_}, objective" in "\n".join(lines)
    KMeans(4, random_state=0).fit(X)
    assert capsys.readouterr().out == ""


def test_callbacks_hear_of_every_step_of_every_start():
    X = noise(0)
    recorder = Recorder()
    model = KMeans(4, n_init=3, random_state=0).set_callbacks(recorder).fit(X)
    reported = [what for what in recorder.heard if what.startswith("end iteration")]
    assert [int(what.split()[-1]) for what in reported] == list(range(len(reported)))
    assert len(reported) >= 3 * 2
    assert recorder.given[0][3] == 3 * 300
    assert recorder.heard[-2:] == ["end fit 0", "teardown"]
    first = recorder.models[0]  # a model after one step: its labels are those of its centres
    np.testing.assert_array_equal(first.predict(X), first.labels_)
    assert first.inertia_ > model.inertia_


def test_a_callback_ends_the_fit_with_the_start_it_has():
    X = noise(0, n=2000, p=2)
    with pytest.warns(NotCertifiedWarning, match="stopped by a callback after 2 iterations"):
        model = KMeans(20, n_init=5, random_state=0).set_callbacks(Recorder(stop_after=2)).fit(X)
    assert model.restarts_.shape == (1,)
    assert model.certificate_.status == "stopped"
    same_again(model, X)


def test_ctrl_c_keeps_the_best_start_so_far():
    X, calls = noise(0), []

    def impatient(given, k, random_state):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return given[random_state.permutation(len(given))[:k]]

    model = KMeans(4, init=impatient, random_state=0)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X)
    assert "the best one so far was kept" in caught.value.__notes__[0]
    assert model.certificate_.status == "stopped"
    same_again(model, X)
    calls[:] = [1] * 10  # no more interrupts
    two = KMeans(4, init=impatient, n_init=2, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(two.inertia_, rel=1e-12)
    assert model.inertia_ == pytest.approx(objective(X, model.cluster_centers_), rel=1e-12)
