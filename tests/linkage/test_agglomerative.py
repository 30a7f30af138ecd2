"""Agglomerative trees through the public interface: every metric, scale, linkage and cut."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster as peers
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist, pdist, squareform

import certus
from certus.cluster import AgglomerativeClustering, DivisiveClustering, Tree, linkage
from certus.distances import Euclidean, Gower, Manhattan, names
from certus.exceptions import DegenerateWarning, NotEuclideanWarning, UnitsWarning
from tests.linkage.tree_cases import INVERTED, METHODS, rows, same_clusters

each_method = pytest.mark.parametrize("method", METHODS)
CENTER_METHODS = ("centroid", "median", "ward")


# --- the function ---------------------------------------------------------------------------------


@each_method
def test_merges_are_scipys(method):
    X = rows(1, n=60)
    ours, theirs = linkage(X, method), hierarchy.linkage(X, method)
    np.testing.assert_array_equal(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]])
    np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-12)


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "correlation"])
def test_other_distances_are_scipys_too(method, metric):
    X = rows(2, n=40, p=4)
    theirs = hierarchy.linkage(pdist(X, "cityblock" if metric == "manhattan" else metric), method)
    ours = linkage(X, method, metric)
    np.testing.assert_array_equal(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]])
    np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-9, atol=1e-14)


NEEDS = {"minkowski": {"p": 3}, "phi_s": {}}


@pytest.mark.parametrize("metric", names())
def test_every_metric_has_a_tree(metric):
    X = rows(3, n=20, p=2)
    if metric in ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"):
        X = (rows(3, n=20, p=6) > 0).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        Z = linkage(X, "average", metric, metric_params=NEEDS.get(metric))
    Tree(Z)
    assert len(Z) == 19


def test_condensed_and_square_distances_give_the_same_tree():
    X = rows(4)
    d = pdist(X)
    for method in ("single", "complete", "average", "weighted"):
        np.testing.assert_array_equal(
            linkage(d, method), linkage(squareform(d), method, "precomputed")
        )
        np.testing.assert_allclose(linkage(d, method)[:, 2], linkage(X, method)[:, 2], rtol=1e-12)


def test_a_length_that_no_condensed_matrix_has_is_refused():
    with pytest.raises(ValueError) as error:
        linkage(np.arange(5.0))
    assert str(error.value) == (
        "X has 5 values, which are not the n(n − 1)/2 distances of n rows. One column of rows is "
        "X.reshape(-1, 1)"
    )


def test_float32_distances_have_seven_digits():
    X = rows(5, n=50)
    narrow = linkage(X, "average", dtype="float32")
    np.testing.assert_allclose(narrow[:, 2], linkage(X, "average")[:, 2], rtol=1e-5)
    assert narrow.dtype == np.float64
    with pytest.raises(ValueError, match="dtype='int8': give 'float64', 'float32' or None"):
        linkage(X, dtype="int8")


def test_a_vectorised_function_and_an_object_are_metrics():
    X = rows(6)

    def most(A, B):
        return np.abs(A[:, None] - B).max(axis=2)

    np.testing.assert_array_equal(linkage(X, "average", most), linkage(X, "average", "chebyshev"))
    np.testing.assert_array_equal(linkage(X, "average", Manhattan()), linkage(X, "average", "l1"))


def test_the_caller_is_who_is_warned():
    with pytest.warns(UnitsWarning) as reported:
        linkage(rows(1) * [1, 1, 1e4])
    assert reported[0].filename == __file__


# --- the estimator --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward"])
def test_clusters_are_scikit_learns(method):
    X = rows(7, n=80)
    for params in ({"n_clusters": 5}, {"n_clusters": None, "distance_threshold": 1.0}):
        ours = AgglomerativeClustering(linkage=method, **params).fit(X)
        theirs = peers.AgglomerativeClustering(
            linkage=method, compute_distances=True, **params
        ).fit(X)
        assert same_clusters(ours.labels_, theirs.labels_)
        assert ours.n_clusters_ == theirs.n_clusters_
        np.testing.assert_allclose(ours.distances_, theirs.distances_)
        np.testing.assert_array_equal(ours.children_, np.sort(theirs.children_, axis=1))


def test_a_merge_at_the_threshold_is_not_made():
    X = np.array([[0.0], [1.0], [3.0]])
    model = AgglomerativeClustering(None, distance_threshold=1.0, linkage="single").fit(X)
    assert model.n_clusters_ == 3
    assert model.set_params(distance_threshold=1.5).fit(X).n_clusters_ == 2
    assert model.set_params(distance_threshold=0.0).fit(X).n_clusters_ == 3


def test_labels_are_those_of_the_tree():
    X = rows(8)
    model = AgglomerativeClustering(4).fit(X)
    np.testing.assert_array_equal(model.labels_, model.tree_.cut(4))
    np.testing.assert_array_equal(model.fit_predict(X), model.labels_)
    assert model.tree_.method == "ward"
    assert model.n_leaves_ == 30


def test_new_rows_go_by_the_rule_of_the_tree():
    X, Q = rows(9), rows(10)
    for method in METHODS:
        model = AgglomerativeClustering(3, linkage=method).fit(X)
        np.testing.assert_array_equal(
            model.predict(Q), Tree(linkage(X, method), method=method, X=X).predict(Q, 3)
        )


def test_distances_can_be_given():
    X, Q = rows(11), rows(12)
    ours = AgglomerativeClustering(3, linkage="average").fit(X)
    given = AgglomerativeClustering(3, linkage="average", metric="precomputed").fit(cdist(X, X))
    np.testing.assert_array_equal(given.labels_, ours.labels_)
    np.testing.assert_array_equal(given.predict(cdist(Q, X)), ours.predict(Q))
    with pytest.raises(ValueError, match="distances of each new row to all rows of the fit"):
        given.predict(np.abs(Q))


def test_two_clusters_are_two_where_merges_fall():
    model = AgglomerativeClustering(2, linkage="centroid").fit(INVERTED)
    assert sorted(np.bincount(model.labels_)) == [1, 2]
    assert model.tree_.inversions == [1]


def test_missing_values_and_categories_have_metrics():
    X = rows(13, n=20)
    X[3, 1] = np.nan
    model = AgglomerativeClustering(2, metric="nan_euclidean", linkage="average").fit(X)
    assert len(model.labels_) == 20
    people = pd.DataFrame({"age": [30.0, 31, 60, 62], "town": ["Oslo", "Oslo", "Rome", "Rome"]})
    model = AgglomerativeClustering(2, metric="gower", linkage="average").fit(people)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.predict(people).tolist() == [0, 0, 1, 1]
    assert model.feature_names_in_.tolist() == ["age", "town"]
    with pytest.raises(ValueError, match="divides by ranges itself"):
        AgglomerativeClustering(metric=Gower(), linkage="average", scale="range").fit(people)


# --- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "by"),
    [
        ("standard", lambda X: X.std(axis=0)),
        ("range", lambda X: np.ptp(X, axis=0)),
        ([1.0, 2.0, 3.0], lambda X: np.array([1.0, 2.0, 3.0])),
    ],
)
def test_columns_are_divided_by_their_scale(scale, by):
    X = rows(14) * [1, 10, 1000]
    model = AgglomerativeClustering(3, scale=scale).fit(X)
    np.testing.assert_allclose(model.scale_, by(X), rtol=1e-12)
    plain = AgglomerativeClustering(3, scale=False).fit(X / by(X))
    np.testing.assert_allclose(model.distances_, plain.distances_, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X / by(X)))


def test_a_constant_column_is_divided_by_one():
    X = rows(14) * [1, 0, 1]
    assert AgglomerativeClustering(3, scale="standard").fit(X).scale_[1] == 1


def test_columns_in_other_units_are_named_once():
    X = pd.DataFrame(rows(15) * [1, 250, 1], columns=["age", "income", "height"])
    with pytest.warns(UnitsWarning) as reported:
        AgglomerativeClustering(3).fit(X)
    assert len(reported) == 1
    assert reported[0].filename == __file__
    message = str(reported[0].message)
    assert message.startswith("the standard deviation of 'income' is ")
    assert message.endswith(
        "distances hardly depend on the second. Give scale='standard' if their units differ, or "
        "scale=False if they are right"
    )
    for quiet in ({"scale": False}, {"scale": "standard"}, {"metric": "correlation"},
                  {"metric_params": {"w": [1, 1e-4, 1]}}):  # fmt: skip
        AgglomerativeClustering(3, linkage="average", **quiet).fit(X)
    AgglomerativeClustering(3).fit(rows(15) * [1, 50, 1])


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ("unit", "scale='unit': give 'standard', 'range', a number for each column, None, or False "
         "(the units are right)"),
        ([1.0, 2.0], "scale has shape (2,): give a number for each of 3 columns, or 'standard' or "
         "'range'"),
        ([1.0, 0.0, 1.0], "scale[1] is 0: columns are divided by numbers above 0"),
    ],
)  # fmt: skip
def test_what_is_no_scale_is_refused(scale, message):
    with pytest.raises(ValueError) as error:
        AgglomerativeClustering(scale=scale).fit(rows(1))
    assert str(error.value) == message


# --- bad input ------------------------------------------------------------------------------------


def test_a_missing_value_is_named_by_row_and_column():
    X = rows(1)
    X[4, 2] = np.nan
    with pytest.raises(ValueError) as error:
        AgglomerativeClustering().fit(X)
    assert str(error.value) == (
        "column 2 of X has 1 missing value (NaN; row 4): impute them or drop the rows, or use "
        "metric='nan_euclidean' or 'gower', which compare known values"
    )


def test_a_row_of_zeros_has_no_cosine_and_is_named():
    X = rows(1)
    X[7] = 0
    with pytest.warns(DegenerateWarning) as reported:
        AgglomerativeClustering(metric="cosine", linkage="average").fit(X)
    assert str(reported[0].message) == (
        "1 row of zeros (row 7): it is at cosine distance 1 from every row that has a direction"
    )


def test_distances_passed_as_rows_are_noticed():
    D = cdist(rows(1), rows(1))
    for shown in (D, D + 1e-12 * rows(2, n=30, p=30) ** 2):
        with pytest.raises(ValueError) as error:
            AgglomerativeClustering().fit(shown)
        assert str(error.value) == (
            "X is square (30 × 30), symmetric and 0 on its diagonal: it looks like distances. Say "
            "metric='precomputed' if it is; if these are rows, give the distance as an object, "
            "e.g. metric=certus.distances.Euclidean()"
        )
    AgglomerativeClustering(metric=Euclidean()).fit(D)


def test_rows_that_only_resemble_distances_are_rows():
    graph = (rows(1, n=9, p=9) > 0.3).astype(float)
    graph = np.triu(graph, 1) + np.triu(graph, 1).T
    uneven = cdist(rows(1), rows(1))
    uneven[0, 1] += 1
    for X in (graph, uneven, np.zeros((4, 4)), np.eye(5), [[0.0, 3.0], [3.0, 0.0]]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateWarning)
            AgglomerativeClustering(1).fit(X)


@pytest.mark.parametrize("method", CENTER_METHODS)
def test_centres_of_distances_that_have_none_are_warned_of(method):
    X = rows(1)
    with pytest.warns(NotEuclideanWarning) as reported:
        model = AgglomerativeClustering(3, linkage=method, metric="manhattan").fit(X)
    assert str(reported[0].message) == (
        f"linkage='{method}' compares centres, and metric 'manhattan' has none: the tree means "
        "something only for Euclidean distances. Use 'average', or a Euclidean metric"
    )
    theirs = hierarchy.linkage(pdist(X, "cityblock"), method)
    np.testing.assert_allclose(model.distances_, theirs[:, 2])
    with pytest.warns(NotEuclideanWarning, match="given distances have none"):
        given = AgglomerativeClustering(3, linkage=method, metric="precomputed").fit(cdist(X, X))
    rows_of = AgglomerativeClustering(3, linkage=method).fit(X)
    np.testing.assert_allclose(given.distances_, rows_of.distances_, atol=1e-7)
    AgglomerativeClustering(3, linkage=method, metric="mahalanobis").fit(X)  # Euclidean elsewhere


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((0, 0, 1.0), "the distance of row 0 to itself is 1, not 0."),
        ((2, 5, 9.0), "the distance of row 2 to row 5 is 9, that of row 5 to row 2 {}: they must "
         "be the same. Give e.g. (D + D.T) / 2"),
        ((2, 5, -1.0), "Negative values in data passed to X, or not finite (Input X contains -1): "
         "the distance of row 2 to row 5 is -1. A distance is a finite number of at least 0"),
        ((2, 5, np.nan), "Negative values in data passed to X, or not finite (Input X contains "
         "NaN): the distance of row 2 to row 5 is NaN. A distance is a finite number of at least "
         "0"),
    ],
)  # fmt: skip
def test_what_is_no_matrix_of_distances_is_refused(change, message):
    D = cdist(rows(1), rows(1))
    i, j, value = change
    message = message.format(f"{D[j, i]:g}")
    D[i, j] = value
    with pytest.raises(ValueError) as error:
        AgglomerativeClustering(metric="precomputed", linkage="average").fit(D)
    assert str(error.value) == message


def test_similarities_passed_as_distances_get_a_hint():
    S = np.corrcoef(rows(1))
    with pytest.raises(ValueError, match="If these are similarities s, give 1 − s"):
        AgglomerativeClustering(metric="precomputed", linkage="average").fit(np.abs(S))


def test_one_row_is_one_cluster_and_no_two():
    one = np.array([[1.0, 2.0]])
    model = AgglomerativeClustering(1).fit(one)
    assert model.labels_.tolist() == [0]
    assert model.children_.shape == (0, 2)
    assert model.predict([[5.0, 5.0]]).tolist() == [0]
    model = AgglomerativeClustering(None, distance_threshold=1.0).fit(one)
    assert model.n_clusters_ == 1
    with pytest.raises(ValueError) as error:
        AgglomerativeClustering(2).fit(one)
    assert str(error.value) == ("n_samples=1 should be >= n_clusters=2: ask for at most 1 cluster")


@pytest.mark.parametrize("params", [{}, {"n_clusters": 2, "distance_threshold": 1.0}])
def test_the_cut_is_by_number_or_by_threshold(params):
    model = AgglomerativeClustering(**{"n_clusters": None, **params})
    with pytest.raises(ValueError) as error:
        model.fit(rows(1))
    with pytest.raises(ValueError) as theirs:
        peers.AgglomerativeClustering(**model.get_params() and {"n_clusters": None, **params}).fit(
            rows(1)
        )
    assert str(error.value) == str(theirs.value)


def test_equal_rows_merge_first_at_height_zero():
    X = np.repeat(rows(1, n=5), 3, axis=0)
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = AgglomerativeClustering(5, linkage=method).fit(X)
        np.testing.assert_array_equal(model.distances_[:10], 0)
        np.testing.assert_array_equal(model.labels_, np.repeat(np.arange(5), 3))
        with pytest.warns(DegenerateWarning, match="have the same height, 0, and 7 clusters"):
            AgglomerativeClustering(7, linkage=method).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"linkage": "wrad"}, "linkage='wrad': give one of 'single', 'complete', 'average', "
         "'weighted', 'centroid', 'median', 'ward'. Did you mean 'ward'?"),
        ({"n_clusters": 0}, "n_clusters=0: give a whole number above 0"),
        ({"n_clusters": None, "distance_threshold": -1.0},
         "distance_threshold=-1.0: give a number of at least 0"),
        ({"connectivity": np.eye(30)}, "connectivity: trees along a graph are not supported. Leave "
         "it out, or give metric='precomputed' with large distances between rows that must not "
         "be merged"),
        ({"n_clusters": None, "distance_threshold": 1.0, "compute_full_tree": False},
         "compute_full_tree must be True if distance_threshold is set."),
        ({"compute_distances": "yes"}, "compute_distances='yes': give True or False"),
        ({"metric_params": 3}, "metric_params=3: give a dict, or None"),
        ({"n_clusters": 31},
         "n_samples=30 should be >= n_clusters=31: ask for at most 30 clusters"),
    ],
)  # fmt: skip
def test_a_parameter_that_cannot_be_is_named(parameters, message):
    with pytest.raises(ValueError) as error:
        AgglomerativeClustering(**parameters).fit(rows(1))
    assert str(error.value) == message


def test_sparse_rows_are_told_to_be_dense():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match=r"Sparse data was passed, .*: use X.toarray\(\)"):
        AgglomerativeClustering().fit(csr_array(rows(1)))


def test_what_does_not_fit_in_memory_is_refused_with_what_would(monkeypatch):
    needs = {"float64": 100 << 30, "float32": 50 << 30}

    def bytes_needed(n, p, method, vectors, dtype=np.float64):
        small = vectors and method in ("single", "ward", "centroid", "median")
        return 1 << 20 if small else needs[np.dtype(dtype).name]

    monkeypatch.setattr("certus.cluster._build_tree.bytes_needed", bytes_needed)
    monkeypatch.setattr("certus.cluster._build_tree.available_memory", lambda: 60 << 30)
    with pytest.raises(MemoryError) as error:
        AgglomerativeClustering(linkage="average").fit(rows(1))
    assert str(error.value) == (
        "average linkage of 30 rows needs 100 GiB and 60 GiB are free. What would fit: "
        "linkage='single', linkage='centroid', linkage='median', linkage='ward', dtype='float32'"
    )
    AgglomerativeClustering(linkage="average", dtype="float32").fit(rows(1))
    AgglomerativeClustering(linkage="ward").fit(rows(1))
    AgglomerativeClustering(linkage="single", metric="cosine").fit(rows(1))
    needs["float32"] = 90 << 30
    with pytest.raises(MemoryError, match="Use fewer rows"):
        AgglomerativeClustering(linkage="average", metric="precomputed").fit(
            cdist(rows(1), rows(1))
        )


def test_single_linkage_asks_for_no_copy_of_given_distances(monkeypatch):
    D = cdist(rows(1), rows(1))
    monkeypatch.setattr("certus.cluster._build_tree.MIN_CHECKED_BYTES", 0)
    monkeypatch.setattr("certus.cluster._build_tree.available_memory", lambda: D.nbytes)
    AgglomerativeClustering(linkage="single", metric="precomputed").fit(D)
    with pytest.raises(MemoryError, match="average linkage of 30 rows needs"):
        AgglomerativeClustering(linkage="average", metric="precomputed").fit(D)


def test_ctrl_c_leaves_the_model_as_it_was(monkeypatch):
    X = rows(1)
    model = AgglomerativeClustering(3).fit(X)
    before = model.labels_.copy()

    def stop(*args, on_step, **params):
        raise KeyboardInterrupt

    monkeypatch.setattr("certus.cluster._build_tree.agglomerate", stop)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_clusters=5).fit(X)
    np.testing.assert_array_equal(model.labels_, before)


@each_method
@pytest.mark.parametrize(("factor", "remedy"), [(1e200, "divide"), (1e-200, "multiply")])
def test_numbers_whose_squares_cannot_be_held_are_refused(method, factor, remedy):
    if method in ("complete", "average", "weighted", "single"):
        linkage(rows(1) * factor, method, "manhattan")
        return
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(ValueError, match=rf"can square: {remedy} X by a power of 10"),
    ):
        linkage(rows(1) * factor, method, "manhattan")


@each_method
@pytest.mark.parametrize("power", [-1000, -560, -500, 500, 531, 1018])
def test_a_power_of_two_scales_heights_exactly_wherever_they_can_be_held(method, power):
    X, factor = rows(1), 2.0**power
    near, far = linkage(X, method), linkage(X * factor, method)
    np.testing.assert_array_equal(far[:, [0, 1, 3]], near[:, [0, 1, 3]])
    np.testing.assert_array_equal(far[:, 2], near[:, 2] * factor)
    model = AgglomerativeClustering(3, linkage=method, scale=False).fit(X * factor)
    assert model.certificate_.status == "exact"
    assert certus.verify(model, X * factor, by="page").status == "exact"


def test_heights_that_float64_cannot_hold_are_refused():
    X = np.repeat([[0.0], [1.0]], 20, axis=0) * 1.5e308
    with pytest.raises(
        ValueError, match=r"heights of the tree exceed 1.8e\+308: divide X by a power"
    ):
        linkage(X, "ward")
    with pytest.raises(ValueError, match="beyond what float64 can hold: divide X by a power of 10"):
        linkage(np.array([[-1.7e308], [1.7e308], [0.0]]), "single")


def test_rows_without_a_distance_are_refused():
    X = rows(1)
    X[3, 0] = X[5, 1:] = np.nan
    for model in (AgglomerativeClustering(linkage="average"), DivisiveClustering()):
        with pytest.raises(ValueError, match="two rows have no distance: they share no known"):
            model.set_params(metric="nan_euclidean").fit(X)
    X[3] = np.nan
    with pytest.raises(ValueError) as error:
        linkage(X, "average", "nan_euclidean")
    assert str(error.value) == "1 row without a known value (row 3): drop what cannot be compared"
    with pytest.raises(ValueError, match="beyond what float32 can hold"):
        linkage(rows(1) * 1e39, "average", dtype="float32")
    with pytest.raises(ValueError, match="beyond what float64 can hold"):
        linkage(rows(1), "average", lambda A, B: np.full((len(A), len(B)), np.inf))


def test_names_are_reached_from_the_root():
    assert certus.cluster.linkage is linkage
    assert certus.cluster.AgglomerativeClustering is AgglomerativeClustering
