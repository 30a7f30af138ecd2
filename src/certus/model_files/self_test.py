"""The self-test of a model file: synthetic rows, and what the model answered when it was saved.

On loading the model is asked again. It must answer the same labels, and the same numbers up to the
rounding by which two machines differ. No row of the data is in the test.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..exceptions import ModelFileError
from .synthetic_rows import Columns, as_input, candidates

RELATIVE_TOLERANCE = 1e-9  # of the largest answer: BLAS and CPUs differ by rounding
METHODS = (
    "predict", "predict_proba", "decision_function", "score_samples", "transform", "kneighbors",
    "radius_neighbors",
)  # fmt: skip


class SelfTest(NamedTuple):
    """Rows, and for each method the arrays that it answered."""

    rows: np.ndarray | Columns
    answers: dict[str, tuple[np.ndarray, ...]]


def self_test_of(model: object) -> SelfTest | None:
    """The self-test of a fitted model; None: it answers nothing about new rows."""
    methods = [name for name in METHODS if hasattr(model, name)]
    if not hasattr(model, "n_features_in_") or not methods:
        return None
    best: SelfTest | None = None
    for rows in candidates(model):
        given, answers = as_input(rows), {}
        if given is None:
            return None
        for name in methods:
            try:
                answers[name] = _answer(model, name, given)
            except (ValueError, TypeError):  # outside the model's domain, e.g. of counts
                continue
        if best is None or len(answers) > len(best.answers):
            best = SelfTest(rows, answers)
        if len(answers) == len(methods):
            break
    return best if best is not None and best.answers else None


def _answer(model: object, method: str, rows: object) -> tuple[np.ndarray, ...]:
    predict: Callable[[object], object] = getattr(model, method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = predict(rows)
    parts = answer if isinstance(answer, (tuple, list)) else (answer,)
    return tuple(_dense(part) for part in parts)


def _dense(part: object) -> np.ndarray:
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part)


def run(model: object, test: SelfTest) -> None:
    """Raise ``ModelFileError`` where the model does not answer as it did when it was saved."""
    try:
        rows = as_input(test.rows)
    except Exception as error:
        raise ModelFileError(f"the rows of the self-test make no table: {error!r}") from error
    if rows is None:
        return
    for method, expected in test.answers.items():
        if method not in METHODS or not hasattr(model, method):
            raise ModelFileError(
                f"the self-test asks for {method!r}, which the model does not have"
            )
        try:
            answers = _answer(model, method, rows)
            agrees = len(answers) == len(expected) and all(map(_agree, answers, expected))
        except Exception as error:
            raise ModelFileError(f"the self-test failed: {method} raised {error!r}") from error
        if not agrees:
            raise ModelFileError(
                f"the self-test failed: {method} answers differently than when the model was "
                "saved; 'certus show' prints the versions that wrote the file"
            )


def _agree(answer: object, expected: object) -> bool:
    if not isinstance(answer, np.ndarray) or not isinstance(expected, np.ndarray):
        return bool(answer == expected)
    if answer.shape != expected.shape:
        return False
    if answer.dtype.kind == "f" and expected.dtype.kind == "f":
        finite = expected[np.isfinite(expected)]
        slack = RELATIVE_TOLERANCE * float(np.abs(finite).max(initial=0.0))
        return bool(np.allclose(answer, expected, rtol=0, atol=slack, equal_nan=True))
    if answer.dtype.kind == "O":
        return all(map(_agree, answer.ravel(), expected.ravel()))
    return bool(np.array_equal(answer, expected))
