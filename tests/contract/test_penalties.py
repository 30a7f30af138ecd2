"""Every penalty is what its formula says: prox, conjugate and subdifferential by brute force.

A new penalty is one more line: in ``SEPARABLE`` if it is a sum over coordinates, which a grid of
numbers then proves; in ``JOINT`` if coordinates hang together, with points where it is finite.
"""

import numpy as np
import pytest

from certus import penalties
from certus.penalties import L1, L2, MCP, SCAD, Box, ElasticNet, GroupL2, NonNegative, Simplex

CONVEX = [
    L1(),
    L1(0.3),
    L1(0.5, positive=True),
    L2(),
    L2(4.0),
    L2(2.0, positive=True),
    ElasticNet(),
    ElasticNet(2.5, l1_ratio=0.2),
    ElasticNet(0.7, l1_ratio=1.0),
    ElasticNet(0.7, l1_ratio=0.0),
    ElasticNet(2.5, l1_ratio=0.2, positive=True),
    NonNegative(),
    Box(-1.0, 2.0),
    Box(-np.inf, 0.5),
    Box(0.0, np.inf),
]
NOT_CONVEX = [MCP(), MCP(0.4, gamma=1.2), MCP(2.0, gamma=1.05), SCAD(), SCAD(0.4, gamma=2.1)]
SEPARABLE = CONVEX + NOT_CONVEX
JOINT = [
    GroupL2(groups=[[0, 2], [1]]),
    GroupL2(0.4, groups=[7, 7, 7]),
    Simplex(),
    Simplex(2.5),
]
ALL_CONVEX = CONVEX + JOINT
each_penalty = pytest.mark.parametrize("penalty", SEPARABLE, ids=repr)
each_convex = pytest.mark.parametrize("penalty", ALL_CONVEX, ids=repr)
each_joint = pytest.mark.parametrize("penalty", JOINT, ids=repr)
each_of_all = pytest.mark.parametrize("penalty", SEPARABLE + JOINT, ids=repr)
GRID = np.arange(-8_000, 8_001) / 1000  # holds every number of W and 0 exactly
W = np.array([-2.5, -1.0, -0.002, 0.0, 0.001, 0.5, 3.0])
STEP = 1e-7  # of finite differences


def one(penalty, grid):
    """The penalty of each number by itself."""
    return np.array([penalty.value(np.array([u])) for u in grid])


def finite_points(penalty, count=400, p=3):
    """Points where the penalty is finite, (count, p): within, at edges and at corners."""
    rng = np.random.default_rng(0)
    if isinstance(penalty, Simplex):
        corners = penalty.total * np.eye(p)
        inside = penalty.total * rng.dirichlet(np.ones(p) / 2, size=count)
        edges = (corners[0] + corners[1]) / 2
        return np.vstack([corners, edges, penalty.prox(inside.T, 1.0).T])
    points = rng.normal(scale=2, size=(count, p)) * rng.integers(0, 2, size=(count, p))
    return np.array([penalty.prox(v, 0.3) for v in points])


@pytest.fixture(scope="module", params=SEPARABLE, ids=repr)
def tabled(request):
    """A penalty and its values on the grid."""
    return request.param, one(request.param, GRID)


@pytest.fixture(scope="module", params=CONVEX, ids=repr)
def convex(request):
    return request.param, one(request.param, GRID)


def test_the_table_has_every_public_penalty():
    in_table = {type(penalty).__name__ for penalty in SEPARABLE + JOINT}
    assert in_table == set(penalties.__all__) - {"Penalty"}


@each_of_all
def test_a_penalty_says_what_it_is(penalty):
    assert penalty.convex == (penalty not in NOT_CONVEX)
    assert penalty.separable == (penalty not in JOINT)
    assert penalty.name
    assert penalty.formula
    assert repr(penalty).startswith(type(penalty).__name__ + "(")
    assert repr(eval(repr(penalty), vars(penalties) | {"inf": np.inf})) == repr(penalty)


@each_penalty
def test_value_is_the_sum_over_coordinates_of_any_shape(penalty):
    value = penalty.value(W)
    assert value == pytest.approx(one(penalty, W).sum(), rel=1e-14)
    assert penalty.value(W[:6].reshape(2, 3)) == pytest.approx(penalty.value(W[:6]), rel=1e-14)
    assert penalty.value(np.zeros(3)) == 0 < value


@each_joint
def test_each_column_of_w_is_by_itself(penalty):
    points = finite_points(penalty, 4)
    g = np.random.default_rng(1).normal(size=(4, 3))
    w = points[-4:]
    assert penalty.value(w.T) == pytest.approx(sum(penalty.value(row) for row in w))
    found = penalty.prox(g.T, 0.3)
    np.testing.assert_array_equal(found, np.array([penalty.prox(row, 0.3) for row in g]).T)
    found = penalty.distance(w.T, g.T)
    rows = zip(w, g, strict=True)
    np.testing.assert_array_equal(found, np.array([penalty.distance(*row) for row in rows]).T)


def test_values_are_the_formulas():
    u = np.array([0.2, 0.4, 0.6, 2.0])
    lam, gamma = 0.5, 3.0
    mcp = np.where(u <= gamma * lam, lam * u - u**2 / (2 * gamma), gamma * lam**2 / 2)
    middle = (2 * gamma * lam * u - u**2 - lam**2) / (2 * (gamma - 1))
    beyond = lam**2 * (gamma + 1) / 2
    scad = np.where(u <= lam, lam * u, np.where(u <= gamma * lam, middle, beyond))
    for sign in (1, -1):
        np.testing.assert_allclose(one(MCP(lam, gamma), sign * u), mcp, rtol=1e-14)
        np.testing.assert_allclose(one(SCAD(lam, gamma), sign * u), scad, rtol=1e-14)
    w = np.array([3.0, -5.0, 4.0])
    assert GroupL2(2.0, groups=[[2, 0], [1]]).value(w) == pytest.approx(2 * (np.sqrt(2) * 5 + 5))
    assert GroupL2(2.0, groups=np.array([4, -1, 4])).value(w) == pytest.approx(
        GroupL2(2.0, groups=[[2, 0], [1]]).value(w)
    )
    assert GroupL2(groups=[[0, 1]]).value(np.array([3e200, 4e200])) == pytest.approx(
        5e200 * np.sqrt(2)
    )


def test_what_is_not_allowed_is_infinite():
    outside = {
        Box(-1, 1): [0.0, 1 + 1e-12],
        Box([-1, 0], [1, 1]): [-0.5, -1e-12],
        NonNegative(): [1.0, -1e-300],
        L1(positive=True): [1.0, -1e-300],
        Simplex(): [0.5, 0.4],
        Simplex(2.0): [2.5, -0.5],
    }
    for penalty, w in outside.items():
        assert penalty.value(np.array(w)) == np.inf
        assert np.isinf(penalty.distance(np.array(w), np.zeros(2))).any()
    assert Box([-1, 0], [1, 1]).value(np.array([-0.5, 1.0])) == 0
    assert Simplex().value(np.full(3, 1 / 3)) == 0


@pytest.mark.parametrize("step", [0.1, 1.0, 1.2, 2.0, 3.4, 7.0])
def test_prox_is_the_minimiser_it_is_defined_as(tabled, step):
    penalty, values = tabled
    found = penalty.prox(W, step)
    for v, u in zip(W, found, strict=True):
        at = (u - v) ** 2 / 2 + step * penalty.value(np.array([u]))
        on_grid = (GRID - v) ** 2 / 2 + step * values
        assert at <= on_grid.min() + 1e-12
        if penalty.convex:  # else there may be two
            assert abs(u - GRID[on_grid.argmin()]) <= 1e-3


@pytest.mark.parametrize("penalty", NOT_CONVEX, ids=repr)
def test_prox_with_a_step_for_each_coordinate_is_that_of_each(penalty):
    v, steps = np.meshgrid(np.linspace(-6, 6, 61), [0.3, 1.1, 1.2, 3.0, 5.0])
    each = [penalty.prox(np.array([x]), t)[0] for x, t in zip(v.flat, steps.flat, strict=True)]
    np.testing.assert_array_equal(penalty.prox(v, steps).ravel(), each)


@each_convex
@pytest.mark.parametrize("step", [0.1, 1.0, 7.0])
def test_the_residual_of_prox_is_a_subgradient(penalty, step):
    # g(z) ≥ g(u) + ⟨(v − u)/t, z − u⟩ for every z is what makes u the minimiser
    points = finite_points(penalty)
    for v in np.random.default_rng(2).normal(scale=2, size=(20, 3)):
        u = penalty.prox(v, step)
        at = penalty.value(u)
        assert np.isfinite(at)
        for z in points:
            assert penalty.value(z) >= at + (v - u) @ (z - u) / step - 1e-11


@each_convex
def test_a_subgradient_supports_the_penalty(penalty):
    if getattr(penalty, "positive", False) or not hasattr(penalty, "subgradient"):
        pytest.skip("not finite everywhere")
    points = np.vstack([finite_points(penalty, 40), np.zeros(3)])
    for w in points:
        xi = penalty.subgradient(w)
        for z in points:
            assert penalty.value(z) >= penalty.value(w) + xi @ (z - w) - 1e-11


@each_of_all
def test_prox_leaves_a_gradient_at_no_distance_from_the_subdifferential(penalty):
    v = np.linspace(-5, 5, 102).reshape(3, 34)
    u = penalty.prox(v, 0.8)
    assert u.shape == v.shape
    np.testing.assert_allclose(penalty.distance(u, (u - v) / 0.8), 0.0, atol=1e-12)


@pytest.mark.parametrize("v", [-3.1, -0.9, 0.0, 0.2, 0.29, 1.1, 4.0])
def test_conjugate_is_the_supremum_it_is_defined_as(convex, v):
    penalty, values = convex
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


@each_convex
def test_fenchel_young_holds_with_equality_where_v_is_a_subgradient(penalty):
    # g(w) + g*(v) ≥ ⟨v, w⟩, with = for v ∈ ∂g(w): so no smaller and no larger g* would do
    rng = np.random.default_rng(3)
    for x in rng.normal(scale=2, size=(50, 3)):
        u = penalty.prox(x, 1.0)
        # a hair inwards, where rounding might put a subgradient outside the domain of g*
        v = (x - u) * (1 - 1e-14)
        assert penalty.value(u) + penalty.conjugate(v) == pytest.approx(v @ u, abs=1e-10)
    for w in finite_points(penalty, 50):
        for v in rng.normal(size=(20, 3)):
            assert penalty.value(w) + penalty.conjugate(v) >= v @ w - 1e-12


@each_joint
def test_conjugate_of_columns_is_their_sum(penalty):
    v = 0.2 * np.random.default_rng(4).normal(size=(3, 2))
    assert penalty.conjugate(v) == pytest.approx(sum(penalty.conjugate(x) for x in v.T))


def test_conjugate_is_infinite_beyond_the_slope_of_the_penalty():
    groups = GroupL2(2.0, groups=[[0, 1], [2]])
    edge = np.array([2.0, 2.0, 0.0])  # ‖·‖ = 2√2
    assert groups.conjugate(edge * (1 - 1e-12)) == 0
    assert groups.conjugate(edge * (1 + 1e-12)) == np.inf
    assert groups.conjugate(np.array([0.0, 0.0, 2.1])) == np.inf
    assert Box(-np.inf, 1.0).conjugate(np.array([-1e-300])) == np.inf
    assert Box(-np.inf, 1.0).conjugate(np.array([3.0])) == 3
    assert L1(1.0, positive=True).conjugate(np.array([-1e9, 1.0])) == 0


@pytest.mark.parametrize("penalty", NOT_CONVEX, ids=repr)
def test_a_conjugate_that_bounds_nothing_is_refused(penalty):
    with pytest.raises(TypeError, match=r"is not convex: its conjugate gives no bound"):
        penalty.conjugate(np.zeros(3))


@pytest.mark.parametrize("g", [-4.0, -1.0, -0.31, 0.0, 0.2, 0.7, 2.0])
def test_distance_is_the_distance_to_the_subdifferential(convex, g):
    penalty, values = convex
    for w in W:
        at = penalty.value(np.array([w]))
        found = penalty.distance(np.array([w]), np.array([g]))
        assert found.shape == (1,)
        if at == np.inf:
            assert found[0] == np.inf
            continue
        right, left = w < GRID, w > GRID
        # ∂g(w) of a convex function is the interval between its largest slope from the left and
        # its least slope to the right
        above = ((values[right] - at) / (GRID[right] - w)).min()
        below = ((values[left] - at) / (GRID[left] - w)).max()
        expected = max(-g - above, below + g, 0.0)
        assert found[0] == pytest.approx(expected, abs=3e-3)  # the grid's step times curvature


@each_penalty
@pytest.mark.parametrize("g", [-4.0, -0.31, 0.0, 0.7, 2.0])
def test_distance_is_the_steepest_descent_of_a_small_step(penalty, g):
    points = [w for w in [*W, 2.0, -1.0, 0.48, 0.84] if penalty.value(np.array([w])) < np.inf]
    for w in points:
        at = penalty.value(np.array([w]))
        up, down = (penalty.value(np.array([w + d])) - at for d in (STEP, -STEP))
        expected = max(-g - up / STEP, g - down / STEP, 0.0)
        found = penalty.distance(np.array([w]), np.array([g]))[0]
        assert found == pytest.approx(expected, abs=1e-5)


@each_joint
def test_the_norm_of_distance_is_the_steepest_descent_of_joint_coordinates(penalty):
    # −min over directions d of ⟨g, d⟩ + g'(w; d): the distance of −g to the subdifferential
    rng = np.random.default_rng(5)
    d = rng.normal(size=(6000, 3))
    among = rng.integers(0, 2, size=d.shape)  # the best may leave some coordinates as they are
    if isinstance(penalty, Simplex):
        d -= (d * among).sum(axis=1, keepdims=True) / np.maximum(among.sum(axis=1), 1)[:, None]
    d = (d * among)[among.sum(axis=1) > isinstance(penalty, Simplex)]
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    zeros = [] if isinstance(penalty, Simplex) else [np.zeros(3), np.array([0.0, 1.5, 0.0])]
    for w in [*zeros, *finite_points(penalty, 3)[-8:]]:
        at = penalty.value(w)
        rises = np.array([penalty.value(w + STEP * x) - at for x in d]) / STEP
        for g in (rng.normal(size=3), 3 * rng.normal(size=3), np.zeros(3)):
            expected = max(0.0, -(d @ g + rises).min())
            found = np.linalg.norm(penalty.distance(w, g))
            assert found == pytest.approx(expected, rel=2e-2, abs=2e-3)  # directions are sampled
            assert found >= expected - 1e-5


@each_penalty
def test_distance_is_0_at_a_minimum_and_at_no_other_point(penalty):
    # of (w − 2)²·5/2 + penalty
    best = penalty.prox(np.array([2.0]), 1 / 5)
    for w in (best, best - 0.01, best + 0.01, np.zeros(1)):
        assert (penalty.distance(w, 5 * (w - 2))[0] <= 1e-12) == np.allclose(w, best, atol=1e-9)


@each_joint
def test_distance_is_0_at_a_joint_minimum_and_at_no_other_point(penalty):
    v = np.array([1.0, -0.5, 1.2])
    best = penalty.prox(v, 1 / 5)
    for w in (best, *finite_points(penalty, 40)):
        at_best = np.allclose(w, best, atol=1e-9)
        assert (penalty.distance(w, 5 * (w - v)).max() <= 1e-11) == at_best


def test_a_group_of_one_is_l1():
    v, w = np.linspace(-3, 3, 7), np.array([-1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0])
    alone, l1 = GroupL2(0.8, groups=range(7)), L1(0.8)
    assert alone.value(w) == pytest.approx(l1.value(w))
    np.testing.assert_allclose(alone.prox(v, 2.0), l1.prox(v, 2.0), atol=1e-15)
    np.testing.assert_allclose(alone.distance(w, v), l1.distance(w, v), atol=1e-15)


# --- parameters that mean nothing -----------------------------------------------------------------


@pytest.mark.parametrize("bad", [-1.0, np.inf, np.nan])
def test_strengths_that_mean_nothing_are_refused(bad):
    for make in (L1, L2, ElasticNet, MCP, SCAD, lambda s: GroupL2(s, groups=[[0]])):
        with pytest.raises(ValueError, match=r"strength=.*: give a finite number, 0 or above"):
            make(bad)
    with pytest.raises(ValueError, match=r"l1_ratio=.*: give a number from 0 to 1"):
        ElasticNet(1.0, l1_ratio=bad if bad < 0 else 1.5)
    with pytest.raises(ValueError, match=r"total=.*: give a finite number above 0"):
        Simplex(bad)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: L1(positive="yes"), r"positive='yes': give True or False"),
        (lambda: Simplex(0.0), r"total=0\.0: give a finite number above 0"),
        (lambda: MCP(gamma=1.0), r"gamma=1\.0: give a finite number above 1"),
        (lambda: SCAD(gamma=2.0), r"gamma=2\.0: give a finite number above 2"),
        (lambda: SCAD(gamma=np.inf), r"gamma=inf: give a finite number above 2"),
        (lambda: Box(1, 0), r"low is above high; exchange them"),
        (lambda: Box([0, 2], 1), r"low is above high \(coefficient 1\); exchange them"),
        (lambda: Box([0, 1], [1, 2, 3]), r"low has 2 numbers and high has 3"),
        (lambda: Box("a", 1), r"low='a': give a number, or one for each column"),
        (lambda: Box(0, np.nan), r"high=nan: give a number, or one for each column"),
        (lambda: Box(np.inf, np.inf), r"no coefficient is infinite; widen them"),
        (lambda: Box([0, 1], 2).value(np.zeros(3)), r"low: it has 2 numbers, .* 3 columns"),
        (lambda: GroupL2(groups=3), r"groups=3: give a list of lists of column numbers"),
        (lambda: GroupL2(groups="ab"), r"groups='ab': give a list of lists"),
        (lambda: GroupL2(groups=[]), r"groups: give each group a list of column numbers"),
        (lambda: GroupL2(groups=[[0], []]), r"groups: give each group a list of column numbers"),
        (lambda: GroupL2(groups=[[0.5], [1]]), r"groups: give each group a list"),
        (lambda: GroupL2(groups=[[0, 1], [1]]), r"column 1 is listed twice; give it one group"),
        (
            lambda: GroupL2(groups=[[0], [2]]),
            r"column 1 has no group; give it one, \[1\] for itself alone",
        ),
        (lambda: GroupL2(groups=[[-1], [0]]), r"there is no column -1; count from 0"),
        (
            lambda: GroupL2(groups=[[0], [1]]).value(np.zeros(3)),
            r"cover 2 columns, the data have 3",
        ),
    ],
)
def test_parameters_that_mean_nothing_are_named_with_a_remedy(make, message):
    with pytest.raises(ValueError, match=message):
        make()
