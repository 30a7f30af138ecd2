"""The pages of trees: merges and splits done again, and what is not the tree is refused."""

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn import cluster as sk

from certus import verify
from certus.certificate.pages import neighbors as adaptor
from certus.certificate.pages.lines import lines_to_read
from certus.certificate.pages.problem import PageCall
from certus.cluster import AgglomerativeClustering, DivisiveClustering, VariableClustering
from certus.definitions import diana, linkage
from certus.definitions.terms.distances import Absolute, Correlation, Euclidean, Precomputed
from certus.definitions.terms.targets import NoTargets

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(20, 3)), rng.normal(size=(15, 3)) + 4, np.ones((2, 3))])
n = len(X)
EUCLIDEAN = Euclidean()
PAGES = {"linkage": linkage, "diana": diana}


def linked(merges, method, rows=X, distance=EUCLIDEAN, **other):
    return linkage.check(
        rows, None, np.ones(len(rows)), merges=merges, link=adaptor.LINKS[method],
        distance=distance, **other,
    )  # fmt: skip


def page(c, rows=X, **other):
    name = c.definition.rsplit(".", 1)[1]
    (problem,) = getattr(adaptor, name)({**c.parameters, **other}, c.labels)
    s = np.ones(len(rows))
    return PAGES[problem.page].check(rows, *problem.targets(None, s), **problem.arguments)


@pytest.mark.parametrize("method", list(adaptor.LINKS))
def test_trees_of_scipy_are_accepted_and_edited_ones_are_not(method):
    merges = hierarchy.linkage(X, method)
    assert linked(merges, method).holds
    higher = merges.copy()
    higher[20, 2] *= 1.001
    assert not linked(higher, method).holds
    larger = merges.copy()
    larger[20, 3] += 1
    assert linked(larger, method).miss == 1
    assert not linked(merges, method, np.roll(X, 1, axis=0)).holds
    other = "single" if method == "complete" else "complete"
    assert not linked(merges[:, :2], other).holds


@pytest.mark.parametrize("method", ["single", "complete", "average"])
def test_without_the_nearest_pair_a_tree_is_refused(method):
    """Distances stated are true, but at one merge another pair was nearer."""
    D = squareform(pdist(X))
    clusters, merges = {i: [i] for i in range(n)}, []

    def far(a, b):
        A, B = clusters[a], clusters[b]
        if method == "single":
            return D[np.ix_(A, B)].min()
        return D[np.ix_(A, B)].max() if method == "complete" else D[np.ix_(A, B)].mean()

    for t in range(n - 1):
        pairs = sorted((far(a, b), a, b) for a in clusters for b in clusters if a < b)
        d, a, b = pairs[t == 5]
        merges.append([a, b, d, len(clusters[a]) + len(clusters[b])])
        clusters[n + t] = clusters.pop(a) + clusters.pop(b)
    assert not linked(np.array(merges), method).holds


def test_what_is_no_tree_is_refused():
    merges = hierarchy.linkage(X, "average")
    for row, column, value in ((3, 0, 200.0), (3, 0, -1.0), (3, 1, 0.5), (9, 2, np.nan)):
        broken = merges.copy()
        broken[row, column] = value
        assert not linked(broken, "average").holds
    twice = merges.copy()
    twice[4, :2] = twice[3, :2]
    assert not linked(twice, "average").holds
    assert not linked(merges[1:], "average").holds


@pytest.mark.parametrize("method", ["average", "ward", "centroid"])
def test_labels_are_those_of_the_cut(method):
    merges = hierarchy.linkage(X, method)
    for k in (1, 3, 7):
        labels = hierarchy.fcluster(merges, k, "maxclust")
        if len(set(labels)) < k:
            continue
        assert linked(merges, method, labels=labels, n_clusters=k).holds
        assert not linked(merges, method, labels=labels, n_clusters=k + 1).holds
        moved = labels.copy()
        moved[0] = labels.max() + 1
        assert not linked(merges, method, labels=moved, n_clusters=k).holds
    height = (merges[-3, 2] + merges[-2, 2]) / 2
    labels = hierarchy.fcluster(merges, height, "distance")
    assert linked(merges, method, labels=labels, threshold=height).holds
    assert not linked(merges, method, labels=labels, threshold=merges[-1, 2] * 1.1).holds


def test_distances_that_were_given_square_or_condensed():
    merges, D = hierarchy.linkage(X, "average"), squareform(pdist(X))
    assert linked(merges, "average", D, Precomputed()).holds
    assert linked(merges, "average", pdist(X)[:, None], Precomputed()).holds
    D[3, 4] *= 1.01
    assert not linked(merges, "average", D, Precomputed()).holds


def test_more_rows_than_fit_into_memory_are_refused():
    with pytest.raises(MemoryError, match="4,096"):
        linked(np.zeros((5000, 4)), "single", np.zeros((5001, 1)))


MODELS = [
    AgglomerativeClustering(n_clusters=3, linkage="ward"),
    AgglomerativeClustering(n_clusters=3, linkage="average", metric="cosine"),
    AgglomerativeClustering(n_clusters=None, distance_threshold=2.0, linkage="complete"),
    AgglomerativeClustering(n_clusters=4, linkage="single", metric="manhattan"),
    AgglomerativeClustering(n_clusters=4, linkage="centroid"),
    AgglomerativeClustering(n_clusters=4, linkage="median"),
    AgglomerativeClustering(n_clusters=4, linkage="weighted", metric="chebyshev"),
    DivisiveClustering(n_clusters=3),
    DivisiveClustering(n_clusters=5, metric="manhattan"),
    sk.AgglomerativeClustering(n_clusters=3),
    sk.AgglomerativeClustering(n_clusters=3, linkage="average", compute_distances=True),
]


@pytest.mark.parametrize("model", MODELS)
def test_the_page_agrees_with_the_proof(model):
    c = verify(model.fit(X), X)
    claim = page(c)
    assert claim.holds
    assert c.certified
    assert claim.objective == c.objective == 0
    merges = c.parameters["merges"]
    if merges.shape[1] > 2:
        for share in (1.01, 0.99):
            edited = merges.copy()
            edited[n // 2, 2] *= share
            assert not page(c, merges=edited).holds
    assert not page(c, rows=np.roll(X, 1, axis=0)).holds
    labels = c.parameters["labels"].copy()
    labels[[0, 25]] = labels[[25, 0]]
    assert not page(c, labels=labels).holds


@pytest.mark.parametrize("absolute", [True, False])
def test_columns_and_their_representatives(absolute):
    Z = rng.normal(size=(30, 3))
    Z = np.hstack([Z, -Z + 0.3 * rng.normal(size=Z.shape), Z + 0.3 * rng.normal(size=Z.shape)])
    model = VariableClustering(n_clusters=3, absolute=absolute).fit(Z)
    c = verify(model, Z)
    assert page(c, rows=Z).holds
    assert c.certified
    found, labels = c.parameters["representatives"], c.parameters["labels"]
    other = found.copy()
    label = int(np.argmax(np.bincount(labels)))
    other[label] = next(l for l in np.flatnonzero(labels == label) if l != found[label])
    assert page(c, rows=Z, representatives=other).miss == 1


@pytest.mark.parametrize("link", list(adaptor.LINKS.values()))
def test_there_are_at_most_80_lines_to_read(link):
    longest = Absolute(Correlation())
    assert lines_to_read([PageCall("linkage", NoTargets(), {"a": longest, "b": link})]) <= 80
    assert lines_to_read([PageCall("diana", NoTargets(), {"a": longest})]) <= 80
    assert lines_to_read([PageCall("neighbors", NoTargets(), {"a": longest})]) <= 80


def literal_split(D):
    rest, S = list(range(len(D))), []
    while len(rest) > 1:
        gains = []
        for i in rest:
            others = [D[i, k] for k in rest if k != i]
            gains.append(sum(others) / len(others) - (np.mean([D[i, k] for k in S]) if S else 0.0))
        if S and max(gains) <= 0:
            break
        S.append(rest.pop(int(np.argmax(gains))))
    return set(S)


def test_a_split_is_accepted_only_if_loops_split_so():
    D = squareform(pdist(X[:7]))
    right = literal_split(D)
    accepted = []
    for code in range(1, 2**7 - 1):
        S = np.array([bool(code >> i & 1) for i in range(7)])
        if diana.splits(D, S, 1e-9, True):
            accepted.append(set(np.flatnonzero(S).tolist()))
    assert accepted == [right]


def test_a_function_of_the_users_has_no_page():
    model = AgglomerativeClustering(n_clusters=3).fit(X)
    p = {**model.certificate_.parameters, "metric": None}
    assert list(adaptor.linkage(p, None)) == list(adaptor.diana(p, None)) == []
