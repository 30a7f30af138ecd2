"""Answers of linear models: scores, probabilities and classes from w and b.

z = xᵀw + b
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..audit import Reading
from ..audit.answers import ask
from ..definitions import answers as defined
from ..rows import Rows
from .common import Result, working_eps, wrong_classes

CLASSIFIES = ("decision_function", "predict_proba", "predict_log_proba", "predict")


def linear(model: Any, rows: Rows, reading: Reading) -> Result:
    methods: Sequence[str] = CLASSIFIES
    if reading.labels is None:
        methods = ("predict",)
    elif reading.definition == "ordinal":
        methods = ("latent", *CLASSIFIES)
    answers = ask(model, rows, methods)
    parameters, eps = reading.parameters, working_eps(answers.X, model.coef_)
    w = parameters["w"]
    if reading.definition == "ordinal":
        latent = defined.linear_scores(answers.X, w, np.zeros(1), eps)
        expected, decides = defined.ordered_classes(latent, parameters["thresholds"], eps)
        return answers, wrong_classes(answers, reading, expected, decides)
    scores = defined.linear_scores(answers.X, w, parameters["b"], eps)
    if reading.labels is None:
        expected = defined.regression(scores)
        return answers, defined.other_numbers(answers.rows, answers.by_method, expected)
    expected, decides = defined.classification(scores, _probabilities(reading), eps)
    return answers, wrong_classes(answers, reading, expected, decides)


def _probabilities(reading: Reading) -> str | None:
    if reading.definition == "logistic":
        return "one_vs_rest" if reading.parameters.get("one_vs_rest") else "logistic"
    return {"softmax": "softmax", "firth": "logistic"}.get(reading.definition)
