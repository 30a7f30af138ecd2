"""Ctrl-C does not wait for a proof: what a stopped fit says where its proof would take long."""

import threading

import numpy as np
import pytest

import certus
from certus.exceptions import CertificateError
from certus.linear_model import (
    FirthLogisticRegression,
    Lasso,
    LassoCV,
    LogisticRegression,
    OrdinalRegression,
)
from certus.mixture import GaussianMixture
from certus.runtime import pool, progress
from certus.solvers.lasso import elastic_net_cv

NOT_MADE = "the check takes longer than a stopped fit may"


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, np.digitize(X[:, 0] + rng.normal(size=60), [-0.5, 0.5])


@pytest.fixture
def stopped(monkeypatch, data):
    """A fit whose second step is interrupted."""
    listen = progress.FitMonitor.__call__

    def fit(model, X=None, y=None):
        def interrupted(self, step):
            listen(self, step)
            if step.iteration >= 1:
                raise KeyboardInterrupt
            return False

        X, y = (data[0] if X is None else X), (data[1] if y is None else y)
        with monkeypatch.context() as patch:
            patch.setattr(progress.FitMonitor, "__call__", interrupted)
            with pytest.raises(KeyboardInterrupt) as caught:
                model.fit(X, y)
        return caught.value

    return fit


@pytest.fixture
def no_time(monkeypatch):
    monkeypatch.setattr(progress, "STOPPED_PROOF_SECONDS", 0.0)


MODELS = [
    OrdinalRegression(),
    FirthLogisticRegression(),
    LogisticRegression(),
    Lasso(0.01),
    GaussianMixture(2, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_stopped_fit_without_a_proof_keeps_its_model_and_says_so(model, stopped, no_time, data):
    X, y = data
    y = y > 0 if isinstance(model, FirthLogisticRegression) else y
    error = stopped(model, X, y)
    assert "the best one so far was kept" in error.__notes__[0]
    assert len(error.__notes__) == 1
    found = model.certificate_
    assert (found.status, found.certified, found.bound) == ("stopped", False, None)
    assert found.gap == found.residual == np.inf
    assert found.objective == pytest.approx(found.trace[-1].objective), "the solver's own"
    assert found.maximized == isinstance(model, GaussianMixture)
    text = found.explain()
    assert text.startswith("[!!] STOPPED")
    assert NOT_MADE in text
    assert "Checked by     nothing: the numbers are the solver's own" in text
    assert "is not known" in repr(found)
    assert "is not known" in found.note()
    assert "Stopped" in found._repr_html_()
    assert len(model.predict(X)) == len(X)
    assert certus.verify(model, X, y).definition, "the proof can still be made"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_proof_that_is_quick_is_made(model, stopped, monkeypatch, data):
    monkeypatch.setattr(progress, "STOPPED_PROOF_SECONDS", 600.0)
    X, y = data
    y = y > 0 if isinstance(model, FirthLogisticRegression) else y
    stopped(model, X, y)
    assert model.certificate_.status == "stopped"
    assert model.certificate_.definition
    assert NOT_MADE not in model.certificate_.explain()
    assert model.certificate_.objective == certus.verify(model, X, y).objective


def test_nobody_waits_for_a_proof_that_does_not_end(stopped, monkeypatch, data):
    from certus.proofs.glm import ordinal

    begun, end, ended = threading.Event(), threading.Event(), threading.Event()

    def long(*args, **kwargs):
        begun.set()
        end.wait(120)
        ended.set()
        raise RuntimeError("nobody hears this")

    monkeypatch.setattr(progress, "STOPPED_PROOF_SECONDS", 0.05)
    monkeypatch.setattr(ordinal, "check", long)
    model = OrdinalRegression()
    stopped(model)
    assert begun.is_set()
    assert not ended.is_set(), "it is still at it, and nobody waits"
    assert model.certificate_.status == "stopped"
    end.set()
    assert ended.wait(60)


def test_folds_that_were_kept_have_no_objective_without_a_proof(no_time, data, monkeypatch):
    X, y = data
    errors, left = elastic_net_cv.mean_errors, [2]

    def interrupted(*args, **kwargs):
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        return errors(*args, **kwargs)

    monkeypatch.setattr(elastic_net_cv, "mean_errors", interrupted)
    model = LassoCV(cv=5, alphas=10)
    with certus.config_context(threads=1), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    found = model.certificate_
    assert found.status == "stopped"
    assert np.isnan(found.objective)
    assert "Objective      not known, nor is its distance from the best possible" in found.explain()
    assert "objective not known" in repr(found)


def test_a_fit_that_is_not_stopped_is_proven_however_long_it_takes(no_time, data):
    assert OrdinalRegression().fit(*data).certificate_.certified


def test_such_a_certificate_cannot_be_exported(stopped, no_time, tmp_path):
    model = OrdinalRegression()
    stopped(model)
    with pytest.raises(CertificateError):
        model.certificate_.export(tmp_path / "check.py")


# --- calls with a limit of time -------------------------------------------------------------------


def test_a_call_in_time_gives_what_the_function_gives():
    assert pool.in_time(lambda: 3, 60.0) == 3
    with pytest.raises(ZeroDivisionError):
        pool.in_time(lambda: 1 // 0, 60.0)


def test_a_call_without_time_is_not_begun():
    called = []
    with pytest.raises(pool.OutOfTime):
        pool.in_time(lambda: called.append(1), 0.0)
    assert called == []


def test_a_call_that_nobody_waits_for_ends_where_it_asks():
    ended = threading.Event()

    def endless():
        try:
            while True:
                pool.give_up_if_stopped()
        finally:
            ended.set()

    with pytest.raises(pool.OutOfTime):
        pool.in_time(endless, 0.05)
    assert ended.wait(60)
