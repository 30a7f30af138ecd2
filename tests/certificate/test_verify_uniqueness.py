"""``certus.verify`` names columns that leave the coefficients of a lasso undetermined."""

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers

from tests.certificate.audit_cases import TIGHT, certified, fitted
from tests.contract.problems import regression


def notes_on(X, y, alpha=0.2, **how):
    model = fitted(peers.Lasso(alpha=alpha, **{**TIGHT, **how}), X, y)
    return [text for text in certified(model, X, y).notes if "unique" in text]


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_a_column_that_repeats_another_is_named(far):
    X, y, _ = regression(12)
    frame = pd.DataFrame(X + far, columns=["a", "b", "c", "d"])
    assert notes_on(frame, y) == []
    frame["e"] = frame["b"]
    (note,) = notes_on(frame, y)
    assert note == (
        "the coefficients are not unique: 'e' repeats 'b'; predictions are unaffected"
    ) or note == note.replace("'e' repeats 'b'", "'b' repeats 'e'")
    # half as long: it never enters
    frame["e"] = frame["b"] / 2
    assert notes_on(frame, y) == []
    # a repeat of one that is 0, or one that repeats all but nearly
    frame["e"] = frame["b"] + 1e-4 * np.random.default_rng(0).normal(size=len(y))
    assert notes_on(frame, y) == []


def test_a_combination_of_several_is_named():
    """(b + c)/2 costs as much as b and c, where both are positive."""
    X, y, _ = regression(13, signs=False)
    X = np.column_stack([X, (X[:, 1] + X[:, 2]) / 2])
    (note,) = notes_on(X, y)
    assert "is a combination of" in note
    for name in ("column 1", "column 2", "column 4"):
        assert name in note


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 200))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=30)
    assert notes_on(X, y, alpha=0.05) == []
    X[:, 150] = -X[:, 1]
    (note,) = notes_on(X, y, alpha=0.05)
    assert "repeats column 1;" in note or "column 1 repeats" in note
    model = fitted(peers.Lasso(alpha=10.0, **TIGHT), X, y)  # all 0: unique
    assert certified(model, X, y).notes == without_aliases(certified(model, X, y).notes)


def without_aliases(notes):
    return tuple(text for text in notes if "unique" not in text)
