"""EM by hand is what the definition and the estimator do; in the order that was printed L falls."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from certus.mixture import GaussianMixture
from certus.proofs.mixture import mixture
from tests.mixture.mixture_cases import drawn, prior_of, start

PROGRAM = Path(__file__).parents[2] / "examples" / "em_by_hand.py"


@pytest.fixture(scope="module")
def by_hand():
    spec = importlib.util.spec_from_file_location(PROGRAM.stem, PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(PROGRAM.read_text("utf-8").splitlines()) <= 80
    return module


@pytest.mark.parametrize("offset", [0, 1e8])
@pytest.mark.parametrize("seed", range(4))
def test_steps_by_hand_are_those_of_the_definition(by_hand, seed, offset):
    X = drawn(seed, far=offset)
    pi, theta = start(X, 3)
    prior, by = prior_of(X, 1e-6), (pi, theta.means, theta.covariances)
    for _ in range(10):
        value = mixture.log_likelihood(X, pi, theta) + theta.log_prior(prior)
        assert by_hand.objective(X, *by) == pytest.approx(value, rel=1e-9)
        pi, theta = mixture.em_step(X, pi, theta, prior)
        by = by_hand.maximization(X, by_hand.expectation(X, *by))
    np.testing.assert_allclose(by[0], pi, rtol=1e-6)
    np.testing.assert_allclose(by[1] - offset, theta.means - offset, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(by[2], theta.covariances, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("offset", [0, 1e8])
def test_steps_by_hand_end_where_the_estimator_does(by_hand, offset):
    X = drawn(5, k=2, far=offset)
    (pi, mu, C), values = by_hand.em(X, X[:2], steps=5000, gain=1e-13)
    variances = (X - X[0]).var(axis=0)
    model = GaussianMixture(
        2, means_init=X[:2], weights_init=[0.5, 0.5], precisions_init=[np.diag(1 / variances)] * 2,
        tol=0, max_iter=5000,
    ).fit(X)  # fmt: skip
    assert model.lower_bound_ == pytest.approx(values[-1] / len(X), abs=1e-6)
    np.testing.assert_allclose(model.weights_, pi, atol=1e-3)
    np.testing.assert_allclose(model.means_ - offset, mu - offset, atol=1e-2)
    np.testing.assert_allclose(model.covariances_, C, atol=2e-2)


def test_no_step_lowers_the_objective_and_the_printed_order_does(by_hand):
    X = drawn(6)
    _, values = by_hand.em(X, X[:3])
    assert len(values) > 10
    assert np.diff(values).min() > -1e-9
    theta, falls = (np.full(3, 1 / 3), X[:3], np.array([np.cov(X.T)] * 3)), []
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=len(X))
    for _ in range(20):
        before, new = by_hand.objective(X, *theta), by_hand.expectation(X, *theta)
        theta, q = by_hand.maximization(X, q), new  # F(q⁽ᵗ⁾, θ), as printed
        falls.append(before - by_hand.objective(X, *theta))
    assert max(falls) > 1


def test_the_example_by_hand_runs_on_numpy_alone():
    imports = [line for line in PROGRAM.read_text("utf-8").splitlines() if "import " in line]
    assert imports == ["import numpy as np"]
    done = subprocess.run(
        [sys.executable, PROGRAM], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.count("shares [") == 5
