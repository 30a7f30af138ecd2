"""A fit changes its model and nothing else: not the process, not the data, not the library.

One thing is kept on purpose: the thread pool. Starting threads for every pass over the data would
cost more than a small fit; the pool holds no data, is dropped in a forked child, and any number of
fits may share it.
"""

import copy
import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import threading
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from threadpoolctl import threadpool_info

import certus
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.plotting import ConvergenceDisplay
from tests.contract.laws import ESTIMATORS
from tests.contract.problems import regression, weights

each_case = pytest.mark.parametrize("case", ESTIMATORS, ids=str)
pytestmark = pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")

# what a first fit may set, and why
KEPT = {
    "certus.runtime.workers._helpers.most": "starting threads costs more than a small fit",
    "certus.runtime.workers._helpers.started": "how many there are",
    "certus.runtime.workers._helpers.idle": "how many of them have nothing to do",
    "certus.runtime.pool.blas_limiter.libraries": "which BLAS libraries are loaded",
    "certus.runtime.pool.blas_limiter.modules": "how many modules there were at the last look",
    "certus.runtime.pool.blas_limiter.compiled": "those of them that may have brought a BLAS",
    "certus.runtime.pool.blas_limiter.before": "their thread counts, written at each entry",
}


def everything(model, X, y, s=None):
    """All that a person does with a model."""
    model.fit(X, y, sample_weight=s)
    model.predict(X)
    model.score(X, y)
    repr(model.certificate_)
    model.certificate_.explain()
    model._repr_html_()
    certus.verify(model, X, y, s).note()
    return model


# --- the process ----------------------------------------------------------------------------------


def process():
    """What a library could change behind a person's back."""
    import matplotlib

    return {
        "NumPy's error state": np.geterr(),
        "NumPy's printing": np.get_printoptions(),
        "NumPy's random numbers": str(np.random.get_state()),  # noqa: NPY002
        "Python's random numbers": random.getstate(),
        "warning filters": list(warnings.filters),
        "showwarning": warnings.showwarning,
        "threads of BLAS and OpenMP": sorted(
            (library["filepath"], library["num_threads"]) for library in threadpool_info()
        ),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "files in it": sorted(os.listdir()),
        "rcParams": dict(matplotlib.rcParams),
        "Ctrl-C": signal.getsignal(signal.SIGINT),
        "scikit-learn's settings": sklearn.get_config(),
        "certus's settings": certus.get_config(),
        "recursion limit": sys.getrecursionlimit(),
        "garbage collector": (gc.isenabled(), gc.get_threshold()),
        "output": (sys.stdout, sys.stderr),
        "excepthook": sys.excepthook,
        "threads": {t.name for t in threading.enumerate() if not t.name.startswith("certus")},
    }


@each_case
@pytest.mark.parametrize("size", ["small", "large"])
def test_a_fit_leaves_the_process_as_it_was(case, size, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, _ = case.draw(1) if size == "small" else case.large(1)
    everything(case.make(), X, y)  # libraries are loaded by now
    with np.errstate(over="ignore", invalid="raise"):
        before = process()
        everything(case.make(), X, y)
        assert process() == before


def test_a_refused_and_a_failing_fit_leave_it_too(patch_everywhere):
    from certus.solvers.least_squares.least_squares import solve

    X, y, _ = regression(1, n=20_000, p=6)
    LinearRegression().fit(X, y)
    before = process()
    with pytest.raises(ValueError):
        LinearRegression().fit(X, y[1:])

    def broken(*_, **__):
        raise MemoryError

    patch_everywhere(solve, new=broken)
    with pytest.raises(MemoryError):
        LinearRegression().fit(X, y)
    assert process() == before


def test_the_watch_over_the_process_sees_a_change(monkeypatch):
    before = process()
    monkeypatch.setenv("CERTUS_TEST", "1")
    monkeypatch.setattr(warnings, "filters", [*warnings.filters, "one more"])
    np.random.rand()  # noqa: NPY002
    after = process()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"environment", "warning filters", "NumPy's random numbers"}


def test_a_picture_leaves_the_process_as_it_was():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close(plt.figure())
    before = process()
    plt.close(ConvergenceDisplay([(0, 0.0, 2.0, 1.0), (1, 0.1, 1.5, 1.4)]).plot().figure_)
    assert process() == before


# --- the data -------------------------------------------------------------------------------------


@each_case
def test_the_data_are_only_read(case):
    X, y, _ = case.draw(2)
    X, y, s = np.asfortranarray(X), y.copy(), weights(2, len(X))
    for array in (X, y, s):
        array.flags.writeable = False  # whoever writes, fails
    before = [array.copy() for array in (X, y, s)]
    everything(case.make(), X, y, s)
    for array, old in zip((X, y, s), before, strict=True):
        np.testing.assert_array_equal(array, old)


@each_case
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_writeable_data_stay_as_they_were(case, dtype):
    X, y, _ = case.draw(2)
    X = (8 * X).astype(dtype)
    s = weights(2, len(X))
    before = [array.tobytes() for array in (X, y, s)]
    everything(case.make(), X, y, s)
    assert [array.tobytes() for array in (X, y, s)] == before


@pytest.mark.parametrize("cls", [LinearRegression, Ridge, RidgeCV])
def test_frames_stay_as_they_were(cls):
    X, y, _ = regression(2, n=50, p=3)
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(50)[::-1])
    target = pd.Series(y, name="y", index=frame.index)
    old, old_target = frame.copy(), target.copy()
    everything(cls(), frame, target)
    pd.testing.assert_frame_equal(frame, old)
    pd.testing.assert_series_equal(target, old_target)


@each_case
def test_a_model_shares_no_memory_with_the_data(case):
    X, y, _ = case.draw(2)
    model = everything(case.make(), X, y)
    predicted = model.predict(X[:5])
    again = X[:5].copy()
    X[:], y[:] = np.nan, np.nan if case.classes is None else 99
    np.testing.assert_array_equal(model.predict(again), predicted)
    model.certificate_.explain()


# --- the library ----------------------------------------------------------------------------------


def library():
    """Every module global of certus that is data, down to the attributes of our own objects."""
    state = {}
    for title, module in sorted(sys.modules.items()):
        if title.split(".")[0] != "certus" or module is None:
            continue
        for name, value in list(vars(module).items()):
            ours = getattr(type(value), "__module__", "").startswith("certus")
            if name.startswith("__") or isinstance(value, types.ModuleType):
                continue
            if isinstance(value, type):
                if value.__module__ == title:
                    plain = {k: v for k, v in vars(value).items() if not k.startswith("__")}
                    state |= {f"{title}.{name}.{k}": id(v) for k, v in plain.items()}
            elif ours and not isinstance(value, tuple):  # a tuple cannot change
                home = type(value).__module__  # others may have imported it
                state |= {f"{home}.{name}.{k}": repr(v) for k, v in vars(value).items()}
            elif not callable(value):
                state[f"{title}.{name}"] = (id(value), repr(value))
    return state


@pytest.mark.costly
@each_case
def test_a_fit_changes_no_global_of_the_library(case):
    X, y, _ = case.large(1)
    everything(case.make(), X, y)
    before = library()
    X, y, _ = case.large(2)
    everything(case.make(), X, y)
    after = library()
    changed = {name for name in before if before[name] != after.get(name)}
    assert changed <= set(KEPT)


def test_the_first_fit_of_a_process_sets_what_is_kept_and_no_more():
    program = """
        import sys
        import numpy as np
        import certus, certus.cli, certus.plotting
        from test_side_effects import KEPT, everything, library
        from certus.linear_model import LinearRegression
        from certus.kernels import _compile, gram

        X = np.random.default_rng(0).normal(size=(50_000, 20))
        import certus.solvers.least_squares.least_squares, certus.certificate.explain.html
        import certus.proofs.least_squares.least_squares
        before = library()
        assert any(name.endswith("_helpers.started") for name in before)
        certus.set_config(threads=2)
        everything(LinearRegression(), X, X.sum(axis=1) + X[:, 0] ** 2)
        certus.set_config(threads=None)
        after = library()
        changed = {name for name in before if before[name] != after[name]}
        # compiled code is of the process, as in every library that compiles on first use
        changed = {name for name in changed if not name.startswith("certus.kernels")}
        print(*sorted(changed - set(KEPT)))
        print(*sorted(changed & set(KEPT)))
    """
    paths = [str(Path(certus.__file__).parents[1]), str(Path(__file__).parent)]
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    unexpected, kept = child.stdout.split("\n")[:2]
    assert unexpected == ""
    assert "certus.runtime.workers._helpers.started " in kept + " ", "the watch sees what changes"


# --- copies ---------------------------------------------------------------------------------------

COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "oldest pickle": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def same(a, b):
    """Equal to the bit, whatever it is made of."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if is_dataclass(a) or type(a).__module__.startswith("certus."):
        return type(a) is type(b) and same(vars(a), vars(b))
    return bool(a == b) or (a != a and b != b)


@each_case
@pytest.mark.parametrize("how", COPIES)
def test_a_copy_predicts_the_same_and_has_the_same_certificate(case, how):
    X, y, _ = case.draw(4)
    model = case.make().fit(X, y)
    again = COPIES[how](model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    for name, value in vars(model.certificate_).items():
        assert same(value, getattr(again.certificate_, name)), name
    assert again.certificate_.explain() == model.certificate_.explain()
    assert certus.verify(again, X, y).certified
    assert same(vars(again), vars(model))


@each_case
def test_a_clone_is_unfitted_and_fits_to_the_same_bits(case):
    X, y, _ = case.draw(4)
    model = case.make().fit(X, y)
    again = model.__sklearn_clone__()
    assert type(again) is type(model)
    assert not [name for name in vars(again) if name.endswith("_") and not name.startswith("_")]
    assert same(again.get_params(), model.get_params())
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@each_case
def test_a_second_fit_forgets_the_first(case):
    X, y, _ = case.draw(4)
    other, z, _ = case.draw(5)
    fresh = case.make().fit(X, y)
    used = case.make().fit(other, z).fit(X, y)
    np.testing.assert_array_equal(used.coef_, fresh.coef_)
    assert vars(used).keys() == vars(fresh).keys()


@each_case
def test_predict_changes_nothing_in_a_model(case):
    X, y, _ = case.draw(4)
    model = case.make().fit(X, y)
    before = {name: pickle.dumps(value) for name, value in vars(model).items()}
    model.predict(X)
    model.score(X, y)
    certus.verify(model, X, y)
    assert {name: pickle.dumps(value) for name, value in vars(model).items()} == before


# --- many at once ---------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), RidgeCV()], ids=str)
def test_joblib_gives_what_a_loop_gives(model, backend, blas_as_before):
    X, y, _ = regression(6, n=3_000, p=5)
    serial = cross_val_predict(model, X, y, cv=4)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        parallel = cross_val_predict(model, X, y, cv=4)
    np.testing.assert_array_equal(parallel, serial)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fitted_models_come_back_from_joblib_with_their_certificates(backend):
    X, y, _ = regression(6, n=3_000, p=5)
    models = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(Ridge(alpha=alpha).fit)(X, y) for alpha in (0.1, 1.0, 10.0)
    )
    for alpha, model in zip((0.1, 1.0, 10.0), models, strict=True):
        here = Ridge(alpha=alpha).fit(X, y)
        np.testing.assert_array_equal(model.coef_, here.coef_)
        assert model.certificate_.objective == here.certificate_.objective
        assert certus.verify(model, X, y).certified


def at_once(count, work):
    """work(0) … work(count − 1) on as many threads, let go together."""
    gate = threading.Barrier(count)

    def one(i):
        gate.wait(timeout=60)
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@each_case
def test_eight_threads_predict_what_one_does(case, blas_as_before):
    X, y, _ = case.large(7)
    model = case.make().fit(X, y)
    expected = model.predict(X)
    for predicted in at_once(8, lambda i: model.predict(X)):
        np.testing.assert_array_equal(predicted, expected)


@pytest.mark.costly
@each_case
def test_fits_at_once_are_the_fits_one_by_one(case, blas_as_before):
    problems = [case.large(seed) for seed in range(4)]
    serial = [case.make().fit(X, y) for X, y, _ in problems]
    for here, there in zip(
        serial, at_once(4, lambda i: case.make().fit(*problems[i][:2])), strict=True
    ):
        np.testing.assert_array_equal(there.coef_, here.coef_)
        assert there.certificate_.gap == here.certificate_.gap


def test_what_is_computed_when_looked_at_can_be_looked_at_by_all():
    X, y, _ = regression(8, n=500, p=30)
    model = LinearRegression().fit(X, y)
    expected = clone(model).fit(X, y).singular_
    for singular in at_once(8, lambda i: model.singular_):
        np.testing.assert_array_equal(singular, expected)
