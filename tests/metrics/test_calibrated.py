"""Platt's calibration: the minimum of the log loss, and a model that keeps its certificate."""

import numpy as np
import pytest
from scipy.optimize import minimize

import certus
from certus.metrics import CalibratedClassifier
from certus.metrics.calibrated import calibration, probabilities, share_scores
from certus.neighbors import KNeighborsClassifier
from certus.svm import LSSVC


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def table(rng, n=200, K=2):
    X = rng.normal(size=(n, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=n), [0, 1][: K - 1])]


def test_slope_and_intercept_minimise_platts_loss(rng):
    f, k, s = rng.normal(size=80) * 7, rng.integers(0, 2, 80), rng.random(80)
    k[f > 3] = 1
    a, b = calibration(f, k, s)
    total = np.bincount(k, weights=s)
    t = np.where(k == 1, (total[1] + 1) / (total[1] + 2), 1 / (total[0] + 2))

    def loss(v):
        z = v[0] * f + v[1]
        return np.sum(s * (t * np.logaddexp(0, -z) + (1 - t) * np.logaddexp(0, z)))

    best = minimize(loss, [0.1, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert loss([a, b[0]]) <= best.fun + 1e-6


def test_separated_scores_have_a_finite_slope():
    f = np.r_[np.zeros(20) - 1, np.ones(20)]
    a, b = calibration(f, (f > 0).astype(int), None)
    P = probabilities(f, a, b)
    assert np.isfinite([a, *b]).all()
    assert 0.9 < P[-1, 1] < 1


def test_scores_that_rank_wrongly_are_never_turned_around(rng):
    f = rng.normal(size=100)
    a, _ = calibration(f, (f < 0).astype(int), None)
    assert a == 0.0


def test_the_unit_of_the_scores_does_not_matter(rng):
    f, k = rng.normal(size=60), rng.integers(0, 2, 60)
    P = [probabilities(f * c, *calibration(f * c, k, None)) for c in (1.0, 1e-6, 1e5)]
    assert np.allclose(P[0], P[1], atol=1e-6)
    assert np.allclose(P[0], P[2], atol=1e-6)


def test_shares_of_votes_as_log_odds():
    assert np.allclose(share_scores(np.array([[0.0, 1.0]]), 4.0), np.log(4.5 / 0.5))
    assert share_scores(np.full((2, 3), 1 / 3), 9.0).shape == (2, 3)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("model", [LSSVC(), KNeighborsClassifier(9)], ids=["machine", "neighbours"])
def test_probabilities_are_calibrated_on_average_and_the_model_is_verified(rng, K, model, tmp_path):
    X, y = table(rng, K=K)
    fitted = CalibratedClassifier(model).fit(X, y)
    P = fitted.predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1)
    shares = np.array([np.mean(y == label) for label in fitted.classes_])
    assert np.allclose(P.mean(axis=0), shares, atol=0.05)
    assert (fitted.predict(X) == fitted.classes_[P.argmax(axis=1)]).all()
    assert fitted.certificate_.certified
    assert certus.verify(fitted, X, y).certified
    path = tmp_path / "model.certus"
    certus.save(fitted, path)
    assert np.array_equal(certus.load(path).predict_proba(X), P)


def test_given_numbers_are_used_as_they_are(rng):
    X, y = table(rng)
    model = CalibratedClassifier(LSSVC(), slope=2.0, intercept=-0.5).fit(X, y)
    z = 2 * model.estimator_.decision_function(X) - 0.5
    assert np.allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-z)))


def test_bad_input_is_named(rng):
    X, y = table(rng, K=3)
    with pytest.raises(ValueError, match="slope and intercept together"):
        CalibratedClassifier(LSSVC(), slope=1.0).fit(X, y)
    with pytest.raises(ValueError, match="intercept has 1 values: 3 needed for 3 classes"):
        CalibratedClassifier(LSSVC(), slope=1.0, intercept=0.0).fit(X, y)
    with pytest.raises(ValueError, match="class"):
        CalibratedClassifier(LSSVC()).fit(X, np.full(len(X), "a"))
