"""Bisecting k-means: the tree, the order of splits, their certificates, and degenerate data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as peers
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from certus.cluster import BisectingKMeans, KMeans
from certus.cluster import bisecting as estimator
from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.solvers.kmeans import bisecting as solver
from certus.solvers.kmeans.distinct_rows import two_points
from tests.house.naming import without_address
from tests.runtime.progress_cases import Recorder

STRATEGIES = ["biggest_inertia", "largest_cluster"]
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def blobs(n=900, p=3, k=6, seed=0):
    rng = np.random.default_rng(seed)
    centers = 6 * rng.normal(size=(k, p))
    return centers[rng.integers(0, k, n)] + rng.normal(size=(n, p))


X = blobs()
S = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)


def ends(Z, k, random_state):
    """Return a deterministic start: the first and the last row by their first column."""
    Z = Z.toarray() if sp.issparse(Z) else Z
    return Z[[Z[:, 0].argmin(), Z[:, 0].argmax()]]


def squared_distances(X, centers):
    return ((X[:, None, :] - centers[None]) ** 2).sum(axis=2)


def model(**params):
    return BisectingKMeans(**{"n_clusters": 6, "random_state": 0, **params})


def plain(Z, s, k, strategy):
    """Split by plain Lloyd steps from ``ends``; the clusters as lists of row numbers."""
    leaves = [np.arange(len(Z))]

    def inertia(i):
        mean = s[i] @ Z[i] / s[i].sum()
        return s[i] @ ((Z[i] - mean) ** 2).sum(axis=1)

    score = {"biggest_inertia": inertia, "largest_cluster": lambda i: s[i].sum()}[strategy]
    for _ in range(k - 1):
        at = int(np.argmax([score(i) for i in leaves]))
        i = leaves[at]
        centers = ends(Z[i], 2, None)
        for _ in range(200):
            side = squared_distances(Z[i], centers).argmin(axis=1)
            centers = np.array(
                [s[i][side == c] @ Z[i][side == c] / s[i][side == c].sum() for c in (0, 1)]
            )
        leaves[at : at + 1] = [i[side == 0], i[side == 1]]
    return leaves


# --- the tree -------------------------------------------------------------------------------------


@each_strategy
@pytest.mark.parametrize("weight", [None, S + 1], ids=["no weights", "weights"])
def test_it_splits_as_it_is_written(strategy, weight):
    fitted = model(init=ends, bisecting_strategy=strategy).fit(X, sample_weight=weight)
    s = np.ones(len(X)) if weight is None else weight
    for label, i in enumerate(plain(X, s, 6, strategy)):
        np.testing.assert_array_equal(np.flatnonzero(fitted.labels_ == label), i)
        mean = s[i] @ X[i] / s[i].sum()
        np.testing.assert_allclose(fitted.cluster_centers_[label], mean, rtol=1e-10)


@each_strategy
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_from_the_same_starts_it_is_scikit_learns(strategy, as_given):
    params = {"n_clusters": 6, "init": ends, "tol": 0.0, "bisecting_strategy": strategy}
    ours = BisectingKMeans(**params).fit(as_given(X))
    theirs = peers.BisectingKMeans(**params).fit(as_given(X))
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.labels_.dtype == theirs.labels_.dtype
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-10)
    Q = 3 * np.random.default_rng(5).normal(size=(200, 3))
    np.testing.assert_array_equal(ours.predict(as_given(Q)), theirs.predict(as_given(Q)))


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_the_mean_objective_over_seeds_is_not_worse_than_scikit_learns(init):
    Z = np.vstack([blobs(1500, 4, 10, seed=3), np.random.default_rng(0).uniform(-9, 9, (500, 4))])
    params, seeds = {"n_clusters": 12, "init": init, "n_init": 2}, range(10)
    ours = [BisectingKMeans(**params, random_state=seed).fit(Z).inertia_ for seed in seeds]
    with threadpool_limits(1, user_api="openmp"):  # its waiting threads cost minutes
        theirs = [
            peers.BisectingKMeans(**params, random_state=seed).fit(Z).inertia_ for seed in seeds
        ]
    assert np.mean(ours) <= 1.02 * np.mean(theirs)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_predict_is_labels_at_any_distance_from_the_origin(dtype, offset):
    Z = (X + offset).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)  # 1e8 in float32: few points are left
        fitted = model(n_clusters=9, init="k-means++").fit(Z, sample_weight=S)
    assert fitted.cluster_centers_.dtype == dtype
    np.testing.assert_array_equal(fitted.predict(Z), fitted.labels_)
    to_own = squared_distances(Z.astype(float), fitted.cluster_centers_.astype(float))
    J = S @ to_own[np.arange(len(Z)), fitted.labels_]
    np.testing.assert_allclose(fitted.inertia_, J, rtol=1e-12)
    assert -fitted.score(Z, sample_weight=S) <= J * (1 + 1e-12)


def test_a_row_goes_down_the_tree_and_not_to_the_nearest_centre():
    fitted = model().fit(X)
    Q = 3 * np.random.default_rng(5).normal(size=(2000, 3))
    tree = solver.SplitTree(fitted._pairs, fitted._children)

    def leaf(x):
        at = 0
        while at >= 0:
            side = ((x - tree.pairs[at]) ** 2).sum(axis=1).argmin()
            at = tree.children[at, side]
        return -1 - at

    result = fitted.predict(Q)
    np.testing.assert_array_equal(result, [leaf(x) for x in Q])
    assert (result != squared_distances(Q, fitted.cluster_centers_).argmin(axis=1)).any()


def test_every_start_of_a_split_is_run_and_the_best_kept():
    rng = np.random.default_rng(0)
    Z = np.repeat([0.0, 10.0, 22.0], 30)[:, None] + rng.normal(size=(90, 1))
    given = [Z[[0, 40]], Z[[40, 80]], Z[[0, 1]]]

    def fitted(init, n_init=1):
        return BisectingKMeans(2, init=lambda *_, **__: init(), n_init=n_init).fit(Z).inertia_

    alone = [fitted(lambda start=start: start) for start in given]
    assert alone[0] > 1.1 * alone[1]
    np.testing.assert_allclose(fitted(iter(given).__next__, n_init=3), min(alone), rtol=1e-12)


@each_strategy
def test_what_is_split_next_is_what_the_strategy_says(strategy):
    rng = np.random.default_rng(0)
    wide = np.array([[100.0], [130.0], [160.0], [190.0]])  # few rows, far apart
    many = rng.normal(size=(100, 1))
    fitted = model(n_clusters=3, bisecting_strategy=strategy).fit(np.vstack([many, wide]))
    parts = len(set(fitted.labels_[:100]))
    assert parts == (1 if strategy == "biggest_inertia" else 2)


def test_the_largest_cluster_is_that_of_the_largest_weight():
    Z = np.vstack([np.arange(10.0)[:, None], 1000 + np.arange(4.0)[:, None]])
    s = np.r_[np.ones(10), np.full(4, 9.0)]
    fitted = model(n_clusters=3, bisecting_strategy="largest_cluster").fit(Z, sample_weight=s)
    assert len(set(fitted.labels_[10:])) == 2


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_array])
def test_sparse_rows_are_the_dense_ones(layout):
    Z = np.where(np.random.default_rng(2).random(X.shape) < 0.5, 0.0, X)
    given = layout(Z)
    given.data[:40] = 0.0  # explicit zeros
    ours, theirs = model(init=ends).fit(given), model(init=ends).fit(given.toarray())
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(given), ours.labels_)


# --- certificates ---------------------------------------------------------------------------------


def test_every_split_is_a_local_optimum_of_its_own_two_clusters():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model().fit(X)
    assert (fitted.split_residuals_ <= 1e-6).all()
    np.testing.assert_array_equal(fitted.split_certified_, [True] * 5)
    assert "5 of 5 splits are local optima of their own two clusters" in fitted.certificate_.notes
    one = BisectingKMeans(2, init="k-means++", random_state=0).fit(X)
    assert "the split is a local optimum of its two clusters" in one.certificate_.notes
    best = KMeans(2, random_state=0).fit(X)
    np.testing.assert_allclose(one.inertia_, best.inertia_, rtol=1e-9)
    assert one.certificate_.certified


def test_a_split_that_max_iter_ended_is_stated_with_what_a_step_would_gain():
    message = (
        r"BisectingKMeans stopped at max_iter=1 in \d of 5 splits before a fixed point: objective "
        r".*, and one more step lowers that of a split by up to .* %. Raise max_iter."
    )
    with pytest.warns(NotCertifiedWarning, match=message) as caught:
        fitted = model(max_iter=1).fit(X)
    assert caught[0].filename == __file__
    bad = (~fitted.split_certified_).sum()
    np.testing.assert_array_equal(fitted.split_certified_, fitted.split_residuals_ <= 1e-6)
    assert f" in {bad} of 5 splits" in str(caught[0].message)
    assert f"{5 - bad} of 5 splits are local optima of their own two clusters" in (
        fitted.certificate_.notes
    )


def test_a_split_residual_is_the_share_that_one_more_step_gains():
    with pytest.warns(NotCertifiedWarning):
        fitted = BisectingKMeans(2, init=ends, max_iter=1).fit(X)
    centers, labels = fitted.cluster_centers_, fitted.labels_
    J = squared_distances(X, centers).min(axis=1).sum()
    means = np.array([X[labels == c].mean(axis=0) for c in (0, 1)])
    of_move = (np.bincount(labels) * ((centers - means) ** 2).sum(axis=1)).sum()
    of_step = J - squared_distances(X, means).min(axis=1).sum()
    # the move of the centres alone, or with the rows that then change sides
    assert 0.999 * of_move <= fitted.split_residuals_[0] * J <= 1.001 * of_step


def test_the_objective_falls_with_every_split():
    trace = model().fit(X).certificate_.trace
    assert [point.iteration for point in trace] == list(range(6))
    J = [point.objective for point in trace]
    assert (np.diff(J) < 0).all()
    np.testing.assert_allclose(J[0], ((X - X.mean(axis=0)) ** 2).sum(), rtol=1e-10)


# --- degenerate data ------------------------------------------------------------------------------


@each_strategy
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_equal_points_are_one_cluster(strategy, as_given):
    Z = as_given(np.full((20, 2), 0.1))
    with pytest.warns(DegenerateWarning, match="the 20 rows hold 1 distinct point, so 3 clusters"):
        fitted = model(n_clusters=3, bisecting_strategy=strategy).fit(Z)
    assert fitted.n_clusters_effective_ == 1
    assert fitted.cluster_centers_.shape == (3, 2)
    np.testing.assert_array_equal(fitted.labels_, 0)
    np.testing.assert_array_equal(fitted.predict(Z), 0)
    assert fitted.inertia_ == pytest.approx(0, abs=1e-28)


def test_sparse_points_are_told_apart_by_value_and_place_and_not_by_stored_zeros():
    same = sp.csr_array(([1.0, 0.0, 1.0, 1.0], [0, 1, 0, 0], [0, 2, 3, 4]), shape=(3, 3))
    assert not two_points(Rows(CSR(same)))
    for other in ([[1.0, 0, 0], [2.0, 0, 0]], [[1.0, 0, 0], [0, 1.0, 0]], [[1.0, 0, 0], [0, 0, 0]]):
        Z = CSR(sp.csr_array(np.array(other)))
        assert two_points(Rows(Z))
        assert not two_points(Rows(Z, s=np.array([0.0, 1.0])))
    assert not two_points(Rows(CSR(sp.csr_array((5, 3)))))


@each_strategy
@pytest.mark.parametrize("seed", range(5))
def test_as_many_clusters_are_formed_as_there_are_distinct_points(strategy, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(9, 2))[np.r_[np.arange(9), rng.integers(0, 9, 8)]]
    params = {"n_clusters": 10, "random_state": seed, "bisecting_strategy": strategy}
    with pytest.warns(DegenerateWarning, match="the 17 rows hold 9 distinct points, so 10 cl"):
        fitted = BisectingKMeans(**params).fit(Z)
    assert fitted.n_clusters_effective_ == len(set(fitted.labels_)) == 9
    assert fitted.inertia_ == pytest.approx(0, abs=1e-28)
    assert np.isnan(fitted.split_residuals_).sum() == 1  # the twin
    assert fitted.split_certified_.all()
    np.testing.assert_array_equal(fitted.predict(Z), fitted.labels_)


def test_a_large_cluster_of_equal_points_is_left_alone():
    Z = np.vstack([np.zeros((50, 1)), [[10.0], [11.0], [12.0]]])
    fitted = model(n_clusters=4, bisecting_strategy="largest_cluster").fit(Z)
    assert fitted.n_clusters_effective_ == 4
    assert fitted.inertia_ == pytest.approx(0, abs=1e-24)


def test_rows_of_weight_nothing_get_a_label_and_make_no_cluster():
    Z = np.vstack([np.zeros((10, 1)), np.ones((10, 1)), [[50.0], [60.0]]])
    s = np.r_[np.ones(20), 0.0, 0.0]
    with pytest.warns(DegenerateWarning, match="the 20 rows hold 2 distinct points"):
        fitted = model(n_clusters=3).fit(Z, sample_weight=s)
    assert fitted.n_clusters_effective_ == 2
    assert sorted(set(fitted.cluster_centers_.ravel())) == [0.0, 1.0]
    np.testing.assert_array_equal(fitted.predict(Z), fitted.labels_)


def test_one_cluster_is_the_weighted_mean():
    fitted = BisectingKMeans(1).fit(X, sample_weight=S)
    mean = S @ X / S.sum()
    np.testing.assert_allclose(fitted.cluster_centers_, mean[None], rtol=1e-12)
    np.testing.assert_allclose(fitted.inertia_, S @ ((X - mean) ** 2).sum(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(fitted.predict(X), 0)
    assert fitted.split_residuals_.shape == (0,)
    assert fitted.certificate_.certified


def test_as_many_clusters_as_rows():
    one = BisectingKMeans(1).fit([[2.0, 3.0]])
    np.testing.assert_array_equal(one.cluster_centers_, [[2.0, 3.0]])
    all_ = BisectingKMeans(7, random_state=0).fit(X[:7])
    assert sorted(all_.labels_) == list(range(7))
    assert all_.inertia_ == pytest.approx(0, abs=1e-28)


# --- callbacks and interrupts ---------------------------------------------------------------------


def test_every_split_is_reported_and_a_listener_can_stop_it():
    recorder = Recorder(stop_after=3)
    fitted = model().set_callbacks(recorder).fit(X)
    assert fitted.cluster_centers_.shape == (4, 3)
    assert fitted.certificate_.status in ("stopped", "local optimum")
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    np.testing.assert_array_equal(recorder.models[0].predict(X), recorder.models[0].labels_)
    assert recorder.models[0].cluster_centers_.shape == (2, 3)


@pytest.mark.parametrize("where", [(solver, "_split"), (estimator, "_claim")], ids=str)
def test_ctrl_c_keeps_the_splits_so_far(monkeypatch, where):
    count, work = iter(range(100)), getattr(*where)

    def interrupted(*args):
        if next(count) == 3:
            raise KeyboardInterrupt
        return work(*args)

    monkeypatch.setattr(*where, interrupted)
    stopped = model()
    with pytest.raises(KeyboardInterrupt) as caught:
        stopped.fit(X)
    assert "BisectingKMeans stopped by you after 3 iterations" in caught.value.__notes__[0]
    assert stopped.cluster_centers_.shape == (4, 3)
    assert stopped.split_residuals_.shape == (3,)
    assert stopped.certificate_.status == "stopped"
    np.testing.assert_array_equal(stopped.predict(X), stopped.labels_)
    whole = model(n_clusters=4).fit(X)
    np.testing.assert_array_equal(stopped.labels_, whole.labels_)


def test_verbose_prints_a_line_for_every_split(capsys):
    fitted = model(n_clusters=3, verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "BisectingKMeans: 1 cluster",
        "BisectingKMeans: 2 clusters",
        "BisectingKMeans: 3 clusters",
    ]
    printed = float(lines[-1].split("objective ")[1].replace(",", ""))
    assert printed == pytest.approx(fitted.inertia_)


# --- input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0: give a whole number above 0"),
        ({"n_init": "auto"}, "n_init='auto'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"tol": [1e-3, 1e-4]}, "give one number"),
        ({"init": "randm"}, "Did you mean 'random'"),
        (
            {"init": X[:2]},
            "init is of type ndarray: every split starts from two centres of its own",
        ),
        ({"init": lambda Z, k, random_state: Z[:3]}, "does not match the number of clusters 2"),
        ({"copy_x": 1}, "copy_x=1: give True or False"),
        ({"algorithm": "full"}, "algorithm='full'"),
        ({"bisecting_strategy": "biggest"}, "Did you mean 'biggest_inertia'"),
        ({"n_clusters": 901}, "n_samples=900 should be >= n_clusters=901"),
    ],
    ids=without_address,
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        model(**params).fit(X)


def test_missing_values_are_named_and_the_model_is_as_before():
    fitted = model().fit(X)
    before = dict(vars(fitted))
    bad = X.copy()
    bad[17, 2] = np.nan
    message = r"column 2 of X has 1 missing value \(NaN; row 17\)"
    with pytest.raises(ValueError, match=message):
        fitted.fit(bad)
    assert vars(fitted) == before
    with pytest.raises(ValueError, match=message):
        fitted.predict(bad)


def test_scikit_learns_own_checks_hold():
    reason = "starts depend on the order of the rows, so weights and copies draw others"
    names = ("dense", "sparse")
    known = {f"check_sample_weight_equivalence_on_{name}_data": reason for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(BisectingKMeans(), expected_failed_checks=known, on_skip=None)
