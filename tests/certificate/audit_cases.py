"""Models that others fitted, what ``certus.verify`` says of them, and exported scripts that run."""

import subprocess
import sys
import warnings

import numpy as np
from sklearn.base import clone

import certus

TIGHT = {"tol": 1e-13, "max_iter": 100_000}


def fitted(model, X, y, s=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y, **({} if s is None else {"sample_weight": s}))


def certified(model, X, y, s=None):
    c = certus.verify(model, X, y, s)
    assert c.certified, c.explain()
    return c


def refused(model, X, y, s=None):
    c = certus.verify(model, X, y, s)
    assert not c.certified, c.explain()
    return c


def ran(folder, X, y):
    if X is not None:
        np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return subprocess.run(
        [sys.executable, "-I", "check.py", "X.npz" if X is None else "X.npy", "y.npy"], cwd=folder,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
