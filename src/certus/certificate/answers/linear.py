"""Answers of linear models: scores, probabilities and classes from w and b.

z = xᵀw + b
"""

from typing import Protocol, cast

import numpy as np

from ...audit import Reading
from ...audit.answers import call_methods
from ...data.rows import Rows
from ...proofs import answers as expected_answers
from .common import Result, working_eps, wrong_classes

CLASSIFIER_METHODS = ("decision_function", "predict_proba", "predict_log_proba", "predict")


class _Linear(Protocol):
    coef_: np.ndarray


def linear(model: object, rows: Rows, reading: Reading, probabilities: str | None = None) -> Result:
    """Compare answers of w and b; ``probabilities`` names the link, None without one."""
    answers = call_methods(
        model, rows, ("predict",) if reading.labels is None else CLASSIFIER_METHODS
    )
    parameters, eps = reading.parameters, working_eps(answers.X, cast(_Linear, model).coef_)
    scores = expected_answers.linear_scores(answers.X, parameters["w"], parameters["b"], eps)
    if reading.labels is None:
        expected = expected_answers.regression(scores)
        return answers, expected_answers.other_numbers(answers.rows, answers.by_method, expected)
    expected, decides = expected_answers.classification(scores, probabilities, eps)
    return answers, wrong_classes(answers, reading, expected, decides)


def log_link(model: object, rows: Rows, reading: Reading) -> Result:
    """Compare the means exp(z), of offset 0."""
    answers = call_methods(model, rows, ("predict",))
    parameters, eps = reading.parameters, working_eps(answers.X, cast(_Linear, model).coef_)
    scores = expected_answers.linear_scores(answers.X, parameters["w"], parameters["b"], eps)
    expected = expected_answers.means(scores, eps)
    return answers, expected_answers.other_numbers(answers.rows, answers.by_method, expected)


def logistic(model: object, rows: Rows, reading: Reading) -> Result:
    one_vs_rest = reading.parameters.get("one_vs_rest")
    return linear(model, rows, reading, "one_vs_rest" if one_vs_rest else "logistic")


def softmax(model: object, rows: Rows, reading: Reading) -> Result:
    return linear(model, rows, reading, "softmax")


def ordinal(model: object, rows: Rows, reading: Reading) -> Result:
    """Compare answers of one score and the thresholds between the classes."""
    answers = call_methods(model, rows, ("latent", *CLASSIFIER_METHODS))
    parameters, eps = reading.parameters, working_eps(answers.X, cast(_Linear, model).coef_)
    latent = expected_answers.linear_scores(answers.X, parameters["w"], np.zeros(1), eps)
    expected, decides = expected_answers.ordered_classes(latent, parameters["thresholds"], eps)
    return answers, wrong_classes(answers, reading, expected, decides)
