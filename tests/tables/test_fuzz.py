"""A fixed part of the fuzz campaign of the reader."""

import pytest

from tests.tables import fuzz


def test_damaged_tables_are_read_or_refused():
    counts = fuzz.run(300, seed=1000)
    assert min(counts["read"], counts["refused"]) > 30


@pytest.mark.exhaustive
def test_more_damaged_tables():
    counts = fuzz.run(10_000, seed=1, seconds=50)
    assert counts["refused"] > 0
