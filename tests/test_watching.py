"""What a fit tells while it runs: its trace, scikit-learn's callbacks, early stop and Ctrl-C."""

import importlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import traceback
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.model_selection import GridSearchCV

import certus
from certus import linear_model
from certus._validation import data_for_fit
from certus._watching import TracePoint, Watching, watched
from certus.certificate import certify
from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.solvers.steps import Step, ignore
from problems import objective, regression, weights

CLASSES = [getattr(linear_model, name) for name in linear_model.__all__]
DIRECT = [LinearRegression, Ridge, RidgeCV]  # on dense X nothing iterates
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
each_direct = pytest.mark.parametrize("cls", DIRECT, ids=lambda cls: cls.__name__)


def descend(X, y, alpha, max_iter, on_step=ignore, at=lambda t: None):
    """min ‖y − Xw‖² + α‖w‖² by steps of 1/L along the negative gradient, L = 2(‖X‖² + α)."""
    w = np.zeros(X.shape[1])
    L = 2 * (np.linalg.norm(X, 2) ** 2 + alpha)
    for t in range(max_iter + 1):
        at(t)
        g = -2 * X.T @ (y - X @ w) + 2 * alpha * w
        f = np.sum((y - X @ w) ** 2) + alpha * w @ w
        # α‖w‖² makes f 2α-strongly convex
        if on_step(Step(t, f, f - g @ g / (4 * alpha), lambda w=w: w.copy())):
            break
        w = w - g / L
    return w


class Descent(Ridge):
    """Ridge without intercept by gradient descent: what an iterative estimator looks like."""

    at = staticmethod(lambda t: None)  # a test's hook: before each step

    @watched
    def fit(self, X, y, sample_weight=None):
        rows, _ = data_for_fit(self, X, y, sample_weight)

        def attributes(w):
            return {"coef_": w, "intercept_": 0.0, "solver_": "descent"}

        on_step = self._watching.iterations(attributes, lambda: certify(self, rows), self.max_iter)
        w = descend(rows.X, rows.y[:, 0], self.alpha, self.max_iter, on_step, self.at)
        for name, value in attributes(w).items():
            setattr(self, name, value)
        self._certify(rows)
        return self


def descent(max_iter=500, **parameters):
    return Descent(alpha=5.0, fit_intercept=False, max_iter=max_iter, **parameters)


class Recorder:
    """A callback that writes down what it hears, and asks to stop after ``stop_after`` steps."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.heard, self.given, self.models = [], [], []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X, y, metadata):
        self.heard.append(f"begin {context.task_name} {context.task_id}")
        self.given.append((X, y, metadata, context.max_subtasks))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.heard.append(f"end {context.task_name} {context.task_id}")
        self.models.append(fitted_estimator)
        return context.task_name == "iteration" and context.task_id + 1 == self.stop_after


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
                saved.append(pickle.dumps(fitted_estimator._watching))
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
    assert [w.filename for w in caught] == [__file__], "one warning, at the person's line"
    told = str(caught[0].message)
    assert told.startswith("Descent stopped by a callback after 2 iterations: objective ")
    assert told.endswith("% too high. Let it run longer.")
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


# --- Ctrl-C ---------------------------------------------------------------------------------------


def interrupted_at(t):
    def at(step):
        if step == t:
            raise KeyboardInterrupt

    return at


def test_ctrl_c_keeps_the_best_iterate_says_so_and_goes_on_its_way(data):
    X, y = data
    model = descent(max_iter=100)
    model.at = interrupted_at(3)
    recorder = Recorder()
    with pytest.raises(KeyboardInterrupt) as caught:
        model.set_callbacks(recorder).fit(X, y)
    assert caught.value.__notes__ == [
        "Descent stopped by you after 2 iterations; the best one so far was kept."
    ]
    assert "the best one so far was kept." in "".join(traceback.format_exception(caught.value))
    expected = descend(X, y, 5.0, 500, on_step=lambda step: step.iteration == 2)
    np.testing.assert_array_equal(model.coef_, expected)
    certificate = model.certificate_
    assert (certificate.status, certificate.certified) == ("stopped", False)
    assert certificate.objective == pytest.approx(
        float(objective(X, y, None, model.coef_, 0.0, alpha=5.0))
    )
    assert len(certificate.trace) == 3
    text = certificate.explain()
    assert text.startswith("[!!] STOPPED   Descent, 80 rows × 4 columns")
    assert "stopped by you after 2 iterations; the best one so far was kept" in text
    assert "fit again and let it finish" in text
    assert "✖" in certificate._repr_html_()
    assert certificate.note().startswith("Not certified: stopped by you")
    assert np.isfinite(model.predict(X)).all()
    assert recorder.heard[-1] == "teardown"
    assert "end fit 0" not in recorder.heard
    assert "_watching" not in vars(model)


def test_ctrl_c_at_the_optimum_is_still_not_called_certified(data):
    model = descent()
    model.at = interrupted_at(450)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert not model.certificate_.certified
    assert certus.verify(model, *data).certified, "but the model is what it is"


@pytest.mark.parametrize("values", [[5, 3, 1, 2, 4], [np.nan, 3, 1, 2], [5, 1, np.nan, np.inf]])
def test_the_best_is_kept_not_the_last(values, data):
    model = descent()

    def steps():
        with Watching(model, {}) as watching:
            on_step = watching.iterations(lambda w: {"coef_": w}, lambda: certify(model, None))
            for i, f in enumerate(values):
                assert on_step(Step(i, f, None, lambda f=f: f)) is False
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        steps()
    assert model.coef_ == 1


def test_ctrl_c_before_the_first_step_leaves_nothing(data):
    model = descent()
    model.at = interrupted_at(0)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(*data)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "certificate_")
    assert not hasattr(caught.value, "__notes__")


def test_a_second_ctrl_c_gives_up_the_certificate_not_the_model(data, monkeypatch):
    model = descent().fit(*data)
    first = KeyboardInterrupt("the first")

    def at(step):
        if step == 3:
            raise first

    model.at = at

    def again(*_):
        raise KeyboardInterrupt("the second")

    monkeypatch.setitem(globals(), "certify", again)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(*data)
    assert caught.value is first
    assert caught.value.__notes__[1] == (
        "It has no certificate_: the check ended in KeyboardInterrupt."
    )
    assert not hasattr(model, "certificate_"), "not that of the earlier fit"
    expected = descend(*data, 5.0, 500, on_step=lambda step: step.iteration == 2)
    np.testing.assert_array_equal(model.coef_, expected)


def test_another_error_keeps_nothing(data):
    model = descent()

    def at(step):
        if step == 3:
            raise RuntimeError("a bug")

    model.at = at
    with pytest.raises(RuntimeError, match="a bug"):
        model.fit(*data)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(
    "where", ["certus.solvers.least_squares:solve", "certus.certificate:certify"]
)
@each_direct
def test_a_fit_that_fails_leaves_the_model_as_it_was(cls, where, error, data, patch_everywhere):
    X, y = data
    fitted, unfitted = cls().fit(X, y), cls()
    before = [dict(vars(model)) for model in (fitted, unfitted)]

    def fails(*_, **__):
        raise error

    module, name = where.split(":")
    patch_everywhere(getattr(importlib.import_module(module), name), fails)
    for model, old in zip((fitted, unfitted), before, strict=True):
        with pytest.raises(error):
            model.fit(X[:50, :3], y[:50])
        assert vars(model).keys() == old.keys()
        assert all(vars(model)[name] is value for name, value in old.items())
    assert certus.verify(fitted, X, y).certified


def test_a_warning_made_an_error_leaves_the_certificate_that_it_speaks_of(data):
    model = descent(max_iter=3)
    with pytest.raises(NotCertifiedWarning, match="See certificate_"):  # warnings are errors here
        model.fit(*data)
    assert not model.certificate_.certified


# --- a real signal --------------------------------------------------------------------------------

unix = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
HEARD_WITHIN = 3.0  # seconds; 0.05 is usual, and a busy machine must not fail the test

REDUCE = """
    import sys, threading, time
    import numpy as np, scipy.linalg
    from threadpoolctl import threadpool_info
    import certus
    from certus.rows import Rows

    def blas():
        return [l["num_threads"] for l in threadpool_info() if l["user_api"] == "blas"]

    def squares(X, y, s):
        return (np.square(X).sum(axis=0),)

    before = blas()
    certus.set_config(threads=2)
    endless = Rows(np.broadcast_to(np.ones(100), (10**9, 100)))  # rows without memory
    print("ready", flush=True)
    try:
        endless.reduce(squares)
    except KeyboardInterrupt:
        heard = time.monotonic()
    small = Rows(np.ones((40_000, 100)))
    assert small.reduce(squares)[0].tolist() == [40_000.0] * 100, "the pool still works"
    assert blas() == before, (blas(), before)
    busy = [t.name for t in threading.enumerate() if t.name.startswith("certus")]
    assert len(busy) <= 2, busy
    print(heard)
"""

FIT = """
    import sys, time
    sys.path.insert(0, {tests!r})
    import numpy as np
    from test_watching import descent
    X = np.random.default_rng(0).normal(size=(300, 5))
    model = descent(max_iter=10**9)
    model.at = lambda t: print("ready", flush=True) if t == 50 else None
    try:
        model.fit(X, X.sum(axis=1))
    except KeyboardInterrupt as error:
        heard = time.monotonic()
        assert "stopped by you after" in error.__notes__[0]
        assert model.certificate_.status == "stopped"
        assert model.certificate_.trace[-1].iteration >= 50
    print(heard)
"""


def interrupted(program):
    """Seconds until a program that says "ready" has heard Ctrl-C, and its last word."""
    paths = [str(Path(certus.__file__).parents[1]), str(Path(__file__).parent)]
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        time.sleep(0.3)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, errors
    return float(out) - sent


@unix
def test_ctrl_c_is_heard_in_threaded_blocks_and_leaves_pool_and_blas_as_they_were():
    assert interrupted(REDUCE) < HEARD_WITHIN


@unix
def test_ctrl_c_is_heard_in_a_fit_that_iterates():
    assert interrupted(FIT.format(tests=str(Path(__file__).parent))) < HEARD_WITHIN
