"""Shared by all comparisons of answers: sample sizes, working precision, wrong classes."""

import numpy as np

from ...audit import Reading
from ...audit.answers import Answers
from ...data.rows import Rows
from ...proofs import answers as expected_answers
from ...proofs.answers import Expected
from ..matrix import Matrix

MAX_OPERATIONS = 2e7  # on elements of X, over all sampled rows
MAX_ROWS_AGAINST_ALL = 16

Result = tuple[Answers, list[str]]  # and what is wrong with them


def rows_against_all(rows: Rows) -> int:
    """Number of sampled rows that are compared with all others."""
    n, p = rows.shape
    return int(max(1, min(MAX_ROWS_AGAINST_ALL, MAX_OPERATIONS / (n * p))))


def working_eps(X: object, *parameters: object) -> float:
    """Machine epsilon of the precision in which the model may work."""
    kinds = [np.dtype(getattr(one, "dtype", float)) for one in (X, *parameters)]
    narrow = any(kind in (np.float32, np.float16) for kind in kinds)
    return float(np.finfo(np.float32 if narrow else float).eps)


def as_dense(X: Matrix) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else np.asarray(X[: X.shape[0]].toarray())


def no_answers(rows: Rows) -> Answers:
    return Answers(np.empty(0, dtype=np.intp), rows.X[:0], {})


def wrong_classes(
    answers: Answers, reading: Reading, expected: dict[str, Expected], decides: Expected
) -> list[str]:
    wrong = expected_answers.other_numbers(answers.rows, answers.by_method, expected)
    if "predict" in answers.by_method and reading.labels is not None:
        classes = reading.labels.classes.tolist()
        predicted = answers.by_method["predict"]
        wrong += expected_answers.other_classes(answers.rows, predicted, classes, decides)
    return wrong
