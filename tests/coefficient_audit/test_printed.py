"""Half units of printed numbers: what rounding leaves open."""

import numpy as np
import pytest

from certus.coefficient_audit.table.printed import number_text, printed_column


@pytest.mark.parametrize(
    ("texts", "units", "digits"),
    [
        (["1.25", "0.929"], [0.01, 0.001], 3),
        (["0.5000", "1.2345"], [1e-4, 1e-4], 5),
        # a writer of three decimals dropped a zero
        (["0.5", "12.345", "0.012"], [1e-3, 1e-3, 1e-3], 5),
        # a writer of four significant digits did
        (["0.5", "0.01234", "1234"], [1e-4, 1e-5, 1.0], 4),
        (["1.234e-05", "2.5"], [1e-8, 1e-3], 4),
        (["0", "0.25"], [1e-2, 1e-2], 2),
        (["-3", "4"], [1.0, 1.0], 1),
        (["2560", "0.0418"], [10.0, 1e-4], 3),
    ],
)
def test_a_unit_is_that_of_the_last_digit_printed(texts, units, digits):
    column = printed_column(texts)
    np.testing.assert_allclose(2 * column.half_units, units)
    assert column.digits == digits


@pytest.mark.parametrize("digits", [3, 5, 8, 12, 15])
@pytest.mark.parametrize("decimals", [False, True], ids=["significant", "decimals"])
def test_the_interval_holds_the_number_that_was_rounded(digits, decimals):
    rng = np.random.default_rng(digits)
    values = rng.normal(size=200) * 10.0 ** rng.integers(-3, 4, size=200)
    texts = [f"{v:.{digits}f}" if decimals else f"{v:.{digits}g}" for v in values]
    short = [str(number_text(float(text))) for text in texts]  # without trailing zeros
    for column in (printed_column(texts), printed_column(short)):
        assert (np.abs(column.values - values) <= column.half_units * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("1,234.5", "1234.5"), ("−0.3", "-0.3"), ("0.12***", "0.12"), (0.1, "0.1"),
        (np.float32(0.1), "0.1"), (2560.0, "2560"), ("2.5e-3", "2.5e-3"), ("abc", None),
        (True, None), ("1.2.3", None),
    ],
)  # fmt: skip
def test_numbers_are_cleaned_and_nothing_else_is_one(given, text):
    assert number_text(given) == text


def test_a_decimal_comma_is_read_where_it_is_one():
    assert number_text("-1.234,5", decimal_comma=True) == "-1234.5"
