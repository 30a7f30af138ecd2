"""Ridge with a penalty that is small beside the data: w itself, not only its objective."""

import mpmath as mp
import numpy as np
import pytest
from scipy.sparse import csr_array

import certus
from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.linear_model import Ridge, RidgeCV
from certus.solvers.least_squares import sparse
from certus.solvers.least_squares.dual import solve_dual


def text(n, p, seed, words=40):
    """Rows of norm 1 with ``words`` entries at most, in columns that follow Zipf's law."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, p + 1)
    columns = rng.choice(p, size=(n, words), p=share / share.sum())
    values = rng.gamma(2.0, size=columns.shape) * np.log(2 + columns)
    X = csr_array((values.ravel(), (np.repeat(np.arange(n), words), columns.ravel())), shape=(n, p))
    X.sum_duplicates()
    length = np.sqrt(X.power(2).sum(axis=1))
    X.data /= np.repeat(length, np.diff(X.indptr))
    return X


def by_the_dual(X, y, alpha):
    """(w, b), refined until rounding is all that is left."""
    mean, mean_y = X.mean(axis=0), y.mean()
    Z, t = X - mean, y - mean_y
    A = Z @ Z.T + alpha * np.eye(len(Z))
    a = np.linalg.solve(A, t)
    for _ in range(3):
        a += np.linalg.solve(A, t - Z @ (Z.T @ a) - alpha * a)
    w = Z.T @ a
    return w, mean_y - mean @ w


@pytest.fixture(scope="module")
def wide():
    X, unseen = text(300, 4000, 0), text(60, 4000, 1)
    rng = np.random.default_rng(2)
    truth = 3 * rng.normal(size=4000) * (rng.random(4000) < 0.05)
    return X, X @ truth + 0.3 * rng.normal(size=300) + 5, unseen


@pytest.mark.parametrize("alpha", [1e-8, 1e-6, 1e-3, 1.0])
def test_predictions_of_new_rows_are_those_of_the_exact_ridge(wide, alpha):
    X, y, unseen = wide
    model = Ridge(alpha=alpha).fit(X, y)
    w, b = by_the_dual(X.toarray(), y, alpha)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.predict(unseen), unseen @ w + b, rtol=0, atol=2e-5)
    off = np.linalg.norm(model.coef_ - w)
    assert off <= 1e-5 * np.linalg.norm(w)
    assert off <= model.certificate_.coef_error


def test_rows_of_many_lengths_are_solved_by_the_matrix_of_the_rows(wide):
    X, y, unseen = wide
    length = np.random.default_rng(3).lognormal(0, 1.5, X.shape[0])
    X = X.multiply(length[:, None]).tocsr()
    model = Ridge(alpha=1e-6).fit(X, y)
    w, b = by_the_dual(X.toarray(), y, 1e-6)
    assert model.solver_ == "dual"
    np.testing.assert_allclose(model.predict(unseen), unseen @ w + b, rtol=0, atol=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_and_dense_rows_have_the_same_dual(wide, intercept):
    X, y, _ = wide
    s = np.random.default_rng(4).uniform(0, 2, len(y))
    some = X[:, :900]
    alpha = np.array([1e-4])
    ours = solve_dual(Rows(CSR(some), y[:, None], s), intercept, alpha)
    theirs = solve_dual(Rows(some.toarray(), y[:, None], s), intercept, alpha)
    np.testing.assert_allclose(ours.w, theirs.w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.b, theirs.b, rtol=1e-9)


def in_60_digits(X, y, alpha):
    n, p = X.shape
    with mp.workdps(60):
        Z, t = mp.matrix(X.tolist()), mp.matrix(y.tolist())
        for j in range(p):
            mean = mp.fsum(Z[i, j] for i in range(n)) / n
            for i in range(n):
                Z[i, j] -= mean
        mean = mp.fsum(t) / n
        for i in range(n):
            t[i] -= mean
        K = Z * Z.T + mp.mpf(alpha) * mp.eye(n)
        w = Z.T * mp.lu_solve(K, t)
        return np.array([float(v) for v in w])


WIDE = {
    "plain": lambda rng: rng.normal(size=(9, 25)),
    "scale 1e4": lambda rng: 1e4 * rng.normal(size=(9, 25)),
    "offset 1e8": lambda rng: 1e8 + rng.normal(size=(9, 25)),
    "repeated rows": lambda rng: 1e4 * np.repeat(rng.normal(size=(5, 25)), 2, axis=0)[:9],
}


@pytest.mark.parametrize("alpha", [1e-3, 1e-6, 1e-10, 1e-15])
@pytest.mark.parametrize("kind", WIDE)
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_no_penalty_is_too_small_for_wide_data(layout, kind, alpha):
    rng = np.random.default_rng(0)
    X, y = WIDE[kind](rng), rng.normal(size=9) + 3
    model = Ridge(alpha=alpha).fit(layout(X), y)
    w = in_60_digits(X, y, alpha)
    np.testing.assert_allclose(model.coef_, w, rtol=0, atol=1e-9 * np.abs(w).max())
    assert np.linalg.norm(model.coef_ - w) <= model.certificate_.coef_error
    if kind == "plain":
        assert "known only" not in repr(model.certificate_)


def test_leave_one_out_takes_small_penalties_of_wide_data_too():
    rng = np.random.default_rng(0)
    X, y = 1e4 * rng.normal(size=(12, 40)), rng.normal(size=12)
    model = RidgeCV(alphas=[1e-6, 1e-3]).fit(X, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_, in_60_digits(X, y, model.alpha_), rtol=1e-9)


def test_sparse_rows_whose_matrix_has_no_factor_are_solved_by_singular_values(monkeypatch):
    monkeypatch.setattr(sparse, "MAX_DENSE_ELEMENTS", 0)
    rng = np.random.default_rng(0)
    X, y = 1e4 * np.repeat(rng.normal(size=(5, 25)), 2, axis=0)[:9], rng.normal(size=9)
    model = Ridge(alpha=1e-8, solver="cholesky").fit(csr_array(X), y)
    assert model.solver_ == "svd"
    np.testing.assert_allclose(model.coef_, in_60_digits(X, y, 1e-8), rtol=1e-9, atol=1e-14)


# --- the certificate's first line -----------------------------------------------------------------


@pytest.fixture(scope="module")
def loose(wide):
    """A certified objective that says little of w: w is off in directions that no row sees."""
    X, y, _ = wide
    model = Ridge(alpha=1e-6).fit(X, y)
    rng = np.random.default_rng(5)
    dense = X.toarray()
    noise = rng.normal(size=X.shape[1])
    noise -= np.linalg.lstsq(dense, dense @ noise, rcond=None)[0]
    model.coef_ = model.coef_ + 0.2 * np.linalg.norm(model.coef_) * noise / np.linalg.norm(noise)
    return certus.verify(model, X, y)


def test_the_first_line_says_that_coefficients_are_known_less_well_than_the_objective(loose):
    assert loose.certified
    remark = "; coefficients known only to ±"
    assert remark in repr(loose)
    assert remark in loose.explain().splitlines()[0]
    assert remark in loose.note()
    assert remark in loose._repr_html_().split("<details>")[0]


def test_the_bound_on_coefficients_is_true(wide, loose):
    X, y, _ = wide
    w, _ = by_the_dual(X.toarray(), y, 1e-6)
    assert np.abs(loose.parameters["w"][:, 0] - w).max() <= loose.coef_error


def test_a_fit_whose_coefficients_are_known_says_nothing_of_them(wide):
    X, y, _ = wide
    assert "known only" not in repr(Ridge(alpha=1e-6).fit(X, y).certificate_)


# --- w ≥ 0 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 1e-8, 1.0])
@pytest.mark.parametrize("constant", [0.0, 3.0, 0.1, 1e9])
@pytest.mark.parametrize("shape", [(20, 3), (3, 5)], ids=str)
def test_a_constant_column_has_no_part_in_coefficients_that_are_not_negative(
    shape, constant, alpha
):
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=shape))
    y = X @ np.ones(shape[1]) + 0.1 * rng.normal(size=shape[0])
    X[:, 1] = constant
    model = Ridge(alpha=alpha, positive=True).fit(X, y)
    assert model.certificate_.certified
    rest = Ridge(alpha=alpha, positive=True).fit(np.delete(X, 1, axis=1), y)
    assert model.coef_[1] == 0
    np.testing.assert_allclose(model.predict(X), rest.predict(np.delete(X, 1, axis=1)), rtol=1e-6)


@pytest.mark.parametrize("alpha", [1e-12, 1e-3])
def test_columns_that_repeat_others_have_coefficients_that_are_not_negative(alpha):
    rng = np.random.default_rng(0)
    a, b = np.abs(rng.normal(size=(2, 25)))
    X = np.column_stack([a, b, a, a + b])
    model = Ridge(alpha=alpha, positive=True).fit(X, a + 2 * b + 0.1 * rng.normal(size=25))
    assert model.certificate_.certified
    assert (model.coef_ >= 0).all()
