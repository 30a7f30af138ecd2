"""The page of softmax regression, against scipy, literal sums and the proof."""

from math import exp, inf, log

import numpy as np
import pytest

from certus.definitions import softmax
from certus.definitions.softmax import check
from certus.definitions.terms.direction import Direction
from certus.definitions.terms.independent import Independent
from certus.linear_model import LogisticRegression, PenalizedClassifier

from .classifiers import agree, edited, is_short, refuse, rows, smooth_minimum

PENALTIES = [(0.0, 1.0), (0.0, 1e-4), (0.5, 0.5), (0.3, 1e-4), (1.0, 0.0), (0.0, 0.0)]
ZERO = {"w": np.zeros((3, 3)), "b": np.zeros(3)}
NONE = {"C": 1.0, "l1": 0.0, "l2": 0.0}


def loss_of(y, s, C, K=3):
    Y = np.eye(K)[y]

    def loss(z):
        norm = np.logaddexp.reduce(z, axis=1)
        Q = np.exp(z - norm[:, None])
        return C * (s @ (norm - (Y * z).sum(axis=1))), C * s[:, None] * (Q - Y)

    return loss


def test_the_page_is_short():
    assert is_short(softmax, Direction)
    assert is_short(softmax, Independent)


def test_the_objective_is_that_of_a_literal_loop():
    X, y, s = rows(50, 3, 3)
    rng = np.random.default_rng(1)
    w, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    F = 0.0
    for i in range(len(y)):
        z = [sum(X[i, j] * w[j, k] for j in range(3)) + b[k] for k in range(3)]
        F += 2.0 * s[i] * (log(sum(exp(v) for v in z)) - z[y[i]])
    F += 0.4 * sum(abs(v) for v in w.ravel()) + 0.35 * sum(v * v for v in w.ravel())
    claim = check(X, y, s, w=w, b=b, C=2.0, l1=0.4, l2=0.7, fit_intercept=True)
    assert claim.objective == pytest.approx(F, rel=1e-13)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("l1", "l2"), PENALTIES)
def test_the_bound_is_below_the_optimum_and_meets_it_there(l1, l2, fit_intercept):
    X, y, s = rows(60, 3, 3)
    best, w, b = smooth_minimum(loss_of(y, s, 1.5), X, 3, l1, l2, fit_intercept)
    how = {"C": 1.5, "l1": l1, "l2": l2, "fit_intercept": fit_intercept}
    claim = check(X, y, s, w=w, b=b, **how)
    assert claim.objective == pytest.approx(best, rel=1e-12)
    assert claim.holds
    rng = np.random.default_rng(1)
    for size in (1e-6, 1e-4, 1e-2, 1.0):
        for _ in range(4):
            off = w + size * rng.normal(size=w.shape) * np.abs(w).max(axis=1, keepdims=True)
            shift = b + size * rng.normal(size=3) * fit_intercept
            claim = check(X, y, s, w=off, b=shift, **how)
            assert claim.bound <= best * (1 + 1e-9)
            assert claim.miss >= claim.objective - best - 1e-9 * best


def test_the_same_number_for_all_classes_changes_no_loss_but_the_penalty():
    X, y, s = rows(60, 3, 3)
    shift = np.array([[0.0], [0.0], [30.0]])
    for l1, l2, same in [(0.0, 0.0, True), (0.0, 1e-3, False), (1e-3, 0.0, False)]:
        _, w, b = smooth_minimum(loss_of(y, s, 1.0), X, 3, l1, l2, True)
        how = {"C": 1.0, "l1": l1, "l2": l2, "fit_intercept": True}
        assert check(X, y, s, w=w, b=b + 7.0, **how).holds
        assert check(X, y, s, w=w + shift, b=b, **how).holds == same


@pytest.mark.parametrize(("l1", "l2"), [(1.0, 0.0), (0.0, 1.0)])
def test_intercepts_that_are_a_little_off_cost_the_bound_next_to_nothing(l1, l2):
    """By ε: the objective is off by ε², and the bound is no worse."""
    X, y, s = rows(60, 3, 3)
    best, w, b = smooth_minimum(loss_of(y, s, 1000.0), X, 3, l1, l2, True)
    how = {"C": 1000.0, "l1": l1, "l2": l2, "fit_intercept": True}
    claim = check(X, y, s, w=w, b=b + np.array([1e-4, 0.0, -1e-4]), **how)
    assert claim.objective - best < 1e-7 * best
    assert claim.holds


def test_a_class_without_weight_leaves_the_optimum_as_it_is():
    X, y, s = rows(80, 3, 3)
    s = s * (y != 1)
    two = np.where(y == 2, 1, 0)
    best, w, b = smooth_minimum(loss_of(two, s, 1.0, 2), X, 2, 0.0, 1.0, True)
    how = {"C": 1.0, "l1": 0.0, "l2": 1.0, "fit_intercept": True}
    w3, b3 = np.insert(w, 1, 0.0, axis=1), np.insert(b, 1, -50.0)
    claim = check(X, y, s, w=w3, b=b3, **how)
    assert claim.holds
    assert claim.bound == pytest.approx(best, rel=1e-9)
    assert not check(X, y, s, w=w3, b=b3 + np.array([0.0, 50.0, 0.0]), **how).holds
    alone = check(X, y, s * (y == 0), w=0 * w3, b=np.array([50.0, 0.0, 0.0]), **how)
    assert alone.holds
    assert alone.bound == 0


def test_a_separating_direction_is_found_exactly_and_never_believed():
    X, y, s = rows(40, 3, 3)
    X = np.column_stack([np.eye(3)[y], X[:, 0]])
    X[:5, :3] = 1.0  # these rows' scores do not change along the direction
    zero = {"w": np.zeros((4, 3)), "b": np.zeros(3), **NONE, "fit_intercept": True}

    def kind(u, c=(0.0, 0.0, 0.0)):
        theta = [*np.ravel(u).tolist(), *c]
        return check(X, y, s, **zero, direction=Direction(theta)).kind

    u = np.vstack([np.eye(3), np.zeros(3)])
    assert kind(u) == "no finite optimum"
    assert kind(-u) == "global optimum"
    assert kind(0 * u) == "global optimum"
    assert kind(u + np.array([[0], [0], [0], [1.0]])) == "no finite optimum"  # alike for all
    assert kind(u, (1e-300, 0.0, 0.0)) == "global optimum"
    assert kind(np.where(u > 0, inf, 0.0)) == "global optimum"


def test_impossible_parameters_are_refused():
    X, y, s = rows(60, 3, 3)
    how = {"C": 1.0, "l1": 0.0, "l2": 1.0}
    zero = np.zeros((3, 3))
    for w, b, fit_intercept in [(zero + inf, np.zeros(3), True), (zero, np.full(3, np.nan), True),
                                (zero + 1e200, np.zeros(3), True),
                                (zero, np.ones(3), False)]:  # fmt: skip
        assert not check(X, y, s, w=w, b=b, **how, fit_intercept=fit_intercept).holds


SETTINGS = [
    {}, {"C": 1e4}, {"C": 1e-3}, {"C": np.inf}, {"l1_ratio": 1.0}, {"l1_ratio": 0.5, "C": 30.0},
    {"fit_intercept": False}, {"class_weight": "balanced"}, {"C": np.inf, "fit_intercept": False},
    {"class_weight": {0: 0.2, 1: 3.0, 2: 1.0}}, {"l1_ratio": 1.0, "C": 300.0},
    {"class_weight": {0: 0.0, 1: 3.0, 2: 1.0}},
]  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_page_and_proof_agree(setting):
    X, k, s = rows(90, 3, 3)
    model = LogisticRegression(**setting).fit(X, k, sample_weight=s)
    c, _ = agree(model, X, k, s)
    assert c.certified
    if setting.get("C") != 1e-3:  # where the penalty leaves next to nothing of w
        refuse(edited(model, "coef_"), X, k, s)
        refuse(edited(model, "coef_", 0.99), X, k, s)
    refuse(model, X, (k + 1) % 3, s)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("seed", range(3))
def test_page_and_proof_agree_where_columns_depend_on_each_other(seed):
    X, k, s = rows(150, 4, 3, seed)
    group = np.eye(4)[np.random.default_rng(seed).integers(0, 4, 150)]
    X = np.column_stack([X, group, X[:, 0] + X[:, 1] + 1000.0, X[:, 3] + 1e5])
    c, _ = agree(LogisticRegression(C=np.inf).fit(X, k, sample_weight=s), X, k, s)
    assert c.certified


def test_two_classes_with_scores_of_their_own():
    X, k, s = rows(80, 3, 2)
    model = PenalizedClassifier(loss="softmax", penalty="elasticnet").fit(X, k, sample_weight=s)
    c, _ = agree(model, X, k, s)
    assert c.certified


@pytest.mark.filterwarnings("ignore")
def test_page_and_proof_find_no_finite_optimum():
    X, k, s = rows(60, 3, 3)
    X[:, 0] = np.where(k == 1, np.abs(X[:, 0]), 0.0)  # quasi-complete
    c, _ = agree(LogisticRegression(C=np.inf).fit(X, k, sample_weight=s), X, k, s)
    assert c.status == "no finite optimum"


@pytest.mark.filterwarnings("ignore")
def test_an_early_stop_is_refused():
    X, k, s = rows(80, 3, 3)
    refuse(LogisticRegression(C=1e3, max_iter=1).fit(X, k, sample_weight=s), X, k, s)
