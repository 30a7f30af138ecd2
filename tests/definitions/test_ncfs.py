"""The page of NCFS: F and its slopes from their definition, and weights that are stationary."""

import math

import numpy as np
import pytest

from certus.certificate.pages import neighbors as adaptor
from certus.definitions.ncfs import check
from certus.definitions.terms import ncfs as terms
from certus.exceptions import NotCertifiedWarning
from certus.feature_selection import NCFSClassifier, NCFSRegressor

rng = np.random.default_rng(0)
n, P = 30, 4
y = np.arange(n) % 3
X = np.column_stack([rng.normal(size=(n, P)) + 2.5 * np.eye(3, P)[y], np.full(n, 2.0)])
VALUES = 3 * X[:, 1] + 0.1 * rng.normal(size=n)
WEIGHTS = rng.uniform(0.5, 2, size=n)
ONES = np.ones(n)
DISTANCES = [
    terms.WeightedManhattan(), terms.WeightedSquares(), terms.WeightedEuclidean(),
    terms.WeightedPhiS(),
]  # fmt: skip
GAINS = terms.ClassGain(np.eye(3).tolist())


def literal_distance(distance, x, z, W):
    pairs = list(zip(x, z, W, strict=True))
    if isinstance(distance, terms.WeightedPhiS):

        def spread(v):
            mean = sum(w * e for w, e in zip(W, v, strict=True)) / sum(W)
            return sum(w * (e - mean) ** 2 for w, e in zip(W, v, strict=True))

        return spread([a - b for a, b, _ in pairs]) / spread([a + b for a, b, _ in pairs])
    if isinstance(distance, terms.WeightedManhattan):
        return sum(w * abs(a - b) for a, b, w in pairs)
    D = sum(w * (a - b) ** 2 for a, b, w in pairs)
    return math.sqrt(D) if isinstance(distance, terms.WeightedEuclidean) else D


def literal(X, a, W, sigma, lam, distance, G):
    """F, by loops."""
    F = -lam * sum(W)
    for i in range(len(X)):
        E = {
            j: math.exp(-literal_distance(distance, X[i], X[j], W) / sigma)
            for j in range(len(X))
            if j != i
        }
        F += a[i] * sum(e * G(i, j) for j, e in E.items()) / sum(E.values())
    return F


def run(W, distance, gain=GAINS, y=y, s=ONES, X=X, alpha=0.3, sigma=0.7, **other):
    other = {"shift": np.zeros(X.shape[1]), "scale": np.ones(X.shape[1]), **other}
    return check(
        X, y.astype(float), s, W=W, sigma=sigma, alpha=alpha, distance=distance, gain=gain, **other
    )


def interior(distance):
    W = np.append(rng.uniform(0.3, 2, size=P), 0.0)
    return W * len(W) / W.sum() if distance.fixed_sum else W


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("sigma", [0.7, 2.0])
def test_the_objective_is_that_of_loops(distance, sigma):
    W, lam = interior(distance), 0.0 if distance.fixed_sum else 0.3
    F = literal(X, WEIGHTS, W, sigma, lam, distance, lambda i, j: y[i] == y[j])
    if distance.fixed_sum:  # a column that never changes has no weight, and W none for it
        F = literal(X[:, :P], WEIGHTS, W[:P], sigma, lam, distance, lambda i, j: y[i] == y[j])
    assert run(W, distance, s=WEIGHTS, sigma=sigma).objective == pytest.approx(F, rel=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_violation_is_the_largest_slope_by_differences(distance):
    W, lam, h = interior(distance), 0.0 if distance.fixed_sum else 0.3, 1e-6

    def F(W):
        return literal(X[:, :P], ONES, W, 0.7, lam, distance, lambda i, j: y[i] == y[j])

    slopes = [(F(W[:P] + h * e) - F(W[:P] - h * e)) / (2 * h) for e in np.eye(P)]
    claim = run(W, distance)
    assert claim.miss == pytest.approx(np.abs(slopes).max(), rel=1e-5)
    assert not claim.holds


@pytest.mark.parametrize(
    ("gain", "loss"),
    [
        (terms.AbsoluteLoss(), lambda d: d),
        (terms.SquaredLoss(), lambda d: d * d),
        (terms.EpsilonInsensitiveLoss(0.5), lambda d: max(d - 0.5, 0.0)),
    ],
)
def test_losses_of_regression_are_those_of_loops(gain, loss):
    W = interior(DISTANCES[0])
    F = literal(
        X, WEIGHTS, W, 0.7, 0.3, DISTANCES[0], lambda i, j: -loss(abs(VALUES[i] - VALUES[j]))
    )
    claim = run(W, DISTANCES[0], gain, VALUES, WEIGHTS)
    assert claim.objective == pytest.approx(F, rel=1e-12)


def test_rows_count_by_the_prior_of_their_class():
    W, S = interior(DISTANCES[0]), WEIGHTS.sum()
    S_c, pi = np.bincount(y, WEIGHTS), np.array([0.2, 0.3, 0.5])
    for prior, a in (("balanced", 1 / S_c), (pi.tolist(), S * pi / S_c)):
        a = WEIGHTS * a[y]
        F = literal(X, a, W, 0.7, 0.3, DISTANCES[0], lambda i, j: y[i] == y[j])
        claim = run(W, DISTANCES[0], s=WEIGHTS, prior=prior)
        assert claim.objective == pytest.approx(F, rel=1e-12)
        F = literal(X, a / S, W, 0.7, 0.3, DISTANCES[0], lambda i, j: y[i] == y[j])
        claim = run(W, DISTANCES[0], s=WEIGHTS, prior=prior, mean=True)
        assert claim.objective == pytest.approx(F, rel=1e-12)


def test_where_d_is_a_root_rows_at_distance_0_must_not_gain_by_moving_apart():
    # the second column alone tells the rows at one place apart; without weight its slope is 0
    Z = np.array([[0, 0], [0, 0], [0, 1], [5, 0], [5, 1], [5, 1.0]])
    labels, W = np.array([0, 0, 1, 0, 1, 1]), np.array([1.0, 0.0])
    claim = run(W, terms.WeightedEuclidean(), terms.ClassGain(np.eye(2).tolist()), labels,
                np.ones(6), Z, alpha=0.01)  # fmt: skip
    h = 1e-5  # by a step w = h of √W
    F = [
        literal(Z, np.ones(6), np.array([1.0, v * v]), 0.7, 0.0, terms.WeightedEuclidean(),
                lambda i, j: labels[i] == labels[j])
        for v in (0.0, h)
    ]  # fmt: skip
    rise = (F[1] - F[0]) / h
    assert rise > 0.1
    assert claim.miss == pytest.approx(rise, rel=1e-3)


@pytest.mark.parametrize("distance", DISTANCES)
def test_weights_that_cannot_be_are_refused(distance):
    W = interior(distance)
    assert not run(W * np.where(np.arange(P + 1) == 1, -1, 1), distance).holds
    assert run(W + np.append(np.zeros(P), 1.0), distance).miss == math.inf  # of a constant column
    if distance.fixed_sum:
        assert run(2 * W, distance).miss == math.inf
        assert run(np.eye(P + 1)[0] * (P + 1), distance).miss == math.inf


SETTINGS = [
    (NCFSClassifier(), y), (NCFSClassifier(metric="sqeuclidean", form="mean", alpha=0.02), y),
    (NCFSClassifier(metric="euclidean", scale="standard", sigma=0.5), y),
    (NCFSClassifier(metric="phi_s", scale="standard"), y),
    (NCFSClassifier(prior="balanced", alpha=0.05), y),
    (NCFSClassifier(prior="uniform", loss=1 - np.eye(3)), y), (NCFSRegressor(), VALUES),
    (NCFSRegressor(loss="squared", metric="sqeuclidean"), VALUES),
    (NCFSRegressor(loss="epsilon_insensitive", form="mean"), VALUES),
    (NCFSClassifier(batch_size=12, alpha=0.2), y),
    (NCFSClassifier(batch_size=12, metric="euclidean", prior="balanced", form="mean"), y),
    (NCFSRegressor(batch_size=12, metric="sqeuclidean", alpha=1.0), VALUES),
]  # fmt: skip


def page(c, targets, s, **other):
    (problem,) = adaptor.ncfs({**c.parameters, **other}, c.labels)
    return check(X, *problem.targets(targets, s), **problem.arguments)


@pytest.mark.parametrize("s", [None, WEIGHTS])
@pytest.mark.parametrize(("model", "targets"), SETTINGS)
def test_the_page_agrees_with_the_proof(model, targets, s):
    model.set_params(tol=1e-7).fit(X, targets, sample_weight=s)
    c, s = model.certificate_, ONES if s is None else s
    claim = page(c, targets, s)
    assert claim.objective == pytest.approx(c.objective, rel=1e-9)
    assert claim.miss <= c.residual * claim.scale + 1e-12 * claim.scale
    assert claim.holds
    assert c.certified
    W = c.parameters["W"].copy()
    used = np.flatnonzero(W)
    W[used[0]] *= 1.01
    edited = page(c, targets, s, W=W * (W.size / W.sum() if model.metric == "phi_s" else 1.0))
    assert not edited.holds
    assert not page(c, np.sort(targets), s).holds


@pytest.mark.parametrize(("model", "targets"), SETTINGS[:4])
def test_a_fit_that_stops_early_is_refused_by_both(model, targets):
    with pytest.warns(NotCertifiedWarning):
        model.set_params(max_iter=2).fit(X, targets)
    model.set_params(max_iter=1000)
    claim = page(model.certificate_, targets, ONES)
    assert not model.certificate_.certified
    assert not claim.holds
    assert claim.miss / claim.scale == pytest.approx(model.certificate_.residual, rel=1e-6)


def test_a_loss_of_the_users_has_no_page():
    model = NCFSRegressor(loss=lambda u, v: np.abs(u - v) ** 1.5).fit(X, VALUES)
    assert list(adaptor.ncfs(model.certificate_.parameters, None)) == []
