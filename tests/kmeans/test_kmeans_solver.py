"""Lloyd with bounds against plain Lloyd: the same labels at every step."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.solvers.kmeans import bounds, lloyd, nearest_centers, small
from certus.solvers.kmeans.bounds import Bounds
from certus.solvers.kmeans.groups import groups_of, half_distance_to_nearest


@pytest.fixture(params=["few rows at once", "bounds"], autouse=True)
def variant(request, monkeypatch):
    """Run every test with and without the compiled call for small problems."""
    if request.param == "bounds":
        monkeypatch.setattr(small, "MAX_SMALL_WORK", 0)


SHAPES = [(400, 2, 7), (700, 5, 30), (300, 16, 64), (600, 30, 33), (300, 100, 9), (260, 130, 40)]


def squares(X, C):
    return ((np.asarray(X, dtype=float)[:, None] - C[None]) ** 2).sum(axis=2)


def by_hand(X, C, steps, s=None):
    """Return the labels of each step and the last centres of plain Lloyd; ties to the first."""
    s = np.ones(len(X)) if s is None else s
    history = []
    for _ in range(steps):
        a = squares(X, C).argmin(axis=1)
        history.append(a)
        if len(history) > 1 and np.array_equal(a, history[-2]):
            break
        C = np.array([np.average(X[a == k], axis=0, weights=s[a == k]) for k in range(len(C))])
    return history, C


def cloud(n, p, seed):
    """Return rows of which no cluster becomes empty."""
    return np.random.default_rng(seed).standard_normal((n, p))


def blobs(n, p, k, seed, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 3 * rng.standard_normal((k, p))[rng.integers(0, k, n)]
    return X.astype(dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_every_step_has_the_labels_of_plain_lloyd(shape, offset):
    n, p, k = shape
    X = cloud(n, p, 0) + offset
    history, C = by_hand(X, X[:k].copy(), 60)
    engine = Bounds(Rows(X, threads=1), k)
    C = X[:k].copy()
    for a in history:
        engine.move_to(C)
        np.testing.assert_array_equal(engine.labels, a)
        C = np.array([X[a == j].mean(axis=0) for j in range(k)])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fixed_point_is_that_of_plain_lloyd(seed, weighted):
    n, p, k = SHAPES[seed % len(SHAPES)]
    X = cloud(n, p, seed)
    s = np.random.default_rng(seed).random(n) + 0.1 if weighted else None
    history, C = by_hand(X, X[:k].copy(), 300, s)
    fit = lloyd(Rows(X, s=s, threads=1), X[:k].copy())
    np.testing.assert_array_equal(fit.labels, history[-1])
    np.testing.assert_allclose(fit.centers, C, rtol=0, atol=1e-11)
    weights = np.ones(n) if s is None else s
    assert fit.objective == pytest.approx(weights @ squares(X, C).min(axis=1), rel=1e-12)
    assert fit.converged
    assert fit.rose < 1e-14
    assert fit.effective == k
    assert fit.n_iter == len(history)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", "CF")
def test_float32_and_columns(dtype, order):
    X = np.asarray(blobs(900, 12, 8, 3, dtype), order=order)
    fit = lloyd(Rows(X, threads=1), X[:8].astype(float))
    labels, d2 = nearest_centers(Rows(X, threads=1), fit.centers)
    np.testing.assert_array_equal(labels, fit.labels)
    np.testing.assert_array_equal(labels, squares(X, fit.centers).argmin(axis=1))
    np.testing.assert_allclose(d2, squares(X, fit.centers).min(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(fit.centers, fit.centers.astype(dtype))


@pytest.mark.parametrize(
    ("method", "t", "p"),
    [
        *[(method, t, 40) for method in (bounds.BLAS, bounds.BY_ROWS) for t in (1, 3, 20)],
        *[(bounds.LOOP, 1, p) for p in (1, 4, 8, 9, 16)],  # eight columns, or sixteen
    ],
)
@pytest.mark.parametrize("k", [20, 3, 6])
def test_every_way_of_comparing_gives_the_same(method, t, p, k):
    X = blobs(700, p, 20, 1)
    engine = Bounds(Rows(X, threads=1), k, min(t, k))
    engine.product_method = method
    rng = np.random.default_rng(0)
    C = X[:k].copy()
    for step in range(12):
        change = engine.move_to(C)
        np.testing.assert_array_equal(engine.labels, squares(X, C).argmin(axis=1))
        assert change.evaluated <= change.unproven <= len(X)
        some = [step % k] if step % 4 else range(k)  # each group's bound is its own
        C = C.copy()
        C[some] += 0.3 * rng.standard_normal((len(some), p))


def test_bounds_hold_and_spare_work():
    """u and L are bounds after every move, and most rows are not compared."""
    X = blobs(3000, 8, 12, 5)
    engine = Bounds(Rows(X, threads=1), 12, 4)
    rng = np.random.default_rng(0)
    C = X[:12].copy()
    for _ in range(12):
        change = engine.move_to(C)
        D = np.sqrt(squares(X, C)) * engine.scale
        rows = np.arange(len(X))
        assert (engine.u >= D[rows, engine.labels]).all()
        others = D.copy()
        others[rows, engine.labels] = np.inf
        for a, b in engine.rows.edges(engine.block):
            L = engine.L[a:b].reshape(4, b - a)
            for g in range(4):
                least = others[a:b, engine.group == g].min(axis=1)
                assert (L[g] <= least).all()
        C = C + 0.02 * rng.standard_normal(C.shape)
    assert change.evaluated < len(X) / 2


def test_far_apart_and_close_together():
    """Steps of a half around −1e8 and +1e8: float32 cannot resolve them."""
    steps = np.arange(40) * 0.5
    X = np.concatenate([steps - 1e8, steps + 1e8])[:, None]
    start = X[[0, 20, 50, 70]].copy()
    history, _ = by_hand(X, start, 100)
    fit = lloyd(Rows(X, threads=1), start)
    np.testing.assert_array_equal(fit.labels, history[-1])
    np.testing.assert_array_equal(nearest_centers(Rows(X), fit.centers)[0], fit.labels)


def test_ties_go_to_the_first_centre():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    labels, d2 = nearest_centers(Rows(X), np.array([[3.0], [1.0], [1.0], [5.0]]))
    np.testing.assert_array_equal(labels, [1, 1, 0, 0, 0])
    np.testing.assert_array_equal(d2, [1.0, 0.0, 1.0, 0.0, 1.0])


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e140])
def test_any_unit(scale):
    X = blobs(300, 6, 5, 2)
    fit, other = (lloyd(Rows(Z, threads=1), Z[:5].copy()) for Z in (X, X * scale))
    np.testing.assert_array_equal(fit.labels, other.labels)
    np.testing.assert_allclose(other.centers / scale, fit.centers, rtol=1e-12)


def test_empty_clusters_are_refilled():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((50, 2)), [[40.0, 0.0]]])
    start = np.array([[0.0, 0.0], [1e3, 1e3], [-1e3, 5.0]])
    fit = lloyd(Rows(X, threads=1), start)
    assert fit.refilled >= 2
    assert fit.effective == 3
    assert [40.0, 0.0] in fit.centers.tolist()
    np.testing.assert_array_equal(fit.labels, squares(X, fit.centers).argmin(axis=1))


@pytest.mark.parametrize("seed", range(20))
def test_fewer_points_than_centres(seed):
    rng = np.random.default_rng(seed)
    points = rng.random((9, 3)) * 10.0 ** rng.uniform(-8, 8) + rng.standard_normal() * 1e3
    X = points[np.concatenate([np.arange(9), rng.integers(0, 9, 200)])]
    fit = lloyd(Rows(X, threads=1), X[rng.choice(len(X), 10, replace=False)])
    assert fit.effective == 9
    assert fit.objective == 0
    assert fit.converged


@pytest.mark.parametrize("seed", range(5))
def test_as_many_centres_as_rows(seed):
    X = np.random.default_rng(seed).standard_normal((30, 4)) + 7
    fit = lloyd(Rows(X, threads=1), X.copy())
    assert fit.objective == 0
    np.testing.assert_array_equal(np.sort(fit.labels), np.arange(30))


def test_rows_without_weight_decide_nothing():
    X = blobs(200, 3, 4, 0)
    s = np.ones(200)
    s[:100] = 0
    fit = lloyd(Rows(X, s=s, threads=1), X[100:104].copy())
    other = lloyd(Rows(X[100:], threads=1), X[100:104].copy())
    np.testing.assert_allclose(fit.centers, other.centers, atol=1e-12)
    np.testing.assert_array_equal(fit.labels[100:], other.labels)
    np.testing.assert_array_equal(fit.labels, squares(X, fit.centers).argmin(axis=1))


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows(weighted):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (400, 30)) * rng.random((400, 30))
    s = rng.random(400) if weighted else None
    start = X[:6] + 1e-3
    dense = lloyd(Rows(X, s=s, threads=1), start)
    sparse = lloyd(Rows(CSR(csr_array(X)), s=s, threads=1), start)
    np.testing.assert_array_equal(dense.labels, sparse.labels)
    np.testing.assert_allclose(dense.centers, sparse.centers, atol=1e-12)
    assert dense.objective == pytest.approx(sparse.objective, rel=1e-12)


def test_sparse_ties():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 0.0]])
    labels, _ = nearest_centers(Rows(CSR(csr_array(X))), np.array([[2.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(labels, [1, 0, 0])


def test_the_same_bits_on_any_number_of_threads():
    X = blobs(30_000, 6, 10, 4)
    one, two = (lloyd(Rows(X, threads=t), X[:10].copy()) for t in (1, 2))
    np.testing.assert_array_equal(one.centers, two.centers)
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.objective == two.objective


def test_it_stops_where_a_step_gains_nothing_to_speak_of():
    X = np.random.default_rng(0).random((30_000, 5))
    loose = lloyd(Rows(X), X[:30].copy(), tol=1e-3)
    strict = lloyd(Rows(X), X[:30].copy(), max_iter=3000)
    assert loose.n_iter < strict.n_iter
    assert loose.converged
    assert strict.converged
    history = []
    lloyd(Rows(X), X[:30].copy(), max_iter=7, on_step=lambda step: history.append(step))
    assert [step.iteration for step in history] == list(range(1, 8))
    J = [step.objective for step in history]
    assert all(after <= before for before, after in pairwise(J))
    stopped = lloyd(Rows(X), X[:30].copy(), on_step=lambda step: step.iteration == 4)
    assert stopped.n_iter == 4
    np.testing.assert_array_equal(stopped.labels, squares(X, stopped.centers).argmin(axis=1))


@pytest.mark.parametrize("seed", range(10))
def test_half_of_the_way_is_never_too_long(seed):
    rng = np.random.default_rng(seed)
    m = rng.standard_normal((30, 5)) + 10.0 ** rng.uniform(-3, 6)
    m[1] = m[0] + 10.0 ** rng.uniform(-9, 0)
    true = np.sqrt(squares(m, m))
    np.fill_diagonal(true, np.inf)
    half = half_distance_to_nearest(m)
    assert (half <= true.min(axis=1) / 2).all()
    assert (half[2:] >= 0.49 * true.min(axis=1)[2:]).all() or np.abs(m).max() > 1e4


def test_groups_are_of_near_centres():
    rng = np.random.default_rng(0)
    far = np.repeat(100.0 * np.arange(4), 6)[:, None]
    C = (far + rng.standard_normal((24, 3)))[rng.permutation(24)]
    group = groups_of(C, 4)
    assert all(np.ptp(C[group == g, 0]) < 20 for g in np.unique(group))
    np.testing.assert_array_equal(groups_of(C, 30), np.arange(24))
    np.testing.assert_array_equal(groups_of(C, 1), 0)


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_iterates_that_are_read_later_are_those_of_as_many_steps(variant, request, order):
    if "few rows" not in request.node.name:
        pytest.skip("bounds hand on the iterate of the moment")
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    steps = []
    lloyd(Rows(X), X[:9], on_step=lambda step: steps.append(step) or False)
    assert len(steps) > 4
    for step in steps if order == "forwards" else steps[::-1]:
        C, labels = step.parameters()
        fit = lloyd(Rows(X), X[:9], max_iter=step.iteration)
        np.testing.assert_array_equal(C, fit.centers)
        np.testing.assert_array_equal(labels, _nearest(X, before(X, X[:9], step.iteration)))


def before(X, start, n_iter):
    """Return the centres before the last of some steps, to which its labels belong."""
    return start if n_iter == 1 else lloyd(Rows(X), start, max_iter=n_iter - 1).centers


def _nearest(X, C):
    return squares(X, C).argmin(axis=1)
