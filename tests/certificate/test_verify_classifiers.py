"""``certus.verify`` on classifiers that others fitted, each by its own objective."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import xlogy
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import certus
from certus.exceptions import CannotVerifyError
from certus.losses import Logistic, SquaredHinge
from certus.text.format import number
from tests.certificate.audit_cases import certified, refused
from tests.contract.problems import weights

TIGHT = {"tol": 1e-11, "max_iter": 20_000, "random_state": 0}
SOLVERS = ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]
NAMES = np.array(["ash", "birch", "cedar", "elm"])


def classes(seed=0, n=150, p=4, K=2, text=True):
    """Classes that overlap, of unequal size; columns not at 0, so that intercepts matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.5
    W = rng.normal(size=(p, K))
    k = np.argmax(X @ W + np.arange(K) * 0.7 + 2 * rng.gumbel(size=(n, K)), axis=1)
    assert len(np.unique(k)) == K
    return X, NAMES[k] if text else k


def up_to_one(seed, n):
    """Weights, none above 1: with those scikit-learn's sag diverges on three classes."""
    return weights(seed, n) / 4


def quietly(model, X, y, s=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, sample_weight=s)


# --- logistic regression: models that are right ---------------------------------------------------

LOGISTIC = {
    **{solver: peers.LogisticRegression(solver=solver, C=0.7, **TIGHT) for solver in SOLVERS},
    "balanced": peers.LogisticRegression(class_weight="balanced", C=0.7, **TIGHT),
    "weights": peers.LogisticRegression(class_weight={"ash": 3.0}, C=0.7, **TIGHT),
    "no intercept": peers.LogisticRegression(fit_intercept=False, C=0.7, **TIGHT),
    "liblinear, scaled intercept": peers.LogisticRegression(
        solver="liblinear", intercept_scaling=7.0, C=0.7, class_weight="balanced", **TIGHT
    ),
    "liblinear, dual": peers.LogisticRegression(solver="liblinear", dual=True, C=0.7, **TIGHT),
    "liblinear, no intercept": peers.LogisticRegression(
        solver="liblinear", fit_intercept=False, C=0.7, **TIGHT
    ),
    "liblinear, L1": peers.LogisticRegression(
        solver="liblinear", l1_ratio=1, intercept_scaling=3.0, C=0.7, **TIGHT
    ),
    "saga, L1": peers.LogisticRegression(solver="saga", l1_ratio=1, C=0.7, **TIGHT),
    "saga, elastic net": peers.LogisticRegression(solver="saga", l1_ratio=0.4, C=0.7, **TIGHT),
    "penalty='l2'": peers.LogisticRegression(penalty="l2", C=0.7, **TIGHT),
    "penalty='l1'": peers.LogisticRegression(penalty="l1", solver="liblinear", C=0.7, **TIGHT),
    "penalty='elasticnet'": peers.LogisticRegression(
        penalty="elasticnet", l1_ratio=0.4, solver="saga", C=0.7, **TIGHT
    ),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", LOGISTIC)
def test_a_logistic_model_that_converged_is_accepted(name, K, weighted):
    if K > 2 and ("liblinear" in name or name == "penalty='l1'"):
        pytest.skip("liblinear is for two classes")
    X, y = classes(1, K=K)
    s = up_to_one(1, len(X)) if weighted else None
    model = quietly(LOGISTIC[name], X, y, s)
    c = certified(model, X, y, s)
    assert c.model == "sklearn.linear_model.LogisticRegression"
    assert c.definition == f"certus.proofs.glm.{'logistic' if K == 2 else 'softmax'}"
    assert c.kind == "global"


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", LOGISTIC)
def test_the_objective_is_that_of_the_equation(name, K):
    """C Σ s c (−log P(y)) + penalty, from the model's own probabilities."""
    if K > 2 and ("liblinear" in name or name == "penalty='l1'"):
        pytest.skip("liblinear is for two classes")
    X, y = classes(1, K=K)
    s = up_to_one(1, len(X))
    model = quietly(LOGISTIC[name], X, y, s)
    k = np.searchsorted(model.classes_, y)
    c_k = {
        "balanced": s.sum() / (K * np.bincount(k, s)), "weights": np.array([3.0] + [1.0] * (K - 1)),
        "liblinear, scaled intercept": s.sum() / (K * np.bincount(k, s)),
    }.get(name, np.ones(K))  # fmt: skip
    l = {"penalty='l1'": 1.0, "penalty='l2'": 0.0}.get(name, model.l1_ratio)
    w = model.coef_.ravel()
    if model.solver == "liblinear":
        w = np.append(w, model.intercept_ / model.intercept_scaling)
    loss = -np.log(model.predict_proba(X)[np.arange(len(X)), k])
    F = 0.7 * np.sum(s * c_k[k] * loss) + l * np.abs(w).sum() + (1 - l) / 2 * (w @ w)
    assert certified(model, X, y, s).objective == pytest.approx(F, rel=1e-9)


@pytest.mark.parametrize("how", [{"C": np.inf}, {"penalty": None}])
@pytest.mark.parametrize("K", [2, 3])
def test_no_penalty_in_either_spelling_is_read_as_none(how, K):
    X, y = classes(1, K=K)
    model = quietly(peers.LogisticRegression(**how, **TIGHT), X, y)
    c = certus.verify(model, X, y)
    assert (c.parameters["C"], c.parameters["l1"], c.parameters["l2"]) == (1.0, 0.0, 0.0)
    k = np.searchsorted(model.classes_, y)
    loss = -np.log(model.predict_proba(X)[np.arange(len(X)), k]).sum()
    assert c.objective == pytest.approx(loss, rel=1e-9)
    assert "‖w‖" not in c.formula


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("K", [2, 3])
def test_a_model_without_a_penalty_is_accepted_and_refused(K, weighted):
    X, y = classes(1, K=K)
    s = weights(1, len(X)) if weighted else None
    model = quietly(peers.LogisticRegression(C=np.inf, solver="newton-cholesky", **TIGHT), X, y, s)
    certified(model, X, y, s)
    model.coef_[0, 0] *= 1.02
    refused(model, X, y, s)


def test_separated_classes_are_named_with_what_separates_them():
    X, _ = classes(1)
    frame = pd.DataFrame(X, columns=["age", "size", "dose", "year"])
    model = peers.LogisticRegression(C=np.inf, **TIGHT)
    y = np.where(frame["size"] > 0.3, "malignant", "benign")
    c = refused(quietly(model, frame, y), frame, y)
    assert c.status == "no finite optimum"
    counts = {label: (y == label).sum() for label in ("malignant", "benign")}
    between = c._finding.facts.separation.threshold
    assert (
        f"every row with size > {number(between, 15)} is 'malignant' "
        f"({counts['malignant']} rows) and every other row is 'benign' ({counts['benign']} rows)"
    ) in repr(c)
    assert ((frame["size"] > between) == (frame["size"] > 0.3)).all()
    y = np.where(frame["size"] + frame["dose"] > 0.3, "malignant", "benign")
    c = refused(quietly(model, frame, y), frame, y)
    assert c.status == "no finite optimum"
    assert "combination of 'size', 'dose'" in repr(c) or "of 'dose', 'size'" in repr(c)
    assert certus.verify(quietly(LOGISTIC["newton-cg"], frame, y), frame, y).certified


def test_sparse_rows_and_float32_are_read():
    X, y = classes(1, K=3)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    certified(quietly(LOGISTIC["newton-cg"], csr_array(X), y), csr_array(X), y)
    model = quietly(LOGISTIC["newton-cg"], X, y)
    model.sparsify()
    certified(model, X, y)
    X = X.astype(np.float32)
    certified(quietly(LOGISTIC["newton-cg"], X, y), X, y)


@pytest.mark.parametrize(
    "labels",
    [
        lambda k: k.astype(bool), lambda k: k.astype(float) * 3 - 7, lambda k: k.astype(np.int8),
        lambda k: pd.Series(NAMES[k], dtype="category"), lambda k: NAMES[k].astype(object),
        lambda k: NAMES[k].tolist(), lambda k: k[:, None],
    ],
    ids=["bool", "float", "int8", "category", "object", "list", "column"],
)  # fmt: skip
def test_labels_of_any_kind_are_read(labels):
    X, k = classes(1, text=False)
    y = labels(k)
    certified(quietly(LOGISTIC["lbfgs"], X, y), X, y)


def test_a_model_inside_a_pipeline_and_a_search_is_found():
    X, y = classes(1, K=3)
    model = make_pipeline(StandardScaler(), LOGISTIC["newton-cg"]).fit(X, y)
    assert "found inside Pipeline" in certified(model, X, y).explain()
    search = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert "found inside GridSearchCV → Pipeline" in certified(search, X, y).explain()


# --- … and that are not ---------------------------------------------------------------------------


def fitted(kind, K):
    X, y = classes(2, K=K)
    s = up_to_one(2, len(X))
    if kind == "sgd":
        return X, y, s, by_scipy(X, y, s)
    choices = {
        "logistic": LOGISTIC["newton-cg"], "weighted": LOGISTIC["balanced"],
        "L1": LOGISTIC["saga, L1"], "ridge": peers.RidgeClassifier(class_weight="balanced"),
        "cv": peers.LogisticRegressionCV(
            Cs=3, cv=3, l1_ratios=(0,), scoring=None, use_legacy_attributes=False, **TIGHT
        ),
    }  # fmt: skip
    return X, y, s, quietly(clone(choices[kind]), X, y, s)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("kind", ["logistic", "weighted", "L1", "ridge", "cv", "sgd"])
def test_an_edit_of_one_percent_is_refused(kind, K):
    X, y, s, model = fitted(kind, K)
    certified(model, X, y, s)
    coef, intercept = model.coef_.copy(), np.array(model.intercept_)
    largest = np.unravel_index(np.argmax(np.abs(coef)), coef.shape)
    model.coef_ = coef.copy()
    model.coef_[largest] *= 1.01
    refused(model, X, y, s)
    model.coef_ = coef
    certified(model, X, y, s)
    model.intercept_ = intercept + 0.01 * (np.arange(intercept.size) == 0)
    refused(model, X, y, s)


@pytest.mark.parametrize("K", [2, 3])
def test_another_parameter_than_that_of_the_fit_is_refused(K):
    X, y, s, model = fitted("weighted", K)
    for name, value in [("C", 0.75), ("l1_ratio", 0.1), ("class_weight", None)]:
        true = getattr(model, name)
        setattr(model, name, value)
        refused(model, X, y, s)
        setattr(model, name, true)
    certified(model, X, y, s)
    refused(model, X, y)
    refused(model, X, np.roll(y, 1), s)
    model.fit_intercept = False
    assert "there is an intercept" in refused(model, X, y, s).explain()


def test_the_intercept_of_liblinear_is_penalised_and_that_of_others_is_not():
    X, y = classes(1)
    X = X + 1.0
    model = quietly(peers.LogisticRegression(solver="liblinear", C=0.7, **TIGHT), X, y)
    certified(model, X, y)
    model.solver = "lbfgs"
    refused(model, X, y)
    model.solver, model.intercept_scaling = "liblinear", 1.1
    refused(model, X, y)


def test_an_early_stop_is_caught_with_its_cause():
    X, y = classes(1)
    X = X * [1, 1e4, 1, 1] + [0, 0, 500, 0]
    frame = pd.DataFrame(X, columns=["age", "income", "year", "dose"])
    text = refused(quietly(peers.LogisticRegression(max_iter=5), frame, y), frame, y).explain()
    sections = {line[:15].strip(): line[15:] for line in text.splitlines()[1:]}
    assert text.startswith("[!!] NOT OPTIMAL   sklearn.linear_model.LogisticRegression, 150 rows")
    assert sections["Minimised"] == "Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½‖w‖²"
    assert "column scales differ by 1e4" in sections["Likely cause"]
    assert "'year' lies far from 0 (mean 5" in sections["Likely cause"]
    assert "it stopped at max_iter=5" in sections["Likely cause"]
    assert sections["What to do"] == (
        "standardise first, raise max_iter, lower tol (it was 0.0001), or use "
        "certus.linear_model.LogisticRegression"
    )


def test_a_loose_tolerance_is_named():
    X, y = classes(1)
    text = refused(peers.LogisticRegression(tol=0.1).fit(X, y), X, y).explain()
    assert "Likely cause   tol=0.1 stopped it early" in text
    assert "What to do     lower tol (it was 0.1), or use certus.linear_model." in text


# --- LogisticRegressionCV -------------------------------------------------------------------------


@pytest.mark.parametrize("legacy", [True, False], ids=["legacy", "new"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "how",
    [
        {"l1_ratios": (0,)},
        {"l1_ratios": None},
        {"l1_ratios": (0.3, 0.8), "solver": "saga"},
        {"l1_ratios": None, "penalty": "l1", "solver": "saga"},
        {"l1_ratios": (0,), "solver": "liblinear", "intercept_scaling": 5.0},
        {"l1_ratios": (0,), "class_weight": "balanced", "Cs": [0.3, np.inf]},
    ],
    ids=["L2", "legacy L2", "elastic net", "penalty='l1'", "liblinear", "balanced"],
)
def test_the_fit_at_the_chosen_parameters_is_checked(how, K, legacy):
    if K > 2 and how.get("solver") == "liblinear":
        pytest.skip("liblinear is for two classes")
    X, y = classes(1, n=90, K=K)
    how = {"Cs": [0.1, 1.0], "cv": 3, "scoring": None, **TIGHT, **how}
    model = quietly(peers.LogisticRegressionCV(use_legacy_attributes=legacy, **how), X, y)
    if np.ravel(model.C_)[0] == np.inf:
        assert certus.verify(model, X, y).parameters["l2"] == 0
        return
    c = certified(model, X, y)
    assert "the choice of C_ and l1_ratio_ was not recomputed, the fit at them was" in c.explain()


def test_the_average_of_folds_is_no_optimum_of_anything():
    X, y = classes(1, n=90)
    model = peers.LogisticRegressionCV(refit=False, cv=3, Cs=2)
    with pytest.raises(CannotVerifyError, match=r"refit=False.*averages.*Use refit=True"):
        certus.verify(quietly(model, X, y), X, y)


# --- SGDClassifier --------------------------------------------------------------------------------


def sgd(**how):
    defaults = {"loss": "log_loss", "alpha": 0.02, "random_state": 0, "max_iter": 5, "tol": None}
    return peers.SGDClassifier(**{**defaults, **how})


def by_scipy(X, y, s, **how):
    """An SGDClassifier whose coefficients are the optimum of the objective in its documentation."""
    model = quietly(sgd(**how), X, y, s)
    n, K = len(X), len(model.classes_)
    s = np.ones(n) if s is None else s
    counts = np.array([(y == label).sum() for label in model.classes_])
    c = n / (K * counts) if model.class_weight == "balanced" else np.ones(K)
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": model.l1_ratio, None: 0.0}[model.penalty]
    alpha = 0.0 if model.penalty is None else model.alpha
    coef, intercept = np.empty((K, X.shape[1])), np.empty(K)
    for t in range(K):
        sign = np.where(y == model.classes_[t], 1.0, -1.0)
        other = c[1 - t] if K == 2 else 1.0
        omega = s * np.where(sign > 0, c[t], other) / n

        def objective(u, sign=sign, omega=omega):  # w = u₊ − u₋, both ≥ 0
            p = X.shape[1]
            w = u[:p] - u[p : 2 * p]
            m = sign * (X @ w + u[-1])
            a = omega * sign / (1 + np.exp(m))
            f = omega @ np.logaddexp(0, -m) + alpha * (
                ratio * u[: 2 * p].sum() + (1 - ratio) / 2 * w @ w
            )
            g = alpha * (1 - ratio) * w - X.T @ a
            return f, np.concatenate([g + alpha * ratio, -g + alpha * ratio, [-a.sum()]])

        p = X.shape[1]
        bounds = [(0, None)] * (2 * p) + [(None, None)]
        options = {"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-16, "gtol": 1e-12}
        found = minimize(
            objective, np.zeros(2 * p + 1), jac=True, method="L-BFGS-B", bounds=bounds,
            options=options,
        )  # fmt: skip
        coef[t], intercept[t] = found.x[:p] - found.x[p : 2 * p], found.x[-1]
    chosen = slice(1, 2) if K == 2 else slice(None)
    model.coef_, model.intercept_ = coef[chosen], intercept[chosen]
    return model


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"penalty": "l1"},
        {"penalty": "elasticnet", "l1_ratio": 0.3},
        {"class_weight": "balanced"},
        {"class_weight": "balanced", "penalty": "l1"},
    ],
    ids=str,
)
def test_the_optimum_of_what_sgd_minimises_is_accepted(how, K, weighted):
    X, y = classes(3, K=K)
    s = weights(3, len(X)) if weighted else None
    c = certified(by_scipy(X, y, s, **how), X, y, s)
    assert c.formula.startswith("1/n Σ ")


def test_an_sgd_without_a_penalty_is_read_as_such():
    X, y = classes(3)
    model = quietly(sgd(penalty=None), X, y)
    c = certus.verify(model, X, y)
    assert (c.parameters["l1"], c.parameters["l2"]) == (0.0, 0.0)
    assert c.objective == pytest.approx(
        -np.log(model.predict_proba(X)[np.arange(len(X)), (y == model.classes_[1]) * 1]).mean()
    )


def test_sgd_comes_near_the_optimum_and_the_report_says_so():
    """The reading is right: a long averaged run is the closer the longer it is."""
    X, y = classes(3)
    runs = [quietly(sgd(average=True, max_iter=m), X, y) for m in (3, 30, 1000)]
    gaps = [certus.verify(model, X, y).residual for model in runs]
    assert gaps[2] < 0.1 * gaps[1] < 0.01 * gaps[0]
    assert gaps[2] < 1e-5
    c = refused(quietly(sgd(), X, y), X, y)
    assert "stochastic steps end near the optimum, not at it" in c.explain()
    assert "certus.linear_model.LogisticRegression(C=0.333333): the same problem" in c.explain()
    K3 = classes(3, K=3)
    text = refused(quietly(sgd(), *K3), *K3).explain()
    assert "for each class against the rest; the objective is their sum" in text


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"loss": "modified_huber"}, r"SGDClassifier\(loss='modified_huber'\) cannot be audited"),
        ({"loss": "hinge", "penalty": None}, "without a penalty no bound is known"),
        ({"early_stopping": True}, "fits on a part of the rows only"),
    ],
)
def test_what_sgd_makes_no_claim_about_is_refused(how, message):
    X, y = classes(3)
    with pytest.raises(CannotVerifyError, match=message):
        certus.verify(quietly(sgd(**how), X, y), X, y)


# --- ridge ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ash": 2.5}], ids=str)
@pytest.mark.parametrize(
    "cls", [peers.RidgeClassifier, peers.RidgeClassifierCV], ids=lambda c: c.__name__
)
def test_ridge_on_signs_is_accepted(cls, class_weight, K, weighted):
    X, y = classes(4, K=K)
    s = weights(4, len(X)) if weighted else None
    model = cls(class_weight=class_weight).fit(X, y, s)
    c = certified(model, X, y, s)
    Y = np.where(y[:, None] == model.classes_, 1.0, -1.0)[:, 1 if K == 2 else 0 :]
    z = model.decision_function(X).reshape(len(X), -1)
    c_k = {"ash": 2.5} if isinstance(class_weight, dict) else {}
    if class_weight == "balanced":
        c_k = {label: len(y) / (K * (y == label).sum()) for label in model.classes_}
    omega = np.array([c_k.get(label, 1.0) for label in y]) * (1.0 if s is None else s)
    alpha = model.alpha_ if cls is peers.RidgeClassifierCV else 1.0
    F = (omega[:, None] * (Y - z) ** 2).sum() + alpha * (model.coef_**2).sum()
    assert c.objective == pytest.approx(F, rel=1e-9)
    assert ("cᵢ" in c.formula) == (class_weight is not None)


def test_a_positive_ridge_and_a_ridge_of_folds_are_accepted():
    X, y = classes(4, K=3)
    certified(peers.RidgeClassifier(positive=True, tol=1e-12).fit(X, y), X, y)
    certified(peers.RidgeClassifierCV(cv=3, class_weight="balanced").fit(X, y), X, y)


def test_the_report_of_a_bad_ridge_names_no_class_that_does_not_exist():
    X, y = classes(4)
    model = peers.RidgeClassifier().fit(X, y)
    model.coef_ = model.coef_ * 1.1
    model.intercept_ = model.intercept_ - 0.1 / 1.1 * X.mean(axis=0) @ model.coef_.T
    text = refused(model, X, y).explain()
    assert "What to do     standardise first, or use solver='svd'" in text
    assert "R²" not in text


# --- any loss and penalty -------------------------------------------------------------------------


class PenalizedClassifier(ClassifierMixin, BaseEstimator):
    """A stand-in for certus's class with the coefficients of another model."""

    max_iter, tol = 100, 1e-4

    def __init__(self, loss=None, penalty=None, class_weight=None, fit_intercept=True):
        self.loss, self.penalty, self.class_weight = loss, penalty, class_weight
        self.fit_intercept = fit_intercept

    @property
    def loss_(self):
        return self.loss

    @property
    def penalty_(self):
        return self.penalty

    def fit(self, X, y, sample_weight=None):
        C = 1 / (self.penalty.l1 + self.penalty.l2)
        how = {"l1_ratio": C * self.penalty.l1, "class_weight": self.class_weight}
        model = peers.LogisticRegression(C=C, solver="saga", **how, **TIGHT)
        model.fit(X, y, sample_weight)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.classes_, self.n_features_in_ = model.classes_, model.n_features_in_
        return self


PenalizedClassifier.__module__ = "certus.linear_model.penalized"


class Mixed:
    l1, l2 = 0.5, 1.5


class OfAUser:
    pass


class Other:
    name = "softmax"


@pytest.mark.parametrize(("K", "loss"), [(2, Logistic()), (3, Other())], ids=["2", "3"])
def test_a_loss_and_a_penalty_are_read_by_their_attributes(K, loss):
    X, y = classes(5, K=K)
    model = PenalizedClassifier(loss, Mixed(), class_weight={"ash": 2.0}).fit(X, y)
    c = certified(model, X, y)
    assert c.model == "PenalizedClassifier"
    assert c.formula.startswith("Σ cᵢ ")
    assert "+ 0.5‖w‖₁ + 0.75‖w‖²" in c.formula
    model.coef_ = model.coef_ * 1.01
    refused(model, X, y)


@pytest.mark.parametrize("K", [2, 3])
def test_the_squared_hinge_is_read_for_each_class_against_the_rest(K):
    X, y = classes(5, K=K)
    theirs = LinearSVC(C=0.5, fit_intercept=False, dual=False, tol=1e-12, max_iter=20_000)
    theirs.fit(X, y)
    penalty = Mixed()
    penalty.l1, penalty.l2 = 0.0, 2.0
    model = PenalizedClassifier(SquaredHinge(), penalty, fit_intercept=False)
    model.coef_, model.intercept_ = theirs.coef_, 0.0
    model.classes_, model.n_features_in_ = theirs.classes_, 4
    assert "[1 − yᵢ(xᵢᵀw)]₊²" in certified(model, X, y).formula
    model.coef_ = model.coef_ * 1.01
    refused(model, X, y)


def test_a_penalty_of_the_users_own_is_refused_in_words():
    X, y = classes(5)
    model = PenalizedClassifier(Logistic(), Mixed()).fit(X, y)
    model.penalty = OfAUser()
    with pytest.raises(CannotVerifyError, match=r"the penalty .*OfAUser.* is your own"):
        certus.verify(model, X, y)


# --- data that are not the model's ----------------------------------------------------------------


@pytest.mark.parametrize("model", [peers.LogisticRegression(), peers.RidgeClassifier()], ids=repr)
def test_labels_that_cannot_be_the_models_are_refused(model):
    X, y = classes(6)
    model = model.fit(X, y)
    with pytest.raises(CannotVerifyError, match=r"y holds 'oak' \(row 0\), which is not among"):
        certus.verify(model, X, np.where(np.arange(len(y)) == 0, "oak", y))
    with pytest.raises(CannotVerifyError, match=r"y holds 0 \(row"):
        certus.verify(model, X, (y == "ash").astype(int))
    with pytest.raises(CannotVerifyError, match="class 'birch' has no row in y"):
        certus.verify(model, X, np.full(len(y), "ash"))
    with pytest.raises(CannotVerifyError, match="missing label"):
        certus.verify(model, X, np.where(y == "ash", None, y))
    with pytest.raises(CannotVerifyError, match="continuous"):
        certus.verify(model, X, np.linspace(0, 1, len(y)))
    with pytest.raises(CannotVerifyError, match="150 rows, y has 149"):
        certus.verify(model, X, y[1:])
    with pytest.raises(CannotVerifyError, match=r"1d array, got an array of shape \(150, 2\)"):
        certus.verify(model, X, np.column_stack([y, y]))
    with pytest.raises(CannotVerifyError, match="give y"):
        certus.verify(model, X)


def test_entropy_of_nothing_is_nothing():
    """The check of these tests' own reference: the intercept alone leaves the classes' entropy."""
    X, y = classes(6)
    c = certus.verify(LOGISTIC["newton-cg"].fit(X, y), X, y)
    share = np.array([(y == label).mean() for label in ("ash", "birch")])
    assert c._finding.null_objective == pytest.approx(-0.7 * len(y) * xlogy(share, share).sum())
