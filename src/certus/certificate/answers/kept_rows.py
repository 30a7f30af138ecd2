"""Answers of models that keep their rows: kernel machines, and neighbours by learned weights.

f(q) = Σ_j β_j K(q, x_j) + b,   p_j(q) ~ exp(−D_W(q, x_j)/σ)
"""

from typing import Protocol, cast

import numpy as np

from ...audit import Reading
from ...audit.answers import Answers, call_methods
from ...data.rows import Rows
from ...proofs import answers as expected_answers
from ...proofs import answers_from_rows as by_rows
from ...proofs.answers import Expected
from ...proofs.lssvm.kernels import gamma_of
from ..data import Data
from .common import Result, as_dense, rows_against_all, working_eps, wrong_classes

KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0")


class _PairVotes(Protocol):
    break_ties: bool
    decision_function_shape: str


class _Selects(Protocol):
    support_: np.ndarray


def _kernel_answers(model: object, rows: Rows, reading: Reading) -> tuple[Answers, Expected]:
    """The answers of a kernel machine, and the scores that its parameters give."""
    answers = call_methods(model, rows, ("decision_function", "predict"), rows_against_all(rows))
    parameters, X = reading.parameters, Data(rows).all_rows()
    Q, eps = as_dense(answers.X), working_eps(answers.X)
    options = {name: parameters[name] for name in KERNEL_PARAMETERS}
    if isinstance(options["gamma"], str):  # scikit-learn's, of all entries
        options["gamma"] = gamma_of(X, None, options["gamma"])
    return answers, by_rows.kernel_scores(Q, X, parameters["beta"], parameters["b"], options, eps)


def kernel(model: object, rows: Rows, reading: Reading) -> Result:
    answers, scores = _kernel_answers(model, rows, reading)
    if reading.labels is None:
        expected = expected_answers.regression(scores)
        return answers, expected_answers.other_numbers(answers.rows, answers.by_method, expected)
    expected, decides = expected_answers.classification(scores, None, working_eps(answers.X))
    return answers, wrong_classes(answers, reading, expected, decides)


def svc(model: object, rows: Rows, reading: Reading) -> Result:
    """Compare the votes of a classifier with one score for each pair of classes."""
    answers, scores = _kernel_answers(model, rows, reading)
    assert reading.labels is not None
    K = len(reading.labels.classes)
    if K == 2:
        expected, decides = expected_answers.classification(scores, None, 0.0)
        return answers, wrong_classes(answers, reading, expected, decides)
    pairs, options = reading.parameters["pairs"], cast(_PairVotes, model)
    each, decides = by_rows.pair_votes(scores, pairs, K, bool(options.break_ties))
    right = scores if options.decision_function_shape == "ovo" else each
    return answers, wrong_classes(answers, reading, {"decision_function": right}, decides)


def ncfs(model: object, rows: Rows, reading: Reading) -> Result:
    methods = ("predict_proba", "predict", "transform")
    answers = call_methods(model, rows, methods, rows_against_all(rows))
    parameters, y = reading.parameters, rows.y
    if parameters["batch_size"] is None:
        X_fit = Data(rows).all_rows()
    else:  # predictions are made from some of the rows
        X_fit, y, _ = rows.take(np.asarray(reading.extra_claims["claims"]["kept_rows"])).block(
            0, len(reading.extra_claims["claims"]["kept_rows"])
        )
    Q, X = ((Z - parameters["shift"]) / parameters["scale"] for Z in (as_dense(answers.X), X_fit))
    P, error = by_rows.soft_neighbors(
        Q, X, parameters["W"], parameters["sigma"], parameters["metric"], working_eps(answers.X)
    )
    support = cast(_Selects, model).support_
    exact = np.zeros((len(answers), int(np.sum(support))))
    expected = {"transform": Expected(as_dense(answers.X)[:, support], exact)}
    assert y is not None
    if reading.labels is None:
        y = y[:, 0]
        value = P @ (y - y.mean()) + y.mean()
        right = Expected(value, np.full(len(P), error * np.ptp(y) + 1e-12 * np.abs(y).max()))
        expected["predict"] = right
        return answers, expected_answers.other_numbers(answers.rows, answers.by_method, expected)
    k = y[:, 0].astype(np.intp)
    P = P @ np.eye(len(reading.labels.classes))[k]
    gains = parameters["gains"]
    size = float(np.abs(gains).max(initial=0.0)) * len(gains)
    decides = Expected(P @ gains, np.full(P.shape, error * size))
    expected["predict_proba"] = Expected(P, np.full(P.shape, error))
    return answers, wrong_classes(answers, reading, expected, decides)
