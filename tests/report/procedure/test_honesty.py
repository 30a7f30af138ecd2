"""A few fixed cases of the studies in ``tests/report/honesty``, and their parts."""

import numpy as np
import pytest

from certus.reporting.procedure.intervals import widening
from tests.report.honesty import studies


@pytest.mark.costly
@pytest.mark.parametrize("seed", [0, 1])
def test_noise_is_not_called_a_signal(seed):
    assert not studies.claims_signal(seed, 0.0)


@pytest.mark.costly
@pytest.mark.parametrize("seed", [0, 1])
def test_a_planted_signal_is_found(seed):
    assert studies.claims_signal(seed, 0.6)


def test_a_copy_of_the_target_is_a_leak_and_no_triumph():
    assert studies.leak_is_named(0)


def test_rows_of_the_same_patients_are_noticed():
    assert studies.groups_are_named(0)


@pytest.mark.costly
def test_the_interval_holds_the_mean_score_on_fresh_training_rows():
    case = studies.CASES[2]
    truth = studies.mean_score(case, 5)
    m = studies.interval_of(case, 0)
    assert m.interval.low < truth < m.interval.high


def test_intervals_are_stretched_more_the_closer_a_value_is_to_guessing():
    factors = [widening(0.5 + 0.03 * t, 0.5, 0.03) for t in (0.0, 3.0, 7.0, 20.0)]
    assert factors[:2] == [1.4, 1.4]
    assert factors[-1] == 1.1
    assert list(np.sort(factors)[::-1]) == factors
