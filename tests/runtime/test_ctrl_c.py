"""Ctrl-C during a fit: what is kept, and what it is called."""

import importlib
import os
import signal
import subprocess
import sys
import textwrap
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

import certus
from certus.certificate import certify
from certus.exceptions import NotCertifiedWarning
from certus.runtime.progress import FitMonitor
from certus.solvers.progress import Step
from tests.contract.problems import objective, regression
from tests.runtime import progress_cases
from tests.runtime.progress_cases import Recorder, descend, descent, each_direct


@pytest.fixture
def data():
    X, y, _ = regression(3, n=80, p=4)
    return X - X.mean(axis=0), y - y.mean()


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
    assert "_monitor" not in vars(model)


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
        with FitMonitor(model, {}) as watching:
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

    monkeypatch.setattr(progress_cases, "certify", again)
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
    "where",
    ["certus.solvers.least_squares.least_squares:solve", "certus.certificate.verification:certify"],
)
@each_direct
def test_a_fit_that_fails_leaves_the_model_as_it_was(cls, where, error, data, patch_everywhere):
    X, y = data
    fitted, unfitted = cls().fit(X, y), cls()
    before = [dict(vars(model)) for model in (fitted, unfitted)]

    def fails(*_, **__):
        raise error

    module, name = where.split(":")
    patch_everywhere(getattr(importlib.import_module(module), name), new=fails)
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
    from certus.data.rows import Rows

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
    from progress_cases import descent
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
