"""Bases of estimators: one base certifies, none is an estimator itself, none has its methods
overridden."""

import inspect
from importlib import import_module

import pytest
import sklearn.linear_model
from sklearn.base import BaseEstimator, MetaEstimatorMixin

from certus.base.certified import CertifiedEstimator

ROOMS = (
    "linear_model", "cluster", "mixture", "neighbors", "preprocessing", "feature_selection", "svm",
    "metrics",
)  # fmt: skip
# scikit-learn's own: of its classes, the second is a base of the first as well
AS_IN_SKLEARN = {("Lasso", "ElasticNet"), ("LogisticRegressionCV", "LogisticRegression")}
BY_COOPERATION = {"__init__", "__sklearn_tags__"}  # each adds to what its bases say


def public_estimators():
    for room in ROOMS:
        module = import_module(f"certus.{room}")
        for name in module.__all__:
            cls = getattr(module, name)
            if inspect.isclass(cls) and issubclass(cls, BaseEstimator):
                yield cls


ESTIMATORS = list(public_estimators())
CERTIFIED = [
    cls
    for cls in ESTIMATORS
    if "certificate_" in cls.__doc__.partition("Examples\n")[0]
    and not issubclass(cls, MetaEstimatorMixin)  # hands on the certificate of the model in it
]


def bases_of(cls):
    return [base for base in cls.__mro__[1:] if base.__module__.startswith("certus.")]


def own(cls):
    """Names that the body of a class defines; inherited methods are wrapped to take tables."""
    return {
        name
        for name, value in vars(cls).items()
        if not hasattr(value, "_accepts_tables")
        or inspect.unwrap(value).__qualname__.startswith(f"{cls.__name__}.")
    }


def test_every_estimator_with_a_certificate_has_the_one_base():
    assert len(CERTIFIED) > 25
    assert not [cls.__name__ for cls in CERTIFIED if not issubclass(cls, CertifiedEstimator)]
    theirs = {"_set_certificate", "_warn_of_certificate", "_conclude", "_html_repr"}
    again = [
        f"{base.__name__}.{name}"
        for cls in CERTIFIED
        for base in (cls, *bases_of(cls))
        if base is not CertifiedEstimator
        for name in sorted(theirs & set(vars(base)))
    ]
    assert not again


def test_no_estimator_is_the_base_of_another_but_where_scikit_learns_is():
    pairs = {
        (cls.__name__, base.__name__)
        for cls in ESTIMATORS
        for base in bases_of(cls)
        if base in ESTIMATORS
    }
    assert pairs == AS_IN_SKLEARN
    for name, base in AS_IN_SKLEARN:
        theirs = sklearn.linear_model
        assert issubclass(getattr(theirs, name), getattr(theirs, base))


def test_only_abstract_methods_are_overridden():
    wrong = set()
    for cls in ESTIMATORS:
        chain = [cls, *bases_of(cls)]
        for i, low in enumerate(chain):
            for high in chain[i + 1 :]:
                if not issubclass(low, high) or (low.__name__, high.__name__) in AS_IN_SKLEARN:
                    continue
                for name in own(low) & own(high) - BY_COOPERATION:
                    value = vars(high)[name]
                    if not (inspect.isfunction(value) or isinstance(value, property)):
                        continue
                    if not getattr(value, "__isabstractmethod__", False):
                        wrong.add(f"{low.__name__} overrides {high.__name__}.{name}")
    assert not sorted(wrong)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_nothing_abstract_is_left_in_an_estimator(cls):
    assert not getattr(cls, "__abstractmethods__", frozenset())
