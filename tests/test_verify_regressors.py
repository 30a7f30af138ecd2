"""``certus.verify`` on penalised regressions that others fitted, each by its own objective."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy.sparse import csr_array
from sklearn.base import clone

import certus
from problems import regression, weights

TIGHT = {"tol": 1e-13, "max_iter": 100_000}
FITS = {
    "lasso": peers.Lasso(alpha=0.2, **TIGHT),
    "lasso, positive": peers.Lasso(alpha=0.2, positive=True, **TIGHT),
    "lasso, no intercept": peers.Lasso(alpha=0.2, fit_intercept=False, **TIGHT),
    "lasso, precomputed": peers.Lasso(alpha=0.2, precompute=True, **TIGHT),
    "lasso, random": peers.Lasso(alpha=0.2, selection="random", random_state=0, **TIGHT),
    "elastic net": peers.ElasticNet(alpha=0.2, l1_ratio=0.3, **TIGHT),
    "elastic net, L1": peers.ElasticNet(alpha=0.2, l1_ratio=1.0, **TIGHT),
    "elastic net, L2": peers.ElasticNet(alpha=0.2, l1_ratio=0.0, **TIGHT),
    "elastic net, L2, positive": peers.ElasticNet(alpha=0.2, l1_ratio=0.0, positive=True, **TIGHT),
}
each_fit = pytest.mark.parametrize("name", FITS)
each_weight = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def fitted(model, X, y, s=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y, **({} if s is None else {"sample_weight": s}))


def certified(model, X, y, s=None):
    c = certus.verify(model, X, y, s)
    assert c.certified, c.explain()
    return c


def refused(model, X, y, s=None):
    c = certus.verify(model, X, y, s)
    assert not c.certified, c.explain()
    return c


def by_the_equation(model, X, y, s):
    s = np.ones(len(y)) if s is None else s
    r, w = y - model.predict(X), np.ravel(model.coef_)
    l = model.get_params().get("l1_ratio", 1.0)
    alpha = model.alpha
    return s @ r**2 / (2 * s.sum()) + alpha * l * np.abs(w).sum() + alpha * (1 - l) / 2 * w @ w


@each_weight
@each_fit
def test_a_model_that_converged_is_accepted_by_its_own_objective(name, weighted):
    X, y, _ = regression(1)
    s = weights(1, len(y)) if weighted else None
    model = fitted(FITS[name], X, y, s)
    c = certified(model, X, y, s)
    assert c.model == f"sklearn.linear_model.{type(model).__name__}"
    assert c.definition == "certus.definitions.penalised"
    assert c.objective == pytest.approx(by_the_equation(model, X, y, s), rel=1e-12)
    assert ("s" in c.formula.split("(")[1]) == weighted
    if weighted:  # weights count
        assert certus.verify(model, X, y).objective != pytest.approx(c.objective, rel=1e-6)
        refused(model, X, y)


@each_fit
def test_a_coefficient_changed_by_one_percent_is_refused(name):
    X, y, _ = regression(2)
    model = fitted(FITS[name], X, y)
    w = model.coef_.copy()
    for j in np.flatnonzero(w):
        model.coef_ = w.copy()
        model.coef_[j] *= 1.01
        refused(model, X, y)
    model.coef_ = w
    if model.fit_intercept:
        model.intercept_ = model.intercept_ * 1.01
        refused(model, X, y)


@each_weight
@pytest.mark.parametrize("name", ["LassoCV", "ElasticNetCV"])
def test_the_fit_at_a_chosen_alpha_is_rechecked_and_the_choice_is_not(name, weighted):
    X, y, _ = regression(6, n=80)
    s = weights(1, len(y)) if weighted else None
    extra = {"l1_ratio": [0.3, 0.8]} if name == "ElasticNetCV" else {}
    model = fitted(getattr(peers, name)(cv=3, **extra, **TIGHT), X, y, s)
    c = certified(model, X, y, s)
    l = model.l1_ratio_ if extra else 1.0
    assert c.parameters["penalty"]["l1"] == model.alpha_ * l
    assert c.parameters["penalty"]["l2"] == model.alpha_ * (1 - l)
    assert "was not recomputed" in c.explain()
    model.coef_ = model.coef_ * 1.01
    refused(model, X, y, s)


def test_several_targets_and_sparse_rows():
    X, Y, _ = regression(3, k=3)
    X = X * (np.abs(X) > 0.6)
    model = fitted(peers.Lasso(alpha=0.3, **TIGHT), X, Y)
    c = certified(model, X, Y)
    assert c.objective == pytest.approx(certified(model, csr_array(X), Y).objective, rel=1e-12)
    each = [fitted(peers.Lasso(alpha=0.3, **TIGHT), X, y) for y in Y.T]
    assert c.objective == pytest.approx(
        sum(certified(one, X, y).objective for one, y in zip(each, Y.T, strict=True)), rel=1e-10
    )


def test_what_is_said_of_a_good_and_of_a_bad_fit():
    X, y, _ = regression(4)
    model = fitted(FITS["lasso"], X, y)
    text = certified(model, X, y).explain()
    assert "[OK] OPTIMAL   sklearn.linear_model.Lasso, 60 rows × 4 columns" in text
    assert "Minimised      1/(2n) Σ (yᵢ − xᵢᵀw − b)² + 0.2‖w‖₁" in text
    assert "(gradient and curvature)" in text
    assert "of what the intercept alone leaves" in text
    rough = fitted(peers.Lasso(alpha=0.2, tol=0.9), X, y)
    text = refused(rough, X, y).explain()
    assert "% too high" in text
    assert "Likely cause   tol=0.9 stopped it early" in text
    assert "lower tol (it was 0.9), or use certus.linear_model.Lasso" in text
    short = fitted(peers.Lasso(alpha=0.2, max_iter=1, tol=1e-12), X, y)
    assert "stopped at max_iter=1" in refused(short, X, y).explain()


@each_fit
def test_an_exported_script_recomputes_the_claim_alone(name, tmp_path):
    X, y, _ = regression(5)
    model = fitted(FITS[name], X, y)
    certified(model, X, y).export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    command = [sys.executable, "-I", "check.py", "X.npy", "y.npy"]
    run = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 60, "check": False}
    good = subprocess.run(command, **run)
    assert good.returncode == 0, good.stdout + good.stderr
    assert "the claim holds" in good.stdout
    np.save(tmp_path / "y.npy", y * 1.01)
    assert subprocess.run(command, **run).returncode == 1
