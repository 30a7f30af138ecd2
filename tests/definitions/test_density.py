"""The page of densities, against exact volumes and ``certus.neighbors.density``."""

import math

import numpy as np
import pytest

from certus.definitions import density as page
from certus.exceptions import DegenerateWarning
from certus.neighbors import density

METRICS = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": math.inf}


def rows(seed=0, n=40, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(3, size=n)


def check(found, X, y=None, Q=None, p=2.0, **changed):
    claims = {"log_density": found.log_density, "k": found.k}
    if y is not None:
        claims |= {"counts": found.class_counts, "log_class": found.log_class_density}
    return page.check(X, y, np.ones(len(X)), Q=Q, p=p, **{**claims, **changed})


def test_volumes_of_balls_are_those_of_geometry():
    for d, p, volume in [
        (1, 2.0, 2.0), (2, 2.0, math.pi), (3, 2.0, 4 / 3 * math.pi), (4, 2.0, math.pi**2 / 2),
        (2, 1.0, 2.0), (3, 1.0, 4 / 3), (3, math.inf, 8.0),
    ]:  # fmt: skip
        assert page.log_volume(1.0, d, p) == pytest.approx(math.log(volume), abs=1e-14)
        assert page.log_volume(0.5, d, p) == pytest.approx(math.log(volume / 2**d), abs=1e-14)
    assert page.log_volume(0.0, 3, 2.0) == -math.inf


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("at_rows", [True, False])
def test_densities_of_certus_are_exact(metric, at_rows):
    X, y = rows()
    Q, p = None if at_rows else rows(1, n=10)[0], METRICS[metric]
    found = density(X, Q, k=7, y=y, metric=metric)
    claim = check(found, X, y, Q, p)
    assert (claim.kind, claim.holds) == ("exact", True)
    assert claim.miss <= 1e-11
    assert claim.objective == pytest.approx(found.log_density.sum())
    for wrong in (
        {"k": 8}, {"p": 3.0}, {"log_density": found.log_density + 0.01},
        {"log_class": found.log_class_density + 0.01}, {"counts": np.roll(found.class_counts, 1)},
        {"log_density": np.where(np.arange(len(found.radius)) == 3, np.nan, found.log_density)},
    ):  # fmt: skip
        assert not check(found, X, y, **{"Q": Q, "p": p, **wrong}).holds
    assert not check(found, np.roll(X, 1, axis=1) * [1.0, 1.1, 1.0], y, Q, p).holds


def test_copies_have_an_infinite_density_and_classes_without_other_rows_none():
    X, y = rows()
    X[:4], y[:], y[9] = X[0], 0, 1  # row 9 is the only one of its class
    with pytest.warns(DegenerateWarning, match="infinite"):
        found = density(X, k=3, y=y)
    assert np.isinf(found.log_density).sum() == 4
    assert np.isnan(found.log_class_density[9, 1])
    assert check(found, X, y).holds
    finite = np.where(np.isinf(found.log_density), 100.0, found.log_density)
    assert not check(found, X, y, log_density=finite).holds


def test_of_rows_that_are_equally_near_any_may_be_counted():
    X, y = np.array([[1.0], [-1.0], [2.0], [5.0]]), np.array([0, 1, 1, 0])
    V, Q = 2.0, np.zeros((1, 1))
    for k, counts, log_class, right in [
        (1, [1, 0], [math.log(1 / (2 * V)), -math.inf], True),
        (1, [0, 1], [-math.inf, math.log(1 / (2 * V))], True),
        (2, [1, 1], [math.log(1 / (2 * V))] * 2, True),
        (1, [1, 1], [math.log(1 / (2 * V))] * 2, False),
        (1, [0, 0], [-math.inf] * 2, False),
        (2, [0, 2], [-math.inf, math.log(2 / (2 * V))], False),
        (1, [-1, 2], [math.nan, math.log(2 / (2 * V))], False),
    ]:
        log_p = np.array([math.log(k / (4 * V))])
        claim = page.check(
            X, y, np.ones(4), k=k, log_density=log_p, Q=Q, counts=np.array([counts]),
            log_class=np.array([log_class]),
        )  # fmt: skip
        assert claim.holds == right
