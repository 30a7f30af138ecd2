"""LogisticRegression: scikit-learn's class, its answers and its parameters.

min_w,b C Σ s_i c_{y_i} ℓ(y_i, x_iᵀw + b) + l1_ratio‖w‖₁ + (1 − l1_ratio)/2 ‖w‖²
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from sklearn.datasets import make_classification

import certus
from certus.linear_model import LogisticRegression
from tests.contract.problems import classification
from tests.house.naming import without_address
from tests.references.logistic_peers import agree, classes, objective, tight

SOLVERS = ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]


# --- the answer -----------------------------------------------------------------------------------


@classes
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 50.0, np.inf], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_answer_is_scikit_learns(K, intercept, C, weighted):
    X, y, _ = classification(1, n=300, classes=K)
    s = np.random.default_rng(0).uniform(0.1, 3, size=300) if weighted else None
    parameters = {"C": C, "fit_intercept": intercept}
    ours = LogisticRegression(tol=1e-12, **parameters).fit(X, y, s)
    theirs = tight(**parameters).fit(X, y, s)
    assert ours.certificate_.certified
    agree(ours, theirs)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y, s) == theirs.score(X, y, s)
    total = objective(ours, X, y, s, *((1.0, np.nan) if np.isinf(C) else (C,)))
    if np.isfinite(C):
        assert ours.certificate_.objective == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
def test_without_a_penalty_the_answer_is_that_of_statsmodels(intercept):
    sm = pytest.importorskip("statsmodels.api")
    X, y, _ = classification(1, n=300)
    ours = LogisticRegression(C=np.inf, tol=1e-12, fit_intercept=intercept).fit(X, y)
    design = sm.add_constant(X) if intercept else X
    theirs = sm.Logit(y, design).fit(disp=0, tol=1e-13, maxiter=200)
    mine = np.r_[ours.intercept_, ours.coef_[0]] if intercept else ours.coef_[0]
    np.testing.assert_allclose(mine, theirs.params, atol=1e-7)
    assert ours.certificate_.objective == pytest.approx(-theirs.llf, rel=1e-12)


def test_without_a_penalty_three_classes_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    X, y, _ = classification(1, n=300, classes=3)
    ours = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-13, maxiter=200, method="newton")
    all_of_it = np.column_stack([ours.intercept_, ours.coef_])
    # there the first class is the reference; here the classes' sum is 0
    np.testing.assert_allclose((all_of_it[1:] - all_of_it[0]).T, theirs.params, atol=1e-7)
    np.testing.assert_allclose(all_of_it.sum(axis=0), 0, atol=1e-12)


@classes
@pytest.mark.parametrize("given", ["balanced", {0: 5.0}, {0: 0.5, 1: 2, 2: 3.0}], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_class_weights_mean_what_they_mean_in_scikit_learn(K, given, weighted):
    X, y, _ = classification(2, n=300, classes=K)
    s = np.random.default_rng(0).uniform(0.1, 3, size=300) if weighted else None
    ours = LogisticRegression(class_weight=given, tol=1e-12).fit(X, y, s)
    agree(ours, tight(class_weight=given).fit(X, y, s))
    note = [n for n in ours.certificate_.notes if n.startswith("class weights shift prob")]
    assert len(note) == 1
    mean = ours.predict_proba(X).mean(axis=0) if s is None else s @ ours.predict_proba(X) / s.sum()
    k = 1 if K == 2 else int(np.argmax(np.abs(mean - np.bincount(y, s) / np.bincount(y, s).sum())))
    assert float(re.search(r"mean (\S+),", note[0])[1]) == pytest.approx(mean[k], abs=0.006)


def test_labels_of_any_kind_come_back():
    X, k, _ = classification(1, classes=3)
    for names in (
        ["b", "a", "c"], [10, -3, 7], [True, False], [2.0, 0.0, 1.0],
        np.array([3, 1, 2], dtype=np.uint8), pd.Categorical(["x", "z", "y"]),
    ):  # fmt: skip
        y = np.asarray(names)[k % len(names)]
        model = LogisticRegression().fit(X, y)
        np.testing.assert_array_equal(model.classes_, np.unique(y))
        assert model.predict(X).dtype == model.classes_.dtype
        assert set(model.predict(X)) <= set(y)
        assert model.score(X, y) > 1 / len(names)


# --- scikit-learn's parameters --------------------------------------------------------------------


@pytest.mark.parametrize("solver", [*SOLVERS, "auto"])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4, 1.0])
@classes
def test_every_solver_name_is_taken_with_every_penalty(solver, l1_ratio, K):
    X, y, _ = classification(3, n=200, classes=K)
    model = LogisticRegression(solver=solver, l1_ratio=l1_ratio, tol=1e-10)
    if solver == "liblinear" and K > 2:
        with pytest.raises(ValueError, match=r"liblinear.*two classes"):
            model.fit(X, y)
        return
    model.fit(X, y)
    assert model.certificate_.certified
    if solver == "liblinear":  # penalises the intercept
        theirs = {0.0: {}, 1.0: {"l1_ratio": 1.0}}.get(l1_ratio)
        if theirs is not None:
            peer = peers.LogisticRegression(solver=solver, tol=1e-12, max_iter=100_000, **theirs)
            agree(model, peer.fit(X, y), 1e-5)
    elif l1_ratio == 0:
        agree(model, tight().fit(X, y), 1e-6)
    else:
        peer = peers.LogisticRegression(
            solver="saga", l1_ratio=l1_ratio, tol=1e-12, max_iter=100_000
        )
        agree(model, peer.fit(X, y), 1e-5)
    named = {"newton-cg": "newton-cg", "newton-cholesky": "newton"}
    if l1_ratio == 0 and solver in named:
        assert model.solver_ == named[solver]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"penalty": "l2"}, {}),
        ({"penalty": "l2", "C": 0.2, "l1_ratio": 0.0}, {"C": 0.2}),
        ({"penalty": "l1", "l1_ratio": 1.0, "solver": "saga"}, {"l1_ratio": 1.0}),
        ({"penalty": "elasticnet", "l1_ratio": 0.3, "solver": "saga"}, {"l1_ratio": 0.3}),
        ({"penalty": None}, {"C": np.inf}),
    ],
    ids=str,
)
def test_the_deprecated_way_to_name_a_penalty_still_works_and_says_so(old, new):
    X, y, _ = classification(3)
    with pytest.warns(FutureWarning, match="'penalty'") as caught:
        model = LogisticRegression(**old).fit(X, y)
    assert [w.filename for w in caught] == [__file__]
    with pytest.warns(FutureWarning, match="penalty"):
        peers.LogisticRegression(**old).fit(X, y)
    np.testing.assert_array_equal(model.coef_, LogisticRegression(**new).fit(X, y).coef_)
    assert certus.verify(model, X, y).certified


def test_l1_ratio_none_is_zero_and_deprecated():
    X, y, _ = classification(3)
    with pytest.warns(FutureWarning, match="l1_ratio"):
        model = LogisticRegression(l1_ratio=None).fit(X, y)
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X, y).coef_)


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": np.float32(1)}, {"C": 1}, {"tol": 1}, {"max_iter": np.int64(50)}, {"n_jobs": 2},
        {"n_jobs": -1}, {"random_state": 0}, {"random_state": np.random.RandomState(0)},
        {"dual": False}, {"verbose": 0}, {"verbose": False}, {"warm_start": np.True_},
        {"fit_intercept": np.True_}, {"intercept_scaling": 3},
    ],
    ids=without_address,
)  # fmt: skip
def test_what_else_scikit_learn_accepts_changes_nothing(parameters):
    X, y, _ = classification(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        peers.LogisticRegression(**parameters).fit(X, y)
    model = LogisticRegression(**{"tol": 1e-8, **parameters}).fit(X, y)
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, y).coef_, atol=1e-4)


@pytest.mark.parametrize("scaling", [0.5, 1.0, 10.0])
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_liblinear_penalises_the_intercept_as_scikit_learns_does(scaling, l1_ratio):
    X, y, _ = classification(3, n=200)
    X = X + 1
    parameters = {"solver": "liblinear", "intercept_scaling": scaling, "l1_ratio": l1_ratio}
    ours = LogisticRegression(tol=1e-12, C=0.1, **parameters)
    ours.fit(X, y)
    peer = {"tol": 1e-12, "max_iter": 100_000, "random_state": 0}  # without it, chance decides
    theirs = peers.LogisticRegression(C=0.1, **peer, **parameters).fit(X, y)
    agree(ours, theirs, 1e-5)
    free = LogisticRegression(C=0.1, l1_ratio=l1_ratio, tol=1e-12).fit(X, y)
    assert np.abs(ours.intercept_ - free.intercept_) > 1e-3
    assert ours.certificate_.certified


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0"), ({"C": -1.0}, "C=-1.0"), ({"C": np.nan}, "C=nan"), ({"C": "1"}, "C='1'"),
        ({"C": True}, "C=True"), ({"l1_ratio": 1.5}, "l1_ratio=1.5"),
        ({"l1_ratio": -1}, "l1_ratio=-1"),
        ({"tol": -1.0}, "tol=-1.0"), ({"tol": np.nan}, "tol"), ({"max_iter": -1}, "max_iter=-1"),
        ({"max_iter": 1.5}, "max_iter=1.5"), ({"solver": "newton"}, "solver='newton'"),
        ({"penalty": "L2"}, "penalty='L2'"), ({"fit_intercept": "yes"}, "fit_intercept='yes'"),
        ({"class_weight": "balance"}, "class_weight='balance'"), ({"class_weight": {5: 1}}, "5"),
        ({"class_weight": {0: -1.0}}, "class_weight of 0"), ({"warm_start": "no"}, "warm_start"),
        ({"solver": "liblinear", "intercept_scaling": 0}, "intercept_scaling=0"),
    ],
    ids=str,
)  # fmt: skip
def test_a_parameter_without_meaning_is_named_with_its_value(parameters, message):
    X, y, _ = classification(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        with pytest.raises(ValueError, match=re.escape(message)):
            LogisticRegression(**parameters).fit(X, y)


def test_a_misspelt_solver_is_answered_with_the_likely_one():
    X, y, _ = classification(3)
    with pytest.raises(ValueError, match=r"Did you mean 'lbfgs'\?"):
        LogisticRegression(solver="lbgfs").fit(X, y)


# --- predictions ----------------------------------------------------------------------------------


@classes
def test_the_predicted_class_is_the_likeliest(K):
    X, y, _ = classification(8, n=300, classes=K)
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P, rtol=1e-12)


@classes
def test_huge_scores_neither_overflow_nor_lose_their_logarithms(K):
    X, y, _ = classification(8, classes=K)
    model = LogisticRegression().fit(X, y)
    far = 1e6 * X
    P, logs = model.predict_proba(far), model.predict_log_proba(far)
    assert np.isfinite(P).all()
    assert np.isfinite(logs).all()
    assert logs.min() < -1e4
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_array_equal(model.predict(far), model.classes_[P.argmax(axis=1)])


def test_a_score_of_zero_is_the_first_class_as_in_scikit_learn():
    X = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    ours = LogisticRegression(fit_intercept=False).fit(X, [0, 1, 0, 1])
    theirs = peers.LogisticRegression(fit_intercept=False).fit(X, [0, 1, 0, 1])
    assert ours.predict([[0.0]]) == theirs.predict([[0.0]]) == [0]
    np.testing.assert_allclose(ours.predict_proba([[0.0]]), 0.5)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_newton_cg_is_as_exact_as_scikit_learns(seed, K):
    X, y = make_classification(
        300, 20, n_informative=10, n_redundant=0, n_classes=K, random_state=seed
    )
    best = LogisticRegression(tol=1e-12, solver="newton-cholesky").fit(X, y).coef_
    ours = LogisticRegression(solver="newton-cg").fit(X, y).coef_
    theirs = peers.LogisticRegression(solver="newton-cg").fit(X, y).coef_
    assert np.abs(ours - best).max() <= np.abs(theirs - best).max()
