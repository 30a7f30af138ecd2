"""Every estimator with a certificate, and every model that ``verify`` reads, is attacked."""

import importlib
import inspect
import pkgutil

import numpy as np
from sklearn.base import BaseEstimator

import certus
from certus.audit import reading

from .targets import TARGETS

DRAWS = 40  # of a target's parameters: some draw the class too
NO_TARGET = {
    "certus.cluster.Tree": "what the target 'SciPy linkage' makes of SciPy's merges",
    "hdbscan.hdbscan.HDBSCAN": "not installed here; its claim is that of sklearn.cluster.HDBSCAN",
    "certus.metrics.CalibratedClassifier": "calibrates a fitted classifier, and has no objective",
    "certus.metrics.PriorCorrectedClassifier": "corrects a fitted classifier, and has no objective",
    "certus.preprocessing.GaussianBasis": "transforms columns, and has no objective",
    "certus.preprocessing.PolynomialBasis": "transforms columns, and has no objective",
    "certus.preprocessing.SigmoidBasis": "transforms columns, and has no objective",
}


def public_name(cls):
    parts = [part for part in cls.__module__.split(".") if not part.startswith("_")]
    return ".".join([*parts[:2], cls.__name__])


def attacked():
    models = (
        target.make(np.random.default_rng(seed), 4)
        for target in TARGETS.values() if not target.tree for seed in range(DRAWS)
    )  # fmt: skip
    return {public_name(type(model)) for model in models}


def read():
    """Names of the models that have a reader, but for those that are always refused."""
    return {
        f"{library}.{name}"
        for library, readers in reading._READERS.items()
        for name, reader in readers.items() if reader not in reading.REFUSING_READERS
    }  # fmt: skip


def estimators():
    """Names of the public estimators of certus."""
    found = set()
    for module in pkgutil.iter_modules(certus.__path__):
        if module.ispkg and not module.name.startswith("_"):
            public = importlib.import_module(f"certus.{module.name}")
            found |= {
                f"certus.{module.name}.{name}"
                for name in getattr(public, "__all__", ())
                if inspect.isclass(cls := getattr(public, name)) and issubclass(cls, BaseEstimator)
            }
    return found


def test_every_reader_and_every_estimator_is_a_target_or_says_why_not():
    assert sorted((read() | estimators()) - attacked() - set(NO_TARGET)) == []


def test_no_exception_is_stale():
    assert sorted(set(NO_TARGET) - (read() | estimators())) == []
    assert sorted(set(NO_TARGET) & attacked()) == []


def test_a_target_of_the_same_class_name_is_of_its_own_library():
    for name, target in TARGETS.items():
        if not target.tree:
            cls = public_name(type(target.make(np.random.default_rng(0), 4)))
            assert cls.startswith("sklearn." if name.startswith("sklearn ") else "certus."), name
