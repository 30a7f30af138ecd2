"""Starts of EM from k-means: as far as EM needs it, and no farther."""

import numpy as np

from certus.data.rows import Rows
from certus.solvers.kmeans import lloyd
from certus.solvers.kmeans.starts import plus_plus
from certus.solvers.mixture import starts


def test_kmeans_of_a_start_ends_before_its_fixed_point():
    rows = Rows(np.random.default_rng(0).normal(size=(3000, 4)))
    loose = starts._loose_kmeans(rows, 6, np.random.RandomState(0))
    start = plus_plus(rows, 6, np.random.RandomState(0))[0]
    exact = lloyd(rows, start)
    assert exact.converged
    assert loose.n_iter < exact.n_iter
    assert loose.objective <= 1.001 * exact.objective


def test_labels_of_a_start_are_the_nearest_centers_of_kmeans():
    X = np.random.default_rng(1).normal(size=(500, 3))
    labels = starts.by_kmeans(Rows(X), 4, np.random.RandomState(0))
    C = starts._loose_kmeans(Rows(X), 4, np.random.RandomState(0)).centers
    distances = ((X[:, None] - C) ** 2).sum(axis=2)
    assert np.array_equal(labels, distances.argmin(axis=1))
