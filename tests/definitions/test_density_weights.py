"""Density weights, by a literal loop, and those that certus gives."""

import inspect

import numpy as np
import pytest

from certus.definitions import density_weights as page
from certus.definitions.terms.density_weights import DensityWeights
from certus.proofs.lssvm.density import density_of
from certus.svm import density_weights
from tests.definitions.lines import n_lines
from tests.definitions.machine_cases import blobs


def literal(X, k):
    """d, with Python's lists."""
    n = len(X)
    r = []
    for i in range(n):
        others = sorted(np.sqrt(((X[i] - X[j]) ** 2).sum()) for j in range(n) if j != i)
        r.append(others[k - 1])
    return np.array([1 - one / max(r) for one in r])


@pytest.mark.parametrize("k", [1, 5, 19])
def test_weights_are_those_of_a_literal_loop_and_of_the_proof(k):
    X, y = blobs(k)
    X[7] = X[3]  # copies are each other's neighbours
    d = DensityWeights(k)(X)
    np.testing.assert_allclose(d, literal(X, k), atol=1e-14)
    np.testing.assert_allclose(d, density_of(X, k), atol=1e-14)
    by_class = DensityWeights(k, by_class=True)(X, y)
    for c in (0, 1):
        np.testing.assert_allclose(by_class[y == c], literal(X[y == c], k), atol=1e-14)
    assert d.min() == 0 == by_class[y == 1].min()


def test_classes_may_be_numbers_or_columns_of_signs():
    X, y = blobs(3, classes=3)
    columns = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    by_class = DensityWeights(4, by_class=True)
    assert np.array_equal(by_class(X, y), by_class(X, columns))


def test_rows_that_lie_equally_far_apart_weigh_one():
    grid = 0.1 * np.arange(6.0)[:, None]  # rounded: the distances differ in their last digits
    assert DensityWeights(1)(grid).tolist() == [1.0] * 6
    assert DensityWeights(3, by_class=True)(grid[:1], np.zeros(1)).tolist() == [1.0]


def test_the_weights_of_certus_are_exact_and_others_are_refused():
    X, y = blobs(2)
    s = np.ones(len(X))
    for labels in (None, y):
        d = density_weights(X, 5, y=labels)
        how = {"k": 5, "by_class": labels is not None}
        claim = page.check(X, y, s, d=d, **how)
        assert (claim.kind, claim.holds, claim.bound) == ("exact", True, None)
        assert claim.objective == pytest.approx(d.sum())
        assert claim.miss <= 1e-13
        assert not page.check(X, y, s, d=d, k=6, by_class=how["by_class"]).holds
        assert not page.check(X, y, s, d=d, k=5, by_class=not how["by_class"]).holds
        assert not page.check(X, y, s, d=np.roll(d, 1), **how).holds
        one = d.copy()
        one[3] *= 0.99
        assert not page.check(X, y, s, d=one, **how).holds
        one[3] = np.nan
        assert not page.check(X, y, s, d=one, **how).holds


def test_the_term_has_at_most_fifteen_lines():
    assert n_lines(inspect.getsource(DensityWeights)) <= 15
