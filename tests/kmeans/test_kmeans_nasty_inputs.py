"""KMeans: difficult inputs give the right result, or an error that names them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as peers

import certus
from certus.cluster import KMeans
from certus.exceptions import DegenerateWarning

INITS = ["k-means++", "random", "k-means||"]
each_init = pytest.mark.parametrize("init", INITS)


@each_init
@pytest.mark.parametrize("value", [0.0, 1.0, -3.7, 1e8, 1e-200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_are_all_equal_are_one_cluster(init, value, dtype):
    X = np.full((20, 2), value, dtype=dtype)
    with pytest.warns(DegenerateWarning, match="20 rows hold 1 distinct point") as reported:
        model = KMeans(3, init=init, random_state=0).fit(X)
    assert len(reported) == 1
    assert model.n_clusters_effective_ == 1
    assert (model.inertia_, len(np.unique(model.labels_))) == (0, 1)
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.certificate_.status == "degenerate"
    assert np.array_equal(model.cluster_centers_[model.labels_], X)


@each_init
@pytest.mark.parametrize("n_init", [1, 4])
def test_17_rows_of_9_distinct_points_are_9_clusters(init, n_init):
    points = np.random.default_rng(0).normal(size=(9, 2))
    X = np.vstack([points, points[:8]])
    words = (
        "the 17 rows hold 9 distinct points, so 10 clusters cannot exist. 9 were formed;\n"
        "the objective is 0 and cannot be lower. See n_clusters_effective_."
    )
    with pytest.warns(DegenerateWarning) as reported:
        model = KMeans(10, init=init, n_init=n_init, random_state=0).fit(X)
    assert [" ".join(str(w.message).split()) for w in reported] == [" ".join(words.split())]
    assert (model.n_clusters_effective_, model.inertia_) == (9, 0)
    assert np.array_equal(model.labels_[:8], model.labels_[9:])
    assert model.n_iter_ < 300
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.certificate_.status == "degenerate"


@pytest.mark.parametrize("offset", [1e6, 1e8, 1e12, -1e8])
@pytest.mark.parametrize("k", [2, 5])
def test_far_from_the_origin_predict_is_labels(offset, k):
    """scikit-learn's products lose the differences between rows."""
    X = np.random.default_rng(0).normal(size=(300, 2)) + offset
    model = KMeans(k, n_init=3, random_state=0).fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-12)
    assert model.certificate_.certified
    d2 = ((X[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
    assert np.array_equal(np.argmin(d2, axis=1), model.labels_)


def test_scikit_learn_contradicts_itself_there():
    """The reason for the test above: when this fails, scikit-learn is better than we say."""
    X = np.random.default_rng(0).normal(size=(300, 2)) + 1e8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = peers.KMeans(5, n_init=3, random_state=0).fit(X)
    d2 = ((X[:, None] - theirs.cluster_centers_[None]) ** 2).sum(axis=2)
    assert not np.array_equal(np.argmin(d2, axis=1), theirs.predict(X))


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_a_shift_of_whole_numbers_changes_no_label(offset):
    X = np.round(np.random.default_rng(0).normal(size=(300, 2)) * 64) / 64
    original = KMeans(6, init=X[:6], n_init=1).fit(X)
    transformed = KMeans(6, init=X[:6] + offset, n_init=1).fit(X + offset)
    assert np.array_equal(original.labels_, transformed.labels_)
    assert transformed.inertia_ == pytest.approx(original.inertia_, rel=1e-6)


@pytest.mark.parametrize("call", ["fit", "fit_predict", "fit_transform"])
def test_a_negative_weight_is_named(call):
    X = np.random.default_rng(0).normal(size=(30, 2))
    s = np.ones(30)
    s[[4, 17]] = -1
    with pytest.raises(ValueError, match=r"sample_weight.*(row|rows).*4"):
        getattr(KMeans(2), call)(X, sample_weight=s)


def test_weights_that_are_all_zero_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=r"(?i)weights.*all are 0"):
        KMeans(2).fit(X, sample_weight=np.zeros(30))


def test_restarts_report_their_spread_and_the_best_is_kept():
    """One start on many blobs can end far above the best: the spread says so."""
    rng = np.random.default_rng(0)
    X = 10 * rng.normal(size=(30, 2))[rng.integers(30, size=900)] + 0.3 * rng.normal(size=(900, 2))
    model = KMeans(30, init="random", n_init=12, random_state=0).fit(X)
    assert model.restarts_.shape == (12,)
    assert model.inertia_ == model.restarts_.min()
    assert model.restarts_.max() > 1.3 * model.inertia_
    agree = int((model.restarts_ <= model.inertia_ * (1 + 1e-6)).sum())
    assert f"{agree} of 12 restarts agree" in repr(model.certificate_)
    one = KMeans(30, init="random", n_init=1, random_state=0).fit(X)
    assert "one start" in repr(one.certificate_)
    assert one.inertia_ == model.restarts_[0]


@each_init
def test_one_row_is_its_own_centre(init):
    model = KMeans(1, init=init, random_state=0).fit([[3.0, -4.0]])
    assert np.array_equal(model.cluster_centers_, [[3.0, -4.0]])
    assert (model.inertia_, list(model.labels_), list(model.predict([[9.0, 9.0]]))) == (0, [0], [0])
    assert model.certificate_.certified


@each_init
def test_as_many_clusters_as_rows_are_the_rows(init):
    X = np.random.default_rng(0).normal(size=(12, 3))
    model = KMeans(12, init=init, random_state=0).fit(X)
    assert model.inertia_ == 0
    assert np.array_equal(np.sort(model.labels_), np.arange(12))
    assert np.array_equal(model.cluster_centers_[model.labels_], X)
    assert model.certificate_.certified


def test_one_cluster_is_the_mean():
    X = np.random.default_rng(0).normal(size=(50, 3))
    s = np.arange(50.0)
    model = KMeans(1).fit(X, sample_weight=s)
    mean = s @ X / s.sum()
    np.testing.assert_allclose(model.cluster_centers_[0], mean, rtol=1e-13, atol=1e-15)
    assert model.inertia_ == pytest.approx(s @ ((X - mean) ** 2).sum(axis=1), rel=1e-12)


def test_more_clusters_than_rows_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"5.*8|8.*5"):
        KMeans(8).fit(np.arange(5.0)[:, None])


def messy(X):
    """Return X as sparse rows with explicit zeros, unsorted indices and entries in two parts."""
    rng = np.random.default_rng(1)
    data, indices, indptr = [], [], [0]
    for x in X:
        stored = rng.permutation(len(x))
        data += [*x[stored], 0.5, -0.5]  # a pair that sums to 0
        indices += [*stored, 0, 0]
        indptr.append(len(data))
    return sp.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=X.shape)


@each_init
def test_explicit_zeros_and_unsorted_indices_change_nothing(init):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, 6)), 2) * (rng.random((80, 6)) < 0.4)
    nasty, clean = messy(X), sp.csr_array(X)
    before = nasty.copy()
    models = [KMeans(4, init=init, n_init=2, random_state=0).fit(A) for A in (nasty, clean)]
    assert np.array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_allclose(models[0].cluster_centers_, models[1].cluster_centers_, atol=1e-13)
    assert np.array_equal(models[0].predict(nasty), models[0].labels_)
    assert np.array_equal(models[0].predict(X), models[0].labels_)
    assert models[0].certificate_.certified
    assert np.array_equal(nasty.indices, before.indices)  # the user's matrix is unchanged
    assert np.array_equal(nasty.data, before.data)


def test_sparse_and_dense_rows_have_the_same_labels_from_one_start():
    rng = np.random.default_rng(0)
    X = rng.random((300, 8)) * (rng.random((300, 8)) < 0.5)
    dense, sparse = (KMeans(5, init=X[:5], n_init=1).fit(A) for A in (X, messy(X)))
    assert np.array_equal(dense.labels_, sparse.labels_)
    assert dense.inertia_ == pytest.approx(sparse.inertia_, rel=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_none_is_named_by_row_and_column(bad):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[7, 2] = bad
    with pytest.raises(ValueError, match=r"column 2.*row 7|row 7.*column 2"):
        KMeans(2).fit(X)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, bool])
def test_whole_numbers_are_cast_before_they_are_subtracted(dtype):
    X = (np.random.default_rng(0).integers(0, 120, size=(90, 3)) % 2**7).astype(dtype)
    ours = KMeans(3, init=X[:3], n_init=1).fit(X)
    as_floats = KMeans(3, init=X[:3].astype(float), n_init=1).fit(X.astype(float))
    assert np.array_equal(ours.labels_, as_floats.labels_)
    assert ours.inertia_ == as_floats.inertia_


@pytest.mark.parametrize("size", [1e100, 1e-100])
def test_tiny_and_huge_units_change_no_label(size):
    X = np.random.default_rng(0).normal(size=(200, 2))
    scale = 2.0 ** np.round(np.log2(size))
    original = KMeans(4, init=X[:4], n_init=1).fit(X)
    transformed = KMeans(4, init=X[:4] * scale, n_init=1).fit(X * scale)
    assert np.array_equal(original.predict(X), transformed.predict(X * scale))


def test_the_audit_finds_scikit_learns_wrong_labels_far_from_the_origin():
    X = np.random.default_rng(0).normal(size=(300, 2)) + 1e8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = peers.KMeans(5, n_init=3, random_state=0).fit(X)
    c = certus.verify(theirs, X)
    assert not c.certified
    ours = KMeans(5, n_init=3, random_state=0).fit(X)
    assert certus.verify(ours, X).certified
