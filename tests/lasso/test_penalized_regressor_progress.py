"""Regression with any loss and penalty: what a fit tells, and how it is stopped."""

import numpy as np
import pytest

from certus.exceptions import NotCertifiedWarning
from certus.linear_model.penalized_regressor import PenalizedRegressor
from certus.penalties import L1
from certus.solvers import ProximalGradient
from tests.lasso.penalized_regressor_cases import P, drawn
from tests.runtime.progress_cases import Recorder


@pytest.mark.parametrize("k", [None, 3])
def test_verbose_prints_a_line_for_each_step_of_each_target(k, capsys):
    X, y, _ = drawn(15, k=k)
    model = PenalizedRegressor("squared", L1(5.0), "ista", verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == np.sum(np.asarray(model.n_iter_) + 1)
    assert "above the best possible" in lines[-1]
    if k:
        for target, steps in enumerate(model.n_iter_):
            of_target = [line for line in lines if f"PenalizedRegressor, target {target}: " in line]
            assert len(of_target) == steps + 1
            assert f"iteration {steps}," in of_target[-1]


@pytest.mark.parametrize("k", [None, 2])
def test_callbacks_hear_of_every_step(k):
    X, y, _ = drawn(16, k=k)
    recorder = Recorder()
    model = PenalizedRegressor("squared", L1(5.0), "fista").set_callbacks(recorder).fit(X, y)
    steps = int(np.sum(model.n_iter_))
    assert sum("begin iteration" in line for line in recorder.heard) == steps


@pytest.mark.parametrize("k", [None, 2])
def test_ctrl_c_keeps_the_best_iterate_and_says_so(k, monkeypatch):
    X, y, _ = drawn(17, k=k)
    plain, calls = ProximalGradient.step, []

    def interrupted(self, problem, state):
        calls.append(1)
        if len(calls) == 60:
            raise KeyboardInterrupt
        return plain(self, problem, state)

    monkeypatch.setattr(ProximalGradient, "step", interrupted)
    model = PenalizedRegressor("squared", L1(5.0), "ista")
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert "the best one so far was kept" in caught.value.__notes__[0]
    assert model.certificate_.status == "stopped"
    assert model.coef_.shape == ((P,) if k is None else (k, P))
    best = min(point.objective for point in model.certificate_.trace)
    assert model.certificate_.objective == pytest.approx(best, rel=1e-9)


def test_max_iter_stops_with_a_warning():
    X, y, _ = drawn(18)
    with pytest.warns(NotCertifiedWarning):
        model = PenalizedRegressor("squared", L1(5.0), "ista", max_iter=3).fit(X, y)
    assert model.n_iter_ == 3
