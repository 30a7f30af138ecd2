"""PenalizedClassifier: every loss with every penalty, and users' own objects."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus import solvers
from certus.exceptions import CannotVerifyError, NotCertifiedWarning
from certus.linear_model import LogisticRegression, PenalizedClassifier
from certus.losses import Huber, Logistic, Softmax, Squared, SquaredHinge
from certus.losses.base import OneScore
from certus.penalties import L1, L2, ElasticNet
from certus.solvers import LBFGS, CoordinateDescent, Newton, NewtonCG, ProximalGradient

LOSSES = [Logistic(), Softmax(), SquaredHinge(), Huber(), Huber(0.2), Squared()]
PENALTIES = [L2(1.0), L2(1e-3), L1(1.0), L1(0.05), ElasticNet(2.0, 0.3)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
each_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)


def classes(seed, n=90, p=4, K=2):
    rng = np.random.default_rng(seed)
    k = np.concatenate([np.arange(K), rng.integers(K, size=n - K)])
    X = rng.normal(size=(n, p)) * [1, 3, 0.5, 1] + 2
    X[:, 0] += 1.2 * k
    X[:, 1] -= k == K - 1
    return X, k


def objective(model, X, y, s=None, c=None):
    """Return F by its formula, column by column."""
    s = np.ones(len(y)) if s is None else s
    z = X @ model.coef_.T + model.intercept_
    total = model.penalty_.value(model.coef_)
    if model.loss_.several:
        return total + s @ model.loss_.value(y, z)
    for t in range(z.shape[1]):
        own = y == (1 if z.shape[1] == 1 else t)
        total += s @ model.loss_.value(np.where(own, 1.0, -1.0), z[:, t])
    return total


@pytest.mark.parametrize("K", [2, 3])
@each_loss
@each_penalty
def test_every_loss_with_every_penalty_is_certified(loss, penalty, K):
    X, y = classes(1, K=K)
    s = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    model = PenalizedClassifier(loss, penalty).fit(X, y, s)
    certificate = model.certificate_
    assert certificate.certified
    assert certificate.objective == pytest.approx(objective(model, X, y, s), rel=1e-9)
    assert model.coef_.shape == ((1 if K == 2 else K), 4)
    assert certus.verify(model, X, y, s).certified
    model.coef_ = model.coef_ * 1.05 + 0.01
    assert not certus.verify(model, X, y, s).certified


@pytest.mark.parametrize("K", [2, 3])
@each_loss
@pytest.mark.parametrize(
    "solver", [Newton(), NewtonCG(), LBFGS(), CoordinateDescent(), ProximalGradient()],
    ids=lambda s: s.name,
)  # fmt: skip
def test_every_solver_finds_the_same_optimum(loss, solver, K):
    X, y = classes(2, K=K)
    X -= 2
    reference = PenalizedClassifier(loss, L2(0.5), solver, max_iter=5000, tol=1e-7).fit(X, y)
    other = PenalizedClassifier(loss, L2(0.5), tol=1e-9).fit(X, y)
    assert reference.certificate_.certified
    assert reference.solver_ == solver.name
    np.testing.assert_allclose(reference.coef_, other.coef_, atol=1e-3)
    assert reference.certificate_.objective == pytest.approx(other.certificate_.objective, rel=1e-8)


@pytest.mark.parametrize("balance", [None, "balanced", {0: 5.0}])
@pytest.mark.parametrize("K", [2, 3])
@each_loss
def test_weights_of_classes_multiply_the_loss_of_their_own_rows(loss, balance, K):
    X, y = classes(3, K=K)
    model = PenalizedClassifier(loss, "l2", class_weight=balance, fit_intercept=False).fit(X, y)
    assert model.certificate_.certified
    if K == 2 or loss.several:
        c = {None: np.ones(K), "balanced": len(y) / (K * np.bincount(y))}.get(
            balance if not isinstance(balance, dict) else 0, np.array([5.0, *[1.0] * (K - 1)])
        )
        again = PenalizedClassifier(loss, "l2", fit_intercept=False).fit(X, y, c[y])
        np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-3)


# --- agreement ------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_the_squared_hinge_is_scikit_learns_linear_svc(K):
    X, y = classes(4, K=K)
    theirs = LinearSVC(C=2.0, fit_intercept=False, tol=1e-10, max_iter=100_000, dual=False)
    theirs.fit(X, y)
    ours = PenalizedClassifier("squared_hinge", L2(0.5), fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("K", [2, 3])
def test_squared_error_is_scikit_learns_ridge_classifier(K):
    X, y = classes(5, K=K)
    theirs = RidgeClassifier(alpha=3.0).fit(X, y)
    ours = PenalizedClassifier("squared", L2(3.0), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4, 1.0])
def test_softmax_is_logistic_regression(K, l1_ratio):
    X, y = classes(6, K=K)
    theirs = LogisticRegression(C=0.5, l1_ratio=l1_ratio, tol=1e-9).fit(X, y)
    ours = PenalizedClassifier("softmax", ElasticNet(2.0, l1_ratio), tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_three_classes_against_the_rest_are_three_problems_of_two():
    X, y = classes(7, K=3)
    whole = PenalizedClassifier("huber", "l1", tol=1e-9).fit(X, y)
    for k in range(3):
        one = PenalizedClassifier("huber", "l1", tol=1e-9).fit(X, y == k)
        np.testing.assert_allclose(whole.coef_[k], one.coef_[0], atol=1e-4)


@each_loss
def test_sparse_rows_and_float32_give_the_same(loss):
    X, y = classes(8)
    X = np.round(8 * (X - 2)) / 8
    reference = PenalizedClassifier(loss, L1(0.5), tol=1e-9).fit(X, y)
    for form in (sparse.csr_array(X), X.astype(np.float32)):
        other = PenalizedClassifier(loss, L1(0.5), tol=1e-9).fit(form, y)
        assert other.certificate_.certified
        np.testing.assert_allclose(reference.coef_, other.coef_, atol=1e-4)


# --- without a penalty ----------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_without_a_penalty_what_can_be_proven_is(loss, K):
    X, y = classes(9, n=200, K=K)
    model = PenalizedClassifier(loss, None).fit(X, y)
    assert model.certificate_.certified
    model.coef_ = model.coef_ * 1.05
    assert not certus.verify(model, X, y).certified


@pytest.mark.parametrize("loss", ["squared_hinge", "huber"])
def test_where_no_bound_is_known_the_certificate_says_so(loss):
    X, y = classes(9)
    with pytest.warns(NotCertifiedWarning, match="without a penalty no bound is known") as caught:
        model = PenalizedClassifier(loss, None).fit(X, y)
    assert caught[0].filename == __file__
    assert model.certificate_.status == "not proven"
    slope = model.loss_.slope(2.0 * y - 1, model.decision_function(X))
    np.testing.assert_allclose(np.column_stack([X, np.ones(len(y))]).T @ slope, 0, atol=1e-2)


def test_separated_rows_end_where_the_loss_can_be_zero():
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9.5).astype(int)
    with pytest.warns(NotCertifiedWarning):
        model = PenalizedClassifier("squared_hinge", None).fit(X, y)
    assert model.certificate_.objective < 1e-6


# --- what users bring -----------------------------------------------------------------------------


class Exponential(OneScore):
    """ℓ(y, z) = (e^{−yz} − 1 + yz) cut to a line below yz = −2."""

    name = "exponential"
    formula = "e^{−yz}"
    curvature_bound = float(np.exp(2))

    def value(self, y, z):
        return self.evaluate(y, z)[0]

    def slope(self, y, z):
        return self.evaluate(y, z)[1]

    def evaluate(self, y, z):
        m = np.maximum(y * z, -2.0)
        e = np.exp(-m)
        return e - e * (y * z - m), -y * e, e * (y * z >= -2)


class NonNegative:
    """0 for w ≥ 0, infinite elsewhere."""

    def value(self, w):
        return 0.0 if (np.asarray(w) >= 0).all() else np.inf

    def prox(self, v, step):
        return np.maximum(v, 0.0)

    def __repr__(self):
        return "NonNegative()"


class GroupL2:
    """‖w‖ of all columns together."""

    def value(self, w):
        return float(np.linalg.norm(w))

    def prox(self, v, step):
        size = np.linalg.norm(v)
        return v * max(0.0, 1 - step / size) if size > 0 else v


@pytest.mark.parametrize("K", [2, 3])
def test_a_penalty_that_has_only_a_prox_is_minimised_and_not_certified(K):
    X, y = classes(10, K=K)
    with pytest.warns(
        NotCertifiedWarning, match=r"the penalty NonNegative\(\) is your own"
    ) as caught:
        model = PenalizedClassifier("logistic", NonNegative()).fit(X, y)
    assert caught[0].filename == __file__
    assert (model.coef_ >= 0).all()
    assert model.solver_ == "proximal gradient"
    certificate = model.certificate_
    assert (certificate.status, certificate.certified, certificate.bound) == (
        "not proven",
        False,
        None,
    )
    assert certificate.objective == pytest.approx(objective(model, X, y))
    assert "NonNegative" in certificate.explain()
    assert "Checked by     nothing" in certificate.explain()
    assert "Not certified" in certificate.note()
    with pytest.raises(CannotVerifyError, match="is your own"):
        certus.verify(model, X, y)
    # the slope is 0 where w > 0, and points inwards where w = 0
    for t in range(len(model.coef_)):
        target = np.where(y == (1 if K == 2 else t), 1.0, -1.0)
        g = X.T @ Logistic().slope(target, X @ model.coef_[t] + model.intercept_[t])
        assert np.abs(g[model.coef_[t] > 0]).max(initial=0) < 0.05
        assert (g[model.coef_[t] == 0] > -0.05).all()


def test_a_large_enough_norm_makes_all_coefficients_zero_together():
    X, y = classes(10)
    for factor, zero in ((1e-3, True), (1.0, False)):
        with pytest.warns(NotCertifiedWarning):
            model = PenalizedClassifier("logistic", GroupL2(), max_iter=5000).fit(
                factor * (X - 2), y
            )
        assert (model.coef_ == 0).all() == zero


def test_a_loss_of_ones_own_is_minimised_by_newton():
    X, y = classes(11)
    with pytest.warns(NotCertifiedWarning, match="the loss Exponential"):
        model = PenalizedClassifier(Exponential(), L2(0.5), tol=1e-9).fit(X, y)
    assert model.solver_ == "newton"
    slope = Exponential().slope(2.0 * y - 1, model.decision_function(X))
    np.testing.assert_allclose(X.T @ slope + 0.5 * model.coef_[0], 0, atol=1e-3)
    assert slope.sum() == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("solver", ["newton", LBFGS(), NewtonCG(), "cd"])
def test_a_solver_that_cannot_take_the_penalty_says_so(solver):
    X, y = classes(1)
    with pytest.raises(ValueError, match=r"solver=.*NonNegative\(\).*use solver='auto'"):
        PenalizedClassifier("logistic", NonNegative(), solver).fit(X, y)
    if solver != "cd":
        with pytest.raises(ValueError, match="needs a smooth penalty"):
            PenalizedClassifier("logistic", "l1", solver).fit(X, y)


# --- people ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "logstic"}, "loss='logstic'.*Did you mean 'logistic'"),
        ({"penalty": "elastic_net"}, "Did you mean 'elasticnet'"),
        ({"solver": "newtn"}, "Did you mean 'newton'"),
        ({"loss": Logistic}, r"as Logistic\(\)"),
        ({"penalty": 3.0}, "give one of 'l1', 'l2', 'elasticnet', .* those of certus.penalties"),
        ({"solver": 5}, "solver=5"),
        ({"tol": -1}, "tol"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"fit_intercept": 1}, "fit_intercept"),
        ({"class_weight": "even"}, "class_weight"),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_name_is_answered_with_the_likely_one(parameters, message):
    X, y = classes(1)
    with pytest.raises(ValueError, match=message):
        PenalizedClassifier(**parameters).fit(X, y)


def test_probabilities_are_there_only_where_scores_are_log_odds():
    X, y = classes(1, K=3)
    assert hasattr(PenalizedClassifier("logistic").fit(X, y > 0), "predict_proba")
    assert hasattr(PenalizedClassifier(Softmax()).fit(X, y), "predict_log_proba")
    with pytest.raises(AttributeError) as caught:
        PenalizedClassifier("huber").predict_proba
    assert "not log-odds" in str(caught.value.__cause__)
    with pytest.raises(AttributeError) as caught:
        PenalizedClassifier("logistic").fit(X, y).predict_proba
    assert "use loss='softmax'" in str(caught.value.__cause__)


@pytest.mark.parametrize("K", [2, 3])
def test_a_warm_start_begins_where_the_last_fit_ended(K):
    X, y = classes(12, K=K)
    model = PenalizedClassifier("squared_hinge", "l1", warm_start=True, tol=1e-9).fit(X, y)
    first = model.n_iter_.max()
    assert model.fit(X, y).n_iter_.max() < first


def test_a_fit_that_stops_early_says_so():
    X, y = classes(12, K=3)
    for loss in ("softmax", "logistic"):
        with pytest.warns(NotCertifiedWarning, match="max_iter=1 ") as caught:
            PenalizedClassifier(loss, L2(1e-4), max_iter=1).fit(X, y)
        assert caught[0].filename == __file__


def test_in_a_pipeline():
    X, y = classes(12)
    model = make_pipeline(StandardScaler(), PenalizedClassifier("huber", L1(0.3))).fit(X, y)
    assert certus.verify(model, X, y).certified


@pytest.mark.parametrize("penalty", [L1(0.5, positive=True), L2(0.5, positive=True)], ids=repr)
@each_loss
def test_coefficients_that_must_not_be_negative_are_not_and_nothing_is_claimed(loss, penalty):
    X, y = classes(13)
    with pytest.warns(NotCertifiedWarning, match="certus has no definition of a classifier with"):
        model = PenalizedClassifier(loss, penalty, tol=1e-9).fit(X, y)
    assert model.solver_ == "proximal gradient"
    assert (model.coef_ >= 0).all()
    assert 0 < np.count_nonzero(model.coef_) < model.coef_.size
    sign = 2.0 * y - 1
    slope = model.loss_.slope(sign, X @ model.coef_[0] + model.intercept_[0])
    assert penalty.distance(model.coef_[0], X.T @ slope).max() <= 1e-2
    takes_it = loss.name == "squared" and penalty.name == "l1"
    for solver in ("newton",) if takes_it else ("newton", "cd"):
        with pytest.raises(ValueError, match=r"use solver='auto'"):
            PenalizedClassifier(loss, penalty, solver).fit(X, y)


def test_solvers_are_public_and_come_when_they_are_asked_for():
    assert set(solvers.__all__) <= set(dir(certus.solvers))
    for name in solvers.__all__:
        assert getattr(certus.solvers, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Newtn'"):
        solvers.Newtn


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@parametrize_with_checks(
    [
        PenalizedClassifier(),
        PenalizedClassifier("squared_hinge", "elasticnet"),
        PenalizedClassifier("softmax", "l1"),
    ],
    expected_failed_checks=lambda model: (
        dict.fromkeys(
            (f"check_sample_weight_equivalence_on_{rows}_data" for rows in ("dense", "sparse")),
            "before the fit nobody knows that the classes are three and have no probabilities",
        )
        if model.loss == "logistic"
        else {}
    ),
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)
