"""Kernel machines for tests of pages: data, fits, and the page that goes with a certificate."""

from importlib import import_module

import numpy as np

from certus.certificate.pages import machines

PAGES = {
    "certus.proofs.lssvm.lssvm": "lssvm",
    "certus.proofs.lssvm.primal": "lssvm_primal",
    "certus.proofs.hinge.svc": "svc",
}


def blobs(seed=0, n=40, p=3, classes=2, shift=1.2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, p)) + shift * rng.normal(size=(classes, p))[y], y


def curve(seed=0, n=40, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


def weights(n, seed=0):
    """Whole numbers from 0 to 3, the first rows not 0."""
    s = np.random.default_rng(seed).integers(0, 4, size=n).astype(float)
    s[:6] = 1.0
    return s


def claim_of(c, X, y, s=None, **changed):
    """The claim of a certificate's page on the same rows; ``changed``: other parameters."""
    name = PAGES[c.definition]
    (problem,) = getattr(machines, name)({**c.parameters, **changed}, c.labels)
    assert problem.page == name
    page = import_module(f"certus.definitions.{problem.page}")
    s = np.ones(len(X)) if s is None else s
    y = np.asarray(y) if c.labels is None else np.searchsorted(c.labels.classes, y)
    y, s = problem.targets(y.reshape(len(X), -1), s)
    return page.check(np.asarray(X, dtype=float), y, s, **problem.arguments)


def assert_agrees(c, X, y, s=None):
    """The page says what the certificate says."""
    claim, f0 = claim_of(c, X, y, s), c._finding.null_objective
    assert abs(claim.objective - c.objective) <= 1e-9 * max(abs(c.objective), 1e-3 * f0)
    assert claim.holds == c.certified
    assert (claim.kind == "global optimum") == (c.kind == "global")
    if c.bound is None:
        assert claim.bound is None
    else:
        assert abs(claim.objective - claim.bound - claim.miss) <= 1e-12 * claim.objective
        assert 0 <= claim.miss <= c.gap + 1e-12 * f0
        assert claim.bound >= c.bound - 1e-9 * f0
    if claim.holds:
        assert abs(claim.scale - f0) <= 1e-9 * f0
    return claim
