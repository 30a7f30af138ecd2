"""Standard errors of linear models on streamed rows: the bits of those on arrays."""

import numpy as np
import pytest

from certus.exceptions import InferenceError
from certus.linear_model import FirthLogisticRegression, LinearRegression, Ridge
from tests.streamed.linear_cases import CASES, N, draw, table_of
from tests.streams import GuardedTable

pytestmark = pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")


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


def test_a_model_that_needs_all_rows_says_so():
    X, y, _ = draw(n=200)
    model = FirthLogisticRegression().fit(X, y > 0)
    with pytest.raises(TypeError, match="FirthLogisticRegression needs all rows in memory"):
        model.inference(table_of(X, y > 0, classes=np.array([False, True])))


@pytest.mark.parametrize("cov", ["classical", "HC3"])
def test_no_step_reads_more_than_a_share_of_the_rows(cov, small_blocks):
    X, y, s = draw(n=4 * N, weights=True)
    table = GuardedTable(X, y, s, most=N)
    found = LinearRegression().fit(table).inference(table, cov=cov)
    assert np.isfinite(found.standard_errors).all()
    assert 0 < table.largest <= N
