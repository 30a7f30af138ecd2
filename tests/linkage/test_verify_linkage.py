"""``certus.verify`` on trees of clusters: ours, SciPy's and scikit-learn's."""

import numpy as np
import pytest
import sklearn.cluster as peers
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import certus
from certus import cluster as ours
from certus.cluster import AgglomerativeClustering, DivisiveClustering, Tree
from certus.exceptions import CannotVerifyError, CertificateError

X = np.random.default_rng(0).normal(size=(80, 4))
METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
THEIRS = ("single", "complete", "average", "ward")
each_of_theirs = pytest.mark.parametrize("linkage", THEIRS)


def accepted(model, X=X, **params):
    c = certus.verify(model, X, **params)
    assert c._finding.contradictions == ()
    assert (c.status, c.kind, c.certified) == ("exact", "exact", True)
    return c


def refused(model, X=X):
    c = certus.verify(model, X)
    assert (c.status, c.certified) == ("contradicted", False)
    return list(c._finding.contradictions)


def theirs(linkage, **params):
    return peers.AgglomerativeClustering(linkage=linkage, **{"n_clusters": 4, **params}).fit(X)


# --- scikit-learn's -------------------------------------------------------------------------------


@each_of_theirs
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"compute_distances": True},
        {"n_clusters": None, "distance_threshold": 1.1},
        {"n_clusters": 80},
        {"n_clusters": 1},
    ],
    ids=str,
)
def test_models_that_are_right_are_accepted(linkage, params):
    c = accepted(theirs(linkage, **params))
    assert c.model == "sklearn.cluster.AgglomerativeClustering"
    with_heights = bool(params.get("compute_distances")) or "distance_threshold" in params
    assert c._finding.heights == 79 * with_heights
    assert ("heights are not claimed" in c.explain()) != with_heights
    assert "If the model was fitted on other rows, this says nothing" in c.explain()


@each_of_theirs
@pytest.mark.parametrize(
    "rows",
    [
        np.argwhere(np.ones((8, 8))).astype(float),
        np.repeat(X[:10], 4, axis=0),
        X + 1e8,
        X.astype(np.float32),
        np.rint(50 * X).astype(np.int8),
    ],
    ids=["grid", "copies", "far", "float32", "int8"],
)
def test_ties_copies_and_any_kind_of_number(linkage, rows):
    model = peers.AgglomerativeClustering(3, linkage=linkage, compute_distances=True).fit(rows)
    accepted(model, rows)


@pytest.mark.parametrize("metric", ["l1", "manhattan", "cosine", "chebyshev", "correlation"])
def test_metrics_by_scikit_learns_names(metric):
    for linkage in ("single", "complete", "average"):
        accepted(theirs(linkage, metric=metric, compute_distances=True))


def test_given_distances():
    D = squareform(pdist(X))
    model = peers.AgglomerativeClustering(3, metric="precomputed", linkage="average").fit(D)
    assert accepted(model, D).formula == "average linkage by the distances given"
    D[3, 5] += 1
    assert "the distance given from row 3 to row 5" in refused(model, D)[0]


@each_of_theirs
def test_what_was_edited_is_named(linkage):
    model = theirs(linkage, compute_distances=True)
    labels, h = model.labels_.copy(), model.distances_.copy()
    model.labels_ = np.where(np.arange(80) == 11, (labels + 1) % 4, labels)
    assert any("11" in message and "the cut into 4" in message for message in refused(model))
    model.labels_, model.n_clusters_ = labels, 5
    assert refused(model)[0] == "n_clusters_ is 5, and there are 4 labels"
    model.n_clusters_, model.distances_ = 4, h * np.where(np.arange(79) == 40, 1.01, 1)
    assert refused(model)[0].startswith("merge 40 joins ")
    model.distances_ = h
    model.children_ = model.children_[[1, 0, *range(2, 79)]]
    assert refused(model)


def test_far_from_the_origin_cosine_trees_are_refused_with_the_cause(rng):
    # three directions that differ in the eighth digit
    rows = 1e8 + 10 * np.eye(3)[rng.integers(0, 3, size=60)] + rng.normal(size=(60, 3))
    model = peers.AgglomerativeClustering(
        3, linkage="average", metric="cosine", compute_distances=True
    )
    c = certus.verify(model.fit(rows), rows)
    assert c.status == "contradicted"
    assert "all rows have nearly the same direction" in c.explain()
    assert "use certus.cluster.AgglomerativeClustering" in c.explain()
    mine = AgglomerativeClustering(3, linkage="average", metric="cosine").fit(rows)
    assert accepted(mine, rows).residual < 1e-6


def test_columns_of_feature_agglomeration():
    model = peers.FeatureAgglomeration(2, linkage="average", compute_distances=True).fit(X)
    c = accepted(model)
    assert c.formula == "average linkage of columns by Euclidean distance"
    assert repr(c) == "Certificate(exact: all 3 merges recomputed)"


def test_what_is_no_claim_is_refused_in_words():
    graph = peers.AgglomerativeClustering(2, connectivity=np.ones((80, 80))).fit(X)
    with pytest.raises(CannotVerifyError, match="with connectivity only clusters that touch"):
        certus.verify(graph, X)
    with pytest.raises(CannotVerifyError, match="is not fitted"):
        certus.verify(peers.AgglomerativeClustering(), X)
    Z = hierarchy.linkage(X, "average")
    for tree, rows, message in (
        (Tree(Z), X, "say which linkage it is"),
        (Tree(Z, method="bisecting"), X, "verify the BisectingKMeans"),
        (Tree(Z, method="upgma"), X, "method='upgma' is none of single"),
        (Tree(Z, method="average", metric="jensenshannon"), X, "has no definition here"),
        (Tree(Z, method="average", metric="precomputed"), X, "give the 80 × 80 distances"),
        (Tree(Z, method="average"), np.where(X > 2, np.nan, X), "missing value"),
    ):
        with pytest.raises(ValueError, match=message):
            certus.verify(tree, rows)
    with pytest.raises(CannotVerifyError, match="takes no sample_weight"):
        certus.verify(Tree(Z, method="average"), X, sample_weight=np.ones(80))


# --- SciPy's, and our own -------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_matrices_of_scipy_as_trees(method):
    Z = hierarchy.linkage(X, method)
    accepted(Tree(Z, method=method))
    edited = Z.copy()
    edited[30, 2] *= 1.001
    assert "merge 30" in refused(Tree(edited, method=method))[0]
    other = "complete" if method != "complete" else "single"
    assert refused(Tree(Z, method=other))
    d = pdist(X, "cityblock")
    Z = hierarchy.linkage(d, method)
    for rows in (d, squareform(d)):
        accepted(Tree(Z, method=method, metric="precomputed"), rows)
    accepted(Tree(Z, method=method, metric="cityblock"))


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis", "minkowski"])
def test_what_scipy_estimates_from_the_rows(metric):
    accepted(Tree(hierarchy.linkage(X, "average", metric), method="average", metric=metric))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [None, "float32"])
def test_models_of_certus(method, dtype):
    for rows in (X, X + 1e8):
        model = AgglomerativeClustering(4, linkage=method, dtype=dtype).fit(rows)
        c = accepted(model, rows)
        assert c.model == "AgglomerativeClustering"
        model.distances_ = model.distances_ * 1.01
        assert refused(model, rows)[0] == "distances_ differs from tree_"


@pytest.mark.parametrize(
    "metric", ["manhattan", "cosine", "mahalanobis", "seuclidean", "gower", "phi_s"]
)
def test_metrics_of_certus(metric):
    accepted(AgglomerativeClustering(3, linkage="average", metric=metric).fit(X))
    accepted(DivisiveClustering(3, metric=metric).fit(X))


def test_scale_is_part_of_the_claim():
    rows = X * [1, 100, 1, 0.1]
    model = AgglomerativeClustering(3, linkage="ward", scale="standard").fit(rows)
    assert "columns divided by their scale" in accepted(model, rows).formula
    model.tree_.scale = None
    assert refused(model, rows)


def test_divisive_models():
    model = DivisiveClustering(4).fit(X)
    c = accepted(model)
    assert c.definition == "certus.proofs.linkage.diana"
    assert repr(c) == "Certificate(exact: all 79 splits recomputed)"
    model.labels_ = np.roll(model.labels_, 1)
    assert "the cut into 4" in refused(model)[0]
    model = DivisiveClustering(4).fit(X)
    model.tree_.merges[50, 2] *= 1.01
    assert any("but its diameter is" in message for message in refused(model))


@pytest.mark.skipif(not hasattr(ours, "VariableClustering"), reason="not there yet")
@pytest.mark.parametrize("metric", ["correlation", "cosine"])
@pytest.mark.parametrize("absolute", [True, False])
def test_clusters_of_columns(metric, absolute, rng):
    rows = rng.normal(size=(60, 9))
    rows[:, 3] = -rows[:, 0] + 0.1 * rows[:, 3]
    model = ours.VariableClustering(4, metric=metric, absolute=absolute).fit(rows)
    assert "of columns by" in accepted(model, rows).formula
    first = model.representatives_.copy()
    model.representatives_ = np.roll(first, 1)
    assert "representative" in refused(model, rows)[0]


def test_a_distance_of_your_own_is_not_proven():
    Z = hierarchy.linkage(X, "average", lambda a, b: abs(a - b).sum())
    tree = Tree(Z, method="average", metric=lambda a, b: abs(a - b).sum())
    c = certus.verify(tree, X)
    assert (c.status, c.certified) == ("not proven", False)
    assert repr(c) == (
        "Certificate(not proven: a distance of your own has no definition to compare with)"
    )
    assert c.explain().startswith("[?] NOT PROVEN   Tree, 80 rows × 4 columns")
    assert "not proven" in c.note()
    assert "of your own" in c._repr_html_()
    with pytest.raises(CertificateError, match="nothing to export: a distance of your own"):
        c.export("check.py")
    tree.merges[5, 3] += 1
    assert "claims a cluster" in refused(tree)[0]


# --- words ----------------------------------------------------------------------------------------


def test_the_words_of_a_certificate():
    model = theirs("average", compute_distances=True)
    c = certus.verify(model, X)
    assert repr(c) == "Certificate(exact: all 79 merges recomputed)"
    lines = c.explain().splitlines()
    assert lines[:3] == [
        "[OK] EXACT   sklearn.cluster.AgglomerativeClustering, 80 rows × 4 columns",
        "Claimed        average linkage by Euclidean distance",
        "Recomputed     all 79 merges recomputed",
    ]
    assert lines[3].startswith("Heights        all recomputed, right to ")
    assert lines[4:] == [
        "Merges         no cluster was nearer to either of the two when each of these was made",
        "Labels         are those of the tree cut into 4 clusters",
        "Ties           any order was taken for right",
        "Note           on the rows given. If the model was fitted on other rows, this says "
        "nothing.",
        "Checked by     certus.proofs.linkage.linkage, from the data; the tree alone is "
        "the model's; its page is certus.definitions.linkage, 70 lines",
        "Does not say   that the data have clusters, how many, or that the distance suits them",
    ]
    assert c.note() == (
        "sklearn.cluster.AgglomerativeClustering (80 rows, 4 columns): average linkage by "
        "Euclidean distance; all 79 merges were recomputed from the data and are right, and its "
        "labels are those of the tree cut into 4 clusters "
        f"(certus {certus.__version__}, certus.proofs.linkage.linkage)."
    )
    assert "<strong>✔ Exact</strong> · all 79 merges recomputed" in c._repr_html_()


def test_the_words_of_inversions_and_of_a_sample(rng):
    Z = hierarchy.linkage(np.array([[0, 0], [1, 0], [0.5, 0.85]]), "centroid")
    c = certus.verify(Tree(Z, method="centroid"), [[0, 0], [1, 0], [0.5, 0.85]])
    assert repr(c) == "Certificate(exact: all 2 merges recomputed; 1 inversion)"
    assert "Inversions     merges below one that they join: 1" in c.explain()
    rows = rng.normal(size=(2300, 2))
    c = certus.verify(Tree(hierarchy.linkage(rows, "ward"), method="ward"), rows)
    assert repr(c) == "Certificate(exact: 200 of 2,299 merges recomputed)"
    assert "Heights        all recomputed" in c.explain()
    assert "the others were not checked" in c.explain()


def test_the_words_of_a_contradiction():
    Z = hierarchy.linkage(X, "average")
    Z[40, 2] *= 1.01
    c = certus.verify(Tree(Z, method="average"), X)
    assert repr(c).startswith("Certificate(contradicted: merge 40 joins ")
    assert c.explain().startswith("[!!] CONTRADICTED   Tree, 80 rows × 4 columns")
    assert "What to do     give the rows, the method and the metric of the fit" in c.explain()
    assert c.note().startswith("Not certified: contradicted: merge 40")
    assert "<strong>✖ Contradicted</strong>" in c._repr_html_()


def test_of_one_row_there_is_nothing_to_merge():
    certificate = AgglomerativeClustering(n_clusters=1).fit([[1.0, 2.0]]).certificate_
    assert repr(certificate) == "Certificate(exact: one row, nothing to merge)"
    assert "Merges" not in certificate.explain()
    two = AgglomerativeClustering(n_clusters=1).fit([[1.0, 2.0], [3.0, 4.0]]).certificate_
    assert "the one merge was recomputed from the data and is right" in two.note()
