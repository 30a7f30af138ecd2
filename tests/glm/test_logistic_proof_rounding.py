"""proofs: logistic: the gap includes rounding."""

import mpmath as mp
import numpy as np
import pytest
from scipy.sparse import csr_array

from certus.data.csr import CSR
from certus.proofs.glm import duality, logistic, margins
from tests.contract.classification import Case, classes, exact_objective, optimum, rows
from tests.glm.logistic_proof_cases import problem


def test_far_columns_and_extreme_units_keep_their_proofs():
    case, _, parameters = problem("none")
    best, w, b = optimum(case)
    X = np.round(case.X * 2**10) / 2**10 + 2.0**20
    near = case._replace(X=X - 2.0**20)
    best, w, b = optimum(near)
    result = logistic.check(rows(X, case.y), w=w, b=b - 2.0**20 * w.sum(axis=0), **parameters)
    assert result["residual"] < 1e-8
    assert result["bound"] <= best
    q = np.array([2.0**600, 2.0**-600, 1.0])
    result = logistic.check(rows(near.X * q, case.y), w=w / q[:, None], b=b, **parameters)
    assert result["residual"] < 1e-10
    assert result["bound"] <= best


def test_a_penalty_beside_columns_of_1e200_is_proven_by_curvature():
    case, _, parameters = problem("l2")
    X = case.X * np.array([2.0**600, 1.0, 1.0])
    weak = case._replace(l2=0.0)
    _, w, b = optimum(weak)
    w[0] /= 2.0**600
    result = logistic.check(rows(X, case.y), w=w, b=b, **{**parameters, "l2": 1e-12})
    assert result["residual"] < 1e-6
    assert result["proof"] == "gradient and curvature"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, lambda X: CSR(csr_array(X))])
def test_sparse_and_narrow_rows_say_the_same(dtype, layout):
    X, y = classes(7, 400, 6, 2)
    X = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.3, X, 0.0).astype(dtype)
    rng = np.random.default_rng(1)
    w, b, s = rng.normal(size=(6, 1)), rng.normal(size=1), rng.uniform(size=400)
    plain = logistic.check(rows(X.astype(float), y, s), w=w, b=b, l2=0.0)
    result = logistic.check(rows(layout(X), y, s), w=w, b=b, l2=0.0)
    for key in ("objective", "residual", "null_objective"):
        assert result[key] == pytest.approx(plain[key], rel=1e-9)


def test_rounding_is_in_the_gap(monkeypatch):
    case, data, parameters = problem()
    _, w, b = optimum(case)
    parameters["tol"] = 1.0  # the dual point alone
    gap = logistic.check(data, w=w, b=b, **parameters)["gap"]
    monkeypatch.setattr(duality, "EVALUATION_ROUNDINGS", 10**9)
    assert logistic.check(data, w=w, b=b, **parameters)["gap"] > 1e3 * gap


def test_what_rounding_can_do_to_the_sums_is_within_its_bound(monkeypatch):
    """Each sum of margins moved by its own bound, either way: the bound stays a bound."""
    case, data, parameters = problem("l1")
    best, w, b = optimum(case)
    tight = logistic.check(data, w=w, b=b, **parameters)["gap"]
    honest = margins.margin_sums

    for sign in (-1, 1):

        def shaken(*args, sign=sign):
            sums = honest(*args)
            rounding = 1 + sign * duality.gamma(40)
            return sums._replace(terms=sums.terms * rounding, V=sums.V / rounding)

        monkeypatch.setattr(margins, "margin_sums", shaken)
        result = logistic.check(data, w=w, b=b, **parameters)
        assert result["bound"] <= best
        assert result["gap"] < 2 * tight  # as far as it goes: more would not fit


@pytest.mark.parametrize("m", [np.linspace(-3, 40, 50), np.linspace(-40, 3, 50), np.zeros(1)])
def test_entropies_of_scaled_points_are_not_overestimated(m):
    terms = margins.Terms(*np.ones((margins.N_TERMS, len(m))))
    logistic.LogisticMargin.terms(m, terms)
    sums = margins.Terms(*(term.sum() for term in terms))
    for rho in (1.0, 1 - 1e-9, 1 - 1e-4, 0.9, 0.3, 0.0):
        with mp.workdps(40):
            a = [mp.mpf(rho) / (1 + mp.exp(mp.mpf(v))) for v in m]
            H = mp.fsum(-x * mp.log(x) - (1 - x) * mp.log(1 - x) for x in a if x > 0)
        result = logistic.LogisticMargin.dual(sums, rho, 0.0)
        assert result <= H * (1 + mp.mpf("1e-14"))
        loss = (1 - rho) * min(1, np.exp(8) * (1 - rho)) * sums.value
        assert result >= H - loss - (1 - rho) * sums.far - 1e-12
        assert logistic.LogisticMargin.dual(sums, rho, 0.01) < result + 1e-15


def test_the_scale_that_balances_the_classes_is_known_to_its_error():
    case, data, parameters = problem(weighted=True)
    w, b = np.array([[0.3], [-0.2], [1.0]]), np.array([0.4])
    result = margins.MarginProblem(
        data, logistic.LogisticMargin, w, b, one_vs_rest=False, **parameters
    )
    (plus, minus), error = result.balance()
    with mp.workdps(40):
        a = [1 / (1 + mp.exp(int(2 * y - 1) * mp.mpf(z))) for y, z in zip(
            case.y, (np.dot(case.X, w) + b)[:, 0], strict=True)]  # fmt: skip
        A = [mp.fsum(mp.mpf(o) * v for o, v, y in zip(case.omega, a, case.y, strict=True) if y == k)
             for k in (1, 0)]  # fmt: skip
        true = min(A) / max(A)
    assert 0 < abs(min(plus[0], minus[0]) - true) <= error[0] < 1e-12
    assert max(plus[0], minus[0]) == 1


def test_the_error_of_scores_is_within_its_bound():
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=(60, 50)), 1e3 * rng.normal(size=(50, 1)), np.array([0.1])
    fitted = duality.Fitted(rows(X, np.arange(60) % 2), w, b, 1.0, 0.0, 1.0, True, None)
    with mp.workdps(50):
        z = [mp.fdot(map(mp.mpf, x), map(mp.mpf, w[:, 0])) + mp.mpf(b[0]) for x in X]
        errors = [float(mp.mpf(v) - u) for v, u in zip((X @ w)[:, 0] + b, z, strict=True)]
    bound = fitted.score_error(np.sum(X * X), 60.0)
    assert 0 < np.linalg.norm(errors) <= bound[0] < 1e4 * np.linalg.norm(errors)


def test_scores_that_lose_digits_are_in_the_gap():
    """w = (v + u, −v) on a column that stands twice: the larger v, the fewer digits of u."""
    X, y = classes(11, 40, 1, 2)
    case = Case(np.hstack([X, X]), y, np.ones(40), 1, 0.0, 0.0, "free")
    best, u, b = optimum(case._replace(X=X))
    for v in 1.1 * 2.0 ** np.arange(20, 36):
        w = np.array([[v + u[0, 0]], [-v]])
        result = logistic.check(rows(case.X, y), w=w, b=b, l1=0.0, l2=0.0)
        assert result["bound"] <= best
        assert result["gap"] >= exact_objective(case, w, b) - best
        assert result["residual"] < 1e-3


def test_an_intercept_where_there_may_be_none_is_refused():
    _, data, parameters = problem("l2", "none")
    result = logistic.check(data, w=np.zeros((3, 1)), b=np.ones(1), **parameters)
    assert "fit_intercept=False" in result["infeasible"]
    assert result["residual"] == np.inf
    assert (
        logistic.check(data, w=np.zeros((3, 1)), b=np.zeros(1), **parameters)["infeasible"] is None
    )


def test_blocks_and_threads_change_nothing_but_rounding():
    X, y = classes(8, 30000, 20, 2)
    w, b = np.full((20, 1), 0.1), np.zeros(1)
    one = logistic.check(rows(X, y, threads=1), w=w, b=b)
    two = logistic.check(rows(X, y, threads=2), w=w, b=b)
    for key in ("objective", "bound", "gap"):
        assert one[key] == two[key]
