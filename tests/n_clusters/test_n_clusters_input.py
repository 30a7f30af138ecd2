"""What choose_n_clusters takes, and what it refuses by name."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

import certus
from certus.cluster import NClustersResult, choose_n_clusters
from tests.n_clusters.n_clusters_cases import QUICK, SMALL, THREE, X0, blobs

REFUSED = [
    ({"X": np.where(np.eye(12, 2), np.nan, X0)}, ValueError, "missing value"),
    ({"X": sparse.csr_array(X0)}, TypeError, "choose_n_clusters needs a dense array"),
    ({"X": np.array([["a", 1], ["b", 2]], dtype=object)}, ValueError, "column 0 of X holds text"),
    ({"X": X0 * 1e300}, ValueError, "squares of that are out of range"),
    ({"X": X0 * 1e-200}, ValueError, "squares of that are out of range"),
    ({"ks": []}, ValueError, "give whole numbers of clusters, such as range"),
    ({"ks": [1.5]}, ValueError, "give whole numbers of clusters"),
    ({"ks": "many"}, ValueError, "ks holds something that is no number"),
    ({"ks": [0, 1]}, ValueError, "ks holds 0: at least 1 cluster is needed"),
    ({"ks": [13, 14]}, ValueError, "X holds 12 different rows, and the least of ks is 13"),
    ({"methods": []}, ValueError, "methods is empty"),
    ({"methods": ["silhouete"]}, ValueError, "Did you mean 'silhouette'"),
    ({"n_references": 1}, ValueError, "give at least 2"),
    ({"n_references": 0}, ValueError, "n_references=0: give a whole number above 0"),
    ({"n_resamples": 2.5}, ValueError, "n_resamples=2.5"),
    ({"max_rows": 0}, ValueError, "max_rows=0"),
    ({"confidence": 95}, ValueError, "confidence=95: give a share between 0 and 1"),
    ({"threads": 0}, ValueError, "threads=0"),
    ({"sample_weight": -np.ones(12)}, ValueError, "Negative values"),
    ({"sample_weight": np.zeros(12)}, ValueError, "all are 0"),
    ({"estimator": KMeans}, TypeError, "give a clusterer, such as KMeans"),
    ({"estimator": certus.linear_model.Ridge()}, TypeError, "Ridge has no parameter n_clusters"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "kind", "words"), REFUSED, ids=[str(i) for i in range(22)])
def test_what_cannot_be_is_refused_by_name(given, kind, words):
    queried = {"X": X0, "ks": [1, 2], "random_state": 0, **SMALL, **given}
    with pytest.raises(kind, match=words):
        choose_n_clusters(**queried)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_very_few_rows_have_an_answer(n):
    choice = choose_n_clusters(X0[:n], random_state=0, **SMALL)
    assert choice.ks[-1] == n
    assert isinstance(choice, NClustersResult)
    assert choice.explain()


def test_frames_are_taken():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs(0, THREE, n=45), columns=["a", "b"])
    assert choose_n_clusters(frame, range(1, 5), random_state=0, **QUICK).n_clusters == 3
    frame.loc[3, "b"] = np.nan
    with pytest.raises(ValueError, match="column 'b' has 1 missing value"):
        choose_n_clusters(frame, **SMALL)
