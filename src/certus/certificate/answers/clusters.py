"""Answers of clusters, trees and mixtures: the nearest centre, cluster or component.

argmin_k ‖x − μ_k‖,   argmin_A d(x, A),   argmax_k π_k p(x | θ_k)
"""

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np

from ...audit import Reading
from ...audit.answers import call_methods
from ...audit.readers.neighbors import first_other_row
from ...data.rows import Rows
from ...proofs import answers as expected_answers
from ...proofs import answers_from_rows as by_rows
from ...proofs.mixture._claims import ANSWER_RTOL, FLOAT32_ANSWER_RTOL
from ...proofs.mixture._sums import log_joint, log_sum_exp
from ...proofs.mixture.mixture import components
from ..data import Data
from .common import Result, as_dense, no_answers, rows_against_all, working_eps


class _Centers(Protocol):
    cluster_centers_: np.ndarray
    _children: np.ndarray  # of BisectingKMeans


class _Pooling(Protocol):
    n_clusters_: int
    representation: str
    pooling_func: Callable[..., object]


class _Shares(Protocol):
    weights_: np.ndarray


def kmeans(model: object, rows: Rows, reading: Reading) -> Result:
    centers, labels = reading.parameters["centers"], reading.extra_claims.get("labels")
    unit = reading.parameters.get("unit", 1.0)
    by_tree, fitted = reading.extra_claims.get("by_tree", False), cast(_Centers, model)
    if reading.ours and by_tree and not by_rows.is_binary_tree(fitted._children, len(centers)):
        return no_answers(rows), ["the splits that predict goes down are no tree"]
    answers = call_methods(model, rows, ("transform", "predict"))
    eps = working_eps(answers.X, fitted.cluster_centers_)
    D = by_rows.center_distances(as_dense(answers.X) / unit, centers / unit, eps, not reading.ours)
    D = expected_answers.Expected(D.value * unit, D.error * unit)
    wrong = expected_answers.other_numbers(answers.rows, answers.by_method, {"transform": D})
    predicted = answers.by_method.get("predict")
    if not reading.ours or predicted is None:  # its predictions were part of the claim
        return answers, wrong
    if by_tree and predicted.shape == (len(answers),) and labels is not None:
        other = np.flatnonzero(predicted != np.asarray(labels)[answers.rows])
        wrong += [
            f"predict gives row {answers.rows[i]} {predicted[i]}, labels_ has "
            f"{labels[answers.rows[i]]}"
            for i in other[:1]
        ]
        return answers, wrong
    nearest = expected_answers.Expected(
        -D.value, D.error + by_rows.TIE_RTOL * D.error.max(initial=0.0)
    )
    classes = list(range(len(centers)))
    return answers, wrong + expected_answers.other_classes(
        answers.rows, predicted, classes, nearest
    )


def tree_of_clusters(model: object, rows: Rows, reading: Reading) -> Result:
    """Compare the predictions of a tree of certus; trees of other libraries only have labels."""
    parameters = reading.parameters
    tree = vars(model).get("tree_", model)
    if parameters.get("columns"):
        return _columns(model, rows, reading)
    if not reading.ours:
        return no_answers(rows), []
    metric, method = parameters["metric"], parameters.get("method", "diana")
    square = metric != "precomputed" or rows.shape[0] == rows.shape[1]
    if metric is None or vars(model).get("_mixed") or metric == "gower" or not square:
        return no_answers(rows), []
    wrong = [
        difference
        for difference in [first_other_row(tree.X, rows.X, "of the tree has", "in column")]
        if difference is not None
    ]
    if wrong or parameters.get("labels") is None:  # a Tree alone has no cut
        return no_answers(rows), wrong
    answers = call_methods(model, rows, ("predict",), rows_against_all(rows))
    centers = method in ("centroid", "ward", "median")
    if "predict" not in answers.by_method or (centers and metric != "euclidean"):
        return answers, []
    scale = 1.0 if parameters["scale"] is None else parameters["scale"]
    Q, X = (Z.astype(float) / scale for Z in (as_dense(answers.X), Data(rows).all_rows()))
    if metric == "euclidean":  # nearest in any unit, but squares may overflow in their own
        unit = np.ldexp(0.5, np.frexp(max(np.abs(Q).max(), np.abs(X).max()))[1])
        Q, X = Q / unit, X / unit
    labels = np.asarray(parameters["labels"])
    away = by_rows.linkage_distances(
        Q, X, labels, parameters["merges"], method, metric, parameters["metric_params"]
    )
    nearest = expected_answers.Expected(-away.value, away.error)
    classes = list(range(away.value.shape[1]))
    predicted = answers.by_method["predict"]
    return answers, expected_answers.other_classes(answers.rows, predicted, classes, nearest)


def _columns(model: object, rows: Rows, reading: Reading) -> Result:
    """Compare the transform of clustered columns: one column per cluster."""
    answers, pooling = call_methods(model, rows, ("transform",)), cast(_Pooling, model)
    Q, labels = as_dense(answers.X).astype(float), np.asarray(reading.parameters["labels"])
    if not reading.ours:
        pooled = [
            np.asarray(pooling.pooling_func(Q[:, labels == c], axis=1)) for c in np.unique(labels)
        ]
        value = np.column_stack(pooled)
        size = working_eps(answers.X) * np.abs(Q).max(initial=0.0) * 8 * (len(labels) + 8)
        right = expected_answers.Expected(value, np.full(value.shape, size))
    else:
        representatives = np.asarray(reading.parameters["representatives"])
        if representatives.shape != (pooling.n_clusters_,):
            shape = representatives.shape
            return answers, [f"representatives_ has shape {shape}: one for each cluster is right"]
        if pooling.representation == "column":
            value = Q[:, representatives]
            right = expected_answers.Expected(value, np.zeros(value.shape))
        elif pooling.representation == "mean":
            centered = reading.parameters["metric"] == "correlation"
            X = Data(rows).all_rows()
            absolute = reading.parameters["absolute"]
            right = by_rows.column_means(Q, X, labels, representatives, centered, absolute)
        else:
            return answers, [
                f"representation={pooling.representation!r} is neither column nor mean"
            ]
    wrong = expected_answers.other_numbers(answers.rows, answers.by_method, {"transform": right})
    return answers, wrong


def mixture(model: object, rows: Rows, reading: Reading) -> Result:
    answers = call_methods(model, rows, ("score_samples", "predict_proba", "predict"))
    parameters = reading.parameters
    theta = components(rows.shape[1], **parameters)
    J = log_joint(as_dense(answers.X), parameters["weights"], theta)
    log_p = log_sum_exp(J)
    single = working_eps(answers.X, cast(_Shares, model).weights_) > 1e-10
    off = (FLOAT32_ANSWER_RTOL if single else ANSWER_RTOL) * (1 + np.abs(log_p))
    P, error = np.exp(J - log_p).T, np.repeat(2 * off[:, None], len(J), axis=1)
    expected = {
        "score_samples": expected_answers.Expected(log_p, off),
        "predict_proba": expected_answers.Expected(P, error),
    }
    wrong = expected_answers.other_numbers(answers.rows, answers.by_method, expected)
    if "predict" in answers.by_method:
        decides, classes = expected_answers.Expected(J.T, error), list(range(len(J)))
        predicted = answers.by_method["predict"]
        wrong += expected_answers.other_classes(answers.rows, predicted, classes, decides)
    return answers, wrong
