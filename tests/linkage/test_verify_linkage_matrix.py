"""``certus.verify`` on matrices of merges: which of the seven linkages they are the tree of."""

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

import certus
from certus.exceptions import CannotVerifyError

X = np.random.default_rng(0).normal(size=(60, 4))
METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", ["proof", "page"])
def test_the_linkage_of_a_matrix_is_found(method, by):
    c = certus.verify(hierarchy.linkage(X, method), X, by=by)
    assert (c.model, c.status) == ("linkage matrix", "exact")
    assert c.formula == f"{method} linkage by Euclidean distance"
    assert not any("also those" in note for note in c.notes)


@pytest.mark.parametrize("method", METHODS)
def test_distances_are_recognised_square_and_condensed(method):
    d = pdist(X, "cityblock")
    Z = hierarchy.linkage(d, method)
    for given in (d, squareform(d)):
        c = certus.verify(Z, given)
        assert c.certified
        assert c.formula == f"{method} linkage by the distances given"
        assert "X was read as the distances between the rows" in c.notes
    assert not certus.verify(Z, X).certified


def test_a_square_table_of_rows_is_no_matrix_of_distances():
    square = X[:, :1] + np.random.default_rng(1).normal(size=(60, 60))
    c = certus.verify(hierarchy.linkage(square, "ward"), square)
    assert c.certified
    assert c.formula == "ward linkage by Euclidean distance"


def test_all_linkages_of_which_it_is_the_tree_are_named():
    c = certus.verify(hierarchy.linkage(X[:2]), X[:2])
    assert c.formula == "single linkage by Euclidean distance"
    also = "these merges are also those of complete, average, weighted, centroid, median, ward"
    assert c.notes[0] == f"{also} linkage"


def test_without_a_linkage_the_nearest_is_named_with_its_first_fault():
    Z = hierarchy.linkage(X, "average")
    Z[30, 2] *= 1.001
    c = certus.verify(Z, X)
    assert c.status == "contradicted"
    assert c._finding.contradictions[0].startswith(
        "none of the seven linkages by Euclidean distance has this tree. Average linkage is "
        "nearest, with 1 fault found: merge 30 joins "
    )
    other = certus.verify(hierarchy.linkage(X, "average", "cityblock"), X)
    assert other.status == "contradicted"
    assert "Tree(Z, method='average', metric='cityblock')" in other.explain()
    assert certus.verify(Z, X, by="page").status == "contradicted"


def test_what_is_no_tree_is_named_without_a_linkage():
    Z = hierarchy.linkage(X, "average")
    Z[30, 0] = 200
    c = certus.verify(Z, X)
    assert c.formula == "one of the seven linkages by Euclidean distance"
    assert c._finding.contradictions == ("merge 30 joins cluster 200, which does not exist then",)
    assert certus.verify(np.full((59, 4), np.nan), X).status == "contradicted"


def test_sparse_rows():
    assert certus.verify(hierarchy.linkage(X, "complete"), csr_array(X)).certified


def test_a_script_of_the_certificate(tmp_path):
    certus.verify(hierarchy.linkage(X, "complete"), X).export(tmp_path / "check.py")
    assert "complete linkage by Euclidean" in (tmp_path / "check.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("Z", "rows", "more", "message"),
    [
        (np.ones((59, 3)), X, {}, r"an array \(float64, of shape \(59, 3\)\) is no fitted model"),
        (np.ones(4), X, {}, "A linkage matrix has 4 columns"),
        (np.full((59, 4), "a"), X, {}, "is no fitted model"),
        (hierarchy.linkage(X), X[:5], {}, r"these 59 merges are those of 60 rows, and X has shape"),
        (hierarchy.linkage(X), pdist(X[:5]), {}, "give the rows, or the distances between them"),
        (hierarchy.linkage(X), np.where(X > 2, np.nan, X), {}, "missing value"),
        (hierarchy.linkage(X), X, {"y": np.ones(60)}, "neither y nor"),
        (hierarchy.linkage(X), X, {"sample_weight": np.ones(60)}, "neither y nor"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_words(Z, rows, more, message):
    with pytest.raises(CannotVerifyError, match=message):
        certus.verify(Z, rows, **more)
