"""proofs: log_link: the bound is below the optimum, the gap above the excess."""

import numpy as np
import pytest

from certus.linear_model import GammaRegressor, PoissonRegressor
from certus.proofs.glm import _curvature
from certus.proofs.glm.log_link import check
from certus.proofs.glm.separation import falls, no_finite_optimum
from tests.log_link.log_link_cases import FAMILIES, PENALTIES, case, exact_objective, exact_optimum

MODELS = {"poisson": PoissonRegressor, "gamma": GammaRegressor}
KINDS = [
    (family, penalty, intercept, more)
    for family in FAMILIES
    for penalty in PENALTIES
    for intercept in (True, False)
    for more in (False, True)
]


def optimum(c):
    """The optimum in 50 digits, and rounded to floats."""
    total = c.l1 + c.l2
    model = MODELS[c.family](
        alpha=total, l1_ratio=c.l1 / total if total else 0.0, fit_intercept=c.fit_intercept,
    ).fit(c.X, c.y, c.s, offset=c.o)  # fmt: skip
    best, w, b = exact_optimum(c, model.coef_, model.intercept_)
    return best, np.array([float(v) for v in w]), float(b)


@pytest.mark.parametrize(("family", "penalty", "intercept", "more"), KINDS)
def test_the_gap_bounds_the_true_excess_and_vanishes_at_the_optimum(
    family, penalty, intercept, more
):
    c = case(family, penalty, weighted=more, offset=more, fit_intercept=intercept)
    best, w, b = optimum(c)
    rng = np.random.default_rng(1)
    gaps = []
    for size in (0.0, 1e-9, 1e-6, 1e-3, 0.1, 1.0):
        u = w * (1 + size * rng.normal(size=3)) + size * rng.normal(size=3) * (w != 0)
        d = b + size * rng.normal() * intercept
        result = check(c.data(), w=u[:, None], b=np.array([d]), **c.parameters)
        true = exact_objective(c, u, d)
        assert result["gap"] >= true - best
        assert result["objective"] == pytest.approx(float(true), rel=1e-13)
        if result["bound"] is None:  # far off, and no penalty: a stationary point is not claimed
            assert penalty == "none"
            assert size >= 0.1
            continue
        assert result["bound"] <= best
        assert result["kind"] == "global"
        if result["coef_error"] is not None:
            assert result["coef_error"] >= np.abs(u - w).max()
        gaps.append(result["residual"])
    assert gaps[0] < 1e-11
    assert gaps[2] < {"l1": 1e-5, "elastic net": 1e-8}.get(penalty, 1e-9)
    assert gaps[2:] == sorted(gaps[2:])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_gaps_are_bounds_for_targets_of_any_unit(family, scale):
    c = case(family, "l2")
    c = c._replace(y=c.y * scale)
    best, w, b = optimum(c)
    for size in (0.0, 1e-7, 1e-3):
        u = w * (1 + size)
        result = check(c.data(), w=u[:, None], b=np.array([b]), **c.parameters)
        assert result["gap"] >= exact_objective(c, u, b) - best
        assert result["bound"] <= best


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("penalty", ["l2", "none"])
def test_columns_far_from_the_origin_cost_no_digits(family, penalty):
    c = case(family, penalty)
    c = c._replace(X=c.X + 2.0**20)
    best, w, b = optimum(c)
    result = check(c.data(), w=w[:, None], b=np.array([b]), **c.parameters)
    assert result["gap"] >= exact_objective(c, w, b) - best
    assert result["residual"] <= 1e-8


@pytest.mark.parametrize("family", FAMILIES)
def test_the_null_objective_is_half_the_mean_deviance_of_the_mean(family):
    from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance

    deviance = {"poisson": mean_poisson_deviance, "gamma": mean_gamma_deviance}[family]
    c = case(family, weighted=True)
    result = check(c.data(), w=np.zeros((3, 1)), b=np.zeros(1), **c.parameters)
    kept = c.s > 0
    mean = np.full(kept.sum(), np.average(c.y, weights=c.s))
    expected = deviance(c.y[kept], mean, sample_weight=c.s[kept]) / 2
    assert result["null_objective"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("penalty", list(PENALTIES))
def test_sparse_rows_have_the_same_bounds(family, penalty):
    c = case(family, penalty)
    _, w, b = optimum(c)
    dense, sparse = (
        check(c.data(sparse), w=w[:, None], b=np.array([b]), **c.parameters)
        for sparse in (False, True)
    )
    assert sparse["objective"] == pytest.approx(dense["objective"], rel=1e-13)
    assert sparse["residual"] <= 1e-9


@pytest.mark.parametrize("family", FAMILIES)
def test_columns_that_repeat_others_are_left_out(family):
    c = case(family, "none")
    c = c._replace(X=np.column_stack([c.X, c.X[:, 0] + c.X[:, 1]]))
    _, w, b = optimum(c._replace(X=c.X[:, :3]))
    result = check(c.data(), w=np.append(w, 0.0)[:, None], b=np.array([b]), **c.parameters)
    assert result["residual"] <= 1e-8
    assert result["kind"] == "global"


def test_nearly_repeated_columns_are_resolved_in_higher_precision():
    c = case("poisson", "none", n=80)
    c = c._replace(X=np.column_stack([c.X, c.X[:, 0] + 1e-9 * c.X[:, 2] ** 2]))
    best, w, b = exact_optimum(c, np.zeros(4), 0.5)
    u = np.array([float(v) for v in w])
    result = check(c.data(), w=u[:, None], b=np.array([float(b)]), **c.parameters)
    assert result["gap"] >= exact_objective(c, u, float(b)) - best
    assert result["residual"] <= 1e-4


def test_every_subset_of_the_rows_gives_a_bound(monkeypatch):
    c = case("poisson", "none", n=3000, seed=3)
    _, w, b = optimum(c)
    monkeypatch.setattr(_curvature, "SUBSET_WORK", (1,))
    result = check(c.data(), w=w[:, None] * (1 + 1e-7), b=np.array([b]), **c.parameters)
    whole, _, _ = optimum(c)
    assert result["gap"] >= exact_objective(c, w * (1 + 1e-7), b) - whole


def test_a_negative_count_and_an_amount_of_zero_are_infeasible():
    for family, value in (("poisson", -1.0), ("gamma", 0.0)):
        c = case(family)
        c.y[3] = value
        result = check(c.data(), w=np.zeros((3, 1)), b=np.zeros(1), **c.parameters)
        assert result["infeasible"]
        assert result["residual"] == np.inf


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("b", [-1e4, 1e4])
def test_means_that_underflow_or_overflow_prove_nothing(family, b):
    c = case(family)
    result = check(c.data(), w=np.zeros((3, 1)), b=np.array([b]), **c.parameters)
    assert not result["residual"] <= 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_absurd_coefficients_prove_nothing(bad):
    c = case("poisson")
    result = check(c.data(), w=np.full((3, 1), bad), b=np.zeros(1), **c.parameters)
    assert not result["residual"] <= 1


# --- no finite optimum ----------------------------------------------------------------------------


def counts_of_towns(n=60, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 4, size=n)
    X = np.column_stack([rng.normal(size=n), np.eye(4)[town][:, 1:]])
    y = rng.poisson(3.0, size=n) * (town != 2).astype(float)
    return case("poisson", "none")._replace(X=X, y=y), town


def test_a_town_without_counts_is_aseparation():
    c, town = counts_of_towns()
    found = no_finite_optimum(c.data(), True, None)
    u, b = found["direction"]
    np.testing.assert_array_equal(np.flatnonzero(u), [2])
    assert u[2] == -1
    assert b == 0
    assert found["rows"] == (town == 2).sum()


def test_a_single_count_above_zero_on_the_way_refutes_the_direction():
    c, town = counts_of_towns()
    c.y[np.flatnonzero(town == 2)[0]] = 1.0
    assert no_finite_optimum(c.data(), True, None) is None


def test_a_row_of_weight_zero_does_not_refute_it():
    c, town = counts_of_towns()
    i = np.flatnonzero(town == 2)[0]
    c.y[i], s = 1.0, np.ones(60)
    s[i] = 0.0
    assert no_finite_optimum(c._replace(s=s).data(), True, None) is not None


def test_a_difference_in_the_last_digit_is_seen():
    c, _ = counts_of_towns()
    c.X[np.flatnonzero(c.y > 0)[0], 2] = -(2.0**-1074)
    u = np.zeros(4)
    u[2] = -1.0
    assert falls(c.data(), (u, np.zeros(1))) is None
    assert falls(c.data(), (-u, np.zeros(1))) is None


def test_without_an_intercept_the_column_must_be_zero_where_counts_are_not():
    c, _ = counts_of_towns()
    shifted = c._replace(X=c.X + 1.0)
    assert no_finite_optimum(shifted.data(), True, None) is not None
    assert no_finite_optimum(shifted.data(), False, None) is None
