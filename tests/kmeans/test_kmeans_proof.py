"""The proof of k-means against plain arithmetic: every row, every centre, every move."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from certus.certificate.data import Data
from certus.data import rows
from certus.data.csr import CSR
from certus.proofs.kmeans import (
    _assignment,
    _move_gains,
    _neighbor_lists,
    kmeans,
)
from certus.proofs.kmeans._move_gains import KMeansCenters
from certus.proofs.kmeans._spectral_bound import spectral_bound
from certus.proofs.kmeans.kmeans import gain_of_move, lloyd_step, nearest, objective
from tests.kmeans.kmeans_cases import blobs, check, data, least_of_all, lloyd

WAYS = {
    "as they come": {},
    "each cluster alone": {"MAX_POOLED_ROWS": 1, "MAX_GROUP_ROWS": 7},
    "all clusters together": {"MAX_POOLED_ROWS": 10**9, "POOLED_GROUP_ROWS": 10**9},
    "few pairs at a time": {"MAX_PAIRS_PER_ROW": 0, "DIFFERENCE_ELEMENTS": 3, "SPARSE_PAIRS": 5},
    "float64 products": {"FLOAT64_COLUMNS": 1},
    "small blocks": {"_block_rows": lambda self, times=1: 7},
    "near centres": {"MIN_CENTERS_FACTOR": 0, "MAX_COLUMNS": 9},
    "few near centres": {
        "MIN_CENTERS_FACTOR": 0,
        "MAX_COLUMNS": 9,
        "LIST_LENGTH_FACTOR": 1,
        "TILE_PAIRS": 5,
        "NEIGHBOR_TILE_ROWS": 3,
    },
}


@pytest.fixture(params=WAYS, ids=list(WAYS))
def variant(request, monkeypatch):
    """Settings of the proof that must not change its results."""
    for name, value in WAYS[request.param].items():
        places = (_assignment, _neighbor_lists, _move_gains, Data)
        where = next(place for place in places if name in vars(place))
        monkeypatch.setattr(where, name, value)
    return request.param


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 90)), int(rng.integers(1, 6))
    k = int(rng.integers(1, min(n, 12)))
    X = rng.normal(size=(n, p)) + [0.0, 1e3, 1e8][seed % 3]
    if seed % 4 == 0:
        X = np.round(X)  # ties, and rows twice
    s = [None, rng.integers(0, 4, size=n) + 0.5 * (seed % 2)][seed % 2]
    mu = X[rng.choice(n, k, replace=False)]
    return X, lloyd(X, mu, s, int(rng.integers(0, 60))), s


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", range(12))
def test_objective_and_step_are_those_of_the_plain_definition(seed, sparse, variant):
    X, mu, s = random_case(seed)
    source = CSR(csr_array(X)) if sparse else X
    labels, _d2 = nearest(X, mu)
    J, k = objective(X, mu, s), len(mu)
    gain = J - objective(X, lloyd_step(X, mu, s), s)
    for claimed in (None, labels):
        result = check(source, mu, claimed, s)
        assert result["objective"] == pytest.approx(J, rel=1e-9, abs=1e-12)
        assert not result["wrong"]
        weight = np.bincount(labels, s, k)
        if (weight == 0).any():
            continue  # the step of the check fills empty clusters
        if result["residual"] > 1e-6:
            assert result["gain"] == pytest.approx(gain, rel=1e-5, abs=1e-9 * J)
        else:
            assert gain <= 1e-6 * J


@pytest.mark.parametrize("seed", range(12))
def test_hartigans_test_finds_what_all_moves_find(seed, variant):
    X, mu, s = random_case(seed)
    mu = lloyd(X, mu, s)
    labels, _ = nearest(X, mu)
    weight = np.bincount(labels, s, len(mu))
    result = check(X, mu, labels, s)
    if (weight == 0).any() or result["objective"] < 1e-9:
        pytest.skip("degenerate")
    gains = {
        (i, b): gain_of_move(X, labels, i, b, s)
        for i in range(len(X))
        for b in range(len(mu))
        if b != labels[i] and (s is None or 0 < s[i] < weight[labels[i]])
    }
    most = max(gains.values(), default=0.0)
    small = 1e-9 * result["objective"]
    if most <= small:
        assert result["move"] is None or result["move"]["gain"] <= 2 * small
        return
    move = result["move"]
    assert gains[move["row"], move["to"]] == pytest.approx(move["gain"], rel=1e-5, abs=small)
    # of a row with several such moves the one of the largest F is taken, which need not gain most
    assert move["gain"] >= 0.4 * most
    rows_that_gain = {i for (i, _), gain in gains.items() if gain > small}
    assert abs(result["movable"] - len(rows_that_gain)) <= len(rows_that_gain) * 0.05


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("far", [0.0, 1e8])
def test_every_wrong_label_is_found_and_named(sparse, far, variant):
    X = blobs(1, n=200, p=3, k=4, far=far)
    mu = lloyd(X, X[[0, 50, 100, 150]])
    labels, d2 = nearest(X, mu)
    source = CSR(csr_array(X)) if sparse else X
    for i in (0, 77, 199):
        claimed = labels.copy()
        claimed[i] = (labels[i] + 1) % 4
        (message,) = check(source, mu, claimed)["wrong"]
        assert message.startswith(f"row {i} is labelled {claimed[i]}, whose centre is ")
        assert f"that of {labels[i]} is {np.sqrt(d2[i]):.6g} away" in message
    every = check(source, mu, (labels + 1) % 4)
    assert "(200 such rows)" in every["wrong"][0]
    assert every["objective"] == pytest.approx(objective(X, mu), rel=1e-9)


def test_many_wrong_labels_of_many_rows_are_put_right_at_once(monkeypatch):
    monkeypatch.setattr(kmeans, "MIN_PROBE_WORK", 0)
    X = blobs(2, n=3000)
    mu = lloyd(X, X[[0, 10, 20]])
    labels, _ = nearest(X, mu)
    calls = []
    monkeypatch.setattr(
        kmeans,
        "approximate_labels",
        lambda *args: calls.append(1) or _assignment.approximate_labels(*args),
    )
    result = check(X, mu, (labels + 1) % 3)
    assert len(calls) == 2  # a few rows, then all
    assert "(3,000 such rows)" in result["wrong"][0]
    calls.clear()
    assert not check(X, mu, labels)["wrong"]
    assert len(calls) == 1


def test_labels_of_no_centre_are_named():
    X = blobs(0)
    mu = lloyd(X, X[:3])
    labels, _ = nearest(X, mu)
    labels[[5, 9]] = 7, -1
    wrong = check(X, mu, labels)["wrong"]
    assert wrong[0] == "row 5 is labelled 7, and there are 3 centres"
    assert wrong[1] == "row 9 is labelled -1, and there are 3 centres"


def test_a_tie_is_nobodys_fault_and_goes_where_the_labels_say(variant, monkeypatch):
    X = np.array([[-3.0], [-1.0], [0.0], [1.0], [3.0]])
    mu = np.array([[-4 / 3], [2.0]])  # means, if the row at 0 is in the first
    assert check(X, mu, np.array([0, 0, 0, 1, 1]))["residual"] <= 1e-14
    mu = np.array([[-2.0], [2.0]])
    for label in (0, 1):
        result = check(X, mu, np.array([0, 0, label, 1, 1]))
        assert not result["wrong"]
        assert result["ties"].tolist() == [[2], [label]]
        again = check(X, mu, ties=result["ties"])
        assert again["gain"] == result["gain"]
        assert again["ties"].tolist() == result["ties"].tolist()
    # without labels, of equally near centres the first, wherever the search began
    assert check(X, mu)["ties"].tolist() == [[2], [0]]
    monkeypatch.setattr(
        kmeans, "approximate_labels", lambda X, y, s, labels, mu: labels.fill(1) or (0,)
    )
    assert check(X, mu)["ties"].tolist() == [[2], [0]]


def test_ties_in_later_blocks_have_their_own_row_numbers(variant):
    X = np.array([[-2.0], [2.0]] * 20 + [[0.0]])
    result = check(X, np.array([[-2.0], [2.0]]), np.array([0, 1] * 20 + [1]))
    assert result["ties"].tolist() == [[40], [1]]


def test_a_small_cluster_that_would_gain_more_does_not_hide_a_nearer_centre(variant):
    X = np.repeat([0.0, 10.0, 7 + 50**0.5, 7.0], [50, 50, 1, 1])[:, None]
    mu = np.array([[0.0], [10.0], [7 + 50**0.5]])
    labels, _ = nearest(X, mu)
    assert labels[-1] == 1
    labels[-1] = 0
    (message,) = check(X, mu, labels)["wrong"]
    assert message.startswith("row 101 is labelled 0")


@pytest.mark.parametrize("kind", [np.float32, float])
@pytest.mark.parametrize("seed", range(8))
def test_products_are_off_by_no_more_than_is_allowed_for(seed, kind, monkeypatch):
    """F in exact arithmetic against T + t ± E."""
    monkeypatch.setattr(_move_gains, "FLOAT64_COLUMNS", 4096 if kind is np.float32 else 1)
    rng = np.random.default_rng(seed)
    p, k, m = 5, 6, 12
    size = 10.0 ** rng.integers(-8, 9)
    X = size * (rng.normal(size=(m, p)) * 10.0 ** rng.integers(-3, 3, size=p) + 100 * (seed % 2))
    mu = size * (rng.normal(size=(k, p)) + 100 * (seed % 2))
    own, s = np.sort(rng.integers(k, size=m)), rng.uniform(0.1, 5, size=m)
    n = np.bincount(own, s, k) + rng.uniform(0, 3, size=k)
    centers = KMeansCenters.of(mu, n, False, False)
    sigma = _assignment.leaving(s, n[own])
    work = _move_gains.WorkArrays.of(X, m, k)
    block = _move_gains.Block(X, np.arange(m), own, s, sigma, np.empty(m), work)
    groups = [(0, m, _move_gains.gains_of_clusters)]
    for a in np.unique(own):
        where = np.flatnonzero(own == a)
        groups.append((where[0], where[-1] + 1, _move_gains.gains_of_cluster))
    evaluated = 0
    for start, stop, function in groups:
        bounds = function(block, slice(start, stop), centers, np.zeros((k, p)))
        assert bounds.T.dtype == kind or not bounds.T.size
        for i in range(start, stop):
            for row, b in enumerate(bounds.candidates):
                if b == own[i]:
                    assert bounds.T[row, i - start] == -np.inf
                    continue
                exact = exact_F(X[i], mu[own[i]], mu[b], sigma[i], centers.over_n[[own[i], b]])
                result = Fraction(float(bounds.T[row, i - start])) + Fraction(
                    float(bounds.t[i - start])
                )
                assert abs(result - exact * Fraction(bounds.unit)) <= Fraction(bounds.E)
                evaluated += 1
    assert evaluated > m * (k - 1)


def exact_F(x, mu_a, mu_b, sigma, over_n):
    x, mu_a, mu_b = ([Fraction(float(v)) for v in row] for row in (x, mu_a, mu_b))
    a = sum((v - m) ** 2 for v, m in zip(x, mu_a, strict=True))
    b = sum((v - m) ** 2 for v, m in zip(x, mu_b, strict=True))
    return a - b + Fraction(float(sigma)) * a * sum(Fraction(float(v)) for v in over_n)


def test_centres_that_are_left_out_could_not_have_mattered():
    """Along a line: far centres are never compared, and yet every row is proven."""
    X = np.random.default_rng(0).uniform(0, 400, size=(4000, 1))
    mu = lloyd(X, np.arange(2, 400, 4.0)[:, None], steps=9)
    labels, _ = nearest(X, mu)
    d = data(X)
    n = np.bincount(labels, minlength=len(mu)).astype(float)
    centers = KMeansCenters.of(mu, n, False, False)
    block = _move_gains.Block(
        X, np.argsort(labels, kind="stable"), np.sort(labels), np.ones(len(X)),
        _assignment.leaving(np.ones(len(X)), n[np.sort(labels)]), np.empty(len(X)),
        _move_gains.WorkArrays.of(X, len(X), len(mu)),
    )  # fmt: skip
    bounds = _move_gains.gains_of_cluster(block, slice(0, int(n[0])), centers, np.zeros(mu.shape))
    assert bounds.candidates.tolist() == [1]
    sums = _assignment.prove_labels(d, mu, labels.copy()).sums
    assert sums.moved == 0
    assert pytest.approx(objective(X, mu)) == sums.J


def test_same_bits_on_any_number_of_threads_and_nearly_in_any_block_size(monkeypatch):
    X = np.random.default_rng(3).normal(size=(20_000, 16))
    mu = lloyd(X, X[:12], steps=3)
    labels, _ = nearest(X, mu)
    labels[::1000] = 0
    one, two = (check(X, mu, labels, threads=threads) for threads in (1, 2))
    assert one["objective"] == two["objective"]
    assert one["gain"] == two["gain"]
    assert one["wrong"] == two["wrong"]
    assert one["movable"] == two["movable"] > 0
    monkeypatch.setattr(rows, "BLOCK_BYTES", 1 << 14)
    small = check(X, mu, labels)
    assert small["objective"] == pytest.approx(one["objective"], rel=1e-12)
    assert small["gain"] == pytest.approx(one["gain"], rel=1e-9)
    assert small["wrong"] == one["wrong"]
    assert small["movable"] == one["movable"]


@pytest.mark.parametrize("far", [0.0, 300.0, 1e5])
def test_float32_rows_are_forgiven_the_digits_that_their_centres_do_not_have(far):
    X = blobs(4, n=500, p=3, far=far).astype(np.float32)
    mu = X[[0, 200, 400]]
    for _ in range(100):
        mu = lloyd_step(X, mu).astype(np.float32)
    labels, _ = nearest(X, mu)
    result = check(X, mu, labels)
    assert not result["wrong"]
    assert result["residual"] <= 1e-6
    moved = mu + np.float32(0.05)
    assert check(X, moved, nearest(X, moved)[0])["residual"] > 1e-6


# --- weights, empty clusters, few points ----------------------------------------------------------


def test_a_weight_of_two_is_the_row_twice():
    X, rng = blobs(5, n=40), np.random.default_rng(0)
    s = rng.integers(1, 4, size=40).astype(float)
    mu = lloyd(X, X[:3], s, steps=2)
    labels, _ = nearest(X, mu)
    twice = np.repeat(np.arange(40), s.astype(int))
    weighted, repeated = check(X, mu, labels, s), check(X[twice], mu, labels[twice])
    for name in ("objective", "gain", "residual"):
        assert weighted[name] == pytest.approx(repeated[name], rel=1e-12)


def test_rows_of_weight_0_count_for_nothing_but_have_a_nearest_centre():
    X = np.vstack([blobs(6, n=30), [[100.0, 100.0]]])
    s = np.append(np.ones(30), 0.0)
    mu = lloyd(X[:30], X[:3])
    labels, _ = nearest(X, mu)
    result = check(X, mu, labels, s)
    assert result["objective"] == pytest.approx(objective(X[:30], mu))
    assert result["residual"] <= 1e-12
    labels[30] = (labels[30] + 1) % 3
    assert "row 30" in check(X, mu, labels, s)["wrong"][0]


def test_weights_of_any_size_give_the_same_finding():
    X = blobs(7, n=50)
    mu = lloyd(X, X[:3])
    labels, _ = nearest(X, mu)
    plain = check(X, mu, labels)
    for size in (1e-60, 1e60):
        result = check(X, mu, labels, np.full(50, size))
        assert result["objective"] == pytest.approx(size * plain["objective"])
        assert result["movable"] == plain["movable"]
        assert result["residual"] <= 1e-12


def test_an_empty_cluster_could_take_a_row():
    X = blobs(8, n=30)
    mu = np.vstack([lloyd(X, X[:2]), [[1e3, 1e3]]])
    result = check(X, mu)
    labels, _ = nearest(X, mu)
    best = max(gain_of_move(X, labels, i, 2) for i in range(30))
    assert result["gain"] == pytest.approx(best)
    assert result["residual"] > 1e-6
    assert result["effective"] == 2
    assert result["degenerate"] is None


@pytest.mark.parametrize("far", [0.0, 1.1, 1e8])
@pytest.mark.parametrize(("points", "k"), [(1, 3), (9, 10), (2, 2)])
def test_fewer_points_than_clusters_leave_an_objective_of_0(points, k, far):
    X = (np.arange(points) / 3 + far)[np.arange(17) % points][:, None]
    mu = np.vstack([np.unique(X, axis=0), np.full((k - points, 1), X[0])])
    result = check(X, mu, nearest(X, mu)[0])
    assert result["objective"] == 0
    assert result["residual"] == 0
    assert (result["bound"], result["gap"]) == (0, 0)
    assert result["degenerate"] == (points if points < k else None)
    assert result["effective"] == points


def test_one_row_and_as_many_clusters_as_rows():
    result = check(np.array([[3.0, 4.0]]), np.array([[3.0, 4.0]]), np.array([0]))
    assert (result["objective"], result["residual"], result["degenerate"]) == (0, 0, None)
    X = blobs(9, n=7)
    result = check(X, X, np.arange(7))
    assert (result["objective"], result["residual"], result["degenerate"]) == (0, 0, None)


def test_a_row_that_is_alone_has_nothing_to_gain():
    X = np.array([[0.0], [0.1], [9.0]])
    result = check(X, np.array([[0.05], [9.0]]), np.array([0, 0, 1]))
    assert result["move"] is None
    assert result["movable"] == 0


# --- one more step --------------------------------------------------------------------------------


def test_at_a_fixed_point_one_pass_is_enough(monkeypatch):
    X = blobs(10, n=400, far=50.0)
    mu = lloyd(X, X[:3])
    passes = []
    settle = kmeans.prove_labels
    monkeypatch.setattr(
        kmeans, "prove_labels", lambda *a, **params: passes.append(1) or settle(*a, **params)
    )
    assert check(X, mu, nearest(X, mu)[0])["residual"] <= 1e-9
    assert len(passes) == 1
    check(X, mu + 0.1, nearest(X, mu + 0.1)[0], ours=True)  # the gain of the means suffices
    assert len(passes) == 2
    check(X, mu + 0.1, nearest(X, mu + 0.1)[0], ours=False)  # no row is near two centres
    assert len(passes) == 3
    noise = np.random.default_rng(0).uniform(size=(400, 5))
    check(noise, noise[:9], nearest(noise, noise[:9])[0], ours=False)  # many are
    assert len(passes) == 5


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("dtype", "off"), [(np.float64, 1e-6), (np.float32, 1e-3)])
@pytest.mark.parametrize("seed", range(8))
def test_rows_that_may_change_their_centre_tell_what_a_step_gains(
    seed, dtype, off, weighted, monkeypatch
):
    """For fits stopped near their end. In float32, labels of others may be slightly off."""
    rng = np.random.default_rng(seed)
    places = 1.5 * rng.normal(size=(5, 6))
    X = (places[rng.integers(5, size=2000)] + rng.normal(size=(2000, 6))).astype(dtype)
    s = rng.uniform(0.5, 2, size=2000) if weighted else None
    mu = X[:5].astype(float)
    counts, settle = [], kmeans.prove_labels
    monkeypatch.setattr(
        kmeans, "prove_labels", lambda *a, **params: counts.append(1) or settle(*a, **params)
    )
    for step in range(25):
        mu = lloyd_step(X, mu, s).astype(dtype).astype(float)
        after = lloyd_step(X, mu, s).astype(dtype).astype(float)
        true = objective(X, mu, s) - objective(X, after, s)
        result = check(X, mu, nearest(X, mu)[0], s, tol=1e-9, ours=False)
        assert result["gain"] == pytest.approx(true, rel=off, abs=1e-9 * result["objective"]), step
    assert len(counts) < 45  # the others needed a second pass over all rows


@pytest.mark.parametrize("seed", range(10))
def test_what_is_called_small_bounds_the_step(seed):
    """Centres slightly off: the limit that saves the second pass is never below the true gain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 2))
    mu = lloyd(X, X[:6]) + 1e-6 * rng.normal(size=(6, 2))
    result = check(X, mu, nearest(X, mu)[0], tol=1.0)  # anything is small enough
    gain = objective(X, mu) - objective(X, lloyd_step(X, mu))
    assert gain <= result["gain"]
    assert result["gain"] <= 1e-4 * result["objective"]


# --- the spectral bound ---------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "p", "k"), [(8, 3, 2), (7, 3, 3), (6, 9, 3), (6, 2, 1)])
def test_no_assignment_of_rows_is_below_the_spectral_bound(n, p, k, weighted):
    rng = np.random.default_rng(n * p)
    X = rng.normal(size=(n, p)) + 3 * rng.integers(0, 2, size=(n, 1)) + 1e4
    s = rng.uniform(0.5, 2, size=n) if weighted else None
    value, why = spectral_bound(data(X, s), k, X[0])
    least = least_of_all(X, k, s)
    assert why == ""
    assert 0 < value <= least
    if k == 1:
        assert value == pytest.approx(least)


def test_the_spectral_bound_is_tight_where_clusters_are_points_but_for_one_direction():
    """Rows along one line, at 0 and 10: beyond the line they vary in a direction that is left."""
    rng = np.random.default_rng(0)
    X = np.c_[np.repeat([0.0, 10.0], 200), rng.normal(size=400)]
    X[:, 1] -= np.repeat(X[:, 1].reshape(2, 200).mean(axis=1), 200)
    mu = np.array([[0.0, 0.0], [10.0, 0.0]])
    result = check(X, mu, bound=True)
    assert result["bound"] == pytest.approx(result["objective"], rel=1e-9)
    assert result["objective"] - result["bound"] <= result["gap"] <= 1e-9 * result["objective"]


def test_more_clusters_than_directions_have_no_bound():
    value, why = spectral_bound(data(blobs(11, p=2, k=3)), 3, np.zeros(2))
    assert value is None
    assert why.startswith("the rows vary in no more than 2 directions")


def test_a_matrix_that_is_too_large_is_not_made():
    X = CSR(csr_array(np.ones((1, 10**6))))
    # with one row there is one eigenvalue, with 5,000 rows there are too many
    value, why = spectral_bound(data(X), 1, np.ones(10**6))
    assert value == 0
    wide = data(X)
    wide.shape = (5000, 10**6)
    value, why = spectral_bound(wide, 1, np.ones(10**6))
    assert value is None
    assert why == "it would take all eigenvalues of a matrix of 5,000 rows"


def test_a_weak_bound_is_not_given():
    X = np.random.default_rng(0).normal(size=(300, 3))
    mu = lloyd(X, X[:3])
    assert check(X, mu, bound=True)["bound"] is not None
    X = X * [10.0, 1.0, 0.1]
    mu = lloyd(X, X[:3])
    result = check(X, mu, bound=True)
    assert result["bound"] is None
    assert result["gap"] == np.inf
    assert result["spectral"] < 0.5 * result["objective"]
    assert "spectral" not in check(X, mu)


def test_one_cluster_is_optimal_and_known_to_be():
    X = blobs(12, n=100, far=1e3)
    result = check(X, X.mean(axis=0)[None])
    assert result["bound"] <= objective(X, X.mean(axis=0)[None])
    assert result["gap"] <= 1e-10 * result["objective"]
    off = check(X, X.mean(axis=0)[None] + 1.0)
    assert off["gap"] >= objective(X, X.mean(axis=0)[None] + 1) - result["objective"]


# --- other claims ---------------------------------------------------------------------------------


def test_objectives_that_disagree_are_named():
    X = blobs(13)
    mu = lloyd(X, X[:3])
    labels, J = nearest(X, mu)[0], objective(X, mu)
    assert not check(X, mu, labels, inertia=J * (1 + 1e-12), restarts=[J, 2 * J])["wrong"]
    (message,) = check(X, mu, labels, inertia=1.01 * J)["wrong"]
    assert message.startswith("inertia_ is ")
    (message,) = check(X, mu, labels, restarts=[0.9 * J, J])["wrong"]
    assert message.startswith("a restart reached ")
    (message,) = check(X, mu, labels, rose=1e-3)["wrong"]
    assert message == "the objective rose by a share of 0.001 between two steps"
    assert "inertia_ is nan" in check(X, mu, labels, inertia=np.nan)["wrong"][0]


def test_restarts_that_agree_are_counted():
    X = blobs(14)
    mu = lloyd(X, X[:3])
    J = objective(X, mu)
    result = check(X, mu, restarts=J * np.array([1, 1 + 1e-7, 1.36, 1 + 1e-5]))
    assert result["restarts"] == (2, 4, pytest.approx(0.36))


def test_others_are_forgiven_what_their_formula_loses_and_certus_is_not():
    X = np.vstack([blobs(15), [[3.0 + 2e-14, 3.0]]])
    mu = np.array([[0.0, 0.0], [6.0, 6.0], [12.0, 12.0]])
    labels, _ = nearest(X, mu)
    labels[-1] = 0
    assert "row 60" in check(X, mu, labels)["wrong"][0]
    assert not check(X, mu, labels, ours=False)["wrong"]
    labels[0] = (labels[0] + 1) % 3
    assert "row 0" in check(X, mu, labels, ours=False)["wrong"][0]
