"""The page of proportional odds, against literal sums, finite differences, scipy and the proof."""

from math import exp, inf, log

import numpy as np
import pytest
from scipy.optimize import minimize

from certus.definitions import ordinal
from certus.definitions.ordinal import check
from certus.definitions.terms.direction import Direction
from certus.definitions.terms.independent import Independent
from certus.linear_model import OrdinalRegression

from .classifiers import agree, edited, is_short, refuse


def in_order(n=80, p=3, seed=0, K=4):
    rng = np.random.default_rng(seed)
    size = np.logspace(-1, 1, p)
    X = rng.normal(size=(n, p)) * size + 3 * size
    z = (X / size - 3) @ rng.normal(size=p) + rng.logistic(size=n)
    y = np.digitize(z, np.quantile(z, np.arange(1, K) / K))
    return X, y, rng.integers(0, 4, n).astype(float)


def literal(X, y, s, w, c, alpha):
    """−Σ s log P(y | x) + α/2 ‖w‖², by differences of probabilities."""
    ends = [-inf, *c, inf]
    total = alpha / 2 * sum(v * v for v in w)
    for i in range(len(y)):
        z = sum(X[i, j] * w[j] for j in range(len(w)))
        high, low = (1 / (1 + exp(min(z - t, 700.0))) for t in (ends[y[i] + 1], ends[y[i]]))
        total -= s[i] * log(high - low)
    return total


def minimum(X, y, s, alpha, K=4):
    """min F, w and c, by BFGS on the logarithms of the distances of thresholds."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    p, center, size = X.shape[1], X.mean(axis=0), X.std(axis=0)
    Z = (X - center) / size

    def split(theta):
        return theta[:p] / size, np.cumsum([theta[p], *np.exp(theta[p + 1 :])])

    def of(theta):
        w, c = split(theta)
        z, ends = Z @ theta[:p], np.concatenate([[-inf], c, [inf]])
        a, b = ends[y + 1] - z, ends[y] - z
        loss = np.logaddexp(0.0, -a) + np.logaddexp(0.0, b) - np.log(-np.expm1(b - a))
        return s @ loss + alpha / 2 * (w @ w)

    start = np.concatenate([np.zeros(p), [-1.0], np.zeros(K - 2)])
    found = minimize(of, start, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    found = minimize(
        of, found.x, method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-14, "maxiter": 4000}
    )
    w, c = split(found.x)
    return found.fun, w, c + center @ w


def test_the_page_is_short():
    assert is_short(ordinal, Direction, Independent)


def test_the_objective_is_that_of_a_literal_loop():
    X, y, s = in_order()
    w, c = np.array([0.5, -0.3, 0.02]), np.array([-1.0, 0.1, 2.0])
    claim = check(X, y, s, w=w, c=c, alpha=0.7)
    assert claim.objective == pytest.approx(literal(X, y, s, w, c, 0.7), rel=1e-12)


def test_the_scale_is_the_objective_of_the_thresholds_alone():
    X, y, s = in_order()
    n = np.bincount(y, s)
    c = np.log(np.cumsum(n)[:-1] / (n.sum() - np.cumsum(n)[:-1]))
    claim = check(X, y, s, w=np.zeros(3), c=c, alpha=0.0)
    assert claim.scale == pytest.approx(claim.objective, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 100.0])
def test_the_bound_is_below_the_optimum_and_meets_it_there(alpha):
    X, y, s = in_order()
    best, w, c = minimum(X, y, s, alpha)
    claim = check(X, y, s, w=w, c=c, alpha=alpha)
    assert claim.objective == pytest.approx(best, rel=1e-11)
    assert claim.holds
    rng = np.random.default_rng(1)
    bounded = 0
    for size in (1e-6, 1e-4, 1e-2, 0.1):
        for _ in range(5):
            off = w * (1 + size * rng.normal(size=3))
            shift = c + off @ X.mean(axis=0) - w @ X.mean(axis=0)
            claim = check(X, y, s, w=off, c=shift + size * rng.normal(), alpha=alpha)
            assert claim.bound <= best * (1 + 1e-10)
            assert claim.miss >= claim.objective - best - 1e-10 * best
            bounded += claim.bound > 0
    assert bounded >= 10


def test_at_the_optimum_the_objective_is_flat():
    """What the page calls optimal has the slope 0, by differences of the literal objective."""
    X, y, s = in_order(n=30)
    _, w, c = minimum(X, y, s, 0.5)
    theta, p = np.append(w, c), len(w)
    assert check(X, y, s, w=w, c=c, alpha=0.5).holds
    for j in range(len(theta)):
        h = 1e-5 * max(abs(theta[j]), 1e-2)
        up, down = theta.copy(), theta.copy()
        up[j] += h
        down[j] -= h
        f = [literal(X, y, s, t[:p], t[p:], 0.5) for t in (up, down)]
        bend = (f[0] + f[1] - 2 * literal(X, y, s, w, c, 0.5)) / h**2
        assert ((f[0] - f[1]) / (2 * h)) ** 2 / (2 * bend) < 1e-7  # what a step along j gains


def test_a_penalised_null_direction_is_not_left_out():
    X, y, s = in_order()
    X = np.column_stack([X, X[:, 0]])
    null = np.array([3.0, 0.0, 0.0, -3.0])
    for alpha, same in [(0.0, True), (1e-3, False)]:
        _, w, c = minimum(X[:, :3], y, s, alpha / 2 if alpha else 0.0)
        if alpha:  # the penalty is least for equal shares of both copies
            _, w, c = minimum(X[:, :3] * [2**0.5, 1.0, 1.0], y, s, alpha)
            w = w * [2**0.5, 1.0, 1.0]
        w = np.array([w[0] / 2, w[1], w[2], w[0] / 2])
        how = {"alpha": alpha, "independent": Independent()}
        assert check(X, y, s, w=w, c=c, **how).holds
        assert check(X, y, s, w=w + null, c=c, **how).holds == same


def test_a_direction_of_order_is_found_exactly_and_never_believed():
    X, y, s = in_order()
    X[:, 0] = y * 1.0
    X[np.flatnonzero((y == 0) & (s > 0))[0], 0] = 0.5  # on its threshold

    def kind(u, c):
        direction = Direction([*u, *c])
        return check(X, y, s, w=np.zeros(3), c=np.arange(3.0), alpha=0.0, direction=direction).kind

    assert kind([1.0, 0.0, 0.0], [0.5, 1.5, 2.5]) == "no finite optimum"
    assert kind([-1.0, 0.0, 0.0], [-0.5, -1.5, -2.5]) == "global optimum"
    assert kind([1.0, 0.0, 0.0], [np.nextafter(0.5, 1), 1.5, 2.5]) == "no finite optimum"
    assert kind([1.0, 0.0, 0.0], [np.nextafter(0.5, 0), 1.5, 2.5]) == "global optimum"
    assert kind([1.0, 0.0, 0.0], [-0.5, 1.5, 2.5]) == "global optimum"
    assert kind([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]) == "global optimum"
    assert kind([inf, 0.0, 0.0], [0.5, 1.5, 2.5]) == "global optimum"


def test_impossible_parameters_are_refused():
    X, y, s = in_order()
    for w, c in [([inf, 0, 0], [0, 1, 2]), ([0, 0, 0], [0, 2, 1]), ([0, 0, 0], [0, 0, 1]),
                 ([0, 0, 0], [0, 1]), ([0, 0, 0], [0, np.nan, 1]),
                 ([1e200, 0, 0], [0, 1, 2])]:  # fmt: skip
        assert not check(X, y, s, w=np.array(w, float), c=np.array(c, float), alpha=1.0).holds
    empty = s * (y != 1)
    assert not check(X, y, empty, w=np.zeros(3), c=np.arange(3.0), alpha=1.0).holds


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
def test_page_and_proof_agree(alpha, K):
    X, y, s = in_order(n=150, K=K)
    model = OrdinalRegression(alpha=alpha).fit(X, y, sample_weight=s)
    c, _ = agree(model, X, y, s)
    assert c.certified
    refuse(edited(model, "coef_"), X, y, s)
    refuse(edited(model, "thresholds_", 1.001), X, y, s)
    refuse(model, X, K - 1 - y, s)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
def test_page_and_proof_agree_where_columns_depend_on_each_other(alpha):
    X, y, s = in_order(n=150)
    group = np.eye(4)[np.random.default_rng(0).integers(0, 4, 150)]
    X = np.column_stack([X, group, X[:, 0] + X[:, 1] + 1000.0, X[:, 2] + 1e5])
    c, _ = agree(OrdinalRegression(alpha=alpha).fit(X, y, sample_weight=s), X, y, s)
    assert c.certified


@pytest.mark.filterwarnings("ignore")
def test_page_and_proof_find_no_finite_optimum():
    X, y, s = in_order()
    X[:, 0] = y + np.random.default_rng(0).uniform(-0.4, 0.4, len(y))
    c, _ = agree(OrdinalRegression(alpha=0.0).fit(X, y, sample_weight=s), X, y, s)
    assert c.status == "no finite optimum"


@pytest.mark.filterwarnings("ignore")
def test_an_early_stop_is_refused():
    X, y, s = in_order()
    refuse(OrdinalRegression(alpha=0.0, max_iter=1).fit(X, y, sample_weight=s), X, y, s)
