"""Medians found by counting ranges of keys are NumPy's, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from certus.tables import medians as module
from certus.tables.medians import medians

floats = st.floats(allow_infinity=False, width=64, allow_subnormal=True)
few = st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1, 2), 5e-324, -1e308, 1e308, np.nan])


def found(columns, rows):
    passes = 0

    def blocks():
        nonlocal passes
        passes += 1
        for start in range(0, len(columns[0]), rows):
            yield [column[start : start + rows] for column in columns]

    return medians(blocks, len(columns)), passes


def numpy_median(values):
    values = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        return np.median(values) if len(values) else np.nan


@settings(max_examples=150, deadline=None)
@given(
    columns=st.integers(1, 60).flatmap(
        lambda n: st.tuples(arrays(float, n, elements=floats), arrays(float, n, elements=few))
    ),
    gathered=st.sampled_from([0, 1, 7, 1 << 15]),
    rows=st.integers(1, 70),
)
def test_medians_are_those_of_numpy(columns, gathered, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_GATHERED", gathered)
        medians_found, _ = found(columns, rows)
    np.testing.assert_array_equal(medians_found, [numpy_median(c) for c in columns])


def test_three_passes_find_the_median_of_many_different_numbers():
    x = np.random.default_rng(0).normal(size=300_000)
    medians_found, passes = found([x], 65_536)
    assert medians_found[0] == np.median(x)
    assert passes <= 3


def test_the_two_middle_values_may_lie_in_ranges_far_apart():
    x = np.r_[np.full(50_000, -1e300), np.full(50_000, 2.0)]
    assert found([x], 1000)[0][0] == np.median(x)


def test_a_column_without_values_has_no_median():
    assert np.isnan(found([np.full(5, np.nan)], 2)[0][0])
    assert np.isnan(found([np.empty(0)], 2)[0][0])
