"""Nasty inputs of linear models: few rows, odd numbers, far origins, and what is refused."""

import tracemalloc
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import certus
from certus.data import memory, validation
from certus.exceptions import CannotVerifyError, DegenerateWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from tests.contract.problems import plain, regression

MODELS = [LinearRegression, Ridge, RidgeCV]
each_model = pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)


# --- few rows -------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("p", [1, 2, 5])
@each_model
def test_one_row_and_two_rows_have_answers(cls, n, p):
    if cls is RidgeCV and n == 1:
        pytest.skip("nothing is left when the only row is left out")
    X = np.arange(1.0, 1 + n * p).reshape(n, p) ** 2
    y = np.array([3.0, 5.0])[:n]
    model = cls().fit(X, y)
    assert model.certificate_.certified
    w, b = plain(X, y, alpha=getattr(model, "alpha_", getattr(model, "alpha", 0.0)))
    np.testing.assert_allclose(model.coef_, w[:, 0], atol=1e-9)
    np.testing.assert_allclose(model.predict(X), X @ w[:, 0] + b[0], rtol=1e-9)


def test_leave_one_out_of_one_row_is_refused_in_plain_words():
    with pytest.raises(ValueError, match="row"):
        RidgeCV().fit([[1.0]], [2.0])


@each_model
def test_no_rows_and_no_columns_are_refused(cls):
    with pytest.raises(ValueError, match="0 sample"):
        cls().fit(np.empty((0, 3)), np.empty(0))
    with pytest.raises(ValueError, match="0 feature"):
        cls().fit(np.empty((3, 0)), np.empty(3))


@pytest.mark.parametrize("value", [0.0, 3.5, 1e8, 0.1])
@each_model
def test_a_constant_y_is_its_own_intercept(cls, value):
    X, _, _ = regression(1)
    nothing_to_choose = pytest.warns(DegenerateWarning, match="y is constant")
    with nothing_to_choose if cls is RidgeCV else nullcontext():
        model = cls().fit(X, np.full(len(X), value))
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-13 * max(value, 1))
    assert model.intercept_ == pytest.approx(value, rel=1e-13)


# --- sizes and kinds of numbers -------------------------------------------------------------------


def test_scales_apart_by_two_million_are_no_trouble():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2)) * [2e6, 1.0]
    y = 3 * X[:, 1] + 0.147 * rng.normal(size=1000)
    model = LinearRegression().fit(X, y)
    assert round(model.score(X, y), 3) == 0.998
    assert model.rank_ == 2


def test_float32_with_half_a_million_rows():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500_000, 4)) + np.array([0, 10, 1000, 0])).astype(np.float32)
    y = (X @ np.array([1.0, -2.0, 0.5, 3.0], dtype=np.float32) + rng.normal(size=500_000)).astype(
        np.float32
    )
    model = LinearRegression().fit(X, y)
    assert model.certificate_.certified
    w, b = plain(X.astype(float), y.astype(float))
    np.testing.assert_allclose(model.coef_, w[:, 0], rtol=1e-9)
    assert model.intercept_ == pytest.approx(b[0], rel=1e-9)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint64", "bool", "float16", "float32"]
)
@pytest.mark.parametrize("n", [50, 40_000])
@each_model
def test_narrow_numbers_do_not_overflow(cls, n, dtype):
    rng = np.random.default_rng(0)
    if dtype == "bool":
        X = rng.integers(0, 2, size=(n, 3)).astype(bool)
    else:
        X = rng.integers(0 if dtype.startswith("u") else -120, 121, size=(n, 3)).astype(dtype)
    y = X.astype(float) @ [1.0, 2.0, -1.0] + rng.normal(size=n)
    model, same = cls().fit(X, y), cls().fit(X.astype(float), y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), same.predict(X.astype(float)), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["int8", "bool", "float32", "object"])
def test_a_target_of_any_kind_of_number(dtype):
    X, _, _ = regression(1)
    y = (np.arange(60) % 2).astype(dtype)
    same = LinearRegression().fit(X, y.astype(float))
    np.testing.assert_array_equal(LinearRegression().fit(X, y).coef_, same.coef_)


@pytest.mark.parametrize("offset", [1e6, 1e8, -1e10])
@pytest.mark.parametrize("n", [60, 30_000])
@each_model
def test_far_from_the_origin_nothing_is_lost(cls, n, offset):
    X, y, _ = regression(1, n=n)
    there, here = cls().fit(X + offset, y + offset), cls().fit(X, y)
    assert there.certificate_.certified
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    np.testing.assert_allclose(there.predict(X + offset) - offset, here.predict(X), atol=1e-4)


def test_a_drifting_column_far_away_keeps_its_slope():
    """Time stamps, sorted, at 1.7e9 with steps of a second: the first rows are not the mean."""
    t = 1.7e9 + np.arange(200_000.0)
    y = 1e-4 * (t - 1.7e9) + np.sin(t)
    model = LinearRegression().fit(t[:, None], y)
    slope = np.polynomial.polynomial.polyfit((t - t.mean()) / 1e5, y, 1)[1] / 1e5
    assert model.coef_[0] == pytest.approx(slope, rel=1e-10)
    assert model.certificate_.certified


@pytest.mark.parametrize("size", [1e-200, 1e-100, 1e-60, 1e60, 1e100, 1e150])
@pytest.mark.parametrize("n", [60, 3])
@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
def test_columns_of_any_size_that_floats_can_hold(n, size):
    X, y, _ = regression(1, n=n)
    there, here = LinearRegression().fit(X * size, y), LinearRegression().fit(X, y)
    assert there.certificate_.certified
    np.testing.assert_allclose(there.coef_ * size, here.coef_, rtol=1e-9)
    np.testing.assert_allclose(there.predict(X * size), here.predict(X), rtol=1e-9, atol=1e-9)


def test_columns_at_1e200_and_1e_minus_200_side_by_side():
    X, y, _ = regression(1)
    d = np.array([1e200, 1.0, 1e-200, 1e-30])
    there, here = LinearRegression().fit(X * d, y), LinearRegression().fit(X, y)
    assert there.certificate_.certified
    np.testing.assert_allclose(there.coef_ * d, here.coef_, rtol=1e-9)
    assert there.rank_ == 4
    assert certus.verify(there, X * d, y).certified


@pytest.mark.parametrize("size", [1e-130, 1e-30, 1e30, 1e140])
@each_model
def test_targets_of_any_size_whose_squares_floats_can_hold(cls, size):
    X, y, _ = regression(1)
    there, here = cls().fit(X, y * size), cls().fit(X, y)
    assert there.certificate_.certified
    np.testing.assert_allclose(there.coef_ / size, here.coef_, rtol=1e-9)


def test_a_target_whose_squares_overflow_is_refused_with_the_remedy():
    X, y, _ = regression(1)
    with pytest.raises(ValueError, match="squares overflow: divide it by a power of 10"):
        LinearRegression().fit(X, y * 1e200)


@pytest.mark.parametrize("size", [1e-140, 1e-307])
@each_model
def test_a_target_whose_squares_underflow_is_refused_with_the_remedy(cls, size):
    """The objective and its gap underflowed to 0, and w = 0 was called optimal."""
    X, y, _ = regression(1)
    for columns in (X, X * size):
        with pytest.raises(ValueError, match="squares underflow: multiply it by a power of 10"):
            cls().fit(columns, y * size)
    model = cls().fit(X, y)
    with pytest.raises(CannotVerifyError, match="squares underflow"):
        certus.verify(model, X, y * size)


def test_one_target_of_several_whose_squares_underflow_is_refused():
    X, y, _ = regression(1)
    with pytest.raises(ValueError, match="squares underflow"):
        LinearRegression().fit(X, np.column_stack([y, y * 1e-200]))
    zero = LinearRegression().fit(X, np.column_stack([y, y * 0.0]))
    assert zero.certificate_.certified


@pytest.mark.parametrize(("size", "word"), [(1e-100, "underflow"), (1e100, "overflow")])
def test_weights_that_carry_squares_of_the_target_out_of_range_are_refused(size, word):
    X, y, _ = regression(1)
    s = np.full(len(y), size**1.5)
    with pytest.raises(ValueError, match=f"squares times their weights {word}"):
        LinearRegression().fit(X, y * size, sample_weight=s)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [30, 400_000], ids=["small", "large"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@each_model
def test_missing_and_infinite_values_are_named_by_row_and_column(cls, n, dtype):
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(dtype)
    y = np.zeros(n)
    X[[4, 17, 29], 1] = np.nan
    with pytest.raises(ValueError) as caught:
        cls().fit(X, y)
    assert str(caught.value) == (
        "column 1 of X has 3 missing values (NaN; rows 4, 17, 29): impute them or drop the rows"
    )
    X[7, 2] = -np.inf
    with pytest.raises(ValueError, match=r"column 2 of X has 1 infinite value \(inf; row 7\)"):
        cls().fit(X, y)
    frame = pd.DataFrame(X, columns=["age", "income", "dose"])
    with pytest.raises(ValueError, match="column 'income' has 3 missing values") as caught:
        cls().fit(frame, y)
    assert "column 'dose' has 1 infinite value" in str(caught.value)


@each_model
def test_many_missing_values_are_counted_not_listed(cls):
    X, y, _ = regression(1)
    X[5:40, 2] = np.nan
    with pytest.raises(ValueError, match=r"35 missing values \(NaN; rows 5, 6, 7, 8, 9, …\)"):
        cls().fit(X, y)


@each_model
def test_missing_values_at_predict_are_named_too(cls):
    X, y, _ = regression(1)
    model = cls().fit(X, y)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="column 2 of X has 1 missing value"):
        model.predict(X)


@each_model
def test_missing_values_in_y_are_named(cls):
    X, y, _ = regression(1)
    y[11] = np.nan
    with pytest.raises(ValueError, match=r"y has 1 missing value \(NaN; row 11\)"):
        cls().fit(X, y)
    y[11] = np.inf
    with pytest.raises(ValueError, match=r"y has 1 infinite value \(inf; row 11\)"):
        cls().fit(X, y)


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (np.r_[-1.0, np.ones(59)], "1 weight below 0 (first: row 0, -1)"),
        (np.zeros(60), "all are 0"),
        (np.r_[np.ones(59), np.nan], "sample_weight has 1 missing value (NaN; row 59)"),
        (np.r_[np.inf, np.ones(59)], "sample_weight has 1 infinite value (inf; row 0)"),
        (np.ones(59), "sample_weight has 59"),
        (np.ones((60, 1)), "1D array or scalar, got 2D of shape (60, 1)"),
        (["heavy"] * 60, "sample_weight"),
    ],
    ids=["negative", "all zero", "NaN", "inf", "too few", "2D", "text"],
)
@each_model
def test_weights_that_are_none_are_refused(cls, s, message):
    X, y, _ = regression(1)
    with pytest.raises(ValueError) as caught:
        cls().fit(X, y, sample_weight=s)
    assert message in str(caught.value)


@each_model
def test_a_single_number_as_weight_counts_for_every_row(cls):
    X, y, _ = regression(1)
    one, all_ = cls().fit(X, y, sample_weight=2.0), cls().fit(X, y, sample_weight=np.full(60, 2.0))
    np.testing.assert_array_equal(one.coef_, all_.coef_)


@each_model
def test_shapes_that_do_not_fit_are_stated(cls):
    X, y, _ = regression(1)
    with pytest.raises(ValueError, match="X has 60 rows, y has 59"):
        cls().fit(X, y[:-1])
    with pytest.raises(ValueError, match="2D array, got 1D"):
        cls().fit(X[:, 0], y)
    with pytest.raises(ValueError, match="dim 3"):
        cls().fit(X[None], y)
    with pytest.raises(ValueError, match="y should be a 1d array"):
        cls().fit(X, y[:, None, None])
    with pytest.raises(ValueError, match="requires y"):
        cls().fit(X, None)


@each_model
def test_complex_data_are_refused_clearly(cls):
    X, y, _ = regression(1)
    with pytest.raises(ValueError, match="Complex data not supported"):
        cls().fit(scipy.sparse.csr_array(X + 1j), y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        cls().fit(X + 1j, y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        cls().fit(X, y + 1j)


@each_model
def test_text_is_refused_with_the_column_and_the_remedy(cls):
    frame = pd.DataFrame({"height": [1.0, 2, 3], "city": ["Oslo", "Rome", "Bern"]})
    with pytest.raises(ValueError) as caught:
        cls().fit(frame, [1.0, 2, 3])
    assert str(caught.value) == (
        "column 'city' holds text (first: 'Oslo'): encode it, e.g. "
        "make_column_transformer((OneHotEncoder(), ['city']), remainder='passthrough')"
    )


@each_model
def test_text_in_an_array_and_in_y_is_refused(cls):
    X, y, _ = regression(1)
    mixed = X.astype(object)
    mixed[3, 2] = "tall"
    with pytest.raises(ValueError, match="tall"):
        cls().fit(mixed, y)
    with pytest.raises(ValueError, match=r"no number.*'low'"):
        cls().fit(X, ["low"] * 60)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((6001, 6000), "XᵀX of 6,000 columns"), ((6000, 6001), "XXᵀ of 6,000 rows")],
)
@each_model
def test_a_matrix_that_memory_cannot_hold_is_refused_before_it_is_allocated(
    cls, shape, message, monkeypatch
):
    X = np.broadcast_to(np.int8(1), shape)  # one byte
    monkeypatch.setattr(memory, "available_memory", lambda: 2**29)
    monkeypatch.setattr("numpy.dot", None)  # nothing may be multiplied
    tracemalloc.start()
    try:
        with pytest.raises(MemoryError) as caught:
            cls().fit(X, np.ones(shape[0]))
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{message} needs ")
    assert "GiB are free: select features first" in str(caught.value)


def test_memory_that_cannot_be_asked_for_is_not_limited(monkeypatch):
    X, y, _ = regression(1)
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    assert LinearRegression().fit(X, y).certificate_.certified


def test_the_memory_of_this_machine_is_known():
    free = memory.available_memory()
    assert free is None or 2**20 < free < 2**60


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@each_model
def test_a_bad_value_in_wide_data_too_large_to_be_searched_first_is_named(cls, bad):
    rng = np.random.default_rng(0)
    n, p = 64, validation.MAX_PRECHECKED_ELEMENTS // 64 + 1
    X, y = rng.standard_normal((n, p)), rng.standard_normal(n)
    X[17, 1234] = bad
    with pytest.raises(ValueError, match=r"column 1234 of X .*row 17"):
        cls().fit(X, y)


def test_wide_columns_whose_squares_overflow_are_answered_in_words():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5, 10)), rng.standard_normal(5)
    X[:, 0] *= 1e200
    with pytest.raises(ValueError, match="above 1e150"):
        RidgeCV().fit(X, y)
