"""KMeans on unusual, invalid and extreme data."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

import certus
from certus.cluster import KMeans
from certus.exceptions import DegenerateWarning
from certus.preprocessing import PolynomialBasis
from tests.kmeans.cluster_cases import blobs, objective

X = blobs(0)


# --- rows of any kind -----------------------------------------------------------------------------


def fitted(given, **params):
    return KMeans(3, **{"init": X[:3], **params}).fit(given)


@pytest.mark.parametrize(
    "layout",
    [np.asfortranarray, lambda X: X[::-1][::-1], lambda X: np.repeat(X, 2, axis=1)[:, ::2]],
    ids=["Fortran", "reversed twice", "every other column"],
)
def test_any_layout_gives_the_same_labels(layout):
    given = layout(X.copy())
    given.flags.writeable = False
    model = fitted(given)
    np.testing.assert_array_equal(model.labels_, fitted(X).labels_)
    np.testing.assert_array_equal(model.predict(given), model.labels_)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, bool])
def test_whole_and_short_numbers_are_taken_as_the_numbers_they_are(dtype):
    given = np.random.default_rng(0).integers(0, 2 if dtype is bool else 200, (80, 3))
    given = given.astype(dtype)  # int8 wraps round: these are the numbers
    start = np.unique(given, axis=0)[:3].astype(float)
    model = KMeans(3, init=start).fit(given)
    as_floats = KMeans(3, init=start).fit(given.astype(float))
    assert model.cluster_centers_.dtype == np.float64
    np.testing.assert_array_equal(model.labels_, as_floats.labels_)
    np.testing.assert_allclose(model.cluster_centers_, as_floats.cluster_centers_, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(given), model.labels_)


def sparse_rows(seed=0, n=120, p=30):
    rng = np.random.default_rng(seed)
    return np.where(rng.uniform(size=(n, p)) < 0.2, np.round(64 * rng.normal(size=(n, p))) / 64, 0)


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, csc_array, coo_array])
@pytest.mark.parametrize("init", ["k-means++", "random", "k-means||"])
def test_sparse_rows_give_what_the_dense_ones_give(kind, init):
    D = sparse_rows()
    params = {"n_clusters": 4, "init": init, "n_init": 2, "random_state": 0}
    dense, model = KMeans(**params).fit(D), KMeans(**params).fit(kind(D))
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    np.testing.assert_allclose(model.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(kind(D)), model.labels_)
    np.testing.assert_array_equal(model.predict(D), model.labels_)
    np.testing.assert_allclose(model.transform(kind(D)), dense.transform(D), atol=1e-12)
    assert model.score(kind(D)) == pytest.approx(-model.inertia_, rel=1e-12)


def test_explicit_zeros_double_entries_and_columns_out_of_order_are_read_right():
    D = sparse_rows()
    plain = csr_array(D)
    zeros = plain.copy()
    zeros.data[::5] = 0.0
    truth = zeros.toarray()
    rows, columns = np.nonzero(truth)
    order = np.random.default_rng(1).permutation(len(rows))
    halves = coo_array(
        (
            np.concatenate([truth[rows, columns][order] / 2] * 2),
            (np.concatenate([rows[order]] * 2), np.concatenate([columns[order]] * 2)),
        ),
        shape=D.shape,
    )
    unsorted = zeros.copy()
    for i in range(D.shape[0]):
        a, b = unsorted.indptr[i : i + 2]
        unsorted.indices[a:b] = unsorted.indices[a:b][::-1].copy()
        unsorted.data[a:b] = unsorted.data[a:b][::-1].copy()
    unsorted.has_sorted_indices = False
    dense = KMeans(4, init=truth[:4]).fit(truth)
    for given in (zeros, halves, unsorted):
        model = KMeans(4, init=truth[:4]).fit(given)
        np.testing.assert_array_equal(model.labels_, dense.labels_)
        np.testing.assert_allclose(model.cluster_centers_, dense.cluster_centers_, atol=1e-12)
        np.testing.assert_array_equal(model.predict(given), model.labels_)


def test_lazy_rows_are_read_block_by_block():
    lazy = PolynomialBasis(degree=2, lazy=True).fit(X).transform(X)
    held = np.asarray(lazy)
    model, plain = (KMeans(3, random_state=0).fit(given) for given in (lazy, held))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(lazy), model.labels_)


# --- fewer points than clusters, and other extremes -----------------------------------------------


def test_all_points_equal_is_one_cluster():
    message = (
        "the 20 rows hold 1 distinct point, so 3 clusters cannot exist. 1 was formed; the "
        "objective is 0 and cannot be lower. See n_clusters_effective_."
    )
    with pytest.warns(DegenerateWarning) as caught:
        model = KMeans(3, random_state=0).fit(np.full((20, 2), 0.1))
    assert [str(w.message) for w in caught] == [message]
    assert caught[0].filename == __file__
    assert model.n_clusters_effective_ == 1
    assert model.inertia_ == 0
    np.testing.assert_array_equal(model.labels_, 0)
    np.testing.assert_array_equal(model.cluster_centers_, np.full((3, 2), 0.1))


@pytest.mark.parametrize("init", ["k-means++", "random", "k-means||"])
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_seventeen_rows_of_nine_points_make_nine_clusters(init, offset, kind):
    points = np.random.default_rng(3).normal(size=(9, 2)) + offset
    rows = np.vstack([points, points[:8]])
    message = (
        "the 17 rows hold 9 distinct points, so 10 clusters cannot exist. 9 were formed; the "
        "objective is 0 and cannot be lower. See n_clusters_effective_."
    )
    with pytest.warns(DegenerateWarning) as caught:
        model = KMeans(10, init=init, random_state=0).fit(kind(rows))
    assert [str(w.message) for w in caught] == [message]
    assert model.n_clusters_effective_ == 9 == len(np.unique(model.labels_))
    assert model.inertia_ == 0
    assert model.n_iter_ < 20
    np.testing.assert_array_equal(model.labels_[9:], model.labels_[:8])
    np.testing.assert_array_equal(model.predict(kind(rows)), model.labels_)
    assert model.cluster_centers_.shape == (10, 2)
    assert np.isfinite(model.cluster_centers_).all()


def test_as_many_clusters_as_distinct_points_is_not_degenerate():
    points = np.random.default_rng(3).normal(size=(9, 2))
    model = KMeans(9, random_state=0).fit(np.vstack([points, points[:8]]))
    assert model.inertia_ == 0
    assert model.n_clusters_effective_ == 9
    assert model.certificate_.certified


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_cluster_for_each_row_is_exact(n):
    rows = np.random.default_rng(0).normal(size=(n, 2)) + 1e6
    model = KMeans(n, random_state=0).fit(rows)
    assert model.inertia_ == 0
    assert sorted(model.labels_) == list(range(n))
    np.testing.assert_array_equal(model.cluster_centers_[model.labels_], rows)


def test_one_cluster_is_the_weighted_mean():
    s = np.arange(1.0, len(X) + 1)
    model = KMeans(1).fit(X, sample_weight=s)
    np.testing.assert_allclose(model.cluster_centers_[0], s @ X / s.sum(), rtol=1e-12)
    assert model.inertia_ == pytest.approx(objective(X, [s @ X / s.sum()], s))


def test_one_column_and_a_column_that_never_changes():
    model = KMeans(3, random_state=0).fit(X[:, :1])
    with_constant = np.column_stack([X[:, 0], np.full(len(X), 1e7)])
    other = KMeans(3, random_state=0).fit(with_constant)
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(other.cluster_centers_[:, 1], 1e7)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_very_small_and_very_large_numbers_are_clustered_as_others(size):
    model = KMeans(3, init=size * X[:3]).fit(size * X)
    np.testing.assert_array_equal(model.labels_, KMeans(3, init=X[:3]).fit(X).labels_)


def test_weights_of_any_size_and_rows_that_do_not_count():
    s = np.ones(len(X))
    s[:30] = 0
    model = KMeans(3, init=X[30:33]).fit(X, sample_weight=1e-300 * s)
    other = KMeans(3, init=X[30:33]).fit(X[30:])
    np.testing.assert_array_equal(model.labels_[30:], other.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    with pytest.warns(DegenerateWarning, match="the 60 rows hold 1 distinct point"):
        # rows of weight 0 cannot fill a cluster
        KMeans(3).fit(np.where(s[:, None] > 0, 1.0, X), sample_weight=s)


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0: give a whole number above 0"),
        ({"n_clusters": 2.5}, "n_clusters=2.5: give a whole number above 0"),
        ({"init": "kmeans++"}, r"init='kmeans\+\+': .* Did you mean 'k-means\+\+'"),
        ({"init": None}, "init=None: give 'k-means\\+\\+', .* an array of centres or a function"),
        ({"init": X[:2]}, r"initial centers \(2, 3\) does not match the number of clusters 3"),
        ({"init": X[:3, :2]}, r"initial centers \(3, 2\) does not match the number of features"),
        ({"init": X[0]}, r"\(3,\) does not match the number of clusters 3: init must be of shape"),
        ({"init": [["a"] * 3] * 3}, "init holds something that is no number .first: .*'a'"),
        ({"init": np.full((3, 3), np.nan)}, r"init holds nan \(centre 0, column 0\)"),
        ({"init": lambda X, k, random_state: X[:1]}, "what init returned must be of shape"),
        ({"n_init": 0}, "n_init=0: give a whole number above 0"),
        ({"n_init": "many"}, "n_init='many': give a whole number above 0"),
        ({"max_iter": 0}, "max_iter=0: give a whole number above 0"),
        ({"tol": -1.0}, "tol=-1.0: give a finite number that is not negative"),
        ({"tol": [1e-4]}, "tol=.*: give one number"),
        ({"algorithm": "full"}, "algorithm='full': give one of 'lloyd', 'elkan'"),
        ({"copy_x": "no"}, "copy_x='no': give True or False"),
        ({"verbose": -1}, "verbose=-1"),
        ({"random_state": "x"}, "'x' cannot be used to seed"),
    ],
)
def test_a_bad_parameter_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        KMeans(**{"n_clusters": 3, "n_init": 1, **parameters}).fit(X)


def test_more_clusters_than_rows_is_refused():
    with pytest.raises(ValueError, match=r"n_samples=5 should be >= n_clusters=8: .* 5 clusters"):
        KMeans().fit(X[:5])
    s = np.zeros(len(X))
    s[:2] = 1.0
    with pytest.raises(ValueError, match="n_samples=2 with a weight above 0 should be >="):
        KMeans(3).fit(X, sample_weight=s)


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (np.where(np.arange(90) == 4, -2.0, 1.0), r"1 weight below 0 \(first: row 4, -2\)"),
        (np.zeros(90), "all are 0"),
        (np.where(np.arange(90) == 4, np.nan, 1.0), "sample_weight has 1 missing value"),
        (np.ones(89), r"X has 90 rows, sample_weight has 89"),
        (np.ones((90, 2)), "1D array or scalar"),
        (["a"] * 90, "no number"),
    ],
)
def test_bad_weights_are_named(s, message):
    with pytest.raises(ValueError, match=message):
        KMeans(3).fit(X, sample_weight=s)
    with pytest.raises(ValueError, match=message):
        KMeans(3).fit(X).score(X, sample_weight=s)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "missing"), (np.inf, "infinite")])
@pytest.mark.parametrize("kind", ["dense", "sparse", "frame"])
def test_what_is_not_finite_is_named_by_row_and_column(value, word, kind):
    bad = X.copy()
    bad[7, 1] = value
    column = "column 'b'" if kind == "frame" else "column 1 of X"
    make = {
        "dense": np.asarray, "sparse": csr_array,
        "frame": lambda X: pd.DataFrame(X, columns=list("abc")),
    }[kind]  # fmt: skip
    message = rf"{column} has 1 {word} value \(.*; row 7\): impute them or drop the rows"
    with pytest.raises(ValueError, match=message):
        KMeans(3).fit(make(bad))
    model = KMeans(3).fit(make(X))
    for method in (model.predict, model.transform, model.score):
        with pytest.raises(ValueError, match=message):
            method(make(bad))


def test_text_is_named_with_the_remedy():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "city": ["Oslo", "Bern", "Rome"]})
    with pytest.raises(ValueError, match=r"column 'city' holds text \(first: 'Oslo'\): encode it"):
        KMeans(2).fit(frame)


def test_new_rows_whose_squares_cannot_be_held_are_refused():
    with pytest.raises(ValueError, match="overflow: divide X by a power of 10"):
        KMeans(3).fit(X).predict(1e200 * X)
    with pytest.raises(ValueError, match="overflow: divide X by a power of 10"):
        KMeans(3).fit(X).score(1e200 * X)


def test_other_shapes_are_refused_as_scikit_learn_refuses_them():
    with pytest.raises(ValueError, match="Reshape your data"):
        KMeans(2).fit(X[:, 0])
    with pytest.raises(ValueError, match="0 sample"):
        KMeans(1).fit(np.empty((0, 2)))
    with pytest.raises(ValueError, match="Complex data not supported"):
        KMeans(2).fit(X + 1j)
    with pytest.raises(ValueError, match="3 features"):
        KMeans(2).fit(X).predict(X[:, :2])


@pytest.mark.parametrize("power", [-503, -480, 400, 500])
def test_a_power_of_two_scales_the_objective_exactly_wherever_it_can_be_held(power):
    Z = np.random.default_rng(0).normal(size=(300, 3))
    near, far = (KMeans(4, random_state=0).fit(A) for A in (Z, Z * 2.0**power))
    np.testing.assert_array_equal(far.labels_, near.labels_)
    np.testing.assert_array_equal(far.cluster_centers_, near.cluster_centers_ * 2.0**power)
    assert far.inertia_ == near.inertia_ * 2.0**power * 2.0**power
    assert far.certificate_.status == "local optimum"
    assert certus.verify(far, Z * 2.0**power, by="page").status == "local optimum"
