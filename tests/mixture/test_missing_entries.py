"""Rows with missing entries: conditional distributions, a pattern at a time and batched."""

import pickle

import numpy as np
import pytest

import certus
from certus import config_context
from certus.mixture import GaussianMixture
from certus.proofs.mixture._missing_entries import (
    Normal,
    expected_moments,
    grouped,
    observed_log_density,
)
from certus.solvers.mixture.covariances import COVARIANCES, Regularization
from certus.solvers.mixture.gaussian import GaussianFamily, ScaledCoordinates
from certus.solvers.mixture.missing_entries import MissingEntries
from certus.solvers.mixture.missing_patterns import PatternCache, group

TYPES = ("full", "tied", "diag", "spherical")


def holes(n, p, share, seed=0):
    """Missing entries of a block (p, n), some rows without any observed entry."""
    is_missing = np.random.default_rng(seed).random((p, n)) < share
    is_missing[:, :2] = True
    return is_missing


def theta_of(name, k, p, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(k, p, p))
    C = A @ A.transpose(0, 2, 1) + np.eye(p)
    shape = COVARIANCES[name]
    cov = {"full": C, "tied": C[0], "diag": np.einsum("kii->ki", C)}.get(name)
    if name == "spherical":
        cov = np.repeat(C[:, :1, 0], p, axis=1)
    pi = rng.dirichlet(np.full(k, 5.0))
    none = Regularization(0.0, np.ones(p), np.zeros(p))
    coordinates = ScaledCoordinates(np.zeros(p), np.ones(p), np.arange(p), np.zeros(p))
    family = GaussianFamily.__new__(GaussianFamily)
    family.shape, family.regularization, family.coordinates = shape, none, coordinates
    return shape, family.theta(pi, rng.normal(size=(k, p)), cov)


def conditional(x, mu, C):
    """Log density of the observed entries of a row, the row completed, and Cov[x | x_o]."""
    o = ~np.isnan(x)
    m, D = ~o, (x - mu)[o]
    C_oo = C[np.ix_(o, o)]
    log_p = -0.5 * (D @ np.linalg.solve(C_oo, D) + np.linalg.slogdet(2 * np.pi * C_oo)[1])
    B = np.linalg.solve(C_oo, C[np.ix_(o, m)]).T
    completed, cov = x.copy(), np.zeros(C.shape)
    completed[m] = mu[m] + B @ D
    cov[np.ix_(m, m)] = C[np.ix_(m, m)] - B @ C[np.ix_(o, m)]
    return log_p, completed, cov


@pytest.mark.parametrize("p", [1, 5, 70])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_patterns_divide_the_rows_by_their_missing_columns(p, share):
    is_missing = holes(300, p, share)
    patterns = group(is_missing)
    assert np.array_equal(np.sort(patterns.order), np.arange(300))
    masks = is_missing[:, patterns.order[patterns.starts]]
    assert len(np.unique(masks, axis=1).T) == masks.shape[1]
    assert np.array_equal(is_missing, masks[:, patterns.of_row])
    seen = np.zeros(len(patterns.entries))
    flat = np.arange(is_missing.size).reshape(is_missing.shape)
    for batch in patterns.batches:
        for i in range(len(batch.rows)):
            assert not is_missing[np.ix_(batch.observed[i], batch.rows[i])].any()
            places = flat[np.ix_(batch.missing[i], batch.rows[i])].T
            assert np.array_equal(patterns.entries[batch.entries[i]], places)
            seen[batch.entries[i]] = 1
    assert seen.all()


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(("p", "share"), [(4, 0.2), (9, 0.7)])
def test_densities_and_sums_are_those_of_rows_conditioned_one_by_one(name, p, share):
    n, k = 80, 3
    Z = np.random.default_rng(1).normal(size=(p, n))
    Z[holes(n, p, share)] = np.nan
    shape, theta = theta_of(name, k, p)
    R = np.random.default_rng(2).random((k, n))
    method = MissingEntries()(shape, theta, n)
    prepared = method.prepare(Z)
    joint, (A, S) = method.log_joint(prepared), method.sums(prepared, R)
    C = shape.matrices(theta.cov, k, p)
    all_S = np.zeros((k, p, p))
    for i in range(k):
        of_rows = [conditional(x, theta.mu[i], C[i]) for x in Z.T]
        np.testing.assert_allclose(joint[i], np.log(theta.pi[i]) + [r[0] for r in of_rows], 1e-11)
        D = np.array([r[1] for r in of_rows]) - theta.mu[i]
        np.testing.assert_allclose(A[i], R[i] @ D, rtol=1e-9, atol=1e-10)
        all_S[i] = (D.T * R[i]) @ D + np.einsum("i,ijk->jk", R[i], [r[2] for r in of_rows])
    np.testing.assert_allclose(S, shape.from_matrices(all_S), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.6])
def test_the_proof_conditions_row_by_row_as_well(share):
    n, p = 60, 5
    X = np.random.default_rng(3).normal(size=(n, p))
    X[holes(n, p, share).T] = np.nan
    _, theta = theta_of("full", 1, p)
    normal = Normal(theta.mu[0], theta.cov[0])
    w = np.random.default_rng(4).random(n)
    of_rows = [conditional(x, *normal) for x in X]
    gaps = grouped(X)
    np.testing.assert_allclose(observed_log_density(gaps, normal), [r[0] for r in of_rows], 1e-11)
    D, extra = expected_moments(gaps, w, normal)
    np.testing.assert_allclose(D, np.array([r[1] for r in of_rows]) - normal.mean, atol=1e-10)
    np.testing.assert_allclose(extra, np.einsum("i,ijk->jk", w, [r[2] for r in of_rows]))


def factorizations(monkeypatch, work):
    """Number of calls of a Cholesky factorisation in ``work``."""
    count, cholesky = [0], np.linalg.cholesky

    def counted(A):
        count[0] += 1
        return cholesky(A)

    with monkeypatch.context() as m:
        m.setattr(np.linalg, "cholesky", counted)
        work()
    return count[0]


def test_patterns_are_factored_together(monkeypatch):
    """All 2⁶ patterns of 6 columns, with as many or as few rows as there are."""
    p, k = 6, 3
    is_missing = (np.arange(2**p) >> np.arange(p)[:, None] & 1).astype(bool)
    Z = np.random.default_rng(5).normal(size=(p, 2**p))
    Z[is_missing] = np.nan
    shape, theta = theta_of("full", k, p)
    method = MissingEntries()(shape, theta, 2**p)
    assert factorizations(monkeypatch, lambda: method.log_joint(method.prepare(Z))) <= p
    X, normal = Z.T[:-1], Normal(theta.mu[0], theta.cov[0])
    assert factorizations(monkeypatch, lambda: observed_log_density(grouped(X), normal)) <= p


def test_patterns_of_a_block_are_grouped_once_and_not_sent_to_workers():
    cache = PatternCache()
    is_missing = holes(50, 4, 0.3)
    assert cache.patterns(is_missing) is cache.patterns(is_missing.copy())
    assert cache.patterns(is_missing[:, 1:]) is not cache.patterns(is_missing)
    assert not pickle.loads(pickle.dumps(cache)).found


@pytest.mark.filterwarnings("ignore::UserWarning")  # three steps are too few
@pytest.mark.parametrize("name", TYPES)
def test_rows_with_holes_have_the_same_bits_on_any_number_of_threads(name):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(9000, 6)) + 4 * rng.integers(2, size=(9000, 1))
    X[rng.random(X.shape) < 0.1] = np.nan
    s = rng.integers(0, 3, size=len(X))

    def means(threads):
        with config_context(threads=threads):
            model = GaussianMixture(2, covariance_type=name, random_state=0, max_iter=3)
            return model.fit(X, sample_weight=s).means_

    assert np.array_equal(means(1), means(3))


# --- impute ---------------------------------------------------------------------------------------


def fitted_with_holes(name, n=150, p=4, dtype=float):
    rng = np.random.default_rng(7)
    A = rng.normal(size=(p, p))
    X = rng.normal(size=(n, p)) @ A + 6 * rng.integers(2, size=(n, 1))
    X[rng.random(X.shape) < 0.15] = np.nan
    X[3] = np.nan
    X = X.astype(dtype)
    return X, GaussianMixture(2, covariance_type=name, random_state=0).fit(X)


def filled(X, model):
    """Brute force: each row conditioned in each component."""
    p, cov = X.shape[1], model.covariances_
    if model.covariance_type == "spherical":
        cov = np.repeat(cov[:, None], p, axis=1)
    C = COVARIANCES[model.covariance_type].matrices(cov, 2, p)
    out = np.empty(X.shape)
    for i, x in enumerate(X.astype(float)):
        each = [conditional(x, model.means_[k], C[k]) for k in range(2)]
        log_r = np.log(model.weights_) + [one[0] for one in each]
        r = np.exp(log_r - log_r.max())
        out[i] = r / r.sum() @ [one[1] for one in each]
    return out


@pytest.mark.parametrize("name", TYPES)
def test_a_missing_entry_is_imputed_by_its_expectation_given_the_others(name):
    X, model = fitted_with_holes(name)
    imputed, given = model.impute(X), ~np.isnan(X)
    assert np.array_equal(imputed[given], X[given])
    np.testing.assert_allclose(imputed, filled(X, model), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(imputed[3], model.weights_ @ model.means_)
    assert np.isnan(X[3]).all()  # X is not written to


def test_complete_rows_are_imputed_as_they_are():
    X, model = fitted_with_holes("full")
    complete = X[~np.isnan(X).any(axis=1)]
    assert np.array_equal(model.impute(complete), complete)


def test_float32_stays_float32():
    X, model = fitted_with_holes("full", dtype=np.float32)
    imputed = model.impute(X)
    assert imputed.dtype == np.float32
    np.testing.assert_allclose(imputed, filled(X, model), rtol=1e-5, atol=1e-5)


def test_a_missing_entry_of_a_constant_column_is_its_value():
    X, _ = fitted_with_holes("full")
    X = np.column_stack([X, np.full(len(X), 7.0)])
    X[5, 4] = np.nan
    imputed = GaussianMixture(2, random_state=0).fit(X).impute(X)
    assert imputed[5, 4] == 7.0


def test_frames_are_imputed_by_name_and_infinity_is_named():
    pd = pytest.importorskip("pandas")
    X, model = fitted_with_holes("full")
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = GaussianMixture(2, random_state=0).fit(frame)
    np.testing.assert_allclose(named.impute(frame), model.impute(X), rtol=1e-9)
    frame.loc[4, "b"] = np.inf
    with pytest.raises(ValueError, match=r"column .b. has 1 infinite value .*row 4"):
        named.impute(frame)


def test_a_table_is_imputed_as_its_rows_are(tmp_path):
    X, model = fitted_with_holes("full", n=9000)
    np.save(tmp_path / "X.npy", X)
    with certus.open_rows(tmp_path / "X.npy", missing=True) as table:
        imputed = model.impute(table)
    np.testing.assert_allclose(imputed, model.impute(X), rtol=1e-12, atol=1e-12)
