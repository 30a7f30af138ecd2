"""The nearest rows are the nearest rows: against brute force and scikit-learn."""

import contextlib
import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.neighbors as peers
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.metrics import DistanceMetric, pairwise_distances

from certus import config_context as certus_config
from certus import distances, neighbors
from certus.exceptions import DegenerateWarning
from certus.neighbors import NearestNeighbors, kneighbors_graph, radius_neighbors_graph

rng = np.random.default_rng(0)
X = rng.normal(size=(140, 5))
Q = rng.normal(size=(37, 5))
BITS = rng.random((80, 7)) < 0.4
PLACES = np.column_stack([rng.uniform(-1.5, 1.5, 60), rng.uniform(-3, 3, 60)])
HOLES = np.where(rng.random(X.shape) < 0.2, np.nan, X)
V = np.cov(X.T) + np.eye(5)

# metric, metric_params, rows, queries
METRICS = [
    ("euclidean", None, X, Q),
    ("l2", None, X, Q),
    ("manhattan", None, X, Q),
    ("l1", None, X, Q),
    ("cityblock", None, X, Q),
    ("chebyshev", None, X, Q),
    ("sqeuclidean", None, X, Q),
    ("minkowski", {"p": 3.5}, X, Q),
    ("minkowski", {"p": 3, "w": np.arange(1.0, 6.0)}, X, Q),
    ("minkowski", {"p": 2, "w": np.arange(1.0, 6.0)}, X, Q),
    ("mahalanobis", {"V": V}, X, Q),
    ("mahalanobis", {"VI": np.linalg.inv(V)}, X, Q),
    ("seuclidean", {"V": np.arange(1.0, 6.0)}, X, Q),
    ("cosine", None, X, Q),
    ("correlation", None, X, Q),
    ("canberra", None, X, Q),
    ("braycurtis", None, np.abs(X), np.abs(Q)),
    ("nan_euclidean", None, HOLES, HOLES[:30] + 0.1),
    ("haversine", None, PLACES, PLACES[:20] * 0.9),
    ("hamming", None, BITS.astype(float), BITS[:20, ::-1].astype(float)),
    *((name, None, BITS, BITS[:20, ::-1]) for name in (
        "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")),
]  # fmt: skip
each_metric = pytest.mark.parametrize(
    ("metric", "params", "rows", "queries"), METRICS,
    ids=[f"{m}-{'-'.join(p)}" if p else m for m, p, _, _ in METRICS],
)  # fmt: skip


def same_neighbors(ours, theirs, rtol=1e-9, atol=1e-9):
    """Assert that distances agree, and rows except where distances are equal."""
    (d, i), (e, j) = ours, theirs
    np.testing.assert_allclose(d, e, rtol=rtol, atol=atol)
    for row in range(len(d)):
        clear = np.abs(np.subtract.outer(e[row], e[row])) > 1e-7
        np.fill_diagonal(clear, True)
        alone = clear.all(axis=1)
        alone[-1] = False  # the next one may be as near as the last
        np.testing.assert_array_equal(i[row][alone], j[row][alone])


# --- agreement with scikit-learn ------------------------------------------------------------------


@each_metric
def test_every_metric_agrees_with_scikit_learn(metric, params, rows, queries):
    p = None if params and "p" in params else 2
    ours = NearestNeighbors(metric=metric, metric_params=params, p=p).fit(rows)
    algorithm = "ball_tree" if params and "V" in params else "brute"
    theirs = peers.NearestNeighbors(
        metric=metric, metric_params=params, p=p, algorithm=algorithm
    ).fit(rows)
    for given in (queries, None):
        same_neighbors(ours.kneighbors(given, 7), theirs.kneighbors(given, 7))


@each_metric
def test_every_metric_keeps_the_order_of_distance_and_row(metric, params, rows, queries):
    p = None if params and "p" in params else 2
    model = NearestNeighbors(metric=metric, metric_params=params, p=p).fit(rows)
    d, i = model.kneighbors(queries, len(rows))
    for far, result in zip(d, i, strict=True):
        there = result >= 0  # what cannot be compared is −1, at infinity, and comes last
        assert np.isinf(far[~there]).all()
        assert sorted(result[there]) == sorted(set(result[there]))
        assert len(rows) - there.sum() <= (20 if metric == "nan_euclidean" else 0)
        later = np.diff(far[there])
        assert not (later < 0).any()
        assert (np.diff(result[there])[later == 0] > 0).all()


@pytest.mark.parametrize("algorithm", ["auto", "ball_tree", "kd_tree", "brute"])
@pytest.mark.parametrize("p", [1, 2, 2.5, np.inf])
@pytest.mark.parametrize("leaf_size", [1, 30, 1000])
def test_algorithms_change_nothing(algorithm, p, leaf_size):
    first = NearestNeighbors(p=p).fit(X)
    other = NearestNeighbors(p=p, algorithm=algorithm, leaf_size=leaf_size).fit(X)
    for given in (Q, None):
        d, i = first.kneighbors(given)
        e, j = other.kneighbors(given)
        np.testing.assert_array_equal(i, j)
        np.testing.assert_allclose(d, e, rtol=1e-14)
    assert isinstance(other.algorithm_, str)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("given", [Q, None], ids=["queries", "own rows"])
def test_all_within_a_radius_agree_with_scikit_learn(metric, sort, given):
    r = {"cosine": 0.3}.get(metric, 1.4)
    ours = NearestNeighbors(radius=r, metric=metric).fit(X)
    theirs = peers.NearestNeighbors(radius=r, metric=metric, algorithm="brute").fit(X)
    d, i = ours.radius_neighbors(given, sort_results=sort)
    e, j = theirs.radius_neighbors(given, sort_results=True)
    assert d.shape == i.shape == e.shape
    assert d.dtype == i.dtype == object
    for row in range(len(d)):
        if not sort:
            assert (np.diff(i[row]) > 0).all()
        order = np.argsort(d[row], kind="stable")
        np.testing.assert_array_equal(i[row][order], j[row])
        np.testing.assert_allclose(d[row][order], e[row], rtol=1e-9, atol=1e-12)
    only = ours.radius_neighbors(given, return_distance=False)
    assert sum(map(len, only)) == sum(map(len, i))


def test_a_row_exactly_on_the_radius_is_in_and_a_radius_of_zero_finds_copies():
    rows = np.array([[0.0], [1], [2], [1]])
    model = NearestNeighbors(radius=1.0).fit(rows)
    assert [i.tolist() for i in model.radius_neighbors([[1.0]], return_distance=False)] == [
        [0, 1, 2, 3]
    ]
    assert [i.tolist() for i in model.radius_neighbors(None, 0, return_distance=False)] == [
        [], [3], [], [1],
    ]  # fmt: skip
    assert [len(i) for i in model.radius_neighbors([[9.0]], np.inf, return_distance=False)] == [4]


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("include_self", [True, False, "auto"])
@pytest.mark.parametrize("interface", ["spmatrix", "sparray"])
def test_graphs_are_scikit_learns(mode, include_self, interface):
    options = {"mode": mode, "include_self": include_self, "metric": "manhattan"}
    with config_context(sparse_interface=interface):
        for name, size in (("kneighbors_graph", 4), ("radius_neighbors_graph", 1.7)):
            ours = getattr(neighbors, name)(X, size, **options)
            theirs = getattr(peers, name)(X, size, **options)
            assert type(ours) is type(theirs)
            assert ours.shape == theirs.shape
            assert ours.nnz == theirs.nnz
            np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-12)


def test_graphs_of_a_fitted_model_are_those_of_its_rows():
    model = NearestNeighbors(n_neighbors=3, radius=1.5, metric="manhattan").fit(X)
    a = kneighbors_graph(X, 3, metric="manhattan", mode="distance")
    for b in (
        kneighbors_graph(model, 3, metric="manhattan", mode="distance"),
        model.kneighbors_graph(mode="distance"),
    ):
        np.testing.assert_array_equal(a.toarray(), b.toarray())
    c = radius_neighbors_graph(model, 1.5, metric="manhattan")
    np.testing.assert_array_equal(c.toarray(), model.radius_neighbors_graph().toarray())
    with pytest.raises(ValueError, match="while the estimator has manhattan"):
        kneighbors_graph(model, 3)
    with pytest.raises(ValueError, match=r"mode='distances': .* Did you mean 'distance'"):
        model.kneighbors_graph(mode="distances")


# --- truth ----------------------------------------------------------------------------------------


def brute(rows, queries, k, own=False):
    """Neighbours by definition: differences, sorted by (distance, row)."""
    D = np.sqrt(((queries[:, None] - rows) ** 2).sum(axis=2))
    order = [
        [j for _, j in sorted((d, j) for j, d in enumerate(line) if not own or j != i)][:k]
        for i, line in enumerate(D)
    ]
    return np.take_along_axis(D, np.array(order), axis=1), np.array(order)


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute"])
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("p", [1, 3, 40])
def test_ties_go_to_the_first_row_at_any_distance_from_the_origin(algorithm, offset, p):
    grid = np.random.default_rng(p).integers(0, 3, size=(200, p)) * 0.5 + offset
    model = NearestNeighbors(n_neighbors=9, algorithm=algorithm).fit(grid)
    for given, own in ((grid[:40] + 0.25, False), (None, True)):
        d, i = model.kneighbors(given)
        e, j = brute(grid, grid if own else given, 9, own)
        np.testing.assert_allclose(d, e, rtol=1e-14)
        np.testing.assert_array_equal(i, j)


def test_points_half_apart_at_1e8_are_half_apart():
    rows = np.arange(5.0)[:, None] * 0.5 + 1e8
    d, i = NearestNeighbors(n_neighbors=2, algorithm="brute").fit(rows).kneighbors(None)
    np.testing.assert_array_equal(d[:, 0], 0.5)
    np.testing.assert_array_equal(i[:, 0], [1, 0, 1, 2, 3])


def test_of_many_copies_a_row_is_never_its_own_neighbour():
    rows = np.zeros((30, 2))
    _, i = NearestNeighbors(n_neighbors=3).fit(rows).kneighbors(None)
    assert not (i == np.arange(30)[:, None]).any()
    np.testing.assert_array_equal(i[5], [0, 1, 2])
    np.testing.assert_array_equal(i[1], [0, 2, 3])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int64, bool])
def test_whole_numbers_are_not_subtracted_in_their_own_type(dtype):
    rows = np.random.default_rng(0).integers(0, 2 if dtype is bool else 120, (60, 4)).astype(dtype)
    d, i = NearestNeighbors().fit(rows).kneighbors(rows[:9])
    e, j = NearestNeighbors().fit(rows.astype(float)).kneighbors(rows[:9].astype(float))
    np.testing.assert_array_equal(i, j)
    np.testing.assert_allclose(d, e, rtol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "canberra"])
def test_same_bits_on_any_number_of_threads(metric):
    rows = np.random.default_rng(1).normal(size=(2000, 6))
    result = []
    for threads in (1, 2, 5):
        with certus_config(threads=threads):
            model = NearestNeighbors(metric=metric, radius=0.4).fit(rows)
            result.append((*model.kneighbors(None), *model.radius_neighbors(rows[:50])))
    for other in result[1:]:
        for a, b in zip(result[0], other, strict=True):
            for u, v in zip(a, b, strict=True):
                np.testing.assert_array_equal(u, v)


# --- callables, sparse rows, given distances ------------------------------------------------------


def blocks(A, B):
    return cdist(A, B, "cityblock")


def pairs(a, b):
    return np.abs(a - b).sum()


@pytest.mark.parametrize("metric", [blocks, pairs, DistanceMetric.get_metric("manhattan")])
def test_a_metric_may_be_a_function_of_blocks_of_pairs_or_an_object(metric):
    model = NearestNeighbors(metric=metric, n_neighbors=4).fit(X)
    truth = NearestNeighbors(metric="manhattan", n_neighbors=4).fit(X)
    same_neighbors(model.kneighbors(Q), truth.kneighbors(Q))
    assert model.effective_metric_ is metric


def test_minkowski_below_one_is_served_with_scikit_learns_warning():
    with pytest.warns(UserWarning, match="Mind that for 0 < p < 1"):
        model = NearestNeighbors(p=0.5).fit(X)
    with pytest.warns(UserWarning, match="Mind that for 0 < p < 1"):
        theirs = peers.NearestNeighbors(p=0.5, algorithm="brute").fit(X)
    same_neighbors(model.kneighbors(Q), theirs.kneighbors(Q))


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "chebyshev"])
def test_sparse_rows_have_the_neighbours_of_the_same_rows_in_full(container, metric):
    full = np.random.default_rng(3).normal(size=(90, 30))
    full[np.random.default_rng(4).random(full.shape) < 0.7] = 0
    r = 0.5 if metric == "cosine" else 3.0
    dense = NearestNeighbors(metric=metric, radius=r).fit(full)
    thin = NearestNeighbors(metric=metric, radius=r).fit(container(full))
    for given, same in ((container(full[:20]), full[:20]), (full[:20], full[:20]), (None, None)):
        for a, b in zip(thin.kneighbors(given), dense.kneighbors(same), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        for a, b in zip(thin.radius_neighbors(given), dense.radius_neighbors(same), strict=True):
            for u, v in zip(a, b, strict=True):
                np.testing.assert_allclose(u, v, rtol=1e-12, atol=1e-12)


def test_sparse_queries_may_be_asked_of_dense_rows():
    d, i = NearestNeighbors().fit(X).kneighbors(sp.csr_array(Q))
    e, j = NearestNeighbors().fit(X).kneighbors(Q)
    np.testing.assert_array_equal(i, j)
    np.testing.assert_array_equal(d, e)


@pytest.mark.parametrize("block", [1, 40, 1 << 20])
def test_block_sizes_change_nothing(monkeypatch, block):
    from certus.solvers.neighbors import precomputed, sparse

    monkeypatch.setattr(sparse, "MAX_BLOCK_ELEMENTS", block)
    monkeypatch.setattr(sparse, "MAX_BLOCK_QUERIES", max(1, block // 20))
    monkeypatch.setattr(precomputed, "BLOCK_DISTANCES", block)
    grid = np.random.default_rng(0).integers(0, 3, size=(50, 3)).astype(float)
    D = pairwise_distances(grid, metric="manhattan")
    models = [
        NearestNeighbors(metric="manhattan").fit(grid),
        NearestNeighbors(metric="manhattan").fit(sp.csr_array(grid)),
        NearestNeighbors(metric="precomputed").fit(D),
    ]
    for given in (True, False):
        answers = [
            model.kneighbors(rows if given else None)
            for model, rows in zip(models, (grid, sp.csr_array(grid), D), strict=True)
        ]
        for d, i in answers[1:]:
            np.testing.assert_array_equal(d, answers[0][0])
            np.testing.assert_array_equal(i, answers[0][1])


def test_given_distances_are_searched_as_the_rows_themselves():
    D, E = cdist(X, X), cdist(Q, X)
    given = NearestNeighbors(metric="precomputed", radius=1.2).fit(D)
    rows = NearestNeighbors(radius=1.2).fit(X)
    for matrix, queries in ((E, Q), (None, None)):
        same_neighbors(given.kneighbors(matrix), rows.kneighbors(queries))
        for a, b in zip(
            given.radius_neighbors(matrix, return_distance=False),
            rows.radius_neighbors(queries, return_distance=False),
            strict=True,
        ):
            np.testing.assert_array_equal(a, b)
    assert given.n_features_in_ == len(X)


def test_of_a_sparse_graph_only_stored_entries_are_neighbours():
    graph = kneighbors_graph(X, 6, mode="distance")
    rows = NearestNeighbors(n_neighbors=6).fit(X)
    theirs = peers.NearestNeighbors(metric="precomputed").fit(graph)
    far = theirs.radius_neighbors(graph, 1.0, sort_results=True)
    for form in ("csr", "csc", "coo", "lil"):
        stored = graph.copy().asformat(form)
        model = NearestNeighbors(metric="precomputed", n_neighbors=6).fit(stored)
        same_neighbors(model.kneighbors(None), rows.kneighbors(None))
        same_neighbors(model.kneighbors(stored), rows.kneighbors(None))
        near = model.radius_neighbors(stored, 1.0, sort_results=True)
        for a, b in zip(near[1], far[1], strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match=r"7 neighbors per samples are required.*only 6.*row 0"):
        model.kneighbors(None, 7)
    with pytest.raises(TypeError, match="'dia' format is not supported"):
        NearestNeighbors(metric="precomputed").fit(sp.dia_array(np.eye(9)))


def test_a_stored_zero_of_a_graph_is_a_neighbour_at_distance_zero():
    graph = sp.csr_array((np.array([0.0, 2, 0, 1]), [1, 2, 0, 2], [0, 2, 4, 4]), shape=(3, 3))
    model = NearestNeighbors(metric="precomputed", n_neighbors=2).fit(graph)
    d, i = model.kneighbors(graph[:2])
    np.testing.assert_array_equal(d, [[0, 2], [0, 1]])
    np.testing.assert_array_equal(i, [[1, 2], [0, 2]])


# --- numbers and categories, and metrics that learn from the rows ---------------------------------


def people(n=60, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, random.integers(20, 70, n)),
            "city": random.choice(["Oslo", "Bern", "Rome"], n),
            "smokes": random.random(n) < 0.5,
            "income": random.normal(size=n),
        }
    )


def gower(a, b, ranges):
    """Gower's distance of two rows by definition."""
    terms = [
        abs(a[l] - b[l]) / ranges[l] if l in ranges else float(a[l] != b[l])
        for l in a.index
        if not (pd.isna(a[l]) or pd.isna(b[l]))
    ]
    return sum(terms) / len(terms)


@pytest.mark.parametrize("form", ["pandas", "polars", "objects"])
def test_gower_compares_rows_of_numbers_and_categories(form):
    frame, queries = people(), people(7, seed=1)
    queries.loc[2, "city"] = "Paris"
    ranges = {name: np.ptp(frame[name].dropna()) for name in ("age", "income")}
    D = np.array(
        [[gower(a, b, ranges) for _, b in frame.iterrows()] for _, a in queries.iterrows()]
    )
    as_given = {
        "pandas": lambda table: table,
        "polars": lambda table: pl.from_pandas(table),
        "objects": lambda table: table.to_numpy(dtype=object),
    }[form]
    model = NearestNeighbors(metric="gower", n_neighbors=60, radius=0.4).fit(as_given(frame))
    d, i = model.kneighbors(as_given(queries))
    order = np.argsort(D.round(12), axis=1, kind="stable")
    np.testing.assert_allclose(d, np.take_along_axis(D, order, axis=1), atol=1e-12)
    d, i = model.kneighbors(None, 1)
    assert (i[:, 0] != np.arange(60)).all()
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        twin.kneighbors(as_given(queries))[1], model.kneighbors(as_given(queries))[1]
    )
    assert model.n_features_in_ == 4


def test_queries_of_a_mixed_fit_are_read_as_its_rows_were():
    model = NearestNeighbors(metric="gower", n_neighbors=1).fit([[1, "a"], [2, "b"]])
    np.testing.assert_allclose(model.kneighbors([[1.2, "b"]])[0], [[0.4]])
    # a number is no category that the fit knows, though rows are kept as numbers
    np.testing.assert_allclose(model.kneighbors(np.array([[1.2, 0.0]]))[0], [[0.6]])
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.kneighbors([1, "a"])
    with pytest.raises(ValueError, match="3 features"):
        model.kneighbors([[1, "a", 2]])
    with pytest.raises(ValueError, match="infinite"):
        model.kneighbors([[np.inf, "a"]])
    with pytest.raises(TypeError, match="neither a number nor text"):
        model.fit([[1, {}], [2, "b"]])
    assert model.fit(X).kneighbors(Q)[0].shape == (37, 1)


def test_what_a_metric_had_to_decide_is_noted():
    twice = np.column_stack([X, X[:, 0]])
    model = NearestNeighbors(metric="mahalanobis").fit(twice)
    assert any("shrunk" in note for note in model.certificate_.notes)


def test_predictors_take_frames_with_categories():
    frame = people(90)
    y = (frame["city"] == "Oslo").astype(int)
    model = neighbors.KNeighborsClassifier(3, metric="gower").fit(frame, y)
    assert model.score(None, y) > 0.9
    with pytest.raises(ValueError, match="order"):
        model.predict(frame[["city", "age", "smokes", "income"]])


def test_gower_of_an_array_with_named_categories_treats_codes_as_names():
    codes = np.column_stack([rng.integers(0, 3, 50) * 100.0, rng.normal(size=50)])
    model = NearestNeighbors(metric="gower", metric_params={"categorical": [0]}, n_neighbors=50)
    d, _ = model.fit(codes).kneighbors(codes[:5])
    D = (
        (codes[:5, None, 0] != codes[:, 0])
        + np.abs(codes[:5, None, 1] - codes[:, 1]) / np.ptp(codes[:, 1])
    ) / 2
    np.testing.assert_allclose(d, np.sort(D, axis=1), atol=1e-12)


@pytest.mark.parametrize("metric", ["mahalanobis", "seuclidean"])
def test_covariances_are_estimated_from_the_rows_of_the_fit(metric):
    model = NearestNeighbors(metric=metric).fit(X)
    given = {"V": np.cov(X.T) if metric == "mahalanobis" else X.var(axis=0, ddof=1)}
    same_neighbors(
        model.kneighbors(Q),
        NearestNeighbors(metric=metric, metric_params=given).fit(X).kneighbors(Q),
    )


@pytest.mark.parametrize("metric", ["spearman", "phi_s"])
def test_metrics_that_scikit_learn_has_not(metric):
    model = NearestNeighbors(metric=metric, n_neighbors=9).fit(np.abs(X))
    D = distances.pairwise_distances(np.abs(Q), np.abs(X), metric=metric)
    np.testing.assert_allclose(
        model.kneighbors(np.abs(Q))[0], np.sort(D, axis=1)[:, :9], atol=1e-12
    )


def test_a_distance_with_weights_may_be_given_as_an_object():
    w = np.arange(5.0)
    model = NearestNeighbors(metric=distances.Manhattan(w=w)).fit(X)
    D = cdist(Q, X, "cityblock", w=w**2)
    np.testing.assert_allclose(model.kneighbors(Q)[0], np.sort(D, axis=1)[:, :5], rtol=1e-12)


@pytest.mark.parametrize(("metric", "row"), [("cosine", np.zeros(5)), ("correlation", np.ones(5))])
def test_rows_for_which_a_metric_says_little_are_reported_once(metric, row):
    rows = np.vstack([X[:20], row])
    with pytest.warns(DegenerateWarning, match="row 20") as warned:
        model = NearestNeighbors(metric=metric).fit(rows)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    d, i = model.kneighbors(rows[20:])
    assert np.isfinite(d).all()
    assert i[0, 0] == 20


def test_an_unknown_metric_is_named_with_one_that_is_near():
    with pytest.raises(ValueError, match="Did you mean 'euclidean'"):
        NearestNeighbors(metric="euclidian").fit(X)
    with pytest.raises(TypeError, match="it takes"):
        NearestNeighbors(metric="manhattan", metric_params={"V": V}).fit(X)


@pytest.mark.parametrize("metric", [blocks, pairs, "canberra", "gower", "precomputed"])
def test_a_searched_model_can_be_pickled(metric):
    rows = np.abs(X)
    given = cdist(rows, rows) if metric == "precomputed" else rows
    model = NearestNeighbors(metric=metric).fit(given)
    d, i = model.kneighbors(given[:9])
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        e, j = twin.kneighbors(given[:9])
        np.testing.assert_array_equal(i, j)
        np.testing.assert_array_equal(d, e)
        assert twin.algorithm_ == model.algorithm_


def test_rows_whose_distances_are_equal_once_rounded_stand_by_number():
    for seed in range(20):
        rows = np.random.default_rng(seed).normal(size=(100, 4))
        halves = (rows[:-1] + rows[1:]) / 2  # as far from one row as from the next
        d, i = NearestNeighbors(n_neighbors=60).fit(rows).kneighbors(halves)
        assert (np.diff(i, axis=1)[np.diff(d, axis=1) == 0] > 0).all()


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("kind", ["counts", "far", "repeated", "tiny", "zero rows", "stored zeros"])
def test_sparse_rows_by_products_are_exact(metric, kind):
    random = np.random.default_rng(5)
    full = random.poisson(0.3, size=(120, 40)).astype(float)
    if kind == "far":
        full[:, :3] += 1e8
    elif kind == "repeated":
        full[60:] = full[:60]
    elif kind == "tiny":
        full *= 1e-200
    full[:, 0] += 1e-200 if kind == "tiny" else 1.0
    if kind == "zero rows":
        full[[3, 50]] = 0.0
    rows = sp.csr_array(full)
    if kind == "stored zeros":
        rows.data[::7] = 0.0
        full = rows.toarray()
    flagged = kind == "zero rows" and metric == "cosine"
    with pytest.warns(DegenerateWarning) if flagged else contextlib.nullcontext():
        thin = NearestNeighbors(metric=metric, n_neighbors=15).fit(rows)
        thick = NearestNeighbors(metric=metric, n_neighbors=15).fit(full)
    for given, same in ((rows[:30], full[:30]), (None, None)):
        (d, i), (e, j) = thin.kneighbors(given), thick.kneighbors(same)
        np.testing.assert_allclose(d, e, rtol=1e-12, atol=1e-15 if metric == "cosine" else 0)
        if metric == "cosine":  # whose ties rounding parts
            continue
        np.testing.assert_array_equal(i, j)
        r = float(e[3, 9]) * (1 + 1e-9)
        for a, b in zip(
            thin.radius_neighbors(given, r, return_distance=False),
            thick.radius_neighbors(same, r, return_distance=False),
            strict=True,
        ):
            np.testing.assert_array_equal(a, b)
