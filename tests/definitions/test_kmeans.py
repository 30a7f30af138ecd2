"""The page of k-means: against loops, brute force and the proof."""

import inspect
from itertools import product

import numpy as np
import pytest
import sklearn.cluster as peers

import certus
from certus.certificate.data import Data
from certus.certificate.pages import clusters
from certus.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from certus.data.rows import Rows
from certus.definitions import kmeans as page
from certus.proofs.kmeans import kmeans as proof
from tests.definitions.lines import lines_to_read

TOL = 1e-6


def spread(seed=0, n=60, p=2, k=4):
    """Rows around k points, which overlap."""
    rng = np.random.default_rng(seed)
    return 2 * rng.normal(size=(k, p))[rng.integers(k, size=n)] + rng.normal(size=(n, p))


def weights(n, seed=0):
    s = np.random.default_rng(seed).uniform(0.2, 2, n)
    s[::7] = 0.0
    return s


def check(X, mu, s=None, **how):
    return page.check(X, None, np.ones(len(X)) if s is None else s, mu=np.asarray(mu, float), **how)


def by_page(c, X, s=None, **others):
    """The claim of the page with the parameters of a certificate."""
    s = np.ones(len(X)) if s is None else s
    (problem,) = clusters.kmeans(c.parameters, c.labels)
    assert problem.page == "kmeans"
    return page.check(X.astype(float), *problem.targets(None, s), **problem.arguments, **others)


def by_loops(X, mu, s):
    """J and the means of the rows that are nearest to each centre."""
    total, sums, n = 0.0, np.zeros(mu.shape), np.zeros(len(mu))
    for x, weight in zip(X, s, strict=True):
        d = [sum((a - b) ** 2 for a, b in zip(x, m, strict=True)) for m in mu]
        k = d.index(min(d))
        total, n[k] = total + weight * d[k], n[k] + weight
        sums[k] += weight * x
    return total, sums / n[:, None]


def within(X, labels, s):
    """Σ s ‖x − m‖², m the means of the clusters."""
    total = 0.0
    for k in set(labels):
        mine = np.flatnonzero(np.asarray(labels) == k)
        if s[mine].sum() > 0:
            mean = s[mine] @ X[mine] / s[mine].sum()
            total += sum(s[i] * ((X[i] - mean) ** 2).sum() for i in mine)
    return total


def test_the_page_is_short():
    assert lines_to_read(page) <= 80
    assert len(inspect.getsource(page).splitlines()) <= 100


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("far", [0.0, 1e7])
def test_objective_and_the_gain_of_a_step_are_those_of_loops(seed, far):
    X, s = spread(seed), weights(60, seed)
    mu = X[[1, 2, 3, 4]]
    J, m = by_loops(X, mu, s)
    claim = check(X + far, mu + far, s)
    assert claim.objective == pytest.approx(J, rel=1e-7 if far else 1e-13)
    assert claim.miss == pytest.approx(J - by_loops(X, m, s)[0], rel=1e-6 if far else 1e-12)
    assert claim.scale == claim.objective
    assert claim.bound is None
    assert not claim.holds


@pytest.mark.parametrize("seed", range(6))
def test_the_claim_is_a_local_optimum_just_where_no_move_of_one_row_lowers_the_objective(seed):
    X, s = spread(seed, n=20), np.round(weights(20, seed), 1)
    mu = X[[1, 2, 3]]
    for _ in range(30):
        mu = by_loops(X, mu, s)[1]
    labels = np.array([int(((x - mu) ** 2).sum(axis=1).argmin()) for x in X])
    J, gain = within(X, labels, s), 0.0
    for i, b in product(np.flatnonzero(s), range(3)):
        moved = labels.copy()
        moved[i] = b
        gain = max(gain, J - within(X, moved, s))
    claim = check(X, mu, s)
    assert claim.holds
    assert (claim.kind == "local optimum") == (gain <= TOL * J)
    if gain > 0:  # at either side of what the best move gains
        assert check(X, mu, s, tol=1.001 * gain / J).kind == "local optimum"
        assert check(X, mu, s, tol=0.999 * gain / J).kind == "stationary"


def test_lloyd_can_end_where_hartigan_goes_on():
    X = np.array([[-1.0], [1.0], [2.9]])
    claim = check(X, [[0.0], [2.9]])
    assert claim.holds
    assert claim.kind == "stationary"
    assert check(X, [[-1.0], [1.95]]).kind == "local optimum"


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_no_centres_are_below_the_bound(k, seed):
    X, s = np.random.default_rng(seed).normal(size=(7, 4)) + 1e3, weights(7, seed)
    least = min(within(X, labels, s) for labels in product(range(k), repeat=7))
    claim = check(X, X[:k], s, bound=True)
    assert 0 < claim.bound <= least * (1 + 1e-9)
    assert claim.bound <= claim.objective
    if k == 1:
        assert check(X, X[:1], s).bound == pytest.approx(least, rel=1e-9)
    else:
        assert check(X, X[:k], s).bound is None


def test_a_bound_is_never_above_the_objective_and_0_where_nothing_is_known():
    X = spread(p=2)
    mean = X.mean(axis=0, keepdims=True)
    assert check(X, mean).bound == pytest.approx(check(X, mean).objective, rel=1e-13)
    assert check(X, X[:3], bound=True).bound == 0.0  # of 2 columns, 3 means hold all


# --- ties -----------------------------------------------------------------------------------------

LINE = np.array([[-2.0], [0.0], [1.0]])


def test_a_row_equally_near_to_two_centres_goes_where_the_tie_says():
    mu = [[1.0], [-1.0]]
    assert check(LINE, mu, ties=np.array([[1], [1]])).holds
    first = check(LINE, mu, ties=np.array([[1], [0]]))
    assert first == check(LINE, mu)
    assert not first.holds


def test_ties_are_of_the_rows_as_given_those_of_weight_0_too():
    X, s = np.vstack([[[50.0]], LINE]), np.array([0.0, 1, 1, 1])
    assert check(X, [[1.0], [-1.0]], s, ties=np.array([[2], [1]])).holds
    assert not check(X, [[1.0], [-1.0]], s, ties=np.array([[1], [1]])).holds


def test_a_tie_that_is_none_changes_nothing():
    X = spread()
    mu = X[:3]
    wrong = np.stack([np.arange(60), np.arange(60) % 3])
    assert check(X, mu, ties=wrong) == check(X, mu)


@pytest.mark.parametrize("nearer", [0, 1])
def test_a_tie_by_rounding_alone_is_decided_without_rounding(nearer):
    """The middle row is nearer to one centre by less than its squared distance can show."""
    X = np.array([[-2.0, 3e-9], [0.0, 3e-9], [1.0, 3e-9]])
    mu = np.array([[1.0, 0.0], [-1.0, 0.0]])
    mu[nearer, 1] = 1e-13
    D = ((X[1] - mu) ** 2).sum(axis=1)
    assert D[0] == D[1]
    claims = [check(X, mu, ties=np.array([[1], [k]])) for k in (0, 1)]
    assert claims[0] == claims[1]
    assert claims[0].holds == bool(nearer)  # the second centre is the mean with that row


# --- where there is nothing to gain, or nothing to see --------------------------------------------


@pytest.mark.parametrize("far", [0.0, 1e9])
def test_clusters_of_one_point_each_cannot_be_better(far):
    X = np.repeat(0.1 * spread(n=3) + far, 7, axis=0)
    rounded = np.array([X[i : i + 7].sum(axis=0) / 7 for i in (0, 7, 14)])
    claim = check(X, rounded)
    assert claim.holds
    assert claim.bound == 0.0
    assert check(X, np.vstack([rounded, rounded[:1]])).holds  # fewer points than clusters
    assert not check(X, rounded + 1e-13 * np.abs(X).max()).holds


def test_rows_that_differ_by_a_rounding_error_are_no_single_point():
    X = np.repeat([[1.0], [1.0 + 2.0**-52], [9.0]], 3, axis=0)
    assert check(X, [[1.0], [9.0]]).bound is None
    assert not check(X, [[1.0 + 3 * 2.0**-52], [9.0]]).holds
    X[3:6] = 1.0
    assert check(X, [[1.0 + 3 * 2.0**-52], [9.0]]).bound == 0.0


def test_squares_that_vanish_prove_nothing():
    X = spread() * 1e-165
    claim = check(X, X[:3])
    assert claim.objective < 1e-300
    assert not claim.holds


def test_an_empty_cluster_is_no_local_optimum():
    X = spread()
    mu = KMeans(3, random_state=0).fit(X).cluster_centers_
    assert check(X, mu).holds
    J = check(X, mu).objective
    claim = check(X, np.vstack([mu, mu[0] + 1e3]))
    assert not claim.holds
    # it takes the row that is worst served: J at the four centres that result
    a = ((X[:, None] - mu) ** 2).sum(axis=2).argmin(axis=1)
    alone = min(
        within(X, np.where(np.arange(60) == i, 3, a), np.ones(60)) for i in range(60)
    )  # fmt: skip
    assert claim.miss == pytest.approx(J - alone, rel=1e-9)


# --- with the proof -------------------------------------------------------------------------------


MODELS = {
    "KMeans 1": lambda: KMeans(1, random_state=0),
    "KMeans 3": lambda: KMeans(3, random_state=0),
    "KMeans 7": lambda: KMeans(7, random_state=0, n_init=3),
    "stopped": lambda: KMeans(4, init="random", random_state=1, max_iter=1),
    "mini-batches": lambda: MiniBatchKMeans(4, random_state=0),
    "bisecting": lambda: BisectingKMeans(4, random_state=0),
    "scikit-learn": lambda: peers.KMeans(4, n_init=1, random_state=0, tol=0),
    "scikit-learn, bisecting": lambda: peers.BisectingKMeans(5, random_state=0),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", ["apart", "of integers", "far"])
@pytest.mark.parametrize("name", MODELS)
def test_page_and_proof_agree(name, rows, weighted):
    X = {"apart": spread(), "of integers": np.round(spread(2)), "far": spread(3) + 1e5}[rows]
    s = np.round(weights(60), 2) if weighted else None
    model = MODELS[name]().fit(X, sample_weight=s)
    c = certus.verify(model, X, sample_weight=s, bound=True)
    labels = {"labels": model.labels_} if "bisecting" in name else {}
    claim = by_page(c, X, s, **labels)
    assert claim.objective == pytest.approx(c.objective, rel=1e-9)
    assert claim.holds == c.certified
    if c.certified:
        assert claim.miss <= c.residual * c.objective + 1e-12 * c.objective
        assert (claim.kind == "local optimum") == (c._finding.move is None)
    else:
        assert claim.miss >= c.residual * c.objective * (1 - 1e-9)
    if c.bound is not None:
        assert claim.bound >= c.bound * (1 - 1e-12)


def test_models_of_both_verdicts_are_among_those_compared():
    X = spread()
    assert by_page(KMeans(3, random_state=0).fit(X).certificate_, X).holds
    with pytest.warns(certus.exceptions.NotCertifiedWarning):
        model = MODELS["stopped"]().fit(X)
    assert not by_page(model.certificate_, X).holds


@pytest.mark.parametrize("entry", [(0, 0), (2, 1)])
def test_a_centre_that_was_edited_is_refused(entry):
    X = spread()
    c = KMeans(3, random_state=0).fit(X).certificate_
    edited = {**c.parameters, "centers": c.parameters["centers"].copy()}
    edited["centers"][entry] *= 1.01
    assert proof.check(Data(Rows(X)), **edited)["residual"] > TOL
    (problem,) = clusters.kmeans(edited, None)
    assert not check(X, **problem.arguments).holds


def test_labels_that_were_swapped_are_refused():
    X = spread()
    model = KMeans(3, random_state=0).fit(X)
    (problem,) = clusters.kmeans({**model.certificate_.parameters, "labels": model.labels_}, None)
    assert check(X, **problem.arguments).holds
    swapped = model.labels_.copy()
    swapped[[0, 1]] = (swapped[[0, 1]] + 1) % 3
    assert not check(X, **{**problem.arguments, "labels": swapped}).holds
    model.labels_ = swapped
    assert not certus.verify(model, X).certified


def test_float32_is_weaker_only_far_from_the_origin():
    near, far = ((spread() + offset).astype(np.float32) for offset in (1e3, 1e6))
    assert by_page(KMeans(4, random_state=0).fit(near).certificate_, near).holds
    c = KMeans(4, random_state=0).fit(far).certificate_
    assert c.certified
    assert not by_page(c, far).holds
