"""Clusters of columns, and the column that represents each."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

import certus
from certus.cluster import VariableClustering
from certus.exceptions import DegenerateWarning
from tests.linkage.tree_cases import same_clusters


def table(seed=0, n=200):
    """Four columns from each of three sources, some with the sign reversed, in various units."""
    rng = np.random.default_rng(seed)
    sources = rng.normal(size=(n, 3))
    X = np.repeat(sources, 4, axis=1) + 0.3 * rng.normal(size=(n, 12))
    return X * rng.choice([-1, 1], 12) * 10.0 ** rng.integers(-3, 4, 12) + rng.normal(size=12)


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("linkage", ["single", "complete", "average", "weighted"])
def test_the_tree_is_scipys_of_one_minus_correlation(absolute, linkage):
    X = table()
    c = np.corrcoef(X.T)
    D = 1 - (np.abs(c) if absolute else c)
    np.fill_diagonal(D, 0)
    theirs = hierarchy.linkage(squareform(D, checks=False), linkage)
    model = VariableClustering(3, absolute=absolute, linkage=linkage).fit(X)
    np.testing.assert_allclose(model.tree_.heights, theirs[:, 2], rtol=1e-9)
    assert same_clusters(model.labels_, hierarchy.fcluster(theirs, 3, "maxclust"))
    assert model.certificate_.status == "exact"
    assert certus.verify(model, X).certified


def test_cosines_are_taken_without_means():
    X = table()
    unit = X / np.linalg.norm(X, axis=0)
    D = 1 - np.abs(unit.T @ unit)
    np.fill_diagonal(D, 0)
    theirs = hierarchy.linkage(squareform(np.maximum(D, 0), checks=False), "average")
    model = VariableClustering(metric="cosine").fit(X)
    np.testing.assert_allclose(model.tree_.heights, theirs[:, 2], rtol=1e-7, atol=1e-12)
    assert model.certificate_.certified


def test_sources_are_found_in_any_unit_and_direction():
    X = table()
    model = VariableClustering(3).fit(X)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], 4))
    changed = VariableClustering(3).fit(X * -(10.0 ** np.arange(-6, 6)) + 5)
    np.testing.assert_array_equal(changed.labels_, model.labels_)
    np.testing.assert_array_equal(changed.representatives_, model.representatives_)


def test_a_representative_has_the_largest_mean_similarity():
    X = table(1)
    model = VariableClustering(3).fit(X)
    c = np.abs(np.corrcoef(X.T))
    for label, chosen in enumerate(model.representatives_):
        own = np.flatnonzero(model.labels_ == label)
        mean = [c[i, own[own != i]].mean() for i in own]
        assert chosen == own[np.argmax(mean)]


def test_of_equally_similar_columns_the_first_represents():
    x = np.arange(10.0)
    model = VariableClustering(1).fit(np.column_stack([x, 2 * x, -x]))
    assert model.representatives_.tolist() == [0]


def test_transform_gives_the_representatives():
    frame = pd.DataFrame(table(), columns=[f"c{j}" for j in range(12)])
    model = VariableClustering(3).set_output(transform="pandas").fit(frame)
    out = model.transform(frame)
    chosen = [f"c{j}" for j in model.representatives_]
    assert list(out.columns) == chosen
    np.testing.assert_array_equal(out, frame[chosen])
    np.testing.assert_array_equal(model.tree_.names, frame.columns)


def test_means_are_of_columns_made_alike():
    X = table()
    model = VariableClustering(3, representation="mean").fit(X)
    out = model.transform(X)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    c = np.corrcoef(X.T)
    for label, chosen in enumerate(model.representatives_):
        own = np.flatnonzero(model.labels_ == label)
        expected = (z[:, own] * np.sign(c[own, chosen])).mean(axis=1)
        np.testing.assert_allclose(out[:, label], expected, atol=1e-12)
    assert model.get_feature_names_out().tolist() == [f"variableclustering{c}" for c in range(3)]


def test_a_signed_mean_turns_nothing_round():
    model = VariableClustering(2, absolute=False).fit(table())
    assert (model.signs_ == 1).all()


def test_constant_columns_are_named_and_stand_apart():
    frame = pd.DataFrame(table(), columns=[f"c{j}" for j in range(12)])
    frame["still"] = 3.0
    with pytest.warns(DegenerateWarning) as reported:
        model = VariableClustering(4).fit(frame)
    assert str(reported[0].message) == (
        "1 column constant ('still'): at correlation distance 1 from every column that has a "
        "direction. Drop what does not vary"
    )
    assert reported[0].filename == __file__
    assert (model.labels_[:12] != model.labels_[12]).all()
    mean = VariableClustering(4, representation="mean")
    with pytest.warns(DegenerateWarning):
        assert np.isfinite(mean.fit_transform(frame)).all()


def test_the_columns_of_a_microarray_are_clustered_and_certified():
    """72 raw rows and many columns: the tree of 1,500 columns is SciPy's."""
    rng = np.random.default_rng(0)
    X = 10.0 ** rng.uniform(0, 4, 1500) * (rng.normal(size=(72, 1500)) + rng.uniform(0, 5, 1500))
    model = VariableClustering(20).fit(X)
    D = 1 - np.abs(np.corrcoef(X.T))
    np.fill_diagonal(D, 0)
    theirs = hierarchy.linkage(squareform(D, checks=False), "average")
    np.testing.assert_allclose(model.tree_.heights, theirs[:, 2], rtol=1e-9)
    assert model.certificate_.certified


def test_the_cut_is_by_number_or_threshold():
    model = VariableClustering(None, distance_threshold=0.5).fit(table())
    assert model.n_clusters_ == 3
    with pytest.raises(ValueError, match="Exactly one of n_clusters and distance_threshold"):
        VariableClustering(2, distance_threshold=0.5).fit(table())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 13},
         "n_features=12 should be >= n_clusters=13: ask for at most 12 clusters"),
        ({"metric": "euclidean"}, "metric='euclidean': give one of 'correlation', 'cosine'"),
        ({"linkage": "ward"}, "linkage='ward': give one of 'single', 'complete', 'average', "
         "'weighted'"),
        ({"representation": "median"}, "representation='median': give one of 'column', 'mean'. Did "
         "you mean 'mean'?"),
        ({"absolute": 1}, "absolute=1: give True or False"),
    ],
)  # fmt: skip
def test_a_parameter_that_cannot_be_is_named(parameters, message):
    with pytest.raises(ValueError) as error:
        VariableClustering(**parameters).fit(table())
    assert str(error.value) == message


def test_one_row_tells_nothing_of_columns():
    with pytest.raises(ValueError, match="n_samples=1: columns are compared over two rows or more"):
        VariableClustering().fit([[1.0, 2.0, 3.0]])


def test_a_model_that_was_changed_is_refused():
    X = table()
    model = VariableClustering(3).fit(X)
    model.tree_.merges[3, 2] *= 1.01
    assert not certus.verify(model, X).certified
