"""The definition of NCFS against loops, differences, 40 digits and the published optima."""

import tracemalloc

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine

from certus.certificate.data import Data
from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.proofs.ncfs import _pairs, _sums, ncfs
from certus.proofs.ncfs.ncfs import gains_of_classes, objective, probabilities, slope, violation

METRICS = ["manhattan", "sqeuclidean", "euclidean", "phi_s"]
WAYS = {
    "as they come": {},
    "few rows at a time": {
        "FLOAT64_PANEL": 5,
        "PRODUCT_ELEMENTS": 7,
        "MIN_BLOCK_ROWS": 1,
        "MAX_BLOCK_ROWS": 3,
        "BLOCK_PAIRS": 40,
    },
    "rows against rows": {"MAX_COLUMNWISE_ELEMENTS": 0, "FLOAT64_PANEL": 20},
    "rough sums": {"MIN_FLOAT32_COLUMNS": 0, "MAX_FLOAT32_TERMS": 2, "FLOAT32_PANEL": 9},
    "rough sums of picked pairs": {
        "MIN_FLOAT32_COLUMNS": 0,
        "MAX_GATHERED_SHARE": 2.0,
        "MAX_OMITTED_RATIO": 1.0,
    },
    "a table of distances": {"MAX_RECOMPUTED_COLUMNS": 0},
    "differences": {"MIN_SQUARE_RATIO": 10.0},
}


@pytest.fixture(params=WAYS, ids=list(WAYS))
def way(request, monkeypatch):
    """The order in which pairs are computed changes no finding."""
    for name, value in WAYS[request.param].items():
        assert name in vars(_sums) or name in vars(_pairs)
        for place in (_sums, _pairs):
            if name in vars(place):
                monkeypatch.setattr(place, name, value)
    return request.param


def data(X, y, s=None, threads=1):
    y = np.asarray(y, dtype=float)[:, None]
    return Data(Rows(np.asarray(X), y, s, threads=threads))


def check(X, y, W, sigma=1.0, alpha=0.0, metric="manhattan", s=None, threads=1, **how):
    if "loss" not in how:
        how.setdefault("gains", np.eye(int(np.max(y)) + 1))
    return ncfs.check(data(X, y, s, threads), W, sigma, alpha, metric, **how)


def minmax(X):
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


def case(seed, n=23, P=5, zeros=False):
    """Duplicates of the same and of other classes, ties in a column; W > 0, or some 0."""
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, P)), rng.integers(3, size=n)
    codes[:3] = [0, 1, 2]
    if n > 8:
        X[4], X[6], X[7] = X[3], X[5], X[5]
        codes[5], codes[6] = 0, 1
        X[:, 2 % P] = np.round(X[:, 2 % P])
    W = rng.uniform(0.2, 2, size=P)
    if zeros:
        W[2:] = np.where(rng.random(P - 2) < 0.6, 0.0, W[2:])
    return X, codes, rng.uniform(0.5, 2, size=n), W * P / W.sum()


def with_penalty(metric, alpha):
    return 0.0 if metric == "phi_s" else alpha


# --- the plain definition -------------------------------------------------------------------------


def pair(metric, x, y, W):
    """D_W(x, y), number by number."""
    d, u = [a - b for a, b in zip(x, y, strict=True)], [a + b for a, b in zip(x, y, strict=True)]
    if metric == "manhattan":
        return sum(w * abs(v) for w, v in zip(W, d, strict=True))
    if metric == "phi_s":
        S = []
        for v in (d, u):
            mu = sum(w * a for w, a in zip(W, v, strict=True)) / sum(W)
            S.append(sum(w * (a - mu) ** 2 for w, a in zip(W, v, strict=True)))
        return S[0] / S[1] if S[1] > 0 else 0 * S[0] if S[0] == 0 else mp.inf
    D = sum(w * v * v for w, v in zip(W, d, strict=True))
    return mp.sqrt(D) if metric == "euclidean" else D


def by_loops(metric, X, G, a, sigma, alpha, W):
    """(F, p), number by number."""
    n, total, p = len(X), mp.mpf(0), [[mp.mpf(0)] * len(X) for _ in X]
    for i in range(n):
        e = [mp.exp(-pair(metric, X[i], X[k], W) / sigma) if k != i else 0 for k in range(n)]
        for j in range(n):
            p[i][j] = e[j] / sum(e)
            total += a[i] * p[i][j] * G[i][j]
    return total - alpha * sum(W), p


def in_digits(*arrays):
    return [[mp.mpf(float(v)) for v in a] if np.ndim(a) == 1 else in_digits(*a) for a in arrays]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_the_plain_definition_is_that_of_loops(metric, seed):
    X, codes, a, W = case(seed, n=11)
    G = gains_of_classes(codes, np.random.default_rng(seed).uniform(size=(3, 3)))
    F, p = by_loops(metric, *in_digits(X, G, a), 0.7, 0.3, *in_digits(W))
    assert objective(X, W, G, a, 0.7, 0.3, metric) == pytest.approx(float(F), rel=1e-13)
    np.testing.assert_allclose(
        probabilities(X, W, 0.7, metric), np.array(p, dtype=float), rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_the_slope_is_that_of_differences_with_duplicates_and_ties(metric, seed):
    X, codes, a, W = case(seed)
    G = gains_of_classes(codes, np.random.default_rng(seed).uniform(size=(3, 3)))
    found, h = slope(X, W, G, a, 0.7, 0.3, metric), 1e-6
    steps = np.eye(len(W)) * h
    by_steps = [
        (objective(X, W + e, G, a, 0.7, 0.3, metric) - objective(X, W - e, G, a, 0.7, 0.3, metric))
        / (2 * h)
        for e in steps
    ]
    np.testing.assert_allclose(found, by_steps, atol=3e-8 * np.abs(by_steps).max())


@pytest.mark.parametrize("metric", METRICS)
@mp.workdps(40)
def test_the_slope_has_the_digits_of_a_derivative_in_forty(metric):
    X, codes, a, W = case(1, n=6, P=3)
    G = gains_of_classes(codes)
    numbers = in_digits(X, G, a)

    def F(*w):
        return by_loops(metric, *numbers, mp.mpf(1), mp.mpf(0), list(w))[0]

    at = tuple(in_digits(W)[0])
    truth = [
        mp.diff(F, at, tuple(int(k == l) for k in range(len(W))), h=mp.mpf(10) ** -14)
        for l in range(len(W))
    ]
    np.testing.assert_allclose(
        slope(X, W, G, a, metric=metric), np.array(truth, dtype=float), rtol=1e-10, atol=1e-13
    )


def test_patterns_are_the_same_for_all_multiples_of_the_weights():
    X, codes, a, W = case(0)
    G = gains_of_classes(codes)
    F, found = objective(X, W, G, a, metric="phi_s"), slope(X, W, G, a, metric="phi_s")
    assert objective(X, 3 * W, G, a, metric="phi_s") == pytest.approx(F, rel=1e-13)
    assert abs(found @ W) < 1e-13 * (np.abs(found) @ W)


def test_conditions_at_the_bound_and_inside():
    W, g = np.array([1.0, 2, 0, 0]), np.array([0.5, -0.5, 0.5, -0.5])
    np.testing.assert_array_equal(violation(W, g), [0.5, 0.5, 0.5, 0.0])


@pytest.mark.parametrize("mean", [False, True])
def test_weights_of_rows_are_as_printed(mean):
    s, codes = np.array([1.0, 2, 3, 4, 5]), np.array([0, 1, 0, 1, 1])
    S = 15.0 if mean else 1.0
    found = ncfs.weights_of_rows(s, codes, None, mean)
    np.testing.assert_allclose(found, s / S)
    found = ncfs.weights_of_rows(s, codes, "balanced", mean)
    np.testing.assert_allclose(found, s / [4, 11, 4, 11, 11] / S)
    found = ncfs.weights_of_rows(s, codes, np.array([0.2, 0.8]), mean)
    shares = 15 * np.array([0.2 / 4, 1.6 / 11, 0.6 / 4, 3.2 / 11, 4 / 11])
    np.testing.assert_allclose(found, shares / S)


# --- what is recomputed ---------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("shape", [(23, 5), (24, 70), (3, 2), (4, 3)], ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_panels_of_pairs_find_what_the_plain_definition_finds(metric, shape, seed, way):
    X, codes, s, W = case(seed, *shape, zeros=True)
    alpha = with_penalty(metric, 0.3)
    gains = np.random.default_rng(seed).uniform(size=(3, 3))
    G = gains_of_classes(codes, gains)
    found = check(X, codes, W, 0.7, 0.3, metric, s, gains=gains)
    assert found["objective"] == pytest.approx(
        objective(X, W, G, s, 0.7, alpha, metric), rel=1e-12, abs=1e-14
    )
    g = slope(X, W, G, s, 0.7, alpha, metric)
    v = violation(W, g)
    worst = found["worst"]
    if not found["kink"]:
        assert found["residual"] * found["unit"] == pytest.approx(v.max(), rel=1e-7, abs=1e-9)
        assert found["slope"] == pytest.approx(g[worst], rel=1e-7, abs=1e-9)
        assert v[worst] == pytest.approx(v.max(), abs=1e-9)
    assert found["residual"] * found["unit"] >= v.max() * (1 - 1e-12)  # rounding is not forgiven
    assert found["used"] == np.count_nonzero(W)
    assert not found["wrong"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("loss", ["absolute", "squared", "epsilon_insensitive", "own"])
def test_losses_between_values_are_as_printed(metric, loss, way):
    X, _, s, W = case(3, n=20, P=4)
    y = np.random.default_rng(3).normal(size=20)
    d = np.abs(y[:, None] - y)
    L = {"absolute": d, "squared": d**2, "epsilon_insensitive": np.maximum(d - 0.3, 0)}
    G = -L.get(loss, np.maximum(y[:, None] - 2 * y, 0))
    how = {"loss": loss, "epsilon": 0.3}
    if loss == "own":  # u − v and v − u cost differently
        how = {"loss": lambda u, v: np.maximum(u - 2 * v, 0)}
    alpha = with_penalty(metric, 0.1)
    found = check(X, y, W, 1.0, 0.1, metric, s, **how)
    assert found["objective"] == pytest.approx(objective(X, W, G, s, 1.0, alpha, metric), rel=1e-12)
    g = slope(X, W, G, s, 1.0, alpha, metric)
    assert found["residual"] * found["unit"] == pytest.approx(np.abs(g).max(), rel=1e-7)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_any_number_of_threads_finds_the_same_bits(metric, kind, monkeypatch):
    for name in ("MIN_BLOCK_ROWS", "MAX_BLOCK_ROWS"):
        monkeypatch.setattr(_sums, name, 16)
    X, codes, s, W = case(4, n=150, P=100, zeros=True)
    one, *others = (
        check(X.astype(kind), codes, W, 1.0, 0.2, metric, s, threads=t) for t in (1, 2, 3)
    )
    for other in others:
        assert other["objective"] == one["objective"]
        assert other["residual"] == one["residual"]
        assert other["score"] == one["score"]


def test_float32_rows_lose_nothing():
    X, codes, s, W = case(5, n=60, P=90, zeros=True)
    X = X.astype(np.float32)
    narrow, wide = (check(A, codes, W, 1.0, 0.2, s=s) for A in (X, X.astype(float)))
    assert narrow["objective"] == pytest.approx(wide["objective"], rel=1e-14)
    assert narrow["residual"] == pytest.approx(wide["residual"], rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("far", [1e3, 1e9])
@pytest.mark.parametrize("size", [2.0**-300, 1.0, 2.0**300])
def test_units_and_origins_that_scaling_undoes_change_nothing(metric, far, size):
    X, codes, s, W = case(6)
    grid = np.round(X * 64) / 64
    low, reach = grid.min(axis=0), np.ptp(grid, axis=0)
    near = check(grid, codes, W, 0.7, 0.3, metric, s, shift=low, scale=reach)
    moved = check(
        (grid + far) * size, codes, W, 0.7, 0.3, metric, s,
        shift=(low + far) * size, scale=reach * size, claims={"scaling": "minmax"},
    )  # fmt: skip
    assert moved["objective"] == pytest.approx(near["objective"], rel=1e-9 if far > 1e6 else 1e-12)
    assert moved["residual"] == pytest.approx(near["residual"], rel=1e-7)
    assert not moved["wrong"]


def test_distances_of_any_size_are_numbers():
    X, codes, s, W = case(7)
    for metric in METRICS:
        for size in (1e-8, 1e4):
            found = check(X * size, codes, W, 1.0, 0.0, metric, s)
            assert np.isfinite(found["objective"])
            assert np.isfinite(found["residual"])


def test_memory_does_not_grow_with_pairs():
    n = 3000
    X = np.random.default_rng(0).random((n, 3))
    codes = (X[:, 0] > 0.5).astype(int)
    tracemalloc.start()
    check(X, codes, np.array([5.0, 0, 0]), alpha=1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 3


# --- optima ---------------------------------------------------------------------------------------


def best(X, G, a, alpha, metric="manhattan"):
    """W ≥ 0 by the plain definition and somebody else's solver."""
    found = minimize(
        lambda W: -objective(X, W, G, a, 1.0, alpha, metric), np.ones(X.shape[1]),
        method="L-BFGS-B", jac=lambda W: -slope(X, W, G, a, 1.0, alpha, metric),
        bounds=[(0, None)] * X.shape[1], options={"gtol": 1e-7 * alpha, "ftol": 0},
    )  # fmt: skip
    return found.x


def of_iris():
    X, y = load_iris(return_X_y=True)
    return minmax(X), y, np.ones(150), 1.0, None


def of_wine():
    X, y = load_wine(return_X_y=True)
    return minmax(X), y, 1 / np.bincount(y)[y], 0.02, "balanced"


def of_toy():
    X = np.random.RandomState(5489).random_sample(2000).reshape(20, 100).T
    return X, (X[:, 2] * X[:, 8] / X[:, 14] < 0.4).astype(int), np.full(100, 0.01), 0.01, None


PUBLISHED = [
    (of_iris, "manhattan", 78.2479936386, 118.63372622, {2: 0.5044, 3: 13.6648}),
    (of_iris, "sqeuclidean", 65.8893589877, 99.85977034, {2: 2.4462, 3: 17.1864}),
    (of_wine, "manhattan", 1.64372487436, 2.16263494105, dict.fromkeys((0, 6, 9, 10, 11, 12))),
    (of_toy, "manhattan", 0.3550320564, 0.6293401944, {2: 2.452**2, 8: 2.284**2, 14: 2.471**2}),
]


@pytest.mark.parametrize(
    ("make", "metric", "start", "end", "support"),
    PUBLISHED,
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_published_optima_are_local_optima_and_nothing_else_is(make, metric, start, end, support):
    X, y, a, alpha, prior = make()
    how = {"prior": prior, "mean": make is of_toy}
    G, P = gains_of_classes(y), X.shape[1]

    def residual(W):
        found = check(X, y, W, 1.0, alpha, metric, **how)
        return found["residual"], found["objective"]

    ones = residual(np.ones(P))
    assert ones[0] > 0.1
    assert ones[1] == pytest.approx(start, abs=1e-9)
    W = best(X, G, a, alpha, metric)
    at = residual(W)
    assert at[0] <= 1e-6
    assert at[1] == pytest.approx(end, abs=2e-8 if end > 3 else 1e-9)
    assert np.flatnonzero(W).tolist() == sorted(support)
    for l, weight in support.items():
        assert weight is None or W[l] == pytest.approx(weight, rel=1e-3)
    assert residual(np.roll(W, 1))[0] > 0.01
    assert residual(1.01 * W)[0] > 1e-4
    for l in support:
        assert residual(np.where(np.arange(P) == l, 0, W))[0] > 1e-3


def test_no_weight_at_all_is_refused_where_there_is_signal():
    """In w the slope is 0 there, for any data."""
    X, y, _, alpha, _ = of_iris()
    found = check(X, y, np.zeros(4), 1.0, alpha)
    assert found["residual"] > 1
    assert check(X, y, np.zeros(4), 1.0, 1e3)["residual"] == 0
    assert check(X, y, np.zeros(4), metric="euclidean", alpha=alpha)["kink"]
    noise = np.random.default_rng(0).permutation(y)
    assert check(X, noise, np.zeros(4), 1.0, 5.0)["residual"] == 0


def test_a_column_that_is_barely_worth_its_weight_is_found_by_rough_sums(monkeypatch):
    """The penalty is set between the slopes of two columns, a hair below the larger one."""
    rng = np.random.default_rng(0)
    X, codes = rng.random((120, 100)), rng.integers(2, size=120)
    X[:, 0] += codes
    W = np.zeros(100)
    W[0] = 3.0
    g = slope(X, W, gains_of_classes(codes), np.ones(120))[1:]
    top = 1 + int(np.argmax(g))
    requested, request_sums = [], _pairs.Manhattan.request

    def recorded(self, exact, approximate, min_weight):
        requested.append(exact.shape[1])
        return request_sums(self, exact, approximate, min_weight)

    monkeypatch.setattr(_pairs.Manhattan, "request", recorded)
    for below in (1e-3, 1e-6, 1e-9, -1e-9, -1e-6, -1e-5):
        requested.clear()
        alpha = g.max() / (1 + below)
        found = _sums.slopes(
            data(X, codes), _neighbors(X, codes, W), alpha, _sums.GainSums(120, 120, 0), alpha
        )
        value, violated, _ = found
        assert requested == [1, 1]  # the one with weight; the one that float32 leaves undecided
        assert value[top] / alpha == pytest.approx(below, rel=1e-3, abs=1e-12)
        assert (violated[top] > 0) == (below > 0)
        assert violated[1:].max() == max(violated[top], 0)
    far = np.setdiff1d(np.arange(1, 100), np.flatnonzero(g > 0.9 * g.max()) + 1)
    assert (violated[far] == 0).all()


def _neighbors(X, codes, W):
    rows = ncfs.ScaledRows.of(data(X, codes), None, None)
    G = _sums.ClassGains(codes, np.eye(2))
    neighbors = _sums.SoftNeighbors(rows, W, np.ones(len(X)), G, 1.0, "manhattan")
    neighbors.evaluate(data(X, codes))
    return neighbors


def test_rough_sums_lose_no_more_than_is_allowed_for(monkeypatch):
    rng = np.random.default_rng(1)
    for seed in range(5):
        X, codes, s, W = case(seed, n=90, P=80, zeros=True)
        W *= 3
        G = gains_of_classes(codes)
        true = slope(X, W, G, s)
        pairs = _pairs.RowPairs.of(50, 80, 45, 90)
        U = rng.normal(size=(45, 30))
        Z = (X - (X.max(axis=0) + X.min(axis=0)) / 2).astype(np.float32)
        L1 = _pairs.Manhattan(Z[:, :0], np.zeros(0)).request(Z[:, :0], Z, 0.0)
        rough = L1.sums(L1.slope_sums(U, U, pairs))[1]
        D = np.abs(X[pairs.J[:30], None] - X[pairs.J])
        U = pairs.to_matrix(U)
        exact = np.einsum("ij,ijl->l", U, D)
        room = (
            (_pairs.MAX_FLOAT32_TERMS + 4)
            * _sums.FLOAT32_UNIT
            * np.abs(U).sum()
            * np.ptp(X, axis=0)
        )
        assert (np.abs(rough - exact) <= room).all()
        assert (np.abs(rough - exact) > 1e-4 * room).any()
        assert np.isfinite(true).all()


@pytest.mark.parametrize("n", [2, 3, 4, 9, 10])
def test_half_the_steps_meet_every_pair_once_and_all_of_them_twice(n):
    for lines in (1, 2, 3, n):
        for steps in (n // 2, n - 1):
            seen = np.zeros((n, n), dtype=int)
            for start in range(0, n, lines):
                pairs = _pairs.RowPairs.of(start, min(start + lines, n), steps, n)
                own, other = (np.broadcast_to(v, (steps, pairs.b)) for v in (
                    pairs.first(np.arange(n)), pairs.second(np.arange(n))))  # fmt: skip
                np.add.at(seen, (own, other), 1)
                table = own * n + other + 0.0
                matrix = pairs.to_matrix(table)
                assert np.array_equal(pairs.to_table(matrix), table)
                assert np.count_nonzero(matrix) == np.count_nonzero(table)
            met = seen + seen.T
            opposite = (np.arange(n) - np.arange(n)[:, None]) % n == n / 2
            expected = np.where(opposite, 2, 1) if steps == n // 2 else np.full((n, n), 2)
            assert (met == expected * (1 - np.eye(n, dtype=int))).all()


# --- cases of their own kind ----------------------------------------------------------------------


def test_a_root_has_a_kink_that_a_column_without_weight_can_use():
    """Rows that only column 1 tells apart: F rises with √W_1, however large λ is."""
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [0, 0.1], [0, 0.9], [1, 0.1], [1, 0.9]])
    codes = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    G, W = gains_of_classes(codes), np.array([2.0, 0])
    for alpha in (0.01, 5.0):
        F = [objective(X, [2.0, e], G, np.ones(8), 1.0, alpha, "euclidean") for e in (0, 1e-10)]
        assert F[1] > F[0]
    found = check(X, codes, W, 1.0, 0.01, "euclidean")
    assert (found["kink"], found["worst"]) == (True, 1)
    rise = (objective(X, [2.0, 1e-10], G, np.ones(8), metric="euclidean")
            - objective(X, W, G, np.ones(8), metric="euclidean")) / 1e-5  # fmt: skip
    assert found["residual"] * found["unit"] == pytest.approx(rise, rel=1e-3)
    other = check(X, np.array([0, 0, 1, 1, 0, 0, 1, 1]), W, 1.0, 5.0, "euclidean")
    assert not other["kink"]  # rows at distance 0 agree: telling them apart loses


def test_patterns_need_two_columns_and_a_sum():
    X, codes, s, W = case(0)
    assert not check(X, codes, W, metric="phi_s", s=s)["wrong"]
    (message,) = check(X, codes, 2 * W, metric="phi_s", s=s)["wrong"]
    assert message == "the weights sum to 10, not to 5"
    message = check(X, codes, [5.0, 0, 0, 0, 0], metric="phi_s", s=s)["wrong"]
    assert "fewer than two columns" in message[0]


def test_rows_that_cannot_be_compared_are_infinitely_far():
    X = np.array([[1.0, 2, 4], [-1, -2, -4], [3, 1, 0], [0, 5, 1], [2, 2, 2], [3, 3, 3]])
    codes, W = np.array([0, 1, 0, 1, 0, 0]), np.ones(3)
    found = check(X, codes, W, metric="phi_s")
    G = gains_of_classes(codes)
    assert found["objective"] == pytest.approx(objective(X, W, G, np.ones(6), metric="phi_s"))
    g = slope(X, W, G, np.ones(6), metric="phi_s")
    assert found["residual"] * found["unit"] == pytest.approx(np.abs(g).max(), rel=1e-9)
    alone = check(X[:2], codes[:2], W, metric="phi_s")
    assert alone["objective"] == 0
    assert alone["residual"] == 0


@pytest.mark.parametrize("metric", METRICS)
def test_without_a_penalty_slopes_are_measured_by_the_largest_there_can_be(metric):
    X, codes, s, W = case(2)
    found = check(X, codes, W, 0.5, 0.0, metric, s)
    R = np.ptp(X, axis=0).max()
    size = {"manhattan": R, "sqeuclidean": R**2, "euclidean": R / 2, "phi_s": 1 / 5}[metric]
    assert found["unit"] == pytest.approx(s.sum() / (2 * 0.5) * size)
    assert not found["penalized"]
    twice = check(X, codes, W, 0.5, 0.0, metric, 2 * s)
    assert twice["residual"] == pytest.approx(found["residual"])  # of shares, not of sums


def test_columns_that_never_change_have_no_part():
    X, codes, s, W = case(0)
    wide = np.column_stack([np.full(23, 7.0), X])
    for metric in METRICS:
        plain = check(X, codes, W, 1.0, 0.3, metric, s)
        W_wide = np.append(0.0, W)
        if metric == "phi_s":
            W_wide *= 6 / 5
        found = check(wide, codes, W_wide, 1.0, 0.3, metric, s)
        assert found["objective"] == pytest.approx(plain["objective"])
        assert (found["constant"], plain["constant"]) == (1, 0)
    (message,) = check(wide, codes, np.append(0.5, W), 1.0, 0.3, s=s)["wrong"]
    assert message == "column 0 is constant, but has weight 0.5"
    (message,) = check(X, codes, -W, 1.0, 0.3, s=s)["wrong"][:1]
    assert "below 0" in message


# --- what else is said ----------------------------------------------------------------------------


def test_the_score_is_that_of_rows_that_are_left_out():
    X, codes, s, W = case(8, n=40)
    gains = np.array([[1.0, 0.2, 0], [0, 1, 0.5], [-3, 0, 1]])
    p = probabilities(X, W)
    for G in (np.eye(3), gains):
        predicted = (p @ np.eye(3)[codes] @ G).argmax(axis=1)
        score = check(X, codes, W, s=s, gains=G)["score"]
        assert score.value == pytest.approx(np.average(predicted == codes, weights=s))
        assert score.kind == "accuracy"
    y = np.random.default_rng(0).normal(size=40) + 1e6
    score = check(X, y, W, s=s, loss="absolute")["score"]
    error, spread = s @ (y - p @ y) ** 2, s @ (y - np.average(y, weights=s)) ** 2
    assert score.value == pytest.approx(1 - error / spread)
    assert check(X, np.ones(40), W, loss="absolute")["score"].value is None


def test_of_ties_either_answer_will_do():
    """Row 0 has one of each class equally near; row 1 is right, row 2 is wrong."""
    X, codes = np.array([[0.0], [1], [-1]]), [0, 0, 1]
    score = check(X, codes, [1.0], alpha=0.1)["score"]
    assert score[:3] == pytest.approx((2 / 3, 1 / 3, 2 / 3))
    for loo, refused in ((1 / 3, 0), (2 / 3, 0), (0.3, 1), (0.7, 1)):
        found = check(X, codes, [1.0], alpha=0.1, claims={"loo_score": loo})
        assert len(found["wrong"]) == refused


def claims_of(X, y, W, scaling, **how):
    low, reach = X.min(axis=0), np.ptp(X, axis=0)
    shift, scale = {
        "minmax": (low, reach), "standard": (X.mean(axis=0), X.std(axis=0)),
        None: (np.zeros(len(low)), np.ones(len(low))),
    }[scaling]  # fmt: skip
    found = check(X, y, W, 1.0, 0.3, shift=shift, scale=scale, **how)
    used = np.flatnonzero(W)
    claims = {
        "objective": found["objective"], "loo_score": found["score"].value, "scaling": scaling,
        "kept": (((X - shift) / scale)[:, used], used, y),
    }  # fmt: skip
    return claims, {"shift": shift, "scale": scale, **how}


@pytest.mark.parametrize("scaling", ["minmax", "standard", None])
def test_every_claim_that_is_off_is_reported(scaling):
    X, codes, _, W = case(9, zeros=True)
    claims, how = claims_of(X, codes, W, scaling)

    def wrong(claims, **other):
        return check(X, codes, W, 1.0, 0.3, claims=claims, **{**how, **other})["wrong"]

    assert not wrong(claims)
    for name in ("objective", "loo_score"):
        (message,) = wrong({**claims, name: claims[name] * 1.01})
        assert message.startswith(f"{name}_ is ")
    moved = how["shift"] + 0.01
    messages = wrong(claims, shift=moved)
    assert messages[0].startswith("shift_ of column 0 is ")
    assert any("in the rows stored for prediction" in message for message in messages)
    messages = wrong(claims, scale=how["scale"] * 1.01)
    assert any(message.startswith("scale_ of column 0 is ") for message in messages)
    rows, used, y = claims["kept"]
    off = rows.copy()
    off[3, 1] += 1e-9
    (message,) = wrong({**claims, "kept": (off, used, y)})
    assert message == f"row 3, column {used[1]} differs in the rows stored for prediction"
    (message,) = wrong({**claims, "kept": (rows, used + 1, y)})
    assert "are not those with weight" in message
    (message,) = wrong({**claims, "kept": (rows, used, np.roll(y, 1))})
    assert "the y stored for row" in message
    (message,) = wrong({**claims, "kept": (rows[:5], used, y[:5])})
    assert message.startswith("5 rows of")
    (message,) = wrong({**claims, "auto_alpha": 1.01})
    assert message.startswith("alpha_ is 1.01, but alpha='auto' is 1 ")
    assert not wrong({**claims, "auto_alpha": 1.0})


def test_what_auto_makes_of_values_is_recomputed():
    X, _, s, W = case(9, n=30)
    y = np.random.default_rng(0).normal(size=30)
    epsilon = float(np.subtract(*np.percentile(y, [75, 25]))) / 13.49
    how = {"loss": "epsilon_insensitive", "epsilon": epsilon, "s": s}
    L = np.maximum(np.abs(y[:, None] - y) - epsilon, 0)
    alpha = L.sum() / (30 * 29) * s.sum() / 30

    def wrong(**claims):
        return check(X, y, W, 1.0, alpha, claims=claims, **how)["wrong"]

    assert not wrong(auto_alpha=alpha, auto_epsilon=epsilon)
    assert wrong(auto_alpha=alpha * 1.01)[0].startswith("alpha_ is ")
    assert wrong(auto_epsilon=epsilon * 1.01)[0].startswith("epsilon_ is ")


def test_sparse_and_lazy_rows_are_rows():
    X, codes, s, W = case(1)
    X[np.abs(X) < 0.5] = 0
    dense = check(X, codes, W, 1.0, 0.3, s=s)
    rows = Rows(CSR(csr_array(X)), codes[:, None].astype(float), s)
    sparse = ncfs.check(Data(rows), W, 1.0, 0.3, gains=np.eye(3))
    assert (sparse["objective"], sparse["residual"]) == (dense["objective"], dense["residual"])
    whole = check(np.round(X).astype(np.int8), codes, W, 1.0, 0.3, s=s)
    assert whole["objective"] == check(np.round(X), codes, W, 1.0, 0.3, s=s)["objective"]
