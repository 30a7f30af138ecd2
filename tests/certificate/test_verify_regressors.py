"""``certus.verify`` on penalised regressions that others fitted, each by its own objective."""

import subprocess
import sys

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy.optimize import minimize
from scipy.sparse import csr_array, save_npz
from sklearn.base import clone

import certus
from certus.exceptions import CannotVerifyError
from tests.certificate.audit_cases import TIGHT, certified, fitted, ran, refused
from tests.contract.problems import regression, weights

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
    assert c.definition == "certus.proofs.lasso.penalized"
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


def test_what_is_stated_of_a_good_and_of_a_bad_fit():
    X, y, _ = regression(4)
    model = fitted(FITS["lasso"], X, y)
    text = certified(model, X, y).explain()
    assert "[OK] OPTIMAL   sklearn.linear_model.Lasso, 60 rows × 4 columns" in text
    assert "Minimised      1/(2n) Σ (yᵢ − xᵢᵀw − b)² + 0.2‖w‖₁" in text
    assert "(gradient and curvature)" in text
    assert "of what the intercept alone leaves" in text
    rough = fitted(peers.Lasso(alpha=0.2, tol=0.9), X, y)
    text = refused(rough, X, y).explain()
    assert "the objective is too high by " in text
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


@pytest.mark.parametrize("alpha", [0.5, 0.0])
def test_a_script_of_huber_regression(alpha, tmp_path):
    X, y, _ = regression(14)
    model = fitted(peers.HuberRegressor(alpha=alpha, tol=1e-9, max_iter=10_000), X, y)
    c = certus.verify(model, X, y, tol=1e-5)
    c.export(tmp_path / "check.py")
    assert ran(tmp_path, X, y).returncode == 0
    assert ran(tmp_path, X, y * 1.01).returncode == 1


def test_a_script_for_sparse_rows_with_columns_that_repeat(tmp_path):
    X, y, _ = regression(15, n=1500)
    X = X * (np.abs(X) > 0.6)
    X = csr_array(np.column_stack([X, X[:, :1]]))
    model = fitted(FITS["lasso"], X, y)
    c = certified(model, X, y)
    assert "not unique" in c.explain()
    c.export(tmp_path / "check.py")
    save_npz(tmp_path / "X.npz", X)
    assert ran(tmp_path, None, y).returncode == 0


# --- least angles, stochastic steps, Huber's scale ------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        peers.LassoLars(alpha=0.2),
        peers.LassoLars(alpha=0.2, positive=True),
        peers.LassoLars(alpha=0.2, fit_intercept=False),
        peers.LassoLarsCV(cv=3),
        peers.LassoLarsIC(criterion="bic"),
    ],
    ids=str,
)
def test_least_angles(model):
    X, y, _ = regression(7, n=80, signs=False)
    model = fitted(model, X, y)
    c = certified(model, X, y)
    chosen = "alpha_" in vars(model)
    assert c.parameters["penalty"]["l1"] == (model.alpha_ if chosen else 0.2)
    assert ("was not recomputed" in c.explain()) == chosen
    model.coef_ = model.coef_ * 1.01
    model.intercept_ = y.mean() - X.mean(axis=0) @ model.coef_ if model.fit_intercept else 0.0
    assert "LassoCV" in refused(model, X, y).explain() or not chosen


def test_a_jitter_is_refused_with_the_reason():
    X, y, _ = regression(7)
    model = fitted(peers.LassoLars(alpha=0.1, jitter=1e-3, random_state=0), X, y)
    with pytest.raises(CannotVerifyError, match="adds noise to y"):
        certus.verify(model, X, y)


def at_the_optimum(model, X, y, s):
    """SGDRegressor with the coefficients that SciPy finds for its objective."""
    model = fitted(model, X, y, s)
    n, p = X.shape
    l = {"l1": 1.0, "l2": 0.0, "elasticnet": model.l1_ratio, None: 0.0}[model.penalty]
    alpha = model.alpha if model.penalty else 0.0

    def F(parts):
        w, b = parts[:p] - parts[p:-1], parts[-1]
        r = y - X @ w - b
        a = r if model.loss == "squared_error" else np.clip(r, -model.epsilon, model.epsilon)
        g, total = -X.T @ (s * a) / n + alpha * (1 - l) * w, parts[:-1].sum()
        value = s @ (a * (r - a / 2)) / n + alpha * l * total + alpha * (1 - l) / 2 * w @ w
        return value, np.concatenate([g + alpha * l, -g + alpha * l, [-(s @ a) / n]])

    bounds = [(0, None)] * (2 * p) + [(None, None)]
    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 10_000, "maxfun": 100_000}
    found = minimize(
        F, np.zeros(2 * p + 1), jac=True, bounds=bounds, method="L-BFGS-B", options=options
    )
    model.coef_, model.intercept_ = found.x[:p] - found.x[p:-1], found.x[-1:]
    return model, found.fun


@each_weight
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet", None])
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_stochastic_gradient_descent_by_its_own_objective(loss, penalty, weighted):
    X, y, _ = regression(8)
    s = weights(8, len(y)) if weighted else None
    how = {"alpha": 0.05, "l1_ratio": 0.4, "epsilon": 0.8, "random_state": 0}
    model = peers.SGDRegressor(loss=loss, penalty=penalty, **how)
    model, best = at_the_optimum(model, X, y, np.ones(len(y)) if s is None else s)
    c = certified(model, X, y, s)
    assert c.objective == pytest.approx(best, rel=1e-9)
    model.coef_ = model.coef_ * 1.01
    text = refused(model, X, y, s).explain()
    assert "stochastic steps end near the optimum" in text
    assert "average=True" in text


def test_what_of_sgd_cannot_be_audited_is_stated():
    X, y, _ = regression(8)
    for how, message in (
        ({"loss": "epsilon_insensitive"}, "cannot be audited"),
        ({"loss": "squared_epsilon_insensitive"}, "cannot be audited"),
        ({"early_stopping": True}, "part of the rows"),
    ):
        model = fitted(peers.SGDRegressor(**how), X, y)
        with pytest.raises(CannotVerifyError, match=message):
            certus.verify(model, X, y)


@pytest.mark.parametrize("name", ["Lasso", "ElasticNet", "LassoCV", "ElasticNetCV"])
def test_several_tasks_at_once_are_refused_with_the_reason(name):
    X, Y, _ = regression(9, k=2)
    how = {"cv": 3} if name.endswith("CV") else {"alpha": 0.1}
    model = fitted(getattr(peers, f"MultiTask{name}")(**how), X, Y)
    with pytest.raises(CannotVerifyError, match="all targets together"):
        certus.verify(model, X, Y)
    with pytest.raises(CannotVerifyError) as caught:
        certus.verify(fitted(peers.BayesianRidge(), X, Y[:, 0]), X, Y[:, 0])
    assert "MultiTask" not in str(caught.value)


@each_weight
@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
@pytest.mark.parametrize("alpha", [0.5, 0.0])
def test_huber_regression_with_its_scale(alpha, intercept, weighted):
    X, y, _ = regression(10)
    y = y.copy()
    y[:6] += 15.0
    s = weights(10, len(y)) if weighted else None
    # one run of scikit-learn's L-BFGS stops where F stops falling: slopes are then about 1e-5
    how = {"tol": 1e-9, "max_iter": 10_000, "fit_intercept": intercept, "warm_start": intercept}
    model = fitted(peers.HuberRegressor(alpha=alpha, **how), X, y, s)
    for _ in range(3 if intercept else 0):  # its warm start takes an intercept for granted
        model.fit(X, y, s)
    c = certus.verify(model, X, y, s, tol=1e-5)
    assert c.certified, c.explain()
    assert c.kind == ("global" if alpha else "stationary")
    z = np.abs(y - model.predict(X)) / model.scale_
    H = np.where(z <= 1.35, z**2, 2 * 1.35 * z - 1.35**2)
    total = np.sum((1.0 if s is None else s) * (model.scale_ + model.scale_ * H))
    assert c.objective == pytest.approx(total + alpha * model.coef_ @ model.coef_, rel=1e-10)
    for name in ("coef_", "scale_", *(["intercept_"] if intercept else [])):
        edited = fitted(peers.HuberRegressor(alpha=alpha, **how), X, y, s)
        setattr(edited, name, getattr(edited, name) * 1.01)
        assert not certus.verify(edited, X, y, s, tol=1e-5).certified


@pytest.mark.parametrize("by", ["proof", "page"])
@pytest.mark.parametrize("columns", [1e-60, 1e-120, 1e-150, 1e100])
@pytest.mark.parametrize("targets", [1e-60, 1e-120, 1e100])
@pytest.mark.parametrize(
    "model", [peers.LinearRegression(), peers.Ridge(1e-3), peers.Lasso(0.01)], ids=repr
)
def test_a_wrong_model_is_found_out_whatever_the_size_of_columns_and_targets(
    model, columns, targets, by
):
    """The square of the gradient underflowed, and with it the gap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X -= X.mean(axis=0)  # so that the intercept stays right
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=40)
    model = clone(model).fit(X, y)
    model.coef_ *= 1.3 * targets / columns
    model.intercept_ *= targets
    alpha = {"Ridge": 1e-3 * columns**2, "Lasso": 0.01 * columns * targets}
    if type(model).__name__ in alpha:
        model.set_params(alpha=alpha[type(model).__name__])
    assert not certus.verify(model, X * columns, y * targets, by=by).certified
