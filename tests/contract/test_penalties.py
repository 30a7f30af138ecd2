"""Every penalty is what its formula says: prox, conjugate and subdifferential by brute force.

A new penalty is one more line in ``PENALTIES``. Those of more than one coordinate at once (groups)
will need a grid of more dimensions.
"""

import numpy as np
import pytest

from certus import penalties
from certus.penalties import L1, L2, ElasticNet

PENALTIES = [
    L1(),
    L1(0.3),
    L2(),
    L2(4.0),
    ElasticNet(),
    ElasticNet(2.5, l1_ratio=0.2),
    ElasticNet(0.7, l1_ratio=1.0),
    ElasticNet(0.7, l1_ratio=0.0),
]
each_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
GRID = np.arange(-8_000, 8_001) / 1000  # holds every number of W and 0 exactly
W = np.array([-2.5, -1.0, -0.002, 0.0, 0.001, 0.5, 3.0])


def one(penalty, grid):
    """The penalty of each number by itself."""
    return np.array([penalty.value(np.array([u])) for u in grid])


@pytest.fixture(scope="module", params=PENALTIES, ids=repr)
def tabled(request):
    """A penalty and its values on the grid."""
    return request.param, one(request.param, GRID)


def test_the_table_has_every_public_penalty():
    in_table = {type(penalty).__name__ for penalty in PENALTIES}
    assert in_table == set(penalties.__all__) - {"Penalty"}


@each_penalty
def test_value_is_the_sum_over_coordinates_of_any_shape(penalty):
    value = penalty.value(W)
    assert value == pytest.approx(one(penalty, W).sum(), rel=1e-14)
    assert penalty.value(W[:6].reshape(2, 3)) == pytest.approx(penalty.value(W[:6]), rel=1e-14)
    assert penalty.value(np.zeros(3)) == 0 < value


@pytest.mark.parametrize("step", [0.1, 1.0, 7.0])
def test_prox_is_the_minimiser_it_is_defined_as(tabled, step):
    penalty, values = tabled
    found = penalty.prox(W, step)
    for v, u in zip(W, found, strict=True):
        at = (u - v) ** 2 / 2 + step * penalty.value(np.array([u]))
        on_grid = (GRID - v) ** 2 / 2 + step * values
        assert at <= on_grid.min() + 1e-12
        assert abs(u - GRID[on_grid.argmin()]) <= 1e-3


@each_penalty
def test_prox_leaves_a_gradient_at_no_distance_from_the_subdifferential(penalty):
    v = np.linspace(-5, 5, 101).reshape(101, 1)
    u = penalty.prox(v, 0.8)
    assert u.shape == v.shape
    np.testing.assert_allclose(penalty.distance(u, (u - v) / 0.8), 0.0, atol=1e-12)


@pytest.mark.parametrize("v", [-3.1, -0.9, 0.0, 0.2, 0.29, 1.1, 4.0])
def test_conjugate_is_the_supremum_it_is_defined_as(tabled, v):
    penalty, values = tabled
    gains = v * GRID - values
    found = penalty.conjugate(np.array([v]))
    if gains.argmax() in (0, len(GRID) - 1) and found == np.inf:
        # a larger grid gains more, without end
        assert gains.max() > 0
        far = 1e9 * np.sign(v)
        assert v * far - penalty.value(np.array([far])) > 1e6
    else:
        assert found == pytest.approx(gains.max(), abs=1e-5)
        assert found >= gains.max() - 1e-12
    assert penalty.conjugate(np.array([v, v])) == pytest.approx(2 * found)


@pytest.mark.parametrize("g", [-4.0, -1.0, -0.31, 0.0, 0.2, 0.7, 2.0])
def test_distance_is_the_distance_to_the_subdifferential(tabled, g):
    penalty, values = tabled
    for w in W:
        at = penalty.value(np.array([w]))
        right, left = w < GRID, w > GRID
        # ∂g(w) of a convex function is the interval between its largest slope from the left and
        # its least slope to the right
        above = ((values[right] - at) / (GRID[right] - w)).min()
        below = ((values[left] - at) / (GRID[left] - w)).max()
        expected = max(-g - above, below + g, 0.0)
        found = penalty.distance(np.array([w]), np.array([g]))
        assert found.shape == (1,)
        assert found[0] == pytest.approx(expected, abs=3e-3)  # the grid's step times curvature


@each_penalty
def test_distance_is_0_at_a_minimum_and_at_no_other_point(penalty):
    # of (w − 2)²·5/2 + penalty
    best = penalty.prox(np.array([2.0]), 1 / 5)
    for w in (best, best - 0.01, best + 0.01, np.zeros(1)):
        assert (penalty.distance(w, 5 * (w - 2))[0] <= 1e-12) == np.allclose(w, best, atol=1e-9)


@pytest.mark.parametrize("bad", [-1.0, np.inf, np.nan])
def test_strengths_that_mean_nothing_are_refused(bad):
    for make in (L1, L2, ElasticNet):
        with pytest.raises(ValueError, match=r"strength=.*: give a finite number, 0 or above"):
            make(bad)
    with pytest.raises(ValueError, match=r"l1_ratio=.*: give a number from 0 to 1"):
        ElasticNet(1.0, l1_ratio=bad if bad < 0 else 1.5)
