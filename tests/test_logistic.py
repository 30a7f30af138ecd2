"""LogisticRegression: scikit-learn's class, its answers, and what people do to it.

min_w,b C Σ s_i c_{y_i} ℓ(y_i, x_iᵀw + b) + l1_ratio‖w‖₁ + (1 − l1_ratio)/2 ‖w‖²
"""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from scipy import sparse
from scipy.special import logsumexp

import certus
from certus.exceptions import AliasWarning, NotCertifiedWarning, SeparationWarning
from certus.linear_model import LogisticRegression
from problems import classification, weights

SOLVERS = ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]
classes = pytest.mark.parametrize("K", [2, 3], ids=["two classes", "three classes"])


def tight(**parameters):
    """scikit-learn's, as near to the optimum as its Newton method comes."""
    tightest = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}
    return peers.LogisticRegression(**{**tightest, **parameters})


def agree(ours, theirs, atol=1e-7):
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=atol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=atol)


def objective(model, X, y, s=None, C=1.0, l1_ratio=0.0):
    """F at the model's w and b, with labels 0, 1, …"""
    z = np.asarray(X, dtype=float) @ model.coef_.T + model.intercept_
    z = np.column_stack([np.zeros(len(z)), z]) if z.shape[1] == 1 else z
    losses = logsumexp(z, axis=1) - z[np.arange(len(z)), y]
    w = model.coef_
    penalty = l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * (w**2).sum()
    return C * np.sum(losses if s is None else s * losses) + penalty


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
    ids=str,
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
    theirs = peers.LogisticRegression(tol=1e-12, C=0.1, max_iter=100_000, **parameters).fit(X, y)
    agree(ours, theirs, 1e-5)
    free = LogisticRegression(C=0.1, l1_ratio=l1_ratio, tol=1e-12).fit(X, y)
    assert np.abs(ours.intercept_ - free.intercept_) > 1e-3
    assert ours.certificate_.certified


@pytest.mark.parametrize(
    ("parameters", "told"),
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
def test_a_parameter_without_meaning_is_named_with_its_value(parameters, told):
    X, y, _ = classification(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        with pytest.raises(ValueError, match=re.escape(told)):
            LogisticRegression(**parameters).fit(X, y)


def test_a_misspelt_solver_is_answered_with_the_likely_one():
    X, y, _ = classification(3)
    with pytest.raises(ValueError, match=r"Did you mean 'lbfgs'\?"):
        LogisticRegression(solver="lbgfs").fit(X, y)


# --- tol, max_iter, warm starts, verbose ----------------------------------------------------------


@classes
@pytest.mark.parametrize("solver", ["newton-cg", "newton-cholesky"])
@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-10])
def test_tol_is_obeyed(K, tol, solver):
    X, y, _ = classification(5, n=400, classes=K)
    c = LogisticRegression(tol=tol, solver=solver).fit(X, y).certificate_
    assert c.certified
    assert c.tol == min(tol, 1e-6)
    assert c.residual <= c.tol


def test_a_tol_of_zero_is_as_far_as_float64_goes():
    X, y, _ = classification(5)
    c = LogisticRegression(tol=0).fit(X, y).certificate_
    assert c.certified
    assert c.tol == 1e-12


@classes
@pytest.mark.parametrize("max_iter", [0, 1])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_fit_that_is_cut_short_says_by_how_much(K, max_iter, C):
    X, y, _ = classification(5, n=400, classes=K)
    model = LogisticRegression(max_iter=max_iter, C=C)
    with pytest.warns(NotCertifiedWarning, match=f"stopped at max_iter={max_iter} before") as told:
        model.fit(X, y)
    assert [w.filename for w in told] == [__file__]
    assert "Raise max_iter" in str(told[0].message)
    assert model.n_iter_ == [max_iter]
    best = LogisticRegression(C=C, tol=1e-12).fit(X, y).certificate_
    c = model.certificate_
    assert not c.certified
    assert c.objective > best.objective
    assert c.gap >= c.objective - best.objective - best.gap
    if c.bound is not None:
        assert c.bound <= best.objective
    if C == 1 and K == 2 and max_iter == 1:
        assert re.search(
            r"best possible between \S+ and \S+, so up to \S+ % too high", told[0].message.args[0]
        )


@classes
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_a_warm_start_at_the_optimum_takes_no_step(K, l1_ratio):
    X, y, _ = classification(5, n=400, classes=K)
    model = LogisticRegression(warm_start=True, l1_ratio=l1_ratio).fit(X, y)
    cold, first = int(model.n_iter_[0]), model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_[0] <= 1 < cold
    np.testing.assert_allclose(model.coef_, first, atol=1e-3)
    assert model.certificate_.certified
    near = model.set_params(C=1.05).fit(X, y)
    assert near.n_iter_[0] <= cold
    agree(near, LogisticRegression(C=1.05, l1_ratio=l1_ratio, tol=1e-10).fit(X, y), 5e-3)


def test_a_warm_start_from_another_problem_starts_anew():
    X, y, _ = classification(5, classes=3)
    model = LogisticRegression(warm_start=True).fit(X, y)
    for data in ((X, (y > 0).astype(int)), (X[:, :2], (y > 0).astype(int)), (X, y)):
        model.fit(*data)
        np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(*data).coef_)


def test_a_warm_start_continues_what_max_iter_ended():
    X, y, _ = classification(5)
    model = LogisticRegression(max_iter=1, warm_start=True)
    for _ in range(12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            model.fit(X, y)
    assert model.certificate_.certified


def test_a_second_fit_gives_the_same_bits():
    X, y, _ = classification(5, classes=3)
    model = LogisticRegression().fit(X, y)
    first = model.coef_.copy()
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)


@classes
def test_verbose_prints_a_line_for_each_iteration(K, capsys):
    X, y, _ = classification(5, classes=K)
    LogisticRegression().fit(X, y)
    assert capsys.readouterr().out == ""
    model = LogisticRegression(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_[0] + 1 == len(model.certificate_.trace)
    for i, line in enumerate(lines):
        assert line.startswith(f"LogisticRegression: iteration {i}, objective ")
        assert "above the best possible" in line
    values = [float(re.search(r"objective (\S+?)(, |$)", line)[1]) for line in lines]
    assert values == sorted(values, reverse=True)
    LogisticRegression(C=np.inf, verbose=True).fit(X, y)
    assert "bound" not in capsys.readouterr().out


# --- data of every kind ---------------------------------------------------------------------------

KINDS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "long double": lambda X: X.astype(np.longdouble),
    "Fortran order": np.asfortranarray,
    "a view": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "lists": lambda X: X.tolist(),
    "a frame": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr matrix": sparse.csr_matrix,
    "lil": sparse.lil_array,
}


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


@classes
@pytest.mark.parametrize("kind", [*KINDS, "read only"])
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_the_same_numbers_in_another_dress_are_the_same_fit(K, kind, solver):
    X, y, _ = classification(6, classes=K)
    X = np.round(8 * X) / 8 * (np.abs(X) > 0.3)  # some zeros; exact in half precision
    s = weights(6, len(X))
    plain = LogisticRegression(solver=solver, tol=1e-12).fit(X, y, s)
    dressed = {**KINDS, "read only": read_only}[kind](X)
    model = LogisticRegression(solver=solver, tol=1e-12).fit(dressed, y, s)
    agree(model, plain)
    np.testing.assert_allclose(model.predict_proba(dressed), plain.predict_proba(X), atol=1e-7)
    assert model.certificate_.certified
    assert model.coef_.dtype == np.float64
    assert certus.verify(model, dressed, y, s).certified


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool])
@classes
def test_whole_numbers_and_truth_values_are_numbers(dtype, K):
    X, y, _ = classification(6, classes=K)
    X = np.clip(np.round(40 * X), -128, 127) if dtype == np.int8 else np.round(2 * X) > 0
    X = X.astype(dtype)
    model = LogisticRegression(tol=1e-10).fit(X, y)
    agree(model, LogisticRegression(tol=1e-10).fit(X.astype(float), y), 1e-8)
    assert model.certificate_.certified


def test_memory_maps_are_read_in_place(tmp_path):
    X, y, _ = classification(6)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    on_disk = np.load(tmp_path / "X.npy", mmap_mode="r"), np.load(tmp_path / "y.npy", mmap_mode="r")
    agree(LogisticRegression().fit(*on_disk), LogisticRegression().fit(X, y), 1e-12)


@classes
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_explicit_zeros_duplicates_and_unsorted_indices_of_sparse_rows(K, solver):
    X, y, _ = classification(6, classes=K)
    X = X * (np.abs(X) > 1)
    row, column = np.nonzero(X)
    value = X[row, column]
    # each entry as two halves, in a random order, and a zero in every place that has none
    zero = np.argwhere(X == 0)
    row = np.r_[row, row, zero[:, 0]]
    column = np.r_[column, column, zero[:, 1]]
    value = np.r_[value / 2, value / 2, np.zeros(len(zero))]
    order = np.random.default_rng(0).permutation(len(row))
    odd = sparse.coo_array((value[order], (row[order], column[order])), shape=X.shape)
    before = odd.data.copy()
    model = LogisticRegression(solver=solver, tol=1e-12).fit(odd, y)
    agree(model, LogisticRegression(solver=solver, tol=1e-12).fit(X, y))
    np.testing.assert_array_equal(odd.data, before)
    assert certus.verify(model, odd, y).certified


def test_sparsify_keeps_predictions_and_the_certificate():
    X, y, _ = classification(6, p=8)
    model = LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, y)
    assert (model.coef_ == 0).any()
    before = model.predict_proba(X)
    assert model.sparsify() is model
    assert sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert certus.verify(model, X, y).certified
    assert not sparse.issparse(model.densify().coef_)
    model.sparsify().set_params(warm_start=True).fit(X, y)
    assert not sparse.issparse(model.coef_)


# --- nasty inputs ---------------------------------------------------------------------------------


@classes
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_shift_by_3000_changes_nothing(K, C):
    X, y, _ = classification(7, classes=K)
    here = LogisticRegression(C=C, tol=1e-10).fit(X, y)
    there = LogisticRegression(C=C, tol=1e-10).fit(X + 3000, y)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-7)
    np.testing.assert_allclose(there.predict_proba(X + 3000), here.predict_proba(X), atol=1e-7)
    assert there.certificate_.certified
    assert there.n_iter_ <= here.n_iter_ + 1


@classes
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
def test_columns_of_other_scales_are_certified(K, C, solver):
    X, y, _ = classification(7, n=200, p=3, classes=K)
    d = np.array([1, 1e5, 1])
    model = LogisticRegression(C=C, solver=solver).fit(X * d, y)
    assert model.certificate_.certified
    if np.isinf(C):
        agree_in_units = LogisticRegression(C=C).fit(X, y).coef_
        np.testing.assert_allclose(model.coef_ * d, agree_in_units, atol=5e-3)


@pytest.mark.parametrize("y", [np.zeros(20, dtype=int), ["yes"] * 20, [True] * 20], ids=str)
def test_one_class_is_refused_in_plain_words(y):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=r"y holds only one class, .* \(20 rows\)"):
        LogisticRegression().fit(X, y)


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("size", [1e200, 1e150, 1e-150, 1e-200])
@classes
def test_columns_near_the_limits_of_float64(K, size, solver):
    X, y, _ = classification(7, classes=K)
    model = LogisticRegression(solver=solver)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(size * X, y)
    if size > 1:  # as good as unpenalised
        truth = LogisticRegression(C=np.inf).fit(X, y).predict_proba(X)
    else:  # as good as absent
        truth = np.broadcast_to(np.bincount(y) / len(y), (len(y), K))
    np.testing.assert_allclose(model.predict_proba(size * X), truth, atol=2e-3)
    # of three classes, the penalty of what all scores share is below rounding: not proven
    assert {w.category for w in told} <= ({NotCertifiedWarning} if K == 3 and size > 1 else set())


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("size", [1e200, 1e150, 1e-150, 1e-200])
def test_one_column_near_the_limits_of_float64(size, solver):
    X, y, _ = classification(7)
    d = np.array([size, 1, 1, 1])
    model = LogisticRegression(solver=solver, tol=1e-8).fit(X * d, y)  # warnings are errors
    assert model.certificate_.certified
    like = np.array([1e5, 1, 1, 1]) if size > 1 else np.array([0, 1, 1, 1])
    here = LogisticRegression(tol=1e-8).fit(X * like, y)
    np.testing.assert_allclose(model.coef_[0, 1:], here.coef_[0, 1:], atol=1e-4)


@classes
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_units_of_1e200_and_no_penalty(K, size):
    X, y, _ = classification(7, classes=K)
    d = np.array([size, 1, 1 / size, 1])
    model = LogisticRegression(C=np.inf, tol=1e-9).fit(X * d, y)
    here = LogisticRegression(C=np.inf, tol=1e-9).fit(X, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_ * d, here.coef_, atol=1e-5)


@classes
@pytest.mark.parametrize("value", [1e200, -1e200])
def test_a_row_of_1e200_is_either_fitted_or_named_as_the_cause(K, value):
    X, y, _ = classification(7, classes=K)
    X[5, 2] = value
    model = LogisticRegression()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert {w.category for w in caught} <= {NotCertifiedWarning}
    if not model.certificate_.certified:
        assert "column scales differ by" in str(caught[0].message)


@classes
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("value", [0.0, 7.0, 1e9])
def test_a_constant_column_gets_no_coefficient(K, solver, value):
    X, y, _ = classification(7, classes=K)
    more = np.column_stack([X, np.full(len(X), value)])
    model = LogisticRegression(solver=solver, tol=1e-10).fit(more, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[:, 4], 0, atol=1e-12)
    here = LogisticRegression(tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_[:, :4], here.coef_, atol=1e-7)


@classes
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_columns_of_zeros_alone_leave_the_intercept(K, solver):
    _, y, _ = classification(7, classes=K)
    model = LogisticRegression(solver=solver).fit(np.zeros((len(y), 3)), y)
    np.testing.assert_array_equal(model.coef_, 0)
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 3)))[0], share, rtol=1e-12)
    assert model.certificate_.certified
    nothing = LogisticRegression(fit_intercept=False).fit(np.zeros((len(y), 3)), y)
    np.testing.assert_allclose(nothing.predict_proba(np.zeros((1, 3)))[0], 1 / K)


@classes
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_a_column_given_twice_shares_its_coefficient(K, solver):
    X, y, _ = classification(7, classes=K)
    model = LogisticRegression(solver=solver, tol=1e-10).fit(X[:, [0, 1, 2, 3, 0]], y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 4], atol=1e-7)
    # w₀ = w₄ = v/2: ½(v²/4 + v²/4) is what a column √2 as large pays for v/√2
    here = LogisticRegression(tol=1e-10).fit(X * [np.sqrt(2), 1, 1, 1], y)
    np.testing.assert_allclose(model.coef_[:, 0] * 2, here.coef_[:, 0] * np.sqrt(2), atol=1e-6)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_class_with_one_row(C):
    X, y, _ = classification(7, classes=2)
    y = y.copy()
    y[np.argmin((X**2).sum(axis=1))] = 2  # amid the others
    model = LogisticRegression(C=C, tol=1e-10).fit(X, y)
    assert model.certificate_.certified
    agree(model, tight(C=C).fit(X, y), 1e-6)


def test_one_of_three_classes_that_lies_apart_is_no_finite_optimum():
    """… although the other two overlap. Its only row touches the plane that a program finds."""
    for seed, n in [*((seed, 90) for seed in range(6)), (0, 20_000)]:
        X, y, _ = classification(seed, n)
        y = y.copy()
        y[np.argmax((X**2).sum(axis=1))] = 2  # farther out than all others
        with pytest.warns(SeparationWarning, match="no finite optimum"):
            model = LogisticRegression(C=np.inf).fit(X, y)
        assert model.certificate_.status == "no finite optimum"


@pytest.mark.parametrize("n", [3, 5, 20])
def test_as_many_classes_as_rows(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    model = LogisticRegression(tol=1e-10).fit(X, np.arange(n))
    assert model.coef_.shape == (n, 3)
    assert model.certificate_.certified
    agree(model, tight().fit(X, np.arange(n)))
    with pytest.warns(SeparationWarning, match="no finite optimum"):
        model = LogisticRegression(C=np.inf).fit(X, np.arange(n))
    assert model.certificate_.status == "no finite optimum"


def test_more_classes_than_columns_and_nearly_a_class_a_row_are_told():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(UserWarning, match="every row has a class of its own in 30 rows"):
        model = LogisticRegression().fit(X, np.arange(30))
    assert model.certificate_.certified


@pytest.mark.parametrize(
    ("missing", "row"), [(np.nan, 3), (None, 3), (pd.NA, 3), (float("nan"), 0)], ids=str
)
def test_a_missing_label_is_named_with_its_row(missing, row):
    X, y, _ = classification(7)
    labels = y.astype(object)
    labels[row] = missing
    with pytest.raises(ValueError, match=rf"y has 1 missing label .*row {row}\)"):
        LogisticRegression().fit(X, labels)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("dress", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_missing_value_is_named_with_row_and_column(bad, solver, dress):
    X, y, _ = classification(7)
    X[6, 2] = bad
    with pytest.raises(ValueError, match=r"column 2 of X has 1 .*row 6\)"):
        LogisticRegression(solver=solver).fit(dress(X), y)
    fitted = LogisticRegression().fit(np.nan_to_num(X, posinf=0, neginf=0), y)
    with pytest.raises(ValueError, match=r"column 2 of X has 1 .*row 6\)"):
        fitted.predict(dress(X))


def test_one_row_two_rows_and_one_column():
    with pytest.raises(ValueError, match=r"only one class, 1 \(1 row\)"):
        LogisticRegression().fit([[1.0, 2.0]], [1])
    two = LogisticRegression(tol=1e-10).fit([[1.0], [2.0]], [0, 1])
    assert two.certificate_.certified
    # both rows pull alike: w = 1 − σ(w/2) solved by hand, b puts the border in the middle
    w = two.coef_[0, 0]
    assert w == pytest.approx(1 / (1 + np.exp(w / 2)), abs=1e-7)
    assert two.intercept_[0] == pytest.approx(-1.5 * w, abs=1e-7)
    X, y, _ = classification(7, p=1)
    agree(LogisticRegression(tol=1e-12).fit(X, y), tight().fit(X, y))
    with pytest.raises(ValueError, match="0 feature"):
        LogisticRegression().fit(np.empty((20, 0)), np.arange(20) % 2)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("dress", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_separable_classes_are_named_not_fitted(intercept, dress):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 2)
    X[:, 1] += np.where(X[:, 1] > 0, 0.5, -0.5)
    y = np.where(X[:, 1] > 0, "malignant", "benign")
    model = LogisticRegression(C=np.inf, fit_intercept=intercept)
    with pytest.warns(SeparationWarning) as told:
        model.fit(dress(X), y)
    assert len(told) == 1
    assert told[0].filename == __file__
    text = str(told[0].message)
    assert text.startswith("no finite optimum. Every row with column 1 > ")
    assert f"is 'malignant' ({(X[:, 1] > 0).sum()} rows)" in text
    assert "Do not read the coefficients" in text
    assert model.certificate_.status == "no finite optimum"
    assert not model.certificate_.certified
    assert LogisticRegression(fit_intercept=intercept).fit(dress(X), y).certificate_.certified


@classes
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_column_given_twice_and_no_penalty(K, intercept, solver, seed):
    X, y, _ = classification(seed, n=120, classes=K)
    more = X[:, [0, 1, 2, 3, 0]]
    parameters = {"C": np.inf, "tol": 1e-8, "solver": solver, "fit_intercept": intercept}
    model = LogisticRegression(**parameters)
    with pytest.warns(AliasWarning, match="column 4 = column 0") as told:
        model.fit(more, y)
    assert [w.filename for w in told] == [__file__]
    assert model.certificate_.certified
    here = LogisticRegression(**parameters).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(more), here.predict_proba(X), atol=1e-4)
    # of all that do, the smallest
    np.testing.assert_allclose(model.coef_[:, 0] * 2, here.coef_[:, 0], atol=1e-3)
    np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 4], atol=1e-9)


@classes
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_a_constant_column_and_no_penalty(K, seed, value):
    X, y, _ = classification(seed, n=120, classes=K)
    model = LogisticRegression(C=np.inf)
    with pytest.warns(AliasWarning, match="column 4 is constant"):
        model.fit(np.column_stack([X, np.full(len(X), value)]), y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[:, 4], 0, atol=1e-9)


def test_a_spoiled_coefficient_of_any_kind_is_refused():
    for K, C, value in itertools.product((2, 3), (1.0, np.inf), (np.nan, np.inf, 1e308)):
        X, y, _ = classification(7, classes=K)
        model = LogisticRegression(C=C).fit(X, y)
        model.coef_[0, 1] = value
        assert not certus.verify(model, X, y).certified
        model.coef_[0, 1] = 0
        model.intercept_[0] = value
        assert not certus.verify(model, X, y).certified


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


def test_a_separation_that_rounding_hides_is_not_called_stationary():
    # two groups of classes share a plane, turned so that no float lies on it
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 400)
    side = np.where(group == 0, -1.0, 1.0) * rng.integers(0, 4, 400)
    other = rng.normal(size=400)
    y = 2 * group + (other + rng.logistic(size=400) > 0)
    X = np.column_stack([side, other]) @ np.array([[1.0, 0.3], [-0.7, 1.1]])
    with pytest.warns(NotCertifiedWarning):
        model = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    assert not model.certificate_.certified
    assert not certus.verify(model, X, y, tol=1e-3).certified
