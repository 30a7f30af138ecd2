"""KMeans is where other libraries are after the same steps from the same start.

In float64 the labels are equal row by row. Where a library computes in float32 a row between two
centres may go to the other one, so that only objectives are compared.
"""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as peers
from sklearn.datasets import load_digits, load_iris

from certus.cluster import KMeans
from certus.data.rows import Rows
from certus.exceptions import NotCertifiedWarning
from certus.solvers.kmeans.starts import parallel, plus_plus

rng = np.random.default_rng(0)
NOISE = rng.random((700, 4))
BLOBS = rng.normal(size=(12, 6))[rng.integers(12, size=900)] + 0.25 * rng.normal(size=(900, 6))
PLANE = rng.normal(size=(1500, 2))
DIGITS = load_digits().data[:800] + 1e-3 * rng.random((800, 64))  # whole numbers have ties
DATA = {"noise": NOISE, "blobs": BLOBS, "plane": PLANE, "digits": DIGITS}
each_data = pytest.mark.parametrize("X", DATA.values(), ids=DATA)


def start_of(X, k, seed=0):
    return X[np.random.default_rng(seed).choice(len(X), size=k, replace=False)]


def both(X, k, s=None, seed=0, **settings):
    """(ours, scikit-learn's) from the same rows as centres, until no label changes."""
    start = start_of(np.asarray(X.todense()) if sp.issparse(X) else X, k, seed)
    settings = {"init": start, "n_init": 1, "tol": 0, "max_iter": 1000} | settings
    makers = partial(KMeans, single_moves=False), peers.KMeans
    return [make(k, **settings).fit(X, sample_weight=s) for make in makers]


def agree(ours, theirs, rtol=1e-9):
    assert np.array_equal(ours.labels_, theirs.labels_)
    scale = np.abs(theirs.cluster_centers_).max()
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-10 * scale)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=rtol)


@each_data
@pytest.mark.parametrize("k", [2, 9, 40])
@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
def test_labels_are_scikit_learns_row_by_row(X, k, algorithm):
    for seed in range(3):
        ours, theirs = both(X, k, seed=seed, algorithm=algorithm)
        agree(ours, theirs)
        assert ours.certificate_.status == "local optimum"


@each_data
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_centres_are_scikit_learns_after_any_number_of_steps(X, steps):
    with pytest.warns(NotCertifiedWarning, match=f"max_iter={steps}"):
        ours, theirs = both(X, 15, max_iter=steps)
    agree(ours, theirs)
    assert ours.n_iter_ == theirs.n_iter_ == steps


@each_data
def test_weights_mean_what_they_mean_to_scikit_learn(X):
    s = np.random.default_rng(1).exponential(size=len(X))
    s[::7] = 0
    ours, theirs = both(X, 8, s)
    agree(ours, theirs)
    assert ours.score(X, sample_weight=s) == pytest.approx(theirs.score(X, sample_weight=s))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_sparse_rows_give_scikit_learns_labels(form):
    X = rng.random((600, 30)) * (rng.random((600, 30)) < 0.2)
    ours, theirs = both(form(X), 6)
    if form is sp.csc_array:
        theirs = both(sp.csr_array(X), 6)[1]
    agree(ours, theirs)
    assert np.array_equal(ours.labels_, both(X, 6)[0].labels_)


@each_data
def test_float32_is_as_good_as_scikit_learns_float64(X):
    """Rounding X changes labels at the borders: the objectives stay close."""
    ours, _ = both(X.astype(np.float32), 9)
    _, theirs = both(X.astype(np.float32).astype(np.float64), 9)
    assert ours.cluster_centers_.dtype == np.float32
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-3)


@each_data
@pytest.mark.parametrize("k", [5, 30])
def test_default_tol_ends_no_higher_than_scikit_learn(X, k):
    """scikit-learn stops where the centres move little; we go on to a certified optimum."""
    ours, theirs = both(X, k, tol=1e-4, max_iter=300)
    assert ours.inertia_ <= theirs.inertia_ * (1 + 1e-12)
    assert ours.certificate_.certified


@each_data
def test_new_rows_are_treated_alike(X):
    ours, theirs = both(X[::2], 10)
    new = X[1::2]
    assert np.array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-7, atol=1e-7)
    assert ours.score(new) == pytest.approx(theirs.score(new))


def test_restarts_find_the_best_known_objective_of_iris():
    X, _ = load_iris(return_X_y=True)
    model = KMeans(3, n_init=10, random_state=0).fit(X)
    theirs = peers.KMeans(3, n_init=10, random_state=0, tol=0).fit(X)
    assert model.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    assert model.inertia_ == pytest.approx(78.85144142614601, rel=1e-12)


def potential(X, centers):
    return float(((X[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1).sum())


def drawn(draw, X, k, seeds):
    return np.array([potential(X, draw(np.random.RandomState(seed))) for seed in range(seeds)])


@pytest.mark.parametrize(("X", "k"), [(BLOBS, 12), (NOISE, 20)], ids=["blobs", "noise"])
def test_greedy_starts_are_as_good_as_scikit_learns_on_average(X, k):
    """Means of 60 draws each: the difference is within three standard errors."""
    ours = drawn(lambda draw: plus_plus(Rows(X), k, draw)[0], X, k, 60)
    theirs = drawn(lambda draw: peers.kmeans_plusplus(X, k, random_state=draw)[0], X, k, 60)
    error = np.sqrt((ours.var() + theirs.var()) / 60)
    assert abs(ours.mean() - theirs.mean()) < 3 * error
    one_trial = drawn(lambda draw: plus_plus(Rows(X), k, draw, trials=1)[0], X, k, 60)
    assert ours.mean() < one_trial.mean()


def test_starts_in_rounds_are_as_good_as_one_candidate_a_step():
    ours = drawn(lambda draw: parallel(Rows(BLOBS), 12, draw), BLOBS, 12, 30)
    one_trial = drawn(lambda draw: plus_plus(Rows(BLOBS), 12, draw, trials=1)[0], BLOBS, 12, 30)
    assert ours.mean() < 1.05 * one_trial.mean()


@each_data
def test_onedal_is_at_the_same_labels(X):
    onedal = pytest.importorskip("sklearnex.cluster")
    ours, _ = both(X, 9)
    theirs = onedal.KMeans(9, init=start_of(X, 9), n_init=1, tol=0, max_iter=1000).fit(X)
    agree(ours, theirs)


@each_data
def test_faiss_is_near_the_same_objective(X):
    faiss = pytest.importorskip("faiss")
    ours, _ = both(X, 9)
    given = {"max_points_per_centroid": len(X), "min_points_per_centroid": 1}
    theirs = faiss.Kmeans(X.shape[1], 9, niter=1000, **given)
    theirs.train(X.astype(np.float32), init_centroids=start_of(X, 9).astype(np.float32))
    assert potential(X, theirs.centroids) == pytest.approx(ours.inertia_, rel=2e-3)
