"""What a fit tells while it runs: its trace, scikit-learn's callbacks and early stop."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from certus.runtime.progress import TracePoint
from tests.contract.estimator_classes import CLASSES
from tests.contract.problems import regression, weights
from tests.runtime import progress_cases
from tests.runtime.progress_cases import DIRECT, Recorder, descent, each_direct

each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


@pytest.fixture
def data():
    X, y, _ = regression(3, n=80, p=4)
    return X - X.mean(axis=0), y - y.mean()


# --- the trace ------------------------------------------------------------------------------------


def test_a_certificate_keeps_what_the_solver_told(data):
    certificate = descent().fit(*data).certificate_
    assert certificate.certified
    trace = certificate.trace
    assert isinstance(trace, tuple)
    assert all(type(point) is TracePoint for point in trace)
    assert [point.iteration for point in trace] == list(range(501))
    f = np.array([point.objective for point in trace])
    assert (np.diff(f) <= 1e-12 * f[0]).all()
    seconds = [point.seconds for point in trace]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 0
    best = certificate.objective
    assert all(point.bound <= best * (1 + 1e-9) for point in trace)
    assert trace[0].objective == pytest.approx(data[1] @ data[1])
    assert trace[-1].objective == pytest.approx(best)
    assert pickle.loads(pickle.dumps(certificate)).trace == trace


@each_direct
def test_a_fit_that_does_not_iterate_has_no_trace(cls, data):
    assert cls().fit(*data).certificate_.trace == ()


def test_a_second_fit_starts_a_new_trace(data):
    model = descent(max_iter=500)
    assert len(model.fit(*data).fit(*data).certificate_.trace) == 501


# --- scikit-learn's callbacks ---------------------------------------------------------------------


@each_direct
def test_a_fit_that_does_not_iterate_is_one_task(cls, data):
    X, y = data
    recorder = Recorder()
    model = cls().set_callbacks(recorder).fit(X, y)
    assert recorder.heard == ["setup", "begin fit 0", "end fit 0", "teardown"]
    assert recorder.given[0][:3] == (X, y, None)
    assert recorder.given[0][3] == 0
    np.testing.assert_array_equal(recorder.models[0].predict(X), model.predict(X))


def test_every_iteration_is_a_task_of_the_fit(data):
    recorder = Recorder()
    with pytest.warns(NotCertifiedWarning):
        descent(max_iter=3).set_callbacks(recorder).fit(*data)
    steps = [f"{what} iteration {i}" for i in range(3) for what in ("begin", "end")]
    assert recorder.heard == ["setup", "begin fit 0", *steps, "end fit 0", "teardown"]
    assert recorder.given[0][3] == 3


def test_a_callback_gets_a_model_of_each_iteration(data):
    X, y = data
    recorder = Recorder()
    descent().set_callbacks(recorder).fit(X, y)
    errors = [np.sum((y - model.predict(X)) ** 2) for model in recorder.models]
    assert errors[:-1] == sorted(errors[:-1], reverse=True)
    assert errors[0] > 1.1 * errors[-1]


def test_callbacks_are_given_the_data_of_the_person(data):
    X, y = data
    s = weights(1, len(X))
    recorder = Recorder()
    Ridge().set_callbacks(recorder).fit(X, y, sample_weight=s)
    Ridge().set_callbacks(recorder).fit(X, y, s)
    for given in recorder.given:
        assert given[0] is X
        assert given[1] is y
        assert given[2]["sample_weight"] is s


@each_class
def test_a_refused_fit_tears_its_callbacks_down(cls):
    recorder = Recorder()
    with pytest.raises(ValueError):
        cls().set_callbacks(recorder).fit([[np.nan], [1.0], [2.0]], [1.0, 2.0, 3.0])
    assert recorder.heard[0] == "setup"
    assert recorder.heard[-1] == "teardown"
    assert "end fit 0" not in recorder.heard


@pytest.mark.parametrize("model", [*(cls() for cls in DIRECT), descent()], ids=str)
def test_nothing_of_the_watching_stays_on_the_model(model, data):
    model.set_callbacks(Recorder()).fit(*data)
    left = {name for name in vars(model) if "callback" in name or "watch" in name}
    assert left == {"_skl_callbacks"}
    bare = clone(model).set_callbacks().fit(*data)
    assert not {name for name in vars(bare) if "callback" in name or "watch" in name}


def test_a_callback_can_save_the_model_that_it_is_given(data):
    saved = []

    class Saver(Recorder):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if context.task_name == "iteration":
                saved.append(pickle.dumps(fitted_estimator._monitor))
            return context.task_id == 2

    with pytest.warns(NotCertifiedWarning):
        descent().set_callbacks(Saver()).fit(*data)
    assert pickle.loads(saved[0]) is None, "who listens is no part of it"


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), RidgeCV(), descent()], ids=str)
def test_the_progress_bar_of_scikit_learn_works(model, data, capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    model.set_callbacks(ProgressBar()).fit(*data)
    shown = capsys.readouterr().out
    assert f"{type(model).__name__} - fit" in shown
    assert "100%" in shown


def test_the_progress_bar_of_a_search_reaches_the_models_inside(data, capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    GridSearchCV(Ridge(), {"alpha": [1, 10]}, cv=2).set_callbacks(ProgressBar()).fit(*data)
    assert "Ridge - fit" in capsys.readouterr().out


def test_the_scoring_monitor_of_scikit_learn_works(data):
    monitor = ScoringMonitor(scoring="r2")
    X, y = data
    model = descent(max_iter=500).set_callbacks(monitor).fit(X, y)
    scores = [row["r2"] for row in monitor.get_logs().data]
    assert len(scores) == 501, "each iteration, and the fit"
    assert max(scores) == pytest.approx(model.score(X, y))


# --- early stop -----------------------------------------------------------------------------------


def test_a_callback_can_stop_a_fit_and_the_fit_says_so(data):
    recorder = Recorder(stop_after=2)
    model = descent().set_callbacks(recorder)
    with pytest.warns(NotCertifiedWarning) as caught:
        model.fit(*data)
    certificate = model.certificate_
    assert certificate.status == "stopped"
    assert not certificate.certified
    assert certificate.trace[-1].iteration == 2
    # Descent is an estimator of the user's own, whose fit is the innermost line that is not ours
    assert [w.filename for w in caught] == [progress_cases.__file__], "one warning, at that line"
    warned = str(caught[0].message)
    assert warned.startswith("Descent stopped by a callback after 2 iterations: objective ")
    assert warned.endswith("% too high. Let it run longer.")
    assert repr(certificate).startswith("Certificate(stopped by a callback after 2 iterations: ")
    assert recorder.heard[-2:] == ["end fit 0", "teardown"]


def test_a_fit_stopped_at_the_optimum_is_optimal(data):
    model = descent().set_callbacks(Recorder(stop_after=400)).fit(*data)
    assert model.certificate_.trace[-1].iteration == 400
    assert model.certificate_.certified
    assert model.certificate_.status == "optimal"


def test_a_solver_that_takes_more_steps_than_it_said_is_not_a_crash(data):
    class Optimist(Recorder):
        def on_fit_task_begin(self, estimator, context, *, X):
            if context.task_name == "fit":
                context.max_subtasks = 3

    descent().set_callbacks(Optimist()).fit(*data)


def test_a_task_begins_with_the_model_that_the_one_before_ended_with():
    class Both:
        def __init__(self):
            self.begun, self.ended = [], []

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context, *, fitted_estimator):
            if context.task_name == "iteration":
                self.begun.append(fitted_estimator)

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if context.task_name == "iteration":
                self.ended.append(fitted_estimator)

    X, y = load_iris(return_X_y=True)
    heard = Both()
    model = LogisticRegression().set_callbacks(heard).fit(X, y)
    assert len(heard.begun) == len(heard.ended) == model.n_iter_[0]
    assert len(heard.begun) > 2
    for earlier, later in pairwise([None, *heard.ended]):
        begun = heard.begun[heard.ended.index(later)]
        if earlier is not None:
            np.testing.assert_array_equal(begun.coef_, earlier.coef_)
            np.testing.assert_array_equal(begun.predict(X), earlier.predict(X))
        assert (begun.coef_ != later.coef_).any()
