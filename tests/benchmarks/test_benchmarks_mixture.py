"""Benchmarks of mixtures: one start for all, and answers judged by plain NumPy.

Nothing here looks at how long anything takes.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks is no installed package

from benchmarks.generators import gaussians
from benchmarks.mixture_peers import certus_peer, sklearn_peer
from benchmarks.suites import mixture

X, Y = gaussians(3, 600, 3, 0, np.dtype("float64"), "C")  # as many columns as components
ROWS = {row.params["covariance_type"]: row for row in mixture.SUITE.rows}


@pytest.mark.parametrize("name", ["full", "tied", "diag", "spherical"])
def test_the_same_steps_lead_to_the_same_place(name):
    F = mixture.minus_log_likelihood(ROWS[name], X, Y)
    ours = certus_peer.Steps(3, 4, name).fit(X, Y)
    theirs = sklearn_peer.Steps(3, 4, name).fit(X, Y)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(F(ours), F(theirs), rtol=1e-5)


@pytest.mark.parametrize("name", ["full", "tied", "diag", "spherical"])
def test_the_objective_is_the_mean_log_density(name):
    model = GaussianMixture(3, covariance_type=name, random_state=0).fit(X)
    F = mixture.minus_log_likelihood(ROWS[name], X, Y)
    np.testing.assert_allclose(F(model), -model.score(X), rtol=1e-9)


def test_rows_say_what_is_asked_of_the_library():
    rows = {row.name: row for row in mixture.SUITE.rows}
    assert rows["p=16 k=16 full 20 steps"].n == 200_000
    assert rows["p=64 k=32 full 20 steps"].params["k"] == 32
    assert all(row.tol == 0.0 for row in mixture.SUITE.rows)
