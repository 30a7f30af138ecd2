"""Ctrl-C at many moments of many fits: it is heard, and what is left is whole."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import certus

PROGRAM = """
    import faulthandler, signal, sys, time, warnings
    faulthandler.dump_traceback_later(300, exit=True)
    import numpy as np
    import certus
    from certus import cluster, linear_model, mixture, svm
    from certus.runtime.pool import _helpers, blas_limiter

    warnings.simplefilter("ignore")
    name, moments = sys.argv[1], int(sys.argv[2])
    make = next(getattr(m, name) for m in (linear_model, cluster, mixture, svm) if hasattr(m, name))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = X[:, 0] + rng.normal(size=300)
    if name in {classifiers!r}:
        y = np.digitize(y, [-0.5, 0.5]) if name != "FirthLogisticRegression" else y > 0
    certus.set_config(threads=2)
    start = time.monotonic()
    make().fit(X, y)  # kernels are loaded by now
    start = time.monotonic()
    make().fit(X, y)
    whole = time.monotonic() - start
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    for share in np.linspace(0.02, 1.0, moments):
        model = make()
        begun, done = time.monotonic(), False
        try:
            signal.setitimer(signal.ITIMER_REAL, share * whole)
            model.fit(X, y)
            done = True
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            late = time.monotonic() - begun - share * whole
            assert late < 10, (share, late)  # 0.1 is usual
            if done or getattr(getattr(model, "certificate_", None), "certified", False):
                continue  # it came when the fit was over
            fitted = [a for a in vars(model) if a.endswith("_") and not a.startswith("_")]
            if "certificate_" in fitted:
                assert model.certificate_.status == "stopped", model.certificate_.status
                assert not model.certificate_.certified
            else:
                assert not fitted, ("half of a model", fitted)
        # the thread of an interrupted call of LAPACK ends by itself, and lifts its limit then
        until = time.monotonic() + 60
        while (blas_limiter.entries or _helpers.open) and time.monotonic() < until:
            time.sleep(0.01)
        assert blas_limiter.entries == 0 and not _helpers.open
    make().fit(X, y)  # all works as before
    print("fine")
"""
CLASSIFIERS = [
    "LogisticRegression", "LogisticRegressionCV", "FirthLogisticRegression", "PenalizedClassifier",
    "OrdinalRegression", "LinearSVC", "LSSVC", "DensityWeightedSVC",
]  # fmt: skip
OTHERS = [
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNetCV",
    "PenalizedRegressor", "KMeans", "GaussianMixture", "AgglomerativeClustering",
]  # fmt: skip


def survives(name, moments):
    paths = [str(Path(certus.__file__).parents[1]), str(Path(__file__).parent)]
    source = textwrap.dedent(PROGRAM.replace("{classifiers!r}", repr(CLASSIFIERS)))
    child = subprocess.run(
        [sys.executable, "-c", source, name, str(moments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert child.stdout.endswith("fine\n"), child.stderr[-3000:]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*CLASSIFIERS, *OTHERS])
def test_ctrl_c_at_any_moment_is_heard_and_leaves_a_whole_model_or_none(name):
    survives(name, 25)
