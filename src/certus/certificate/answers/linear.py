"""Answers of linear models: scores, probabilities and classes from w and b.

z = xᵀw + b
"""

from typing import Protocol, cast

import numpy as np

from ...audit import Reading
from ...audit.answers import ask
from ...data.rows import Rows
from ...proofs import answers as defined
from .common import Result, working_eps, wrong_classes

CLASSIFIES = ("decision_function", "predict_proba", "predict_log_proba", "predict")


class _Linear(Protocol):
    coef_: np.ndarray


def linear(model: object, rows: Rows, reading: Reading, probabilities: str | None = None) -> Result:
    """Answers of w and b; ``probabilities``: how scores become them, None where there are none."""
    answers = ask(model, rows, ("predict",) if reading.labels is None else CLASSIFIES)
    parameters, eps = reading.parameters, working_eps(answers.X, cast(_Linear, model).coef_)
    scores = defined.linear_scores(answers.X, parameters["w"], parameters["b"], eps)
    if reading.labels is None:
        expected = defined.regression(scores)
        return answers, defined.other_numbers(answers.rows, answers.by_method, expected)
    expected, decides = defined.classification(scores, probabilities, eps)
    return answers, wrong_classes(answers, reading, expected, decides)


def logistic(model: object, rows: Rows, reading: Reading) -> Result:
    one_vs_rest = reading.parameters.get("one_vs_rest")
    return linear(model, rows, reading, "one_vs_rest" if one_vs_rest else "logistic")


def softmax(model: object, rows: Rows, reading: Reading) -> Result:
    return linear(model, rows, reading, "softmax")


def ordinal(model: object, rows: Rows, reading: Reading) -> Result:
    """Answers of one score and the thresholds between the classes."""
    answers = ask(model, rows, ("latent", *CLASSIFIES))
    parameters, eps = reading.parameters, working_eps(answers.X, cast(_Linear, model).coef_)
    latent = defined.linear_scores(answers.X, parameters["w"], np.zeros(1), eps)
    expected, decides = defined.ordered_classes(latent, parameters["thresholds"], eps)
    return answers, wrong_classes(answers, reading, expected, decides)
