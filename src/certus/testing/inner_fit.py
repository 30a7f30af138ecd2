"""The model inside an estimator that is not fitted yet, and the weights that it is given."""

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object

from ..audit.wrappers import HOLDERS
from ..certificate import Certificate

SEARCH = {"estimator", "cv", "refit"}  # parameters of GridSearchCV and its like


def _takes(estimator: Any, names: set[str]) -> bool:
    return hasattr(estimator, "get_params") and names <= set(estimator.get_params(deep=False))


def _inside(estimator: Any) -> tuple[str, Any] | None:
    """The parameter that holds the model, and the model; None: it is the model itself."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1]
    if isinstance(estimator, TransformedTargetRegressor) and estimator.regressor is not None:
        return "regressor", estimator.regressor
    if any(_takes(estimator, names) for names in (SEARCH, *HOLDERS)):
        return "estimator", estimator.estimator
    return None


def last_of(estimator: Any) -> Any:
    """Return the model inside pipelines, searches, calibrations and transformed targets."""
    found = _inside(estimator)
    return estimator if found is None else last_of(found[1])


def chosen_by_search(estimator: Any) -> bool:
    """Return whether a search, which may choose another model, is around the model."""
    found = _inside(estimator)
    return _takes(estimator, SEARCH) or (found is not None and chosen_by_search(found[1]))


def weights_of_fit(estimator: Any, passed: dict[str, Any]) -> Any:
    """Return the weights that the innermost model is given by ``fit(X, y, **passed)``, or None.

    Pipelines take them as ``step__sample_weight``, or by metadata routing.
    """
    found = _inside(estimator)
    if found is None:
        return passed.get("sample_weight")
    name, inner = found
    if isinstance(estimator, Pipeline):
        prefix = f"{name}__"
        below = {key[len(prefix) :]: v for key, v in passed.items() if key.startswith(prefix)}
        if "sample_weight" in passed and _requests_weights(inner):
            below["sample_weight"] = passed["sample_weight"]
        return weights_of_fit(inner, below)
    return weights_of_fit(inner, passed)


def _requests_weights(estimator: Any) -> bool:
    routing = get_routing_for_object(estimator)
    return bool(routing.consumes("fit", ["sample_weight"]))


def own_certificate(model: Any) -> Certificate | None:
    """Return the certificate of a fitted model of certus, also inside a pipeline."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    found: Certificate | None = getattr(model, "certificate_", None)
    return found
