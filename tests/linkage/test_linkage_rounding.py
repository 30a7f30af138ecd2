"""Trees of directions: distances far below 2⁻⁵² are distinguished, or declared equal.

The truth is 1 − cos in 50 digits.
"""

import mpmath as mp
import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from certus.certificate.data import Data
from certus.cluster import AgglomerativeClustering, DivisiveClustering, VariableClustering
from certus.data.rows import Rows
from certus.proofs.distances import paired
from certus.proofs.linkage import linkage as definition
from certus.proofs.linkage._row_distances import RowVectors

each_metric = pytest.mark.parametrize("metric", ["cosine", "correlation"])


def nearly_parallel(angle, n=12, p=5, seed=0):
    """Rows whose directions differ by about ``angle``."""
    rng = np.random.default_rng(seed)
    return np.outer(rng.uniform(1, 2, n), rng.normal(size=p)) * (
        1 + angle * rng.normal(size=(n, p))
    )


def truth(x, y, metric):
    x, y = ([mp.mpf(float(v)) for v in row] for row in (x, y))
    if metric == "correlation":
        x, y = ([a - sum(row) / len(row) for a in row] for row in (x, y))
    lengths = (mp.sqrt(sum(a * a for a in row)) for row in (x, y))
    return 1 - sum(a * b for a, b in zip(x, y, strict=True)) / mp.fprod(lengths)


@each_metric
@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-8])
def test_what_rounding_does_to_a_direction_is_bounded(metric, angle):
    X = nearly_parallel(angle)
    rows = RowVectors(X, np.arange(len(X)), metric, {}, None, False)
    D = rows.block(0, len(X))
    assert (paired(X[:, None], X[None], metric) == D).all()
    with mp.workdps(50):
        for i in range(1, len(X)):
            true = truth(X[0], X[i], metric)
            assert abs(mp.mpf(float(D[0, i])) - true) <= rows.rounding(D[0, i])


@each_metric
def test_a_tree_of_other_rows_is_not_excused_by_the_rounding_of_a_cosine(metric):
    """Heights of 1e-15, all wrong by a factor: less than 64·2⁻⁵², and not right."""
    X = nearly_parallel(1e-7)
    Z = linkage(X, "average", metric)
    Z[:, 2] = np.sort(np.abs(Z[:, 2])) + 2e-15
    result = definition.check(Data(Rows(X)), Z, method="average", metric=metric, ours=True)
    assert result["wrong"]
    others = definition.check(Data(Rows(X)), Z, method="average", metric=metric, ours=False)
    assert others["equal_below"] > 1e-15


@each_metric
@pytest.mark.parametrize("angle", [1e-3, 1e-7, 1e-9])
@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_our_trees_hold_the_digits_of_small_angles(metric, angle, linkage):
    X = nearly_parallel(angle, seed=1)
    X[::3] *= -1
    model = AgglomerativeClustering(2, metric=metric, linkage=linkage).fit(X)
    assert model.certificate_.certified
    assert DivisiveClustering(2, metric=metric).fit(X).certificate_.certified
    columns = VariableClustering(2, metric=metric, linkage=linkage).fit(X.T)
    assert columns.certificate_.certified
    # columns that mirror each other are as near as they are parallel
    assert columns.tree_.merges[:, 2].max() < 10 * angle**2


def test_what_is_taken_for_a_tie_is_stated():
    X = nearly_parallel(1e-3)
    message = AgglomerativeClustering(2, metric="cosine", linkage="average").fit(X)
    assert "distances that differ by less than" in message.certificate_.explain()
