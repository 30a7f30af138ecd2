"""What a fit of a classifier tells while it runs: trace, callbacks, early stop, Ctrl-C."""

import importlib
from functools import reduce

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.model_selection import GridSearchCV

import certus
from certus.exceptions import NotCertifiedWarning
from certus.linear_model import FirthLogisticRegression, LogisticRegression, OrdinalRegression
from certus.solvers.glm import newton
from tests.contract.estimator_classes import CLASSIFIERS
from tests.contract.problems import classification, ordered
from tests.references.logistic_peers import objective
from tests.runtime.progress_cases import Recorder

CASES = {
    "two classes": (LogisticRegression(), 2),
    "three classes": (LogisticRegression(), 3),
    "conjugate gradients": (LogisticRegression(solver="newton-cg"), 3),
    "L1": (LogisticRegression(l1_ratio=1.0), 2),
    "penalised intercept": (LogisticRegression(solver="liblinear"), 2),
    "no penalty": (LogisticRegression(C=np.inf), 2),
    "Firth": (FirthLogisticRegression(), 2),
    "ordered classes": (OrdinalRegression(), 3),
}
each_case = pytest.mark.parametrize("case", CASES)


def drawn(case):
    model, classes = CASES[case]
    draw = ordered if case == "ordered classes" else classification
    return clone(model), *draw(3, n=200, classes=classes)[:2]


@each_case
def test_the_trace_falls_to_the_objective_and_its_bounds_hold(case):
    model, X, y = drawn(case)
    c = model.set_params(tol=1e-10).fit(X, y).certificate_
    assert [point.iteration for point in c.trace] == list(range(model.n_iter_[0] + 1))
    f = np.array([point.objective for point in c.trace])
    assert (np.diff(f) <= 1e-12 * f[0]).all()
    assert f[-1] == pytest.approx(c.objective, rel=1e-9)
    assert f[0] > 1.05 * f[-1]
    for point in c.trace:
        assert point.bound is None or point.bound <= c.objective * (1 + 1e-9)
    c.plot()


@each_case
def test_every_iteration_is_a_task_with_a_model_of_its_own(case):
    model, X, y = drawn(case)
    recorder = Recorder()
    model.set_callbacks(recorder).fit(X, y)
    steps = int(model.n_iter_[0])
    tasks = [f"{what} iteration {i}" for i in range(steps) for what in ("begin", "end")]
    assert recorder.heard == ["setup", "begin fit 0", *tasks, "end fit 0", "teardown"]
    assert recorder.given[0][3] == model.max_iter
    losses = []
    for fitted in recorder.models:
        P = fitted.predict_proba(X)
        losses.append(-np.log(P[np.arange(len(X)), y]).sum())
        np.testing.assert_array_equal(fitted.predict(X), P.argmax(axis=1))
    assert losses[0] > losses[-1]
    np.testing.assert_array_equal(recorder.models[-1].coef_, model.coef_)


@each_case
def test_a_callback_stops_a_fit_and_the_fit_says_so(case):
    model, X, y = drawn(case)
    model.set_callbacks(Recorder(stop_after=1))
    with pytest.warns(
        NotCertifiedWarning, match="stopped by a callback after 1 iteration"
    ) as warned:
        model.fit(X, y)
    assert [w.filename for w in warned] == [__file__]
    assert model.certificate_.status == "stopped"
    assert not model.certificate_.certified
    assert model.n_iter_ == [1]


def test_a_stop_at_the_optimum_is_optimal():
    model, X, y = drawn("two classes")
    last = int(clone(model).fit(X, y).n_iter_[0])
    model.set_callbacks(Recorder(stop_after=last)).fit(X, y)
    assert model.certificate_.status == "optimal"


@each_case
def test_progress_bar_and_scoring_monitor_work(case, capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    model, X, y = drawn(case)
    monitor = ScoringMonitor(scoring="neg_log_loss")
    model.set_callbacks(ProgressBar(), monitor).fit(X, y)
    assert f"{type(model).__name__} - fit" in capsys.readouterr().out
    scores = [row["neg_log_loss"] for row in monitor.get_logs().data]
    assert len(scores) == model.n_iter_[0] + 1
    assert max(scores) > min(scores) + 1e-4


def test_a_search_shows_the_progress_of_its_fits(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    model, X, y = drawn("two classes")
    GridSearchCV(model, {"C": [0.1, 1]}, cv=2).set_callbacks(ProgressBar()).fit(X, y)
    assert "LogisticRegression - fit" in capsys.readouterr().out


STEPS = {  # what a solver calls for each step
    "two classes": "glm.newton:Newton.step",
    "three classes": "glm.newton:Newton.step",
    "conjugate gradients": "glm.newton_cg:NewtonCG.step",
    "L1": "lasso.coordinate_descent:CoordinateDescent.step",
    "penalised intercept": "glm.newton:Newton.step",
    "no penalty": "glm.newton:Newton.step",
    "Firth": "glm.firth:_line_search",
    "ordered classes": "glm.ordinal:_line_search",
}


def interrupt_at(monkeypatch, case, count, error=KeyboardInterrupt):
    """The solver's step number ``count`` (from 1) is interrupted."""
    module, path = STEPS[case].split(":")
    *owner, name = path.split(".")
    owner = reduce(getattr, owner, importlib.import_module(f"certus.solvers.{module}"))
    step, calls = getattr(owner, name), []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == count:
            raise error
        return step(*args)

    monkeypatch.setattr(owner, name, interrupted)


@each_case
def test_ctrl_c_keeps_the_best_iterate_and_says_so(case, monkeypatch):
    model, X, y = drawn(case)
    interrupt_at(monkeypatch, case, 2)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert caught.value.__notes__ == [
        f"{type(model).__name__} stopped by you after 1 iteration; the best one so far was kept."
    ]
    c = model.certificate_
    assert (c.status, c.certified) == ("stopped", False)
    assert "stopped by you after 1 iteration; the best one so far was kept" in c.explain()
    assert np.isfinite(model.predict_proba(X)).all()
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    best = certus.verify(clone(model).fit(X, y), X, y)
    assert c.objective > best.objective
    assert c.gap >= c.objective - best.objective - best.gap
    assert "_monitor" not in vars(model)
    if case in ("two classes", "three classes"):
        assert c.objective == pytest.approx(objective(model, X, y), rel=1e-12)


def test_ctrl_c_before_the_first_step_leaves_nothing(monkeypatch):
    model, X, y = drawn("two classes")

    def refuse(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(newton.Newton, "init", refuse)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]


@each_case
def test_a_fit_that_fails_leaves_the_model_as_it_was(case, monkeypatch):
    model, X, y = drawn(case)
    model.fit(X, y)
    before = dict(vars(model))
    interrupt_at(monkeypatch, case, 1, MemoryError)
    with pytest.raises(MemoryError):
        model.fit(X[:150, :3], y[:150])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert certus.verify(model, X, y).certified


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_nothing_of_the_watching_stays_on_a_classifier(cls):
    X, y, _ = classification(3)
    model = cls().set_callbacks(Recorder()).fit(X, y)
    left = {name for name in vars(model) if "callback" in name or "watch" in name}
    assert left == {"_skl_callbacks"}


def test_a_warning_made_an_error_leaves_the_certificate_that_it_speaks_of():
    model, X, y = drawn("two classes")
    with pytest.raises(NotCertifiedWarning):  # warnings are errors here
        model.set_params(max_iter=1).fit(X, y)
    assert model.n_iter_ == [1]
    assert not model.certificate_.certified
