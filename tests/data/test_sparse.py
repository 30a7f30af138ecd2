"""Sparse X: the answer of its array, found and certified without its zeros."""

import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peers

import certus
from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.solvers.least_squares import sparse
from certus.solvers.least_squares.conjugate_gradients import conjugate_gradients
from certus.solvers.least_squares.least_squares import solve
from certus.solvers.linalg import sparse_sums
from tests.contract.problems import plain, weights


def problem(seed, n=400, p=12, density=0.08, k=None):
    """Multiples of 1/64, about one in twelve not 0; y = Xw + 2 + noise."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < density, np.round(64 * rng.normal(size=(n, p))) / 64, 0.0)
    w = rng.uniform(1, 3, size=(p, k or 1)) * rng.choice([-1.0, 1.0], size=(p, k or 1))
    y = np.round(64 * (X @ w + 2 + 0.5 * rng.normal(size=(n, k or 1)))) / 64
    return sp.csr_array(X), y[:, 0] if k is None else y


@pytest.fixture(params=["SciPy", "compiled"])
def large(request, monkeypatch):
    """Small problems go the way of large ones."""
    monkeypatch.setattr(sparse, "MAX_DENSE_ELEMENTS", 0)
    if request.param == "compiled":
        monkeypatch.setattr(sparse_sums, "KERNEL_ENTRIES", 0)


def same(ours, truth, rtol=1e-10):
    ours, truth = np.asarray(ours), np.asarray(truth)
    assert ours.shape == truth.shape
    np.testing.assert_allclose(ours, truth, rtol=0, atol=rtol * np.abs(truth).max())


MODELS = {
    "Ridge, conjugate gradients": lambda: Ridge(2.0, solver="sparse_cg", tol=1e-13),
    "Ridge, Gram": lambda: Ridge(2.0, solver="cholesky"),
    "Ridge": lambda: Ridge(2.0, tol=1e-13),
    "Ridge, no intercept": lambda: Ridge(2.0, fit_intercept=False, tol=1e-13),
    "Ridge, w ≥ 0": lambda: Ridge(2.0, positive=True),
    "Ridge, alpha = 0": lambda: Ridge(0.0, solver="lsqr", tol=1e-13),
    "LinearRegression": lambda: LinearRegression(),
    "LinearRegression, no intercept": lambda: LinearRegression(fit_intercept=False),
    "LinearRegression, w ≥ 0": lambda: LinearRegression(positive=True),
    "RidgeCV": lambda: RidgeCV(alphas=[0.1, 1.0, 10.0]),
    "RidgeCV, five folds": lambda: RidgeCV(alphas=[0.1, 10.0], cv=5),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


# --- the answer is that of the array --------------------------------------------------------------


@each_model
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("targets", [None, 2])
def test_sparse_and_dense_have_the_same_answer(make, weighted, targets, large):
    X, y = problem(1, k=targets)
    s = weights(1, X.shape[0]) if weighted else None
    here, there = make().fit(X.toarray(), y, s), make().fit(X, y, s)
    rtol = 1e-5 if isinstance(there, RidgeCV) else 1e-10  # it cannot be asked for more digits
    same(there.coef_, here.coef_, rtol)
    same(there.intercept_, here.intercept_, rtol)
    same(there.predict(X), here.predict(X.toarray()), rtol)
    assert there.certificate_.certified
    assert there.certificate_.objective == pytest.approx(here.certificate_.objective, rel=1e-9)


@each_model
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_layout_is_the_same_matrix(make, kind):
    X, y = problem(2, n=120, p=5, density=0.3)
    here = make().fit(X, y).coef_
    for layout in ("csr", "csc", "coo", "lil"):
        same(make().fit(getattr(sp, f"{layout}_{kind}")(X), y).coef_, here, 1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, bool])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_types_of_numbers_and_of_indices_do_not_matter(dtype, index, large):
    X, y = problem(3)
    X = (X * 4).astype(dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    make = MODELS["Ridge"]
    here, there = make().fit(X.toarray().astype(float), y), make().fit(X, y)
    same(there.coef_, here.coef_, 1e-9)
    assert there.coef_.dtype == there.predict(X).dtype == np.float64


def test_entries_out_of_order_twice_or_zero_are_summed_in_a_copy(large):
    X, y = problem(4)
    data = np.concatenate([X.data / 2, X.data[::-1] / 2, np.zeros(30)])
    coo = X.tocoo()
    row = np.concatenate([coo.row, coo.row[::-1], np.arange(30)])
    column = np.concatenate([coo.col, coo.col[::-1], np.arange(30) % 12])
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=X.shape[0]))])
    messy = sp.csr_array((data[order], column[order], indptr), shape=X.shape)
    before = messy.data.copy(), messy.indices.copy()
    model = MODELS["Ridge"]().fit(messy, y)
    same(model.coef_, MODELS["Ridge"]().fit(X, y).coef_, 1e-12)
    np.testing.assert_array_equal(messy.data, before[0])
    np.testing.assert_array_equal(messy.indices, before[1])
    assert certus.verify(model, messy, y).certified


def test_columns_and_rows_without_entries_are_columns_and_rows_of_zeros(large):
    X, y = problem(5)
    A = X.toarray()
    A[:, 3] = 0
    A[7:11] = 0
    model = MODELS["Ridge"]().fit(sp.csr_array(A), y)
    same(model.coef_, MODELS["Ridge"]().fit(A, y).coef_)
    assert model.coef_[3] == 0


def test_a_dense_column_far_from_zero_costs_few_digits(large):
    X, y = problem(6)
    A = X.toarray()
    A[:, 2] = 2000 + np.arange(len(A)) % 25  # a year
    for make in (MODELS["Ridge, conjugate gradients"], MODELS["LinearRegression"]):
        model = make().fit(sp.csr_array(A), y)
        same(model.coef_, make().fit(A, y).coef_, 1e-8)
        assert model.certificate_.certified


def test_columns_of_very_different_size_do_not_slow_conjugate_gradients(large):
    X, y = problem(7)
    d = 10.0 ** np.linspace(-6, 6, 12)
    model = Ridge(1e-20, solver="sparse_cg", tol=1e-12).fit(sp.csr_array(X.toarray() * d), y)
    w, _ = plain(X.toarray(), y)
    same(model.coef_ * d, w[:, 0], 1e-6)
    assert model.n_iter_ < 60
    assert model.certificate_.certified


def test_of_all_answers_for_few_rows_the_smallest_is_found(large):
    X, y = problem(8, n=30, p=90, density=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the dense fit says that it is not unique
        here = LinearRegression().fit(X.toarray(), y)
    there = LinearRegression(tol=1e-12).fit(X, y)
    assert there.solver_ == "conjugate gradients"
    same(there.coef_, here.coef_, 1e-7)
    assert there.certificate_.certified


def test_agrees_with_scikit_learn(large):
    X, y = problem(9, n=800, p=40)
    same(Ridge(3.0, tol=1e-12).fit(X, y).coef_, peers.Ridge(3.0, tol=1e-14).fit(X, y).coef_, 1e-8)
    theirs = peers.LinearRegression(tol=1e-14).fit(X, y)
    same(LinearRegression().fit(X, y).coef_, theirs.coef_, 1e-8)


# --- laws -----------------------------------------------------------------------------------------


def big(seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((60_000, 300), density=0.02, format="csr", rng=rng)
    return X, X @ rng.normal(size=300) + rng.normal(size=60_000)


@pytest.mark.parametrize("make", [Ridge, LinearRegression], ids=["Ridge", "LinearRegression"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_same_bits_on_any_number_of_threads(make, weighted, monkeypatch):
    monkeypatch.setattr("certus.data.rows.SMALL_WORK", 0)
    monkeypatch.setattr("certus.data.rows.BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(sparse_sums, "KERNEL_ENTRIES", 0)
    X, y = big()
    s = weights(1, len(y)) if weighted else None
    fits = []
    for threads in (1, 2, 3):
        with certus.config_context(threads=threads):
            fits.append(make().fit(X, y, s))
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)
        assert other.intercept_ == fits[0].intercept_
        assert other.certificate_.gap == fits[0].certificate_.gap
    assert len(Rows(CSR(X)).edges()) > 4


@pytest.mark.parametrize("name", ["Ridge", "Ridge, Gram", "LinearRegression"])
def test_a_whole_weight_is_a_row_repeated(name, large):
    X, y = problem(10)
    s = np.random.default_rng(0).integers(0, 4, size=X.shape[0])
    weighted = MODELS[name]().fit(X, y, s)
    repeated = MODELS[name]().fit(X[np.repeat(np.arange(len(s)), s)], np.repeat(y, s))
    same(weighted.coef_, repeated.coef_)
    same(weighted.intercept_, repeated.intercept_)


def test_compiled_and_plain_sums_agree_through_gram(monkeypatch):
    X, y = problem(11, n=900, p=30, density=0.05)
    rows = Rows(CSR(X), y[:, None], weights(2, 900))
    found = sparse_sums.sparse_gram(rows, True)
    monkeypatch.setattr(sparse_sums, "KERNEL_ENTRIES", 0)
    compiled = sparse_sums.sparse_gram(rows, True)
    same(compiled.G, found.G, 1e-13)
    centered = X.toarray() - np.average(X.toarray(), axis=0, weights=rows.s)
    same(found.G, centered.T @ (rows.s[:, None] * centered), 1e-12)


# --- certificates ---------------------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize("j", range(4))
@pytest.mark.parametrize("make", [Ridge, LinearRegression], ids=["Ridge", "LinearRegression"])
def test_a_coefficient_edited_by_one_percent_is_refused(make, j):
    X, y = big(j)
    model = make().fit(X, y)
    assert certus.verify(model, X, y).certified
    worst = np.argsort(-np.abs(model.coef_))[j]
    model.coef_[worst] *= 1.01
    assert certus.verify(model, X, y).status in ("not optimal", "nearly optimal")


@pytest.mark.parametrize("make", [Ridge, LinearRegression], ids=["Ridge", "LinearRegression"])
def test_the_gap_is_never_below_the_true_distance(make):
    X, y = problem(12, n=600)
    model = make().fit(X, y)
    best = model.certificate_.objective
    rng = np.random.default_rng(0)
    start = model.coef_.copy()
    for size in (1e-8, 1e-4, 1e-1):
        model.coef_ = start + size * rng.normal(size=12)
        found = certus.verify(model, X, y)
        assert found.gap >= found.objective - best - 1e-9 * best
        assert found.bound <= best * (1 + 1e-9)


def test_models_of_scikit_learn_on_sparse_data_are_audited():
    X, y = big()
    good = peers.Ridge(tol=1e-10).fit(X, y)
    assert certus.verify(good, X, y).certified
    assert certus.verify(good, X.tocsc(), y).certified
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        poor = peers.Ridge(solver="sparse_cg", max_iter=1).fit(X, y)
    assert not certus.verify(poor, X, y).certified
    assert certus.verify(peers.LinearRegression(tol=1e-14).fit(X, y), X, y).certified
    small, target = problem(1)
    assert certus.verify(peers.RidgeCV().fit(small, target), small, target).certified


def wide():
    rng = np.random.default_rng(1)
    X = sp.random_array((12_000, 5000), density=0.005, format="csr", rng=rng)
    return X, X @ rng.normal(size=5000) + rng.normal(size=12_000)


def test_what_is_not_proven_is_not_claimed():
    X, y = wide()
    with pytest.warns(NotCertifiedWarning, match="5,000 sparse columns: too many") as caught:
        model = LinearRegression().fit(X, y)
    assert len(caught) == 1
    assert model.certificate_.status == "not proven"
    assert not model.certificate_.certified
    assert "NOT PROVEN" in model.certificate_.explain()
    assert "use Ridge" in model.certificate_.explain()
    assert largest_correlation(model, X, y) < 1e-5  # with a column; 0 at the optimum
    model.coef_ = 1.1 * model.coef_  # wrong enough for one step to show it
    assert certus.verify(model, X, y).status == "not optimal"


def largest_correlation(model, X, y):
    r = y - model.predict(X)
    norm = np.sqrt(X.power(2).sum(axis=0))
    return np.max(np.abs(X.T @ r) / norm) / np.linalg.norm(y - y.mean())


def test_a_penalty_proves_many_columns():
    X, y = wide()
    model = Ridge(0.5).fit(X, y)
    assert model.solver_ == "conjugate gradients"
    assert model.n_iter_ > 3
    assert model.certificate_.certified
    assert model.certificate_._finding.proof == "the penalty's curvature"
    model.coef_[np.argmax(np.abs(model.coef_))] *= 1.01
    assert not certus.verify(model, X, y).certified


def test_a_fit_that_stops_early_says_so():
    X, y = wide()
    with pytest.warns(NotCertifiedWarning) as caught:
        model = Ridge(1e-3, max_iter=2).fit(X, y)
    assert str(caught[0].message).startswith("Ridge stopped at max_iter=2 before the optimum: ")
    assert "Raise max_iter or use solver='auto'." in str(caught[0].message)
    assert model.n_iter_ == 2
    assert not model.certificate_.certified


def test_where_conjugate_gradients_are_slow_a_factorisation_takes_over(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((30_000, 60), density=0.05, format="csr", rng=rng)
    near = X[:, [0]] + 1e-4 * X[:, [1]]
    X = sp.hstack([X, near], format="csr")
    y = X @ rng.normal(size=61) + rng.normal(size=30_000)
    monkeypatch.setattr(sparse, "MAX_CHEAP_PASSES", 3)
    model = Ridge(1e-6).fit(X, y)
    assert model.solver_ == "cholesky"
    assert model.certificate_.certified


@pytest.mark.parametrize("wrong", [0, -3, 2.5])
def test_a_number_of_passes_that_is_none_is_refused(wrong):
    X, y = problem(1)
    with pytest.raises(ValueError, match="give a whole number above 0, or None"):
        Ridge(max_iter=wrong).fit(X, y)


# --- steps ----------------------------------------------------------------------------------------


def test_conjugate_gradients_tell_every_pass_and_can_be_stopped():
    X, y = problem(13, n=500, p=40)
    rows = Rows(CSR(X), y[:, None])
    steps = []
    found = conjugate_gradients(rows, True, np.array([0.1]), on_step=lambda s: steps.append(s))
    assert [step.iteration for step in steps] == list(range(found.n_iter + 1))
    objectives = np.array([step.objective for step in steps])
    assert np.all(np.diff(objectives) <= 1e-9 * objectives[0])
    best = solve(Rows(X.toarray(), y[:, None]), True, 0.1)
    r = y - X @ best.w[:, 0] - best.b
    optimum = r @ r + 0.1 * best.w[:, 0] @ best.w[:, 0]
    assert all(step.bound <= optimum * (1 + 1e-12) for step in steps)
    assert objectives[-1] == pytest.approx(optimum, rel=1e-10)
    stopped = conjugate_gradients(rows, True, np.array([0.1]), on_step=lambda s: s.iteration == 2)
    assert stopped.n_iter == 2
    assert stopped.stopped_at is None


# --- memory and refusals --------------------------------------------------------------------------


def test_nothing_of_the_size_of_the_array_is_allocated():
    rng = np.random.default_rng(0)
    n, p = 40_000, 30_000  # 9.6 GB with its zeros
    X = sp.random_array((n, p), density=2e-4, format="csr", rng=rng)
    y = rng.normal(size=n)
    Ridge().fit(X[:100], y[:100])  # imports and compiles
    tracemalloc.start()
    try:
        model = Ridge().fit(X, y)
        model.predict(X)
        certus.verify(model, X, y)
        with pytest.raises(ValueError, match="positive=True on sparse X of 40,000 rows"):
            Ridge(positive=True).fit(X, y)
        with pytest.raises(ValueError, match=r"leave-one-out on sparse X.*use cv=5"):
            RidgeCV().fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.certificate_.certified
    assert peak < 2**27


def test_bad_entries_are_named():
    X, y = problem(1)
    X = X.tolil()
    X[4, 2], X[17, 2], X[3, 5] = np.nan, np.nan, np.inf
    message = (
        r"column 2 of X has 2 missing values \(NaN; rows 4, 17\); column 5 of X has 1 infinite "
        r"value \(inf; row 3\): impute them or drop the rows"
    )
    for layout in ("csr", "csc"):
        with pytest.raises(ValueError, match=message):
            Ridge().fit(X.asformat(layout), y)
    model = Ridge().fit(problem(1)[0], y)
    with pytest.raises(ValueError, match="column 2 of X has 2 missing"):
        model.predict(X.tocsr())


def test_indices_that_were_tampered_with_are_refused():
    X, _ = problem(1)
    for wrong in (12, -1):
        broken = X.copy()
        broken.indices[-1] = wrong
        broken.has_canonical_format = True
        with pytest.raises(ValueError, match="12 columns and an entry in column"):
            CSR(broken)


def test_a_block_is_a_view_and_so_is_its_transpose():
    X, _ = problem(1)
    source = CSR(X)
    block = source[100:300]
    np.testing.assert_array_equal(block.toarray(), X.toarray()[100:300])
    np.testing.assert_array_equal(block.T.toarray(), X.toarray()[100:300].T)
    for part in (block, block.T):
        assert np.shares_memory(part.data, X.data)
        assert np.shares_memory(part.indices, X.indices)
    np.testing.assert_array_equal(source[[5, 2]].toarray(), X.toarray()[[5, 2]])
    np.testing.assert_array_equal(source.column(3), X.toarray()[:, 3])


def test_the_exported_script_reads_sparse_files(tmp_path):
    X, y = problem(1, n=6000, p=200)
    model = Ridge(tol=1e-10).fit(X, y)
    model.certificate_.export(tmp_path / "check.py")
    sp.save_npz(tmp_path / "X.npz", X)
    np.save(tmp_path / "y.npy", y)

    def run(name):
        command = [sys.executable, "check.py", name, "y.npy"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    found = run("X.npz")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "the claim holds" in found.stdout
    sp.save_npz(tmp_path / "other.npz", 1.01 * X)
    assert run("other.npz").returncode == 1
    sp.save_npz(tmp_path / "csc.npz", X.tocsc())
    assert "X.tocsr() before save_npz" in run("csc.npz").stdout


def test_other_rows_are_recognised():
    X, y = big()
    model = Ridge().fit(X, y)
    other = certus.verify(model, X[::-1], y[::-1])
    assert other.status == "other rows"
    assert certus.verify(Ridge().fit(problem(1)[0], problem(1)[1]), problem(1)[0].toarray(),
                         problem(1)[1]).certified  # fmt: skip
