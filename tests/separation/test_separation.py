"""Separability of classes, against brute force and data constructed to be separable or not."""

from fractions import Fraction
from itertools import combinations
from operator import mul

import numpy as np
import pytest
import scipy.sparse

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.solvers.separation import direction
from certus.solvers.separation.direction import separating_column, separating_direction
from tests.contract.problems import weights


def rows_of(X, y, s=None, sparse=False):
    X = CSR(scipy.sparse.csr_array(X)) if sparse else X
    return Rows(X, np.asarray(y, dtype=float)[:, None], s)


def margins(X, y, u, c):
    """Return m_ik of all rows and other classes as a flat array."""
    z = X @ u + c
    if u.shape[1] == 1:
        return np.where(np.asarray(y) == 1, z[:, 0], -z[:, 0])
    y = np.asarray(y, dtype=int)
    all_of = z[np.arange(len(z)), y][:, None] - z
    return all_of[np.arange(z.shape[1]) != y[:, None]]


def check(result, X, y, kind):
    """The direction has the margins that its kind says."""
    assert result.kind == kind, result.why
    if kind == "not separable":
        assert result.u is None
        return
    m = margins(X, y, result.u, result.c)
    if kind == "complete":
        assert m.min() > 0
    else:
        assert m.min() >= -1e-9 * np.abs(m).max()
        assert m.max() > 0


each_storage = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])


# --- brute force ----------------------------------------------------------------------------------


def constraints(X, y, n_classes, fit_intercept):
    """The a_ik as rows of whole numbers, by their definition."""
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    result = []
    for z, own in zip(Z, y, strict=True):
        for k in set(range(n_classes)) - {own}:
            e = np.zeros((n_classes, Z.shape[1]))
            e[own] += z
            e[k] -= z
            result.append(e[1:].ravel())
    return np.array(result)


def brute_force(A):
    """The cone Aθ ≥ 0 is spanned by its extreme rays, each orthogonal to d − 1 of the rows."""
    d = A.shape[1]
    assert np.linalg.matrix_rank(A) == d
    total = np.zeros(d)
    for some in combinations(range(len(A)), d - 1):
        minors = [np.linalg.det(np.delete(A[list(some)], j, axis=1)) for j in range(d)]
        ray = np.rint(minors) * (-1.0) ** np.arange(d)
        for theta in (ray, -ray):
            if (A @ theta >= 0).all():
                total += theta
    m = A @ total
    if not m.any():
        return "not separable"
    return "complete" if m.min() > 0 else "quasi-complete"


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "p", "n_classes"), [(6, 2, 2), (8, 2, 2), (6, 1, 3)])
def test_agrees_with_brute_force_on_few_small_whole_numbers(n, p, n_classes, fit_intercept):
    kinds_seen = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(-3, 4, size=(n, p)).astype(float), rng.integers(n_classes, size=n)
        A = constraints(X, y, n_classes, fit_intercept)
        if np.linalg.matrix_rank(A) < A.shape[1]:
            continue
        kind = brute_force(A)
        check(separating_direction(rows_of(X, y), n_classes, fit_intercept), X, y, kind)
        kinds_seen.add(kind)
    # three classes of one column cannot meet in one point only
    assert len(kinds_seen) == (3 if fit_intercept or n_classes == 2 else 2)


# --- data made to be separable, or not ------------------------------------------------------------


def labeled(seed, n, p, n_classes, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = X @ rng.normal(size=(p, n_classes)) + rng.normal(size=n_classes)
    return X, (score + noise * rng.gumbel(size=score.shape)).argmax(axis=1)


@each_storage
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_of_a_linear_score_are_separable_and_noisy_ones_are_not(n_classes, sparse):
    for seed in range(3):
        X, y = labeled(seed, 3000, 5, n_classes)
        check(separating_direction(rows_of(X, y, sparse=sparse), n_classes), X, y, "complete")
        X, y = labeled(seed, 3000, 5, n_classes, noise=1.0)
        result = separating_direction(rows_of(X, y, sparse=sparse), n_classes)
        check(result, X, y, "not separable")


@each_storage
def test_one_wrong_row_in_a_hundred_thousand_is_found(sparse):
    X, y = labeled(1, 100_000, 3, 2)
    deep = np.argmax(np.abs(margins(X, y, *separating_direction(rows_of(X, y), 2)[2:])))
    y[deep] = 1 - y[deep]
    check(separating_direction(rows_of(X, y, sparse=sparse), 2), X, y, "not separable")


@each_storage
def test_a_level_with_one_class_only_is_quasi_complete_and_exact(sparse):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=(5000, 3)), rng.random(5000) < 0.001])
    y = rng.integers(2, size=5000)
    y[X[:, 3] > 0] = 1
    result = separating_direction(rows_of(X, y, sparse=sparse), 2)
    check(result, X, y, "quasi-complete")
    m = margins(X, y, result.u, result.c)
    np.testing.assert_array_equal(m > 0, X[:, 3] > 0)
    assert m.min() == 0


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3, 1e-7])
def test_two_levels_together_are_found_exactly(unit):
    """Neither column separates: rows with both are of class 1, rows with one are of either."""
    rng = np.random.default_rng(3)
    X = unit * (rng.random((400, 4)) < 0.5)
    y = rng.integers(2, size=400)
    together = (X[:, 1] > 0) + 1 * (X[:, 2] > 0)
    y[together == 2], y[together == 0] = 1, 0
    assert separating_column(rows_of(X, y), 2) is None
    result = separating_direction(rows_of(X, y), 2)
    check(result, X, y, "quasi-complete")
    np.testing.assert_array_equal(result.u[:, 0] / result.u[1], [0, 1, 1, 0])
    m = [
        (2 * int(k) - 1) * (sum(map(mul, map(Fraction, x), exact[:-1])) + exact[-1])
        for exact in [[Fraction(v) for v in (*result.u[:, 0], result.c[0])]]
        for x, k in zip(X.tolist(), y, strict=True)
    ]
    assert min(m) == 0


def test_a_tiny_difference_of_columns_may_separate():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=300), rng.integers(2, size=300)
    X = np.column_stack([x, x])
    X[7, 1] += 1e-5
    assert separating_direction(rows_of(X, y), 2).kind == "quasi-complete"
    X[8, 1] += 1e-5
    for k, kind in ((y[7], "quasi-complete"), (1 - y[7], "not separable")):
        y[8] = k
        assert separating_direction(rows_of(X, y), 2).kind == kind


def test_one_class_apart_from_two_that_overlap_is_quasi_complete():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    result = separating_direction(rows_of(X, y), 3)
    check(result, X, y, "quasi-complete")
    z = X @ result.u + result.c
    assert (z[y == 0, 0] > z[y == 0, 1:].max(axis=1)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_columns_than_rows_separate_any_labels(n_classes):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 60)), rng.integers(n_classes, size=40)
    result = separating_direction(rows_of(X, y), n_classes)
    check(result, X, y, "complete")
    assert "interpolate" in result.why


def test_the_same_row_in_both_classes_is_never_complete():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 30)), rng.integers(2, size=20)
    X[1], y[:2] = X[0], [0, 1]
    check(separating_direction(rows_of(X, y), 2), X, y, "quasi-complete")
    X, y = np.repeat(rng.normal(size=(20, 2)), 2, axis=0), np.tile([0, 1], 20)
    check(separating_direction(rows_of(X, y), 2), X, y, "not separable")


@each_storage
def test_duplicated_rows_change_nothing(sparse):
    for noise, kind in ((0.0, "complete"), (1.0, "not separable")):
        X, y = labeled(6, 200, 3, 2, noise)
        X, y = np.repeat(X, 4, axis=0), np.repeat(y, 4)
        check(separating_direction(rows_of(X, y, sparse=sparse), 2), X, y, kind)


@each_storage
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_weight_zero_do_not_count(n_classes, sparse):
    X, y = labeled(7, 500, 3, n_classes)
    s = weights(7, 500)
    rng = np.random.default_rng(7)
    wrong = rng.choice(500, size=100, replace=False)
    y[wrong] = rng.integers(n_classes, size=100)
    result = separating_direction(rows_of(X, y, s, sparse), n_classes)
    assert result.kind == "not separable"
    s[wrong] = 0
    result = separating_direction(rows_of(X, y, s, sparse), n_classes)
    check(result, X[s > 0], y[s > 0], "complete")


def test_far_origins_and_odd_units_change_nothing():
    scale, shift = np.array([1e-9, 1.0, 1e9]), np.array([1.0, 2.0**20, -1e12])
    for noise, kind in ((0.0, "complete"), (1.0, "not separable")):
        X, y = labeled(8, 400, 3, 2, noise)
        X = X * scale + shift
        result = separating_direction(rows_of(X, y), 2)
        assert result.kind == kind
        if kind == "complete":
            wide = np.longdouble
            z = (X.astype(wide) @ result.u.astype(wide) + result.c)[:, 0]
            assert np.where(y == 1, z, -z).min() > 0


def test_repeated_and_constant_columns_do_not_matter():
    for noise, kind in ((0.0, "complete"), (1.0, "not separable")):
        X, y = labeled(9, 400, 3, 2, noise)
        X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(400, 7.0)])
        check(separating_direction(rows_of(X, y), 2), X, y, kind)


def test_a_class_without_rows_is_given_up_by_the_intercept():
    X, y = labeled(10, 50, 2, 2, 1.0)
    assert separating_direction(rows_of(X, y), 3).kind == "quasi-complete"
    assert separating_direction(rows_of(X, np.ones(50)), 2).kind == "complete"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_solvers_coefficients_are_proof_enough_or_help(n_classes, monkeypatch):
    X, y = labeled(11, 2000, 4, n_classes)
    result = separating_direction(rows_of(X, y), n_classes)
    monkeypatch.setattr(direction, "_solve_programs", None)  # must not be needed
    again = separating_direction(rows_of(X, y), n_classes, hint=(result.u, result.c))
    check(again, X, y, "complete")
    assert again.u is result.u
    monkeypatch.undo()
    wrong = separating_direction(rows_of(X, y), n_classes, hint=(-result.u, -result.c))
    check(wrong, X, y, "complete")


def test_the_rows_that_a_solver_gets_wrong_settle_it_at_once(monkeypatch):
    X, y = labeled(11, 20_000, 4, 2)
    true = separating_direction(rows_of(X, y), 2)
    deep = np.argmax(margins(X, y, true.u, true.c))
    y[deep] = 1 - y[deep]
    monkeypatch.setattr(direction, "MAX_ROUNDS", 2)  # one of each program
    assert separating_direction(rows_of(X, y), 2).kind == "unknown"
    result = separating_direction(rows_of(X, y), 2, hint=(true.u, true.c))
    assert result.kind == "not separable"


def test_what_is_too_large_is_not_looked_at():
    X, y = labeled(12, 3000, 600, 2, 1.0)
    result = separating_direction(rows_of(X, y), 2)
    assert result.kind == "unknown"
    assert "601 unknowns is too large" in result.why


# --- one column -----------------------------------------------------------------------------------


@each_storage
def test_the_column_and_its_threshold(sparse):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(60, 3))
    y = np.arange(60) < 18
    X[:, 1] = np.where(y, rng.uniform(4, 9, 60), rng.uniform(0, 3, 60))
    result = separating_column(rows_of(X, y, sparse=sparse), 2)
    assert (result.feature, result.class_index, result.above, result.complete) == (1, 1, True, True)
    assert result.threshold == pytest.approx((X[y, 1].min() + X[~y, 1].max()) / 2)
    assert result.below_at_above == (42, 0, 18)
    result = separating_column(rows_of(-X, y, sparse=sparse), 2)
    assert (result.class_index, result.below_at_above) == (0, (18, 0, 42))


@each_storage
def test_a_shared_value_is_the_threshold(sparse):
    X = np.array([[0.0, 0, 1, 2, 2, 3], [1, 2, 1, 2, 1, 2]]).T
    y = np.array([0, 0, 0, 0, 1, 1])
    result = separating_column(rows_of(X, y, sparse=sparse), 2)
    assert (result.feature, result.threshold, result.complete) == (0, 2.0, False)
    assert result.below_at_above == (3, 2, 1)
    # constant in one class, at the end of the other's range; or in its midst
    assert (
        separating_column(
            rows_of(np.array([[0.0], [0], [0], [1]]), [0, 0, 1, 1]), 2
        ).below_at_above[2]
        == 1
    )
    assert separating_column(rows_of(np.array([[0.0], [0], [-1], [1]]), [0, 0, 1, 1]), 2) is None
    assert separating_column(rows_of(np.zeros((4, 1)), [0, 0, 1, 1]), 2) is None


def test_the_widest_gap_is_named():
    y = np.repeat([0, 1], 5)
    X = np.column_stack([y + np.linspace(0, 0.9, 10), 1e-6 * y, y * np.linspace(0, 1, 10)])
    assert separating_column(rows_of(X, y), 2).feature == 1


def test_without_an_intercept_only_zero_separates():
    x = np.array([1.0, 2, 3, 4])
    y = [0, 0, 1, 1]
    assert separating_column(rows_of(x[:, None], y), 2).threshold == 2.5
    assert separating_column(rows_of(x[:, None], y), 2, fit_intercept=False) is None
    result = separating_column(rows_of(x[:, None] - 2.7, y), 2, fit_intercept=False)
    assert (result.threshold, result.complete) == (0.0, True)
    result = separating_column(rows_of(x[:, None] - 2, y), 2, fit_intercept=False)
    assert (result.threshold, result.complete) == (0.0, False)


def test_one_class_of_three():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    result = separating_column(rows_of(X, y), 3)
    assert (result.feature, result.class_index, result.above) == (2, 0, False)
    assert (result.threshold, result.below_at_above) == (2.45, (50, 0, 100))


def test_a_threshold_between_neighbouring_numbers_still_separates():
    low = 1.0
    high = np.nextafter(low, 2)
    result = separating_column(rows_of(np.array([[low], [high]]), [0, 1]), 2)
    assert low <= result.threshold < high
    assert result.complete


def test_weights_and_blocks_do_not_show(monkeypatch):
    rng = np.random.default_rng(14)
    X, y = rng.normal(size=(3000, 2)), rng.integers(2, size=3000)
    s = weights(14, 3000)
    apart = (X[:, 1] > 0.5) == (y == 1)
    assert separating_column(rows_of(X, y, s), 2) is None
    s[~apart] = 0
    whole = separating_column(rows_of(X, y, s), 2)
    assert whole.feature == 1
    assert sum(whole.below_at_above) == apart.sum()
    monkeypatch.setattr("certus.data.rows.BLOCK_BYTES", 1 << 10)
    assert separating_column(rows_of(X, y, s), 2) == whole
