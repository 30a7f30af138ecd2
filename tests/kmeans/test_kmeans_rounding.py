"""k-means where rounding could exceed the objective: far rows, far origins, wide weights.

The judge computes in fractions: the objective, one more Lloyd step with its centres rounded as the
model stores them, and every single row's move.
"""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as peers

import certus
from certus.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from certus.data.rows import Rows
from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.solvers.kmeans.assigner import assigner
from certus.solvers.kmeans.differences import DifferenceAssigner
from tests.kmeans.kmeans_cases import blobs, check

K = 4


def spread_out(seed=0, n=60):
    """Rows for which centres at the first four rows are far from a local optimum."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, 2))[rng.integers(4, size=n)] * 2 + rng.normal(size=(n, 2))


def sentinel(value, dtype=float):
    X = spread_out().astype(dtype)
    X[17] = value
    return X


def constant_column(value):
    X = 1e-6 * spread_out()
    X[:, 0] = value
    return X


CASES = {
    "float32, a row at 1e6": sentinel(1e6, np.float32),
    "a row at 1e9": sentinel(1e9),
    "a row at 1e16": sentinel(1e16),
    "a row at 1e40": sentinel(1e40),
    "a row at 1e140": sentinel(1e140),
    "a column at 1.7e9": constant_column(1.7e9),
    "a column at 1.7e9 / 3": constant_column(1.7e9 / 3),
    "float32 at 1e4": (spread_out() + 1e4).astype(np.float32),
    "at 1e8": spread_out() * 1e-3 + 1e8,
    "times 1e150": spread_out() * 1e150,
    "times 1e-130": spread_out() * 1e-130,
    "columns of scales 1e9 and 1e-9": spread_out() * [1e9, 1e-9],
}
each_case = pytest.mark.parametrize("X", CASES.values(), ids=list(CASES))


@pytest.fixture(params=["few rows", "bounds"])
def solver(request, monkeypatch):
    """Small problems have a separate loop; the tests run both."""
    if request.param == "bounds":
        monkeypatch.setattr("certus.solvers.kmeans.small.MAX_SMALL_WORK", 0)


def start(X):
    """Return four rows, among them the far one if there is one."""
    return X[[17, 1, 2, 3]].astype(float)


def fractions(A):
    return [[Fraction(float(a)) for a in row] for row in np.asarray(A, dtype=float)]


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


class Judge:
    """Exact: J, what one more step gains, and what the best move of one row gains, shares of J."""

    def __init__(self, X, centers, labels, s=None):
        single = X.dtype == np.float32
        X, mu = fractions(X), fractions(centers)
        s = [Fraction(1)] * len(X) if s is None else [Fraction(float(w)) for w in s]
        D = [[squared(x, m) for m in mu] for x in X]
        self.nearest = all(d[a] == min(d) for d, a in zip(D, labels, strict=True))
        self.J = sum(w * min(d) for w, d in zip(s, D, strict=True))
        mass = [sum(w for w, a in zip(s, labels, strict=True) if a == k) for k in range(len(mu))]
        means = [
            [
                sum(w * x[j] for x, w, a in zip(X, s, labels, strict=True) if a == k) / mass[k]
                for j in range(len(mu[0]))
            ]
            if mass[k] > 0
            else mu[k]
            for k in range(len(mu))
        ]
        kind = np.float32 if single else np.float64
        stored = fractions([[float(kind(float(a))) for a in m] for m in means])
        after = sum(w * min(squared(x, m) for m in stored) for x, w in zip(X, s, strict=True))
        self.gain = (self.J - after) / self.J if self.J else Fraction(0)
        moves = [
            w * mass[a] / (mass[a] - w) * squared(x, means[a])
            - w * mass[b] / (mass[b] + w) * squared(x, means[b])
            for x, w, a in zip(X, s, labels, strict=True)
            for b in range(len(mu))
            if b != a and 0 < w < mass[a]
        ]
        self.move = max([Fraction(0), *moves]) / self.J if self.J else Fraction(0)


def holds(model, X, s=None):
    """What the certificate prints is not below the truth."""
    c, truth = model.certificate_, Judge(X, model.cluster_centers_, model.labels_, s)
    assert truth.nearest
    assert c.objective == pytest.approx(float(truth.J), rel=1e-12)
    assert truth.gain <= Fraction(c.residual)
    if c._finding.move is None and not c._finding.untested:
        assert truth.move <= Fraction(c._finding.moves_at_most)


@each_case
def test_one_step_is_no_local_optimum(X, solver):
    with pytest.warns(NotCertifiedWarning):
        model = KMeans(K, init=start(X), max_iter=1).fit(X)
    assert model.certificate_.status == "not a local optimum"
    assert Judge(X, model.cluster_centers_, model.labels_).gain > 1e-3


@each_case
def test_the_fit_goes_on_to_a_local_optimum_and_says_no_more_than_is_true(X, solver):
    model = KMeans(K, init=start(X)).fit(X)
    assert model.certificate_.status == "local optimum"
    assert model.certificate_.bound is None
    holds(model, X)


@each_case
def test_bisections_end_at_local_optima_of_their_splits(X):
    model = BisectingKMeans(3, random_state=0).fit(X)
    assert model.split_certified_.all()
    c = model.certificate_
    if c.certified:
        labels = np.argmin([[squared(x, m) for m in fractions(model.cluster_centers_)]
                            for x in fractions(X)], axis=1)  # fmt: skip
        assert Judge(X, model.cluster_centers_, labels).gain <= Fraction(c.residual)


@each_case
def test_mini_batches_do_not_claim_an_optimum_that_they_have_not_reached(X):
    model = MiniBatchKMeans(K, init=start(X), max_iter=1).fit(X)
    gain = Judge(X, model.cluster_centers_, model.labels_).gain
    assert gain > 1e-6
    assert model.certificate_.status == "not a local optimum"


@pytest.mark.parametrize(
    ("peer", "X"),
    [
        (peers.KMeans, sentinel(1e6, np.float32)),
        (peers.KMeans, sentinel(1e16)),
        (peers.KMeans, constant_column(1.7e9)),
        (peers.MiniBatchKMeans, sentinel(1e6, np.float32)),
        (peers.MiniBatchKMeans, constant_column(1.7e9)),
        (peers.BisectingKMeans, constant_column(1.7e9)),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_others_are_not_at_a_local_optimum_either(peer, X):
    params = {} if peer is peers.BisectingKMeans else {"init": start(X), "n_init": 1}
    model = peer(K, max_iter=1, random_state=0, **params).fit(X)
    labels = np.argmin(
        [[squared(x, m) for m in fractions(model.cluster_centers_)] for x in fractions(X)], axis=1
    )
    assert Judge(X, model.cluster_centers_, labels).gain > 1e-6
    assert not certus.verify(model, X).certified


def test_a_far_row_does_not_excuse_the_labels_of_others():
    """‖x‖² − 2xᵀμ + ‖μ‖² in float32 is all rounding here, which does not excuse wrong labels."""
    X = sentinel(1e6, np.float32)
    model = KMeans(K, init=start(X)).fit(X)
    labels = model.labels_.copy()
    others = np.flatnonzero(labels != labels[17])
    labels[others] = np.where(labels[others] == labels[0], labels[1], labels[0])
    result = check(X, model.cluster_centers_, labels, ours=False)
    assert "such rows" in result["wrong"][0]
    assert not check(X, model.cluster_centers_, model.labels_, ours=False)["wrong"]
    queried = np.arange(len(X))
    answers = queried, labels
    result = check(X, model.cluster_centers_, model.labels_, ours=False, predicted=answers)
    assert result["wrong"][0].startswith("predict puts row")


@pytest.mark.parametrize("power", [-12, 12])
def test_weights_far_above_the_others(power, solver):
    X, s = spread_out(), np.ones(60)
    s[::7] = 10.0**power
    model = KMeans(K, init=start(X)).fit(X, sample_weight=s)
    assert model.certificate_.certified
    holds(model, X, s)


def test_a_row_that_holds_the_weight_of_its_cluster_is_not_tested_and_that_is_stated():
    X, s = blobs(3, n=30, k=2), np.ones(30)
    s[4] = 1e13
    model = KMeans(2, random_state=0).fit(X, sample_weight=s)
    assert model.certificate_._finding.untested == 1
    assert "except 1 with nearly all weight of their clusters" in model.certificate_.explain()


# --- one point a cluster --------------------------------------------------------------------------


@pytest.mark.parametrize("far", [0.0, 1e9])
@pytest.mark.parametrize("n", [300, 6000])
def test_equal_rows_are_degenerate_however_their_means_round(n, far, solver):
    X = np.repeat(spread_out()[:3] * 0.1 + far, n // 3, axis=0)
    with pytest.warns(DegenerateWarning, match="hold 3 distinct points"):
        model = KMeans(5, random_state=0).fit(X)
    assert model.certificate_.status == "degenerate"
    assert model.inertia_ == 0
    assert model.n_clusters_effective_ == 3


def test_rows_that_differ_in_the_last_digit_are_not_one_point():
    """Beside a column at 1e9, an objective of 1e-20 looks like rounding; the rows hold it."""
    X = np.zeros((9, 2))
    X[:, 0], X[:, 1] = 1e9, np.arange(9) * 1e-10
    result = check(X, [[1e9, 1e-10], [1e9, 5e-10]])
    assert result["bound"] is None
    assert result["degenerate"] is None
    assert result["residual"] > 0.1
    with pytest.warns(NotCertifiedWarning):
        assert not KMeans(2, init=X[:2], max_iter=1).fit(X).certificate_.certified


def test_empty_clusters_find_rows_beside_a_column_at_1e9():
    X = constant_column(1.7e9)
    init = np.array([[1.7e9, 0.0], [1.7e9, 0.0], [1.7e9, 0.0]])
    model = KMeans(3, init=init).fit(X)
    assert model.n_clusters_effective_ == 3
    assert model.certificate_.certified


def test_centres_off_by_rounding_are_at_their_points_and_the_gap_says_so():
    X = np.repeat([[0.1, 1e3], [0.7, 2e3]], 5, axis=0)
    mu = np.nextafter(X[[0, 5]], np.inf)
    result = check(X, mu, ours=False)
    assert 0 < result["objective"] == result["gap"]
    assert result["bound"] == 0
    beyond = mu + np.array([[1e-12, 0.0], [0.0, 0.0]])
    assert check(X, beyond, ours=False)["bound"] is None


def test_squares_that_vanish_prove_nothing():
    X = np.array([[0.0], [1e-170], [2e-170], [1.0]])
    mu = np.array([[1e-170], [1.0]])
    model = KMeans(2)
    model.cluster_centers_, model.labels_ = mu, np.array([0, 0, 0, 1])
    model.inertia_, model.n_iter_, model.n_features_in_ = 0.0, 3, 1
    c = certus.verify(model, X)
    assert (c.status, c.certified) == ("not proven", False)
    assert "squares of differences so small underflow" in c.explain()
    assert "not proven" in repr(c)


def test_centres_of_few_digits_are_said_to_be_so():
    X = (spread_out(n=400) + 3e5).astype(np.float32)
    model = KMeans(K, random_state=0).fit(X)
    assert model.certificate_.certified
    assert model.certificate_._finding.unrounded > 1e-6
    assert "as stored numbers" in model.certificate_.explain()


# --- the solver's labels --------------------------------------------------------------------------


@pytest.mark.parametrize("far", [1e3, 1e9, 1e20, 1e40, 1e100])
@pytest.mark.parametrize("p", [2, 8, 40])
@pytest.mark.parametrize("k", [2, 20, 40])
def test_labels_are_nearest_whatever_the_range_of_rows(far, p, k):
    rng = np.random.default_rng(p + k)
    X = rng.normal(size=(400, p))
    X[[7, 200, 399]] *= far
    C = X[rng.choice(400, k, replace=False)]
    C[0] = X[7]
    engine = assigner(Rows(X), k)
    assert isinstance(engine, DifferenceAssigner) == (far > 1e9)
    for _ in range(3):
        engine.move_to(C)
        D = np.stack([((X - m) ** 2).sum(axis=1) for m in C])
        assert (D[engine.labels, np.arange(400)] <= D.min(axis=0) * (1 + 1e-13)).all()
        mass = np.bincount(engine.labels, minlength=k)
        C = C + engine.distances_to_own_center().residual_sums / np.maximum(mass, 1)[:, None]


# --- sparse rows in blocks, and threads -----------------------------------------------------------


def topics(seed, n=3000, p=60):
    """Sparse rows sorted by topic: after a few steps whole blocks have no row that moves."""
    rng = np.random.default_rng(seed)
    topic = np.sort(rng.integers(3, size=n))
    X = np.where(rng.random((n, p)) < 0.05, rng.random((n, p)), 0.0)
    X[np.arange(n), topic * 20 + rng.integers(20, size=n)] += 3.0
    return X


@pytest.mark.parametrize("cls", [KMeans, BisectingKMeans])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_a_block_without_a_moved_row_adds_nothing(cls, seed, weighted):
    X = topics(seed)
    s = np.random.default_rng(seed).random(len(X)) if weighted else None
    model, dense = (
        cls(6, random_state=seed).fit(data, sample_weight=s) for data in (sp.csr_array(X), X)
    )
    np.testing.assert_allclose(model.inertia_, dense.inertia_, rtol=1e-9)


def test_splits_claim_the_same_bits_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("certus.data.rows.SMALL_WORK", 0)
    X = np.random.default_rng(0).normal(size=(9000, 12))
    result = []
    for threads in (1, 2, 3, 4):
        with certus.config_context(threads=threads):
            model = BisectingKMeans(4, random_state=0).fit(X)
            result.append(model.split_residuals_.tobytes() + model.inertia_.hex().encode())
    assert len(set(result)) == 1
