"""Trees: cuts, members, new rows and distances in them, beside SciPy's."""

import copy
import pickle
import warnings
from html import escape

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist, pdist, squareform

from certus.cluster import Tree
from certus.exceptions import DegenerateWarning
from tests.linkage.tree_cases import INVERTED, METHODS, chain, rows, same_clusters, scipy_tree

each_method = pytest.mark.parametrize("method", METHODS)

# --- shape ----------------------------------------------------------------------------------------


@each_method
def test_leaves_stand_in_scipys_order(method):
    Z, _ = scipy_tree(1, method)
    np.testing.assert_array_equal(Tree(Z).order, hierarchy.leaves_list(Z))


@each_method
def test_members_are_the_leaves_below(method):
    Z, _ = scipy_tree(2, method, n=20)
    tree = Tree(Z)
    _, nodes = hierarchy.to_tree(Z, rd=True)
    for node in nodes:
        assert tree.members(node.id).tolist() == node.pre_order()
        assert tree.sizes[node.id] == node.count


def test_a_chain_of_a_hundred_thousand_has_members_an_order_and_cuts():
    n = 100_000
    tree = Tree(chain(n))
    assert sorted(tree.members(2 * n - 2)) == list(range(n))
    assert np.bincount(tree.cut(3)).tolist() == [n - 2, 1, 1]
    assert len(tree.to_newick()) > n


def test_one_row_is_a_tree_without_merges():
    tree = Tree(np.empty((0, 4)), method="single", X=[[1.0, 2.0]])
    assert tree.n_leaves == 1
    assert tree.cut(1).tolist() == [0]
    assert tree.cut(height=0).tolist() == [0]
    assert tree.predict([[3.0, 4.0]], 1).tolist() == [0]
    assert tree.to_newick() == "0;"
    assert len(tree.cophenetic()) == 0
    assert repr(tree) == "Tree(single, 1 leaf)"
    assert np.isnan(tree.cophenetic_correlation())


def test_inversions_are_the_merges_below_one_of_their_parts():
    Z = hierarchy.linkage(INVERTED, "centroid")
    assert Tree(Z).inversions == [1]
    assert repr(Tree(Z, method="centroid")).endswith("1 inversion)")
    for method in ("single", "complete", "average", "weighted", "ward"):
        assert Tree(scipy_tree(3, method)[0]).inversions == []


# --- cuts -----------------------------------------------------------------------------------------


@each_method
@pytest.mark.parametrize("seed", range(5))
def test_a_cut_has_exactly_as_many_clusters_as_asked_for(method, seed):
    Z, X = scipy_tree(seed, method)
    tree = Tree(Z)
    for k in range(1, len(X) + 1):
        assert len(set(tree.cut(k).tolist())) == k


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted", "ward"])
def test_cuts_are_scipys_where_heights_differ_and_do_not_fall(method):
    Z, X = scipy_tree(4, method)
    tree = Tree(Z)
    for k in range(1, len(X) + 1):
        assert same_clusters(tree.cut(k), hierarchy.fcluster(Z, k, "maxclust"))
    for h in np.concatenate([Z[:, 2], Z[:, 2] + 1e-9, Z[:, 2] - 1e-9]):
        assert same_clusters(tree.cut(height=h), hierarchy.fcluster(Z, h, "distance"))


@pytest.mark.parametrize("method", ["centroid", "median"])
def test_a_cluster_counts_as_formed_at_the_highest_merge_inside_it(method):
    Z, _ = scipy_tree(5, method, n=60)
    assert Tree(Z).inversions
    for h in Z[:, 2]:
        assert same_clusters(Tree(Z).cut(height=h), hierarchy.fcluster(Z, h, "distance"))


def test_two_clusters_are_two_where_scipy_gives_one():
    Z = hierarchy.linkage(INVERTED, "centroid")
    assert len(set(hierarchy.fcluster(Z, 2, "maxclust"))) == 1
    assert Tree(Z).cut(2).tolist() == [0, 1, 0]
    assert Tree(Z).cut(height=0.9).tolist() == [0, 1, 2]  # no cluster has all its merges below
    assert Tree(Z).cut(height=1.0).tolist() == [0, 0, 0]


def test_labels_are_numbered_by_first_rows():
    tree = Tree([[1, 3, 1.0, 2], [0, 2, 2.0, 2], [4, 5, 3.0, 4]])
    assert tree.cut(2).tolist() == [0, 1, 0, 1]
    assert tree.cut(3).tolist() == [0, 1, 2, 1]


def test_a_cut_through_a_tie_is_called_arbitrary_and_still_has_the_number():
    tree = Tree([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 3.0, 4]])
    with pytest.warns(DegenerateWarning) as reported:
        assert len(set(tree.cut(3).tolist())) == 3
    assert str(reported[0].message) == (
        "merges 0, 1 have the same height, 1, and 3 clusters lie between them: which of these "
        "merges are undone is arbitrary. 2 and 4 clusters are not"
    )
    assert reported[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.cut(2), tree.cut(4), tree.cut(1), tree.cut(height=1.0)


def test_ties_by_rounding_are_ties():
    tree = Tree([[0, 1, 0.3, 2], [2, 3, 0.1 + 0.2, 2], [4, 5, 3.0, 4]])
    with pytest.warns(DegenerateWarning, match="same height"):
        tree.cut(3)


@pytest.mark.parametrize("k", [0, 5, -1, 2.0, True, "2"])
def test_a_number_of_clusters_that_cannot_be_is_refused(k):
    tree = Tree([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 3.0, 4]])
    with pytest.raises(ValueError) as error:
        tree.cut(k)
    assert str(error.value) == (
        f"n_clusters={k!r}: the tree has 4 leaves, so give a whole number from 1 to 4"
    )


@pytest.mark.parametrize("params", [{}, {"n_clusters": 2, "height": 1.0}])
def test_a_cut_is_by_number_or_by_height(params):
    with pytest.raises(ValueError, match="give either n_clusters or height"):
        Tree([[0, 1, 1.0, 2]]).cut(**params)
    with pytest.raises(ValueError, match="height=nan: give a number"):
        Tree([[0, 1, 1.0, 2]]).cut(height=np.nan)


# --- invalid merges -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ([[0, 1, 1.0]], "merges has shape (1, 3): give (n − 1, 4), in each row two clusters, the "
         "height at which they are joined and the size of what they make"),
        ([[0, 1, np.nan, 2]], "merge 0 holds [0, 1, nan, 2]: give finite numbers"),
        ([[0, 1.5, 1, 2]], "merge 0 is [0, 1.5, 1, 2]: clusters have whole numbers"),
        ([[0, 1, 1, 2], [2, 4, 2, 3]], "merge 1 is [2, 4, 2, 3]: it can join leaves 0 … 2 and what "
         "merges before it made (3 is merge 0)"),
        ([[0, 1, 1, 2], [1, 2, 2, 2]], "merge 1 is [1, 2, 2, 2]: cluster 1 was joined already, by "
         "merge 0"),
        ([[0, 1, 1, 2], [2, 2, 2, 2]], "merge 1 is [2, 2, 2, 2]: cluster 2 was joined already, by "
         "merge 1"),
        ([[0, 1, -1, 2]], "merge 0 is [0, 1, -1, 2]: a height is a distance, of at least 0"),
        ([[0, 1, 1, 2], [2, 3, 2, 4]], "merge 1 is [2, 3, 2, 4]: its size is not the sum of those "
         "of its two parts"),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused_by_its_merge(merges, message):
    with pytest.raises(ValueError) as error:
        Tree(merges)
    assert str(error.value) == message


def test_a_tree_does_not_change_what_it_was_given():
    Z, X = scipy_tree(6, "average")
    before = Z.copy()
    tree = Tree(Z, method="average", X=X)
    tree.cut(3), tree.predict(X, 3), tree.cophenetic()
    np.testing.assert_array_equal(Z, before)
    assert tree.X is X


# --- new rows -------------------------------------------------------------------------------------


def linkage_distance(method, D, D2, inside, tree, labels, c):
    """From every new row to cluster c, by the definition."""
    A = np.flatnonzero(labels == c)
    if method == "single":
        return D[:, A].min(axis=1)
    if method == "complete":
        return D[:, A].max(axis=1)
    if method == "average":
        return D[:, A].mean(axis=1)
    if method == "weighted":
        return _halved(D, tree, A)
    if method == "median":
        return _halved(D2, tree, A) - _halved_inside(inside, tree, A)
    to_center = D2[:, A].mean(axis=1) - inside[np.ix_(A, A)].mean() / 2
    return to_center * (2 * len(A) / (len(A) + 1) if method == "ward" else 1)


def _halved(D, tree, A):
    if len(A) == 1:
        return D[:, A[0]]
    cluster = next(c for c in range(2 * tree.n_leaves - 1) if set(tree.members(c)) == set(A))
    parts = tree.merges[cluster - tree.n_leaves, :2].astype(int)
    return sum(_halved(D, tree, tree.members(part)) for part in parts) / 2


def _halved_inside(inside, tree, A):
    return _halved(_halved(inside, tree, A)[None, :], tree, A)[0] / 2


@each_method
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_a_new_row_goes_to_the_cluster_with_the_least_linkage_distance(method, k):
    Z, X = scipy_tree(7, method, n=25)
    Q = rows(8, n=40)
    tree = Tree(Z, method=method, X=X)
    labels = tree.cut(k)
    D = cdist(Q, X)
    away = [linkage_distance(method, D, D**2, cdist(X, X) ** 2, tree, labels, c) for c in range(k)]
    expected = np.argmin(away, axis=0)
    np.testing.assert_array_equal(tree.predict(Q, k), expected)
    by_distances = Tree(Z, method=method, metric="precomputed", X=cdist(X, X))
    np.testing.assert_array_equal(by_distances.predict(D, k), expected)


def test_rows_far_from_the_origin_are_predicted_as_near_it():
    Z, X = scipy_tree(7, "ward")
    Q = rows(9)
    np.testing.assert_array_equal(
        Tree(Z, method="ward", X=X + 2.0**30).predict(Q + 2.0**30, 4),
        Tree(Z, method="ward", X=X).predict(Q, 4),
    )


@each_method
def test_many_new_rows_are_predicted_in_blocks(method, monkeypatch):
    Z, X = scipy_tree(7, method)
    Q = rows(9, n=50)
    whole = Tree(Z, method=method, X=X).predict(Q, 4)
    monkeypatch.setattr("certus.cluster._tree_nearest.BLOCK_DISTANCES", 64)
    np.testing.assert_array_equal(Tree(Z, method=method, X=X).predict(Q, 4), whole)


def test_columns_are_divided_by_the_scale_of_the_tree():
    X, Q = rows(1), rows(2)
    Z = hierarchy.linkage(X / [1, 10, 100], "average")
    tree = Tree(Z, method="average", X=X, scale=[1, 10, 100])
    direct = Tree(Z, method="average", X=X / [1, 10, 100])
    np.testing.assert_array_equal(tree.predict(Q, 3), direct.predict(Q / [1, 10, 100], 3))
    assert tree.cophenetic_correlation() == direct.cophenetic_correlation()


def test_what_a_prediction_needs_is_named():
    Z, X = scipy_tree(1, "average")
    with pytest.raises(ValueError, match=r"method=None has no rule for new rows: make the tree"):
        Tree(Z, X=X).predict(X, 2)
    with pytest.raises(ValueError, match=r"does not hold its rows: make it with Tree\(…, X=X\)"):
        Tree(Z, method="average").predict(X, 2)
    with pytest.raises(ValueError, match="X has 2 columns, the rows of the tree have 3"):
        Tree(Z, method="average", X=X).predict(X[:, :2], 2)
    with pytest.raises(ValueError, match="give the distances to all 30 rows of the tree"):
        Tree(Z, method="average", metric="precomputed", X=cdist(X, X)).predict(X, 2)


# --- leaves of several rows -----------------------------------------------------------------------


def test_leaves_can_hold_several_rows():
    tree = Tree([[0, 2, 1.0, 3], [1, 3, 5.0, 6]], rows=[1, 0, 0, 1, 2, 1], method="bisecting")
    assert tree.sizes.tolist() == [2, 3, 1, 3, 6]
    assert tree.members(3).tolist() == [1, 2, 4]
    assert tree.cut(2).tolist() == [0, 1, 1, 0, 1, 0]
    assert tree.cut(3).tolist() == [0, 1, 1, 0, 2, 0]
    joined = squareform(tree.cophenetic())
    assert joined[0].tolist() == [0, 5, 5, 0, 5, 0]
    assert joined[1].tolist() == [5, 0, 0, 5, 1, 5]
    assert repr(tree) == "Tree(bisecting, 3 leaves of 6 rows, heights 1 to 5)"
    with pytest.raises(ValueError, match="the model's own predict"):
        tree.predict([[0.0]], 2)
    with pytest.raises(ValueError, match="row 1 has leaf 3: leaves are 0 … 1"):
        Tree([[0, 1, 1.0, 2]], rows=[0, 3])


# --- distances in the tree ------------------------------------------------------------------------


@each_method
def test_cophenetic_distances_and_their_correlation_are_scipys(method):
    Z, X = scipy_tree(11, method)
    correlation, distances = hierarchy.cophenet(Z, pdist(X))
    tree = Tree(Z, method=method, X=X)
    np.testing.assert_array_equal(tree.cophenetic(), distances)
    for given in ((), (X,), (pdist(X),)):
        assert tree.cophenetic_correlation(*given) == pytest.approx(correlation, abs=1e-12)
    square = Tree(Z, metric="precomputed")
    assert square.cophenetic_correlation(cdist(X, X)) == pytest.approx(correlation, abs=1e-12)
    with pytest.raises(ValueError, match="X has 45 pairs of rows, the tree 435"):
        tree.cophenetic_correlation(X[:10])


# --- representations ------------------------------------------------------------------------------


def parsed(text):
    """Depth-first names and branch lengths of a Newick string without quotes."""
    inside = text.rstrip(";").replace("(", " ( ").replace(")", " ) ").replace(",", " ")
    return inside.split()


def test_newick_holds_every_branch(tmp_path):
    Z, _ = scipy_tree(1, "average", n=6)
    tree = Tree(Z)
    path = tmp_path / "tree.nwk"
    text = tree.to_newick(path)
    assert path.read_text() == text + "\n"
    assert list(tmp_path.iterdir()) == [path]
    words = parsed(text)
    assert [w.split(":")[0] for w in words if w[0] not in "():"] == [str(i) for i in tree.order]
    lengths = sum(float(w.split(":")[1]) for w in words if ":" in w)
    branches = 2 * Z[:, 2].sum() - Z[:-1, 2].sum()
    assert lengths == pytest.approx(branches)


def test_names_with_signs_of_the_format_are_quoted():
    tree = Tree([[0, 1, 1.0, 2]], names=["it's (a)", "b:c"])
    assert tree.to_newick() == "('it''s (a)':1,'b:c':1);"


def test_a_tree_tells_what_it_is_in_one_line_also_in_html():
    Z, _ = scipy_tree(1, "average")
    tree = Tree(Z, method="average", names=["<b>"] * 30)
    assert repr(tree).startswith("Tree(average, 30 leaves, heights 0.")
    assert escape(repr(tree)[5:-1]) in tree._repr_html_()
    with pytest.raises(ValueError, match=r"names has shape \(2,\): give one for each of 30 leaves"):
        Tree(Z, names=["a", "b"])


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_copy_cuts_the_same(copied):
    Z, X = scipy_tree(1, "average")
    tree = Tree(Z, method="average", X=X)
    np.testing.assert_array_equal(copied(tree).predict(X, 3), tree.predict(X, 3))
