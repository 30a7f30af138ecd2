"""Answers of models that keep their rows: kernel machines, and neighbours by learned weights.

f(q) = Σ_j β_j K(q, x_j) + b,   p_j(q) ~ exp(−D_W(q, x_j)/σ)
"""

from typing import Any

import numpy as np

from .._data import Data
from ..audit import Reading
from ..audit.answers import Answers, ask
from ..definitions import answers as defined
from ..definitions import answers_of_rows as by_rows
from ..definitions.kernels import gamma_of
from ..rows import Rows
from .common import Result, as_dense, rows_against_all, working_eps, wrong_classes

KERNEL = ("kernel", "gamma", "degree", "coef0")


def kernel(model: Any, rows: Rows, reading: Reading) -> Result:
    answers = ask(model, rows, ("decision_function", "predict"), rows_against_all(rows))
    parameters, X = reading.parameters, Data(rows).all_rows()
    Q, eps = as_dense(answers.X), working_eps(answers.X)
    how = {name: parameters[name] for name in KERNEL}
    if isinstance(how["gamma"], str):  # scikit-learn's, of all entries
        how["gamma"] = gamma_of(X, None, how["gamma"])
    scores = by_rows.kernel_scores(Q, X, parameters["beta"], parameters["b"], how, eps)
    if reading.definition == "svc":
        return answers, _wrong_pairs(model, answers, reading, scores)
    if reading.labels is None:
        expected = defined.regression(scores)
        return answers, defined.other_numbers(answers.rows, answers.by_method, expected)
    expected, decides = defined.classification(scores, None, eps)
    return answers, wrong_classes(answers, reading, expected, decides)


def _wrong_pairs(model: Any, answers: Answers, reading: Reading, scores: Any) -> list[str]:
    assert reading.labels is not None
    K = len(reading.labels.classes)
    if K == 2:
        expected, decides = defined.classification(scores, None, 0.0)
        return wrong_classes(answers, reading, expected, decides)
    pairs = reading.parameters["pairs"]
    each, decides = by_rows.pair_votes(scores, pairs, K, bool(model.break_ties))
    right = scores if model.decision_function_shape == "ovo" else each
    return wrong_classes(answers, reading, {"decision_function": right}, decides)


def ncfs(model: Any, rows: Rows, reading: Reading) -> Result:
    methods = ("predict_proba", "predict", "transform")
    answers = ask(model, rows, methods, rows_against_all(rows))
    parameters = reading.parameters
    Q, X = (
        (Z - parameters["shift"]) / parameters["scale"]
        for Z in (as_dense(answers.X), Data(rows).all_rows())
    )
    P, error = by_rows.soft_neighbors(
        Q, X, parameters["W"], parameters["sigma"], parameters["metric"], working_eps(answers.X)
    )
    exact = np.zeros((len(answers), int(np.sum(model.support_))))
    expected = {"transform": defined.Expected(as_dense(answers.X)[:, model.support_], exact)}
    assert rows.y is not None
    if reading.labels is None:
        y = rows.y[:, 0]
        value = P @ (y - y.mean()) + y.mean()
        right = defined.Expected(
            value, np.full(len(P), error * np.ptp(y) + 1e-12 * np.abs(y).max())
        )
        expected["predict"] = right
        return answers, defined.other_numbers(answers.rows, answers.by_method, expected)
    k = rows.y[:, 0].astype(np.intp)
    P = P @ np.eye(len(reading.labels.classes))[k]
    gains = parameters["gains"]
    size = float(np.abs(gains).max(initial=0.0)) * len(gains)
    decides = defined.Expected(P @ gains, np.full(P.shape, error * size))
    expected["predict_proba"] = defined.Expected(P, np.full(P.shape, error))
    return answers, wrong_classes(answers, reading, expected, decides)
