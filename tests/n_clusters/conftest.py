"""Iris, and what choose_n_clusters says of it."""

import pytest
from sklearn.datasets import load_iris

from certus.cluster import choose_n_clusters
from tests.n_clusters.n_clusters_cases import QUICK


@pytest.fixture(scope="module")
def iris():
    X = load_iris().data
    return X, choose_n_clusters(X, range(1, 6), random_state=0, **QUICK)
