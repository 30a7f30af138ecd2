"""Distances equal their definitions and SciPy's, and are exact where those of others are not."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

import certus
from certus.distances import (
    Distance,
    Euclidean,
    Manhattan,
    Minkowski,
    get_distance,
    names,
    pairwise_distances,
)
from certus.proofs import distances as definition

rng = np.random.default_rng(7)
P = 7
V = np.cov(rng.normal(size=(40, P)), rowvar=False)
W = rng.random(P) + 0.1
# every metric with the parameters that its definition needs
CASES = [
    ("manhattan", {}), ("manhattan", {"w": W}), ("euclidean", {}), ("euclidean", {"w": W}),
    ("sqeuclidean", {}), ("sqeuclidean", {"w": W}), ("chebyshev", {}),
    ("chebyshev", {"w": np.array([1.0, 0, 2, 0, 1, 1, 0])}), ("minkowski", {"p": 1}),
    ("minkowski", {"p": 3}), ("minkowski", {"p": 2.5, "w": W}), ("minkowski", {"p": 2, "w": W}),
    ("minkowski", {"p": 4}), ("minkowski", {"p": 7}), ("minkowski", {"p": np.inf}),
    ("seuclidean", {"V": W}), ("mahalanobis", {"V": V}), ("mahalanobis", {"VI": np.linalg.inv(V)}),
    ("cosine", {}), ("cosine", {"w": W}), ("correlation", {}), ("correlation", {"w": W}),
    ("spearman", {}), ("phi_s", {}), ("phi_s", {"w": W}), ("hamming", {}), ("hamming", {"w": W}),
    ("canberra", {}), ("canberra", {"w": W}), ("braycurtis", {}), ("braycurtis", {"w": W}),
    *((name, params) for name in (
        "dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"
    ) for params in ({}, {"w": W})),
]  # fmt: skip
BOOLEAN = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}


def identify(value):
    return value if isinstance(value, str) else "-".join(value) or "plain"


each = pytest.mark.parametrize(("name", "params"), CASES, ids=identify)


def rows(name, n, p=P, seed=0):
    random = np.random.default_rng(seed)
    if name in BOOLEAN:
        return (random.random((n, p)) < 0.5).astype(float)
    if name == "hamming":
        return random.integers(0, 3, size=(n, p)).astype(float)
    return random.normal(size=(n, p))


def truth(A, B, name, params):
    return definition.paired(A[:, None], B[None], name, **params)


@each
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 2), (64, 65), (131, 70)])
def test_all_pairs_are_what_the_definition_says(name, params, n, m):
    A, B = rows(name, n), rows(name, m, seed=1)
    distance = get_distance(name, **params)
    assert_allclose(distance.pairwise(A, B), truth(A, B, name, params), rtol=1e-12, atol=1e-14)
    assert_allclose(
        distance.paired(A[:1], B[:1]), truth(A[:1], B[:1], name, params)[0], rtol=1e-12, atol=1e-14
    )


@each
def test_a_distance_says_what_its_definition_needs(name, params):
    A, B = rows(name, 30), rows(name, 20, seed=1)
    ready = get_distance(name, **params).prepare(A)
    assert_allclose(
        ready.pairwise(A, B), truth(A, B, name, ready.parameters()), rtol=1e-11, atol=1e-13
    )


@pytest.mark.parametrize("name", ["mahalanobis", "seuclidean", "gower", "nan_euclidean"])
def test_so_does_one_that_has_learnt_from_rows(name):
    A, B = rows(name, 30), rows(name, 20, seed=1)
    A[:, 2] = 0.1  # left out, or a category
    if name in ("mahalanobis", "seuclidean", "gower"):
        unlearnt = get_distance(name)
        with pytest.raises(ValueError, match="prepare"):
            unlearnt.parameters()
    for n in (30, 5):
        ready = get_distance(name).prepare(A[:n])
        assert_allclose(
            ready.pairwise(A, B), truth(A, B, name, ready.parameters()), rtol=1e-9, atol=1e-12
        )


@each
def test_rows_among_themselves_are_symmetric_to_the_bit(name, params):
    A = rows(name, 150)
    distance = get_distance(name, **params)
    D = distance.pairwise(A)
    assert_array_equal(D, D.T)
    assert_array_equal(D, distance.pairwise(A, A.copy()))
    if name != "russellrao":  # of which a row and itself are 0 only if all is true
        assert_array_equal(np.diag(D), 0)


@pytest.mark.parametrize("name", ["manhattan", "euclidean", "minkowski", "chebyshev", "canberra"])
@pytest.mark.parametrize("n", [1, 64, 65, 700])
def test_pairs_that_are_mirrored_have_the_bits_of_those_that_are_not(name, n):
    A = rows(name, n, p=40)
    params = {"p": 3} if name == "minkowski" else {}
    distance = get_distance(name, **params)
    assert_array_equal(distance.pairwise(A), distance.pairwise(A, A.copy()))


@each
def test_same_bits_on_any_number_of_threads(name, params):
    A, B = rows(name, 200), rows(name, 90, seed=1)
    distance = get_distance(name, **params)
    one = distance.pairwise(A, B, threads=1)
    assert_array_equal(one, distance.pairwise(A, B, threads=3))
    with certus.config_context(threads=2):
        assert_array_equal(one, distance.pairwise(A, B))


@each
def test_a_pair_has_the_same_bits_wherever_it_stands(name, params):
    A, B = rows(name, 70), rows(name, 75, seed=1)
    distance = get_distance(name, **params)
    distance = distance.prepare(A)  # some are centred, at the mean of the rows of a fit
    D = distance.pairwise(A, B)
    assert_array_equal(D[3:5, 66:], distance.pairwise(A[3:5], B[66:]))
    order = np.random.default_rng(2).permutation(70)
    assert_array_equal(D[order], distance.pairwise(A[order], B))


@each
def test_embedded_rows_have_the_plain_distance(name, params):
    A, B = rows(name, 20), rows(name, 15, seed=1)
    distance = get_distance(name, **params).prepare(A)
    if distance.embedded_metric is None:
        return
    a, b = distance.embed(A), distance.embed(B)
    power = 2 if distance.embedded_metric == "sqeuclidean" else 1
    plain = definition.minkowski(a[:, None], b[None], p=distance.embedded_p) ** power
    assert_allclose(plain, distance.pairwise(A, B), rtol=1e-10, atol=1e-13)
    expected = distance.embedded_metric in ("euclidean", "sqeuclidean") or distance.embedded_p == 2
    assert (distance.euclidean_like is not None) == expected


@pytest.mark.parametrize(
    ("name", "params"),
    [c for c in CASES if c[0] not in ("spearman", "phi_s") and "w" not in c[1]],
    ids=identify,
)
def test_scipy_agrees(name, params):
    A, B = rows(name, 30), rows(name, 20, seed=1)
    peer = {"manhattan": "cityblock"}.get(name, name)
    if name == "mahalanobis":
        params = {"VI": np.linalg.inv(V)}
    if name in BOOLEAN:
        A, B = A[A.any(axis=1)].astype(bool), B.astype(bool)
    expected = cdist(A, B, peer, **params)
    assert_allclose(pairwise_distances(A, B, name, **params), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["minkowski", "hamming", "canberra", "braycurtis", "cosine",
                                  "correlation", "jaccard", "yule"])  # fmt: skip
def test_weights_that_scipy_has_mean_the_same(name):
    A, B = rows(name, 30), rows(name, 20, seed=1)
    if name in BOOLEAN:
        A, B = A.astype(bool), B.astype(bool)
    assert_allclose(
        pairwise_distances(A, B, name, w=W), cdist(A, B, name, w=W), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(("ours", "theirs"), [("manhattan", "cityblock"), ("euclidean",) * 2,
                                              ("sqeuclidean",) * 2])  # fmt: skip
def test_squares_of_our_feature_weights_are_scipys(ours, theirs):
    A, B = rows(ours, 30), rows(ours, 20, seed=1)
    assert_allclose(pairwise_distances(A, B, ours, w=W), cdist(A, B, theirs, w=W**2), rtol=1e-12)


def test_spearman_is_scipys():
    A = np.round(rows("spearman", 12), 1)  # with ties
    assert_allclose(
        pairwise_distances(A, metric="spearman"), 1 - spearmanr(A.T).statistic, atol=1e-12
    )


# --- laws -----------------------------------------------------------------------------------------


METRICS = ["manhattan", "euclidean", "chebyshev", "minkowski", "canberra", "hamming"]


@pytest.mark.parametrize("name", METRICS)
def test_a_detour_is_never_shorter(name):
    A = rows(name, 40)
    D = pairwise_distances(A, metric=name)
    for i, j, k in itertools.product(range(0, 40, 7), repeat=3):
        assert D[i, j] <= D[i, k] + D[k, j] + 1e-12


@pytest.mark.parametrize("offset", [1e8, -1e12])
@pytest.mark.parametrize("name", ["manhattan", "euclidean", "sqeuclidean", "chebyshev",
                                  "minkowski", "mahalanobis", "seuclidean"])  # fmt: skip
def test_rows_far_from_the_origin_are_as_far_apart_as_near_it(name, offset):
    A = np.arange(30.0).reshape(10, 3)[:, ::-1] * 0.5 + np.eye(10, 3)
    params = {"V": np.diag([1.0, 2.0, 3.0])} if name == "mahalanobis" else {}
    near = pairwise_distances(A, metric=name, **params)
    far = pairwise_distances(A + offset, metric=name, **params)
    assert_allclose(far, near, rtol=1e-14)


def test_half_a_unit_at_1e8_is_half_a_unit():
    X = (np.arange(5) * 0.5 + 1e8)[:, None]
    expected = np.abs(np.arange(5)[:, None] - np.arange(5)) * 0.5
    for name in ("euclidean", "manhattan", "chebyshev", "minkowski"):
        assert_array_equal(pairwise_distances(X, metric=name), expected)


def test_float32_rows_are_summed_in_float64():
    A = rows("euclidean", 30).astype(np.float32)
    D = pairwise_distances(A)
    assert D.dtype == np.float64
    assert_array_equal(D, pairwise_distances(A.astype(np.float64)))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool])
def test_whole_numbers_are_cast_before_they_are_subtracted(dtype):
    A = np.array([[0, 1], [1, 0]], dtype=dtype)
    assert_array_equal(pairwise_distances(A, metric="manhattan"), [[0, 2], [2, 0]])


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300])
@pytest.mark.parametrize("params", [{"metric": "euclidean"}, {"metric": "minkowski", "p": 2},
                                    {"metric": "minkowski", "p": 7},
                                    {"metric": "cosine"}, {"metric": "correlation"}])  # fmt: skip
def test_squares_neither_overflow_nor_vanish(scale, params):
    A = rows("euclidean", 8)
    near = pairwise_distances(A, **params)
    factor = 1.0 if params["metric"] in ("cosine", "correlation") else scale
    assert_allclose(pairwise_distances(A * scale, **params), near * factor, rtol=1e-9, atol=0)


def test_high_powers_of_small_differences_do_not_vanish():
    A = np.array([[0.0, 0.0], [1e-9, 1e-9], [1e9, 0.0]])
    D = pairwise_distances(A, metric="minkowski", p=50)
    assert_allclose(D[0, 1], 1e-9 * 2 ** (1 / 50), rtol=1e-12)
    assert_allclose(D[0, 2], 1e9)


@pytest.mark.parametrize("name", ["cosine", "correlation"])
def test_small_angles_keep_their_digits(name):
    a = np.array([1.0, 2.0, -3.0])
    b = a + 1e-7 * np.array([1.0, 1.0, 1.0]) + 1e-7 * np.array([0.0, 1.0, -1.0])
    import mpmath

    with mpmath.workdps(50):
        x, z = ([mpmath.mpf(float(v)) for v in u] for u in (a, b))
        if name == "correlation":
            x, z = ([v - sum(u) / 3 for v in u] for u in (x, z))
        dot = sum(p * q for p, q in zip(x, z, strict=True))
        exact = 1 - dot / mpmath.sqrt(sum(p * p for p in x) * sum(q * q for q in z))
    assert_allclose(pairwise_distances([a], [b], name)[0, 0], float(exact), rtol=1e-6)


# --- by name --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alias", "name"), [("l1", "manhattan"), ("cityblock", "manhattan"),
    ("l2", "euclidean"), ("p", "minkowski"), ("infinity", "chebyshev"),
    ("matching", "hamming"), ("sokalmichener", "rogerstanimoto")])  # fmt: skip
def test_aliases(alias, name):
    assert get_distance(alias).name == name
    assert get_distance(alias) == get_distance(name)


def test_every_name_has_a_definition_and_every_definition_a_name():
    assert set(names()) == set(definition.METRICS)


def test_a_distance_is_given_back_as_it_is():
    distance = Euclidean(w=[1.0, 2.0])
    assert get_distance(distance) is distance
    assert distance == Euclidean(w=[1.0, 2.0])
    assert distance != Euclidean()
    with pytest.raises(TypeError, match="constructor"):
        get_distance(distance, w=[1.0])


def test_repr_shows_what_was_given():
    assert repr(get_distance("jaccard")) == "Boolean('jaccard')"
    assert repr(get_distance("yule", w=[1, 2])) == "Boolean('yule', w=[1.0, 2.0])"
    assert repr(Minkowski(3)) == "Minkowski(p=3.0)"
    assert repr(Manhattan(w=[1, 2])) == "Manhattan(w=[1.0, 2.0])"


def test_unknown_names_are_met_with_a_guess():
    with pytest.raises(ValueError, match="Did you mean 'euclidean'"):
        get_distance("euclidian")
    with pytest.raises(TypeError, match=r"'p'.*it takes w"):
        get_distance("manhattan", p=3)


@pytest.mark.parametrize("p", [0.5, 0, -1, np.nan, "2", True])
def test_orders_below_one_are_refused(p):
    with pytest.raises((ValueError, TypeError), match="p="):
        Minkowski(p)


def test_a_subclass_needs_a_name_and_all_pairs():
    class Discrete(Distance):
        name = "discrete"

        def compare(self, A, B, threads):
            return (A[:, None] != B).any(axis=2).astype(float)

    D = pairwise_distances([[1.0], [2.0]], metric=Discrete())
    assert_array_equal(D, [[0, 1], [1, 0]])
    assert_array_equal(Discrete().paired([[1.0], [2.0]], [[1.0], [1.0]]), [0, 1])
    with pytest.raises(TypeError, match="no derivative"):
        Discrete().weight_vjp([[1.0]], [[1.0]], [[1.0]])
