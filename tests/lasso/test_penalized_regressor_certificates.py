"""What the certificate of a regression with any loss and penalty says, and what it refuses."""

import numpy as np
import pytest

import certus
from certus.exceptions import CannotVerifyError, NotCertifiedWarning
from certus.linear_model.penalized_regressor import PenalizedRegressor
from certus.losses import Huber, Squared
from certus.penalties import L1, L2, Box, NonNegative, Simplex
from tests.house.naming import without_address
from tests.lasso.penalized_regressor_cases import (
    CONVEX,
    NOT_CONVEX,
    P,
    Sorted,
    drawn,
    each_convex,
    each_loss,
    objective,
)

each_not_convex = pytest.mark.parametrize("penalty", NOT_CONVEX, ids=repr)


@pytest.mark.parametrize("fit_intercept", [True, False])
@each_convex
@each_loss
def test_a_convex_fit_is_optimal_and_its_gap_bounds_the_excess(loss, penalty, fit_intercept):
    X, y, s = drawn(30)
    how = {"fit_intercept": fit_intercept}
    loose = PenalizedRegressor(loss, penalty, "fista", tol=1e-4, **how).fit(X, y, s).certificate_
    tight = PenalizedRegressor(loss, penalty, tol=1e-10, **how).fit(X, y, s).certificate_
    for c in (loose, tight):
        assert c.certified
        if isinstance(loss, Huber) and isinstance(penalty, NonNegative):
            assert c.status == "stationary"  # few rows have residuals small enough to curve F
            continue
        assert c.status == "optimal"
        assert c.gap >= c.objective - tight.objective - 1e-9 * tight.objective
        assert c.bound is None or c.bound <= tight.objective * (1 + 1e-12)


@each_not_convex
@each_loss
def test_a_fit_that_is_not_convex_is_stationary_and_never_called_optimal(loss, penalty):
    X, y, s = drawn(31)
    c = PenalizedRegressor(loss, penalty).fit(X, y, s).certificate_
    assert c.certified
    assert c.status == c.kind == "stationary"
    assert c.bound is None
    words = c.explain()
    assert "OPTIMAL" not in words
    assert "STATIONARY" in words


@pytest.mark.parametrize("penalty", CONVEX + NOT_CONVEX, ids=repr)
@each_loss
def test_what_is_changed_a_little_is_refused(loss, penalty):
    X, y, s = drawn(32)
    model = PenalizedRegressor(loss, penalty, tol=1e-8).fit(X, y, s)
    assert certus.verify(model, X, y, s).certified
    for name in ("coef_", "intercept_"):
        before = getattr(model, name)
        setattr(model, name, before + 0.02 * (1 + np.abs(before)))
        assert not certus.verify(model, X, y, s).certified
        setattr(model, name, before)
    assert certus.verify(model, X, y, s).certified
    assert not certus.verify(model, X + np.linspace(0, 1, len(y))[:, None], y, s).certified


@pytest.mark.parametrize(
    ("penalty", "change"),
    [
        (Box(-1.0, 0.8), lambda w: w + 2),
        (NonNegative(), lambda w: w - 1e-3),
        (L1(15.0, positive=True), lambda w: w - 1e-3),
        (Simplex(2.0), lambda w: w * 1.001),
    ],
    ids=without_address,
)
def test_coefficients_that_are_not_allowed_are_named(penalty, change):
    X, y, s = drawn(33)
    model = PenalizedRegressor("squared", penalty).fit(X, y, s)
    model.coef_ = change(model.coef_)
    c = certus.verify(model, X, y, s)
    assert not c.certified
    assert c._finding.infeasible
    assert c._finding.infeasible in c.explain()


@each_loss
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalty", [Simplex(2.0), Box(0.5, 1.0)], ids=repr)
def test_a_constant_y_is_fitted_where_0_is_not_allowed(loss, penalty, fit_intercept):
    X, _, s = drawn(35)
    for level in (0.0, 3.0):  # the intercept alone would leave nothing
        y = np.full(len(X), level)
        model = PenalizedRegressor(loss, penalty, fit_intercept=fit_intercept).fit(X, y, s)
        c = model.certificate_
        assert c.certified
        assert "what the allowed coefficients nearest to 0 leave" in c.explain()
        null = penalty.prox(np.zeros((P, 1)), 1.0)
        left = y - X @ null[:, 0]
        b = (
            np.linspace(left.min(), left.max(), 10001)[:, None]
            if fit_intercept
            else np.zeros((1, 1))
        )
        losses = loss.value(np.broadcast_to(y, (len(b), len(y))), (y - left) + b)
        best = np.min(losses @ s)
        assert c._finding.null_objective == pytest.approx(best, rel=1e-4)
        assert c.gap <= 1e-6 * best


@pytest.mark.parametrize("penalty", [L1(15.0), L2(3.0), Box(-1.0, 0.8), NOT_CONVEX[0]], ids=repr)
def test_the_certificate_is_about_all_targets(penalty):
    X, y, s = drawn(34, k=3)
    model = PenalizedRegressor("squared", penalty).fit(X, y, s)
    assert model.certificate_.certified
    each = zip(y.T, model.coef_, model.intercept_, strict=True)
    total = sum(objective(Squared(), penalty, X, t, s, w, b) for t, w, b in each)
    assert model.certificate_.objective == pytest.approx(total, rel=1e-10)
    model.coef_ = model.coef_.copy()
    model.coef_[2] *= 1.02
    assert not certus.verify(model, X, y, s).certified


def test_a_fit_that_stops_early_says_so():
    X, y, s = drawn(35)
    with pytest.warns(NotCertifiedWarning, match=r"stopped at max_iter=5 before the optimum"):
        model = PenalizedRegressor("squared", L1(15.0), "ista", max_iter=5).fit(X, y, s)
    assert not model.certificate_.certified
    best = PenalizedRegressor("squared", L1(15.0)).fit(X, y, s).certificate_.objective
    assert model.certificate_.bound <= best < model.certificate_.objective


def test_subgradient_descent_is_honest_about_how_far_it_came():
    X, y, s = drawn(36)
    with pytest.warns(NotCertifiedWarning, match=r"stopped at max_iter=200"):
        model = PenalizedRegressor("squared", L1(15.0), "subgradient", max_iter=200).fit(X, y, s)
    assert model.certificate_.status in ("not optimal", "nearly optimal")
    assert np.count_nonzero(model.coef_) == P  # no coefficient becomes 0


class Absolute(Squared):
    """Somebody's own: squares under another name."""

    name = "mine"


def test_a_penalty_or_a_loss_of_ones_own_is_not_proven_and_the_reason_is_given():
    X, y, s = drawn(37)
    for loss, penalty, message in (
        ("squared", Sorted(), r"the penalty Sorted\(\) is your own"),
        (Absolute(), L2(1.0), r"the loss Absolute\(\) is your own"),
    ):
        with pytest.warns(NotCertifiedWarning, match=message):
            model = PenalizedRegressor(loss, penalty).fit(X, y, s)
        assert model.certificate_.status == "not proven"
        with pytest.raises(CannotVerifyError, match="is your own"):
            certus.verify(model, X, y, s)
