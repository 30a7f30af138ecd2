"""Audited: any estimator whose claim certus can check, checked after every fit.

fit ─► clone ─► estimator_ ─► certus.verify on the rows of the fit ─► certificate_
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import audit
from ..base.collections import accept_collections
from ..certificate import TOL, Certificate, verify
from ..certificate.explain.certificate import headline, not_certified
from ..certificate.explain.separation import separation_warning
from ..certificate.fitted_rows import ROWS_GIVEN, WEIGHTS_GIVEN
from ..certificate.problem import unknown_model
from ..exceptions import (
    CannotVerifyError,
    NotCertifiedError,
    NotCertifiedWarning,
    SeparationWarning,
)
from ..runtime.user_frame import warn_user
from .inner_fit import chosen_by_search, last_of, own_certificate, weights_of_fit

OF_VERIFY = ("offset", "exposure")  # arguments of a fit that its check needs as well


def _has(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Make a method available where the estimator, fitted or not, has it."""

    def has(self: "Audited") -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)  # its own AttributeError
        return True

    decorate: Callable[[Callable[..., Any]], Any] = available_if(has)
    return decorate


def _accepts_tables(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method whose tables and Dask collections the estimator's own method reads."""
    vars(method)["_accepts_tables"] = True
    return method


class Audited(MetaEstimatorMixin, BaseEstimator):
    """An estimator of certus or scikit-learn whose claim is checked after every fit.

    ``fit`` fits a clone of the estimator and runs ``certus.verify`` on the same rows and weights.
    If the claim does not hold, it warns or raises. Everything else is the estimator's.

    Parameters
    ----------
    estimator : estimator
        One that ``certus.verify`` can read, also inside a pipeline or a search.
    on_fail : {"warn", "raise"}, default="warn"
        Where the claim does not hold: a ``NotCertifiedWarning`` (a ``SeparationWarning`` where
        there is no finite optimum), or a ``NotCertifiedError``. ``estimator_`` and
        ``certificate_`` are set in both cases.
    tol : float, default=1e-6
        Residual up to which a fit is called optimal, as for ``certus.verify``.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    certificate_ : Certificate
        What ``certus.verify`` found.
    classes_, labels_, n_features_in_, feature_names_in_
        Those of ``estimator_``, if it has them.

    See Also
    --------
    certus.testing.certified : scorer that puts the certificates into the results of a search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> import certus
    >>> X, y = load_iris(return_X_y=True)
    >>> model = certus.Audited(LogisticRegression(max_iter=1000, tol=1e-8)).fit(X, y)
    >>> model.certificate_.status
    'optimal'
    >>> model.predict(X[:3])
    array([0, 0, 0])
    """

    estimator_: Any
    certificate_: Certificate
    # sample_weight is routed to the estimator: there is nothing to request of this class
    __metadata_request__fit: ClassVar = {"sample_weight": UNUSED}
    __metadata_request__score: ClassVar = {"sample_weight": UNUSED}

    def __init__(
        self, estimator: Any, *, on_fail: Literal["warn", "raise"] = "warn", tol: float = TOL
    ):
        self.estimator = estimator
        self.on_fail = on_fail
        self.tol = tol

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> "Audited":
        """Fit a clone of the estimator, and check what it claims on these rows.

        Parameters
        ----------
        X, y : as the estimator takes them
        sample_weight : array-like of shape (n_samples,), optional
            Passed to the estimator, and to the check.
        **fit_params : dict
            Passed to the estimator; with scikit-learn's metadata routing, as its parts request.

        Returns
        -------
        self
        """
        if self.on_fail not in ("warn", "raise"):
            raise ValueError(f'on_fail={self.on_fail!r}: use "warn" or "raise"')
        if not self.tol >= 0:
            raise ValueError(f"tol={self.tol!r}: give a number that is not negative")
        last = last_of(self.estimator)
        readable = audit.known(last) or audit.fits_several(last)
        if not (readable or chosen_by_search(self.estimator)):
            raise CannotVerifyError(unknown_model(last))
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        given |= fit_params
        passed = self._routed("fit", given)
        self.estimator_ = clone(self.estimator).fit(X, y, **passed)
        weight = weights_of_fit(self.estimator, passed)
        beside = {name: passed[name] for name in OF_VERIFY if name in passed}
        found = verify(self.estimator_, X, y, weight, tol=self.tol, **beside)
        notes = tuple(note for note in found.notes if note not in (ROWS_GIVEN, WEIGHTS_GIVEN))
        self.certificate_ = replace(found, notes=notes)
        if not self.certificate_.certified:
            self._report()
        return self

    def _report(self) -> None:
        """Warn or raise; a model that has warned of the same verdict is not repeated."""
        certificate = self.certificate_
        if self.on_fail == "raise":
            raise NotCertifiedError(headline(certificate))
        own = own_certificate(self.estimator_)
        if own is not None and own.status == certificate.status:
            return
        if certificate.status == "no finite optimum":
            warn_user(separation_warning(certificate), SeparationWarning)
        else:
            warn_user(not_certified(certificate), NotCertifiedWarning)

    def _routed(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """Arguments for a method of the estimator; by scikit-learn's routing where it is on."""
        if not (given and get_config()["enable_metadata_routing"]):
            return given
        found: dict[str, Any] = process_routing(self, method, **given).estimator[method]
        return found

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of scikit-learn: ``fit`` and ``score`` pass everything on."""
        methods = MethodMapping().add(caller="fit", callee="fit")
        methods = methods.add(caller="score", callee="score")
        router = MetadataRouter(owner=self)
        return router.add(estimator=self.estimator, method_mapping=methods)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in (
            "estimator_type", "classifier_tags", "regressor_tags", "transformer_tags",
            "target_tags", "input_tags", "array_api_support", "non_deterministic",
        ):  # fmt: skip
            setattr(tags, name, deepcopy(getattr(inner, name)))
        return tags

    @property
    def _reads_rows(self) -> bool:
        """Whether the estimator reads tables of ``certus.open_rows``."""
        return bool(getattr(self.estimator, "_reads_rows", False))

    @property
    def _answers_in_blocks(self) -> bool:
        return bool(getattr(self.estimator, "_answers_in_blocks", False))

    def _of_fitted(self, name: str) -> Any:
        """Return an attribute of the fitted estimator; without one there is no such attribute."""
        fitted = vars(self).get("estimator_")
        if fitted is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before fit")
        return getattr(fitted, name)

    @property
    def classes_(self) -> np.ndarray:
        """Classes of the fitted estimator."""
        return np.asarray(self._of_fitted("classes_"))

    @property
    def labels_(self) -> np.ndarray:
        """Clusters of the rows of the fit."""
        return np.asarray(self._of_fitted("labels_"))

    @property
    def n_features_in_(self) -> int:
        """Columns that the fit has seen."""
        return int(self._of_fitted("n_features_in_"))

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns that the fit has seen."""
        return np.asarray(self._of_fitted("feature_names_in_"))

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        check_is_fitted(self, "estimator_")
        return getattr(self.estimator_, name)(*args, **kwargs)

    @_has("predict")
    def predict(self, X: Any) -> Any:
        """Return the predictions of the fitted estimator."""
        return self._call("predict", X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the fitted estimator."""
        return self._call("predict_proba", X)

    @_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the fitted estimator's probabilities."""
        return self._call("predict_log_proba", X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the fitted estimator."""
        return self._call("decision_function", X)

    @_has("score_samples")
    def score_samples(self, X: Any) -> Any:
        """Return the log-likelihood of each row by the fitted estimator."""
        return self._call("score_samples", X)

    @_has("transform")
    def transform(self, X: Any) -> Any:
        """Return the rows as the fitted estimator transforms them."""
        return self._call("transform", X)

    @_has("transform")
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the rows as the fitted estimator transforms them."""
        return self.fit(X, y, **fit_params).transform(X)

    @_has("get_feature_names_out")
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that ``transform`` makes."""
        return self._call("get_feature_names_out", input_features)

    @_has("fit_predict")
    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit, and return the clusters of the rows."""
        return self.fit(X, y, **fit_params).labels_

    @_has("score")
    @_accepts_tables
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """Return the score of the fitted estimator on these rows."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._call("score", X, y, **self._routed("score", given | params)))

    def _html_repr(self) -> str:
        shown: str = super()._html_repr()
        certificate = vars(self).get("certificate_")
        return shown if certificate is None else shown + certificate._repr_html_()


accept_collections(Audited)
