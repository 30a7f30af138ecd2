"""Estimators whose solver is named: which ran, its progress, stopping, and certificate."""

import importlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import certus
from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LogisticRegression, PenalizedClassifier, PenalizedRegressor
from certus.losses import Huber
from certus.penalties import L1, L2, MCP, ElasticNet
from certus.solvers import LBFGS, SAGA, SGD, GradientDescent, HeavyBall, Nesterov, Subgradient
from tests.contract.problems import classification, regression
from tests.runtime.progress_cases import Recorder

SURE = ("gd", "agd", "nesterov", "saga")  # they reach the optimum to the last digits
NAMED = (*SURE, "sgd", "asgd")
each_name = pytest.mark.parametrize("name", NAMED)
OBJECTS = {
    "gd": GradientDescent("wolfe"), "agd": HeavyBall(beta=0.5), "nesterov": Nesterov(),
    "sgd": SGD(schedule="1/t", average=3), "asgd": SGD(momentum=0.5, schedule="1/t"),
    "saga": SAGA(order="shuffle"),
}  # fmt: skip

CASES = {
    "two classes": lambda s: (PenalizedClassifier("logistic", L2(5.0), s), 2),
    "softmax": lambda s: (PenalizedClassifier("softmax", L2(5.0), s), 3),
    "against the rest": lambda s: (PenalizedClassifier("squared_hinge", L2(5.0), s), 3),
    "squares": lambda s: (PenalizedRegressor("squared", L2(5.0), s), None),
    "no intercept": lambda s: (PenalizedRegressor(Huber(1.0), L2(5.0), s, fit_intercept=False), 0),
    "two targets": lambda s: (PenalizedRegressor("squared", L2(5.0), s), -2),
    "LogisticRegression": lambda s: (LogisticRegression(C=0.2, solver=s), 2),
    "LogisticRegression, softmax": lambda s: (LogisticRegression(C=0.2, solver=s), 3),
}
each_case = pytest.mark.parametrize("case", CASES)


def make_case(case, solver):
    model, k = CASES[case](SAGA() if solver == "saga" else solver)  # the name alone means "auto"
    if k is not None and k > 0:
        X, y, _ = classification(3, n=120, p=3, classes=k)
    else:
        X, y, _ = regression(3, n=120, p=3, k=None if not k else -k)
    return model.set_params(max_iter=3000), X, y


@each_name
@each_case
def test_the_named_method_runs_and_its_gap_bounds_the_true_excess(case, name):
    model, X, y = make_case(case, name)
    best = make_case(case, "auto")[0].set_params(tol=1e-12).fit(X, y).certificate_.objective
    if name in SURE:
        model.fit(X, y)
        assert model.certificate_.certified
    else:
        with pytest.warns(NotCertifiedWarning, match=r"stopped at max_iter=60"):
            model.set_params(max_iter=60).fit(X, y)
        assert model.certificate_.status in ("nearly optimal", "not optimal")
    c = model.certificate_
    assert model.solver_ == name
    assert np.min(model.n_iter_) >= 1
    assert -1e-9 * best <= c.objective - best <= c.gap + 1e-9 * best
    assert c.objective - best < (1e-6 if name in SURE else 0.1) * best
    assert certus.verify(model, X, y).objective == pytest.approx(c.objective, rel=1e-12)
    if "rest" in case:
        return  # a class is a task of its own: no trace
    assert [point.iteration for point in c.trace] == list(range(len(c.trace)))
    assert c.trace[-1].iteration == np.sum(model.n_iter_)
    assert c.trace[-1].objective == pytest.approx(c.objective, rel=1e-9)
    passes = [point.passes for point in c.trace]
    assert passes == sorted(passes)
    assert passes[-1] >= np.sum(model.n_iter_)


@each_name
@each_case
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_the_object_runs_too_and_the_model_is_a_scikit_learn_model(case, name):
    model, X, y = make_case(case, OBJECTS[name])
    copy = clone(model)
    assert copy.solver is not OBJECTS[name]
    assert copy.get_params()["max_iter"] == 3000
    copy.set_params(max_iter=100).fit(X, y)
    assert copy.solver_ == name
    assert vars(copy.solver).keys() == vars(OBJECTS[name]).keys(), "a fit leaves it as it was"
    copy.set_params(solver="auto", max_iter=100).fit(X, y)
    assert copy.solver_ != name
    assert copy.certificate_.certified
    assert np.isfinite(copy.predict(X)).all()


class no_warning:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_logistic_regression_keeps_scikit_learns_meaning_of_saga():
    X, y, _ = classification(3, n=120, p=3)
    for solver in ("saga", "sag", "lbfgs"):
        assert LogisticRegression(solver=solver).fit(X, y).solver_ == "newton"
    assert LogisticRegression(solver=SAGA(), max_iter=2000).fit(X, y).solver_ == "saga"


@pytest.mark.parametrize("kind", [PenalizedClassifier, PenalizedRegressor])
def test_names_that_mean_auto_elsewhere_name_no_method(kind):
    X, y, _ = classification(3, n=120, p=3)
    for name, method in (("saga", "SAGA"), ("lbfgs", "LBFGS")):
        with pytest.raises(
            ValueError, match=rf"give certus\.solvers\.{method}\(\) for this method"
        ):
            kind(solver=name).fit(X, y)


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_the_seed_of_logistic_regression_reaches_the_draws():
    X, y, _ = classification(3, n=120, p=3)

    def coef(solver, seed):
        model = LogisticRegression(solver=solver, random_state=seed, max_iter=3)
        return model.fit(X, y).coef_

    for solver in ("sgd", "asgd"):
        np.testing.assert_array_equal(coef(solver, 1), coef(solver, 1))
        np.testing.assert_array_equal(coef(solver, None), coef(solver, None))
        assert not np.array_equal(coef(solver, 1), coef(solver, 2))
        state = np.random.RandomState(0)
        assert not np.array_equal(coef(solver, state), coef(solver, state)), "it moves on"
        np.testing.assert_array_equal(
            coef(solver, np.random.RandomState(5)), coef(solver, np.random.RandomState(5))
        )
    own = SGD(random_state=9)
    np.testing.assert_array_equal(coef(own, 1), coef(own, 2))


@each_name
def test_a_warm_start_begins_where_the_last_fit_ended(name):
    model, X, y = make_case("softmax", name)
    model.set_params(warm_start=True, tol=1e-12, max_iter=3)
    traces = []
    for _ in range(2):
        with pytest.warns(NotCertifiedWarning, match="max_iter=3"):
            traces.append(model.fit(X, y).certificate_.trace)
    first, second = traces
    assert second[0].objective == pytest.approx(first[-1].objective, rel=1e-9)
    assert second[-1].objective < first[0].objective
    for case in ("squares", "two targets"):
        model, X, y = make_case(case, name)
        best = make_case(case, "auto")[0].fit(X, y)
        model.coef_, model.intercept_ = best.coef_, best.intercept_
        model.set_params(warm_start=True).fit(X, y)
        assert np.sum(model.n_iter_) == 0, "there is nothing left to do"
        assert model.certificate_.certified


# --- watching -------------------------------------------------------------------------------------


@each_name
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_callbacks_hear_of_every_step_and_can_stop(name):
    model, X, y = make_case("two classes", name)
    recorder = Recorder()
    model.set_params(max_iter=7, tol=1e-12).set_callbacks(recorder).fit(X, y)
    assert sum("begin iteration" in line for line in recorder.heard) == 7
    model, X, y = make_case("squares", name)
    model.set_params(tol=1e-12).set_callbacks(Recorder(stop_after=2)).fit(X, y)
    assert model.n_iter_ == 2
    assert model.certificate_.status == "stopped"


@each_name
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_verbose_prints_a_line_for_each_step(name, capsys):
    model, X, y = make_case("softmax", name)
    model.set_params(max_iter=5, tol=1e-12, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert lines[-1].startswith("PenalizedClassifier: iteration 5, objective ")


MODULES = {
    "gd": "gradient_descent:GradientDescent", "agd": "heavy_ball:HeavyBall",
    "nesterov": "nesterov:Nesterov", "saga": "saga:SAGA", "sgd": "sgd:SGD", "asgd": "sgd:SGD",
}  # fmt: skip


@each_name
def test_ctrl_c_keeps_the_best_iterate_and_says_so(name, monkeypatch):
    module, attribute = MODULES[name].split(":")
    kind = getattr(importlib.import_module(f"certus.solvers.first_order.{module}"), attribute)
    plain, calls = kind.step, []

    def interrupted(self, problem, state):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return plain(self, problem, state)

    monkeypatch.setattr(kind, "step", interrupted)
    model, X, y = make_case("softmax", name)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.set_params(tol=1e-12).fit(X, y)
    assert "stopped by you after 5 iterations; the best one" in caught.value.__notes__[0]
    c = model.certificate_
    assert c.status == "stopped"
    best = min(point.objective for point in c.trace)
    assert c.objective == pytest.approx(best, rel=1e-9)


def test_an_interrupt_inside_a_pass_keeps_the_answer_of_the_pass_before(monkeypatch):
    from certus.kernels.first_order import sgd

    plain, calls = sgd.descend, []

    def interrupted(*args):
        plain(*args)
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(sgd, "descend", interrupted)
    model, X, y = make_case("two classes", "sgd")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    best = min(point.objective for point in model.certificate_.trace)
    assert len(model.certificate_.trace) == 4
    assert model.certificate_.objective == pytest.approx(best, rel=1e-9)


# --- what the certificate says of ends other than the optimum -------------------------------------


@each_name
def test_small_changes_stop_and_the_certificate_says_what_that_is_worth(name):
    model, X, y = make_case("two classes", clone_with(OBJECTS[name], change=0.5))
    with pytest.warns(NotCertifiedWarning) as warned:
        model.fit(X, y)
    assert "max_iter" not in str(warned[0].message).split("Raise")[0]
    best = make_case("two classes", "auto")[0].fit(X, y).certificate_.objective
    assert not model.certificate_.certified
    assert model.certificate_.gap >= model.certificate_.objective - best > 0


def clone_with(solver, **changes):
    import copy

    other = copy.copy(solver)
    vars(other).update(changes)
    return other


@pytest.mark.parametrize(
    "solver",
    [GradientDescent(1e4), HeavyBall(1e4), Nesterov(1e4), SGD(1e4), SGD(1e4, momentum=0.5)],
    ids=lambda s: s.name,
)
def test_steps_that_are_too_long_are_reported_in_words_and_nothing_is_claimed(solver):
    for case in ("squares", "two classes", "two targets", "softmax", "against the rest"):
        model, X, y = make_case(case, solver)
        with pytest.warns(NotCertifiedWarning, match=r"give a smaller step\.$") as warned:
            model.set_params(max_iter=200).fit(X, y)
        assert len(warned) == 1
        assert warned[0].filename == __file__
        assert np.isfinite(model.coef_).all()
        assert not model.certificate_.certified


@each_name
def test_squares_that_overflow_are_refused_in_words(name):
    model, X, y = make_case("two classes", name)
    with pytest.raises(ValueError, match="the squares of X overflow"):
        model.fit(1e200 * X, y)
    assert not hasattr(model, "coef_")


@each_name
def test_a_penalty_with_corners_is_refused_in_words(name):
    for case, penalty in (("squares", L1(1.0)), ("squares", MCP(1.0)), ("two classes", L1(1.0)),
                          ("softmax", ElasticNet(1.0, 0.5))):  # fmt: skip
        model, X, y = make_case(case, name)
        with pytest.raises(ValueError, match=r"needs a smooth penalty, and .* use solver='auto'"):
            model.set_params(penalty=penalty).fit(X, y)
    model, X, y = make_case("LogisticRegression", OBJECTS[name])
    with pytest.raises(ValueError, match="needs a smooth penalty"):
        model.set_params(l1_ratio=0.5).fit(X, y)


@pytest.mark.parametrize("solver", [None, 42, SGD, object()])
def test_what_is_no_solver_is_refused_in_words(solver):
    X, y, _ = classification(3, n=120, p=3)
    with pytest.raises(ValueError, match=r"give one of .*'sgd'.* or an object with name, init, st"):
        LogisticRegression(solver=solver).fit(X, y)
    with pytest.raises(ValueError, match="'agd'"):
        LogisticRegression(solver="newton").fit(X, y)


@each_name
def test_sparse_data_have_the_same_answer(name):
    for case in ("softmax", "squares"):
        model, X, y = make_case(case, name)
        X = X * (np.abs(X) > 0.5)
        model.set_params(max_iter=5, tol=1e-12)
        with pytest.warns(NotCertifiedWarning):
            plain = clone(model).fit(X, y).coef_
        for kind in (sparse.csr_array, sparse.csc_matrix):
            with pytest.warns(NotCertifiedWarning):
                result = clone(model).fit(kind(X), y).coef_
            np.testing.assert_allclose(result, plain, atol=1e-9)


def test_a_search_over_solvers_works():
    X, y, _ = classification(3, n=120, p=3)
    grid = {"solver": ["nesterov", SAGA(), GradientDescent("wolfe")], "penalty": [L2(1.0), L2(9.0)]}
    search = GridSearchCV(PenalizedClassifier(max_iter=3000), grid, cv=2).fit(X, y)
    assert search.best_estimator_.certificate_.certified


def test_passes_go_on_where_the_certificate_asks_for_more():
    """Without a penalty the solver's own excess is an estimate: it may arrive too early."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + 3e-2 * rng.normal(size=(60, 4))
    y = X[:, 0] + rng.normal(size=60)
    model = PenalizedRegressor("squared", None, "nesterov", tol=1e-4, max_iter=50_000).fit(X, y)
    trace = model.certificate_.trace
    assert model.certificate_.certified
    assert (np.diff([point.passes for point in trace]) >= 0).all()
    assert trace[-1].passes >= model.n_iter_


def test_older_solvers_count_their_passes_too():
    X, y, _ = classification(3, n=120, p=3)
    for solver in ("newton", "newton-cg", LBFGS(), "fista", "ista", Subgradient()):
        model = PenalizedClassifier("logistic", L2(1.0), solver, max_iter=50)
        with pytest.warns(NotCertifiedWarning) if solver.__class__ is Subgradient else no_warning():
            model.fit(X, y)
        passes = [point.passes for point in model.certificate_.trace]
        assert None not in passes
        assert passes == sorted(passes)
