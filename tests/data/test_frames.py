"""Frames of pandas, polars and Arrow: the same numbers, named columns, errors that name them."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.linear_model as peers
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import certus
from certus.data.frames import from_frame, from_series, plain, reading
from certus.linear_model import (
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
    RidgeCV,
)
from certus.mixture import GaussianMixture
from certus.neighbors import KNeighborsRegressor
from tests.contract.problems import regression, weights

NAMES = ["age", "dose", "height", "rooms"]
X, y, _ = regression(3)

FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, Arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "Arrow": lambda columns: pa.table(columns),
}
SERIES = {
    "pandas": pd.Series,
    "polars": pl.Series,
    "Arrow": lambda values: pa.chunked_array([values[:7], values[7:]]),
}
each_library = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


def columns(array=X, names=NAMES):
    return {name: array[:, j].copy() for j, name in enumerate(names)}


def same(ours, truth):
    """Up to the rounding that another layout in memory brings."""
    np.testing.assert_allclose(ours, truth, rtol=1e-12)


@each_library
@pytest.mark.parametrize("cls", [LinearRegression, Ridge, RidgeCV])
def test_a_frame_is_its_numbers_and_its_names(make, cls):
    frame = make(columns())
    model, plain = cls().fit(frame, y), cls().fit(X, y)
    same(model.coef_, plain.coef_)
    assert list(model.feature_names_in_) == NAMES
    assert model.certificate_.feature_names == tuple(NAMES)
    same(model.predict(frame), plain.predict(X))
    assert certus.verify(model, frame, y).certified
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("kind", SERIES)
def test_targets_and_weights_may_be_series(kind):
    s = weights(1, len(y))
    model = Ridge().fit(X, SERIES[kind](y), SERIES[kind](s))
    plain = Ridge().fit(X, y, s)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.coef_.shape == (4,)
    assert certus.verify(model, X, SERIES[kind](y), SERIES[kind](s)).certified


@each_library
def test_several_targets_may_be_a_frame(make):
    Y = np.column_stack([y, 2 * y])
    model = Ridge().fit(X, make(columns(Y, ["low", "high"])))
    same(model.coef_, Ridge().fit(X, Y).coef_)


@each_library
def test_true_and_false_are_one_and_zero_and_whole_numbers_are_numbers(make):
    table = {"old": X[:, 0] > 0, "rooms": np.arange(60), "dose": X[:, 1]}
    array = np.column_stack([table["old"].astype(float), table["rooms"], table["dose"]])
    model = Ridge().fit(make(table), y)
    same(model.coef_, Ridge().fit(array, y).coef_)


def test_a_frame_of_one_type_is_not_copied():
    frame = pd.DataFrame(X, columns=NAMES)
    found = from_frame(frame)
    assert np.shares_memory(found.X, frame.to_numpy())
    single = from_frame(pl.DataFrame(columns(X.astype(np.float32))))
    assert single.X.dtype == np.float32


def of_type(dtype, null):
    """Columns of a type of NumPy, the last with a null if there is a place for it."""
    values = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    if dtype not in (bool, "float32", "float64"):
        values[2] = min(np.iinfo(dtype).max, 2**53 - 1)
    lists = [list(column) for column in values.T]
    if null:
        lists[1][0] = None
    return lists


PLAIN = {
    "pandas": lambda lists, dtype: pd.DataFrame(
        {name: pd.Series(values, dtype=dtype) for name, values in zip("ab", lists, strict=True)}
    ),
    "polars": lambda lists, dtype: pl.DataFrame(
        {
            name: pl.Series(values, dtype=pl.Series(np.array([], dtype)).dtype)
            for name, values in zip("ab", lists, strict=True)
        }
    ),
    "Arrow": lambda lists, dtype: pa.table(
        {
            name: pa.array(values, type=pa.from_numpy_dtype(dtype))
            for name, values in zip("ab", lists, strict=True)
        }
    ),
}
TYPES = [
    "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64", "bool",
]  # fmt: skip


def column_by_column(frame, monkeypatch):
    with monkeypatch.context() as m:
        m.setattr(plain, "CONVERSIONS", {})
        return from_frame(frame)


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("library", PLAIN)
def test_plain_numbers_are_those_of_each_column(library, dtype, null, monkeypatch):
    if null and library == "pandas" and not dtype.startswith("float"):
        pytest.skip("NumPy's whole numbers have no null")
    lists = of_type(bool if dtype == "bool" else dtype, null)
    wide = [1.5, 2.5, float(2**53 - 1)]
    for frame in (
        PLAIN[library](lists, dtype),
        PLAIN[library](lists, dtype)[:0],
        _beside(PLAIN[library](lists, dtype), wide, library),
    ):
        found, expected = from_frame(frame), column_by_column(frame, monkeypatch)
        assert found.names == expected.names
        assert found.X.dtype == expected.X.dtype
        np.testing.assert_array_equal(found.X, expected.X)


def _beside(frame, values, library):
    """The frame with a column of float64 behind it."""
    if library == "pandas":
        return frame.assign(c=np.array(values))
    if library == "polars":
        return frame.with_columns(pl.Series("c", values))
    return frame.append_column("c", pa.array(values))


@pytest.mark.parametrize("library", PLAIN)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_a_frame_of_plain_numbers_is_converted_in_one_call(library, dtype, monkeypatch):
    def refuse(*_):
        raise AssertionError("read column by column")

    frame = PLAIN[library](of_type(dtype, null=dtype == "float64"), dtype)
    monkeypatch.setattr(reading, "_numbers", refuse)
    assert from_frame(frame).X.shape == (3, 2)


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "Arrow"]
)
def test_a_fit_to_a_wide_frame_has_the_bits_of_the_fit_to_the_array(make):
    wide = np.random.default_rng(0).normal(size=(20, 90))
    frame = make(columns(wide, [f"gene {j}" for j in range(90)]))
    model, plain = (LogisticRegression().fit(A, wide[:, 0] > 0) for A in (frame, wide))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(wide))
    assert model.certificate_.feature_names[89] == "gene 89"


@each_library
@pytest.mark.parametrize("dtypes", [["int64"] * 4, ["float32"] * 4, ["int64", "float64"] * 2])
def test_numbers_that_are_converted_are_laid_out_as_an_array(dtypes, make):
    frame = make({n: X[:, j].astype(t) for j, (n, t) in enumerate(zip(NAMES, dtypes, strict=True))})
    assert from_frame(frame).X.flags.c_contiguous


@each_library
def test_a_mixture_of_a_frame_with_missing_entries_has_the_bits_of_the_array(make):
    holes = X.copy()
    holes[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    model, plain = (
        GaussianMixture(2, random_state=0).fit(A) for A in (make(columns(holes)), holes)
    )
    np.testing.assert_array_equal(model.means_, plain.means_)


def test_batches_of_a_table_are_one_array():
    table = pa.concat_tables([pa.table(columns(X[:20])), pa.table(columns(X[20:]))])
    np.testing.assert_array_equal(from_frame(table).X, X)
    np.testing.assert_array_equal(from_frame(table.to_batches()[1]).X, X[20:])


def test_names_of_another_fit_are_noted_again():
    model = Ridge().fit(pd.DataFrame(columns()), y)
    model.fit(pd.DataFrame(columns(names=list("abcd"))), y)
    assert list(model.feature_names_in_) == list("abcd")
    assert model.fit(X, y).n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but Ridge was fitted without"):
        model.predict(pd.DataFrame(columns()))


@each_library
def test_whole_numbers_above_the_digits_of_float64_are_rounded(make):
    whole = [2**53 + 1, -(2**53) - 1, 2**62 + 1, 3]
    frame = from_frame(make({"id": whole, "old": [True, False, True, True]}))
    np.testing.assert_array_equal(frame.X[:, 0], np.array(whole).astype(float))
    holes = from_frame(make({"id": [*whole[:3], None], "old": [True, False, True, True]}))
    np.testing.assert_array_equal(holes.X[:3, 0], np.array(whole[:3]).astype(float))
    assert np.isnan(holes.X[3, 0])


@pytest.mark.parametrize("kind", SERIES)
def test_targets_above_the_digits_of_float64_are_rounded(kind):
    whole = np.arange(60) + 2**60 + 1
    np.testing.assert_array_equal(from_series(SERIES[kind](whole), "y"), whole.astype(float))


@pytest.mark.parametrize("library", ["polars", "Arrow"])
def test_whole_numbers_of_two_types_keep_their_values(library):
    kinds = {"small": pa.int64(), "large": pa.uint64()}
    values = {"small": [-1, 2], "large": [2**64 - 1, 2]}
    table = pa.table({name: pa.array(values[name], kind) for name, kind in kinds.items()})
    frame = from_frame(pl.from_arrow(table) if library == "polars" else table)
    np.testing.assert_array_equal(frame.X, [[-1.0, 2.0**64], [2.0, 2.0]])


@each_library
def test_missing_values_are_named_by_row_and_column(make):
    table = {"age": X[:, 0].tolist(), "dose": X[:, 1].tolist()}
    table["dose"][4] = table["dose"][17] = None
    message = "column 'dose' has 2 missing values (NaN; rows 4, 17): impute them or drop the rows"
    with pytest.raises(ValueError) as caught:
        Ridge().fit(make(table), y)
    assert str(caught.value) == message
    model = Ridge().fit(X[:, :2], y)
    model.feature_names_in_ = np.array(["age", "dose"], dtype=object)
    with pytest.raises(ValueError, match="'dose' has 2 missing"):
        model.predict(make(table))


@pytest.mark.parametrize("kind", SERIES)
def test_a_missing_target_is_named(kind):
    values = [*y.tolist()]
    values[9] = None
    with pytest.raises(ValueError, match=r"y has 1 missing value \(NaN; row 9\)"):
        Ridge().fit(X, SERIES[kind](values))


CITIES = ["Oslo", "Rome", "Bern"] * 20


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"age": X[:, 0], "city": CITIES}),
        pd.DataFrame({"age": X[:, 0], "city": pd.Categorical(CITIES)}),
        pd.DataFrame({"age": X[:, 0], "city": np.array(CITIES, dtype=object)}),
        pl.DataFrame({"age": X[:, 0], "city": CITIES}),
        pl.DataFrame({"age": X[:, 0], "city": pl.Series(CITIES, dtype=pl.Categorical)}),
        pa.table({"age": X[:, 0], "city": CITIES}),
        pa.table({"age": X[:, 0], "city": pa.array(CITIES).dictionary_encode()}),
    ],
    ids=["pandas", "categorical", "object", "polars", "polars categorical", "Arrow", "dictionary"],
)
def test_text_is_refused_with_the_column_and_the_remedy(frame):
    with pytest.raises(ValueError) as caught:
        LinearRegression().fit(frame, y)
    assert str(caught.value) == (
        "column 'city' holds text (first: 'Oslo'): encode it, e.g. "
        "make_column_transformer((OneHotEncoder(), ['city']), remainder='passthrough')"
    )


@pytest.mark.parametrize("kind", [kind for kind in FRAMES if kind != "Arrow"])
def test_the_remedy_for_text_works(kind):
    # scikit-learn's column transformer takes no Arrow table
    frame = FRAMES[kind]({"age": X[:, 0], "city": np.array(CITIES)})
    encode = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    model = make_pipeline(encode, Ridge()).fit(frame, y)
    assert model[-1].certificate_.certified
    assert certus.verify(model, frame, y).certified


def test_dates_decimals_and_lists_are_refused_in_words():
    days = pd.date_range("2024-02-01", periods=60)
    for frame in (pd.DataFrame({"when": days}), pl.DataFrame({"when": days})):
        with pytest.raises(ValueError, match=r"column 'when' holds dates or times \(first: '2024-"):
            Ridge().fit(frame, y)
    prices = pa.array([*y.round(2)]).cast(pa.decimal128(9, 3), safe=False)
    with pytest.raises(ValueError, match="column 'price' holds decimals: cast it"):
        Ridge().fit(pa.table({"price": prices}), y)
    with pytest.raises(ValueError, match="column 'parts' holds lists"):
        Ridge().fit(pl.DataFrame({"parts": [[1.0, 2.0]] * 60}), y)


def test_columns_of_the_same_name_are_refused():
    frame = pd.DataFrame(X, columns=["a", "b", "a", "c"])
    with pytest.raises(ValueError, match="columns of the same name: 'a'"):
        Ridge().fit(frame, y)


# --- other columns at predict ---------------------------------------------------------------------


@each_library
def test_missing_extra_and_moved_columns_are_named_in_one_error(make):
    model = Ridge().fit(make(columns()), y)
    other = columns(X, ["dose", "age", "height", "weight"])
    with pytest.raises(ValueError) as caught:
        model.predict(make(other))
    assert str(caught.value) == (
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- weight\n"
        "Feature names seen at fit time, yet now missing:\n- rooms\n"
        "In another place: 'dose', 'age'.\n"
        "Add the missing ones, then give X[model.feature_names_in_].\n"
    )


def test_the_remedy_for_moved_and_extra_columns_works():
    model = Ridge().fit(pd.DataFrame(columns()), y)
    moved = pd.DataFrame(columns())[NAMES[::-1]].assign(extra=1.0)
    with pytest.raises(ValueError, match=r"Give X\[model.feature_names_in_\]"):
        model.predict(moved)
    with pytest.raises(ValueError, match="same order") as caught:
        model.predict(moved[NAMES[::-1]])
    assert "In another place: 'rooms', 'height', 'dose', 'age'" in str(caught.value)
    np.testing.assert_array_equal(model.predict(moved[model.feature_names_in_]), model.predict(
        pd.DataFrame(columns())))  # fmt: skip
    with pytest.raises(certus.exceptions.CannotVerifyError, match="unseen at fit time:\n- extra"):
        certus.verify(model, moved, y)


def test_rows_are_taken_as_they_stand_and_never_aligned_by_an_index():
    frame = pd.DataFrame(columns(), index=np.arange(60)[::-1])
    target = pd.Series(y, index=np.arange(1, 61))
    same(Ridge().fit(frame, target).coef_, Ridge().fit(X, y).coef_)
    same(Ridge().fit(frame, target, target.abs()).coef_, Ridge().fit(X, y, abs(y)).coef_)
    repeated = pd.Series(y, index=np.zeros(60, dtype=int))  # labels that name no row
    same(Ridge().fit(frame, repeated[::-1][::-1]).coef_, Ridge().fit(X, y).coef_)
    same(Ridge().fit(frame.reset_index(drop=True), pl.Series(y)).coef_, Ridge().fit(X, y).coef_)


MOVED = (
    r"y has the same index labels as X in another order: row 3 of X is 'id3', of y 'id4': reindex "
    r"with y\.loc\[X\.index\], or give y\.to_numpy\(\) if the rows belong together as they stand"
)


def with_moved_rows():
    """X, y and weights with names of rows, and y with rows 3 and 4 exchanged."""
    ids = [f"id{i}" for i in range(60)]
    frame, target = pd.DataFrame(columns(), index=ids), pd.Series(y, index=ids)
    order = [*range(3), 4, 3, *range(5, 60)]
    return frame, target, target.iloc[order]


@pytest.mark.parametrize(
    "model", [Ridge(), RidgeCV(), LinearRegression(), KNeighborsRegressor()], ids=str
)
def test_a_target_with_the_rows_of_x_in_another_order_is_refused(model):
    frame, target, moved = with_moved_rows()
    with pytest.raises(ValueError, match=MOVED):
        model.fit(frame, moved)
    model.fit(frame, moved.loc[frame.index])
    with pytest.raises(ValueError, match=MOVED):
        model.score(frame, y=moved)
    with pytest.raises(ValueError, match=MOVED):
        certus.verify(model, frame, moved)
    assert certus.verify(model, frame, target).certified


def test_inference_and_steps_of_a_fit_refuse_another_order_as_well():
    frame, target, moved = with_moved_rows()
    with pytest.raises(ValueError, match=MOVED):
        LinearRegression().fit(frame, target).inference(frame, moved)
    with pytest.raises(ValueError, match=MOVED):
        LogisticRegression(solver="sgd").partial_fit(frame, moved > 0, classes=[False, True])
    pipeline = make_pipeline(StandardScaler(), Ridge()).fit(frame, target)
    with pytest.raises(ValueError, match=MOVED):
        certus.verify(pipeline, frame, moved)


def test_weights_in_another_order_are_refused():
    frame, target, moved = with_moved_rows()
    told = "sample_weight has the same index labels as X in another order: row 3 of X is 'id3'"
    with pytest.raises(ValueError, match=told):
        Ridge().fit(frame, target, moved.abs())
    with pytest.raises(ValueError, match=told):
        GaussianMixture().fit(frame, sample_weight=moved.abs())
    with pytest.raises(ValueError, match=told.replace("X", "y")):
        Ridge().fit(frame.to_numpy(), target, sample_weight=moved.abs())


def test_labels_of_several_levels_and_of_time_are_compared_as_well():
    frame, target, _ = with_moved_rows()
    levels = pd.MultiIndex.from_product([range(6), range(10)])
    days = pd.date_range("2026-01-01", periods=60)
    for index in (levels, days, pd.RangeIndex(60)):
        with pytest.raises(ValueError, match=r"row 0 of X is .*: reindex"):
            Ridge().fit(frame.set_axis(index), target.set_axis(index[::-1]))


SIZES = ["small", "medium", "large", "huge"]


@pytest.mark.parametrize("ordered", [False, True])
def test_categories_that_are_no_series_are_read_as_if_they_were(ordered):
    codes = np.digitize(X[:, 0], [-0.8, 0, 0.8])
    raw = pd.Categorical.from_codes(codes, SIZES, ordered=ordered)
    model, series = (LogisticRegression().fit(X, labels) for labels in (raw, pd.Series(raw)))
    assert model.classes_.tolist() == series.classes_.tolist() == sorted(SIZES)
    same(model.coef_, series.coef_)
    assert certus.verify(model, X, raw).certified
    assert model.score(X, raw) == model.score(X, np.asarray(raw))


def test_ordered_categories_that_are_no_series_keep_their_order():
    codes = np.digitize(X[:, 0], [-0.8, 0, 0.8])
    raw = pd.Categorical.from_codes(codes, SIZES, ordered=True)
    model = OrdinalRegression(alpha=1).fit(X, raw)
    assert model.classes_.tolist() == SIZES
    assert certus.verify(model, X, raw).certified
    numbered = pd.Categorical(X[:, 0] > 0, categories=[True, False], ordered=True)
    assert OrdinalRegression(alpha=1).fit(X, numbered).classes_.tolist() == [True, False]
    with pytest.raises(ValueError, match="row 2"):
        OrdinalRegression().fit(X, pd.Categorical([*raw[:2], None, *raw[3:]], SIZES, ordered=True))


def test_arrays_of_pandas_are_targets():
    whole = np.round(10 * y)
    nullable = pd.array(whole.astype(int), dtype="Int64")
    same(Ridge().fit(X, nullable).coef_, Ridge().fit(X, whole).coef_)


# --- in pipelines ---------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["pandas", "polars", "default"])
def test_a_pipeline_may_pass_frames_on(output):
    frame = pd.DataFrame(columns())
    scale = make_column_transformer((StandardScaler(), ["age", "dose"]), remainder="passthrough")
    pipe = make_pipeline(scale, Ridge()).set_output(transform=output)
    pipe.fit(frame, y)
    theirs = make_pipeline(scale, peers.Ridge()).fit(frame, y)
    np.testing.assert_allclose(pipe.predict(frame), theirs.predict(frame), rtol=1e-10)
    assert hasattr(pipe[-1], "feature_names_in_") == (output != "default")
    assert certus.verify(pipe, frame, y).certified


def test_import_certus_loads_no_library_of_frames():
    program = "import sys, certus; print(*{m.split('.')[0] for m in sys.modules})"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not set(run.stdout.split()) & {"pandas", "polars", "pyarrow", "narwhals"}
