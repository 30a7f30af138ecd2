"""Odd calls of every estimator: an error is a ValueError, a TypeError or one of ``certus``.

Drawn from X, y and weights that people pass by mistake; a fixed part of all combinations by
default, all of them in the exhaustive run.
"""

import datetime
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

from certus import cluster, feature_selection, linear_model, mixture, neighbors, svm

ESTIMATORS = {
    cls.__name__: cls
    for module in (linear_model, cluster, mixture, neighbors, svm, feature_selection)
    for name in module.__all__
    if isinstance(cls := getattr(module, name), type) and hasattr(cls, "fit")
}
NEEDS = {"StabilityResult"}  # a result, not an estimator
RNG = np.random.default_rng(0)
N = 24
GOOD = RNG.normal(size=(N, 3))


def with_value(value, dtype=float):
    X = GOOD.astype(dtype)
    X[5, 1] = value
    return X


ODD_X = {
    "good": lambda: GOOD,
    "counts": lambda: RNG.poisson(3, size=(N, 3)),
    "object numbers": lambda: GOOD.astype(object),
    "object mixed": lambda: with_value("seven", object),
    "object None": lambda: with_value(None, object),
    "object nested": lambda: np.array([[[1], [2]]] * N, dtype=object),
    "complex": lambda: GOOD + 1j,
    "dates": lambda: np.full((N, 3), np.datetime64("2020-01-01")),
    "durations": lambda: np.full((N, 3), np.timedelta64(3, "D")),
    "python dates": lambda: [[datetime.date(2020, 1, 1)] * 3] * N,
    "text": lambda: np.full((N, 3), "a"),
    "numbers as text": lambda: GOOD.astype(str),
    "bytes": lambda: np.full((N, 3), b"a"),
    "bool": lambda: GOOD > 0,
    "records": lambda: np.zeros(N, dtype=[("a", float), ("b", int)]),
    "void": lambda: np.zeros((N, 3), dtype="V8"),
    "0-d": lambda: np.float64(3.0),
    "1-d": lambda: GOOD[:, 0],
    "3-d": lambda: GOOD[:, :, None],
    "no rows": lambda: GOOD[:0],
    "no columns": lambda: GOOD[:, :0],
    "one row": lambda: GOOD[:1],
    "two rows": lambda: GOOD[:2],
    "ragged": lambda: [[1.0, 2.0], [3.0]] * (N // 2),
    "None": lambda: None,
    "a number": lambda: 7,
    "a string": lambda: "X.csv",
    "a dict": lambda: {"a": [1, 2]},
    "a set": lambda: {1, 2, 3},
    "a generator": lambda: (row for row in GOOD),
    "a function": lambda: len,
    "masked": lambda: np.ma.masked_array(GOOD, mask=GOOD > 1),
    "masked, nothing hidden": lambda: np.ma.masked_array(GOOD),
    "matrix": lambda: np.asmatrix(GOOD),
    "NaN": lambda: with_value(np.nan),
    "inf": lambda: with_value(np.inf),
    "float32 inf": lambda: with_value(-np.inf, np.float32),
    "all NaN": lambda: np.full((N, 3), np.nan),
    "huge": lambda: GOOD * 1e300,
    "tiny": lambda: GOOD * 1e-300,
    "huge integers": lambda: with_value(2**80, object),
    "uint64": lambda: np.full((N, 3), 2**64 - 1, dtype=np.uint64) - RNG.integers(0, 9, (N, 3)),
    "longdouble": lambda: GOOD.astype(np.longdouble),
    "float16": lambda: GOOD.astype(np.float16),
    "constant": lambda: np.ones((N, 3)),
    "COO with duplicates": lambda: sparse.coo_matrix(
        ([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 2])), shape=(N, 3)
    ),
    "sparse": lambda: sparse.csr_matrix(np.where(np.abs(GOOD) > 0.5, GOOD, 0.0)),
    "sparse NaN": lambda: sparse.csr_matrix(with_value(np.nan)),
    "sparse bool": lambda: sparse.csc_array(GOOD > 0),
    "sparse complex": lambda: sparse.csr_matrix(GOOD + 1j),
    "1-d sparse": lambda: sparse.coo_array(GOOD[:, 0]),
    "DIA": lambda: sparse.dia_matrix((GOOD.T[:1], [0]), shape=(N, 3)),
    "frame": lambda: pd.DataFrame(GOOD, columns=list("abc")),
    "frame with NA": lambda: pd.DataFrame({"a": pd.array([1, None] * (N // 2), dtype="Int64")}),
    "frame with text": lambda: pd.DataFrame({"a": ["x"] * N, "b": GOOD[:, 0]}),
    "frame with categories": lambda: pd.DataFrame({"a": pd.Categorical(["x", "y"] * (N // 2))}),
    "frame with dates": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=N)}),
    "frame, same names": lambda: pd.DataFrame(GOOD, columns=["a", "a", "b"]),
    "frame, odd names": lambda: pd.DataFrame(GOOD, columns=["a", 1, None]),
    "frame, two levels": lambda: pd.DataFrame(
        GOOD, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    ),
    "frame without rows": lambda: pd.DataFrame({"a": [], "b": []}),
    "series": lambda: pd.Series(GOOD[:, 0]),
}  # fmt: skip

TWO = np.arange(N) % 2
ODD_Y = {
    "right": None,  # numbers or labels, as the estimator needs
    "None": lambda: None,
    "short": lambda: TWO[:-1],
    "long": lambda: np.append(TWO, 1),
    "none": lambda: TWO[:0],
    "0-d": lambda: np.int64(1),
    "column": lambda: TWO[:, None],
    "2-d": lambda: np.stack([TWO, TWO], axis=1),
    "3-d": lambda: TWO[:, None, None],
    "text": lambda: np.where(TWO, "yes", "no"),
    "bytes": lambda: np.where(TWO, b"y", b"n"),
    "mixed": lambda: np.array(["a", 1] * (N // 2), dtype=object),
    "with None": lambda: np.array([None, "a"] * (N // 2), dtype=object),
    "with NaN": lambda: np.where(TWO, np.nan, 1.0),
    "inf": lambda: np.where(TWO, np.inf, 1.0),
    "complex": lambda: TWO + 1j,
    "dates": lambda: np.full(N, np.datetime64("2020-01-01")),
    "one value": lambda: np.zeros(N, dtype=int),
    "each its own": lambda: np.arange(N),
    "huge": lambda: np.array([2**80, 1] * (N // 2), dtype=object),
    "1e300": lambda: np.where(TWO, 1e300, -1e300),
    "fractions": lambda: GOOD[:, 0],
    "bool": lambda: TWO.astype(bool),
    "masked": lambda: np.ma.masked_array(TWO, mask=TWO),
    "sparse": lambda: sparse.csr_matrix(TWO[:, None]),
    "pandas NA": lambda: pd.array([1, None] * (N // 2), dtype="Int64"),
    "categories": lambda: pd.Series(pd.Categorical(["x", "y"] * (N // 2))),
    "a string": lambda: "y",
    "ragged": lambda: [[1], [1, 2]] * (N // 2),
    "a dict": lambda: {"a": 1},
}
ODD_WEIGHTS = {
    "missing": lambda: None,
    "negative": lambda: np.where(TWO, -1.0, 1.0),
    "NaN": lambda: np.where(TWO, np.nan, 1.0),
    "inf": lambda: np.where(TWO, np.inf, 1.0),
    "zeros": lambda: np.zeros(N),
    "one row": lambda: (np.arange(N) == 3).astype(float),
    "short": lambda: np.ones(N - 1),
    "2-d": lambda: np.ones((N, 2)),
    "text": lambda: np.full(N, "a"),
    "a number": lambda: 2.0,
    "a negative number": lambda: -1,
    "bool": lambda: TWO.astype(bool),
    "complex": lambda: TWO + 1j,
    "None inside": lambda: [None] * N,
    "1e300": lambda: np.full(N, 1e300),
    "1e-320": lambda: np.full(N, 1e-320),
    "1e-299": lambda: np.full(N, 1e-299),
    "sparse": lambda: sparse.csr_matrix(np.ones((N, 1))),
    "a dict": lambda: {0: 1.0},
    "series": lambda: pd.Series(np.ones(N), index=np.arange(N)[::-1]),
}
FINE = (ValueError, TypeError)  # those of certus.exceptions derive from them
SLOW = {"NCFSClassifierCV", "LSSVCCV", "NCFSRegressor", "NCFSClassifier"}

CALLS = [
    *((x, "right", "missing") for x in ODD_X),
    *(("good", y, "missing") for y in ODD_Y),
    *(("good", "right", s) for s in ODD_WEIGHTS),
]
each_estimator = pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - NEEDS))


def right_target(model):
    return GOOD[:, 0] + 0.1 * TWO if is_regressor(model) else TWO


def what_is_wrong(name, x, y, s):
    """None, or how a call ended that should have been refused or done."""
    model = ESTIMATORS[name]()
    supervised = is_classifier(model) or is_regressor(model) or name.startswith("NCFS")
    target = right_target(model) if y == "right" else ODD_Y[y]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = [ODD_X[x](), target] if supervised else [ODD_X[x]()]
        kwargs = {} if s == "missing" else {"sample_weight": ODD_WEIGHTS[s]()}
        try:
            model.fit(*args, **kwargs)
            repr(getattr(model, "certificate_", None))
        except FINE as error:
            return None if str(error) else f"{x}, y {y}, weights {s}: no message"
        except Exception as error:
            return f"{x}, y {y}, weights {s}: {type(error).__name__}: {error}"
    return None


@each_estimator
def test_an_odd_call_is_done_or_refused_in_words(name):
    calls = CALLS[::4] if name in SLOW else CALLS
    wrong = [found for call in calls if (found := what_is_wrong(name, *call))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.exhaustive
@each_estimator
def test_odd_calls_in_every_combination_are_done_or_refused_in_words(name):
    every = [*product(ODD_X, ODD_Y, ["missing"]), *product(ODD_X, ["right"], ODD_WEIGHTS)]
    drawn = np.random.default_rng(1).permutation(len(every))[: 60 if name in SLOW else 600]
    wrong = [found for i in drawn if (found := what_is_wrong(name, *every[i]))]
    assert not wrong, "\n".join(wrong)
