"""The page of logistic regression, against scipy, literal sums and the proof."""

from math import exp, inf, log

import numpy as np
import pytest

from certus.definitions import logistic
from certus.definitions.logistic import check
from certus.definitions.terms.direction import Direction
from certus.definitions.terms.independent import Independent
from certus.linear_model import LogisticRegression, PenalizedClassifier

from .classifiers import agree, edited, is_short, refuse, rows, smooth_minimum

PENALTIES = [(0.0, 1.0), (0.0, 1e-4), (0.5, 0.5), (0.3, 1e-5), (1.0, 0.0), (0.0, 0.0)]
NONE = {"C": 1.0, "l1": 0.0, "l2": 0.0}


def two_classes(n=60, p=3, seed=0):
    X, k, s = rows(n, p, 2, seed)
    return X, 2.0 * k - 1, s


def loss_of(y, s, C):
    def loss(z):
        slope = -C * s * y * np.exp(-np.logaddexp(0.0, y * z))
        return C * (s @ np.logaddexp(0.0, -y * z)), slope

    return loss


def test_the_page_is_short():
    assert is_short(logistic, Direction, Independent)


def test_the_objective_is_that_of_a_literal_loop():
    X, y, s = two_classes()
    w, b = np.array([0.5, -0.2, 0.01]), 0.3
    F = 0.0
    for i in range(len(y)):
        z = sum(X[i, j] * w[j] for j in range(3)) + b
        F += 2.0 * s[i] * log(1 + exp(-y[i] * z))
    F += 0.4 * sum(abs(v) for v in w) + 0.35 * sum(v * v for v in w)
    claim = check(X, y, s, w=w, b=b, C=2.0, l1=0.4, l2=0.7, fit_intercept=True)
    assert claim.objective == pytest.approx(F, rel=1e-13)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("l1", "l2"), PENALTIES)
def test_the_bound_is_below_the_optimum_and_meets_it_there(l1, l2, fit_intercept):
    X, y, s = two_classes()
    best, w, b = smooth_minimum(loss_of(y, s, 1.5), X, 1, l1, l2, fit_intercept)
    how = {"C": 1.5, "l1": l1, "l2": l2, "fit_intercept": fit_intercept}
    claim = check(X, y, s, w=w, b=b, **how)
    assert claim.objective == pytest.approx(best, rel=1e-12)
    assert claim.holds
    rng = np.random.default_rng(1)
    for size in (1e-6, 1e-4, 1e-2, 1.0):
        for _ in range(5):
            off = w + size * rng.normal(size=3) * np.abs(w).max()
            shift = b + size * rng.normal() * fit_intercept
            claim = check(X, y, s, w=off, b=shift, **how)
            assert claim.bound <= best * (1 + 1e-10)
            assert claim.miss >= claim.objective - best - 1e-10 * best


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_scale_is_the_objective_of_the_best_constant(fit_intercept):
    X, y, s = two_classes()
    claim = check(X, y, s, w=np.zeros(3), b=0.0, C=1.5, l1=0.0, l2=1.0, fit_intercept=fit_intercept)
    none, _, _ = smooth_minimum(
        loss_of(y, s, 1.5), np.eye(len(y))[:, :1], 1, 0.0, 1e9, fit_intercept
    )
    assert claim.scale == pytest.approx(none, rel=1e-6)


def test_a_penalised_null_direction_is_not_left_out():
    """Columns that repeat each other change no loss together, but the penalty does see them."""
    X, y, s = two_classes()
    X = np.column_stack([X, X[:, 0]])
    _, w, b = smooth_minimum(loss_of(y, s, 1.0), X, 1, 0.0, 0.01, True)
    how = {"C": 1.0, "l1": 0.0, "l2": 0.01, "fit_intercept": True}
    assert check(X, y, s, w=w, b=b, **how).holds
    null = np.array([5.0, 0.0, 0.0, -5.0])
    assert not check(X, y, s, w=w + null, b=b, **how).holds
    none = {**NONE, "fit_intercept": True, "independent": Independent()}
    _, w, b = smooth_minimum(loss_of(y, s, 1.0), X, 1, 0.0, 0.0, True)
    assert check(X, y, s, w=w + null, b=b, **none).holds
    assert not check(X, y, s, w=w + null, b=b, **{**how, "independent": Independent()}).holds


def test_a_direction_that_the_data_hold_is_not_left_out():
    """A column that differs from another in digits that data have is no copy of it."""
    X, y, s = two_classes()
    rng = np.random.default_rng(3)
    X = np.column_stack([X, X[:, 0] + 1e-9 * rng.normal(size=len(X))])
    _, w, b = smooth_minimum(loss_of(y, s, 1.0), X[:, :3], 1, 0.0, 0.0, True)
    assert check(X[:, :3], y, s, w=w, b=b, **NONE, fit_intercept=True).holds
    how = {**NONE, "fit_intercept": True, "independent": Independent()}
    assert not check(X, y, s, w=np.append(w, 0.0), b=b, **how).holds


def test_a_model_that_uses_the_rounding_of_a_column_is_refused():
    """Column 3 is column 0 but for its last digit: 1e15 times their difference is no rounding."""
    X, y, s = two_classes()
    rng = np.random.default_rng(3)
    X = np.column_stack([X, np.nextafter(X[:, 0], inf * rng.choice([-1, 1], len(X)))])
    _, w, b = smooth_minimum(loss_of(y, s, 1.0), X[:, :3], 1, 0.0, 0.0, True)
    how = {**NONE, "fit_intercept": True, "independent": Independent()}
    assert check(X, y, s, w=np.append(w, 0.0), b=b, **how).holds
    uses = np.array([w[0] - 1e13, w[1], w[2], 1e13])
    claim = check(X, y, s, w=uses, b=b, **how)
    assert claim.objective == pytest.approx(
        check(X, y, s, w=np.append(w, 0), b=b, **how).objective, abs=1.0
    )
    assert not claim.holds


def test_a_separating_direction_is_found_exactly_and_never_believed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y, s = np.sign(X[:, 0] + 0.1), np.ones(40)
    X[:3], y[:3] = [[-0.1, 0.0], [-0.1, 2.0], [-0.1, -1.0]], 1.0  # on the boundary
    none = {"w": np.zeros(2), "b": 0.0, **NONE}

    def kind(direction, fit_intercept=True):
        return check(X, y, s, **none, fit_intercept=fit_intercept, direction=direction)

    claim = kind(Direction([1.0, 0.0, 0.1]))
    assert claim.kind == "no finite optimum"
    assert claim.holds
    assert kind(Direction([1.0, 0.0, np.nextafter(0.1, 1)])).kind == "no finite optimum"
    assert kind(Direction([1.0, 0.0, np.nextafter(0.1, 0)])).kind == "global optimum"
    assert kind(Direction([-1.0, 0.0, -0.1])).kind == "global optimum"
    assert kind(Direction([0.0, 0.0, 0.0])).kind == "global optimum"
    assert kind(Direction([inf, 0.0, 0.0])).kind == "global optimum"
    assert kind(Direction([0.0, np.nan, 0.0])).kind == "global optimum"
    assert kind(Direction([1.0, 0.0, 0.1]), fit_intercept=False).kind == "global optimum"
    penalized = check(
        X, y, s, w=np.zeros(2), b=0.0, C=1.0, l1=0.0, l2=1.0, fit_intercept=True,
        direction=Direction([1.0, 0.0, 0.1]),
    )  # fmt: skip
    assert penalized.kind == "global optimum"


def test_impossible_parameters_are_refused():
    X, y, s = two_classes()
    how = {"C": 1.0, "l1": 0.0, "l2": 1.0}
    for w, b, fit_intercept in [([inf, 0, 0], 0.0, True), ([np.nan, 0, 0], 0.0, True),
                                ([0, 0, 0], inf, True), ([1e200, 0, 0], 0.0, True),
                                ([0, 0, 0], 0.1, False)]:  # fmt: skip
        claim = check(X, y, s, w=np.array(w, float), b=b, **how, fit_intercept=fit_intercept)
        assert not claim.holds


def test_one_class_alone_has_the_optimum_0():
    X, y, s = two_classes()
    s = s * (y > 0)
    how = {"C": 1.0, "l1": 0.0, "l2": 1.0, "fit_intercept": True}
    assert check(X, y, s, w=np.zeros(3), b=50.0, **how).holds
    assert not check(X, y, s, w=np.zeros(3), b=5.0, **how).holds


SETTINGS = [
    {}, {"C": 1e4}, {"C": 1e-3}, {"C": np.inf}, {"l1_ratio": 1.0}, {"l1_ratio": 0.5, "C": 30.0},
    {"fit_intercept": False}, {"class_weight": "balanced"}, {"class_weight": {0: 0.2, 1: 3.0}},
    {"solver": "liblinear", "intercept_scaling": 3.0}, {"C": np.inf, "fit_intercept": False},
    {"l1_ratio": 1.0, "C": 1e5},
]  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_page_and_proof_agree(setting):
    X, k, s = rows(80, 3, 2)
    model = LogisticRegression(**setting).fit(X, k, sample_weight=s)
    c, _ = agree(model, X, k, s)
    assert c.certified
    if setting.get("C") != 1e-3:  # where the penalty leaves next to nothing of w
        refuse(edited(model, "coef_"), X, k, s)
        refuse(edited(model, "coef_", 0.99), X, k, s)
    refuse(model, X, 1 - k, s)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("seed", range(3))
def test_page_and_proof_agree_where_columns_depend_on_each_other(seed):
    X, k, s = rows(120, 4, 2, seed)
    group = np.eye(4)[np.random.default_rng(seed).integers(0, 4, 120)]
    X = np.column_stack([X, group, X[:, 0] + X[:, 1] + 1000.0, X[:, 3] + 1e5])
    c, _ = agree(LogisticRegression(C=np.inf).fit(X, k, sample_weight=s), X, k, s)
    assert c.certified


def test_page_and_proof_agree_on_the_same_dual_bound():
    X, k, s = rows(80, 3, 2)
    model = LogisticRegression(l1_ratio=1.0).fit(X, k, sample_weight=s)
    c, (claim,) = agree(model, X, k, s)
    assert claim.miss <= c.gap + 1e-12 * claim.scale


def test_one_problem_for_each_class_against_the_rest():
    X, k, s = rows(90, 3, 3)
    model = PenalizedClassifier(loss="logistic", class_weight="balanced")
    c, found = agree(model.fit(X, k, sample_weight=s), X, k, s)
    assert c.certified
    assert len(found) == 3


@pytest.mark.filterwarnings("ignore")
def test_page_and_proof_find_no_finite_optimum():
    X, k, _ = rows(60, 3, 2)
    X[:, 0] = np.where(k == 1, np.abs(X[:, 0]), 0.0)
    for fit_intercept in (True, False):
        model = LogisticRegression(C=np.inf, fit_intercept=fit_intercept).fit(X, k)
        c, _ = agree(model, X, k)
        assert c.status == "no finite optimum"


@pytest.mark.filterwarnings("ignore")
def test_an_early_stop_is_refused():
    X, k, s = rows(80, 3, 2)
    refuse(LogisticRegression(C=1e3, max_iter=1).fit(X, k, sample_weight=s), X, k, s)
