"""The page of HDBSCAN: spanning trees that are minimal and clusters with most mass, or not."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import HDBSCAN

import certus
from certus.certificate.data import Data
from certus.certificate.pages import neighbors as adaptor
from certus.certificate.pages.lines import lines_to_read
from certus.certificate.pages.problem import PageCall
from certus.data.rows import Rows
from certus.definitions import spanning_tree as page
from certus.definitions.terms.distances import Correlation, Euclidean
from certus.definitions.terms.targets import NoTargets
from certus.proofs.linkage import spanning_tree as proof

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(25, 2)) + center for center in ([0, 0], [6, 0], [3, 7])])
n = len(X)


def reachability(k, rows=X):
    D = squareform(pdist(rows))
    core = np.sort(D, axis=1)[:, k - 1]
    M = np.maximum(D, np.maximum.outer(core, core))
    np.fill_diagonal(M, 0.0)
    return M


def spanning(M):
    """(merges, edges) of SciPy's minimum spanning tree."""
    T = minimum_spanning_tree(M).tocoo()
    edges = np.column_stack([T.row, T.col, T.data])[np.argsort(T.data)]
    at, size, merges = list(range(len(M))), [1] * len(M), []
    for t, (i, j, w) in enumerate(edges):
        a, b = at[int(i)], at[int(j)]
        size.append(size[a] + size[b])
        merges.append([a, b, w, size[-1]])
        at = [len(M) + t if c in (a, b) else c for c in at]
    return np.array(merges), edges


def both(rows=X, **claim):
    """Whether the page and the proof accept a claim; they must agree."""
    by_page = page.check(rows, None, np.ones(len(rows)), distance=Euclidean(), **claim).holds
    by_proof = proof.check(Data(Rows(rows, None, None)), **claim)
    assert by_page == (by_proof["objective"] == 0), by_proof["wrong"]
    return by_page


@pytest.mark.parametrize("k", [1, 3, 8])
def test_a_minimum_spanning_tree_of_scipy_is_accepted_and_no_other(k):
    M = reachability(k)
    merges, edges = spanning(M)
    assert both(merges=merges, edges=edges, k=k)
    assert not both(merges=merges, edges=edges, k=k + 2)
    assert not both(merges=merges, edges=edges, k=k, alpha=0.5)
    assert not both(np.roll(X, 1, axis=0), merges=merges, edges=edges, k=k)


def test_an_edge_that_is_swapped_for_a_longer_one_is_found():
    M = reachability(3)
    merges, edges = spanning(M)
    for t in (0, 20, n - 2):
        rest = np.delete(edges, t, axis=0)
        place = np.arange(n)
        for i, j, _ in rest:
            place[place == place[int(j)]] = place[int(i)]
        A, B = (np.flatnonzero(side) for side in (place == place[0], place != place[0]))
        i, j = A[-1], B[-1]
        assert M[i, j] > edges[t, 2]
        other = np.vstack([rest, [i, j, M[i, j]]])
        assert not both(merges=merges, edges=other, k=3)
        # the hierarchy of the longer tree is refused as well
        longer = other[np.argsort(other[:, 2])]
        T = np.zeros_like(M)
        T[longer[:, 0].astype(int), longer[:, 1].astype(int)] = longer[:, 2]
        assert not both(merges=spanning(T)[0], k=3)


def test_edges_that_are_no_spanning_tree_are_found():
    merges, edges = spanning(reachability(3))
    twice = edges.copy()
    twice[5] = twice[4]
    assert not both(merges=merges, edges=twice, k=3)
    assert not both(merges=merges, edges=edges[1:], k=3)
    shorter = edges.copy()
    shorter[5, 2] *= 0.999
    assert not both(merges=merges, edges=shorter, k=3)


def test_merges_that_are_no_tree_are_refused():
    merges, _ = spanning(reachability(3))
    for t, column, value in ((3, 0, 2 * n), (3, 1, 0), (9, 3, 99), (9, 2, np.nan), (9, 2, 0.0)):
        broken = merges.copy()
        broken[t, column] = value
        assert not both(merges=broken, k=3)
    assert not both(merges=merges[1:], k=3)


def test_rows_of_a_tie_that_touch_only_through_others_are_accepted():
    """Two rows at distance 2 are joined at 1 before the row between them: the cut at 1 is right."""
    line = np.array([[0.0], [1.0], [2.0]])
    merges = np.array([[0, 2, 1.0, 2], [1, 3, 1.0, 3]])
    assert both(line, merges=merges)
    ties = proof.check(Data(Rows(line, None, None)), merges)["ties"]
    assert ties == 1
    assert not both(np.array([[0.0], [1.0], [2.5]]), merges=merges)


def literal_choice(merges, least_size):
    """The disjoint clusters below the root with the largest sum of masses, by trying all."""
    members = [{i} for i in range(n)]
    for a, b, *_ in merges:
        members.append(members[int(a)] | members[int(b)])
    height = {n + t: h for t, h in enumerate(merges[:, 2])}
    parent = {int(c): n + t for t, merge in enumerate(merges) for c in merge[:2]}
    big = [c for c in range(2 * n - 2) if len(members[c]) >= least_size]
    sibling = {int(a): int(b) for m in merges for a, b in (m[:2], m[1::-1])}
    starts = [c for c in big if len(members[sibling[c]]) >= least_size]

    def mass(c):
        """Σ over rows of 1/height at which a row leaves, minus 1/height at which all begin."""
        total, inner = 0.0, [d for d in starts if members[d] < members[c]]
        for node in members[c]:
            while len(members[node]) < least_size or any(
                members[node] <= members[d] for d in inner
            ):
                node = parent[node]
            total += 1 / height[node]
        return total - len(members[c]) / height[parent[c]]

    def best(c):
        inner = [d for d in starts if members[d] < members[c]]
        tops = [d for d in inner if not any(members[d] < members[e] for e in inner)]
        below = [best(d) for d in tops]
        value, chosen = sum(v for v, _ in below), [d for _, some in below for d in some]
        own = mass(c) if c != 2 * n - 2 else -np.inf
        return (own, [c]) if own >= value else (value, chosen)

    return {frozenset(members[c]) for c in best(2 * n - 2)[1]}


@pytest.mark.parametrize("least_size", [3, 5, 10])
def test_the_clusters_accepted_are_those_with_most_mass(least_size):
    k = 3
    merges, _ = spanning(reachability(k))
    model = HDBSCAN(min_cluster_size=least_size, min_samples=k, copy=True).fit(X)
    claim = {"merges": merges, "k": k, "least_size": least_size}
    claim["probabilities"] = model.probabilities_
    labels = model.labels_
    sets = {frozenset(np.flatnonzero(labels == c).tolist()) for c in range(labels.max() + 1)}
    assert sets == literal_choice(merges, least_size)
    assert both(labels=labels, **claim)
    assert both(labels=np.where(labels < 0, -1, labels.max() - labels), **claim)
    assert not both(labels=labels, leaves=True, most_size=0, **{**claim, "least_size": n})
    for other in (
        np.where(labels == labels.max(), -1, labels),
        np.where(labels == labels.max(), 0, labels),
        np.where(np.arange(n) == np.argmax(labels == 0), -1, labels),
        np.zeros(n, dtype=int),
        np.full(n, -1),
    ):
        assert not both(labels=other, **claim)
    claim["probabilities"] = model.probabilities_ + np.where(np.arange(n) == 7, 1e-3, 0.0)
    assert not both(labels=labels, **claim)


def test_page_and_proof_agree_on_many_models_and_on_edits():
    for seed in range(12):
        draw = np.random.default_rng(seed)
        rows = draw.normal(size=(60, 2)) + 5 * draw.integers(0, 3, size=(60, 1))
        rows = np.rint(2 * rows) if seed % 4 == 0 else rows  # ties, and rows that are repeated
        model = HDBSCAN(
            min_cluster_size=int(draw.integers(2, 7)), max_cluster_size=[None, 15][seed % 2],
            cluster_selection_method=["eom", "leaf"][seed % 3 == 0],
            algorithm=["auto", "brute"][seed % 3 == 1], copy=True,
        ).fit(rows)  # fmt: skip
        c = certus.verify(model, rows)
        assert c.certified
        assert certus.verify(model, rows, by="page").certified
        names = (*page.check.__kwdefaults__, "merges")
        claim = {name: c.parameters[name] for name in names if name in c.parameters}
        for name, value in (("k", 2), ("least_size", 8), ("most_size", 7), ("leaves", True)):
            both(rows, **{**claim, name: value})


def test_more_rows_than_fit_into_memory_are_refused():
    with pytest.raises(MemoryError, match="4,096"):
        page.check(
            np.zeros((5000, 1)), None, None, merges=np.zeros((4999, 4)), distance=Euclidean()
        )


def test_there_are_at_most_80_lines_to_read():
    problem = PageCall("spanning_tree", NoTargets(), {"distance": Correlation()})
    assert lines_to_read([problem]) <= 80


def test_a_function_of_the_users_has_no_page():
    assert list(adaptor.spanning_tree({"metric": None}, None)) == []
