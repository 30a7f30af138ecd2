"""The door for class labels: what becomes of them, and what is refused in which words."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.class_weight import compute_class_weight

from certus.data.labels import class_weights, encode, encode_as, read_labels
from certus.data.validation import data_for_classification

TEXT = ["no", "yes", "no", "maybe", "yes", "no"]
WHOLE = [3, 7, 3, 5, 7, 3]


class Model(ClassifierMixin, BaseEstimator):
    pass


def door(y, X=None, s=None):
    X = np.arange(2.0 * len(y)).reshape(-1, 2) if X is None else X
    return data_for_classification(Model(), X, y, s)


# --- labels of any kind ---------------------------------------------------------------------------

KINDS = {
    "int64": np.array(WHOLE),
    "int8, wide apart": np.array([-120, 120, -120, 0, 120, -120], dtype=np.int8),
    "uint64, large": np.array([2**63 + v for v in WHOLE], dtype=np.uint64),
    "int64, far apart": np.array([v * 10**12 for v in WHOLE]),
    "whole floats": np.array(WHOLE, dtype=float),
    "whole floats, negative": -np.array(WHOLE, dtype=float),
    "whole floats, huge": np.array(WHOLE) * 1e200,
    "float32": np.array(WHOLE, dtype=np.float32),
    "bool": np.array([True, False, True, True, False, False]),
    "text": np.array(TEXT),
    "objects of text": np.array(TEXT, dtype=object),
    "objects of numbers": np.array(WHOLE, dtype=object),
    "objects of bools": np.array([True, False, True, False, False, True], dtype=object),
    "list of text": TEXT,
    "tuple of numbers": tuple(WHOLE),
    "pandas text": pd.Series(TEXT),
    "pandas numbers": pd.Series(WHOLE, index=[9, 8, 7, 6, 5, 4]),
    "pandas Int64": pd.Series(WHOLE, dtype="Int64"),
    "pandas boolean": pd.Series([True, False] * 3, dtype="boolean"),
    "pandas categories": pd.Series(TEXT, dtype="category"),
    "pandas categories of numbers": pd.Series(WHOLE, dtype="category"),
    "pandas.Categorical": pd.Categorical(TEXT),
    "polars text": pl.Series(TEXT),
    "polars numbers": pl.Series(WHOLE),
    "polars categories": pl.Series(TEXT, dtype=pl.Categorical),
    "Arrow chunked text": pa.chunked_array([TEXT]),
    "Arrow text": pa.array(TEXT),
    "Arrow numbers": pa.array(WHOLE),
    "Arrow dictionary": pa.chunked_array([pa.array(TEXT).dictionary_encode()]),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_label_is_the_class_at_its_index_and_classes_ascend(name):
    y = KINDS[name]
    rows, classes = door(y)
    plain = y.to_pylist() if isinstance(y, (pa.Array, pa.ChunkedArray)) else list(y)
    assert rows.y.shape == (6, 1)
    assert rows.y.dtype == np.float64
    assert [classes[int(k)] for k in rows.y[:, 0]] == plain
    assert classes.tolist() == sorted(set(plain))


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), min_size=1, max_size=40))
def test_whole_numbers_are_encoded_as_numpy_unique_does(values):
    y = np.array(values, dtype=np.int64)
    classes, k = encode(y)
    true, inverse = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, true)
    np.testing.assert_array_equal(k, inverse)
    assert classes.dtype == y.dtype


@given(st.lists(st.text(max_size=3), min_size=1, max_size=40))
def test_text_is_encoded_as_numpy_unique_does(values):
    y = np.array(values, dtype=object)
    classes, k = encode(y)
    true, inverse = np.unique(y, return_inverse=True)
    assert classes.tolist() == true.tolist()
    np.testing.assert_array_equal(k, inverse)


def test_a_column_of_labels_is_taken_with_scikit_learns_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        rows, classes = door(np.array(TEXT)[:, None])
    assert classes.tolist() == ["maybe", "no", "yes"]
    assert rows.y.shape == (6, 1)
    with pytest.warns(DataConversionWarning):
        door(pd.DataFrame({"y": TEXT}))


def test_weights_are_kept_as_they_are():
    rows, _ = door(WHOLE, s=[1, 2, 3, 4, 5, 0])
    np.testing.assert_array_equal(rows.s, [1, 2, 3, 4, 5, 0])
    assert door(WHOLE)[0].s is None


# --- what is refused ------------------------------------------------------------------------------

NAT = np.array(["2020-01-01", "NaT"] * 3, dtype="datetime64[D]")
REFUSED = {
    "one class": (
        ["benign"] * 6,
        "y holds only one class, 'benign' (6 rows), and a classifier needs at least 2 classes",
    ),
    "NaN": (
        np.array([0, 1, np.nan, 1, 0, np.nan]),
        "y has 2 missing labels (Input y contains NaN; rows 2, 5): drop the rows",
    ),
    "None": (["a", None, "b", "a", "b", "a"], "y has 1 missing label (Input y contains NaN; row 1"),
    "NaN among text": (["a", np.nan, "b", "a", "b", "a"], "1 missing label"),
    "pandas NA": (pd.Series(["a", None, "b", "a", "b", None]), "rows 1, 5"),
    "pandas Int64 NA": (pd.Series([1, None, 2, 1, 2, 1], dtype="Int64"), "row 1"),
    "pandas categories": (pd.Series(["a", None, "b"] * 2, dtype="category"), "rows 1, 4"),
    "polars null": (pl.Series(["a", None, "b"] * 2), "rows 1, 4"),
    "Arrow null": (pa.chunked_array([["a", None, "b"] * 2]), "rows 1, 4"),
    "masked": (np.ma.array([0, 1, 0, 1, 0, 1], mask=[0, 0, 1, 0, 0, 0]), "row 2"),
    "NaT": (NAT, "y has 3 missing labels (Input y contains NaN; rows 1, 3, 5)"),
    "dates": (NAT[[0, 2, 0, 2, 0, 2]], "y holds dates or times (first: 2020-01-01)"),
    "date objects": ([datetime.date(2020, 1, 1)] * 6, "Unknown label type: date"),
    "infinity": (np.array([0, 1, np.inf, 1, 0, 1]), "infinite label (row 2)"),
    "continuous": (
        np.array([0, 1, 0.5, 1, 0, 1]),
        "Unknown label type: continuous. y holds numbers that are not whole (first: row 2, 0.5)",
    ),
    "continuous objects": (np.array([0.5] * 6, dtype=object), "Unknown label type: continuous"),
    "mixed": (
        ["a", "b", 3, "a", "b", "a"],
        "y mixes text and numbers (Mix of label input types: 'a' in row 0, 3 in row 2)",
    ),
    "lists": ([["a"], ["b", "c"], [], [], [], []], "give one label a row"),
    "two columns": (np.zeros((6, 2)), "y should be a 1d array, got an array of shape (6, 2)"),
    "a number": (3.0, "y should be a 1d array, got an array of shape ()"),
    "fewer": ([0, 1], "inconsistent numbers of samples: X has 6 rows, y has 2"),
    "complex": (np.array([1j] * 6), "Complex data not supported"),
    "too large": (np.array([10**30, 1] * 3, dtype=object), "too large for 64 bits"),
    "None at all": (None, "requires y to be passed, but the target y is None"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_label_is_named_with_its_row(name):
    y, message = REFUSED[name]
    with pytest.raises(ValueError) as caught:
        door(y, X=np.arange(12.0).reshape(6, 2))
    assert message in str(caught.value)


def test_bytes_and_sparse_labels_are_refused():
    with pytest.raises(TypeError, match="bytes is not supported: decode them"):
        door(np.array([b"a", b"b"]))
    from scipy.sparse import csr_array

    with pytest.raises(ValueError, match=r"y is sparse: give one label a row"):
        door(csr_array([[1.0], [0.0]]), X=np.ones((2, 1)))


def test_a_class_without_weight_is_named():
    with pytest.raises(ValueError, match="class 'maybe' has no row whose sample_weight is above 0"):
        door(TEXT, s=[1, 1, 1, 0, 1, 1])


def test_the_rows_of_x_are_looked_at_too():
    with pytest.raises(ValueError, match="column 0 of X has 1 missing value"):
        door([0, 1], X=np.array([[1.0], [np.nan]]))


def test_a_class_for_each_row_is_doubted_but_only_from_21_rows_on():
    with pytest.warns(UserWarning, match=r"every row has a class of its own in 30 rows.*id column"):
        door(np.arange(30))
    with pytest.warns(UserWarning, match="greater than 50% of the number of samples"):
        door(np.arange(30) // 2 * 2 + np.arange(30) % 2 * (np.arange(30) < 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        door(np.arange(20))
        door(np.arange(30) // 2)


def test_many_whole_numbers_that_few_rows_share_are_doubted_before_any_work():
    y = np.arange(400) % 150
    with pytest.warns(UserWarning, match=r"150 different numbers in 400 rows.*Use a regressor"):
        door(y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        door(np.char.add("c", y.astype(str)))  # text is no number
        door(np.arange(400) % 100)  # four rows each
        door(np.arange(100) % 40)


# --- labels of a fitted model ---------------------------------------------------------------------


def test_known_labels_are_found_whatever_their_type():
    known = np.array([0, 1, 2])
    for y in ([2, 0, 1], [2.0, 0.0, 1.0], np.array([2, 0, 1], dtype=np.int8)):
        assert encode_as(read_labels(y, 3)[0], known).tolist() == [2, 0, 1]
    assert encode_as(np.array([True, False]), known).tolist() == [1, 0]
    assert encode_as(np.array(["b", "a"]), np.array(["a", "b"], dtype=object)).tolist() == [1, 0]


def test_an_unknown_label_is_named_with_its_row_and_the_classes():
    with pytest.raises(ValueError) as caught:
        encode_as(np.array(["no", "maybe", "yes"]), np.array(["no", "yes"]))
    assert str(caught.value) == (
        "y holds 'maybe' (row 1), which is not among the model's classes 'no', 'yes': give the y "
        "of the fit"
    )


# --- class weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "class_weight", [None, "balanced", {}, {"no": 2.0}, {"no": 1, "yes": 3, "maybe": 0.5}]
)
def test_class_weights_are_those_of_scikit_learn(class_weight, weighted):
    classes, k = encode(np.array(TEXT))
    s = np.arange(1.0, 7) if weighted else None
    found = class_weights(class_weight, classes, k, s)
    theirs = compute_class_weight(class_weight, classes=classes, y=np.array(TEXT), sample_weight=s)
    np.testing.assert_allclose(np.ones(3) if found is None else found, theirs)


def test_a_label_beyond_those_of_the_rows_is_taken_where_all_of_theirs_are_named():
    """A fold may lack a class, as in scikit-learn."""
    classes, k = encode(np.array([0, 1, 0]))
    assert class_weights({0: 1.0, 1: 2.0, 2: 3.0}, classes, k, None).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"yse": 2.0}, "class_weight names 'yse', and the classes are 'maybe', 'no', 'yes'"),
        ({"yes": -1.0}, "class_weight of 'yes' is -1.0: give a finite number that is not"),
        ({"yes": np.nan}, "class_weight of 'yes' is nan"),
        ({"yes": np.inf}, "class_weight of 'yes' is inf"),
        ({"yes": "3"}, "class_weight of 'yes' is '3'"),
        ("balance", "class_weight='balance': give None, 'balanced', or a dict"),
        ([1, 2, 3], "class_weight=[1, 2, 3]"),
    ],
)
def test_class_weights_that_have_no_meaning_are_refused(class_weight, message):
    classes, k = encode(np.array(TEXT))
    with pytest.raises(ValueError) as caught:
        class_weights(class_weight, classes, k, None)
    assert message in str(caught.value)
