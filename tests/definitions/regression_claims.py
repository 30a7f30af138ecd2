"""Claims of the pages of regression about fitted models, and data to fit."""

import importlib
import inspect
from typing import NamedTuple

import numpy as np

from certus.certificate.pages import regression
from tests.definitions.lines import lines_to_read

TOL = 1e-6


class Total(NamedTuple):
    """The claims of all targets together."""

    objective: float
    miss: float
    scale: float
    holds: bool


def page(name):
    return importlib.import_module(f"certus.definitions.{name}")


def claims_of(problems, X, y, s=None):
    s = np.ones(len(X)) if s is None else np.asarray(s, dtype=float)
    return [page(one.page).check(X, *one.targets(y, s), **one.arguments) for one in problems]


def total_of(certificate, X, y, s=None, **edits):
    """What the pages say of a certificate's parameters, some of them edited."""
    adaptor = getattr(regression, certificate.definition.split(".")[-1])
    problems = adaptor({**certificate.parameters, **edits}, certificate.labels)
    claims = claims_of(problems, X, y, s)
    sums = (sum(getattr(one, name) for one in claims) for name in ("objective", "miss", "scale"))
    return Total(*sums, all(one.holds for one in claims))


def assert_agrees(certificate, X, y, s=None):
    """The objective is that of the proof, what it certifies holds, and edits do not."""
    total = total_of(certificate, X, y, s)
    np.testing.assert_allclose(total.objective, certificate.objective, rtol=1e-9)
    assert certificate.certified
    assert total.holds
    if certificate.bound is not None:
        rounding = 1e-12 * total.scale
        assert total.objective - total.miss <= certificate.objective + rounding
        assert total.objective >= certificate.bound - rounding
        assert total.miss <= certificate.gap + rounding
    w = certificate.parameters["w"].copy()
    largest = np.abs(w).argmax(axis=0), np.arange(w.shape[1])
    w[largest] = np.where(w[largest] == 0, 0.1, 1.01 * w[largest])
    assert not total_of(certificate, X, y, s, w=w).holds
    return total


def data(seed, n=60, p=4, targets=None):
    """Columns of different units far from 0, a sparse truth, noise with outliers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p)) + 3 * rng.normal(size=p)
    shape = p if targets is None else (p, targets)
    coef = rng.normal(size=shape) * (rng.random(shape) < 0.6)
    y = X @ coef + rng.standard_t(3, size=n if targets is None else (n, targets))
    return X, y, rng.integers(0, 4, n).astype(float)


def assert_short(name, *terms):
    """At most 80 lines of code for a model, 100 of the file; 15 a term."""
    module = page(name)
    assert lines_to_read(module, terms) <= 80
    assert len(inspect.getsource(module).splitlines()) <= 100
    for term in terms:
        assert lines_to_read(term) <= 15
