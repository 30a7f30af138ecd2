"""Scorers that put certificates into the results of a search.

scoring={"score": "accuracy", "certified": certified, "gap": relative_gap}, refit="score"
"""

from typing import Any

from ..certificate import Certificate


def certified(estimator: object, X: object = None, y: object = None) -> float:
    """Return 1.0 where the certificate of a fitted model holds, else 0.0.

    A scorer for ``GridSearchCV`` and its like: ``mean_test_certified`` is the share of the fits
    whose claim held. The rows of the score have no influence, since a certificate is about those of
    the fit.

    Parameters
    ----------
    estimator : fitted model
        A ``certus.Audited`` or a model of certus, also inside pipelines and searches.
    X, y : ignored
    """
    return float(_certificate_of(estimator).certified)


def relative_gap(estimator: object, X: object = None, y: object = None) -> float:
    """Return the residual of a fitted model's certificate: the gap as a share of its scale.

    A scorer like ``certified``; smaller is better, and infinity means that nothing was proven. Do
    not choose a model by it.

    Parameters
    ----------
    estimator : fitted model
        A ``certus.Audited`` or a model of certus, also inside pipelines and searches.
    X, y : ignored
    """
    return float(_certificate_of(estimator).residual)


def _certificate_of(estimator: object) -> Certificate:
    """The certificate of a model, or of the model inside a pipeline or search."""
    model: Any = estimator
    while not hasattr(model, "certificate_"):
        if hasattr(model, "steps"):
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "regressor_"):
            model = model.regressor_
        else:
            raise TypeError(
                f"{type(model).__name__} has no certificate: put it into certus.Audited, and fit it"
            )
    found: Certificate = model.certificate_
    return found
