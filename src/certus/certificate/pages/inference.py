"""Calls of the pages of standard errors and intervals, from the results of ``inference``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...definitions.terms.likelihoods.firth import Firth
from ...definitions.terms.likelihoods.multinomial import MultinomialLikelihood
from ...definitions.terms.targets import Classes, TargetColumn
from .problem import PageCall

if TYPE_CHECKING:
    from ...inference import Inference, LogisticInference


def inference(fit: "Inference") -> Iterator[PageCall]:
    """Yield a problem for the covariance of each target."""
    m = len(fit.names)
    covariances = np.reshape(fit.covariance, (-1, m, m))
    alphas = np.broadcast_to(np.ravel(fit.alpha), len(covariances))
    for k, covariance in enumerate(covariances):
        yield PageCall("inference", TargetColumn(k), {
            "covariance": covariance, "cov": fit.cov, "alpha": float(alphas[k]),
            "fit_intercept": fit.fit_intercept,
        })  # fmt: skip


def logistic_inference(fit: "LogisticInference") -> PageCall:
    """The problem for the covariance of all coefficients."""
    return PageCall("logistic_inference", Classes(), {
        "coef": fit.coef.T, "covariance": fit.covariance, "cov": fit.cov,
        "alpha": float(fit.alpha), "fit_intercept": fit.fit_intercept,
    })  # fmt: skip


def profile_intervals(
    fit: "LogisticInference", low: np.ndarray, high: np.ndarray, level: float, firth: bool = False
) -> PageCall:
    """The problem for likelihood-ratio intervals: ``fit.conf_int(level, kind="lr")``.

    ``firth``: by Firth's penalised likelihood, as for ``FirthInference``.
    """
    likelihood = Firth() if firth else MultinomialLikelihood()
    return PageCall("profile_intervals", Classes(), {
        "coef": fit.coef.T, "low": low, "high": high, "level": level, "likelihood": likelihood,
        "fit_intercept": fit.fit_intercept,
    })  # fmt: skip
