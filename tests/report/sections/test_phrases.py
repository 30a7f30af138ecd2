"""Numbers on the page have at most 3 significant digits, and say neither 0 nor 1 by rounding."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certus.reporting.content.phrases import digits3, interval_text, number_as, p_value, share
from certus.reporting.content.values import Interval

FINITE = st.floats(-1e300, 1e300)


def value_of(text):
    return float(text.replace(",", "").replace("−", "-"))


def significant(text):
    """Digits from the first that is not 0 to the last that is not."""
    mantissa = text.lstrip("−").split("e")[0]
    return len(re.sub(r"[.,]", "", mantissa).strip("0"))


@given(FINITE)
def test_three_digits_are_within_half_a_unit_of_the_third(x):
    text = digits3(x)
    assert significant(text) <= 3
    assert value_of(text) == pytest.approx(x, rel=5.01e-3, abs=1e-320)


@given(FINITE, st.integers(-6, 9))
def test_no_number_has_more_than_three_digits_whatever_its_decimals(x, decimals):
    assert significant(number_as(x, decimals)) <= 3


@given(st.floats(0, 1))
def test_a_p_value_is_never_zero_and_a_share_is_zero_only_if_it_is(p):
    assert value_of(p_value(p).lstrip("<> ")) > 0
    assert (share(p) == "0 %") == (p == 0)
    assert (share(p) == "100 %") == (p == 1)


@given(FINITE, FINITE)
def test_an_interval_is_in_order(a, b):
    text = interval_text(Interval(min(a, b), max(a, b)))
    ends = text.split(" to ") if " to " in text else text.split("–")
    assert value_of(ends[0]) <= value_of(ends[1])


def test_what_is_not_a_number_is_said_in_words():
    assert digits3(float("nan")) == "not defined"
    assert digits3(float("-inf")) == "−infinite"
    assert share(float("nan")) == p_value(float("nan")) == "not defined"
