"""A certificate must be a real check: it sees what is wrong, and never promises too much."""

import importlib
import inspect
import pkgutil
import warnings
from contextlib import contextmanager

import mpmath as mp
import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy.optimize import nnls

import certus
from certus import linear_model, solvers
from certus.exceptions import CannotVerifyError, NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.proofs.least_squares import least_squares
from tests.contract.laws import ESTIMATORS, Law
from tests.contract.problems import (
    DIGITS,
    by_normal_equations,
    collinear,
    exact,
    left_out_squares,
    objective,
    plain,
    regression,
    weights,
)

each_case = pytest.mark.parametrize("case", ESTIMATORS, ids=str)


@contextmanager
def warnings_of():
    """All warnings, kept; those that a test does not expect it must look for itself."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def fit(case: Law, X, y, s=None):
    with warnings_of():
        model = case.make().fit(X, y, sample_weight=s)
    assert certus.verify(model, X, y, s).certified
    return model


def certified(model, X, y):
    """Is it, or is it refused for what it says of its classes?"""
    try:
        return certus.verify(model, X, y).certified
    except CannotVerifyError:
        return False


def function_at(place: str):
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)


def solver_functions():
    for info in pkgutil.walk_packages(solvers.__path__, "certus.solvers."):
        module = importlib.import_module(info.name)
        for _, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == info.name:
                yield function


def refuse(*_, **__):
    raise AssertionError("a certificate asked a solver")


# --- the check does not trust, and does not solve -------------------------------------------------


@each_case
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_verify_works_where_every_solver_and_every_fit_raises(
    case, weighted, patch_everywhere, monkeypatch
):
    X, y, _ = case.draw(3)
    s = weights(3, len(X)) if weighted else None
    model = fit(case, X, y, s)
    functions = list(solver_functions())
    assert functions
    patch_everywhere(*functions, new=refuse)
    for name in linear_model.__all__:
        monkeypatch.setattr(getattr(linear_model, name), "fit", refuse)
        if hasattr(peers, name):
            monkeypatch.setattr(getattr(peers, name), "fit", refuse)
    certificate = certus.verify(model, X, y, s, tol=model.certificate_.tol)
    assert certificate.certified == model.certificate_.certified
    assert certificate.objective == model.certificate_.objective
    assert certificate.gap == model.certificate_.gap
    assert certus.verify(model, X, y, s).certified
    with pytest.raises(AssertionError, match="asked a solver"):
        case.make().fit(X, y)


@each_case
@pytest.mark.parametrize("factor", [1.01, 0.0, -1.0, np.nan], ids=str)
def test_a_fit_warns_when_its_solver_returns_something_else(case, factor, patch_everywhere):
    X, y, _ = case.draw(3)
    solve = function_at(case.solver)

    def spoiled(*args, **kwargs):
        solution = solve(*args, **kwargs)
        return solution._replace(w=solution.w * factor)

    patch_everywhere(solve, new=spoiled)
    with warnings_of() as caught:
        model = case.make().fit(X, y)
    assert not model.certificate_.certified
    warned = [w for w in caught if issubclass(w.category, NotCertifiedWarning)]
    # one warning a fit; those of a search's own fits are theirs
    warned = [w for w in warned if str(w.message).split()[0].strip(":") == type(model).__name__]
    assert len(warned) == 1
    assert warned[0].filename == __file__, "the warning points at the person's own line"


@each_case
def test_a_fit_warns_when_its_solver_returns_another_intercept(case, patch_everywhere):
    X, y, _ = case.draw(3)
    if not case.make().fit_intercept:
        pytest.skip("there is no intercept to spoil")
    given = case.make().get_params()
    if given.get("solver") == "liblinear" or (
        "intercept_scaling" in given and given.get("loss") == "squared_hinge"
    ):
        pytest.skip("the solver knows it as a coefficient, which the test above spoils")
    solve = function_at(case.solver)

    def spoiled(*args, **kwargs):
        solution = solve(*args, **kwargs)
        # not by the same for each class, which would change no probability
        return solution._replace(b=solution.b + 0.1 * np.arange(1, np.size(solution.b) + 1))

    patch_everywhere(solve, new=spoiled)
    with warnings_of() as caught:
        model = case.make().fit(X, y)
    assert not model.certificate_.certified
    assert any(issubclass(w.category, NotCertifiedWarning) for w in caught)


def claims(case: Law, model):
    """Fitted attributes that say something about the data."""
    about_itself = {"n_features_in_", "feature_names_in_", "solver_", "certificate_"}
    if "_triangle" in vars(model):
        model.singular_  # computed when looked at
    silent = about_itself | set(case.no_claim)
    for name, value in sorted(vars(model).items()):
        fitted = name.endswith("_") and not name.startswith("_")
        if fitted and name not in silent and np.size(value):
            yield name, value


def edits(value, least=1e-3):
    """The value, with all of it or one of its larger entries moved by 1 % (whole numbers by 1).

    ``least``: as a share of the largest, what is worth an edit.
    """
    array = np.asarray(value)
    if array.dtype.kind == "i":
        yield from (value - 1, value + 1)
        if array.size > 1:  # the names of classes
            yield array[::-1]
        return
    yield type(value)(value * 1.01) if array.ndim == 0 else array * 1.01
    if array.size > 1:
        size = np.abs(array)
        entries = np.argsort(size, axis=None)[::-1][: 4 if array.size < 8 else 1]
        for i in entries:
            moved = array.copy()
            moved.flat[i] += 0.01 * (moved.flat[i] or size.max())
            if size.flat[i] > least * size.max() or size.flat[i] == 0:
                yield moved


@each_case
def test_every_fitted_attribute_that_is_edited_by_one_percent_is_refused(case):
    model = case.make()
    X, y, _ = case.draw(3)
    if model.fit_intercept:  # one that is worth a percent
        X, y = (X, y + 30) if case.classes is None else (X + 3, y)
    model = fit(case, X, y)
    checked, accepted = set(), []
    # 1 % of a small coefficient is worth less than 1e-6 of what labels leave to explain
    least = 1e-3 if case.classes is None else 0.5
    for name, value in claims(case, model):
        if name == "intercept_" and not model.fit_intercept:
            continue  # the next test
        for edited in edits(value, least):
            setattr(model, name, edited)
            if certified(model, X, y):
                accepted.append(f"{name} = {edited} instead of {value}")
        setattr(model, name, value)
        checked.add(name)
    assert certus.verify(model, X, y).certified
    assert "coef_" in checked
    assert ("classes_" in checked) == (case.classes is not None)
    assert not accepted


@pytest.mark.parametrize("case", [c for c in ESTIMATORS if not c.make().fit_intercept], ids=str)
def test_an_intercept_that_the_model_says_it_has_not_is_refused(case):
    X, y, _ = case.draw(3)
    X = X - X.mean(axis=0)  # so that the normal equations cannot see it
    model = fit(case, X, y)
    model.intercept_ = model.intercept_ + 1e-9
    certificate = certus.verify(model, X, y)
    assert not certificate.certified
    assert "fit_intercept=False" in certificate.explain()


def test_a_negative_coefficient_is_refused_where_the_model_excludes_it():
    X, y, _ = regression(3)  # some of the best coefficients are negative
    model = LinearRegression().fit(X, y)
    assert model.coef_.min() < 0
    model.positive = True
    certificate = certus.verify(model, X, y)
    assert not certificate.certified
    assert "below 0" in certificate.explain()


def test_the_choice_of_alpha_is_recomputed():
    X, y, _ = regression(3, n=30, noise=4.0)
    model = RidgeCV(alphas=[0.1, 10.0, 1000.0]).fit(X, y)
    other = Ridge(alpha=1000.0).fit(X, y)
    assert model.alpha_ != 1000.0
    # a right fit at an α that was not the best choice, with its right score
    model.alpha_, model.coef_, model.intercept_ = 1000.0, other.coef_, other.intercept_
    model.best_score_ = -left_out_squares(X, y, None, 1000.0).mean()
    certificate = certus.verify(model, X, y)
    assert certificate.status == "contradicted"
    assert "has a smaller error" in certificate.explain()


# --- the check accepts what is right, whoever found it --------------------------------------------


def claimed(model, w, b, y, **attributes):
    """A model that nothing fitted: w (p, k) and b (k,) put in by hand."""
    one = np.ndim(y) == 1
    model.coef_ = w[:, 0] if one else w.T
    model.intercept_ = b[0] if one else b
    model.n_features_in_ = len(w)
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


SHAPES = [(8, 1), (12, 3), (40, 4), (30, 12), (300, 6), (2000, 3)]


def random_problem(seed):
    """One of many: shapes, targets, weights, offsets and units vary."""
    rng = np.random.default_rng(seed)
    n, p = SHAPES[seed % len(SHAPES)]
    X, y, _ = regression(seed, n, p, k=[None, 1, 3][seed % 3], noise=rng.choice([1e-6, 0.5, 20.0]))
    s = rng.uniform(0.1, 3, size=n) if seed % 2 else None
    X = X * 10 ** rng.uniform(-3, 3, size=p) + rng.choice([0.0, 1.0, 1e5], size=p)
    return X, y, s, bool(rng.integers(4))


def peers_answer(X, y, s, alpha, *, intercept):
    # columns of one size and tol=0: else it drops some
    size = np.sqrt(((X - intercept * X.mean(axis=0)) ** 2).mean(axis=0))
    peer = peers.LinearRegression(fit_intercept=intercept, tol=0.0)
    if alpha:
        size = np.ones(X.shape[1])
        peer = peers.Ridge(alpha=alpha, fit_intercept=intercept, solver="svd")
    peer.fit(X / size, y, sample_weight=s)
    w = np.atleast_2d(peer.coef_).T / size[:, None]
    return w, np.broadcast_to(np.ravel(peer.intercept_), w.shape[1:])


@pytest.mark.parametrize("solve", [plain, by_normal_equations, peers_answer])
@pytest.mark.parametrize("alpha", [0.0, 3.0], ids=["least squares", "ridge"])
def test_a_hundred_answers_of_independent_solvers_are_accepted(solve, alpha):
    for seed in range(100):
        X, y, s, intercept = random_problem(seed)
        w, b = solve(X, y, s, alpha, intercept=intercept)
        model = LinearRegression() if alpha == 0 else Ridge(alpha=alpha)
        model = claimed(model.set_params(fit_intercept=intercept), w, b, y)
        certificate = certus.verify(model, X, y, s)
        assert certificate.certified, (seed, certificate.explain())


@pytest.mark.parametrize("alpha", [0.0, 3.0], ids=["least squares", "ridge"])
def test_a_hundred_nonnegative_answers_of_an_independent_solver_are_accepted(alpha):
    for seed in range(100):
        X, y, _ = regression(seed, n=40, p=5)
        s = np.random.default_rng(seed).uniform(0.1, 3, size=40) if seed % 2 else np.ones(40)
        mean, mean_y = s @ X / s.sum(), s @ y / s.sum()
        A = np.vstack([np.sqrt(s)[:, None] * (X - mean), np.sqrt(alpha) * np.eye(5)])
        w = nnls(A, np.concatenate([np.sqrt(s) * (y - mean_y), np.zeros(5)]))[0][:, None]
        model = LinearRegression(positive=True)
        model = model if alpha == 0 else Ridge(alpha=alpha, positive=True)
        model = claimed(model, w, mean_y - mean @ w, y)
        certificate = certus.verify(model, X, y, s if seed % 2 else None)
        assert certificate.certified, (seed, certificate.explain())


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
def test_choices_of_alpha_by_as_many_fits_as_rows_are_accepted(intercept):
    for seed in range(20):
        n, p = [(14, 3), (9, 12)][seed % 2]
        X, y, _ = regression(seed, n, p, k=[None, 2][seed // 2 % 2], noise=3.0)
        s = np.random.default_rng(seed).uniform(0.1, 3, size=n) if seed % 3 else None
        alphas = np.array([0.01, 1.0, 30.0])
        scores = [-left_out_squares(X, y, s, a, intercept=intercept).mean() for a in alphas]
        best = int(np.argmax(scores))
        w, b = plain(X, y, s, alphas[best], intercept=intercept)
        model = RidgeCV(alphas=alphas, fit_intercept=intercept)
        model = claimed(model, w, b, y, alpha_=alphas[best], best_score_=scores[best])
        certificate = certus.verify(model, X, y, s)
        assert certificate.certified, (seed, certificate.explain())


# --- the gap is never below the truth -------------------------------------------------------------

KINDS = {
    "whole numbers": lambda rng, n, p: rng.integers(-9, 10, size=(n, p)).astype(float),
    "far from the origin": lambda rng, n, p: rng.integers(-9, 10, size=(n, p)) + 1e6,
    "very far": lambda rng, n, p: rng.normal(size=(n, p)) + 1e9,
    "units apart": lambda rng, n, p: rng.normal(size=(n, p)) * 10.0 ** rng.choice([-8, 8], p),
    "collinear": lambda rng, n, p: collinear(int(rng.integers(99)), n, p, 1e5),
    "nearly dependent": lambda rng, n, p: collinear(int(rng.integers(99)), n, p, 1e10),
    "very small": lambda rng, n, p: rng.normal(size=(n, p)) * 1e-90,
    "very large": lambda rng, n, p: rng.normal(size=(n, p)) * 1e120,
    "one outlier": lambda rng, n, p: rng.normal(size=(n, p)) + 1e5 * np.eye(n, p),
}
STEPS = [0.0, 1e-14, 1e-11, 1e-8, 1e-6, 1e-4, 1e-2, 1.0]


def small_problem(kind, seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(6, 16)), int(rng.integers(1, 5))
    X = KINDS[kind](rng, n, p)
    size = np.abs(X - X.mean(axis=0)).max(axis=0)
    y = (X - X.mean(axis=0)) / size @ rng.normal(size=p) + rng.choice(
        [0.0, 1e-3, 1.0]
    ) * rng.normal(size=n)
    y += rng.choice([0.0, 5.0, 1e7])
    s = rng.choice([0.5, 1.0, 3.0, 0.0], p=[0.3, 0.3, 0.3, 0.1], size=n) if seed % 2 else None
    return X, y, s, rng


def as_floats(values):
    return np.array([float(v) for v in values])


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("relative_alpha", [0.0, 1e-6, 1.0], ids=["α=0", "small α", "α"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_printed_gap_is_never_below_the_true_one(kind, relative_alpha, intercept):
    """Against 80-digit optima, from answers wrong by nothing to wrong altogether.

    tol picks the proof: a huge one stops at the first, 0 goes to the last.
    """
    for seed in range(4):
        X, y, s, rng = small_problem(kind, seed)
        alpha = float(relative_alpha * np.mean((X - intercept * X.mean(axis=0)) ** 2))
        best = exact(X, y, s, alpha, intercept=intercept)
        w_best, b_best = as_floats(best.w), float(best.b)
        direction = rng.normal(size=len(w_best)) * np.abs(w_best).max()
        rounding = None
        for step in STEPS:
            w = w_best + step * direction
            # the intercept follows, for the most part, so that not all is in Σ r
            b = float(b_best - step * (X.mean(axis=0) @ direction)) if intercept else 0.0
            f = objective(X, y, s, w, b, alpha)
            model = LinearRegression() if alpha == 0 else Ridge(alpha=alpha)
            model = claimed(model.set_params(fit_intercept=intercept), w[:, None], [b], y)
            for tol in (1e6, 1e-6, 0.0):
                c = certus.verify(model, X, y, s, tol=tol)
                with mp.workdps(DIGITS):
                    true = f - best.objective
                    assert true >= 0
                    assert mp.mpf(c.bound) <= best.objective, (seed, step, tol)
                    assert mp.mpf(c.gap) >= true, (seed, step, tol)
                    if c.coef_error is not None:
                        off = max(abs(mp.mpf(float(a)) - e) for a, e in zip(w, best.w, strict=True))
                        assert mp.mpf(c.coef_error) >= off, (seed, step, tol)
                    if tol == 0:  # the proof from all rows is tight
                        rounding = c.gap if rounding is None else rounding
                        assert c.gap <= 10 * true + 10 * rounding, (seed, step)


def test_rounding_of_the_gradient_counts_along_directions_that_hardly_curve():
    """y is orthogonal to all columns but for rounding, which a condition of 1e12 makes large."""
    gaps = []
    for seed in range(20):
        X = collinear(seed, 15, 3, 1e12)
        y = np.random.default_rng(seed).normal(size=15)
        for _ in range(3):
            y -= X @ np.linalg.lstsq(X, y, rcond=None)[0]
        best = exact(X, y, intercept=False)
        model = claimed(LinearRegression(fit_intercept=False), np.zeros((3, 1)), [0.0], y)
        for tol in (1e-6, 1e-14, 0.0):
            c = certus.verify(model, X, y, tol=tol)
            with mp.workdps(DIGITS):
                true = objective(X, y, None, np.zeros(3), 0.0) - best.objective
                assert mp.mpf(c.bound) <= best.objective, (seed, tol)
                assert mp.mpf(c.gap) >= true, (seed, tol)
        gaps.append(float(true / best.objective))
    assert max(gaps) > 1e-11, "rounding did nothing here: a weak test"


@pytest.mark.parametrize("alpha", [0.0, 2.0], ids=["least squares", "ridge"])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
def test_the_gap_over_nonnegative_coefficients_is_never_below_the_true_one(alpha, intercept):
    """Against the best of all sets of columns, in 80 digits."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(5, 12)), int(rng.integers(1, 5))
        X = rng.integers(-9, 10, size=(n, p)) + (1e6 if seed % 3 == 0 and intercept else 0.0)
        y = rng.normal(size=n) + X @ rng.normal(size=p)
        s = rng.choice([0.5, 1.0, 3.0], size=n) if seed % 2 else None
        best = exact(X, y, s, alpha, intercept=intercept, positive=True)
        for step in STEPS:
            w = np.maximum(as_floats(best.w) + step * rng.normal(size=p), 0.0)
            b = float(best.b) + (step if intercept else 0.0)
            model = LinearRegression() if alpha == 0 else Ridge(alpha=alpha)
            model.set_params(fit_intercept=intercept, positive=True)
            model = claimed(model, w[:, None], [b], y)
            for tol in (1e6, 1e-6, 0.0):
                c = certus.verify(model, X, y, s, tol=tol)
                with mp.workdps(DIGITS):
                    true = objective(X, y, s, w, b, alpha) - best.objective
                    assert mp.mpf(c.bound) <= best.objective, (seed, step, tol)
                    assert mp.mpf(c.gap) >= true, (seed, step, tol)


def test_gaps_of_several_targets_add_up():
    X, y, _ = regression(1, n=12, p=3, k=2)
    best = [exact(X, y[:, t], alpha=a) for t, a in enumerate((0.5, 4.0))]
    w = np.array([as_floats(e.w) for e in best]).T * 1.02
    b = np.array([float(e.b) for e in best])
    c = certus.verify(claimed(Ridge(alpha=[0.5, 4.0]), w, b, y), X, y)
    with mp.workdps(DIGITS):
        f = sum(objective(X, y[:, t], None, w[:, t], b[t], a) for t, a in enumerate((0.5, 4.0)))
        optimum = best[0].objective + best[1].objective
        assert mp.mpf(c.bound) <= optimum
        assert f - optimum <= mp.mpf(c.gap) <= 10 * (f - optimum)


@pytest.mark.parametrize("tol", [1e6, 1e-6, 0.0])
@pytest.mark.parametrize("columns", [1, 2])
def test_a_gap_is_sound_where_all_weight_lies_far_from_half_the_rows(columns, tol):
    # weightless rows at the origin must not make a column that varies far away look constant
    rng = np.random.default_rng(0)
    near = np.round(64 * rng.normal(size=(40, columns))) / 64
    far = near.copy()
    far[:, 0] += 2.0**27
    X = np.vstack([np.zeros((40, columns)), far])
    y = np.concatenate([np.zeros(40), near.sum(axis=1) * 3 + rng.normal(size=40)])
    s = np.repeat([0.0, 1.0], 40)
    w, b = plain(near, y[40:])
    w[0] = 0.0  # wrong: its best value is 3
    b[0] = (y[40:] - near @ w[:, 0]).mean()
    best = exact(far, y[40:])
    model = claimed(LinearRegression(), w, b, y)
    c = certus.verify(model, X, y, s, tol=tol)
    with mp.workdps(DIGITS):
        true = objective(far, y[40:], None, w[:, 0], b[0]) - best.objective
        assert mp.mpf(c.bound) <= best.objective
        assert mp.mpf(c.gap) >= true
    assert not c.certified or tol == 1e6


def test_a_proof_from_some_of_many_rows_is_sound(monkeypatch):
    # coefficients that are far off would call for the curvature of all rows
    monkeypatch.setattr(least_squares, "MAX_COEF_SHARE", np.inf)
    rng = np.random.default_rng(0)
    X = np.round(64 * rng.normal(size=(2500, 2)) + [0, 1e4]) / 64
    y = X @ [1.0, 2.0] + rng.normal(size=2500)
    best = exact(X, y)
    for step in (0.0, 1e-9, 1e-3, 1.0):
        w, b = as_floats(best.w) + step, float(best.b) - step * X.mean(axis=0).sum()
        c = certus.verify(claimed(LinearRegression(), w[:, None], [b], y), X, y, tol=1e6)
        assert "subset" in c._finding.proof
        with mp.workdps(DIGITS):
            assert mp.mpf(c.bound) <= best.objective
            assert mp.mpf(c.gap) >= objective(X, y, None, w, b) - best.objective


def test_a_sample_of_rows_that_all_look_alike_does_not_fool_the_proof():
    # rows that matter are a handful among a million: the curvature seen by a subset is 0
    n = 300_000
    X, y = np.zeros((n, 2)), np.zeros(n)
    rare = [1, 77_777, 123_456, 200_000, n - 1]
    X[rare] = np.array([[1.0, 0], [0, 1], [1, 1], [2, 1], [1, 3]])
    y[rare] = X[rare] @ [2.0, -1.0] + np.array([0.1, 0, -0.1, 0, 0.1])
    model = LinearRegression().fit(X, y)
    assert model.certificate_.certified
    wrong = claimed(LinearRegression(), np.array([[2.0], [0.0]]), [0.0], y)
    assert not certus.verify(wrong, X, y).certified


def test_the_residual_is_the_gap_as_a_share_of_what_the_intercept_alone_leaves():
    X, y, _ = regression(4)
    c = LinearRegression().fit(X, y).certificate_
    assert c.residual == pytest.approx(c.gap / ((y - y.mean()) ** 2).sum(), rel=1e-9)
    # enlarged by what rounding can have done to the objective
    assert c.objective - c.bound <= c.gap <= c.objective - c.bound + 1e-12 * c.objective


@pytest.mark.parametrize(
    ("factor", "status"), [(1.0, "optimal"), (1.01, "nearly optimal"), (1.5, "not optimal")]
)
def test_status_follows_the_residual(factor, status):
    X, y, _ = regression(4)
    w, b = plain(X, y)
    c = certus.verify(claimed(LinearRegression(), w * factor, b, y), X, y)
    assert c.status == status
    assert c.certified == (status == "optimal")
    assert (c.residual <= 1e-6) == (status == "optimal")
    assert (c.residual <= 1e-3) == (status != "not optimal")


def test_tol_decides_what_is_called_optimal():
    X, y, _ = regression(4)
    w, b = plain(X, y)
    model = claimed(LinearRegression(), w * 1.01, b, y)
    assert certus.verify(model, X, y, tol=1e-2).certified
    assert not certus.verify(model, X, y, tol=1e-12).certified
    assert certus.verify(model, X, y, tol=1e-2).tol == 1e-2
