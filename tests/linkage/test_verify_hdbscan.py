"""``certus.verify`` on HDBSCAN, of scikit-learn and of the library hdbscan."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator
from sklearn.cluster import HDBSCAN as theirs

import certus
from certus.exceptions import CannotVerifyError, CertificateError

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(30, 3)) + center for center in ([0, 0, 0], [7, 0, 0], [0, 8, 0])])
n = len(X)


def fitted(rows=X, **params):
    return theirs(copy=True, **params).fit(rows)


def accepted(model, rows=X):
    c = certus.verify(model, rows)
    assert c._finding.contradictions == ()
    assert (c.status, c.kind, c.certified) == ("exact", "exact", True)
    return c


def refused(model, rows=X):
    c = certus.verify(model, rows)
    assert (c.status, c.certified) == ("contradicted", False)
    return c._finding.contradictions[0]


@pytest.mark.parametrize(
    "params",
    [
        {}, {"min_samples": 1}, {"min_samples": 12}, {"alpha": 1.7}, {"max_cluster_size": 20},
        {"cluster_selection_method": "leaf"}, {"algorithm": "brute"}, {"algorithm": "ball_tree"},
        {"algorithm": "brute", "alpha": 1.7}, {"metric": "manhattan"}, {"metric": "cosine"},
        {"metric": "correlation", "alpha": 1.7}, {"metric": "sqeuclidean"},
        {"metric": "canberra", "alpha": 1.7}, {"metric": "minkowski", "metric_params": {"p": 3}},
        {"metric": "seuclidean", "metric_params": {"V": np.array([1.0, 2.0, 3.0])}},
    ],
    ids=str,
)  # fmt: skip
def test_models_that_are_right_are_accepted(params):
    model = fitted(min_cluster_size=4, **params)
    c = accepted(model)
    assert c.model == "sklearn.cluster.HDBSCAN"
    assert "Labels         and probabilities are those of the clusters" in c.explain()
    assert certus.verify(model, X, by="page").certified


@pytest.mark.parametrize("algorithm", ["auto", "brute"])
@pytest.mark.parametrize(
    "rows",
    [
        np.argwhere(np.ones((9, 9))).astype(float), np.repeat(X[:10], 8, axis=0),
        X.astype(np.float32), np.rint(3 * X).astype(np.int8), csr_array(np.where(X > 0, X, 0.0)),
    ],
    ids=["grid", "copies", "float32", "int8", "sparse"],
)  # fmt: skip
def test_ties_copies_and_any_kind_of_number(rows, algorithm):
    accepted(fitted(rows, algorithm=algorithm), rows)


def test_far_from_the_origin_products_lose_the_distances():
    assert accepted(fitted(X + 1e8), X + 1e8)
    model = fitted(X + 1e8, algorithm="brute")
    assert refused(model, X + 1e8)
    text = certus.verify(model, X + 1e8).explain()
    assert "times as far from the origin as from each other" in text
    assert "subtract the means of the columns" in text


def test_blocks_of_distances_are_not_kept():
    rows = np.random.default_rng(1).normal(size=(4000, 2))
    model = fitted(rows)
    tracemalloc.start()
    accepted(model, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(rows) ** 2 / 2  # half of all distances


def test_given_distances_that_a_fit_without_a_copy_overwrites():
    D = squareform(pdist(X))
    accepted(fitted(D, metric="precomputed"), D)
    given = D.copy()
    model = theirs(metric="precomputed", copy=False).fit(given)
    accepted(model, D)
    refused(model, given)
    assert (
        "with copy=False a fit writes into its distances" in certus.verify(model, given).explain()
    )


def test_what_was_edited_is_named():
    model = fitted()
    tree = model._single_linkage_tree_
    model._single_linkage_tree_ = tree.copy()
    model._single_linkage_tree_["value"][-1] *= 1.01
    assert refused(model).startswith(f"merge {n - 2} joins cluster ")
    model._single_linkage_tree_["value"][-1] = tree["value"][-1] * 0.999
    assert "but their rows are" in refused(model)
    model._single_linkage_tree_ = tree
    labels = model.labels_.copy()
    row = int(np.argmax(labels == 1))
    model.labels_ = np.where(np.arange(n) == row, -1, labels)
    assert refused(model) == (
        "the rows labelled 1 are no cluster of the tree: the nearest differs in 1, among them "
        f"row {row}"
    )
    model.labels_ = np.where(labels == 1, -1, labels)
    assert "but no label of their own" in refused(model)
    model.labels_ = labels
    model.probabilities_ = model.probabilities_ * np.where(np.arange(n) == row, 0.9, 1.0)
    assert refused(model).startswith(f"row {row} has the probability ")
    model = fitted()
    model.min_samples = 9
    refused(model)


def test_other_rows_are_refused_and_the_tree_is_known_to_be_too_long():
    c = certus.verify(fitted(1.01 * X), X)
    assert c.status == "contradicted"
    assert c._finding.excess == pytest.approx(c._finding.length * (1 - 1 / 1.01))
    assert "Too long" in c.explain()
    assert "there are 89 merges, and 50 rows need 49" in refused(fitted(), X[:50])


@pytest.mark.parametrize(
    "params", [{"allow_single_cluster": True}, {"cluster_selection_epsilon": 1.0}]
)
def test_labels_chosen_by_other_rules_are_said_not_to_be_checked(params):
    c = accepted(fitted(**params))
    assert "Labels" not in c.explain()
    assert "labels_ and probabilities_ are not checked" in c.explain()


def test_centres_are_said_not_to_be_checked():
    assert "centroids_ and medoids_ are not checked" in accepted(fitted(store_centers="both")).notes


def test_a_distance_of_your_own_is_not_proven():
    c = certus.verify(fitted(metric=lambda a, b: abs(a - b).max()), X)
    assert c.status == "not proven"
    assert "a distance of your own has no definition" in c.explain()
    with pytest.raises(CertificateError, match="a distance of your own"):
        c.export("check.py")


def test_what_is_no_claim_is_refused_in_words():
    holes = np.vstack([X, [[np.nan] * 3]])
    for model, rows, more, message in (
        (theirs(), X, {}, "is not fitted"),
        (fitted(), X, {"sample_weight": np.ones(n)}, "takes no sample_weight"),
        (fitted(holes), holes, {}, "rows with missing or infinite values were left out"),
    ):
        with pytest.raises(CannotVerifyError, match=message):
            certus.verify(model, rows, **more)


# --- the library hdbscan --------------------------------------------------------------------------


class HDBSCAN(BaseEstimator):
    """The fitted attributes of hdbscan's class, with the tree of scikit-learn's."""

    __module__ = "hdbscan.hdbscan_"

    def fit(self, rows, k=5, swap=False):
        model = fitted(rows, min_samples=k + 1)
        tree = model._single_linkage_tree_
        self.min_cluster_size, self.min_samples, self.metric, self.p = 5, k, "euclidean", None
        self.alpha, self.algorithm, self.cluster_selection_method = 1.0, "best", "eom"
        self.allow_single_cluster = self.match_reference_implementation = False
        self.cluster_selection_epsilon = 0.0
        self._single_linkage_tree = np.column_stack(
            [tree[f].astype(float) for f in tree.dtype.names]
        )
        self.labels_, self.probabilities_ = model.labels_, model.probabilities_
        self._min_spanning_tree = self._edges(rows, k, swap)
        return self

    def _edges(self, rows, k, swap):
        D = squareform(pdist(rows))
        core = np.sort(D, axis=1)[:, k]
        M = np.maximum(D, np.maximum.outer(core, core))
        inside, edges = [0], []
        while len(inside) < len(rows):
            outside = np.setdiff1d(np.arange(len(rows)), inside)
            i, j = divmod(int(M[np.ix_(inside, outside)].argmin()), len(outside))
            edges.append([inside[i], outside[j], M[inside[i], outside[j]]])
            inside.append(int(outside[j]))
        if swap:  # the last row reached has one edge: to its farthest row instead
            j = inside[-1]
            i = int(np.argmax(np.where(np.arange(len(rows)) == j, 0, M[j])))
            edges[-1] = [i, j, M[i, j]]
        return np.array(edges)


def test_a_minimum_spanning_tree_of_hdbscan_is_accepted():
    c = accepted(HDBSCAN().fit(X))
    assert c.model == "hdbscan.hdbscan.HDBSCAN"
    assert "Edges          are a minimum spanning tree with these lengths" in c.explain()
    without = HDBSCAN().fit(X)
    without._min_spanning_tree = None
    assert "Edges" not in accepted(without).explain()


def test_an_edge_that_is_longer_than_need_be_is_found():
    c = certus.verify(HDBSCAN().fit(X, swap=True), X)
    assert c.status == "contradicted"
    assert "longer than a minimum spanning tree by" in c.explain()
    assert "fit with approx_min_span_tree=False" in c.explain()
    other = HDBSCAN().fit(X)
    other._min_spanning_tree[7, 2] *= 1.001
    assert refused(other).startswith("edge 7 joins rows ")
    other._min_spanning_tree[7] = other._min_spanning_tree[6]
    assert refused(other) == "edge 7 joins rows that the edges before it had connected"
    other._min_spanning_tree = other._min_spanning_tree[1:]
    assert "is no list of 89 edges" in refused(other)


# --- words ----------------------------------------------------------------------------------------


def test_the_words_of_a_certificate(tmp_path):
    c = certus.verify(fitted(), X)
    assert repr(c) == "Certificate(exact: all 89 merges recomputed)"
    lines = c.explain().splitlines()
    assert lines[:3] == [
        "[OK] EXACT   sklearn.cluster.HDBSCAN, 90 rows × 3 columns",
        "Claimed        minimum spanning tree of mutual reachability by Euclidean distance",
        "Recomputed     all 89 merges recomputed",
    ]
    assert lines[3].endswith("long in total, and none is shorter")
    assert c.note().startswith(
        "sklearn.cluster.HDBSCAN (90 rows, 3 columns): minimum spanning tree of mutual "
        "reachability by Euclidean distance; all 89 merges recomputed from the data and right"
    )
    assert "Spanning tree" in c._repr_html_()
    c.export(tmp_path / "check.py")
    assert (tmp_path / "check.py").read_text("utf-8").count("\n") <= 150


def test_a_contradiction_by_the_page_has_a_repr():
    model = fitted()
    model.labels_ = np.roll(model.labels_, 3)
    c = certus.verify(model, X, by="page")
    assert repr(c) == f"Certificate(contradicted: {n} answers are wrong)"
