"""Laws of trees besides those of ``contract/laws.py``: what changes nothing, or in a known way."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import certus
from certus.cluster import AgglomerativeClustering, DivisiveClustering, Tree, linkage
from tests.linkage.tree_cases import METHODS, rows

MODELS = [
    *(AgglomerativeClustering(4, linkage=method) for method in METHODS),
    DivisiveClustering(4),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda m: getattr(m, "linkage", "diana"))


def heights(model):
    return model.tree_.heights


@each_model
def test_rotations_do_not_matter(model):
    X = rows(2, n=40)
    Q = np.linalg.qr(rows(3, n=3))[0]
    model.fit(X)
    labels, before = model.labels_, heights(model)
    model.fit(X @ Q)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(heights(model), before, rtol=1e-9)


@each_model
def test_heights_have_the_unit_of_the_rows(model):
    X = rows(4, n=40)
    model.fit(X)
    labels, before = model.labels_, heights(model)
    for c in (2.0**-300, 2.0**20, 2.0**300):
        model.fit(c * X)
        np.testing.assert_array_equal(model.labels_, labels)
        np.testing.assert_allclose(heights(model), c * before, rtol=1e-12)


@each_model
def test_a_model_is_certified_by_its_rows_and_by_no_others(model):
    X = rows(6, n=60)
    model.fit(X)
    assert model.certificate_.certified
    assert certus.verify(model, X).certified
    assert not certus.verify(model, rows(7, n=60)).certified


@pytest.mark.parametrize("method", ["single", "complete"])
def test_only_the_order_of_distances_matters_to_single_and_complete(method):
    D = cdist(rows(8), rows(8))
    before, after = linkage(D, method, "precomputed"), linkage(D**3, method, "precomputed")
    np.testing.assert_array_equal(before[:, [0, 1, 3]], after[:, [0, 1, 3]])
    np.testing.assert_allclose(before[:, 2] ** 3, after[:, 2], rtol=1e-12)


@pytest.mark.parametrize("method", ["single", "complete"])
def test_a_row_twice_adds_a_merge_at_zero_and_changes_no_other_height(method):
    X = rows(9)
    once, twice = linkage(X, method), linkage(np.concatenate([X, X[:5]]), method)
    np.testing.assert_array_equal(twice[:5, 2], 0)
    np.testing.assert_allclose(twice[5:, 2], once[:, 2], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")  # ties
@each_model
@pytest.mark.parametrize(
    "given",
    [
        lambda X: X.tolist(),
        lambda X: np.asfortranarray(X),
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: X.astype(np.int8),
        lambda X: X.astype(np.float32),
        lambda X: X.astype(object),
    ],
    ids=["list", "fortran", "strided", "int8", "float32", "objects"],
)
def test_how_rows_are_held_does_not_matter(model, given):
    X = np.round(20 * rows(10, n=40))  # numbers that all of these hold
    X[:, 0] += np.linspace(0, 60, 40).round()
    model.fit(X)
    labels, before = model.labels_, heights(model)
    model.fit(given(X))
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(heights(model), before)


@each_model
def test_rows_that_cannot_be_written_are_read(model):
    X = rows(11)
    X.setflags(write=False)
    model.fit(X)


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotEuclideanWarning")
@pytest.mark.parametrize("power", [-1000, -560, -500, 500, 560, 1018])
@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_power_of_two_scales_trees_of_given_distances_exactly(method, power, dtype):
    D, factor = cdist(rows(1), rows(1)), 2.0**power
    condensed = D[np.triu_indices(len(D), 1)]
    near, far = (linkage(given, method, dtype=dtype) for given in (condensed, condensed * factor))
    np.testing.assert_array_equal(far[:, [0, 1, 3]], near[:, [0, 1, 3]])
    np.testing.assert_array_equal(far[:, 2], near[:, 2] * factor)
    params = {"linkage": method, "metric": "precomputed", "dtype": dtype}
    here = AgglomerativeClustering(3, **params).fit(D)
    model = AgglomerativeClustering(3, **params).fit(D * factor)
    np.testing.assert_array_equal(model.tree_.merges, far)
    np.testing.assert_array_equal(model.labels_, here.labels_)
    np.testing.assert_array_equal(model.predict(D * factor), here.predict(D))
    assert model.certificate_.status == "exact"
    for by in ("proof", "page"):
        assert certus.verify(model, D * factor, by=by).status == "exact"
    wrong = far.copy()
    wrong[-1, 2] *= 1.01
    contradicted = certus.verify(Tree(wrong, method=method, metric="precomputed"), D * factor)
    (text,) = contradicted._finding.contradictions
    stated, least = text.split(" at ")[1].split(", but they are ")
    assert float(stated) == pytest.approx(wrong[-1, 2], rel=1e-5)
    assert float(least.split()[0]) == pytest.approx(far[-1, 2], rel=1e-5)


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotEuclideanWarning")
def test_heights_of_given_distances_that_float64_cannot_hold_are_refused():
    D = cdist(*[np.repeat([[0.0], [1.0]], 20, axis=0)] * 2) * 1.5e308
    with pytest.raises(ValueError, match=r"heights of the tree exceed 1.8e\+308"):
        linkage(D, "ward", "precomputed")
    with pytest.raises(ValueError, match="beyond what float64 can hold: multiply X by a power"):
        linkage(1e-310 * (D > 0), "ward", "precomputed")
