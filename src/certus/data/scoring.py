"""Scoring of cross-validated classifiers: scorers, and metadata for them and for splitters."""

from inspect import signature
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.metrics import get_scorer, make_scorer
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing


class ScoredByChoice:
    """``score``, and routes of metadata, of a classifier with ``scoring`` and ``cv``."""

    scoring: object
    cv: object
    classes_: np.ndarray
    _also_default: ClassVar[str | None] = None  # another name of the default in scikit-learn
    __metadata_request__score: ClassVar = {"sample_weight": UNUSED}

    def score(
        self, X: object, y: object, *, sample_weight: object = None, **score_params: object
    ) -> float:
        """The score that ``scoring`` names.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        **score_params : dict
            For the scorer, with scikit-learn's metadata routing enabled.

        Returns
        -------
        float
        """
        params = dict(score_params)
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "score", **params).scorer.score
        else:
            refuse_without_routing(score_params)
        return float(self._scorer()(self, X, y, **params))

    def get_metadata_routing(self) -> MetadataRouter:
        """Route the metadata that the scorer and the splitter request."""
        to_score = (
            MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        )
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
            .add(scorer=self._scorer(), method_mapping=to_score)
        )

    def _by_default(self) -> bool:
        return self.scoring is None or self.scoring == self._also_default

    def _scorer(self) -> Any:
        return get_scorer("accuracy" if self._by_default() else self.scoring)

    def _scorer_of_folds(self) -> Any:
        """None: accuracy, by the weights of the fit."""
        return None if self._by_default() else knowing_classes(self._scorer(), self.classes_)

    def _routed(self, sample_weight: object, params: dict[str, Any]) -> dict[str, Any]:
        """Metadata for the splitter and for the scorer."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return {"split": routed.splitter.split, "score": routed.scorer.score}
        refuse_without_routing(params)
        return {
            "split": {},
            "score": {} if sample_weight is None else {"sample_weight": sample_weight},
        }


def refuse_without_routing(params: dict[str, Any]) -> None:
    if params:
        raise ValueError(
            f"{', '.join(params)} can be passed only with "
            "sklearn.set_config(enable_metadata_routing=True)"
        )


def of_rows(value: object, rows: np.ndarray, n: int) -> Any:
    """Return the entries of some rows if ``value`` has one for each of n, else the value itself."""
    values = np.asarray(value)
    return values[rows] if values.ndim and len(values) == n else value


def knowing_classes(scorer: object, classes: np.ndarray) -> Any:
    """Return the scorer with all classes as its labels, since a fold may lack some."""
    scorer_vars = vars(scorer) if "_score_func" in getattr(scorer, "__dict__", {}) else None
    if scorer_vars is None:  # a user's function
        return scorer
    accepted = signature(scorer_vars["_score_func"]).parameters
    if "labels" not in accepted:
        return scorer
    arguments: dict[str, Any] = {"labels": classes}
    of_one_class = scorer_vars["_kwargs"].get("average", "binary") == "binary"
    if len(classes) == 2 and "pos_label" in accepted and of_one_class:
        arguments["pos_label"] = classes[-1]
    return make_scorer(
        scorer_vars["_score_func"],
        response_method=scorer_vars["_response_method"],
        greater_is_better=scorer_vars["_sign"] == 1,
        **{**arguments, **scorer_vars["_kwargs"]},
    )
