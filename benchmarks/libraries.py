"""The libraries that enter, each as a function of the module its estimators are in.

A library that is not installed, or lacks an estimator, gives "–" in the tables.
"""

import contextlib

from benchmarks.harness import Contestant


def certus(module):
    return Contestant("certus", "certus", f"certus.{module}", "certus", context=certus_threads)


def sklearn(module):
    return Contestant("sklearn", "sklearn", f"sklearn.{module}", "scikit-learn")


def sklearnex(module):
    """oneDAL behind scikit-learn's interface; what oneDAL lacks runs in scikit-learn instead."""
    return Contestant(
        "sklearnex",
        "sklearnex",
        f"sklearnex.{module}",
        "scikit-learn-intelex",
        ran_itself=onedal_ran,
    )


def numpy():
    return Contestant("numpy", "numpy", "benchmarks.numpy_peer", "numpy")


def certus_inference():
    return Contestant(
        "certus", "certus", "benchmarks.certus_inference", "certus", context=certus_threads
    )


def statsmodels():
    return Contestant("statsmodels", "statsmodels", "benchmarks.statsmodels_peer", "statsmodels")


def certus_threads(threads):
    """certus's own thread setting, on top of the CPUs the process is pinned to."""
    if threads is None:
        return contextlib.nullcontext()
    import certus

    return certus.config_context(threads=threads)


def onedal_ran(model):
    # sklearnex sets this attribute only if it did not fall back to scikit-learn
    return getattr(model, "_onedal_estimator", None) is not None
