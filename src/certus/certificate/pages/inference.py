"""How the pages of standard errors and intervals are called: by what ``inference`` returns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...definitions.terms.likelihoods.firth import Firth
from ...definitions.terms.likelihoods.multinomial import Multinomial
from ...definitions.terms.targets import Classes, Column
from .problem import Problem

if TYPE_CHECKING:
    from ...inference import Inference, LogisticInference


def inference(found: "Inference") -> Iterator[Problem]:
    """A problem for each target: its covariance."""
    m = len(found.names)
    covariances = np.reshape(found.covariance, (-1, m, m))
    alphas = np.broadcast_to(np.ravel(found.alpha), len(covariances))
    for k, covariance in enumerate(covariances):
        yield Problem("inference", Column(k), {
            "covariance": covariance, "cov": found.cov, "alpha": float(alphas[k]),
            "fit_intercept": found.fit_intercept,
        })  # fmt: skip


def logistic_inference(found: "LogisticInference") -> Problem:
    """The covariance of all coefficients."""
    return Problem("logistic_inference", Classes(), {
        "coef": found.coef.T, "covariance": found.covariance, "cov": found.cov,
        "alpha": float(found.alpha), "fit_intercept": found.fit_intercept,
    })  # fmt: skip


def profile_intervals(
    found: "LogisticInference", low: np.ndarray, high: np.ndarray, level: float, firth: bool = False
) -> Problem:
    """Likelihood-ratio intervals: the columns of ``found.conf_int(level, kind="lr")``.

    ``firth``: of Firth's likelihood, as ``FirthInference`` has it.
    """
    likelihood = Firth() if firth else Multinomial()
    return Problem("profile_intervals", Classes(), {
        "coef": found.coef.T, "low": low, "high": high, "level": level, "likelihood": likelihood,
        "fit_intercept": found.fit_intercept,
    })  # fmt: skip
