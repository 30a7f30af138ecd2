"""Results of statsmodels as fitted models that readers know; statsmodels is not imported.

| model of the result | claim: minimal is |
|---|---|
| OLS, WLS(weights=s), GLM(Gaussian()) | Σ s (y − xᵀβ − o)² |
| Logit, GLM(Binomial()) | Σ s log(1 + exp(−y xᵀβ)), y = ±1 |
| Poisson, GLM(Poisson()) | 1/(2S) Σ s d(y, exp(o + xᵀβ)), d the Poisson deviance, S = Σ s |
| Logit and Poisson, fit_regularized(alpha=a) | the negative log-likelihood + a ‖β‖₁ |

β contains the intercept, whose column is among those of X. Where X has a constant column that is
not penalised, that column is dropped and its coefficient is b = c β_const, c its value. A penalised
one is a column like the others.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..labels import Labels
from ..readers import linear, penalized
from ..readers.classifiers import formula

LIBRARY = "statsmodels"
CANONICAL = {"Gaussian": "identity", "Binomial": "logit", "Poisson": "log"}
LIKELIHOODS = {
    "OLS": "Gaussian", "WLS": "Gaussian", "Logit": "Binomial", "Poisson": "Poisson",
}  # fmt: skip
WHAT_CAN = (
    "only OLS, WLS, Logit, Poisson and GLM with the families Gaussian, Binomial and Poisson and "
    "their canonical links can"
)


class ResultFit(BaseEstimator):
    """A result as a linear model with scikit-learn's attributes."""

    fit_intercept = True
    positive = False
    l1 = 0.0

    def __init__(self) -> None:
        pass

    def set(
        self, name: str, coef: np.ndarray, intercept: float | None, columns: list[str]
    ) -> "ResultFit":
        """Set the model's name, coefficients and names of columns; None: there is no intercept."""
        self.public_name = f"{LIBRARY}.{name}"
        self.coef_ = coef
        self.intercept_ = 0.0 if intercept is None else intercept
        self.fit_intercept = intercept is not None
        self.columns_ = columns
        self.notes_: tuple[str, ...] = ()
        return self


class GaussianFit(RegressorMixin, ResultFit):
    """OLS, WLS or GLM(Gaussian())."""


class BinomialFit(ClassifierMixin, ResultFit):
    """Logit or GLM(Binomial())."""

    classes_ = np.array([0.0, 1.0])


class PoissonFit(RegressorMixin, ResultFit):
    """Poisson or GLM(Poisson())."""


FITS: dict[str, type[ResultFit]] = {
    "Gaussian": GaussianFit, "Binomial": BinomialFit, "Poisson": PoissonFit,
}  # fmt: skip


class Claimed(NamedTuple):
    """What a result claims: its model, and the column of X that is the intercept's."""

    fit: ResultFit
    constant: int | None


def is_result(model: object) -> bool:
    """Return whether this is a model or a result of statsmodels."""
    return any(cls.__module__.partition(".")[0] == LIBRARY for cls in type(model).__mro__)


def claimed(result: Any) -> Claimed:
    """Return what a result claims; ValueError with the reason where that cannot be checked."""
    name, family = _likelihood(result)
    beta = np.asarray(result.params, dtype=float)
    if beta.ndim != 1:
        raise ValueError(f"params has shape {beta.shape}, and one coefficient a column is right")
    model = result.model
    constant = getattr(getattr(model, "data", None), "const_idx", None)
    columns = column_names(model) or [str(j) for j in range(len(beta))]
    l1, both = _strength(result, len(beta), constant)
    if both or not isinstance(constant, int) or len(columns) != len(beta):
        constant = None
    fit = FITS[family]()
    if constant is None:
        fit.set(name, beta, None, columns)
    else:
        others = np.delete(beta, constant)
        kept = columns[:constant] + columns[constant + 1 :]
        fit.set(name, others, float(beta[constant]), kept)
    fit.l1 = l1
    return Claimed(fit, constant)


def _likelihood(result: Any) -> tuple[str, str]:
    """Return the names of the model and of its family."""
    if not hasattr(result, "params") or not hasattr(result, "model"):
        raise ValueError(
            f"statsmodels' {type(result).__name__} is not a fitted result: give that of fit()"
        )
    model = result.model
    name = next(c.__name__ for c in type(model).__mro__ if c.__module__.startswith(LIBRARY))
    if name != "GLM" and name not in LIKELIHOODS:
        raise ValueError(f"statsmodels' {name} cannot be audited: {WHAT_CAN}")
    _require_plain(result, name)
    if name != "GLM":
        return name, LIKELIHOODS[name]
    family, link = type(model.family).__name__, type(model.family.link).__name__
    if CANONICAL.get(family) != link.lower():
        raise ValueError(
            f"statsmodels' GLM with {family} and the link {link} cannot be audited: {WHAT_CAN}"
        )
    if np.any(np.asarray(getattr(model, "n_trials", 1)) != 1):
        raise ValueError(
            "this GLM counts successes of several trials a row, and certus has no such targets: "
            "fit it on a row for successes and one for failures, with freq_weights"
        )
    if family == "Binomial" and np.any(offset_of(model)):
        raise ValueError("certus has no definition of a logistic regression with an offset")
    return f"GLM({family})", family


def _require_plain(result: Any, name: str) -> None:
    """Refuse results whose params are not the optimum of a known objective."""
    if "RegularizedResults" in (c.__name__ for c in type(_inner(result)).__mro__):
        raise ValueError(
            f"fit_regularized of statsmodels' {name} does not record alpha and L1_wt, so what it "
            "minimised is not known: certus.audit_coefficients(result.params, X, y) looks for the "
            "penalty with which it is an optimum"
        )
    if getattr(result, "regularized", False):
        raise ValueError(
            "fit_regularized(refit=True) fits again on the columns that it selected, and the "
            "choice of columns has no optimum to compare with: verify a fit on these columns alone"
        )
    if getattr(result, "k_constr", 0) or getattr(result, "constraints", None) is not None:
        raise ValueError(
            "fit_constrained has linear constraints, and certus has no definition of that"
        )


def _inner(result: Any) -> Any:
    """Return the result inside its wrapper."""
    return getattr(result, "_results", result)


def _strength(result: Any, p: int, constant: int | None) -> tuple[float, bool]:
    """Return a of a‖β‖₁, and whether the constant column is penalised as well."""
    if not type(_inner(result)).__name__.startswith("L1"):
        return 0.0, False
    settings = getattr(result, "mle_settings", {})
    if settings.get("alpha") is None:
        raise ValueError("this result does not record alpha, so what it minimised is not known")
    alpha = np.broadcast_to(np.asarray(settings["alpha"], dtype=float), (p,))
    free = constant is not None and alpha[constant] == 0
    among = np.delete(alpha, constant) if free and constant is not None else alpha
    if np.ptp(among) > 0:
        raise ValueError(
            "fit_regularized penalised columns by different alpha, and certus has no definition "
            "of that. Multiply each column by its alpha's reciprocal, and give one alpha"
        )
    return float(among[0]) if len(among) else 0.0, not free


def column_names(model: Any) -> list[str]:
    """Return the names of exog's columns; empty where the rows were removed."""
    return [str(name) for name in getattr(model, "exog_names", None) or ()]


def offset_of(model: Any) -> Any:
    """Return offset + log(exposure), which statsmodels stores as such; 0 where there is none."""
    total: Any = 0.0
    for name in ("offset", "exposure"):
        part = getattr(model, name, None)
        if part is not None and np.size(part):
            total = total + np.asarray(part, dtype=float)
    return total


# --- readers --------------------------------------------------------------------------------------


def read_gaussian(fit: Any, rows: Any) -> dict[str, Any]:
    return {**linear.read_least_squares(fit, rows), "notes": fit.notes_}


def read_poisson(fit: Any, rows: Any) -> dict[str, Any]:
    """Read the Poisson likelihood; divided by S, so is its penalty."""
    S = rows.shape[0] if rows.s is None else float(rows.S)
    fit.alpha, fit.l1_ratio = fit.l1 / S, 1.0
    return {**penalized.read_poisson(fit, rows), "notes": fit.notes_}


def read_binomial(fit: Any, _rows: Any) -> dict[str, Any]:
    parameters = {
        **linear._coefficients(fit), "C": 1.0, "l1": fit.l1, "l2": 0.0, "class_weight": None,
    }  # fmt: skip
    return {
        "definition": "logistic",
        "formula": formula("logistic", **parameters),
        "parameters": parameters,
        "labels": Labels(fit.classes_),
        "iteration": {"max_iter": None, "tol": None},
        "notes": fit.notes_,
    }


READERS: dict[type, Callable[[Any, Any], dict[str, Any]]] = {
    GaussianFit: read_gaussian, BinomialFit: read_binomial, PoissonFit: read_poisson,
}  # fmt: skip


def is_fit(model: object) -> bool:
    return type(model) in READERS


def read(fit: Any, rows: Any) -> dict[str, Any]:
    """Return the arguments of a Reading."""
    return READERS[type(fit)](fit, rows)
