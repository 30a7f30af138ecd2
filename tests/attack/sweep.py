"""``python -m tests.attack.sweep``: fit every estimator at its default settings, a minute for each.

At n ≤ 1,000 and n·p ≤ 10⁶ no fit shall take over 60 s. Each fit runs in a process of its own, on
normal columns and on raw ones (sizes from 1 to 10⁴, far from 0). Fits over the limit, fits that are
not certified and errors are marked. A fit over the limit is made a second time, for the first may
have compiled kernels. Times are of the CPU, of all threads together, so that other work on the
machine makes no fit late.
"""

import argparse
import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from certus import cluster, feature_selection, linear_model, mixture, neighbors, svm

SHAPES = [(1000, 1000), (300, 3000), (72, 7129)]
KINDS = ["normal", "raw"]
COUNTS = ["BernoulliMixture", "PoissonMixture", "MultinomialMixture"]  # what these are fitted to
LIMIT = 60.0  # seconds of CPU time
COMPILING = 240.0  # seconds more for a first fit


def estimators() -> dict[str, type]:
    """Every public class with ``fit`` that needs no argument."""
    found = {}
    for module in (linear_model, svm, cluster, mixture, neighbors, feature_selection):
        for name in module.__all__:
            cls = getattr(module, name)
            if isinstance(cls, type) and hasattr(cls, "fit"):
                try:
                    cls()
                except TypeError:
                    continue
                found[name] = cls
    return found


def data(name: str, kind: str, n: int, p: int) -> tuple[np.ndarray, np.ndarray | None]:
    """X and y of an estimator, the same each time."""
    rng = np.random.default_rng([20261118, n, p])
    X = rng.normal(size=(n, p))
    signal = X[:, :5].sum(axis=1) + rng.normal(size=n)
    if name in COUNTS:
        X = np.floor(np.abs(X))
        return (np.minimum(X, 1) if name == "BernoulliMixture" else X), None
    if kind == "raw":
        size = 10.0 ** rng.uniform(0, 4, size=p)
        X = size * (X + rng.uniform(0, 5, size=p))
    model = estimators()[name]()
    if is_regressor(model):
        return X, 100 + 10 * signal
    if name == "OrdinalRegression":
        return X, np.digitize(signal, [-1.0, 1.0])
    if is_classifier(model) or name.startswith("NCFS"):
        return X, (signal > 0).astype(int)
    return X, None


def _fit(pipe: Connection, name: str, kind: str, n: int, p: int, limit: float) -> None:
    X, y = data(name, kind, n, p)
    model, cpu = estimators()[name](), time.process_time()
    threading.Thread(target=_end_at, args=(cpu + limit,), daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X) if y is None else model.fit(X, y)
        found: Any = getattr(model, "certificate_", None)
        status = "no certificate" if found is None else found.status
        certified = found is None or found.certified
    except Exception as error:
        status, certified = f"{type(error).__name__}: {str(error)[:80]}", False
    pipe.send((status, certified, time.process_time() - cpu))


def _end_at(limit: float) -> None:
    """End the process when it has used so many seconds of CPU time (RLIMIT_CPU came late)."""
    while time.process_time() < limit:
        time.sleep(0.2)
    os._exit(1)


def outcome(name: str, kind: str, n: int, p: int, limit: float) -> tuple[str, bool, float]:
    """Status, whether it is as it should be, and CPU seconds of a fit with compiled kernels."""
    found = _run(name, kind, n, p, limit + COMPILING)
    return found if found[2] <= limit else _run(name, kind, n, p, limit)


def _run(name: str, kind: str, n: int, p: int, limit: float) -> tuple[str, bool, float]:
    context = multiprocessing.get_context("fork")  # nothing has started threads here
    here, there = context.Pipe()
    process = context.Process(target=_fit, args=(there, name, kind, n, p, limit))
    process.start()
    there.close()  # so that the end of the process is the end of the pipe
    try:
        status, certified, cpu = here.recv()
        return (status, certified, cpu) if cpu <= limit else (f"over {limit:.0f} s", False, cpu)
    except EOFError:
        return f"over {limit:.0f} s", False, limit
    finally:
        process.kill()
        process.join()


def cases(how: argparse.Namespace) -> Iterator[tuple[str, str, int, int]]:
    """Estimator, kind of columns and shape of every fit that is asked for."""
    for n, p in SHAPES if how.shape is None else [SHAPES[how.shape]]:
        for kind in KINDS if how.kind is None else [how.kind]:
            for name in [how.only] if how.only else estimators():
                yield name, kind, n, p


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack.sweep", description=__doc__)
    parser.add_argument("--only", choices=list(estimators()), help="one estimator")
    parser.add_argument("--shape", type=int, choices=range(len(SHAPES)), help="one of the shapes")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds of CPU time for each fit"
    )
    how = parser.parse_args()
    late = 0
    for name, kind, n, p in cases(how):
        status, good, cpu = outcome(name, kind, n, p, how.limit)
        late += status.startswith("over ")
        mark = " " if good else "*"
        print(f"{mark} {name:28}{kind:8}{n:>5} × {p:<6}{cpu:8.1f} s  {status}", flush=True)
    print(f"{late} over the limit")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
