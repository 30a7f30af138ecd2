"""Calls of the pages of standard errors and intervals, from the results of ``inference``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...definitions.terms.families import GammaAmounts, PoissonCounts
from ...definitions.terms.likelihoods.firth import Firth
from ...definitions.terms.likelihoods.multinomial import MultinomialLikelihood
from ...definitions.terms.likelihoods.ordinal import ProportionalOdds
from ...definitions.terms.targets import Classes, TargetColumn, TargetColumns
from .problem import PageCall

if TYPE_CHECKING:
    from ...inference import Inference, LogisticInference, LogLinkInference, OrdinalInference

FAMILIES = {"poisson": PoissonCounts, "gamma": GammaAmounts}


def inference(fit: "Inference", groups: object = None) -> Iterator[PageCall]:
    """Yield a problem for the covariance of each target; ``groups`` of cov="cluster"."""
    m = len(fit.names)
    covariances = np.reshape(fit.covariance, (-1, m, m))
    alphas = np.broadcast_to(np.ravel(fit.alpha), len(covariances))
    for k, covariance in enumerate(covariances):
        yield PageCall("inference", TargetColumn(k), {
            "covariance": covariance, "cov": fit.cov, "alpha": float(alphas[k]),
            "fit_intercept": fit.fit_intercept, "groups": groups,
        })  # fmt: skip


def logistic_inference(fit: "LogisticInference", groups: object = None) -> PageCall:
    """The problem for the covariance of all coefficients; ``groups`` of cov="cluster"."""
    return PageCall("logistic_inference", Classes(), {
        "coef": fit.coef.T, "covariance": fit.covariance, "cov": fit.cov,
        "alpha": float(fit.alpha), "fit_intercept": fit.fit_intercept, "groups": groups,
    })  # fmt: skip


def log_link_inference(fit: "LogLinkInference", groups: object = None) -> PageCall:
    """The problem for the covariance of all coefficients; ``groups`` of cov="cluster"."""
    return PageCall("log_link_inference", TargetColumns(), {
        "family": FAMILIES[fit.family](), "coef": fit.coef, "covariance": fit.covariance,
        "cov": fit.cov, "alpha": float(fit.alpha), "fit_intercept": fit.fit_intercept,
        "groups": groups,
    })  # fmt: skip


def ordinal_inference(fit: "OrdinalInference") -> PageCall:
    """The problem for the covariance of w and the thresholds."""
    p = len(fit.coef) - len(fit.classes) + 1
    return PageCall("ordinal_inference", Classes(), {
        "w": fit.coef[:p], "c": fit.coef[p:], "covariance": fit.covariance,
        "alpha": float(fit.alpha),
    })  # fmt: skip


def proportional_odds(fit: "OrdinalInference", statistic: float, columns: object) -> PageCall:
    """The problem for the statistic of ``fit.proportional_odds()``, of some columns."""
    return PageCall("proportional_odds", Classes(), {
        "statistic": statistic, "columns": columns, "n_classes": len(fit.classes),
    })  # fmt: skip


def prediction(fit: "Inference", X_new: np.ndarray, level: float = 0.95) -> PageCall:
    """The problem for ``fit.predict(X_new, level)`` of one target."""
    table = fit.predict(X_new, level)
    new = {name: table[name] for name in table.columns if name.startswith("new ")}
    nu = fit.degrees_of_freedom if fit.n_groups is None else fit.n_groups - 1
    return PageCall("prediction", TargetColumn(0), {
        "X_new": X_new, "coef": fit.coef, "covariance": fit.covariance, "level": level,
        "nu": float(nu), "fit": table["fit"], "std_error": table["std error"], "low": table["low"],
        "high": table["high"], "sigma2": float(fit.sigma2), "fit_intercept": fit.fit_intercept,
        **{name.replace(" ", "_"): values for name, values in new.items()},
    })  # fmt: skip


def probability(fit: "LogisticInference", X_new: np.ndarray, level: float = 0.95) -> PageCall:
    """The problem for ``fit.predict(X_new, level)`` of two classes."""
    table = fit.predict(X_new, level)
    return PageCall("prediction", Classes(), {
        "X_new": X_new, "coef": fit.coef, "covariance": fit.covariance, "level": level,
        "nu": np.inf, "fit": table["probability"], "std_error": table["std error"],
        "low": table["low"], "high": table["high"], "fit_intercept": fit.fit_intercept,
        "logistic": True,
    })  # fmt: skip


def nested_models(statistic: float, columns: object, n_classes: int | None = None) -> PageCall:
    """The problem for ``compare``; ``n_classes``: of a likelihood ratio."""
    if n_classes is None:
        of = {"columns": columns, "statistic": statistic}
        return PageCall("nested_models", TargetColumn(0), of)
    return PageCall("nested_models", Classes(), {
        "columns": columns, "statistic": statistic, "n_classes": n_classes,
        "likelihood": MultinomialLikelihood(),
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


def ordinal_profile_intervals(
    fit: "OrdinalInference", low: np.ndarray, high: np.ndarray, level: float
) -> PageCall:
    """The problem for likelihood-ratio intervals of w and the thresholds."""
    K = len(fit.classes)
    return PageCall("profile_intervals", Classes(), {
        "coef": fit.coef, "low": low, "high": high, "level": level, "fit_intercept": False,
        "likelihood": ProportionalOdds(K), "n_thresholds": K - 1,
    })  # fmt: skip
