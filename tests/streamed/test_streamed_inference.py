"""Inference of linear and logistic models on streamed rows: the bits of those on arrays."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import certus
from certus.data import memory
from certus.exceptions import InferenceError, SourceChangedError
from certus.linear_model import FirthLogisticRegression, LinearRegression, LogisticRegression, Ridge
from tests.streamed import class_cases
from tests.streamed.linear_cases import CASES, N, draw, table_of
from tests.streams import GuardedTable

pytestmark = [
    pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
]
NUMBERS = (
    "coef", "standard_errors", "covariance", "n", "effective_parameters", "maximum", "null",
)  # fmt: skip
each_count = pytest.mark.parametrize("K", [2, 3])


@pytest.mark.parametrize("cov", ["classical", "HC1", "HC3"])
@pytest.mark.parametrize(
    "case", ["plain", "weights", "two targets", "aliased", "far from 0", "float32"]
)
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.3)], ids=str)
def test_inference_on_a_table_has_the_bits_of_inference_on_arrays(model, case, cov, small_blocks):
    X, y, s = CASES[case]()
    table = table_of(X, y, s)
    found, expected = model.fit(table).inference(table, cov=cov), model.inference(X, y, s, cov=cov)
    for name in ("coef", "standard_errors", "covariance", "rss", "tss", "log_weights", "n"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert str(found.summary()) == str(expected.summary())


@pytest.mark.parametrize("cov", ["classical", "HC2"])
def test_penalties_of_each_target_take_their_targets_from_the_table(cov, small_blocks):
    X, y, s = draw(k=3, weights=True)
    model = Ridge([0.1, 50.0, 0.1]).fit(table_of(X, y, s))
    found, expected = model.inference(table_of(X, y, s), cov=cov), model.inference(X, y, s, cov=cov)
    np.testing.assert_array_equal(found.standard_errors, expected.standard_errors)


def test_fewer_rows_than_columns_have_a_covariance_with_a_penalty():
    X, y, s = CASES["fewer rows than columns"]()
    model = Ridge(1.0).fit(table_of(X, y, s))
    found, expected = model.inference(table_of(X, y, s)), model.inference(X, y, s)
    np.testing.assert_array_equal(found.standard_errors, expected.standard_errors)


def test_the_first_row_of_leverage_one_is_named(small_blocks):
    X, y, _ = draw()
    alone = np.zeros((N, 2))
    alone[N - 7, 0] = alone[N - 3, 1] = 1.0
    X = np.hstack([X, alone])
    model = LinearRegression().fit(table_of(X, y))
    for rows in ((X, y), (table_of(X, y),)):
        with pytest.raises(InferenceError, match=rf"row {N - 7} \(and 1 more\) has leverage 1"):
            model.inference(*rows, cov="HC3")


def test_other_rows_and_selected_coefficients_are_refused(small_blocks):
    X, y, s = draw(weights=True)
    model = LinearRegression().fit(table_of(X, y, s))
    with pytest.raises(InferenceError, match="not the rows it was fitted on"):
        model.inference(table_of(X, y + 1, s))
    positive = LinearRegression(positive=True).fit(table_of(X, y, s))
    with pytest.raises(InferenceError, match="positive=True"):
        positive.inference(table_of(X, y, s))


@pytest.mark.parametrize("cov", ["classical", "HC3"])
def test_no_step_reads_more_than_a_share_of_the_rows(cov, small_blocks):
    X, y, s = draw(n=4 * N, weights=True)
    table = GuardedTable(X, y, s, most=N)
    found = LinearRegression().fit(table).inference(table, cov=cov)
    assert np.isfinite(found.standard_errors).all()
    assert 0 < table.largest <= N


# --- logistic and softmax models ---


def assert_equal_inference(found, expected):
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert str(found.summary()) == str(expected.summary())


@pytest.mark.parametrize("C", [np.inf, 0.3])
@pytest.mark.parametrize("cov", ["classical", "HC0"])
@each_count
@pytest.mark.parametrize(
    "case", ["plain", "weights", "float32", "aliased", "nearly dependent", "constant", "far from 0"]
)
def test_inference_of_logistic_models_has_the_bits_of_arrays(case, K, cov, C, small_blocks):
    X, k, s = class_cases.CASES[case](K)
    table = class_cases.table_of(X, k, s)
    model = LogisticRegression(C=C).fit(table)
    found, expected = (
        model.inference(table, cov=cov),
        model.inference(X, class_cases.LABELS[k], s, cov=cov),
    )
    assert_equal_inference(found, expected)
    if not np.isfinite(C):
        assert str(found.odds_ratios()) == str(expected.odds_ratios())


@each_count
def test_likelihood_ratios_on_a_table_have_the_bits_of_arrays(K, small_blocks):
    X, k, s = class_cases.draw(K, n=600, p=2, weights=True)
    table = class_cases.table_of(X, k, s)
    model = LogisticRegression(C=np.inf).fit(table)
    found, expected = model.inference(table), model.inference(X, class_cases.LABELS[k], s)
    np.testing.assert_array_equal(found.lr_pvalues, expected.lr_pvalues)
    assert str(found.odds_ratios(kind="lr")) == str(expected.odds_ratios(kind="lr"))


def test_a_penalty_without_an_intercept_with_fewer_rows_than_columns(small_blocks):
    X, k, s = class_cases.CASES["fewer rows than columns"](2)
    model = LogisticRegression(C=0.3, fit_intercept=False).fit(X, class_cases.LABELS[k], s)
    assert_equal_inference(
        model.inference(class_cases.table_of(X, k, s)), model.inference(X, class_cases.LABELS[k], s)
    )


def write_files(folder):
    """Write three Parquet files with labels of text; return them as a frame and arrays."""
    X, k, s = class_cases.draw(3, n=900, p=2, weights=True)
    frame = pd.DataFrame(X, columns=["dose", "age"])
    whole = pa.Table.from_pandas(
        frame.assign(group=class_cases.LABELS[k], s=s), preserve_index=False
    )
    for i in range(3):
        parquet.write_table(whole.slice(300 * i, 300), folder / f"{i}.parquet")
    return frame, class_cases.LABELS[k], s


@pytest.mark.parametrize("cache", [True, False])
def test_files_with_labels_of_text_have_the_inference_of_arrays(cache, tmp_path):
    frame, labels, s = write_files(tmp_path)
    table = certus.open_rows(tmp_path, target="group", weights="s", cache=cache)
    model = LogisticRegression(C=np.inf).fit(table)
    for cov in ("classical", "HC0"):
        found, expected = (
            model.inference(table, cov=cov),
            model.inference(frame, labels, s, cov=cov),
        )
        assert_equal_inference(found, expected)
        assert str(found.odds_ratios()) == str(expected.odds_ratios())
    found, expected = model.inference(table), model.inference(frame, labels, s)
    assert str(found.conf_int(kind="lr")) == str(expected.conf_int(kind="lr"))


def test_likelihood_ratios_need_the_table_open_and_unchanged(tmp_path):
    write_files(tmp_path)
    table = certus.open_rows(tmp_path, target="group", weights="s", cache=False)
    found = LogisticRegression(C=np.inf).fit(table).inference(table)
    parquet.write_table(parquet.read_table(tmp_path / "0.parquet"), tmp_path / "1.parquet")
    with pytest.raises(SourceChangedError, match=r"1\.parquet was written again"):
        found.conf_int(kind="lr")
    table.close()
    with pytest.raises(ValueError, match="the table was closed, open it again"):
        found.conf_int(kind="lr")
    assert np.isfinite(found.standard_errors).all()


def test_other_rows_separated_classes_and_selected_coefficients_are_refused(small_blocks):
    X, k, s = class_cases.draw(2, weights=True)
    model = LogisticRegression(C=np.inf).fit(class_cases.table_of(X, k, s))
    with pytest.raises(InferenceError, match="not the rows it was fitted on"):
        model.inference(class_cases.table_of(X, 1 - k, s))
    table = class_cases.table_of(*class_cases.CASES["separated by a column"](2))
    with pytest.raises(InferenceError, match="no finite optimum"):
        LogisticRegression(C=np.inf).fit(table).inference(table)
    selected = LogisticRegression(l1_ratio=1.0).fit(class_cases.table_of(X, k, s))
    with pytest.raises(InferenceError, match="select which coefficients are 0"):
        selected.inference(class_cases.table_of(X, k, s))


def test_rows_are_kept_for_likelihood_ratios_alone():
    X, k, s = class_cases.draw(2, n=500, weights=True)
    table = class_cases.table_of(X, k, s)
    model = LogisticRegression(C=np.inf).fit(table)
    assert model.inference(table).reads_rows
    assert not model.inference(table, cov="HC0").reads_rows
    assert not LogisticRegression(C=1.0).fit(table).inference(table).reads_rows


def test_a_firth_fit_names_what_has_intervals_on_tables():
    X, k, _ = class_cases.draw(2, n=200)
    table, model = (
        class_cases.table_of(X, k),
        FirthLogisticRegression().fit(X, class_cases.LABELS[k]),
    )
    for refused in (model.fit, model.inference):
        with pytest.raises(
            TypeError,
            match=r"FirthLogisticRegression needs all rows in memory.*"
            r"LogisticRegression\(C=np\.inf\).*Wald and likelihood-ratio intervals",
        ):
            refused(table)


def test_matrices_that_do_not_fit_are_refused_before_anything_is_read(monkeypatch):
    X, k, _ = class_cases.draw(2, n=500)
    model = LogisticRegression(C=np.inf).fit(class_cases.table_of(X, k))
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="are free: select"):
        model.inference(class_cases.table_of(X, k))


@pytest.mark.parametrize("cov", ["classical", "HC0"])
@each_count
def test_no_step_of_logistic_models_reads_more_than_a_share_of_the_rows(K, cov, small_blocks):
    X, k, s = class_cases.draw(K, n=4 * class_cases.N, weights=True)
    table = GuardedTable(X, k, s, most=class_cases.N, classes=class_cases.LABELS[:K])
    found = LogisticRegression(C=np.inf).fit(X, class_cases.LABELS[k], s).inference(table, cov=cov)
    assert np.isfinite(found.standard_errors).all()
    assert 0 < table.largest <= class_cases.N


@each_count
def test_blocks_of_inference_are_pure(K, pure_blocks):
    X, k, s = class_cases.draw(K, n=600, p=2, weights=True)
    table = class_cases.table_of(X, k, s)
    found = LogisticRegression(C=np.inf).fit(table).inference(table)
    assert np.isfinite(found.lr_pvalues).all()
    assert {"_point", "_fill_curvature"} <= set(pure_blocks)
